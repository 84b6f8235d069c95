"""How much each member moves the answers: the mean of its share in the explanations of some items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from consilience.maths.shapley import MOST_COALITIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from consilience.data.predictions import Predictions
    from consilience.insight.explanation import Explanation
    from consilience.system.arrays import FloatArray, IntArray

FEWEST, MOST = 5, 20
"""How many items are explained, where there are so many: more of them, the less each costs."""

WORK = 2e5
"""About how many probabilities are computed for all explanations together."""


def influence_of(explanations: Iterable[Explanation]) -> FloatArray:
    """The influence of each member (members,) on the answers: the mean of its shares, given why `explained_items`.

    Items that nobody moves, as where all members say 50/50, tell nothing.
    """
    shares = np.array([why.influence for why in explanations])
    moved = shares[shares.any(axis=1)]
    return np.asarray(moved.mean(axis=0) if len(moved) else np.zeros(shares.shape[1]))


def explained_items(data: Predictions) -> IntArray:
    """The items whose explanations tell the influence of members, spread evenly over all."""
    each = min(2.0 ** min(data.n_members, 63), MOST_COALITIONS) * data.n_classes
    n_explained = min(data.n_items, int(np.clip(WORK / each, FEWEST, MOST)))
    return np.linspace(0, data.n_items - 1, n_explained).round().astype(np.intp)
