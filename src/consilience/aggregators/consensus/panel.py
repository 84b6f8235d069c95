"""What is known of a panel by sums over items alone: whom to believe how much, and the traits of `learned.experts`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from consilience.aggregators.consensus.class_shares import ClassShares
from consilience.aggregators.consensus.learned.experts import (
    CLASS_TRAITS,
    MEMBER_TRAITS,
    PANEL_TRAITS,
    VOTE,
    Traits,
    entropy,
)
from consilience.passes.pair_products import Agreement
from consilience.system.arrays import FloatArray

if TYPE_CHECKING:
    from consilience.aggregators.consensus.label_free_fit import LabelFreeFit

FEW_ITEMS = 20.0  # what two members say of each other counts half where they have met on so many items
# The cosine from which two members' probabilities make them partly one; at 1 they are one member. ResNets that were
# trained apart on CIFAR-10 have .94, networks that are right on 98 % of the digits .99.
ALIKE = 0.995
# How much less two copies say of each other's skill. Not all: the best members of an easy task are near copies too.
COPY_DISCOUNT = 0.8
# What being about as good as the others weighs among what is known of a member's skill. A pair of able members that
# fits the model weighs up to 1 / `LEAST_RESIDUAL` = 50.
PRIOR_WEIGHT = 5.0
# How far a pair's agreement may be from the product of its skills without being doubted, beside sampling error: on
# the scale from 0, chance, to 1.
LEAST_RESIDUAL = 0.02
# The most steps in which skills are found; fewer are made once no skill changes by more than the second number.
MOST_STEPS, SETTLED = 60, 1e-12
# Of an equal weight, what nobody's falls below: the weakest may be the only one to answer an item.
LEAST_SHARE = 0.02


def pool_weights(probabilities: Agreement, votes: Agreement) -> FloatArray:
    """The weights (members,) of an average, summing to 1, from the agreement in probabilities and in votes.

    Members who are about as good as the second best have a full weight, others have less in proportion to their skill,
    and copies share one weight. That is deliberately coarse: members who err together look skilled, and a finer use of
    skill, such as the weights of least squares, would believe them more than the better member who errs alone. Skill is
    of votes: probabilities flatter the overconfident, and undervalue members who are right and modest. Members who
    have not answered yet get an equal share.
    """
    is_heard = np.diag(votes.counts) > 0
    weights = np.full(len(is_heard), 1 / max(is_heard.sum(), 1))
    if is_heard.sum() > 1:
        heard = np.flatnonzero(is_heard)
        probabilities, votes = probabilities.among(heard), votes.among(heard)
        sameness = copies(probabilities)
        found = skills(votes, sameness)
        n_copies = (sameness * _excess(votes, found)).sum(axis=1)
        shares = np.minimum(1, found / _second_best(found, n_copies)) / n_copies
        weights[is_heard] = np.maximum(shares / shares.sum(), LEAST_SHARE / len(shares))
    return np.asarray(weights / weights.sum())


def _excess(votes: Agreement, found: FloatArray) -> FloatArray:
    """Whether two members agree where their skills leave room to disagree, from 0 to 1; 1 with oneself.

    Two who are always right have to agree, and are no copies for it. Skills are known within some hundredths, so a room
    of a tenth is none.
    """
    explained = np.outer(found, found)
    filled = (votes.beyond_chance() - explained) / (1 - explained + 0.1)
    excess = np.clip((filled - 0.4) / 0.25, 0, 1)
    np.fill_diagonal(excess, 1)
    return np.asarray(excess)


def _second_best(found: FloatArray, n_copies: FloatArray) -> float:
    """The second largest skill, copies being counted once."""
    order = np.argsort(-found, kind="stable")
    rank = np.cumsum(1 / n_copies[order])
    return float(found[order[min(int(np.searchsorted(rank, 2 - 1e-9)), len(order) - 1)]])


def skills(votes: Agreement, sameness: FloatArray) -> FloatArray:
    """How often beyond chance each member's vote is right, if members erred independently.

    Then members m and n agree beyond chance as often as α_m α_n: off its diagonal the table of agreement has rank one.
    Pairs who err together agree more than that. So agreement above the model counts by its absolute residual, and
    agreement below it by its square. Copies tell little of each other, and judge others as one. Where little is known
    of a member, its skill is drawn to a usual one: the median, over members, of the skill that the agreement with the
    best partner suggests.
    """
    table, met = votes.beyond_chance(), votes.counts
    met_enough = np.where(np.eye(len(table)), 0, met / (met + FEW_ITEMS))
    trust = (1 - COPY_DISCOUNT * sameness) * met_enough / sameness.sum(axis=1)
    suggested = np.sqrt(np.maximum(table * met_enough, 0).max(axis=1))[np.diag(met) > 0]  # of members who answered
    usual = np.clip(np.median(suggested), 0.05, 1) if len(suggested) else 1.0
    noise = LEAST_RESIDUAL + 0.5 / np.sqrt(np.maximum(met, 1))
    found = np.ones(len(table))
    for _ in range(MOST_STEPS):  # of reweighted least squares
        before = found
        weights = trust / np.maximum(table - np.outer(found, found), noise)
        pull = (weights * table) @ found + PRIOR_WEIGHT * usual
        found = np.clip(pull / (weights @ found**2 + PRIOR_WEIGHT), 1e-3, 1)
        if np.abs(found - before).max() <= SETTLED:
            break
    return found


def copies(probabilities: Agreement) -> FloatArray:
    """How far two members (members, members) are one: 0 up to a cosine of `ALIKE`, 1 for those who say the same."""
    table, met = probabilities.beyond_chance(), probabilities.counts
    lengths = np.sqrt(np.maximum(np.outer(np.diag(table), np.diag(table)), 0))
    cosines = np.divide(table, lengths, out=np.zeros_like(table), where=lengths > 1e-3)
    sameness = np.clip((cosines - ALIKE) / (1 - ALIKE), 0, 1) * met / (met + FEW_ITEMS)
    np.fill_diagonal(sameness, 1)
    return sameness


LEAST_CREDIBILITY = 1 / 3  # however much members overstate, so much of their evidence is left
STEEPNESS = 3  # the power that the ratio of claimed to shown errors is taken to
RARE_ERRORS = 0.005  # errors that are this rare are all the same
SURE = 1 - 1e-6  # whoever is so sure of all answers gives labels, which claim nothing


def credibility(
    probabilities: Agreement, votes: Agreement, member_weights: FloatArray, sameness: FloatArray
) -> FloatArray:
    """What each member's probabilities count as evidence (members,), from `LEAST_CREDIBILITY` to 1.

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
    ratio = (claimed + RARE_ERRORS) / (shown + RARE_ERRORS)
    return np.where(claims, np.clip(ratio**STEEPNESS, LEAST_CREDIBILITY, 1), 1.0)


