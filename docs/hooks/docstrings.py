"""Docstrings as numpydoc wants them: what is plain to a reader of the source is made plain to the parser."""

from __future__ import annotations

import re
from typing import Any

import griffe

DOCTEST = re.compile(r"^( *)>>> .*(?:\n\1\S.*)*", re.MULTILINE)
ATTRIBUTES = re.compile(r"^Attributes\n-+\n(?:.+\n?)+", re.MULTILINE)
DESCRIBED = re.compile(r"^(\w+(?:, \w+)*) : (.*)", re.MULTILINE)
TOGETHER = re.compile(r"^(\w+(?:, \w+)+)\n((?: {4}.*\n?)+)", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Rewrites docstrings before they are parsed."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Every docstring of the package."""
        if obj.docstring is not None:
            obj.docstring.value = rewritten(obj.docstring.value)


def rewritten(text: str) -> str:
    """The docstring with fenced doctests, attributes described beneath their names, one entry for each parameter."""
    if not re.search(
        r"^Examples\n", text, re.MULTILINE
    ):  # where there is no section of examples, a doctest is text
        text = DOCTEST.sub(r"\1```pycon\n\g<0>\n\1```", text)
    text = ATTRIBUTES.sub(
        lambda section: DESCRIBED.sub(r"\1\n    \2", section[0]), text
    )
    return TOGETHER.sub(_one_by_one, text)


def _one_by_one(entry: re.Match[str]) -> str:
    """Parameters that share a description, each with it: else all would be given the type and default of the first."""
    description = entry[2] if entry[2].endswith("\n") else f"{entry[2]}\n"
    return "".join(f"{name}\n{description}" for name in entry[1].split(", "))
