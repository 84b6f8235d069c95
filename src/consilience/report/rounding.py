"""Prepare numbers and names for JSON."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np

LONGEST_NAME = 200
"""Longer names are cut."""


def rounded(values: Any, digits: int = 4) -> Any:
    """Round a number or an array to plain numbers in nested lists. What is not finite becomes None.

    >>> rounded([[0.123456, float("nan")]])
    [[0.1235, None]]
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim:
        return [rounded(value, digits) for value in array]
    return round(float(array), digits) + 0.0 if np.isfinite(array) else None


def text(name: Any, most: int = LONGEST_NAME) -> str:
    """A name as text, cut if it is too long."""
    words = str(name)
    return words if len(words) <= most else words[: most - 1] + "…"


def percent(share: float, digits: int = 0) -> str:
    """A share as text; 100% and 0% only for all and nothing. Rounded as the page rounds it: a half goes up.

    >>> percent(0.913), percent(0.9997, 1), percent(1.0), percent(0.9025, 1)
    ('91%', '99.9%', '100%', '90.3%')
    """
    if np.isnan(share):
        return "–"
    hundredth = Decimal(100 * rounded(share)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    shown = f"{hundredth}%"
    if shown == f"{1:.{digits}%}" and share < 1:
        shown = f"{1 - 0.01 * 10**-digits:.{digits}%}"
    return "100%" if share == 1 else "0%" if share == 0 else shown
