"""Examples in docstrings, as code: a doctest needs no "Examples" section to be one."""

from __future__ import annotations

import re
from typing import Any

import griffe

DOCTEST = re.compile(r"^( *)>>> .*(?:\n\1\S.*)*", re.MULTILINE)


class Doctests(griffe.Extension):
    """Fences the doctests of a docstring that stand between paragraphs."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring where it has doctests and no section that numpydoc knows to hold them."""
        if obj.docstring is not None and not re.search(r"^\s*Examples\n", obj.docstring.value, re.MULTILINE):
            obj.docstring.value = DOCTEST.sub(r"\1```pycon\n\g<0>\n\1```", obj.docstring.value)
