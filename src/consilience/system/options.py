"""Checks of arguments that are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_number(name: str, value: Any, *, least: float = 0.0, most: float = np.inf, integer: bool = False) -> None:
    """Raise where the value is not a number of the range (ends included).

    >>> check_number("max_iter", 0, least=1, integer=True)
    Traceback (most recent call last):
    ValueError: max_iter must be an integer of at least 1; got 0
    """
    kinds = (int, np.integer) if integer else (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, kinds) or not (np.isfinite(value) and least <= value <= most):
        noun = "an integer" if integer else "a number"
        bounds = f"of at least {least:g}" if most == np.inf else f"from {least:g} to {most:g}"
        raise ValueError(f"{name} must be {noun} {bounds}; got {value!r}")
