"""Whom to believe how much in a linear pool, found from how much members agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import nnls

from consilience.agreement import Agreement
from consilience.threads import one_thread_per_product

if TYPE_CHECKING:
    from consilience.arrays import FloatArray

FEW_ITEMS = 20.0
"""Of two members who have met on so many items, half is known by themselves and half by what their skills foretell."""

ALIKE = 0.98
"""The cosine from which two members are partly one; at 1 they are one member. ResNets that were trained apart on
CIFAR-10 have .94, on compressed images .86."""

DOUBT = 0.8
"""How much less two copies say of each other's skill. Not all: the best members of an easy task are near copies too."""

CLAIM_WEIGHT = 5.0
"""What a member's own confidence weighs among what is known of its skill. A pair of able members that fits the model
weighs up to 1 / `LEAST_RESIDUAL` = 50, so that this decides where there are two members, and hardly where many."""

LEAST_RESIDUAL = 0.02
"""How far a pair's agreement may be from the product of its skills without being doubted, beside sampling error: on
the scale from 0, chance, to 1."""

SHARED_ERRORS = 1.5
"""The power of skill in the weights, between 1 (independent errors) and 2; see `pool_weights`."""

RIDGE = 0.3
"""How far weights are drawn to equal ones however many items there are, as a share of a member's mean product with
itself."""

LEAST_SHARE = 0.02
"""Of an equal weight, what nobody's falls below: the weakest may be the only one to answer an item."""

MOST_MEMBERS = 512
"""Beyond so many members the table of pairs would be larger than what is to be learned from it."""


def skills(agreement: Agreement, n_classes: int) -> FloatArray:
    """How often beyond chance each member's answer falls on the truth, if members erred independently.

    Then members m and n agree beyond chance as often as α_m α_n: off its diagonal the table of agreement has rank one.
    Pairs who err together agree more than that, so what is above the model counts by its absolute residual, what is
    below by its square. Copies say little of each other and count once as judges. A single pair does not tell who is
    better, so what members claim of themselves has a say, on the scale of how far best partners bear each other out.
    """
    table, met = agreement.beyond_chance(n_classes), agreement.counts
    claims = np.sqrt(np.maximum(np.diag(table), 1e-3))
    sameness = copies(agreement, n_classes)
    met_enough = np.where(np.eye(len(table)), 0, met / (met + FEW_ITEMS))
    trust = (1 - DOUBT * sameness) * met_enough / sameness.sum(axis=1)
    if not trust.any():
        return claims
    best_partner = np.sqrt(np.maximum(table * met_enough, 0).max(axis=1))
    claimed = claims * np.clip(np.median(best_partner / claims), 0.05, 1)
    noise = LEAST_RESIDUAL + 0.5 / np.sqrt(np.maximum(met, 1))
    found = claims
    for _ in range(60):  # of reweighted least squares, which settle within some twenty
        weights = trust / np.maximum(table - np.outer(found, found), noise)
        pull = (weights * table) @ found + CLAIM_WEIGHT * claimed
        found = np.clip(pull / (weights @ found**2 + CLAIM_WEIGHT), 1e-3, 1)
    return np.asarray(found)


def copies(agreement: Agreement, n_classes: int) -> FloatArray:
    """How far two members (members, members) are one: 0 up to a cosine of `ALIKE`, 1 for those who say the same."""
    table, met = agreement.beyond_chance(n_classes), agreement.counts
    lengths = np.sqrt(np.maximum(np.outer(np.diag(table), np.diag(table)), 0))
    cosines = np.divide(table, lengths, out=np.zeros_like(table), where=lengths > 1e-3)
    sameness = np.clip((cosines - ALIKE) / (1 - ALIKE), 0, 1) * met / (met + FEW_ITEMS)
    np.fill_diagonal(sameness, 1)
    return sameness


def pool_weights(agreement: Agreement, n_classes: int) -> FloatArray:
    """The weights (members,) of a linear pool, summing to 1, that come nearest to the truth.

    The expected squared distance of Σ_m w_m x_m from the one-hot truth is w'Mw - 2 w'c and a constant. M is the mean
    product of each pair of members, which needs no labels: it is what takes weight from copies. c, the mean probability
    each gives to the truth, is the members' skill. Skill takes errors for independent; were members no more like the
    truth than like each other, it would be skill squared; the power between the two is used. A ridge draws weights to
    equal ones, the more so the fewer items a pair has met on and the more members there are to weigh. Because of it,
    copies together get more than one of them would alone, though less than as many members who differ. Of members who
    have not answered yet nothing is known; they get an equal share.
    """
    is_heard = np.diag(agreement.counts) > 0
    weights = np.full(len(is_heard), 1 / max(is_heard.sum(), 1))
    if is_heard.sum() > 1:
        heard = np.ix_(is_heard, is_heard)
        among = Agreement(agreement.products[heard], agreement.counts[heard])
        with one_thread_per_product():  # tables of some hundred members are the slower for being shared out
            weights[is_heard] = _weights_of_heard(among, n_classes)
    return np.asarray(weights / weights.sum())


def _weights_of_heard(agreement: Agreement, n_classes: int) -> FloatArray:
    """The same, where everyone has answered something."""
    table, met, found = agreement.beyond_chance(n_classes), agreement.counts, skills(agreement, n_classes)
    n_members = len(found)
    is_pair = ~np.eye(n_members, dtype=bool)
    products = np.where(is_pair, (met * table + FEW_ITEMS * np.outer(found, found)) / (met + FEW_ITEMS), table)
    ridge = RIDGE + n_members / np.sqrt(max(met[is_pair].mean(), 1e-9))
    products[np.diag_indices(n_members)] += ridge * np.diag(table).mean()
    weights = _least_squares_on_simplex(products, found**SHARED_ERRORS)
    weights = np.maximum(weights, LEAST_SHARE / n_members)
    return np.asarray(weights / weights.sum())


def _least_squares_on_simplex(products: FloatArray, target: FloatArray) -> FloatArray:
    """The minimum of w'Mw - 2 w'c over weights that are not negative and sum to 1."""
    values, vectors = np.linalg.eigh(products)
    values = np.maximum(values, 1e-6 * values.max())  # pairs that were counted on other items need not fit together
    root, inverse_root = ((vectors * values**power) @ vectors.T for power in (0.5, -0.5))
    firmness = 100 * np.sqrt(values.max())  # of the sum being 1: an equation among the others, but one that counts
    rows = np.vstack([root, np.full(len(target), firmness)])
    weights, _ = nnls(rows, np.append(inverse_root @ target, firmness), maxiter=50 * len(target))
    return np.asarray(weights / weights.sum())
