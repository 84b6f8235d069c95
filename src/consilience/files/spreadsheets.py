"""Quote names in CSV files that a spreadsheet would run as formulas, or that would read as missing."""

from __future__ import annotations

import re

from consilience.data.names import UNKNOWN

FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
"""The beginning of a cell that some spreadsheet computes, also at full width."""

NEGATIVE = re.compile(r"-[0-9]+(\.[0-9]+)?")


def with_quote(value: object) -> object:
    """Put an apostrophe before a text that reads like a formula or like nothing, so that it stays text.

    >>> with_quote("=1+1"), with_quote("NA"), with_quote(""), with_quote("cat"), with_quote("-1"), with_quote(-1)
    ("'=1+1", "'NA", "'", 'cat', '-1', -1)
    """
    return f"'{value}" if isinstance(value, str) and _needs_quote(value) else value


def without_quote(text: str) -> str:
    """Undo `with_quote`.

    >>> without_quote("'=1+1"), without_quote("'"), without_quote("'cat'")
    ('=1+1', '', "'cat'")
    """
    return text[1:] if text.startswith("'") and _needs_quote(text) else text


def _needs_quote(text: str) -> bool:
    """Quotes in front do not count, so that every name is read back unchanged."""
    bare = text.lstrip("'")
    is_formula = bare.startswith(FORMULA) and not NEGATIVE.fullmatch(bare)
    return is_formula or not bare or bare in UNKNOWN
