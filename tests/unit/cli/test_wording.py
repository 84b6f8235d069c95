"""No sentence on the command line names an argument of Python."""

import ast
import re
from pathlib import Path

import pytest

import consilience
from consilience.cli.screen import on_command_line
from consilience.system.errors import Either, InvalidPredictions, Say

PYTHON = re.compile(
    r"\b[a-z_]+=(True|False|None|\{|\[|')|\b[a-z_]+= |\bfrom_(frame|labels|logits|answers|models)\b|Predictions\("
    r"|\bpartial\b|\bn_classes\b|\bconcatenate\b"
)
"""Arguments, as a sentence about Python names them."""

ONLY_IN_PYTHON = {
    "data/tables/frames.py",
    "ensemble",
    "plots.py",
}
"""What no command calls, or with frames and models alone, which no command has."""

KNOWN = {
    "n_classes must be",  # of Predictions.from_labels(…, n_classes=), which no command gives
    "must be an array; got a data frame: use from_frame",
    "got a data frame: give one for each member",
    "concatenate needs at least one part",
    "top_k=None",  # an argument of transformers
    "Predictions(… members",  # how Python prints them
    "as {'name': frame}, or a long one to from_frame",
    "monitor takes labels second",  # where Python gives an integer in their place
}


def sentences():
    """Every text of the package that is no docstring; what is filled in stands as '…'."""
    root = Path(consilience.__file__).parent
    for path in sorted(root.rglob("*.py")):
        name = str(path.relative_to(root))
        if name in ONLY_IN_PYTHON or name.split("/", maxsplit=1)[0] in {*ONLY_IN_PYTHON, "cli"}:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) or (isinstance(node, ast.Return | ast.Assign) and node.value is not None):
                for part in _walk(node):
                    text = _text(part)
                    if text is not None and " " in text:
                        yield name, text


def _walk(node):
    """All parts but what is said in Python alone."""
    yield node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Either":
        yield from _walk(node.args[1])
        return
    for part in ast.iter_child_nodes(node):
        yield from _walk(part)


def _text(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
    return None


@pytest.mark.parametrize("place", sorted({name for name, text in sentences() if PYTHON.search(text)}))
def test_every_sentence_has_words_of_the_command_line(place):
    for name, text in sentences():
        if name == place and not any(known in text for known in KNOWN):
            # What is filled in may be a name in quotes, as in member='who'.
            for filled in (text, text.replace("=…", "='who'")):
                assert not PYTHON.search(on_command_line(filled)), filled


def test_a_sentence_with_an_argument_is_noticed():
    assert PYTHON.search("Use partial=True") and PYTHON.search("say member='who'") and PYTHON.search("use from_frame")
    assert not PYTHON.search(InvalidPredictions("say ", Say("member", "who"), ", or normalize").in_command())


def test_what_to_say_is_put_into_the_words_of_each_door():
    error = InvalidPredictions("say ", Say("item", "q"), " or ", Either("this", "that"), " or ", Say("normalize"))
    assert str(error) == "say item='q' or this or normalize=True"
    assert error.in_command() == "say --item-column q or that or --normalize"
    assert str(error.within("a.csv")) == f"a.csv: {error}" and "--item-column q" in error.within("a.csv").in_command()
