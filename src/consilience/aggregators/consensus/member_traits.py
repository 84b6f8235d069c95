"""What is known of the members and of pairs of them, from sums over items: who is accurate, and who only agrees."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from consilience.aggregators.consensus.learned.experts import VOTE
from consilience.aggregators.consensus.learned.features import entropy
from consilience.aggregators.consensus.opinion_weights import FEW_ITEMS, copies

if TYPE_CHECKING:
    from consilience.aggregators.consensus.traits import PanelSums
    from consilience.system.arrays import FloatArray

FEW_VOTES = 5.0
"""A member with fewer votes is taken to be about as accurate as the others."""


class Pairs(NamedTuple):
    """How often members agree beyond what their confusion matrices explain."""

    excess: FloatArray  # (members, members): in standard deviations of a single item's agreement
    known: FloatArray  # (members, members): how far the pair is known, 0 on the diagonal
    agreed: FloatArray  # (members, members): how often they vote alike


def rates_of(panel: PanelSums) -> FloatArray:
    """Confusion matrices of the votes under the combination (members, true, predicted), drawn to even errors."""
    counts = panel.combined.sums
    n_classes, n_votes = counts.shape[1], counts.sum()
    usual = np.trace(counts, axis1=1, axis2=2).sum() / n_votes if n_votes > 0 else 1 / n_classes
    wrong = (1 - usual) / (n_classes - 1)
    counts = counts + FEW_VOTES * (wrong + (usual - wrong) * np.eye(n_classes))
    return np.asarray(counts / counts.sum(axis=2, keepdims=True))


def pairs_of(panel: PanelSums, rates: FloatArray) -> Pairs:
    """The pairs of all members; where they are too many to compare, none is known."""
    combined, votes, n_members = panel.combined, panel.standing.votes, len(rates)
    if not votes.has_pairs:
        return Pairs(*np.zeros((3, 1, n_members)))
    # How many items of a class two members both answer follows from how many each answers.
    answered = combined.answer_counts / np.sqrt(np.maximum(combined.class_counts, 1e-9))
    flat = (answered[:, :, None] * rates).reshape(n_members, -1)
    explained = flat @ flat.T / np.maximum(answered @ answered.T, 1e-9)
    agreed = np.divide(votes.products, votes.counts, out=explained.copy(), where=votes.counts > 0)
    known = votes.counts / (votes.counts + FEW_ITEMS)
    np.fill_diagonal(known, 0)
    excess = (agreed - explained) / np.sqrt(np.maximum(explained * (1 - explained), 1e-3))
    return Pairs(excess * known, known, agreed)


def member_traits(panel: PanelSums, rates: FloatArray, pairs: Pairs) -> dict[str, FloatArray]:
    """The traits of the members, (members,) each."""
    said, right = panel.combined.sums.sum(axis=(1, 2)), np.trace(panel.combined.sums, axis1=1, axis2=2)
    usual = right.sum() / said.sum() if said.sum() > 0 else 1 / rates.shape[1]
    accuracy = (right + FEW_VOTES * usual) / (said + FEW_VOTES)
    vote = VOTE + (1 - VOTE) / rates.shape[1]
    confidence = np.where(panel.is_hard, vote, panel.standing.agreement.mean_confidence)
    met = pairs.known.sum(axis=0)
    agreement = np.divide((pairs.agreed * pairs.known).sum(axis=0), met, out=np.ones(len(rates)), where=met > 0)
    average = panel.survey.of_class("average") / panel.survey.of_class("average").sum()
    of_being_right = rates.diagonal(axis1=1, axis2=2)
    return {
        "accuracy": accuracy,
        "confidence": confidence,
        "accuracy beyond confidence": accuracy - confidence,
        "excess agreement": np.log1p(np.maximum(pairs.excess, 0).sum(axis=0)),
        "most excess agreement": np.clip(pairs.excess.max(axis=0), -3, 3),
        "agreement with others": agreement,
        "accuracy beyond agreement": accuracy - agreement,
        "distance from average shares": np.abs(panel.standing.agreement.shares - average).sum(axis=1) / 2,
        "evenness of its votes": entropy(panel.standing.votes.shares),
        "least rate of being right": of_being_right.min(axis=1),
        "mean rate of being right": of_being_right.mean(axis=1),
        "gives votes": panel.is_hard.astype(np.float64),
        "coverage": np.minimum(panel.standing.agreement.answers / panel.survey.totals[0], 1),
    }


def pair_traits(panel: PanelSums, pairs: Pairs) -> dict[str, float]:
    """How far members say the same: beyond what their confusion matrices explain, and in their probabilities.

    Copies have to, and a copy more should change little of what is known of the panel.
    """
    apart = 1 - copies(panel.standing.agreement) if panel.standing.agreement.has_pairs else 0.0
    excess, weights = pairs.excess * apart, pairs.known * apart
    known = weights.sum()
    if known <= 0:
        return dict.fromkeys(("excess agreement", "size of excess agreement", "most excess agreement"), 0.0) | {
            "likeness of members": 1.0
        }
    table = panel.standing.agreement.beyond_chance()
    lengths = np.sqrt(np.maximum(np.diag(table), 1e-6))
    likeness = np.clip(table / np.outer(lengths, lengths), -1, 1)
    return {
        "excess agreement": float(excess.sum() / known),
        "size of excess agreement": float(np.abs(excess).sum() / known),
        "most excess agreement": float(np.clip(excess.max(), 0, 3)),
        "likeness of members": float((likeness * weights).sum() / known),
    }
