"""A fitted method's answers to some predictions, and what follows from them: each part is computed only once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from consilience.aggregators.base import AbstractAggregator, fitted_copy
from consilience.aggregators.consensus.consensus import Consensus, plain_rule
from consilience.data.labels import known_labels, known_truths, which_known
from consilience.insight.accuracy.estimates import COVERAGE, LEAST_LABELS, AccuracyEstimate
from consilience.insight.diagnostics import Diagnosis, diagnosis_under
from consilience.insight.explanation import Explanation, explain
from consilience.insight.label_evaluation import LabelEvaluation, value_of_labels
from consilience.insight.verdict import Change
from consilience.metrics.scores import wilson
from consilience.passes.reader import Reader
from consilience.system.arrays import position_of_largest, to_numpy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from consilience.data.predictions import Predictions
    from consilience.system.arrays import Array, FloatArray, IntArray

MOST_KEPT = 40
"""How many explanations are kept for a second use. In a large crowd each one is large."""

MOST_EVALUATED, QUICK_FOLDS = 2000, 5
"""The gain from labels is estimated for at most so many of them, with so many folds, so that it takes seconds."""


@final
class Analysis:
    """What a method says of predictions. Each part is computed when it is first used, and then kept.

    If the method is not fitted, a copy of it is, with the `known` labels. If it is fitted, `known` says which labels it
    was given. `labels` only measure; those of known items are not used, because the method has seen their truth.
    `predictions` are on the axes of the fit. The `Consensus` that estimates accuracies knows `class_shares`, where the
    method is another.
    """

    def __init__(
        self,
        predictions: Predictions,
        method: AbstractAggregator,
        known: Any = None,
        labels: Any = None,
        class_shares: Any = None,
    ) -> None:
        self.is_fitted_here = not hasattr(method, "members_")
        self.method = fitted_copy(method, predictions, known) if self.is_fitted_here else method
        self.predictions = self.method.aligned(predictions)
        self._known, self._labels, self._class_shares = known, labels, class_shares
        self._explanations: dict[tuple[int, Any], Explanation] = {}

    @cached_property
    def posterior(self) -> Array:
        """The method's `predict_proba` (items, classes)."""
        return self.method.predict_proba(self.predictions)

    @cached_property
    def average(self) -> FloatArray:
        """The plain average of the members (items, classes)."""
        return to_numpy(Reader(self.predictions).pool())

    @cached_property
    def _given(self) -> IntArray | FloatArray | None:
        """The labels that the fit was given: class positions, -1 where unknown, or rows of probabilities."""
        return known_truths(self._known, self.predictions.axes)

    @cached_property
    def is_given(self) -> npt.NDArray[np.bool_]:
        """Which items had a label that the fit was given (items,)."""
        return np.zeros(self.predictions.n_items, dtype=bool) if self._given is None else which_known(self._given)

    @cached_property
    def measurable(self) -> IntArray:
        """The labels that measure the fused answer, as class positions; -1 where unknown, and where the fit had one."""
        return np.where(self.is_given, -1, self.truth(self._labels))

    @cached_property
    def known(self) -> IntArray:
        """The labels that measure members, who have seen none: class positions, -1 where unknown or not certain."""
        if self._given is None:
            return self.measurable
        given = self._given
        if given.ndim == 2:
            given = np.where(np.nan_to_num(given).max(axis=1) == 1, np.nan_to_num(given).argmax(axis=1), -1)
        return np.where(self.is_given, given, self.measurable).astype(np.intp)

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """The diagnosis of the members under the posterior, measured where labels allow it."""
        return diagnosis_under(
            self.predictions,
            self.method,
            self.posterior,
            self.average,
            self.known if (self.known >= 0).any() else None,
            is_given=self.is_given if self._known is not None else None,
            tested=self._tested(),
            explained=lambda places: self.explanations(places, [None] * len(places)),
            class_shares=self._class_shares,
        )

    @cached_property
    def change(self) -> Change:
        """What fusing changed, of the method's `predict_proba`."""
        return Change.of(position_of_largest(self.posterior), self.average, self.measurable, self.is_given)

    def _tested(self) -> AccuracyEstimate | None:
        """How often the fused answer is right on labelled items that it answers without their own label."""
        if self.gain is None or self.gain.n_labels < LEAST_LABELS:
            return None
        share = self.gain.after["accuracy"]
        return AccuracyEstimate(share, *wilson(share, self.gain.n_labels, COVERAGE), is_measured=True)

    @cached_property
    def gain(self) -> LabelEvaluation | None:
        """What the known labels gained; None if that cannot be estimated, or would take far longer than the fit."""
        n_labels = int(self.is_given.sum())
        is_taught = isinstance(self.method, Consensus) and self.method.correction_ is not None
        if not is_taught or not 2 <= n_labels <= MOST_EVALUATED:
            return None
        assert isinstance(self.method, Consensus)  # noqa: S101 - only Consensus is taught
        return value_of_labels(self.predictions, self._known, aggregator=self.method, n_folds=QUICK_FOLDS)

    @cached_property
    def n_changed_by_labels(self) -> int | None:
        """How many answers the known labels changed, of items without one; None if there were none to learn from."""
        if not isinstance(self.method, Consensus) or self.method.correction_ is None:
            return None
        untaught = to_numpy(plain_rule(self.method).posterior(self.predictions)).argmax(axis=1)
        return int(((to_numpy(self.posterior).argmax(axis=1) != untaught) & ~self.is_given).sum())

    def truth(self, labels: Any) -> IntArray:
        """Known labels as class positions on the axes of the fit, -1 where unknown."""
        known = known_labels(labels, self.predictions.axes)
        return np.full(self.predictions.n_items, -1) if known is None else np.asarray(known)

    def _second(self, item: int) -> Any:
        """The class that an answer is explained against, where none is named."""
        row = to_numpy(self.posterior[item : item + 1])[0]
        return self.predictions.classes[int(np.argsort(-row, kind="stable")[1])]

    def explanations(self, items: IntArray, against: Sequence[Any]) -> Iterator[Explanation]:
        """Explain the items at these positions, each against a class, or against the second where that is None."""
        if not len(items):
            return
        taken = self.predictions.take(items)
        rivals = [
            self._second(item) if rival is None else rival for item, rival in zip(items.tolist(), against, strict=True)
        ]
        for name, key in zip(taken.items, zip(items.tolist(), rivals, strict=True), strict=True):
            why = self._explanations.get(key) or explain(taken, name, aggregator=self.method, against=key[1])
            if len(self._explanations) < MOST_KEPT:
                self._explanations[key] = why
            yield why
