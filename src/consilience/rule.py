"""How a fitted aggregator answers: part average, part softmax of linear scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from consilience.arrays import Array, FloatArray, like
from consilience.expectation import Reader
from consilience.predictions import Predictions

if TYPE_CHECKING:
    from consilience.features import Scores


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """The posterior of an item is `(1 - weight) · average + weight · softmax(scores)`.

    Every method of the project is of this form. It is all that is needed to answer for new items, to explain an
    answer, or to answer somewhere else.
    """

    weight: float
    scores: Scores | None  # None where weight is 0
    member_weights: FloatArray  # (members,), of the average
    reads_labels: bool = False  # whether probabilities count as their most probable class
    log_floor: float | None = None  # scores are linear in log max(probability, log_floor); None: in probabilities
    chunk_size: int | None = None

    def posterior(self, predictions: Predictions) -> Array:
        """The posterior (items, classes)."""
        if not isinstance(predictions, Predictions):  # on a cluster, where each block gets its own
            return predictions.map_rows(self.posterior)
        answers = predictions.harden() if self.reads_labels else predictions
        result: Array = 0.0
        if self.weight < 1:
            average = Reader(answers, chunk_size=self.chunk_size).pool(self.member_weights)
            result = (1 - self.weight) * average
        if self.scores is not None and self.weight > 0:
            reader = Reader(answers, log_floor=self.log_floor, chunk_size=self.chunk_size)
            result = result + self.weight * reader.posterior(self.scores)
        return like(result, predictions.example()) if self.reads_labels else result
