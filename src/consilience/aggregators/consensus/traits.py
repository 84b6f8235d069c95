"""What is known of the panel, its classes and its members, from sums over items alone: see `learned.experts`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from consilience.aggregators.consensus.learned.experts import (
    CLASS_TRAITS,
    MEMBER_TRAITS,
    PANEL_TRAITS,
    VOTE,
    Traits,
    entropy,
)
from consilience.aggregators.consensus.opinion_weights import FEW_ITEMS, copies, skills

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.aggregators.consensus.class_shares import ClassShares
    from consilience.aggregators.consensus.label_free_fit import Survey
    from consilience.aggregators.consensus.opinion_weights import Standing
    from consilience.maths.em import Statistics
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


FEW_COUNTED = 30.0
"""Class shares that were counted on so many items are half believed."""


class PanelSums(NamedTuple):
    """What a fit knows of the panel: all of it are sums over items, or follows from them."""

    standing: Standing
    survey: Survey
    is_hard: npt.NDArray[np.bool_]  # (members,)
    n_effective: float  # members, by their weights
    combined: Statistics  # of the votes, under Bayesian classifier combination


def traits_of(sums: PanelSums, stated: ClassShares | None = None) -> Traits:
    """All traits, in the order of their names in `experts`; `stated` is what the user says of class shares."""
    rates = rates_of(sums)
    pairs = pairs_of(sums, rates)
    members = member_traits(sums, rates, pairs)
    classes = _of_classes(sums)
    if stated is not None:
        of_stated = stated_traits(stated, classes["share in average"], sums.survey.totals[0])
        classes["stated share"], classes["stated against average"] = of_stated
    panel = _of_panel(sums) | _of_combination(sums, members) | pair_traits(sums, pairs)
    panel["belief in stated shares"] = belief(stated, sums.survey.totals[0])
    return Traits(
        np.stack([classes[name] for name in CLASS_TRAITS], axis=1).astype(np.float64),
        np.array([panel[name] for name in PANEL_TRAITS], dtype=np.float64),
        np.stack([members[name] for name in MEMBER_TRAITS], axis=1).astype(np.float64),
    )


def belief(stated: ClassShares | None, n_items: float) -> float:
    """How far stated class shares are believed, from 0 to 1: those of few items differ from them by chance."""
    return 0.0 if stated is None else 1 / (1 + FEW_COUNTED / stated.n_counted + FEW_COUNTED / n_items)


def stated_traits(stated: ClassShares, average: FloatArray, n_items: float) -> tuple[FloatArray, FloatArray]:
    """What stated shares say of each class, against even shares and against the `average`'s, (classes,) each."""
    shares, believed = _against_even(stated.shares), belief(stated, n_items)
    return believed * shares, believed * np.clip(shares - average, -4, 4)


def _of_classes(sums: PanelSums) -> dict[str, FloatArray]:
    survey, votes = sums.survey, sums.standing.votes
    n_items, n_classes, first = survey.totals[0], votes.totals.shape[1], survey.of_class("first choices")
    least, largest = _range_of_shares(sums)
    return {
        "share in average": _against_even(survey.of_class("average") / n_items),
        "share of votes": _against_even(survey.of_class("votes") / n_items),
        "share in translation": _against_even(survey.of_class("translation") / n_items),
        "share of first choices": _against_even(first / n_items),
        "share in combination": _against_even(survey.of_class("combination") / n_items),
        "share re-estimated": _against_even(survey.of_class("re-estimated") / n_items),
        "stated share": np.zeros(n_classes),
        "stated against average": np.zeros(n_classes),
        "least share of a member": _against_even(least),
        "largest share of a member": _against_even(largest),
        "agreement on it": survey.of_class("agreeing") / np.maximum(survey.of_class("meeting"), 1),
        "average's confidence in it": (survey.of_class("certainty") + 1 / n_classes) / (first + 1),
        "members who say it": (votes.totals > 0).sum(axis=0) / max((votes.answers > 0).sum(), 1),
    }


def _against_even(shares: FloatArray) -> FloatArray:
    """Logarithms of shares, 0 where they are even."""
    return np.asarray(np.clip(np.log(np.maximum(shares, 1e-5) * len(shares)), -5, 3))


def _range_of_shares(sums: PanelSums) -> tuple[FloatArray, FloatArray]:
    """The least and the largest share that any member gives each class (classes,); of few answers less is believed."""
    said, average = sums.standing.agreement, _shares(sums.survey.of_class("average"))
    has_answered = said.answers > 0
    totals, answers = said.totals[has_answered], said.answers[has_answered, None]
    shares = (totals + FEW_ITEMS * average) / (answers + FEW_ITEMS)
    return shares.min(axis=0), shares.max(axis=0)


def _outside(shares: FloatArray, least: FloatArray, largest: FloatArray) -> float:
    """How much of the shares lies outside of the range of the members' own."""
    return float((np.maximum(shares - largest, 0) + np.maximum(least - shares, 0)).sum())


