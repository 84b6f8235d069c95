"""Methods that only pool: averaging, what everyone uses, because it never fails badly, and voting."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, final

import numpy as np

from consilience.aggregators.base import AbstractAggregator, Outcome, positive_numbers
from consilience.answering.declaration import CONFUSION, VOTE_STATISTICS, Learned
from consilience.answering.linear import LinearRule
from consilience.data.axes import Axes, Axis
from consilience.data.predictions import AbstractPredictions
from consilience.maths.em import Statistics, smoothed_rates
from consilience.passes.reader import open_reader
from consilience.passes.responsibilities import clamp
from consilience.system.arrays import FloatArray, IntArray


class AbstractPool(AbstractAggregator):
    """A posterior that needs no fit; class prior and confusion matrices are counted under it."""

    learned: ClassVar[Learned] = {"statistics_": VOTE_STATISTICS, "confusion_": CONFUSION}
    _matrices_at_once: ClassVar[int] = 3

    @abstractmethod
    def _rule(self, n_members: int) -> LinearRule:
        """How items are answered that have so many members."""

    def rule(self) -> LinearRule:
        """How any items are answered."""
        self._check_is_fitted()
        # Weights may have been set since the fit.
        self._check_order(Axes.named(self.members_, Axis("item", 0), self.classes_))
        return self._rule(len(self.members_))

    def _fit(self, predictions: AbstractPredictions, known: IntArray | None) -> Outcome:
        return self._pool(predictions, known, None)

    def _partial_fit(self, predictions: AbstractPredictions, known: IntArray | None) -> Outcome:
        return self._pool(predictions, known, self.statistics_)

    def _pool(self, predictions: AbstractPredictions, known: IntArray | None, before: Statistics | None) -> Outcome:
        """The posterior, and how often each member calls class k class j under it, and did before."""
        posterior = clamp(self._rule(predictions.n_members).posterior(predictions), known)
        statistics = open_reader(predictions.ballots()).statistics(posterior)
        statistics = statistics if before is None else before + statistics
        self.class_prior_ = statistics.class_counts / statistics.class_counts.sum()
        self.confusion_ = smoothed_rates(statistics.sums, 0)
        return Outcome(posterior, statistics)


FLOOR = 1e-10
"""What a probability of zero counts as in the geometric mean, where it would forbid a class for ever."""


@final
@dataclass(kw_only=True, repr=False, eq=False)
class Average(AbstractPool):
    """The mean of the members' probabilities.

    Parameters
    ----------
    kind
        "arithmetic": the mean (a deep ensemble's usual answer). "geometric": the normalized exponential of the mean
        logarithm (the log-opinion pool), probabilities floored at 1e-10; sharper, and vetoed by a single member.
    weights
        One number per member, rescaled to sum to 1; equal where not given. A missing prediction leaves its weight
        to the others.

    Examples
    --------
    >>> Average().fit_predict_proba([[[0.9, 0.1]], [[0.5, 0.5]]]).round(3).tolist()
    [[0.7, 0.3]]
    """

    kind: Literal["arithmetic", "geometric"] = "arithmetic"
    weights: Any = None

    command: ClassVar[str] = "average"

    def _check_parameters(self, n_members: int, n_classes: int) -> None:
        del n_classes
        if self.kind not in ("arithmetic", "geometric"):
            raise ValueError(f"kind must be 'arithmetic' or 'geometric'; got {self.kind!r}")
        self._member_weights(n_members)

    def _check_order(self, axes: Axes) -> None:
        axes.members.check_order(self.weights, "weights")

    def _member_weights(self, n_members: int) -> FloatArray:
        if self.weights is None:
            return np.ones(n_members)
        weights = positive_numbers(self.weights, n_members)
        if weights is None:
            raise ValueError(
                f"weights must be a positive number for each of the {n_members} members; got {self.weights!r}"
            )
        weights = weights / weights.max()  # or the sum could be infinite
        return np.asarray(weights / weights.sum())

    def _rule(self, n_members: int) -> LinearRule:
        weights, is_label = self._member_weights(n_members), np.zeros(n_members, dtype=bool)
        if self.kind == "arithmetic":
            return LinearRule(weights, is_label)
        return LinearRule(weights, is_label, log_floor=FLOOR, averages_logs=True)


@final
class MajorityVote(AbstractPool):
    """The shares of the votes.

    A member that finds several classes equally probable gives each of them an equal part of its vote; one that finds
    all of them equally probable gives none. Where nobody votes, all classes have the same share. `predict` has to name
    one of several classes with the same share, and names the first.

    Examples
    --------
    >>> MajorityVote().fit_predict_proba([[[0.9, 0.1]], [[0.2, 0.8]], [[0.4, 0.6]], [[0.5, 0.5]]]).round(3).tolist()
    [[0.333, 0.667]]
    """

    command: ClassVar[str] = "majority-vote"

    def _rule(self, n_members: int) -> LinearRule:
        return LinearRule(np.ones(n_members), np.ones(n_members, dtype=bool))
