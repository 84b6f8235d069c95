"""How members err: a matrix each where classes are few, else the worst confusions as a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.insight.confusions import counted_confusions
from consilience.report.rounding import rounded
from consilience.report.selection import largest_cells

if TYPE_CHECKING:
    from consilience.data.answers import HardAnswers
    from consilience.data.predictions import Predictions
    from consilience.insight.diagnostics import Diagnosis
    from consilience.system.arrays import FloatArray, IntArray

MOST_CLASSES = 30
"""With more classes, a matrix is unreadable and lists take its place."""

MOST_CELLS = 30_000
"""About how many cells all matrices of a page may have; a dozen matrices always fit."""

MOST_PAIRS, MOST_TOGETHER = 8, 20
"""How many confusions a member's list has, and that of all members together."""


class Confusions:
    """How often each member called class k class j (members, true, predicted)."""

    def __init__(self, predictions: Predictions, diagnosis: Diagnosis, votes: HardAnswers, truth: IntArray) -> None:
        counted = counted_confusions(votes, truth, predictions.n_members, predictions.n_classes)
        self.is_measured = counted is not None
        self.counts = diagnosis.counts if counted is None else counted
        self.n_classes = predictions.n_classes

    @property
    def has_matrices(self) -> bool:
        """Whether the classes are few enough for matrices."""
        return self.n_classes <= MOST_CLASSES

    def most_drawn(self, fewest: int) -> int:
        """How many members may have a matrix or a list."""
        return max(fewest, MOST_CELLS // self.n_classes**2) if self.has_matrices else 2 * fewest

    def worst(self, member: int, most: int = MOST_PAIRS) -> list[list[Any]]:
        """The most frequent confusions of a member: true class, said, its share of the true class."""
        return _worst(self.counts[member], most)

    def to_dict(self, drawn: IntArray) -> dict[str, Any]:
        """All members together, and each of those drawn."""
        together = self.counts.sum(axis=0)
        return {
            "measured": self.is_measured,
            "matrices": self.has_matrices,
            "together": {"rates": self._rates(together), "pairs": _worst(together, MOST_TOGETHER)},
            "members": [
                {"member": member, "rates": self._rates(self.counts[member]), "pairs": self.worst(member)}
                for member in drawn.tolist()
            ],
        }

    def _rates(self, table: FloatArray) -> list[list[float]] | None:
        if not self.has_matrices:
            return None
        totals = table.sum(axis=1, keepdims=True)
        rates: list[list[float]] = rounded(np.where(totals >= 1, table / np.maximum(totals, 1), np.nan))
        return rates


def _worst(table: FloatArray, most: int) -> list[list[Any]]:
    totals = np.maximum(table.sum(axis=1), 1)
    return [
        [true, said, rounded(table[true, said] / totals[true]), rounded(table[true, said], 1)]
        for true, said in largest_cells(table, most)
    ]
