"""Averaging: what everyone uses, because it never fails badly."""

from __future__ import annotations

from typing import Any, Literal, final

import numpy as np

from consilience.aggregators.pooling import AbstractPool
from consilience.answering.frozen import FrozenRule
from consilience.answering.rule import Rule
from consilience.data.predictions import Predictions
from consilience.passes.kernels import Scores
from consilience.passes.reader import Reader
from consilience.system.arrays import Array, FloatArray, namespace
from consilience.system.errors import InvalidPredictions

FLOOR = 1e-10
"""What a probability of zero counts as in the geometric mean, where it would forbid a class for ever."""


@final
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

    def __init__(self, *, kind: Literal["arithmetic", "geometric"] = "arithmetic", weights: Any = None) -> None:
        self.kind = kind
        self.weights = weights

    def _check_parameters(self, predictions: Predictions) -> None:
        if self.kind not in ("arithmetic", "geometric"):
            raise ValueError(f"kind must be 'arithmetic' or 'geometric'; got {self.kind!r}")
        self._member_weights(predictions.n_members)

    def _member_weights(self, n_members: int) -> FloatArray:
        if self.weights is None:
            return np.ones(n_members)
        try:
            weights = np.asarray(self.weights, dtype=np.float64)
        except (TypeError, ValueError):
            weights = np.empty(0)
        if weights.shape != (n_members,) or not ((weights > 0) & np.isfinite(weights)).all():
            raise ValueError(
                f"weights must be a positive number for each of the {n_members} members; got {self.weights!r}"
            )
        weights = weights / weights.max()  # or the sum could be infinite
        return np.asarray(weights / weights.sum())

    def rule(self, predictions: Predictions) -> Rule:
        """The average; for the geometric one, scores that weigh each member's own logarithms.

        The weights of missing members go to the others, so the scores of a geometric mean hold for the first item.
        """
        weights = self._member_weights(predictions.n_members)
        if self.kind == "arithmetic":
            return Rule(0.0, None, weights)
        first = np.eye(1, predictions.n_classes)
        n_answers = Reader(predictions.take([0])).statistics(first).answer_counts[:, 0]
        shares = weights / (weights * n_answers).sum()
        n_classes = predictions.n_classes
        identity = shares[:, None, None] * np.eye(n_classes)
        scores = Scores(np.zeros(n_classes), identity, np.zeros((predictions.n_members, n_classes)))
        return Rule(1.0, scores, weights, log_floor=FLOOR)

    def frozen(self, **options: Any) -> FrozenRule:
        """The average, or for the geometric one the average of logarithms, which holds for whoever answers."""
        self._check_is_fitted()
        self.check_options(options)
        weights = self._member_weights(len(self.members_))
        names = (type(self).__name__, self.members_, self.classes_)
        is_label = np.zeros(len(weights), dtype=bool)
        if self.kind == "arithmetic":
            return FrozenRule(*names, 0.0, weights, is_label)
        return FrozenRule(*names, 0.0, weights, is_label, floor=FLOOR, averages_logs=True)

    def _posterior(self, predictions: Predictions) -> Array:
        if self.kind == "arithmetic":
            return self.rule(predictions).posterior(predictions)
        if not isinstance(predictions, Predictions):  # on a cluster, where each block gets its own
            return predictions.map_rows(self._posterior)
        if predictions.hard is not None and len(predictions.hard.items):
            raise InvalidPredictions("the geometric mean needs probabilities; some members give labels")
        logs = Reader(predictions, log_floor=FLOOR).pool(self._member_weights(predictions.n_members))
        xp = namespace(logs)
        exponentials = xp.exp(logs - xp.max(logs, axis=1, keepdims=True))
        return exponentials / xp.sum(exponentials, axis=1, keepdims=True)
