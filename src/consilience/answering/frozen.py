"""What a fitted aggregator answers new items with, apart from it: for other libraries and other machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.answering.correction import Correction
    from consilience.passes.kernels import Scores
    from consilience.system.arrays import FloatArray


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
class FrozenRule:
    """The posterior of an item is `(1 - weight) · average + weight · softmax(scores)`, whoever of the members answers.

    The average weighs the members who answered by `member_weights`. Where `averages_logs`, it is that of the
    logarithms, and its softmax is taken: a geometric mean. Scores are linear in log max(probability, floor), without a
    floor in the probabilities, and in one-hot rows for the members of whom only the most probable class counts.
    """

    aggregator: str
    members: list[Any]
    classes: list[Any]
    weight: float
    member_weights: FloatArray  # (members,)
    is_label: npt.NDArray[np.bool_]  # (members,): whose most probable class alone counts
    scores: Scores | None = None  # None where weight is 0
    floor: float | None = None  # None where no logarithm is taken
    averages_logs: bool = False
    correction: Correction | None = None  # of that posterior, by what labels taught

    def layer(self) -> LinearLayer | None:
        """The scores, less what all classes have in common, since softmax does not see it and precision suffers.

        Left out is the least weight of a logarithm, which is negative, and the largest of a label: what is likely then
        scores near zero, where rounding is fine. Weights of probabilities are so small that it does not matter.
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

    def correction_table(self) -> FloatArray:
        """The correction's weights as (members × predicted, true), for logarithms floored at `FLOOR`.

        Of members whose most probable class alone counts, one-hot rows are read as their logarithms.
        """
        assert self.correction is not None  # noqa: S101 - asked for where there is one
        n_classes = len(self.classes)
        return np.asarray(self.correction.weights.transpose(0, 2, 1).reshape(-1, n_classes))

    def _largest_score(self, weights: FloatArray, bias: FloatArray) -> float:
        """How large the scores of an item can get, all probabilities but one being at the floor."""
        by_label = np.abs(weights).max(axis=2)
        by_logs = by_label if self.floor is None else -np.log(self.floor) * weights.sum(axis=2)
        return float((np.where(self.is_label[:, None], by_label, by_logs) + np.abs(bias)).sum(axis=0).max())