def _shown_errors(votes: Agreement, weights: FloatArray, sameness: FloatArray) -> float:
    """How often members err at least, if errors are independent; zero where too little is known to tell.

    Their agreement beyond chance is then the square of their skill. Copies are left out. A standard error is
    added to the agreement seen, so that little data shows no errors.
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


class Standing(NamedTuple):
    """The members' standing, from sums over items alone."""

    agreement: Agreement  # of their probabilities
    votes: Agreement  # of the classes they choose
    weights: FloatArray  # of an average
    credibility: FloatArray

    @property
    def is_hard(self) -> npt.NDArray[np.bool_]:
        """Which members give votes alone, as labels or as one-hot rows (members,)."""
        return (self.agreement.answers > 0) & (self.agreement.mean_confidence >= SURE)

    @classmethod
    def of(cls, agreement: Agreement, votes: Agreement) -> Standing:
        """Weights and credibility from agreement; of too many members to compare, all the same."""
        n_members = len(agreement.answers)
        if not agreement.has_pairs:
            return cls(agreement, votes, np.full(n_members, 1 / n_members), np.ones(n_members))
        weights, sameness = pool_weights(agreement, votes), copies(agreement)
        return cls(agreement, votes, weights, credibility(agreement, votes, weights, sameness))


# ---- traits ------------------------------------------------------------------------------------------------

FEW_VOTES = 5.0  # a member with fewer votes is taken to be about as accurate as the others


