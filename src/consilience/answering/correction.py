"""What labels have corrected in answers that were found without them: one more linear layer, and a softmax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from consilience.passes.kernels import Scores

if TYPE_CHECKING:
    from consilience.data.predictions import Predictions
    from consilience.system.arrays import FloatArray

FLOOR = 1e-4
"""Probabilities below this are all the same to a correction: members differ by orders of magnitude in what they call
nearly impossible, and a few labels cannot tell whether that means anything."""

ANSWER_FLOOR = 1e-6
"""The same of the answers that are corrected."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Correction:
    """The corrected posterior is softmax(`sharpness` · log answer + `bias` + Σ_m `weights`[m] · log max(x_m, FLOOR)).

    Each row of weights sums to zero, so that a member counts by how its logarithms differ from their mean, and one who
    is silent does not count.
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
            weights[voters] *= -np.log(FLOOR)
        return Scores(self.bias, weights, np.zeros(weights.shape[:2]))
