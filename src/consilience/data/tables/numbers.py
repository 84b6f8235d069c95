"""Columns of numbers side by side: how they are written, and what they may mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from consilience.data.reading import are_probabilities, has_fractions, normalized, softmax
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consilience.data.tables.columns import Column
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


ENOUGH_ROWS, LABELS_REPEAT, FEW = 10, 2, 20
"""Whole numbers are not labels if at least the first number of rows all have the same sum. Fractions may be labels if
each occurs at least as often as the second number, on average, and there are at most the third number of different
ones."""

Meaning: TypeAlias = Scale | Literal["unclear"]


class Numbers(NamedTuple):
    """Columns of numbers side by side, and how they are written."""

    values: FloatArray  # (rows, columns), NaN where missing
    has_percent: bool = False
    has_comma: bool = False
    has_point: bool = False  # every one of them

    @property
    def given(self) -> FloatArray:
        """The rows that are not missing."""
        is_missing = np.isnan(self.values).all(axis=1)
        return self.values[~is_missing] if is_missing.any() else self.values

    def meaning(self) -> Meaning:
        """What such a table holds: one member's probabilities of classes, or labels by several members."""
        rows = self.given
        if not len(rows):
            return "labels"
        with np.errstate(over="ignore", invalid="ignore"):
            sums = rows.sum(axis=1)
        slack = min(MOST_ROUNDED, rows.shape[1] / 2)
        if self.has_percent or ((np.abs(sums - 100) <= slack).all() and rows.min() >= 0):
            return "per cent"
        return self._of_fractions(rows) if self.has_fractions() else self._of_whole_numbers(rows, sums)

    def _of_whole_numbers(self, rows: FloatArray, sums: FloatArray) -> Meaning:
        if (sums != sums[0]).any() or rows.min() < 0:
            return "labels"
        is_clear = len(rows) >= ENOUGH_ROWS and bool((rows != rows[0]).any())
        if sums[0] == 1:
            return "probabilities" if self.has_point or is_clear else "unclear"
        return "counts" if is_clear else "labels"

    @staticmethod
    def _of_fractions(rows: FloatArray) -> Meaning:
        is_share = np.nanmin(rows) >= 0 and np.nanmax(rows) <= 1
        if not is_share and len(np.unique(rows[~np.isnan(rows)])) <= min(FEW, np.isfinite(rows).sum() / LABELS_REPEAT):
            return "labels"
        return "logits" if scale_of(rows) == "logits" else "probabilities"

    def are_probabilities(self) -> bool:
        """Whether rows sum to 1. If all numbers are whole they may be labels, and do not count."""
        return self.has_fractions() and self.share_of_probabilities() == 1

    def are_independent(self) -> bool:
        """Whether these are shares whose sums differ from row to row, as those of several labels do."""
        rows = self.given
        if not self.has_fractions() or not len(rows) or not ((rows >= 0) & (rows <= 1)).all():
            return False
        sums = rows.sum(axis=1)
        return bool(np.ptp(sums) > 0.1 * max(1.0, float(np.median(sums))))

    def has_fractions(self) -> bool:
        """Whether some number is not whole."""
        return has_fractions(self.values)

    def share_of_probabilities(self) -> float:
        """Which share of the rows that are not missing are probabilities; 0 if all are missing."""
        rows = self.given
        return float(are_probabilities(rows).mean()) if len(rows) else 0.0


def numbers_in(columns: Sequence[Column], *, least: int = 1) -> Numbers | None:
    """Columns as numbers; None if some cell is none, if they are written in several ways, or if they are too few."""
    found = [column.numbers for column in columns if column.numbers is not None]
    if len(columns) < least or len(found) < len(columns) or _mixture(columns) is not None:
        return None
    notations = [column.notation for column in columns]
    return Numbers(
        np.stack(found, axis=1),
        any(own.percent is not None for own in notations),
        any(own.comma is not None for own in notations),
        all(own.all_points for own in notations),
    )


def check_one_notation(columns: Sequence[Column]) -> None:
    """Raise if all cells are numbers, but of several notations."""
    if any(column.numbers is None for column in columns):
        return
    commas = [column.notation for column in columns if column.notation.comma is not None]
    if commas and all(own.thousands for own in commas):
        first = min(str(own.comma) for own in commas)
        raise InvalidPredictions(
            f"numbers must have no separators of thousands; {first!r} may mean {first.replace(',', '')} or "
            f"{first.replace(',', '.', 1)}: write it without the comma"
        )
    if (found := _mixture(columns)) is not None:
        raise InvalidPredictions(f"numbers must all be written in one way; got {found[0]!r} and {found[1]!r}")


def _mixture(columns: Sequence[Column]) -> tuple[str, str] | None:
    """Two numbers of different notations: decimal commas and points, or with and without a percent sign."""
    notations = [column.notation for column in columns]
    for kinds in (("comma", "point"), ("percent", "plain")):
        one, other = ([text for own in notations if (text := getattr(own, kind)) is not None] for kind in kinds)
        if one and other:
            return min(one), min(other)
    return None
