"""How a fitted aggregator answers: part average, part softmax of linear scores, and what labels correct in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, final

import numpy as np

from consilience.answering.correction import ANSWER_FLOOR, FLOOR, Correction
from consilience.data.predictions import Predictions
from consilience.passes.reader import ReadChunk, Reader, pool, posterior_rows
from consilience.passes.responsibilities import as_rows, dense, log_joint, settled, softmax
from consilience.system.arrays import Array, FloatArray, like, namespace

if TYPE_CHECKING:
    from collections.abc import Callable

    from consilience.passes.belief import Belief
    from consilience.passes.kernels import Scores


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """The posterior of an item is `(1 - weight) · average + weight · softmax(scores)`, or a correction of it.

    Every method of the project is of this form. It is all that is needed to answer for new items, to explain an
    answer, or to answer somewhere else.
    """

    weight: float
    scores: Scores | None  # None where weight is 0
    member_weights: FloatArray  # (members,), of the average
    reads_labels: bool = False  # whether probabilities count as their most probable class
    log_floor: float | None = None  # scores are linear in log max(probability, log_floor); None: in probabilities
    chunk_size: int | None = None
    correction: Correction | None = None  # by what labels taught

    def posterior(self, predictions: Predictions) -> Array:
        """The posterior (items, classes)."""
        if not isinstance(predictions, Predictions):  # on a cluster, where each block gets its own
            return predictions.map_rows(self.posterior)
        return self.belief(predictions).to_array()

    def belief(self, predictions: Predictions, known: Array | None = None, noise: float = 0.0) -> Belief:
        """The posterior, computed when it is asked for, given what is known of some items (see `settled`)."""
        if not isinstance(predictions, Predictions):
            return predictions.map_belief(partial(_settled_posterior, self, noise), known)
        answers = predictions.harden() if self.reads_labels else predictions
        reader = Reader(answers, chunk_size=self.chunk_size)
        mixed = self._mixed(reader)
        corrected = None if self.correction is None else _corrected(self.correction, reader)

        def rows(chunk: ReadChunk) -> Array:
            found = mixed(chunk)
            found = found if corrected is None else corrected(chunk, dense(found))
            return found if known is None else settled(dense(found), known[chunk.chunk.start : chunk.chunk.stop], noise)

        return reader.belief(rows, predictions.example())

    def _mixed(self, averages: Reader) -> Callable[[ReadChunk], Array]:
        """The rows (items, classes) of a chunk, perhaps sparse, before any correction."""
        answers, example = averages.predictions, averages.predictions.example()
        if self.scores is None or self.weight == 0:
            return lambda chunk: pool(chunk, self.member_weights, example)
        scored = averages
        if self.log_floor is not None:
            scored = Reader(answers, log_floor=self.log_floor, chunk_size=self.chunk_size)
        layer = scored.layer(self.scores)

        def rows(chunk: ReadChunk) -> Array:
            pure = posterior_rows(scored.chunks[chunk.place], layer, example)
            if self.weight == 1:
                return pure
            return (1 - self.weight) * pool(chunk, self.member_weights, example) + self.weight * dense(pure)

        return rows


def _settled_posterior(rule: Rule, noise: float, block: Predictions, known: Array | None = None) -> Array:
    return rule.belief(block, known, noise).to_array()


def _corrected(correction: Correction, reader: Reader) -> Callable[[ReadChunk, Array], Array]:
    """What a correction makes of the answers (items, classes) to a chunk."""
    predictions = reader.predictions
    example = predictions.example()
    logs = Reader(predictions, log_floor=FLOOR, chunk_size=reader.chunk_size)
    layer = logs.layer(correction.scores(predictions))

    def rows(chunk: ReadChunk, answers: Array) -> Array:
        xp = namespace(answers)
        scores = log_joint(logs.chunks[chunk.place].features(), None, layer, example)
        floored = xp.log(xp.maximum(answers, like(np.array(ANSWER_FLOOR), answers)))
        return as_rows(softmax(scores + correction.sharpness * xp.matrix_transpose(floored)).values, example)

    return rows
