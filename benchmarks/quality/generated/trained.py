"""Panels of scikit-learn's classifiers, trained on a random problem and asked about shifted items."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.quality.generated.answers import tempered
from benchmarks.quality.generated.assembly import Draft
from benchmarks.quality.generated.draws import (
    chance,
    draw_n_classes,
    draw_n_items,
    draw_shares,
    draw_truth,
    log_uniform,
    log_uniform_integer,
)
from benchmarks.quality.generated.learners import LEARNERS, QUICK, Lesson, learned
from benchmarks.quality.generated.problems import draw_problem
from benchmarks.quality.generated.shifts import shift

Rng = np.random.Generator


def trained(rng: Rng) -> Draft:
    """A panel of trained members; every third learned from classes of other shares than it is asked about."""
    n_classes = draw_n_classes(rng)
    shares = draw_shares(rng, n_classes)
    taught_shares = draw_shares(rng, n_classes) if chance(rng, 0.33) else shares
    if chance(rng, 0.4):
        taught_shares = np.full(n_classes, 1 / n_classes)
    return draw_trained(rng, shares, taught_shares)


def draw_trained(rng: Rng, shares: np.ndarray, taught_shares: np.ndarray) -> Draft:
    """A panel of trained members with these class shares, in training and afterwards."""
    n_classes = len(shares)
    learners = _draw_learners(rng)
    problem = draw_problem(rng, n_classes)
    truth = draw_truth(rng, shares, draw_n_items(rng, n_classes * len(learners)))
    n_taught = log_uniform_integer(rng, 50, 500) + int(rng.integers(4, 14)) * n_classes
    taught = draw_truth(rng, taught_shares, n_taught)
    wrong = rng.random(n_taught) < (rng.uniform(0, 0.3) if chance(rng, 0.25) else 0)
    features = problem(taught, rng)
    asked = shift(problem(truth, rng), rng)
    taught = np.where(wrong, rng.integers(n_classes, size=n_taught), taught)
    lesson = Lesson(features, taught, asked, n_classes)
    return Draft(truth, n_classes, probabilities=_said(lesson, learners, rng))


def _draw_learners(rng: Rng) -> list[str]:
    """Which learners there are: all alike, mixed, or many quick ones."""
    if chance(rng, 0.12):
        return [str(name) for name in rng.choice(QUICK, int(rng.integers(12, 30)))]
    n_members = log_uniform_integer(rng, 2, 12)
    if chance(rng, 0.25):
        return ["network"] * n_members
    if chance(rng, 0.3):
        return [str(rng.choice(list(LEARNERS)))] * n_members
    return [str(name) for name in rng.choice(list(LEARNERS), n_members)]


def _said(lesson: Lesson, learners: list[str], rng: Rng) -> np.ndarray:
    """(members, items, classes): what each says, at times with a temperature, a flaw or a twin."""
    least_rows, least_features = rng.uniform(0.1, 1, 2)
    warmth = log_uniform(rng, 0.5, 4) if chance(rng, 0.4) else 1.0
    flawed = rng.choice([0, 0, 0.15, 0.4])
    said = []
    for learner in learners:
        own = _part(lesson, least_rows, least_features, rng)
        own = _flawed(own, rng) if chance(rng, flawed) else own
        sharpness = warmth * (log_uniform(rng, 0.4, 2.5) if chance(rng, 0.3) else 1)
        for _ in range(2 if chance(rng, 0.06) else 1):  # a twin has seen the same and begins from another seed
            nearly = replace(own, features=own.features + 0.02 * rng.standard_normal(own.features.shape))
            said.append(tempered(learned(learner, nearly, rng), sharpness))
    return np.stack(said)


def _part(lesson: Lesson, least_rows: float, least_features: float, rng: Rng) -> Lesson:
    """The lesson with random examples and features only."""
    n_examples, n_features = lesson.features.shape
    n_rows = min(n_examples, max(12, int(n_examples * rng.uniform(least_rows, 1))))
    rows = rng.choice(n_examples, n_rows, replace=chance(rng, 0.3))
    columns = np.flatnonzero(rng.random(n_features) < rng.uniform(least_features, 1.1))
    columns = columns if len(columns) else np.arange(n_features)
    return Lesson(
        lesson.features[np.ix_(rows, columns)], lesson.truth[rows], lesson.asked[:, columns], lesson.n_classes
    )


def _flawed(lesson: Lesson, rng: Rng) -> Lesson:
    """The lesson with wrong names of classes, without some classes, or asked about mere noise."""
    flaw = rng.choice(["permuted", "partial", "partial", "broken"])
    if flaw == "permuted":
        return replace(lesson, truth=rng.permutation(lesson.n_classes)[lesson.truth])
    if flaw == "partial" and lesson.n_classes > 2:
        is_known = (rng.random(lesson.n_classes) < rng.uniform(0.4, 0.9))[lesson.truth]
        return replace(lesson, features=lesson.features[is_known], truth=lesson.truth[is_known])
    noise = log_uniform(rng, 1, 20) * rng.standard_normal(lesson.asked.shape)
    return replace(lesson, asked=lesson.asked + noise)
