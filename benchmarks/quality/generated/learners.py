"""Scikit-learn's classifiers of nine kinds, with random settings, small enough to be trained in milliseconds."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.quality.generated.answers import FLOOR, normalized
from benchmarks.quality.generated.draws import log_uniform

Rng = np.random.Generator


def _seed(rng: Rng) -> int:
    return int(rng.integers(1 << 30))


def _logistic(rng: Rng) -> LogisticRegression:
    return LogisticRegression(C=log_uniform(rng, 0.01, 100), max_iter=40)


def _bayes(rng: Rng) -> GaussianNB:
    return GaussianNB(var_smoothing=log_uniform(rng, 1e-9, 0.3))


def _tree(rng: Rng) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(
        max_depth=int(rng.integers(2, 15)), min_samples_leaf=int(rng.integers(1, 10)), random_state=_seed(rng)
    )


def _forest(rng: Rng) -> RandomForestClassifier:
    return RandomForestClassifier(10, max_depth=int(rng.integers(3, 12)), random_state=_seed(rng))


def _extra_trees(rng: Rng) -> ExtraTreesClassifier:
    return ExtraTreesClassifier(12, min_samples_leaf=int(rng.integers(1, 5)), random_state=_seed(rng))


def _neighbors(rng: Rng) -> KNeighborsClassifier:
    return KNeighborsClassifier(int(rng.integers(1, 20)), weights=str(rng.choice(["uniform", "distance"])))


def _network(rng: Rng) -> MLPClassifier:
    return MLPClassifier(
        (int(rng.integers(8, 48)),), max_iter=int(rng.integers(8, 50)), learning_rate_init=0.02, random_state=_seed(rng)
    )


def _quadratic(rng: Rng) -> QuadraticDiscriminantAnalysis:
    return QuadraticDiscriminantAnalysis(reg_param=rng.uniform(0.05, 0.5))


def _linear(_: Rng) -> LinearDiscriminantAnalysis:
    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1)


LEARNERS: dict[str, Callable[[Rng], Any]] = {
    "logistic": _logistic,
    "bayes": _bayes,
    "tree": _tree,
    "forest": _forest,
    "extra trees": _extra_trees,
    "neighbors": _neighbors,
    "network": _network,
    "quadratic": _quadratic,
    "linear": _linear,
}

QUICK = ("logistic", "bayes", "tree", "neighbors", "linear")
"""For panels of many members."""


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a member learns from, and what it is asked."""

    features: np.ndarray  # (examples, features)
    truth: np.ndarray  # (examples,)
    asked: np.ndarray  # (items, features)
    n_classes: int


def learned(learner: str, lesson: Lesson, rng: Rng) -> np.ndarray:
    """(items, classes): what a learner says after a lesson.

    Classes with a single example are not learned; a class that was not learned has next to no probability.
    """
    counts = np.bincount(lesson.truth, minlength=lesson.n_classes)
    is_taught = (counts > 1)[lesson.truth]
    features, truth = lesson.features[is_taught], lesson.truth[is_taught]
    said = np.full((len(lesson.asked), lesson.n_classes), FLOOR)
    if len(np.unique(truth)) < 2:
        return normalized(said)
    if learner == "quadratic" and counts[counts > 1].min() <= features.shape[1]:
        learner = "linear"  # too few examples for a covariance matrix of each class
    model = LEARNERS[learner](rng)
    if isinstance(model, KNeighborsClassifier):
        model.n_neighbors = min(model.n_neighbors, len(truth))
    with warnings.catch_warnings(), np.errstate(all="ignore"):  # training is cut short on purpose
        warnings.simplefilter("ignore")
        model.fit(features, truth)
        probabilities = np.nan_to_num(model.predict_proba(lesson.asked), nan=1 / lesson.n_classes, posinf=1)
    said[:, model.classes_] = np.maximum(probabilities, FLOOR)
    return normalized(said)
