"""A rule whose answers are corrected by what known labels taught: one more linear layer and a softmax."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, final

import numpy as np
from scipy.special import log_softmax

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
