"""Recognise on which scale a file gives its numbers, and turn them into probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from consilience.data.reading import are_probabilities, normalized, softmax
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from consilience.system.arrays import FloatArray

Scale: TypeAlias = Literal["probabilities", "per cent", "logits", "counts", "labels"]

SCALES: dict[str, Scale] = {
    "probabilities": "probabilities",
    "percent": "per cent",
    "logits": "logits",
    "counts": "counts",
    "labels": "labels",
}
"""The words by which a user says the scale of a file, as in `vit.npy:logits`."""

MOST_ROUNDED = 2.0
"""Per cent may sum to 100 within this, since they are rounded."""

MOST_ROWS, MOST = 10_000, 0.5
"""The scale is recognised from about so many rows, evenly spaced. If at least this share of them are probabilities, all
rows are meant to be; if more than this share have a negative number, all rows are logits."""


def scale_of(matrix: Any) -> Scale | None:
    """The scale of rows (items, classes); None if they are on none: the check of probabilities then says what is wrong.

    Negative numbers in most rows are logits or log-probabilities: nothing else that a classifier gives is negative.

    >>> [scale_of(np.array([row])) for row in ([0.2, 0.8], [20.0, 80.0], [-1.5, 2.0], [3.0, 4.0], [0.9, 0.9])]
    ['probabilities', 'per cent', 'logits', 'counts', None]
    """
    with np.errstate(all="ignore"):  # extended precision may overflow; wrong values are refused later
        rows = np.asarray(matrix[:: max(1, len(matrix) // MOST_ROWS)])
        rows = rows if rows.dtype == np.float16 else rows.astype(np.float64)
        rows = rows[~np.isnan(rows).all(axis=1)]
        if not rows.size:
            return None
        if are_probabilities(rows).mean() >= MOST:
            return "probabilities"
        wide = rows.astype(np.float64)
        sums, least = wide.sum(axis=1), wide.min(axis=1)
        if (least >= 0).all():
            slack = min(MOST_ROUNDED, rows.shape[1] / 2)
            are_whole = bool((wide % 1 == 0).all())
            return "per cent" if (np.abs(sums - 100) <= slack).all() else "counts" if are_whole else None
        return "logits" if (least < 0).mean() > MOST else None


def named_scale(name: str) -> Scale | None:
    """The scale that the name of an array or column tells, such as `test_logits`."""
    plain = name.lower()
    return "logits" if "logit" in plain or "logprob" in plain else "probabilities" if "prob" in plain else None


def as_probabilities(matrix: Any, scale: Scale | None, member: int = 0) -> Any:
    """Rows (items, classes) on a scale as probabilities; rows on none are left as they are."""
    if scale == "logits":
        return softmax(matrix if matrix.dtype.kind == "f" else matrix.astype(np.float64), member)
    if scale == "counts":
        return normalized(np.asarray(matrix, dtype=np.float64))
    return from_per_cent(np.asarray(matrix, dtype=np.float64)) if scale == "per cent" else matrix


def from_per_cent(rows: FloatArray) -> FloatArray:
    """Per cent as probabilities. Rows that miss 100 by rounding are rescaled; others stay wrong, to be refused."""
    sums = rows.sum(axis=1, keepdims=True)
    return np.asarray(rows / np.where(np.abs(sums - 100) <= MOST_ROUNDED, sums, 100))


def check_orientation(n_items: int, n_classes: int) -> None:
    """Raise if recognised logits have more classes than items: nothing in them tells which axis holds the classes."""
    if n_classes > n_items:
        raise InvalidPredictions(
            f"these may be logits of {n_classes:,} classes on {n_items:,} items, or the wrong way round: add :logits "
            "to the file's name if each row is an item"
        )
