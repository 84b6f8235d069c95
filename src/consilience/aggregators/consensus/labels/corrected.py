"""A rule whose answers are corrected by what known labels taught: one more linear layer and a softmax."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, final

import numpy as np
from scipy.special import expit, log_softmax, logsumexp

from consilience.answering.linear import sums_of_item
from consilience.answering.rule import AbstractExplained, AbstractRule, Evidence, RuleForm, side_by_side
from consilience.data.predictions import example_of
from consilience.maths.em import Scores
from consilience.passes.reader import ReadChunk, Reader
from consilience.passes.responsibilities import as_rows, dense, dense_softmax, log_joint
from consilience.system.arrays import Array, like, namespace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    from consilience.aggregators.consensus.labels.teaching import LabelledItems
    from consilience.answering.rule import GivenRows
    from consilience.data.predictions import Predictions
    from consilience.system.arrays import FloatArray


LOG_FLOOR = 1e-4
"""A correction does not tell smaller probabilities apart: members differ by orders of magnitude in what they call
nearly impossible, and a few labels cannot tell whether that means anything."""

ANSWER_FLOOR = 1e-6
"""The same for the answers that are corrected."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Correction:
    """softmax(`sharpness` · log answer + `bias` + Σ_m `weights`[m] · log max(x_m, LOG_FLOOR)) is the corrected answer.

    Each row of weights sums to zero. So a member counts by how its logarithms differ from their mean, and a member who
    did not answer does not count.
    """

    sharpness: float
    bias: FloatArray  # (true,)
    weights: FloatArray  # (members, true, predicted)

    def scores(self, predictions: Predictions) -> Scores:
        """The linear layer on the logarithms of these predictions; a label is the logarithm of a one-hot row."""
        weights = self.weights
        if predictions.hard is not None:
            voters = np.unique(predictions.hard.members)
            weights = weights.copy()
            weights[voters] *= -np.log(LOG_FLOOR)
        return Scores(self.bias, weights, np.zeros(weights.shape[:2]))

    def table(self) -> FloatArray:
        """The weights as (members × predicted, true), for logarithms floored at `LOG_FLOOR`, also of one-hot rows."""
        return np.asarray(self.weights.transpose(0, 2, 1).reshape(-1, len(self.bias)))


@final
@dataclass(frozen=True, slots=True, eq=False)
class CorrectedRule(AbstractRule):
    """Another rule's answers, corrected by what labels taught."""

    rule: AbstractRule
    correction: Correction

    @property
    def is_label(self) -> npt.NDArray[np.bool_]:  # type: ignore[override]  # the inner rule's
        """The members of whom only the most probable class counts."""
        return self.rule.is_label

    @property
    def chunk_size(self) -> int | None:  # type: ignore[override]  # the inner rule's
        """Items at a time."""
        return self.rule.chunk_size

    def answer(self, reader: Reader) -> Callable[[ReadChunk], Array]:
        """A function from each chunk to its corrected posterior (items, classes)."""
        correction, example = self.correction, example_of(reader.predictions)
        before = self.rule.answer(reader)
        logs = Reader(reader.predictions, log_floor=LOG_FLOOR, chunk_size=reader.chunk_size)
        layer = logs.layer(correction.scores(reader.predictions))

        def corrected(chunk: ReadChunk) -> Array:
            answers = dense(before(chunk))
            xp = namespace(answers)
            scores = log_joint(logs.chunks[chunk.place].features(), None, layer, example)
            floored = xp.log(xp.maximum(answers, like(np.array(ANSWER_FLOOR), answers)))
            return as_rows(dense_softmax(scores + correction.sharpness * xp.matrix_transpose(floored)).values, example)

        return corrected

    def explained(self, one: Predictions) -> ExplainedCorrection:
        """The only item of some predictions, with what tips its answer."""
        return ExplainedCorrection(self.rule.explained(one), self.correction, one)

    @property
    def needs_double(self) -> bool:
        """Whether single precision would show in the posterior."""
        return self.rule.needs_double

    @property
    def n_numbers(self) -> int:
        """How many numbers the inner rule holds; a correction is only learned where it is small."""
        return self.rule.n_numbers

    def form(self) -> RuleForm:
        """Both for torch and ONNX."""
        before, correction = self.rule.form(), self.correction
        numbers = {
            "sharpness": correction.sharpness,
            "correction_bias": correction.bias,
            "correction_table": correction.table(),
        }
        return RuleForm(before.numbers | numbers, partial(_corrected, before.answer))


def _corrected(
    before: Callable[[Mapping[str, Array], GivenRows], Array], numbers: Mapping[str, Array], rows: GivenRows
) -> Array:
    """The answers of another form, corrected by what labels taught."""
    xp = rows.xp
    logs = side_by_side(xp, xp.log(rows.probabilities.clip(LOG_FLOOR, None)), rows.is_answer)
    floored = xp.log(before(numbers, rows).clip(ANSWER_FLOOR, None))
    scores = numbers["sharpness"] * floored + logs @ numbers["correction_table"] + numbers["correction_bias"]
    return xp.softmax(scores, dim=1)


