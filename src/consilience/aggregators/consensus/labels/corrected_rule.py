"""A rule whose answers are corrected by what known labels taught: one more linear layer and a softmax."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
from scipy.special import log_softmax

from consilience.answering.linear import sums_of_item
from consilience.answering.rule import AbstractRule, Evidence, Explained, GivenRows, RuleForm, side_by_side
from consilience.data.predictions import Predictions, example_of
from consilience.maths.em import Scores
from consilience.passes.reader import ReadChunk, Reader
from consilience.passes.responsibilities import as_rows, dense, dense_softmax, log_joint
from consilience.system.arrays import Array, FloatArray, like, namespace

# A correction does not tell smaller probabilities apart: members differ by orders of magnitude in what they call
# nearly impossible, and a few labels cannot tell whether that means anything.
LOG_FLOOR = 1e-4
ANSWER_FLOOR = 1e-6  # the same for the answers that are corrected


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
class CorrectedRule(AbstractRule):
    """Another rule's answers, corrected by what labels taught."""

    def __init__(self, rule: AbstractRule, correction: Correction) -> None:
        self.rule, self.correction = rule, correction
        self.is_label, self.chunk_size = rule.is_label, rule.chunk_size

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

    def explained(self, one: Predictions) -> Explained:
        """What spoke for the classes of the only item before, sharpened, and what labels taught."""
        sharpness, least = self.correction.sharpness, np.log(ANSWER_FLOOR)
        before, taught = self.rule.explained(one), self.correction.scores(one)
        logs, _ = sums_of_item(Reader(one, log_floor=LOG_FLOOR))
        corrected = sharpness * np.maximum(before.log_posterior, least)
        corrected += taught.log_prior + (taught.weights * logs[:, None, :]).sum(axis=(0, 2))

        def evidence(first: int, second: int) -> Evidence:
            log_pair = before.log_posterior[[first, second]]
            gap, floored = np.diff(log_pair)[0], np.diff(np.maximum(log_pair, least))[0]
            stretch = float(sharpness * (floored / gap if gap != 0 else 1.0))  # of the log-odds before
            prior, by_probability, normalizer, shares, experts = before.evidence(first, second)
            return Evidence(
                stretch * prior + float(taught.log_prior[first] - taught.log_prior[second]),
                stretch * by_probability + (taught.weights[:, first] - taught.weights[:, second]) * logs,
                stretch * normalizer,
                stretch * shares,
                experts,
            )

        return Explained(np.asarray(log_softmax(corrected)), evidence)

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
        return RuleForm(before.numbers | numbers, partial(_corrected, before.answer), before.needs_double)


def _corrected(
    before: Callable[[Mapping[str, Array], GivenRows], Array], numbers: Mapping[str, Array], rows: GivenRows
) -> Array:
    """The answers of another form, corrected by what labels taught."""
    xp = rows.xp
    logs = side_by_side(xp, xp.log(rows.probabilities.clip(LOG_FLOOR, None)), rows.is_answer)
    floored = xp.log(before(numbers, rows).clip(ANSWER_FLOOR, None))
    scores = numbers["sharpness"] * floored + logs @ numbers["correction_table"] + numbers["correction_bias"]
    return xp.softmax(scores, dim=1)