class Pairs(NamedTuple):
    """How often members agree beyond what their confusion matrices explain."""

    excess: FloatArray  # (members, members): in standard deviations of a single item's agreement
    known: FloatArray  # (members, members): how far the pair is known, 0 on the diagonal
    agreed: FloatArray  # (members, members): how often they vote alike


def rates_of(found: LabelFreeFit) -> FloatArray:
    """Confusion matrices of the votes under the combination (members, true, predicted), drawn to even errors."""
    counts = found.combined.sums
    n_classes, n_votes = counts.shape[1], counts.sum()
    usual = np.trace(counts, axis1=1, axis2=2).sum() / n_votes if n_votes > 0 else 1 / n_classes
    wrong = (1 - usual) / (n_classes - 1)
    counts = counts + FEW_VOTES * (wrong + (usual - wrong) * np.eye(n_classes))
    return np.asarray(counts / counts.sum(axis=2, keepdims=True))


def pairs_of(found: LabelFreeFit, rates: FloatArray) -> Pairs:
    """The pairs of all members; where they are too many to compare, none is known."""
    combined, votes, n_members = found.combined, found.standing.votes, len(rates)
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


def member_traits(found: LabelFreeFit, rates: FloatArray, pairs: Pairs) -> dict[str, FloatArray]:
    """The traits of the members, (members,) each."""
    said, right = found.combined.sums.sum(axis=(1, 2)), np.trace(found.combined.sums, axis1=1, axis2=2)
    usual = right.sum() / said.sum() if said.sum() > 0 else 1 / rates.shape[1]
    accuracy = (right + FEW_VOTES * usual) / (said + FEW_VOTES)
    vote = VOTE + (1 - VOTE) / rates.shape[1]
    confidence = np.where(found.standing.is_hard, vote, found.standing.agreement.mean_confidence)
    met = pairs.known.sum(axis=0)
    agreement = np.divide((pairs.agreed * pairs.known).sum(axis=0), met, out=np.ones(len(rates)), where=met > 0)
    average = found.survey.shares("average")
    of_being_right = rates.diagonal(axis1=1, axis2=2)
    return {
        "accuracy": accuracy,
        "confidence": confidence,
        "accuracy beyond confidence": accuracy - confidence,
        "excess agreement": np.log1p(np.maximum(pairs.excess, 0).sum(axis=0)),
        "most excess agreement": np.clip(pairs.excess.max(axis=0), -3, 3),
        "agreement with others": agreement,
        "accuracy beyond agreement": accuracy - agreement,
        "distance from average shares": np.abs(found.standing.agreement.shares - average).sum(axis=1) / 2,
        "evenness of its votes": entropy(found.standing.votes.shares),
        "least rate of being right": of_being_right.min(axis=1),
        "mean rate of being right": of_being_right.mean(axis=1),
        "gives votes": found.standing.is_hard.astype(np.float64),
        "coverage": np.minimum(found.standing.agreement.answers / found.survey.totals[0], 1),
    }


def pair_traits(found: LabelFreeFit, pairs: Pairs) -> dict[str, float]:
    """How far members say the same: beyond what their confusion matrices explain, and in their probabilities.

    Copies have to, and a copy more should change little of what is known of the panel. Empty of too many members.
    """
    agreement = found.standing.agreement
    apart = 1 - copies(agreement) if agreement.has_pairs else 0.0
    excess, weights = pairs.excess * apart, pairs.known * apart
    known = weights.sum()
    if known <= 0:
        return {}
    table = agreement.beyond_chance()
    lengths = np.sqrt(np.maximum(np.diag(table), 1e-6))
    likeness = np.clip(table / np.outer(lengths, lengths), -1, 1)
    return {
        "excess agreement": excess.sum() / known,
        "size of excess agreement": np.abs(excess).sum() / known,
        "most excess agreement": np.clip(excess.max(), 0, 3),
        "likeness of members": (likeness * weights).sum() / known,
    }


FEW_COUNTED = 30.0  # class shares that were counted on so many items are half believed


