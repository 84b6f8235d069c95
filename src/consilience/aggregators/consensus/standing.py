"""What is known of the members from how much they agree: their weights, and how far their claims are believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from consilience.aggregators.consensus.credibility import credibility
from consilience.aggregators.consensus.opinion_weights import copies, pool_weights

if TYPE_CHECKING:
    from consilience.passes.agreement import Agreement
    from consilience.system.arrays import FloatArray


class Standing(NamedTuple):
    """The members' standing, from sums over items alone."""

    agreement: Agreement  # of their probabilities
    votes: Agreement  # of the classes they choose
    weights: FloatArray  # of an average
    credibility: FloatArray

    @classmethod
    def of(cls, agreement: Agreement, votes: Agreement) -> Standing:
        """Weights and credibility from agreement; of too many members to compare, all the same."""
        n_members = len(agreement.answers)
        if not agreement.has_pairs:
            return cls(agreement, votes, np.full(n_members, 1 / n_members), np.ones(n_members))
        weights, sameness = pool_weights(agreement, votes), copies(agreement)
        return cls(agreement, votes, weights, credibility(agreement, votes, weights, sameness))
