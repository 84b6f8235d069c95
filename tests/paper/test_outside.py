"""The experiments stand outside of the installed package."""

import ast
from pathlib import Path

import consilience
import paper

PACKAGE = Path(consilience.__file__).parent


def test_the_paper_is_no_part_of_the_package():
    assert not Path(paper.__file__).is_relative_to(PACKAGE)
    assert not (PACKAGE / "experiments").exists() and not list(PACKAGE.rglob("*.csv"))


def test_errors_are_its_own():
    """What goes wrong in an experiment is no matter of predictions."""
    for path in Path(paper.__file__).parent.rglob("*.py"):
        names = {
            node.id for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Name)
        }
        assert "InvalidPredictions" not in names, path
