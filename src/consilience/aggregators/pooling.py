"""The base of methods that only pool predictions: the posterior needs no fit, and counts follow from it."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from consilience.aggregators.base import AbstractAggregator, Outcome
from consilience.answering.declaration import CLASS_PRIOR, CONFUSION, VOTE_STATISTICS
from consilience.data.axes import Axes, Axis
from consilience.data.predictions import Predictions
from consilience.maths.rates import smoothed_rates
from consilience.passes.reader import open_reader
from consilience.passes.responsibilities import clamp
from consilience.system.arrays import namespace

if TYPE_CHECKING:
    from consilience.answering.declaration import Learned
    from consilience.answering.linear import LinearRule
    from consilience.data.predictions import AbstractPredictions
    from consilience.maths.em import Statistics
    from consilience.system.arrays import Array, IntArray


class Uncounted(NamedTuple):
    """What was fitted, until somebody asks for its counts."""

    predictions: Predictions
    known: IntArray | None
    rule: LinearRule
    posterior: Array

    def statistics(self) -> Statistics:
        """The counts; raises if the arrays have changed since the fit."""
        again = clamp(self.rule.posterior(self.predictions), self.known)
        if not namespace(again).all(again == self.posterior):
            raise RuntimeError(
                "confusion matrices are counted when they are first asked for, from the arrays that were fitted; these "
                "or the posterior have changed since: fit again"
            )
        return open_reader(self.predictions.ballots()).statistics(self.posterior)


class AbstractPool(AbstractAggregator):
    """A posterior that needs no fit.

    Class prior and confusion matrices are counted under it when they are first asked for, from the arrays that were
    given to `fit`.
    """

    learned: ClassVar[Learned] = {"statistics_": VOTE_STATISTICS, "class_prior_": CLASS_PRIOR, "confusion_": CONFUSION}
    _matrices_at_once: ClassVar[int] = 3
    _uncounted: Uncounted | None = None

    def __getattr__(self, name: str) -> Any:
        """What is counted when it is first asked for."""
        if self._uncounted is None or name not in AbstractPool.learned:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self._count()
        return vars(self)[name]

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
        rule = self._rule(predictions.n_members)
        posterior = clamp(rule.posterior(predictions), known)
        for name in AbstractPool.learned:
            vars(self).pop(name, None)
        if isinstance(predictions, Predictions):
            self._uncounted = Uncounted(predictions, known, rule, posterior)
        else:  # on a cluster, which may be gone when somebody asks
            self._learn(open_reader(predictions.ballots()).statistics(posterior))
        return Outcome(posterior, None)

    def _partial_fit(self, predictions: AbstractPredictions, known: IntArray | None) -> Outcome:
        posterior = clamp(self._rule(predictions.n_members).posterior(predictions), known)
        self._learn(self.statistics_ + open_reader(predictions.ballots()).statistics(posterior))
        return Outcome(posterior, None)

    def _learn(self, statistics: Statistics) -> None:
        self._uncounted, self.statistics_ = None, statistics
        self.class_prior_ = statistics.class_counts / statistics.class_counts.sum()
        self.confusion_ = smoothed_rates(statistics.sums, 0)

    def _count(self) -> None:
        """Count what is not counted yet."""
        if self._uncounted is not None:
            self._learn(self._uncounted.statistics())

    def _steady_start(self) -> None:
        self._count()  # the arrays of a batch may be used again for the next one

    def __getstate__(self) -> dict[str, Any]:
        """With the counts, instead of the arrays that they follow from."""
        self._count()
        return super().__getstate__()
