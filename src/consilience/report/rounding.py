"""Prepare numbers and names for JSON."""

from __future__ import annotations

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
