"""The base of methods that only pool predictions: the posterior needs no fit, and counts follow from it."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from consilience.aggregators.base import AbstractAggregator, Outcome
from consilience.answering.declaration import CLASS_PRIOR, CONFUSION, VOTE_STATISTICS
from consilience.data.axes import Axes, Axis
from consilience.maths.em import smoothed_rates
from consilience.passes.reader import open_reader
from consilience.passes.responsibilities import clamp

if TYPE_CHECKING:
    from consilience.answering.declaration import Learned
    from consilience.answering.linear import LinearRule
    from consilience.data.predictions import AbstractPredictions
    from consilience.maths.em import Statistics
    from consilience.system.arrays import Array, IntArray


class AbstractPool(AbstractAggregator):
    """A posterior that needs no fit; class prior and confusion matrices are counted under it."""

    learned: ClassVar[Learned] = {"statistics_": VOTE_STATISTICS, "class_prior_": CLASS_PRIOR, "confusion_": CONFUSION}
    _matrices_at_once: ClassVar[int] = 3

    @abstractmethod
    def _rule(self, n_members: int) -> LinearRule:
        """How items are answered that have so many members."""

    def rule(self) -> LinearRule:
        """How any items are answered."""
        self._check_is_fitted()
        members, classes = self.members_, self.classes_
        axes = Axes(Axis("member", len(members), members), Axis("item", 0), Axis("class", len(classes), classes))
        self._check_order(axes)  # weights may have been set since the fit
        return self._rule(len(members))

    def _fit(self, predictions: AbstractPredictions, known: IntArray | None) -> Outcome:
        posterior, statistics = self._counted(predictions, known)
        return self._learn(posterior, statistics)

    def _partial_fit(self, predictions: AbstractPredictions, known: IntArray | None) -> Outcome:
        posterior, statistics = self._counted(predictions, known)
        return self._learn(posterior, self.statistics_ + statistics)

    def _counted(self, predictions: AbstractPredictions, known: IntArray | None) -> tuple[Array, Statistics]:
        """The posterior, and how often each member calls class k class j under it."""
        posterior = clamp(self._rule(predictions.n_members).posterior(predictions), known)
        return posterior, open_reader(predictions.ballots()).statistics(posterior)

    def _learn(self, posterior: Array, statistics: Statistics) -> Outcome:
        self.class_prior_ = statistics.class_counts / statistics.class_counts.sum()
        self.confusion_ = smoothed_rates(statistics.sums, 0)
        return Outcome(posterior, statistics)
