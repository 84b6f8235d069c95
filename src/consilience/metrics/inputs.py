"""Reads and checks the input of metrics: a posterior and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.data.reading import HALF_TOLERANCE, are_probabilities
from consilience.system.arrays import plain_numpy
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from consilience.system.arrays import FloatArray, IntArray


def read_posterior(posterior: Any, name: str = "posterior") -> FloatArray:
    """A posterior as float64 (items, classes), rows summing to 1."""
    array = plain_numpy(posterior, name)
    if array.dtype.kind not in "fiub" or array.ndim != 2 or 0 in array.shape:
        raise InvalidPredictions(f"{name} must be numbers (items, classes); got {array.dtype} of shape {array.shape}")
    values = array.astype(np.float64, copy=False)
    # The posterior of half-precision predictions comes in single precision, but its rows sum to 1 no better.
    is_good = are_probabilities(values, HALF_TOLERANCE)
    if not is_good.all():
        row = int(np.argmin(is_good))
        with np.errstate(over="ignore", invalid="ignore"):
            total = values[row].sum()
        raise InvalidPredictions(
            f"{name} must be probabilities that sum to 1; item {row} has a least value of "
            f"{values[row].min():.6g} and sums to {total:.6g}"
        )
    return values


def read_posterior_and_labels(posterior: Any, labels: Any) -> tuple[FloatArray, IntArray]:
    """Both, one label (the position of a class) per item."""
    values = read_posterior(posterior)
    truth = plain_numpy(labels, "labels")
    if truth.dtype.kind not in "iu" or truth.shape != values.shape[:1]:
        raise InvalidPredictions(
            f"labels must be integers, one for each of the {len(values)} items; "
            f"got {truth.dtype} of shape {truth.shape}"
        )
    is_wrong = (truth < 0) | (truth >= values.shape[1])
    if is_wrong.any():
        row = int(np.argmax(is_wrong))
        raise InvalidPredictions(f"labels must be from 0 to {values.shape[1] - 1}; item {row} has {truth[row]}")
    return values, truth.astype(np.intp)
