"""Majority vote: each member's most probable class counts as one vote."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np

from consilience.aggregators.pooling import AbstractPool
from consilience.answering.linear import LinearRule


@final
class MajorityVote(AbstractPool):
    """The shares of the votes; the lowest class index wins a tie, within a member and between members.

    Examples
    --------
    >>> MajorityVote().fit_predict_proba([[[0.9, 0.1]], [[0.2, 0.8]], [[0.4, 0.6]], [[0.5, 0.5]]]).tolist()
    [[0.5, 0.5]]
    """

    command: ClassVar[str] = "majority-vote"

    def _rule(self, n_members: int) -> LinearRule:
        return LinearRule(np.ones(n_members), np.ones(n_members, dtype=bool))
