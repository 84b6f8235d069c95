"""Quote names in CSV files that a spreadsheet would run as formulas."""

from __future__ import annotations

import re

FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""The beginning of a cell that some spreadsheet computes, also at full width. Quotes before it count, so that every
name is read back unchanged."""


def with_quote(value: object) -> object:
    """Put an apostrophe before a text that reads like a formula, so that it stays text.

    >>> with_quote("=1+1"), with_quote("cat"), with_quote(-1)
    ("'=1+1", 'cat', -1)
    """
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value


def without_quote(text: str) -> str:
    """Undo `with_quote`.

    >>> without_quote("'=1+1"), without_quote("'cat'")
    ('=1+1', "'cat'")
    """
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text