@final
class ExplainedCorrection(AbstractExplained):
    """One item, answered by a corrected rule."""

    def __init__(self, before: AbstractExplained, correction: Correction, one: Predictions) -> None:
        self._before, self._sharpness = before, correction.sharpness
        self._scores = correction.scores(one)
        self._logs, _ = sums_of_item(Reader(one, log_floor=LOG_FLOOR))
        sharpened = correction.sharpness * np.maximum(before.log_posterior, np.log(ANSWER_FLOOR))
        taught = self._scores.log_prior + (self._scores.weights * self._logs[:, None, :]).sum(axis=(0, 2))
        self.log_posterior = np.asarray(log_softmax(sharpened + taught))

    def evidence(self, first: int, second: int) -> Evidence:
        """What spoke for the first class against the second before, sharpened, and what labels taught."""
        prior, by_probability, normalizer, shares = self._before.evidence(first, second)
        stretch, taught = self._stretch(first, second), self._scores
        return Evidence(
            stretch * prior + float(taught.log_prior[first] - taught.log_prior[second]),
            stretch * by_probability + (taught.weights[:, first] - taught.weights[:, second]) * self._logs,
            stretch * normalizer,
            stretch * shares,
        )

    def experts(self, first: int, second: int) -> dict[str, float]:
        """What each expert of the inner rule says; labels correct none of them."""
        return self._before.experts(first, second)

    def _stretch(self, first: int, second: int) -> float:
        """What the log-odds before the correction are multiplied by: sharpened, and floored where next to zero."""
        log_pair = self._before.log_posterior[[first, second]]
        gap, floored = np.diff(log_pair)[0], np.diff(np.maximum(log_pair, np.log(ANSWER_FLOOR)))[0]
        return float(self._sharpness * (floored / gap if gap != 0 else 1.0))


TEN_TURN = 0.03
"""The share of all answers that ten labels may turn; it grows with the cube of their number. On generated panels ten
labels, all of them wrong, must not cost 5 points; twenty that are right must gain as much as without a limit."""

CONTRADICTING = 0.2
"""How probable it is, before a look at them, that labels contradict right answers."""

UNSURE_POWER = 4
"""A power: answers half as sure as they can be, beyond chance, are taken to mean nothing in one of 2^4 panels."""

LEAST_RATE = 1e-3
"""Nothing is taken to be rarer, so that one label does not decide."""

SHARE_GRID = (np.arange(20) + 0.5) / 20
"""Shares from 0 to 1, to average over."""


def bounded(correction: Correction, trust: float, n_labels: float, said: FloatArray, answers: FloatArray) -> Correction:
    """The correction, as far as labels that are worth so much trust can justify it.

    `said` (items, members, classes) and `answers` (items, classes), found without labels, are of a sample of all items.
    """
    shown = Correction(1 + trust * (correction.sharpness - 1), correction.bias, correction.weights)
    limits = np.sort(turning_points(shown, said, answers))
    n_allowed = int(most_turned(trust * n_labels) * len(limits))
    limit = limits[n_allowed] if n_allowed < len(limits) else np.inf
    share = min(trust, limit * (1 - 1e-9))
    return Correction(shown.sharpness, share * correction.bias, share * correction.weights)


def most_turned(n_labels: float) -> float:
    """The share of all answers that so many labels may turn."""
    return float(min(1.0, TEN_TURN * (n_labels / 10) ** 3))


def turning_points(correction: Correction, said: FloatArray, answers: FloatArray) -> FloatArray:
    """(items,): by how much biases and weights are multiplied when they turn the answer to an item.

    Scores are linear in that factor, so each other class overtakes the answer at one factor, or never.
    """
    logs = np.nan_to_num(np.log(np.maximum(said, LOG_FLOOR))).reshape(len(said), -1)
    taught = logs @ correction.table() + correction.bias
    scores = correction.sharpness * np.log(np.maximum(answers, ANSWER_FLOOR))
    answer = answers.argmax(axis=1)[:, None]
    lead = np.take_along_axis(scores, answer, axis=1) - scores
    push = taught - np.take_along_axis(taught, answer, axis=1)
    factors = np.divide(lead, push, out=np.full(lead.shape, np.inf), where=push > 0)
    return np.asarray(factors.min(axis=1))


def trust_in(labelled: LabelledItems, answers: FloatArray, usual: FloatArray) -> float:
    """How probable it is that labels tell of other items, and do not just contradict them, by how often they agree.

    Labels that tell of others agree with an answer as often as it is sure, or less often, down to chance, since
    members may be too sure; the surer, the likelier. Where answers are hardly sure of anything, labels may agree with
    them as seldom as they like. Labels that contradict, because classes are swapped or only mistakes were labelled,
    agree less often than chance.

    `answers` are to the labelled items, and `usual` ones to a sample of all: noticed mistakes are where answers are
    unsure.
    """
    n_classes = answers.shape[1]
    agrees = np.take_along_axis(labelled.targets, answers.argmax(axis=1)[:, None], axis=1)[:, 0]
    beyond_chance = answers.max(axis=1) - 1 / n_classes
    usual_sureness = (usual.max(axis=1).mean() - 1 / n_classes) / (1 - 1 / n_classes)
    is_unsure = np.clip(1 - usual_sureness, LEAST_RATE, 1 - LEAST_RATE) ** UNSURE_POWER
    noise = np.nan_to_num(labelled.noise)
    sure = 1 / n_classes + SHARE_GRID[:, None] * beyond_chance
    telling = (1 - noise) * sure + noise * (1 - sure) / (n_classes - 1)
    anything, contradicting = (
        np.repeat(rates[:, None], len(agrees), axis=1) for rates in (SHARE_GRID, SHARE_GRID / n_classes)
    )

    def evidence(rates: FloatArray, prior: FloatArray) -> float:
        log_rates = agrees * np.log(rates) + (1 - agrees) * np.log(np.maximum(1 - rates, LEAST_RATE))
        return float(logsumexp((labelled.weights * log_rates).sum(axis=1), b=prior / prior.sum()))

    even = np.ones(len(SHARE_GRID))
    told = np.logaddexp(
        evidence(telling, SHARE_GRID) + np.log1p(-is_unsure), evidence(anything, even) + np.log(is_unsure)
    )
    return float(expit(told - evidence(contradicting, even) + np.log((1 - CONTRADICTING) / CONTRADICTING)))
