"""Read rows of probabilities once, and keep what a report needs of each item."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from consilience.data.answers import parts_of
from consilience.metrics.reliability import ReliabilityCurve, curve_of
from consilience.metrics.scores import METRICS, ItemScores
from consilience.system.arrays import to_numpy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from consilience.data.answers import SoftMember
    from consilience.system.arrays import Array, FloatArray, IntArray


class Verdicts(NamedTuple):
    """The answers to items. Each array has one entry per item."""

    chosen: IntArray  # the most probable class
    confidence: FloatArray  # its probability
    margin: FloatArray  # by how much it leads
    truth: IntArray  # -1 where unknown
    values: FloatArray  # (items, 3): as `ItemScores` has them; NaN where the truth is unknown

    @property
    def is_right(self) -> FloatArray:
        """1 where the answer is right; 0 where it is wrong or the truth is unknown."""
        return np.asarray(self.chosen == self.truth, dtype=np.float64)

    def scores(self) -> dict[str, float] | None:
        """Accuracy, NLL, Brier score and calibration error on the items with a known truth; None if there are none."""
        is_known = self.truth >= 0
        if not is_known.any():
            return None
        means = ItemScores(self.values[is_known], self.confidence[is_known]).means()
        return {name: means[name] for name in METRICS[:4]}

    def curve(self) -> ReliabilityCurve | None:
        """Confidence against accuracy on the items with a known truth; None if there are none."""
        is_known = self.truth >= 0
        return curve_of(self.confidence[is_known], self.is_right[is_known]) if is_known.any() else None

    def histogram(self) -> list[int]:
        """The number of answers in each confidence bin of the curve."""
        return [int(n_items) for n_items in curve_of(self.confidence, self.is_right).n_items]


def verdicts_of(parts: Iterable[Array], truth: IntArray) -> Verdicts:
    """The verdicts of rows (items, classes) that come in parts; `truth` has one entry per row."""
    read, start = [], 0
    for rows in parts:
        stop = start + len(rows)
        read.append(_read(to_numpy(rows).astype(np.float64, copy=False), truth[start:stop]))
        start = stop
    return Verdicts(*(np.concatenate(column) for column in zip(*read, strict=True)))


def _read(rows: FloatArray, truth: IntArray) -> Verdicts:
    ordered = np.partition(rows, -2, axis=1)
    first, second = np.minimum(ordered[:, -1], 1), ordered[:, -2]
    is_known = truth >= 0
    values = np.full((len(rows), 3), np.nan)
    values[is_known] = ItemScores.of(rows[is_known], truth[is_known]).values
    return Verdicts(rows.argmax(axis=1), first, first - second, truth, values)


def member_verdicts(member: SoftMember, truth: IntArray) -> Verdicts | None:
    """The verdicts of a member who gives probabilities; None if it never answers."""
    items = np.arange(len(truth)) if member.items is None else member.items
    is_present = np.isin(items, member.answered())
    if not is_present.any():
        return None
    parts = (to_numpy(rows)[is_present[start : start + len(rows)]] for start, rows in parts_of(member.rows))
    return verdicts_of(parts, truth[items[is_present]])
