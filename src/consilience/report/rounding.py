"""Numbers as JSON holds them: as precise as a reader can see, and nothing where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np

LONGEST_NAME = 200
"""Of a longer name the beginning is shown."""


def rounded(values: Any, digits: int = 4) -> Any:
    """A number or an array of them as (nested lists of) plain numbers, None for what is not finite.

    >>> rounded([[0.123456, float("nan")]])
    [[0.1235, None]]
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim:
        return [rounded(value, digits) for value in array]
    return round(float(array), digits) + 0.0 if np.isfinite(array) else None


def text(name: Any) -> str:
    """A name as text, cut where it is too long to show."""
    words = str(name)
    return words if len(words) <= LONGEST_NAME else words[: LONGEST_NAME - 1] + "…"
