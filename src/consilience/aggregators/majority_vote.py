"""Majority vote: each member's most probable class counts as one vote."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from consilience.aggregators.pooling import AbstractPool
from consilience.answering.rule import Rule

if TYPE_CHECKING:
    from consilience.data.predictions import Predictions


@final
class MajorityVote(AbstractPool):
    """The shares of the votes; the lowest class index wins a tie, within a member and between members.

    Examples
    --------
    >>> MajorityVote().fit_predict_proba([[[0.9, 0.1]], [[0.2, 0.8]], [[0.4, 0.6]], [[0.5, 0.5]]]).tolist()
    [[0.5, 0.5]]
    """

    def rule(self, predictions: Predictions) -> Rule:
        """The average of the votes."""
        return Rule(0.0, None, np.ones(predictions.n_members), reads_labels=True)
