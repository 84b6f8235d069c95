"""Experts: ways to fuse a panel without labels that the learned combiner chooses among, item by item.

Each gives logarithms of probabilities (items, classes). Those that read answers by confusion matrices share the
matrices of `Consensus`; they differ in what they read (probabilities or votes), how much they make of it, and whether
they have a class prior or hear silence.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax

from consilience.aggregators.consensus.consensus import Panel as Standing
from consilience.aggregators.consensus.consensus import TranslationModel
from consilience.aggregators.consensus.opinion_weights import MOST_MEMBERS
from consilience.maths.model import Scores
from consilience.maths.silence import Silence, heard
from consilience.maths.statistics import Statistics
from consilience.passes.agreement import Agreement
from training.answers import LEAST, Answers

EVIDENCE, SMOOTHING, WEIGHT = 2.5, 0.1, 0.4
"""As in `Consensus`: what members' powers sum up to, how far rates are shrunk, how far answers are corrected."""

TRANSLATIONS, ROUNDS, PRIOR_ROUNDS = 4, 12, 30
"""How often each is repeated: translations, Dawid-Skene, the class prior of the average."""


class Experts(NamedTuple):
    """What all experts say of a panel, and what they found on the way."""

    logs: dict[str, np.ndarray]  # (items, classes) each
    weighted_average: np.ndarray  # (items, classes), by the weights of `Consensus`
    average_shares: np.ndarray  # (classes,): the class prior under which the average is most probable
    standing: Standing  # agreement, weights and credibility of members
    n_effective: float  # members, by these weights


def experts_of(answers: Answers) -> Experts:
    """Ask all of them."""
    average, is_answer = answers.average, answers.is_answer
    equal = np.full(len(is_answer), EVIDENCE / np.sqrt(max(is_answer.sum(axis=0).mean(), 1)))
    standing = standing_of(answers)
    weighted, powers, n_effective = _consensus(answers, standing)
    reestimated, shares = under_own_prior(average)
    rows, votes = answers.probabilities, answers.votes
    dawid_skene_votes = dawid_skene(votes, is_answer, average, hears_silence=False)
    logs = {
        "average": np.log(average),
        "geometric mean": _geometric(answers),
        "dawid-skene": dawid_skene_votes,
        "dawid-skene hearing silence": (
            dawid_skene_votes if is_answer.all() else dawid_skene(votes, is_answer, average, hears_silence=True)
        ),
        "translation": translated(rows, is_answer, average, equal),
        "translation with prior": translated(rows, is_answer, average, equal, has_prior=True),
        "translation of votes": translated(votes, is_answer, average, equal),
        "consensus": translated(rows, is_answer, weighted, powers),
        "weighted average": np.log(weighted),
        "average under its own prior": reestimated,
    }
    return Experts(logs, weighted, shares, standing, n_effective)


def translated(
    rows: np.ndarray, is_answer: np.ndarray, average: np.ndarray, powers: np.ndarray, *, has_prior: bool = False
) -> np.ndarray:
    """Answers read by the members' confusion matrices, which are counted under the average, corrected a little."""
    model, target = TranslationModel(powers, SMOOTHING), average
    logs = np.log(average)
    for _ in range(TRANSLATIONS):
        scores = model.scores(model.maximize(_statistics(target, rows, is_answer)))
        if has_prior:
            scores = scores._replace(log_prior=np.log(target.mean(axis=0) + 1e-4))
        logs = _applied(scores, rows, is_answer)
        target = (1 - WEIGHT) * average + WEIGHT * np.exp(logs)
    return logs


def dawid_skene(votes: np.ndarray, is_answer: np.ndarray, average: np.ndarray, *, hears_silence: bool) -> np.ndarray:
    """Dawid-Skene with shrunk matrices, from the average on; silence tells of the class where it is heard."""
    model, target = TranslationModel(np.ones(len(votes)), SMOOTHING), average
    logs, n_classes = np.log(average), average.shape[1]
    for _ in range(ROUNDS):
        statistics = _statistics(target, votes, is_answer)
        prior = target.mean(axis=0) + 0.01 / n_classes
        scores = model.scores(model.maximize(statistics))._replace(log_prior=np.log(prior / prior.sum()))
        logs = _applied(heard(scores, Silence.of(statistics) if hears_silence else None), votes, is_answer)
        target = np.exp(logs)
    return logs


def under_own_prior(average: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The average under a class prior re-estimated from it (Saerens et al. 2002), and that prior."""
    n_classes = average.shape[1]
    shares, rows = np.full(n_classes, 1 / n_classes), average
    for _ in range(PRIOR_ROUNDS):
        rows = average * shares
        rows = rows / rows.sum(axis=1, keepdims=True)
        shares = 0.9 * rows.mean(axis=0) + 0.1 / n_classes
    return np.log(np.maximum(rows, LEAST)), shares


def standing_of(answers: Answers) -> Standing:
    """Weights and credibility as `Consensus` finds them; votes claim nothing."""
    n_members, _, n_classes = answers.votes.shape
    if n_members > MOST_MEMBERS:
        nobody = Agreement.zero(0, n_classes)
        return Standing.of(nobody, nobody, n_members)
    rows = np.where(answers.is_hard[:, None, None], answers.votes, answers.probabilities)
    return Standing.of(_agreement(rows, answers), _agreement(answers.votes, answers), n_members)


def _agreement(rows: np.ndarray, answers: Answers) -> Agreement:
    flat, is_answer = rows.reshape(len(rows), -1), answers.is_answer.astype(np.float64)
    confidences = rows.max(axis=2).sum(axis=1)
    return Agreement(flat @ flat.T, is_answer @ is_answer.T, confidences, is_answer.sum(axis=1), rows.sum(axis=1))


def _consensus(answers: Answers, standing: Standing) -> tuple[np.ndarray, np.ndarray, float]:
    """The weighted average, the members' powers, and how many members that makes, as `Consensus` has them."""
    weights, shares = standing.weights, answers.is_answer.mean(axis=1)
    behind = weights @ answers.is_answer
    rows = np.einsum("m,mij->ij", weights, answers.probabilities) / np.maximum(behind, LEAST)[:, None]
    rows = np.where(behind[:, None] > 0, rows, 1 / rows.shape[1])
    usual = weights @ shares
    n_effective = usual**2 / (weights**2 @ shares)
    powers = EVIDENCE * np.sqrt(n_effective) * weights / usual * standing.credibility
    return np.maximum(rows, LEAST), powers, float(n_effective)


def _geometric(answers: Answers) -> np.ndarray:
    logs = np.log(np.maximum(answers.probabilities, LEAST)) * answers.is_answer[:, :, None]
    return log_softmax(logs.sum(axis=0) / answers.n_answers[:, None], axis=1)


def _statistics(target: np.ndarray, rows: np.ndarray, is_answer: np.ndarray) -> Statistics:
    sums = np.einsum("ik,mij->mkj", target, rows, optimize=True)
    return Statistics(len(target), target.sum(axis=0), is_answer @ target, sums, 0.0)


def _applied(scores: Scores, rows: np.ndarray, is_answer: np.ndarray) -> np.ndarray:
    total = scores.log_prior + np.einsum("mij,mkj->ik", rows, scores.weights, optimize=True)
    return log_softmax(total + is_answer.T @ scores.bias, axis=1)
