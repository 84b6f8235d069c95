"""What each answer tells of the truth: confusion matrices, drawn to even errors, and the scores that follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from consilience.maths.model import Scores
from consilience.maths.rates import leaning

if TYPE_CHECKING:
    from consilience.maths.statistics import Statistics
    from consilience.system.arrays import FloatArray

FEW_ANSWERS = 10.0
"""A member with fewer answers than this is taken to be about as accurate as the others."""

LEAST_ACCURACY = 1e-6
"""Nobody errs always: a rate of zero would rule out whatever else is known."""

SMOOTHING = 0.1
"""How far confusion matrices are drawn to even errors: pseudo-answers to each row, as a share of an average class's."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class TranslationModel:
    """Scores linear in the members' probabilities or votes, Σ_m b_m Σ_j x_imj log π_mkj.

    With labels and b = 1 it is Dawid-Skene's E step without the class prior.
    """

    powers: FloatArray  # (members,): b
    ordered: bool = False

    def maximize(self, statistics: Statistics, _: FloatArray | None = None) -> FloatArray:
        """Confusion matrices (members, true, predicted): what each member says of each class, in the mean.

        Rows are shrunk to those of a member who errs evenly (of ordered classes, rather to neighbours), by `SMOOTHING`
        of an average class's answers and one more.
        """
        n_classes = statistics.sums.shape[-1]
        right, answers = np.trace(statistics.sums, axis1=1, axis2=2), statistics.sums.sum(axis=(1, 2))
        # One wrong answer more than there were: nobody is beyond error, and no rate is zero.
        usual = right.sum() / answers.sum() if answers.sum() > 0 else 1 / n_classes
        accuracy = np.maximum((right + FEW_ANSWERS * usual) / (answers + FEW_ANSWERS + 1), LEAST_ACCURACY)
        wrong = ((1 - accuracy) / (n_classes - 1))[:, None, None] * leaning(n_classes, ordered=self.ordered)
        even = np.where(np.eye(n_classes, dtype=bool), accuracy[:, None, None], wrong)
        counts = statistics.sums + (SMOOTHING * answers / n_classes + 1)[:, None, None] * even
        return np.asarray(counts / counts.sum(axis=-1, keepdims=True))

    def scores(self, rates: FloatArray) -> Scores:
        """The linear layer of the E step."""
        n_members, n_classes, _ = rates.shape
        return Scores(np.zeros(n_classes), self.powers[:, None, None] * np.log(rates), np.zeros((n_members, n_classes)))
