"""Scikit-learn's classifiers on its own small tables: what needs neither files nor torch.

Each table is split once; members learn from one part and answer the other, some of them from few rows or columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from zlib import crc32

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.quality.panel import AS_IT_IS, Panel

TABLES = {"cancer": load_breast_cancer, "wine": load_wine, "iris": load_iris}

NOISES = (0.0, 1.0, 2.0)
"""Standard deviations of noise that is added to what members look at, in units of each column's."""

SHARE_TAUGHT = 0.35

LEARNERS: dict[str, Callable[[int], object]] = {
    "logistic": lambda _: LogisticRegression(max_iter=500),
    "bayes": lambda _: GaussianNB(),
    "tree": lambda seed: DecisionTreeClassifier(max_depth=4, random_state=seed),
    "forest": lambda seed: RandomForestClassifier(30, random_state=seed),
    "extra trees": lambda seed: ExtraTreesClassifier(30, random_state=seed),
    "neighbors": lambda _: KNeighborsClassifier(7),
    "discriminant": lambda _: LinearDiscriminantAnalysis(),
    "network": lambda seed: MLPClassifier((16,), max_iter=2000, solver="lbfgs", alpha=0.1, random_state=seed),
}


def table_panels() -> Iterator[Panel]:
    """A panel for each table and noise."""
    for name, read in TABLES.items():
        rows, truth = read(return_X_y=True)
        rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
        for noise in NOISES:
            yield _panel(f"{name}_noise-{noise:g}", rows, truth, noise)


def _panel(name: str, rows: np.ndarray, truth: np.ndarray, noise: float) -> Panel:
    rng = np.random.default_rng(crc32(name.encode()))
    order = rng.permutation(len(truth))
    n_taught = round(SHARE_TAUGHT * len(truth))
    taught, asked = order[:n_taught], order[n_taught:]
    seen = rows[asked] + noise * rng.normal(size=rows[asked].shape)
    answers = [_answers(learner, rows[taught], truth[taught], seen, rng) for learner in LEARNERS.values()]
    return Panel(name, "tables", AS_IT_IS, truth[asked], int(truth.max()) + 1, probabilities=np.stack(answers))


def _answers(
    learner: Callable[[int], object], rows: np.ndarray, truth: np.ndarray, seen: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """What a member says who has learned from half of the columns and some of the rows."""
    columns = rng.choice(rows.shape[1], max(2, rows.shape[1] // 2), replace=False)
    lessons = rng.choice(len(truth), int(rng.uniform(0.4, 0.9) * len(truth)), replace=False)
    model = learner(int(rng.integers(2**31)))
    answers = np.zeros((len(seen), truth.max() + 1))
    model.fit(rows[np.ix_(lessons, columns)], truth[lessons])
    answers[:, model.classes_] = model.predict_proba(seen[:, columns])
    return answers
