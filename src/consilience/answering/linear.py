"""How a linear rule answers: part average, part softmax of linear scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax

from consilience.answering.rule import AbstractExplained, AbstractRule, Evidence, GivenRows, RuleForm, side_by_side
from consilience.data.predictions import Predictions
from consilience.maths.em import Scores
from consilience.passes.kernels import chunk_statistics
from consilience.passes.reader import ReadChunk, Reader
from consilience.passes.responsibilities import dense
from consilience.system.arrays import Array, FloatArray, namespace
from consilience.system.errors import InvalidPredictions

LEAST_MIXED = 1e-300  # what a posterior of zero counts as under the logarithm


@final
class ExplainedLinear(AbstractExplained):
    """One item, answered by a linear rule."""

    def __init__(self, rule: LinearRule, one: Predictions) -> None:
        self.rule = rule
        answers = one.ballots() if rule.is_label.all() else one
        totals, n_answers = sums_of_item(Reader(answers))
        behind = (rule.member_weights * n_answers).sum()
        shares = rule.member_weights / (behind if behind > 0 else 1.0)  # of an undecided panel nobody has a share
        self._features, self._n_answers = totals, n_answers
        if rule.log_floor is not None:
            self._features, self._n_answers = sums_of_item(Reader(answers, log_floor=rule.log_floor))
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
        return np.asarray(np.log(np.maximum(mixture, LEAST_MIXED)))

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


def sums_of_item(reader: Reader) -> tuple[FloatArray, FloatArray]:
    """The summed features (members, classes) of the only item, and how often each member answered it."""
    data = reader.predictions
    totals, n_answers = np.zeros((data.n_members, data.n_classes)), np.zeros(data.n_members)
    only = np.ones((1, 1))  # the responsibility of a single class: its sums are the features themselves
    for part in chunk_statistics(reader.chunks[0].features(), only).sums:
        totals[part.positions] += part.table.reshape(len(part.positions), -1)
        n_answers[part.positions] += part.answer_counts[:, 0]
    return totals, n_answers


def _logarithmic_mean(log_a: float, log_b: float) -> float:
    """(a - b) / (log a - log b), which tends to a as b does."""
    gap = abs(log_a - log_b)
    return float(np.exp(max(log_a, log_b)) * (-np.expm1(-gap) / gap if gap > 1e-12 else 1.0))


SINGLE_LIMIT = 256
"""Scores of up to this size, times their weight, do in single precision: softmax has slopes of at most 1/4, so that
rounding by 2⁻²⁴ of a score and of its rival moves the posterior by less than 1e-5."""


class LinearLayer(NamedTuple):
    """Scores as `features @ table + is_answer @ bias + log_prior`, on features (items, members × predicted)."""

    table: FloatArray  # (members × predicted, true)
    bias: FloatArray  # (members, true)
    log_prior: FloatArray  # (true,)
    needs_double: bool  # whether single precision would show in the posterior


@final
@dataclass(frozen=True, slots=True, eq=False)
class LinearRule(AbstractRule):
    """The posterior of an item is `(1 - weight) · average + weight · softmax(scores)`.

    The average weighs the members who answered by `member_weights`. With `averages_logs` it averages logarithms and
    takes their softmax: a geometric mean. Scores are linear in log max(p, log_floor), or in p itself where there is no
    floor; for members who give labels, in their one-hot rows.
    """

    member_weights: FloatArray  # (members,)
    is_label: npt.NDArray[np.bool_]
    weight: float = 0.0
    scores: Scores | None = None  # None where weight is 0
    log_floor: float | None = None
    averages_logs: bool = False
    chunk_size: int | None = None

    def answer(self, reader: Reader) -> Callable[[ReadChunk], Array]:
        """A function from each chunk to its posterior (items, classes)."""
        answers, scored = reader.predictions, reader
        if self.log_floor is not None:
            scored = Reader(answers, log_floor=self.log_floor, chunk_size=self.chunk_size)
        if self.averages_logs:
            _check_has_logs(answers)
            return lambda chunk: _softmax(scored.chunks[chunk.place].pool(self.member_weights))
        if self.scores is None or self.weight == 0:
            return lambda chunk: chunk.pool(self.member_weights)
        layer = scored.layer(self.scores)

        def mixed(chunk: ReadChunk) -> Array:
            pure = scored.chunks[chunk.place].posterior(layer)
            if self.weight == 1:
                return pure
            return (1 - self.weight) * chunk.pool(self.member_weights) + self.weight * dense(pure)

        return mixed

    def explained(self, one: Predictions) -> ExplainedLinear:
        """The only item of some predictions, with what tips its answer."""
        return ExplainedLinear(self, one)

    # ---- elsewhere ----------------------------------------------------------------------------------------

    def layer(self) -> LinearLayer | None:
        """The scores without what all classes have in common: softmax ignores it, and it costs precision.

        For logarithms, which are negative, the smallest weight is subtracted; for labels the largest. Likely classes
        then score near zero, where rounding is fine. Weights of probabilities are too small to matter.
        """
        if self.scores is None or self.weight == 0:
            return None
        weights = self.scores.weights
        least, largest = weights.min(axis=1, keepdims=True), weights.max(axis=1, keepdims=True)
        weights = weights - np.where(self.is_label[:, None, None], largest, least)
        bias = self.scores.bias - self.scores.bias.mean(axis=1, keepdims=True)
        log_prior = self.scores.log_prior - self.scores.log_prior.max()
        needs_double = self.weight * self._largest_score(weights, bias) > SINGLE_LIMIT
        return LinearLayer(weights.transpose(0, 2, 1).reshape(-1, len(log_prior)), bias, log_prior, needs_double)

    def _largest_score(self, weights: FloatArray, bias: FloatArray) -> float:
        """How large the scores of an item can get, all probabilities but one being at the floor."""
        by_label = np.abs(weights).max(axis=2)
        by_logs = by_label if self.log_floor is None else -np.log(self.log_floor) * weights.sum(axis=2)
        return float((np.where(self.is_label[:, None], by_label, by_logs) + np.abs(bias)).sum(axis=0).max())

    @property
    def needs_double(self) -> bool:
        """Whether single precision would show in the posterior."""
        layer = self.layer()
        return layer is not None and layer.needs_double

    @property
    def n_numbers(self) -> int:
        """How many numbers the scores hold."""
        return 0 if self.scores is None else self.scores.weights.size

    def form(self) -> RuleForm:
        """The rule for torch and ONNX."""
        layer = self.layer()
        numbers: dict[str, Any] = {
            "weight": self.weight,
            "member_weights": self.member_weights[:, None, None],
            "log_floor": -np.inf if self.log_floor is None else np.log(self.log_floor),  # half precision has no 1e-10
        }
        if layer is not None:
            numbers |= {"table": layer.table, "bias": layer.bias, "log_prior": layer.log_prior}
        answer = FormOfLinear(
            has_scores=layer is not None,
            has_average=layer is None or self.weight < 1,
            takes_logs=self.log_floor is not None,
            averages_logs=self.averages_logs,
        )
        return RuleForm(numbers, answer)


@final
@dataclass(frozen=True, kw_only=True)
class FormOfLinear:
    """How a linear rule answers in torch and ONNX."""

    has_scores: bool
    has_average: bool
    takes_logs: bool
    averages_logs: bool

    def __call__(self, numbers: Mapping[str, Array], rows: GivenRows) -> Array:
        """(1 - weight) · average + weight · softmax(scores), or the half of it that counts."""
        xp, features = rows.xp, self._features(numbers, rows)
        pooled = features if self.averages_logs else rows.probabilities
        average = _average(xp, numbers["member_weights"] * rows.is_answer, pooled) if self.has_average else None
        if not self.has_scores:
            return xp.softmax(average, dim=1) if self.averages_logs else average
        scores = side_by_side(xp, features, rows.is_answer) @ numbers["table"]
        pure = xp.softmax(scores + by_answer(xp, rows.is_answer, numbers["bias"]) + numbers["log_prior"], dim=1)
        return pure if average is None else (1 - numbers["weight"]) * average + numbers["weight"] * pure

    def _features(self, numbers: Mapping[str, Array], rows: GivenRows) -> Array:
        """What scores are linear in: floored logarithms, or without a floor the probabilities; votes are one-hot."""
        if not self.takes_logs:
            return rows.probabilities
        xp, log_floor = rows.xp, numbers["log_floor"]
        if rows.are_logits:
            logs = xp.maximum(xp.log_softmax(rows.given, dim=2), log_floor)
        else:
            # Floored before the logarithm, whose gradient at zero is infinite.
            logs = xp.log(xp.maximum(rows.given, xp.exp(log_floor)))
        return logs if rows.votes is None else xp.where(rows.is_label, rows.votes, logs)


def by_answer(xp: Any, is_answer: Array, bias: Array) -> Array:
    """What having answered adds to the scores (batch, classes), given how much for each member and class."""
    return xp.matrix_transpose(is_answer[:, :, 0]) @ bias


def _average(xp: Any, weights: Array, rows: Array) -> Array:
    """The weighted mean of the rows of each item; even if nobody votes."""
    behind = xp.sum(weights, axis=0)
    is_silent = xp.astype(behind <= 0, behind.dtype)
    return (xp.sum(weights * rows, axis=0) + is_silent) / (behind + rows.shape[2] * is_silent)


def _check_has_logs(predictions: Predictions) -> None:
    if predictions.hard is not None and len(predictions.hard.items):
        raise InvalidPredictions("the geometric mean needs probabilities; some members give labels")


def _softmax(logs: Array) -> Array:
    xp = namespace(logs)
    exponentials = xp.exp(logs - xp.max(logs, axis=1, keepdims=True))
    return exponentials / xp.sum(exponentials, axis=1, keepdims=True)
