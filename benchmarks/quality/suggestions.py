"""Whether the items that `suggest` chooses teach more than items drawn at random.

    python -m benchmarks.quality.suggestions --work-dir WORK --side tuning -o suggestions-tuning

Half of a panel's items, drawn at random, only score. Labels are those of items suggested among the other half, or drawn
from it; so both are scored on the same items, none of which was chosen for being hard or easy.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from benchmarks.quality.labels import Problem, arguments, change, consensus, label_free, read_rows, run, show, values_of
from consilience.insight.analysis import Analysis
from consilience.insight.suggestion import suggestions_under

COUNTS = (10, 20, 50, 100)

LEAST_LEFT = 2
"""The half to choose from has at least so many times the items that are labelled, or there would be no choice."""

NAMES = ["label-free", "random", "suggested"]


def halves(problem: Problem, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Items to choose from, and items to score."""
    known = np.flatnonzero(problem.panel.truth >= 0)
    mixed = np.random.default_rng([seed, 2]).permutation(known)
    return np.sort(mixed[::2]), np.sort(mixed[1::2])


def choose(problem: Problem, pool: np.ndarray, n_labels: int, seed: int) -> dict[str, np.ndarray]:
    """Items to label, by who chooses."""
    analysis = Analysis(problem.predictions.take(pool), problem.consensus)
    suggested = suggestions_under(analysis, n_labels, np.zeros(len(pool), dtype=bool), seed)
    drawn = np.random.default_rng([seed, n_labels]).choice(pool, n_labels, replace=False)
    return {"random": drawn, "suggested": pool[suggested.positions]}


def rows_of(problem: Problem, n_labels: int, seed: int, names: list[str]) -> dict[str, list[float]]:
    """What labels of either choice change on the scored half, and what is changed without any."""
    pool, scored = halves(problem, seed)
    if len(pool) < LEAST_LEFT * n_labels:
        return {}
    chosen, truth = choose(problem, pool, n_labels, seed), problem.panel.truth
    return {
        name: change(
            problem,
            consensus(problem, chosen[name], truth[chosen[name]]) if name in chosen else label_free(problem),
            scored,
        )
        for name in names
    }


def table(path: Path) -> str:
    """By number of labels: both choices against no labels, and against each other, with what panels differ by."""
    by_count: dict[int, dict[str, dict[str, list[list[float]]]]] = defaultdict(lambda: defaultdict(dict))
    for row in read_rows(path):
        panels = by_count[int(row["labels"])][row["panel"]]
        panels.setdefault(row["method"], []).append(values_of(row)[:3])
    lines = [HEADER]
    for n_labels, panels in sorted(by_count.items()):
        whole = [one for one in panels.values() if set(one) == set(NAMES)]
        means = {name: np.array([np.mean(one[name], axis=0) for one in whole]) for name in NAMES}
        pairs = {
            "random against none": means["random"] - means["label-free"],
            "suggested against none": means["suggested"] - means["label-free"],
            "suggested against random": means["suggested"] - means["random"],
        }
        for name, difference in pairs.items():
            mean, error = difference.mean(axis=0), difference.std(axis=0) / np.sqrt(len(difference))
            # Of a factor near 1, the error of its logarithm is its own.
            ratios = "   ".join(f"{np.exp(m):.3f} ± {e:.3f}" for m, e in zip(mean[1:], error[1:], strict=True))
            better, worse = (int((sign * difference[:, 1] < -0.01).sum()) for sign in (1, -1))
            lines.append(
                f"{n_labels:6} {name:24} {len(difference):6} {mean[0]:+7.2f} ± {error[0]:.2f}   {ratios} "
                f"{better:6} {worse:5}"
            )
    return "\n".join(lines)


HEADER = (
    "Means over panels ± the standard error of such a mean; better and worse: panels whose NLL changes by over 1 %\n"
    "labels choice                   panels          points           NLL ×         Brier × better worse"
)


def main() -> None:
    """Score, print, draw."""
    path = run(arguments(__doc__, COUNTS).parse_args(), NAMES, rows_of)
    show(path, table(path))


if __name__ == "__main__":
    main()
