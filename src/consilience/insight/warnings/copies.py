"""Warnings about members who copy each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from consilience.insight.warnings.evidence import Warned
from consilience.insight.warnings.thresholds import (
    ENOUGH_ERRORS,
    ENOUGH_VOTES,
    EQUAL,
    MOST_SHOWN,
    ROOM_TO_DIFFER,
    SAME_ERRORS,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.insight.warnings.evidence import PanelEvidence
    from consilience.system.arrays import IntArray


def copied_members(evidence: PanelEvidence) -> list[Warned]:
    """Pairs of members who give equal probabilities, or contradict the fused answer in the same way."""
    said = evidence.said
    if not said.has_pairs:
        return []
    have_met, n_items = said.counts >= ENOUGH_VOTES, evidence.data.n_items
    first, second = np.nonzero(np.triu((_give_equal(evidence) | _err_alike(evidence)) & have_met, k=1))
    return [
        Warned(
            f"members {evidence.member(a)} and {evidence.member(b)} look like copies",
            "Check whether one of them is a copy of the other, and keep one if so",
            f"they give the same answer to {said.products[a, b] / said.counts[a, b]:.1%} of "
            f"{int(said.counts[a, b])} {'common items' if said.counts[a, b] <= n_items else 'pairs of answers'}",
            (int(a), int(b)),
        )
        for a, b in zip(first[:MOST_SHOWN], second[:MOST_SHOWN], strict=True)
    ]


def _give_equal(evidence: PanelEvidence) -> npt.NDArray[np.bool_]:
    """Which pairs (members, members) give equal probabilities, and are unsure enough for that to tell something."""
    answered = evidence.answered
    sums = answered.products
    equal = np.abs(np.diag(sums)[:, None] + np.diag(sums) - 2 * sums) <= EQUAL * np.maximum(answered.counts, 1)
    same_items = np.minimum(np.diag(answered.counts)[:, None], np.diag(answered.counts)) == answered.counts
    is_unsure = np.nan_to_num(evidence.claimed, nan=1.0) < 1 - ROOM_TO_DIFFER
    return np.asarray(equal & same_items & same_items.T & is_unsure & is_unsure[:, None])


def _err_alike(evidence: PanelEvidence) -> npt.NDArray[np.bool_]:
    """Which pairs (members, members) contradict the fused answer on the same items, with the same votes.

    Members who hardly ever contradict it may well be right, and right answers are the same without copying. Who gives
    the same answer to an item several times gives it once. Who gives different ones is not looked at there: one of them
    must contradict the fused answer, and if the item is two questions in truth, able members do so alike.
    """
    shape, n_classes = (evidence.data.n_members, evidence.data.n_items), evidence.data.n_classes
    members, items, labels = _given_once(evidence)
    answered = sparse.csr_array((np.ones(len(members)), (members, items)), shape=shape)
    is_against = labels != evidence.chosen[items]
    members, items, labels = members[is_against], items[is_against], labels[is_against]
    places = items * n_classes + labels
    kinds, columns = np.unique(places, return_inverse=True)
    against = sparse.csr_array((np.ones(len(items)), (members, columns)), shape=(shape[0], len(kinds)))
    alike = (against @ against.T).toarray()
    where_met = (sparse.csr_array((np.ones(len(items)), (members, items)), shape=shape) @ answered.T).toarray()
    either = where_met + where_met.T - alike  # on so many common items one of the two contradicts it
    is_varied = evidence.is_varied & evidence.is_varied[:, None]
    return np.asarray(is_varied & (either >= ENOUGH_ERRORS) & (alike >= SAME_ERRORS * either))


def _given_once(evidence: PanelEvidence) -> tuple[IntArray, IntArray, IntArray]:
    """The members, items and labels of all votes, an item's equal ones once and its different ones not at all."""
    votes = evidence.votes
    if not evidence.data.has_repeats():
        return votes.members, votes.items, votes.labels
    given = np.unique(np.stack([votes.members, votes.items, votes.labels]), axis=1)
    _, place, n_given = np.unique(given[0] * evidence.data.n_items + given[1], return_inverse=True, return_counts=True)
    members, items, labels = given[:, n_given[place] == 1]
    return members, items, labels
