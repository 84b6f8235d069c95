"""What the methods that only pool predictions have in common: the posterior is given, the rest is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consilience.aggregators.base import AbstractAggregator
from consilience.data.predictions import Predictions
from consilience.maths.rates import smoothed_rates
from consilience.passes.reader import Reader
from consilience.passes.responsibilities import clamp

if TYPE_CHECKING:
    from consilience.maths.statistics import Statistics
    from consilience.system.arrays import Array, IntArray


class AbstractPool(AbstractAggregator):
    """A posterior that needs no fit; class prior and confusion matrices are counted under it."""

    def _fit(self, predictions: Predictions, known: IntArray | None) -> None:
        self._posterior_values = clamp(self._posterior(predictions), known)
        self.history_, self.n_iter_, self.converged_ = [], 0, True
        self._learn(_label_statistics(predictions, self.posterior_))

    def _partial_fit(self, predictions: Predictions, known: IntArray | None) -> None:
        self._posterior_values = clamp(self._posterior(predictions), known)
        self._learn(self.statistics_ + _label_statistics(predictions, self.posterior_))

    def _learn(self, statistics: Statistics) -> None:
        self.statistics_ = statistics
        self.class_prior_ = statistics.class_counts / statistics.class_counts.sum()
        self.confusion_ = smoothed_rates(statistics.sums, 0)


def _label_statistics(predictions: Predictions, posterior: Array) -> Statistics:
    """How often, under this posterior, each member calls class k class j."""
    if not isinstance(predictions, Predictions):  # on a cluster
        total: Statistics = predictions.total_statistics(posterior)
        return total
    return Reader(predictions.harden()).statistics(posterior)
