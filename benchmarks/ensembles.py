"""`EnsembleClassifier` beside scikit-learn's voting and stacking: a table for docs/guide/ensemble.md.

    python -m benchmarks.ensembles > results/ensembles.txt

Three tables that come with scikit-learn, four members of different kinds with usual options, five times five folds. All
ensembles see the same folds, and none has other options than its defaults, except that voting is soft. None of these
was chosen by its result. The fourth table was: it is drawn, and shows where stacking has the lower log-loss.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import consilience as cs

TABLES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "drawn, noisy labels": lambda: make_classification(
        600, n_informative=10, flip_y=0.03, class_sep=1.6, random_state=2
    ),
}
MEMBERS = [
    ("logistic", make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))),
    ("neighbours", make_pipeline(StandardScaler(), KNeighborsClassifier())),
    ("bayes", GaussianNB()),
    ("tree", DecisionTreeClassifier(max_depth=5, random_state=0)),
]
OURS = "EnsembleClassifier"
ENSEMBLES: dict[str, Callable[[], Any]] = {
    OURS: lambda: cs.EnsembleClassifier(MEMBERS),
    f"{OURS}, learn_from_y=False": lambda: cs.EnsembleClassifier(MEMBERS, learn_from_y=False),
    "VotingClassifier, soft": lambda: VotingClassifier(MEMBERS, voting="soft"),
    "StackingClassifier": lambda: StackingClassifier(MEMBERS),
}
LEAST = 1e-15
"""No probability is smaller under the logarithm; in `sklearn.metrics.log_loss` neither, in double precision."""

NORMAL = 1.645
"""Half of the width of a 90 % interval, in standard errors."""


class Scores(NamedTuple):
    """Each item's mean over the repetitions (items,)."""

    accuracy: npt.NDArray[np.float64]
    log_loss: npt.NDArray[np.float64]


def scores(make: Callable[[], Any], X: Any, y: Any, n_repeats: int) -> Scores:
    """How right an ensemble is on each item, when it was fitted on folds without it."""
    right, loss = np.zeros(len(y)), np.zeros(len(y))
    for seed in range(n_repeats):
        for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
            rows = make().fit(X[train], y[train]).predict_proba(X[test])
            right[test] += rows.argmax(axis=1) == y[test]
            loss[test] -= np.log(np.clip(rows[np.arange(len(test)), y[test]], LEAST, 1))
    return Scores(right / n_repeats, loss / n_repeats)


def difference(ours: npt.NDArray[np.float64], theirs: npt.NDArray[np.float64], decimals: int) -> str:
    """The mean difference over items, and its 90 % interval."""
    each = ours - theirs
    half = NORMAL * each.std(ddof=1) / np.sqrt(len(each))
    return f"{each.mean():+.{decimals}f} ({each.mean() - half:+.{decimals}f} to {each.mean() + half:+.{decimals}f})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5, help="how often five folds are drawn")
    n_repeats = parser.parse_args().repeats
    print("| table | ensemble | accuracy, % | log-loss | ours better by: points of accuracy | log-loss |")
    print("|---|---|---|---|---|---|")
    for table, load in TABLES.items():
        data = load()
        ours = scores(ENSEMBLES[OURS], *data, n_repeats)
        for name, make in ENSEMBLES.items():
            found = ours if name == OURS else scores(make, *data, n_repeats)
            row = [table, name, f"{100 * found.accuracy.mean():.2f}", f"{found.log_loss.mean():.4f}"]
            row += (
                ["", ""]
                if name == OURS
                else [
                    difference(100 * ours.accuracy, 100 * found.accuracy, 2),
                    difference(found.log_loss, ours.log_loss, 4),
                ]
            )
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
