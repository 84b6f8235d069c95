"""Where two classes are equally probable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.system.arrays import FloatArray, IntArray

EQUAL_WITHIN = 1e-9
"""Probabilities that differ by less are equal."""


def is_tie(rows: FloatArray, chosen: IntArray) -> npt.NDArray[np.bool_]:
    """Where no class is more probable than the chosen one (items,), so that another answer is only one of several.

    >>> is_tie(np.array([[0.5, 0.5], [0.6, 0.4]]), np.array([1, 1])).tolist()
    [True, False]
    """
    return np.asarray(rows[np.arange(len(rows)), chosen] >= rows.max(axis=1) - EQUAL_WITHIN)
