"""Warnings about single members."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from consilience.insight.warnings.evidence import Warned
from consilience.insight.warnings.thresholds import (
    CHANCE_LEVEL,
    ENOUGH_MEMBERS,
    ENOUGH_VOTES,
    LEAST_AGREED,
    LEAST_AMONG_OTHERS,
    LEAST_RENAMED,
    MOST_SHOWN,
    TOO_SURE,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consilience.insight.warnings.evidence import PanelEvidence
    from consilience.system.arrays import FloatArray, IntArray


def useless_members(evidence: PanelEvidence) -> list[Warned]:
    """Members whose votes have hardly more to do with the fused answer than blind ones."""
    return [
        Warned(
            f"member {evidence.member(member)} agrees with the others hardly more than blind guessing would",
            "Look at some of its answers, and leave it out if they make no sense",
            about=(member,),
        )
        for member, names in _odd_members(evidence)
        if names is None
    ][:MOST_SHOWN]


def renamed_members(evidence: PanelEvidence) -> list[Warned]:
    """Members who would agree with the others if their classes had other names: permuted, or the opposite."""
    found = []
    for member, names in _odd_members(evidence):
        if names is not None:
            classes = evidence.data.classes
            moved = [f"{classes[said]} for {classes[meant]}" for meant, said in enumerate(names) if meant != said]
            shown = ", ".join(moved[:3]) + (", …" if len(moved) > 3 else "")
            found.append(
                Warned(
                    f"member {evidence.member(member)} seems to have its classes in another order",
                    "Check the order of its columns, or the names of its classes, and fuse again",
                    f"it says {shown}",
                    (member,),
                )
            )
    return found[:MOST_SHOWN]


def overconfident_members(evidence: PanelEvidence) -> list[Warned]:
    """Members who are surer of their answers than they are right: what they claim is beyond the interval."""
    excess = np.nan_to_num(evidence.claimed - evidence.accuracies, nan=-1.0)
    order = np.argsort(-excess, kind="stable")
    at_most = np.array([found.high for found in evidence.estimates.members])
    is_too_sure = (excess > TOO_SURE) & (evidence.claimed > at_most) & (evidence.n_votes >= ENOUGH_VOTES)
    return [
        Warned(
            f"member {evidence.member(member)} is too sure",
            "Use the probabilities of the fused answer, not its own",
            f"it claims to be right on {evidence.claimed[member]:.0%} of its answers, and "
            f"{'is' if evidence.estimates.members[member].is_measured else 'is estimated to be'} "
            f"right on {evidence.estimates.members[member]}",
            (int(member),),
        )
        for member in order[is_too_sure[order]][:MOST_SHOWN]
    ]


def _odd_members(evidence: PanelEvidence) -> Iterator[tuple[int, IntArray | None]]:
    """Members who do not go with the fused answer; what they call each class where names explain it, else None."""
    if evidence.data.n_members < ENOUGH_MEMBERS:
        return
    shares = np.bincount(evidence.chosen, minlength=evidence.data.n_classes) / evidence.data.n_items
    for member in np.flatnonzero(evidence.n_votes >= ENOUGH_VOTES).tolist():
        counts = evidence.confusion(member)
        kappa = _kappa(counts, shares)
        names = _other_names(evidence, member, counts) if kappa < 1 - LEAST_RENAMED else None
        if names is not None or kappa < CHANCE_LEVEL:
            yield member, names


def _kappa(counts: FloatArray, shares: FloatArray) -> float:
    """Cohen's kappa of a table (fused, said), with chance by the shares of the fused answers to all items.

    So a labelling function, which says one class where it applies, is no blind guess; who says one class of every item
    is. Where the fused answer is one class throughout, nothing tells members apart, and all have 1.
    """
    total = counts.sum()
    by_chance = float(shares @ counts.sum(axis=0)) / total
    return float(np.trace(counts) / total - by_chance) / (1 - by_chance) if shares.max() < 1 else 1.0


def _other_names(evidence: PanelEvidence, member: int, counts: FloatArray) -> IntArray | None:
    """What the member calls each class of the fused answer (classes,), if other names explain its votes."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - slow to import

    names = np.asarray(linear_sum_assignment(-counts)[1])
    agreed = counts[np.arange(len(counts)), names].sum() / counts.sum()
    gain = agreed - np.trace(counts) / counts.sum()
    is_clear = gain > LEAST_RENAMED and agreed > LEAST_AGREED and evidence.is_varied[member]
    return names if is_clear and _agreement_of_others(evidence, member) > LEAST_AMONG_OTHERS else None


def _agreement_of_others(evidence: PanelEvidence, member: int) -> float:
    """How much the other members agree with each other beyond chance; 0 of too many members to compare."""
    if not evidence.said.has_pairs:
        return 0.0
    others = evidence.said.among(np.flatnonzero(np.arange(evidence.data.n_members) != member))
    met = np.where(np.eye(len(others.counts), dtype=bool), 0, others.counts)
    return float((met * others.beyond_chance()).sum() / max(met.sum(), 1))
