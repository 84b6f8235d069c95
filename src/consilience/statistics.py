"""`Statistics`: all that an M step needs to know of the items. They form a vector space."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from consilience.arrays import FloatArray


@final
@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """Sums over items, linear in the responsibilities t.

    Because they are linear, the statistics of two sets of items add up, and averaging responsibilities is averaging
    statistics: `(1 - a) * old + a * new`. Their size does not depend on the number of items.
    """

    n_items: float
    class_counts: FloatArray  # (true,): Σ_i t_ik
    answer_counts: FloatArray  # (members, true): the same over the items each member answered
    sums: FloatArray  # (members, true, predicted): Σ_i t_ik x_imj, x one-hot labels or log-probabilities
    log_evidence: float  # Σ_i log Σ_k p(x_i, k), up to a constant of the data

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(*(mine + theirs for mine, theirs in zip(self._values(), other._values(), strict=True)))

    def __rmul__(self, factor: float) -> Statistics:
        return Statistics(*(factor * value for value in self._values()))

    def _values(self) -> tuple[float | FloatArray, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))
