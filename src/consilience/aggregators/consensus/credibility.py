"""Whether members are surer of themselves than their agreement bears out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from consilience.passes.agreement import Agreement
    from consilience.system.arrays import FloatArray

LEAST = 1 / 3
"""However much members overstate, so much of their evidence is left."""

STEEPNESS = 3
"""The power that the ratio of claimed to shown errors is taken to."""

ROUNDING = 0.005
"""Errors that are this rare are all the same."""

SURE = 1 - 1e-6
"""Whoever is so sure of all answers gives labels, which claim nothing."""


def credibility(
    probabilities: Agreement, votes: Agreement, member_weights: FloatArray, sameness: FloatArray
) -> FloatArray:
    """What the evidence of each member's probabilities is to be multiplied by (members,), from `LEAST` to 1.

    A member who is 90 % sure in the mean claims to err on a tenth of the items. Where members disagree so often that
    even independent errors would have to be more frequent than what they claim, they are overconfident: then
    what they agree on is no better founded than what they do not, and less is made of both. That members share
    errors hides overconfidence. The claims are taken together, by weight, since a single member's accuracy is known
    much less well than all members'. Labels claim nothing and are believed as ever.
    """
    confidence = probabilities.mean_confidence
    claims = confidence < SURE
    weights = np.where(claims, member_weights, 0.0)
    shown = _shown_errors(votes, weights, sameness) if claims.sum() > 1 else 0.0
    claimed = weights @ (1 - confidence) / max(weights.sum(), 1e-12)
    ratio = (claimed + ROUNDING) / (shown + ROUNDING)
    return np.where(claims, np.clip(ratio**STEEPNESS, LEAST, 1), 1.0)


def _shown_errors(votes: Agreement, weights: FloatArray, sameness: FloatArray) -> float:
    """How often members err at least, if errors are independent; zero where too little is known to tell.

    They agree beyond chance by the square of their skill then. Copies bear no witness, and what chance may have done
    to the agreement seen is taken to speak for them.
    """
    pairs = np.outer(weights, weights) * (1 - sameness)
    met = (pairs * votes.counts).sum()
    if met <= 0:
        return 0.0
    agreement = (pairs * votes.products).sum() / met
    n_meetings = met**2 / (2 * (pairs**2 * votes.counts).sum())  # each pair is there twice
    at_most = min(agreement + np.sqrt((agreement * (1 - agreement) + 1 / n_meetings) / n_meetings), 1.0)
    chance = (pairs * votes.counts * votes.chance).sum() / met
    skill = np.sqrt(max((at_most - chance) / max(1 - chance, 1e-6), 0.0))
    return float((1 - skill) * (1 - chance))
