"""A fitted method's answers to some predictions, and what follows from them: each part is computed only once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from consilience.aggregators.base import AbstractAggregator, fitted_copy
from consilience.data.labels import known_labels
from consilience.insight.diagnostics import Diagnosis, diagnosis_under
from consilience.insight.explanation import Explanation, explain
from consilience.passes.reader import Reader
from consilience.system.arrays import to_numpy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from consilience.data.predictions import Predictions
    from consilience.system.arrays import Array, FloatArray, IntArray

MOST_KEPT = 20
"""How many explanations are kept for a second use. In a large crowd each one is large."""


@final
class Analysis:
    """What a method says of predictions. Each part is computed when it is first used, and then kept.

    If the method is not fitted, a copy of it is, with the labels. `predictions` are on the axes of the fit.
    """

    def __init__(self, predictions: Predictions, method: AbstractAggregator, labels: Any = None) -> None:
        self.is_fitted_here = not hasattr(method, "members_")
        self.method = fitted_copy(method, predictions, labels) if self.is_fitted_here else method
        self.predictions = self.method.aligned(predictions)
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
    def diagnosis(self) -> Diagnosis:
        """The diagnosis of the members under the posterior."""
        return diagnosis_under(self.predictions, self.method, self.posterior, self.average)

    def truth(self, labels: Any) -> IntArray:
        """Known labels as class positions on the axes of the fit, -1 where unknown."""
        known = known_labels(labels, self.predictions.axes)
        return np.full(self.predictions.n_items, -1) if known is None else np.asarray(known)

    def explanations(self, items: IntArray, against: Sequence[Any]) -> Iterator[Explanation]:
        """Explain the items at these positions, each against a class, or against the second where that is None."""
        if not len(items):
            return
        taken = self.predictions.take(items)
        for name, key in zip(taken.items, zip(items.tolist(), against, strict=True), strict=True):
            why = self._explanations.get(key) or explain(self.method, taken, name, against=key[1])
            if len(self._explanations) < MOST_KEPT:
                self._explanations[key] = why
            yield why