def _of_panel(sums: PanelSums) -> dict[str, float]:
    survey, standing = sums.survey, sums.standing
    n_items, n_answers = survey.totals[:2]
    has_answered, has_voted = standing.agreement.answers > 0, standing.votes.answers > 0
    n_members, n_classes = max(int(has_voted.sum()), 1), standing.votes.totals.shape[1]
    agreement = _agreement(standing)
    confidence = _confidence(sums, n_classes)
    claimed = 1 - (n_classes * confidence - 1) / (n_classes - 1)
    shown = 1 - np.sqrt(max(agreement["agreement"], 0))
    n_said = _classes_said(standing.votes.totals[has_voted])
    return agreement | {
        "log classes": np.log(n_classes) / 3,
        "log members": np.log(n_members) / 2,
        "log items": np.log(max(n_items, 1)) / 8,
        "log answers an item": np.log(max(n_answers / n_items, 1)) / 2,
        "log effective members": np.log(sums.n_effective) / 2,
        "missing": max(1 - n_answers / (n_items * n_members), 0),
        "votes among members": float(sums.is_hard[has_answered].mean()),
        "mean confidence": confidence,
        "mean entropy": survey.mean("entropy"),
        "evenness of average": float(entropy(_shares(survey.of_class("average")))),
        "claimed over shown errors": np.clip(np.log((claimed + 0.02) / (shown + 0.02)), -3, 3),
        "credibility": float(standing.credibility[has_answered].mean()),
        "classes said": float(n_said.mean()) if len(n_said) else 1.0,
        "spread of classes said": float(n_said.std()) if len(n_said) else 0.0,
        "translation against average": 1 - survey.mean("translation agrees"),
        "votes against average": 1 - survey.mean("votes agree"),
        "top of translation": survey.mean("top of translation"),
        "evenness of translation": float(entropy(_shares(survey.of_class("translation")))),
        "top of average": survey.mean("top"),
        "top of votes": survey.mean("top of votes"),
    }


def _of_combination(sums: PanelSums, members: dict[str, FloatArray]) -> dict[str, float]:
    """What combination and re-estimated shares tell of the panel."""
    survey, n_votes = sums.survey, sums.standing.votes.answers
    least, largest = _range_of_shares(sums)
    experts = {name: _shares(survey.of_class(name)) for name in ("translation", "combination", "re-estimated")}
    accuracy, weights = members["accuracy"], n_votes if n_votes.any() else np.ones_like(n_votes)
    return {
        "combination against average": 1 - survey.mean("combination agrees"),
        "combination against translation": 1 - survey.mean("combination agrees with translation"),
        "re-estimated against average": 1 - survey.mean("re-estimated agrees"),
        "top of combination": survey.mean("top of combination"),
        "top of re-estimated": survey.mean("top of re-estimated"),
        "evenness of combination": float(entropy(experts["combination"])),
        "evenness of re-estimated": float(entropy(experts["re-estimated"])),
        **{f"{name} outside of members": _outside(shares, least, largest) for name, shares in experts.items()},
        "mean accuracy": float(np.average(accuracy, weights=weights)),
        "best accuracy": float(accuracy[weights > 0].max()),
        "least accuracy": float(accuracy[weights > 0].min()),
        "accuracy beyond confidence": float(np.average(members["accuracy beyond confidence"], weights=weights)),
    }


def _shares(sums: FloatArray) -> FloatArray:
    return np.asarray(sums / sums.sum())


def _classes_said(said: FloatArray) -> FloatArray:
    """The effective number of classes that each member names, as a share of all (members,)."""
    shares = said / said.sum(axis=1, keepdims=True)
    return np.asarray(np.exp(entropy(shares) * np.log(said.shape[1])) / said.shape[1])


def _confidence(sums: PanelSums, n_classes: int) -> float:
    """How sure members are of their answers in the mean; a vote is as sure as `VOTE` makes it."""
    agreement, vote = sums.standing.agreement, VOTE + (1 - VOTE) / n_classes
    sure = np.where(sums.is_hard, vote * agreement.answers, agreement.confidences)
    return float(sure.sum() / agreement.answers.sum())


def _agreement(standing: Standing) -> dict[str, float]:
    """How much pairs of members agree and what that tells of their skill; of one member, or too many, the usual."""
    usual = {"agreement": 0.0, "spread of agreement": 0.0, "raw agreement": 1.0, "chance": 0.0}
    usual |= {"mean skill": 1.0, "spread of skill": 0.0, "best skill": 1.0, "copies": 0.0}
    usual |= {"agreement beyond skill": 0.0, "most agreement beyond skill": 0.0}
    if not standing.votes.has_pairs:
        return usual
    has_voted = np.flatnonzero(standing.votes.answers > 0)  # members who never vote change no trait
    probabilities, votes = standing.agreement.among(has_voted), standing.votes.among(has_voted)
    sameness = copies(probabilities)
    first, second = np.triu_indices(len(has_voted), 1)
    # Copies have to agree, and a copy more should change little of what is known of the others.
    weights = (votes.counts * (1 - sameness))[first, second]
    if not weights.any():
        return usual
    first, second, weights = first[weights > 0], second[weights > 0], weights[weights > 0]
    met, beyond, sums = votes.counts[first, second], votes.beyond_chance()[first, second], skills(votes, sameness)
    excess = (beyond - sums[first] * sums[second]) * met / (met + FEW_ITEMS)  # as far as the pair is known
    mean = float(np.average(beyond, weights=weights))
    once = 1 / sameness.sum(axis=1)
    mean_skill = float(np.average(sums, weights=once))
    return {
        "agreement": mean,
        "spread of agreement": float(np.sqrt(np.average((beyond - mean) ** 2, weights=weights))),
        "raw agreement": float(np.average(votes.products[first, second] / met, weights=weights)),
        "chance": float(np.average(votes.chance[first, second], weights=weights)),
        "agreement beyond skill": float(np.average(excess, weights=weights)),
        "most agreement beyond skill": float((excess * weights / met).max()),
        "mean skill": mean_skill,
        "spread of skill": float(np.sqrt(np.average((sums - mean_skill) ** 2, weights=once))),
        "best skill": float(sums.max()),
        "copies": float((sameness.sum(axis=1) - 1).mean() / (len(sameness) - 1)),
    }
