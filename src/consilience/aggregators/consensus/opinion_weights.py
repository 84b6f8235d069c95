"""Whom to believe how much in an average, found from how much members agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from consilience.passes.pair_products import Agreement
    from consilience.system.arrays import FloatArray


FEW_ITEMS = 20.0
"""What two members say of each other counts half where they have met on so many items."""

ALIKE = 0.995
"""The cosine from which two members' probabilities make them partly one; at 1 they are one member. ResNets that were
trained apart on CIFAR-10 have .94, networks that are right on 98 % of the digits .99."""

COPY_DISCOUNT = 0.8
"""How much less two copies say of each other's skill. Not all: the best members of an easy task are near copies too."""

PRIOR_WEIGHT = 5.0
"""What being about as good as the others weighs among what is known of a member's skill. A pair of able members that
fits the model weighs up to 1 / `LEAST_RESIDUAL` = 50."""

LEAST_RESIDUAL = 0.02
"""How far a pair's agreement may be from the product of its skills without being doubted, beside sampling error: on
the scale from 0, chance, to 1."""

MOST_STEPS, SETTLED = 60, 1e-12
"""The most steps in which skills are found; fewer are made once no skill changes by more than the second number."""

LEAST_SHARE = 0.02
"""Of an equal weight, what nobody's falls below: the weakest may be the only one to answer an item."""


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


LEAST_CREDIBILITY = 1 / 3
"""However much members overstate, so much of their evidence is left."""

STEEPNESS = 3
"""The power that the ratio of claimed to shown errors is taken to."""

RARE_ERRORS = 0.005
"""Errors that are this rare are all the same."""

SURE = 1 - 1e-6
"""Whoever is so sure of all answers gives labels, which claim nothing."""


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

    @classmethod
    def of(cls, agreement: Agreement, votes: Agreement) -> Standing:
        """Weights and credibility from agreement; of too many members to compare, all the same."""
        n_members = len(agreement.answers)
        if not agreement.has_pairs:
            return cls(agreement, votes, np.full(n_members, 1 / n_members), np.ones(n_members))
        weights, sameness = pool_weights(agreement, votes), copies(agreement)
        return cls(agreement, votes, weights, credibility(agreement, votes, weights, sameness))
