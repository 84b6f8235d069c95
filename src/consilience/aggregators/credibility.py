"""Whether members are surer of themselves than their agreement bears out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from consilience.agreement import Agreement
    from consilience.arrays import FloatArray

LEAST = 1 / 3
"""However much members overstate, so much of their evidence is left."""

STEEPNESS = 3
"""The power that the ratio of claimed to shown errors is taken to."""

ROUNDING = 0.005
"""Errors that are this rare are all the same."""

SURE = 1 - 1e-6
"""Whoever is so sure of all answers gives labels, which claim nothing."""


def credibility(
    probabilities: Agreement, member_weights: FloatArray, accuracies: FloatArray, *, least: float = LEAST
) -> FloatArray:
    """What the evidence of each member's probabilities is to be multiplied by (members,), from `least` to 1.

    A member who is 90 % sure in the mean claims to err on a tenth of the items. Where members disagree so often that
    even independent errors would have to be more frequent than what they claim, they are overconfident: then
    what they agree on is no better founded than what they do not, and less is made of both. That members share
    errors hides overconfidence, and never makes it up. The claims are taken together, by weight, since a single
    member's accuracy is known much less well than all members'. Labels claim nothing and are believed as ever.
    """
    confidence = probabilities.mean_confidence
    claims = confidence < SURE
    if not claims.any():
        return np.ones(len(claims))
    weights = member_weights[claims] / member_weights[claims].sum()
    claimed, shown = weights @ (1 - confidence[claims]), weights @ (1 - accuracies[claims])
    ratio = (claimed + ROUNDING) / (shown + ROUNDING)
    return np.where(claims, np.clip(ratio**STEEPNESS, least, 1), 1.0)
