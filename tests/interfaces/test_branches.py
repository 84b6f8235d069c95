"""No function of the rooms that read data decides more than ten times: a branch is a fact without a table."""

import ast
from pathlib import Path

import pytest

import consilience

MOST = 10
ROOT = Path(consilience.__file__).parent
BRANCHES = (ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.BoolOp, ast.match_case)


def n_branches(function):
    """How often a function decides, without the functions inside it."""
    count, left = 0, list(ast.iter_child_nodes(function))
    while left:
        node = left.pop()
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            count += isinstance(node, BRANCHES) + (len(node.ifs) if isinstance(node, ast.comprehension) else 0)
            left += ast.iter_child_nodes(node)
    return count


def functions_of(room):
    for path in sorted((ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                yield f"{path.relative_to(ROOT)}:{node.name}", node


@pytest.mark.parametrize("room", ["data", "files"])
def test_no_function_decides_more_than_ten_times(room):
    found = {name: n_branches(node) for name, node in functions_of(room)}
    assert found and {name: count for name, count in found.items() if count > MOST} == {}


def test_branches_are_counted():
    code = "def f(x):\n if x and x > 1 or x < 0:\n  return [y for y in x if y if y > 2]\n for y in x: pass\n"
    assert n_branches(ast.parse(code).body[0]) == 6
