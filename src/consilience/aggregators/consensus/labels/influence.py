"""How far labels may change the answers to other items: as far as so many labels can justify, however wrong they are.

Labels may be wrong, swapped, or of mistakes alone, and nothing in them says so. Two things do: how many answers they
would turn, and how often they contradict answers that the agreement of the members makes sure of. So corrections are
weakened until they turn no more answers than `most_turned`, and as far as the labels are not to be trusted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logsumexp

from consilience.aggregators.consensus.labels.corrected import ANSWER_FLOOR, FLOOR, Correction

if TYPE_CHECKING:
    from consilience.aggregators.consensus.labels.labelled_items import LabelledItems
    from consilience.system.arrays import FloatArray

TEN_TURN = 0.03
"""The share of all answers that ten labels may turn; it grows with the cube of their number. On generated panels ten
labels, all of them wrong, must not cost 5 points; twenty that are right must gain as much as without a limit."""

DOUBT = 0.2
"""How probable it is, before a look at them, that labels contradict right answers."""

UNSURE = 4
"""A power: answers half as sure as they can be, beyond chance, are taken to mean nothing in one of 2^4 panels."""

LEAST_RATE = 1e-3
"""Nothing is taken to be rarer, so that one label does not decide."""

SHARES = (np.arange(20) + 0.5) / 20
"""Shares from 0 to 1, to average over."""


def bounded(correction: Correction, trust: float, n_labels: float, said: FloatArray, answers: FloatArray) -> Correction:
    """The correction, as far as labels that are worth so much trust can justify it.

    `said` (items, members, classes) and `answers` (items, classes), found without labels, are of a sample of all items.
    """
    shown = Correction(1 + trust * (correction.sharpness - 1), correction.bias, correction.weights)
    limits = np.sort(turning_points(shown, said, answers))
    n_allowed = int(most_turned(trust * n_labels) * len(limits))
    limit = limits[n_allowed] if n_allowed < len(limits) else np.inf
    share = min(trust, limit * (1 - 1e-9))
    return Correction(shown.sharpness, share * correction.bias, share * correction.weights)


def most_turned(n_labels: float) -> float:
    """The share of all answers that so many labels may turn."""
    return float(min(1.0, TEN_TURN * (n_labels / 10) ** 3))


def turning_points(correction: Correction, said: FloatArray, answers: FloatArray) -> FloatArray:
    """(items,): by how much biases and weights are multiplied when they turn the answer to an item.

    Scores are linear in that factor, so each other class overtakes the answer at one factor, or never.
    """
    logs = np.nan_to_num(np.log(np.maximum(said, FLOOR))).reshape(len(said), -1)
    taught = logs @ correction.table() + correction.bias
    scores = correction.sharpness * np.log(np.maximum(answers, ANSWER_FLOOR))
    answer = answers.argmax(axis=1)[:, None]
    lead = np.take_along_axis(scores, answer, axis=1) - scores
    push = taught - np.take_along_axis(taught, answer, axis=1)
    factors = np.divide(lead, push, out=np.full(lead.shape, np.inf), where=push > 0)
    return np.asarray(factors.min(axis=1))


def trust_in(labelled: LabelledItems, answers: FloatArray, usual: FloatArray) -> float:
    """How probable it is that labels tell of other items, and do not just contradict them, by how often they agree.

    Labels that tell of others agree with an answer as often as it is sure, or less often, down to chance, since
    members may be too sure; the surer, the likelier. Where answers are hardly sure of anything, labels may agree with
    them as seldom as they like. Labels that contradict, because classes are swapped or only mistakes were labelled,
    agree less often than chance.

    `answers` are to the labelled items, and `usual` ones to a sample of all: noticed mistakes are where answers are
    unsure.
    """
    n_classes = answers.shape[1]
    agrees = np.take_along_axis(labelled.targets, answers.argmax(axis=1)[:, None], axis=1)[:, 0]
    beyond_chance = answers.max(axis=1) - 1 / n_classes
    usual_sureness = (usual.max(axis=1).mean() - 1 / n_classes) / (1 - 1 / n_classes)
    is_unsure = np.clip(1 - usual_sureness, LEAST_RATE, 1 - LEAST_RATE) ** UNSURE
    noise = np.nan_to_num(labelled.noise)
    sure = 1 / n_classes + SHARES[:, None] * beyond_chance
    telling = (1 - noise) * sure + noise * (1 - sure) / (n_classes - 1)
    anything, contradicting = (np.repeat(rates[:, None], len(agrees), axis=1) for rates in (SHARES, SHARES / n_classes))

    def evidence(rates: FloatArray, prior: FloatArray) -> float:
        log_rates = agrees * np.log(rates) + (1 - agrees) * np.log(np.maximum(1 - rates, LEAST_RATE))
        return float(logsumexp((labelled.weights * log_rates).sum(axis=1), b=prior / prior.sum()))

    even = np.ones(len(SHARES))
    told = np.logaddexp(evidence(telling, SHARES) + np.log1p(-is_unsure), evidence(anything, even) + np.log(is_unsure))
    return float(expit(told - evidence(contradicting, even) + np.log((1 - DOUBT) / DOUBT)))