def traits_of(found: LabelFreeFit, stated: ClassShares | None = None) -> Traits:
    """All traits, in the order of their names in `experts`; `stated` is what the user says of class shares."""
    n_items, rates = found.survey.totals[0], rates_of(found)
    pairs = pairs_of(found, rates)
    members, classes = member_traits(found, rates, pairs), _of_classes(found)
    of_stated = np.zeros((2, rates.shape[1]))
    if stated is not None:
        of_stated[:] = stated_traits(stated, classes["share in average"], n_items)
    classes["stated share"], classes["stated against average"] = of_stated
    panel = WITHOUT_PAIRS | _of_agreement(found.standing) | pair_traits(found, pairs)
    panel |= _of_panel(found, panel["agreement"]) | _of_experts(found) | _of_accuracy(found, members)
    panel["belief in stated shares"] = belief(stated, n_items)
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


def _of_classes(found: LabelFreeFit) -> dict[str, FloatArray]:
    survey, votes = found.survey, found.standing.votes
    n_items, n_classes = survey.totals[0], votes.totals.shape[1]
    shares = {
        "share in average": survey.of_class("average") / n_items,
        "share of votes": survey.of_class("votes") / n_items,
        "share in translation": survey.of_class("translation") / n_items,
        "share of first choices": survey.of_class("first choices") / n_items,
        "share in combination": survey.of_class("combination") / n_items,
        "share re-estimated": survey.of_class("re-estimated") / n_items,
    }
    shares["least share of a member"], shares["largest share of a member"] = _range_of_shares(found)
    return {name: _against_even(share) for name, share in shares.items()} | {
        "agreement on it": survey.of_class("agreeing") / np.maximum(survey.of_class("meeting"), 1),
        "average's confidence in it": (
            (survey.of_class("certainty") + 1 / n_classes) / (survey.of_class("first choices") + 1)
        ),
        "members who say it": (votes.totals > 0).sum(axis=0) / max((votes.answers > 0).sum(), 1),
    }


def _against_even(shares: FloatArray) -> FloatArray:
    """Logarithms of shares, 0 where they are even."""
    return np.asarray(np.clip(np.log(np.maximum(shares, 1e-5) * len(shares)), -5, 3))


def _range_of_shares(found: LabelFreeFit) -> tuple[FloatArray, FloatArray]:
    """The least and the largest share that any member gives each class (classes,); of few answers less is believed."""
    said, average = found.standing.agreement, found.survey.shares("average")
    shares = (said.totals + FEW_ITEMS * average) / (said.answers[:, None] + FEW_ITEMS)
    shares = shares[said.answers > 0]
    return shares.min(axis=0), shares.max(axis=0)


def _of_panel(found: LabelFreeFit, agreement: float) -> dict[str, float]:
    """Sizes, and how sure members are; `agreement` is theirs beyond chance."""
    survey, standing = found.survey, found.standing
    n_items, n_answers = survey.totals[:2]
    has_answered, has_voted = standing.agreement.answers > 0, standing.votes.answers > 0
    n_members, n_classes = max(int(has_voted.sum()), 1), standing.votes.totals.shape[1]
    vote = VOTE + (1 - VOTE) / n_classes  # a vote is as sure as `VOTE` makes it
    sure = np.where(standing.is_hard, vote * standing.agreement.answers, standing.agreement.confidences)
    confidence = sure.sum() / standing.agreement.answers.sum()
    claimed = 1 - (n_classes * confidence - 1) / (n_classes - 1)
    shown = 1 - np.sqrt(max(agreement, 0))
    said = standing.votes.totals[has_voted]
    # The effective number of classes that each member names, as a share of all.
    n_said = np.exp(entropy(said / said.sum(axis=1, keepdims=True)) * np.log(n_classes)) / n_classes
    return {
        "log classes": np.log(n_classes) / 3,
        "log members": np.log(n_members) / 2,
        "log items": np.log(max(n_items, 1)) / 8,
        "log answers an item": np.log(max(n_answers / n_items, 1)) / 2,
        "log effective members": np.log(found.n_effective) / 2,
        "missing": max(1 - n_answers / (n_items * n_members), 0),
        "votes among members": standing.is_hard[has_answered].mean(),
        "mean confidence": confidence,
        "mean entropy": survey.mean("entropy"),
        "claimed over shown errors": np.clip(np.log((claimed + 0.02) / (shown + 0.02)), -3, 3),
        "credibility": standing.credibility[has_answered].mean(),
        "classes said": n_said.mean() if len(n_said) else 1.0,
        "spread of classes said": n_said.std() if len(n_said) else 0.0,
        "top of average": survey.mean("top"),
    }


