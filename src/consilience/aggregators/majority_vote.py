"""Majority vote: each member's most probable class counts as one vote."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np

from consilience.aggregators.average import AbstractPool
from consilience.answering.linear import LinearRule


@final
class MajorityVote(AbstractPool):
    """The shares of the votes.

    A member that finds several classes equally probable gives each of them an equal part of its vote; one that finds
    all of them equally probable gives none. Where nobody votes, all classes have the same share. `predict` has to name
    one of several classes with the same share, and names the first.

    Examples
    --------
    >>> MajorityVote().fit_predict_proba([[[0.9, 0.1]], [[0.2, 0.8]], [[0.4, 0.6]], [[0.5, 0.5]]]).round(3).tolist()
    [[0.333, 0.667]]
    """

    command: ClassVar[str] = "majority-vote"

    def _rule(self, n_members: int) -> LinearRule:
        return LinearRule(np.ones(n_members), np.ones(n_members, dtype=bool))
