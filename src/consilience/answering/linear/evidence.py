"""What tips the answer of a linear rule: each member's part of the average and of the scores.

The log-odds of a mixture of an average and a posterior are split by the logarithmic mean L, which is exact:
log a - log b = (a - b) / L(a, b).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np
from scipy.special import log_softmax

from consilience.answering.rule import AbstractExplained, Evidence
from consilience.passes.kernels import summarize
from consilience.passes.reader import Reader

if TYPE_CHECKING:
    from consilience.answering.linear.rule import LinearRule
    from consilience.data.predictions import Predictions
    from consilience.system.arrays import FloatArray

TINY = 1e-300
"""What a posterior of zero counts as under the logarithm."""


@final
class ExplainedLinear(AbstractExplained):
    """One item, answered by a linear rule."""

    def __init__(self, rule: LinearRule, one: Predictions) -> None:
        self.rule = rule
        answers = one.ballots() if rule.is_label.all() else one
        totals, n_answers = item_features(Reader(answers))
        behind = (rule.member_weights * n_answers).sum()
        shares = rule.member_weights / (behind if behind > 0 else 1.0)  # of an undecided panel nobody has a share
        self._features, self._n_answers = totals, n_answers
        if rule.log_floor is not None:
            self._features, self._n_answers = item_features(Reader(answers, log_floor=rule.log_floor))
        self._pooled = shares[:, None] * (self._features if rule.averages_logs else totals)
        self._log_pure = self._log_posterior_of_scores()
        self.log_posterior = self._log_mixture()

    def _log_posterior_of_scores(self) -> FloatArray:
        scores = self.rule.scores
        if scores is None:
            return np.zeros(self._features.shape[1])
        log_joint = scores.log_prior + (scores.weights * self._features[:, None, :]).sum(axis=(0, 2))
        log_joint = log_joint + self._n_answers @ scores.bias
        shift = log_joint.max()
        return np.asarray(log_joint - shift - np.log(np.exp(log_joint - shift).sum()))

    def _log_mixture(self) -> FloatArray:
        weight, average = self.rule.weight, self._pooled.sum(axis=0)
        if not self._n_answers.any():
            average = np.full(len(average), 1 / len(average))
        if self.rule.averages_logs:
            return np.asarray(log_softmax(average))
        if weight == 1:
            return self._log_pure
        mixture = (1 - weight) * average + weight * np.exp(self._log_pure) * (weight > 0)
        return np.asarray(np.log(np.maximum(mixture, TINY)))

    def evidence(self, first: int, second: int) -> Evidence:
        """What speaks for the first class against the second."""
        rule, log_posterior, log_pure = self.rule, self.log_posterior, self._log_pure
        by_probability, normalizer, prior = np.zeros_like(self._pooled), np.zeros(len(self._pooled)), 0.0
        scale = 1.0 if rule.averages_logs else _logarithmic_mean(log_posterior[first], log_posterior[second])
        if rule.weight < 1:
            share = (1 - rule.weight) / scale
            by_probability[:, first] += share * self._pooled[:, first]
            by_probability[:, second] -= share * self._pooled[:, second]
        if rule.scores is not None and rule.weight > 0:
            share = 1.0
            if rule.weight < 1:
                share = rule.weight * _logarithmic_mean(log_pure[first], log_pure[second]) / scale
            weights, bias = rule.scores.weights, rule.scores.bias
            by_probability += share * (weights[:, first] - weights[:, second]) * self._features
            normalizer = share * (bias[:, first] - bias[:, second]) * self._n_answers
            prior = float(share * (rule.scores.log_prior[first] - rule.scores.log_prior[second]))
        return Evidence(prior, by_probability, normalizer)


def item_features(reader: Reader) -> tuple[FloatArray, FloatArray]:
    """The summed features (members, classes) of the only item, and how often each member answered it."""
    data = reader.predictions
    totals, n_answers = np.zeros((data.n_members, data.n_classes)), np.zeros(data.n_members)
    only = np.ones((1, 1))  # the responsibility of a single class: its sums are the features themselves
    for part in summarize(reader.chunks[0].features(), only).sums:
        totals[part.positions] += part.table.reshape(len(part.positions), -1)
        n_answers[part.positions] += part.answer_counts[:, 0]
    return totals, n_answers


def _logarithmic_mean(log_a: float, log_b: float) -> float:
    """(a - b) / (log a - log b), which tends to a as b does."""
    gap = abs(log_a - log_b)
    return float(np.exp(max(log_a, log_b)) * (-np.expm1(-gap) / gap if gap > 1e-12 else 1.0))