def _of_experts(found: LabelFreeFit) -> dict[str, float]:
    """How sure, how even and how different from each other the experts' answers are."""
    survey, (least, largest) = found.survey, _range_of_shares(found)
    others = ("translation", "combination", "re-estimated")
    shares = {name: survey.shares(name) for name in others}
    return {
        **{f"top of {name}": survey.mean(f"top of {name}") for name in ("votes", *others)},
        **{f"{name} against average": 1 - survey.mean(f"{name} with average") for name in ("votes", *others)},
        "combination against translation": 1 - survey.mean("combination with translation"),
        "evenness of average": entropy(survey.shares("average")),
        **{f"evenness of {name}": entropy(own) for name, own in shares.items()},
        **{
            f"{name} outside of members": (np.maximum(own - largest, 0) + np.maximum(least - own, 0)).sum()
            for name, own in shares.items()
        },
    }


def _of_accuracy(found: LabelFreeFit, members: dict[str, FloatArray]) -> dict[str, float]:
    """What the combination makes of the members who vote."""
    n_votes, accuracy = found.standing.votes.answers, members["accuracy"]
    weights = n_votes if n_votes.any() else np.ones_like(n_votes)
    return {
        "mean accuracy": np.average(accuracy, weights=weights),
        "best accuracy": accuracy[weights > 0].max(),
        "least accuracy": accuracy[weights > 0].min(),
        "accuracy beyond confidence": np.average(members["accuracy beyond confidence"], weights=weights),
    }


# What is taken of a panel of one member, or of too many to compare.
WITHOUT_PAIRS: dict[str, float] = {
    **dict.fromkeys(("agreement", "spread of agreement", "chance", "spread of skill", "copies"), 0.0),
    **dict.fromkeys(("agreement beyond skill", "most agreement beyond skill"), 0.0),
    **dict.fromkeys(("excess agreement", "size of excess agreement", "most excess agreement"), 0.0),
    **dict.fromkeys(("raw agreement", "mean skill", "best skill", "likeness of members"), 1.0),
}


def _of_agreement(standing: Standing) -> dict[str, float]:
    """How much pairs of members agree and what that tells of their skill; empty of one member, or too many."""
    if not standing.votes.has_pairs:
        return {}
    has_voted = np.flatnonzero(standing.votes.answers > 0)  # members who never vote change no trait
    probabilities, votes = standing.agreement.among(has_voted), standing.votes.among(has_voted)
    sameness = copies(probabilities)
    first, second = np.triu_indices(len(has_voted), 1)
    # Copies have to agree, and a copy more should change little of what is known of the others.
    weights = (votes.counts * (1 - sameness))[first, second]
    if not weights.any():
        return {}
    first, second, weights = first[weights > 0], second[weights > 0], weights[weights > 0]
    met, beyond, skill = votes.counts[first, second], votes.beyond_chance()[first, second], skills(votes, sameness)
    excess = (beyond - skill[first] * skill[second]) * met / (met + FEW_ITEMS)  # as far as the pair is known
    once = 1 / sameness.sum(axis=1)
    mean, mean_skill = np.average(beyond, weights=weights), np.average(skill, weights=once)
    return {
        "agreement": mean,
        "spread of agreement": np.sqrt(np.average((beyond - mean) ** 2, weights=weights)),
        "raw agreement": np.average(votes.products[first, second] / met, weights=weights),
        "chance": np.average(votes.chance[first, second], weights=weights),
        "agreement beyond skill": np.average(excess, weights=weights),
        "most agreement beyond skill": (excess * weights / met).max(),
        "mean skill": mean_skill,
        "spread of skill": np.sqrt(np.average((skill - mean_skill) ** 2, weights=once)),
        "best skill": skill.max(),
        "copies": (sameness.sum(axis=1) - 1).mean() / (len(sameness) - 1),
    }
