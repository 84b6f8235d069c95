"""Names in CSV files that a spreadsheet would take for formulas, and run."""

from __future__ import annotations

import re

FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""How a cell begins that some spreadsheet computes; the last four are the first ones at full width. Quotes before it
count, so that every name comes back as it was."""


def with_quote(value: object) -> object:
    """A value as a cell: text that reads like a formula gets an apostrophe in front, and is text.

    >>> with_quote("=1+1"), with_quote("cat"), with_quote(-1)
    ("'=1+1", 'cat', -1)
    """
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value


def without_quote(text: str) -> str:
    """The inverse.

    >>> without_quote("'=1+1"), without_quote("'cat'")
    ('=1+1', "'cat'")
    """
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text
