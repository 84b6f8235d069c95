"""Majority vote: each member's most probable class counts as one vote."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from consilience.aggregators.pooling import AbstractPool
from consilience.arrays import Array, like
from consilience.expectation import Reader

if TYPE_CHECKING:
    from consilience.predictions import Predictions


@final
class MajorityVote(AbstractPool):
    """The shares of the votes; the lowest class index wins a tie, within a member and between members.

    Examples
    --------
    >>> MajorityVote().fit_predict_proba([[[0.9, 0.1]], [[0.2, 0.8]], [[0.4, 0.6]], [[0.5, 0.5]]]).tolist()
    [[0.5, 0.5]]
    """

    def _posterior(self, predictions: Predictions) -> Array:
        return like(Reader(predictions.harden()).pool(), predictions.example())
