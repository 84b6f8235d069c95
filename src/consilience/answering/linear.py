"""How a linear rule answers: part average, part softmax of linear scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax

from consilience.answering.rule import AbstractRule, Evidence, Explained, GivenRows, RuleForm, side_by_side
from consilience.data.predictions import Predictions
from consilience.maths.em import Scores
from consilience.passes.kernels import chunk_statistics
from consilience.passes.reader import ReadChunk, Reader
from consilience.passes.responsibilities import dense
from consilience.system.arrays import Array, FloatArray, namespace
from consilience.system.errors import InvalidPredictions

LEAST_MIXED = 1e-300  # what a posterior of zero counts as under the logarithm


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


# Scores of up to this size, times their weight, do in single precision: softmax has slopes of at most 1/4, so that
# rounding by 2⁻²⁴ of a score and of its rival moves the posterior by less than 1e-5.
SINGLE_LIMIT = 256


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
            if answers.hard is not None and len(answers.hard.items):
                raise InvalidPredictions("the geometric mean needs probabilities; some members give labels")
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

    def explained(self, one: Predictions) -> Explained:
        """The only item of some predictions, with what tips its answer."""
        answers = one.ballots() if self.is_label.all() else one
        totals, n_answers = sums_of_item(Reader(answers))
        features = totals
        if self.log_floor is not None:
            features, _ = sums_of_item(Reader(answers, log_floor=self.log_floor))
        behind = (self.member_weights * n_answers).sum()
        shares = self.member_weights / (behind if behind > 0 else 1.0)  # of an undecided panel nobody has a share
        pooled = shares[:, None] * (features if self.averages_logs else totals)
        log_pure = self._log_pure(features, n_answers)
        log_posterior = self._log_mixture(pooled.sum(axis=0) if n_answers.any() else None, log_pure)

        def evidence(first: int, second: int) -> Evidence:
            by_probability, normalizer, prior = np.zeros_like(pooled), np.zeros(len(pooled)), 0.0
            scale = 1.0 if self.averages_logs else _logarithmic_mean(log_posterior[first], log_posterior[second])
            if self.weight < 1:
                share = (1 - self.weight) / scale
                by_probability[:, first] += share * pooled[:, first]
                by_probability[:, second] -= share * pooled[:, second]
            if self.scores is not None and self.weight > 0:
                share = 1.0
                if self.weight < 1:
                    share = self.weight * _logarithmic_mean(log_pure[first], log_pure[second]) / scale
                weights, bias, log_prior = self.scores.weights, self.scores.bias, self.scores.log_prior
                by_probability += share * (weights[:, first] - weights[:, second]) * features
                normalizer = share * (bias[:, first] - bias[:, second]) * n_answers
                prior = float(share * (log_prior[first] - log_prior[second]))
            return Evidence(prior, by_probability, normalizer)

        return Explained(log_posterior, evidence)

    def _log_pure(self, features: FloatArray, n_answers: FloatArray) -> FloatArray:
        """The logarithm of the softmax of an item's scores (classes,)."""
        if self.scores is None:
            return np.zeros(features.shape[1])
        scored = self.scores.log_prior + (self.scores.weights * features[:, None, :]).sum(axis=(0, 2))
        return np.asarray(log_softmax(scored + n_answers @ self.scores.bias))

    def _log_mixture(self, average: FloatArray | None, log_pure: FloatArray) -> FloatArray:
        """The logarithm of the posterior of an item (classes,), whose average is None where nobody answers."""
        if average is None:
            average = np.full(len(log_pure), 1 / len(log_pure))
        if self.averages_logs:
            return np.asarray(log_softmax(average))
        if self.weight == 1:
            return log_pure
        mixture = (1 - self.weight) * average + self.weight * np.exp(log_pure) * (self.weight > 0)
        return np.asarray(np.log(np.maximum(mixture, LEAST_MIXED)))

    def _largest_score(self, weights: FloatArray, bias: FloatArray) -> float:
        """How large the scores of an item can get, all probabilities but one being at the floor."""
        by_label = np.abs(weights).max(axis=2)
        by_logs = by_label if self.log_floor is None else -np.log(self.log_floor) * weights.sum(axis=2)
        return float((np.where(self.is_label[:, None], by_label, by_logs) + np.abs(bias)).sum(axis=0).max())

    @property
    def n_numbers(self) -> int:
        """How many numbers the scores hold."""
        return 0 if self.scores is None else self.scores.weights.size

    def form(self) -> RuleForm:
        """The rule for torch and ONNX. Its scores leave out what all classes share: softmax does, and it costs digits.

        For logarithms, which are negative, the smallest weight is subtracted; for labels the largest. Likely classes
        then score near zero, where rounding is fine. Weights of probabilities are too small to matter.
        """
        numbers: dict[str, Any] = {
            "weight": self.weight,
            "member_weights": self.member_weights[:, None, None],
            "log_floor": -np.inf if self.log_floor is None else np.log(self.log_floor),  # half precision has no 1e-10
        }
        needs_double = False
        if self.scores is not None and self.weight > 0:
            log_prior, weights, bias = self.scores
            least, largest = weights.min(axis=1, keepdims=True), weights.max(axis=1, keepdims=True)
            weights = weights - np.where(self.is_label[:, None, None], largest, least)
            bias = bias - bias.mean(axis=1, keepdims=True)
            numbers |= {
                "table": weights.transpose(0, 2, 1).reshape(-1, len(log_prior)),  # (members × predicted, true)
                "bias": bias,
                "log_prior": log_prior - log_prior.max(),
            }
            needs_double = self.weight * self._largest_score(weights, bias) > SINGLE_LIMIT
        answer = partial(
            _answer,
            has_average="table" not in numbers or self.weight < 1,
            takes_logs=self.log_floor is not None,
            averages_logs=self.averages_logs,
        )
        return RuleForm(numbers, answer, needs_double)


def _answer(
    numbers: Mapping[str, Array], rows: GivenRows, *, has_average: bool, takes_logs: bool, averages_logs: bool
) -> Array:
    """(1 - weight) · average + weight · softmax(scores), or the half of it that counts, in torch and ONNX."""
    xp, features = rows.xp, _features(numbers, rows) if takes_logs else rows.probabilities
    pooled = features if averages_logs else rows.probabilities
    average = _average(xp, numbers["member_weights"] * rows.is_answer, pooled) if has_average else None
    if "table" not in numbers:
        return xp.softmax(average, dim=1) if averages_logs else average
    scores = side_by_side(xp, features, rows.is_answer) @ numbers["table"]
    pure = xp.softmax(scores + by_answer(xp, rows.is_answer, numbers["bias"]) + numbers["log_prior"], dim=1)
    return pure if average is None else (1 - numbers["weight"]) * average + numbers["weight"] * pure


def _features(numbers: Mapping[str, Array], rows: GivenRows) -> Array:
    """Floored logarithms, which scores are linear in; votes are one-hot."""
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


def _softmax(logs: Array) -> Array:
    xp = namespace(logs)
    exponentials = xp.exp(logs - xp.max(logs, axis=1, keepdims=True))
    return exponentials / xp.sum(exponentials, axis=1, keepdims=True)
