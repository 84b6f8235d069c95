"""What a few labels give: learning curves of Consensus, and of what people do with labels otherwise.

    python -m benchmarks.quality.labels --work-dir WORK --part fresh -o results/labels-fresh

On each set of a part (made by `python -m benchmarks.quality`) some items are labelled, drawn at random, and all
methods are scored on the others, against the plain average. Rows are written as they come, and a run goes on where it
was cut off.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression

import consilience as cs
from benchmarks.quality.__main__ import to_predictions
from benchmarks.quality.scores import IS_RATIO, METRICS, changes, scores
from benchmarks.quality.store import Set, read_sets

COUNTS = (10, 20, 50, 100, 200, 500)

LEAST_SCORED = 200
"""So many items with a known truth must be left to score, or the set is left out at that count."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A set, and what is found in it without labels."""

    one: Set

    @cached_property
    def predictions(self) -> cs.Predictions:
        """What members say."""
        return to_predictions(self.one.predictions)

    @cached_property
    def average(self) -> np.ndarray:
        """The yardstick."""
        return np.asarray(cs.Average().fit(self.predictions).posterior_, dtype=np.float64)

    @cached_property
    def consensus(self) -> cs.Consensus:
        """Fitted without labels."""
        return cs.Consensus().fit(self.predictions)

    @cached_property
    def features(self) -> np.ndarray:
        """(items, members × classes): centred log-probabilities, those of a missing member the others' mean."""
        logs = np.log(np.maximum(self.one.predictions.astype(np.float64), 1e-4))
        logs = np.where(np.isnan(logs), np.nanmean(logs, axis=0)[None], logs)
        logs -= logs.mean(axis=2, keepdims=True)
        return logs.transpose(1, 0, 2).reshape(logs.shape[1], -1)


Method = Callable[[Problem, np.ndarray, np.ndarray], np.ndarray]  # items labelled, labels -> (items, classes)


def label_free(problem: Problem, *_: object) -> np.ndarray:
    """`Consensus` without the labels."""
    return np.asarray(problem.consensus.posterior_, dtype=np.float64)


def consensus(problem: Problem, items: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """`Consensus` with the labels, which change nothing but its correction."""
    rule = problem.consensus.rule_taught(problem.predictions.take(items), labels)
    return np.asarray(rule.posterior(problem.predictions), dtype=np.float64)


def tempered(problem: Problem, items: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The average with the temperature that fits the labels best."""
    logs = np.log(np.maximum(problem.average, 1e-6))

    def loss(t: float) -> float:
        return float(-log_softmax(logs[items] / np.exp(t), axis=1)[np.arange(len(items)), labels].mean())

    return np.asarray(softmax(logs / np.exp(minimize_scalar(loss, bounds=(-2, 3), method="bounded").x), axis=1))


def stacker(problem: Problem, items: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Logistic regression on standardized log-probabilities; a class without labels gets next to nothing."""
    taught = problem.features[items]
    mean, spread = taught.mean(axis=0), taught.std(axis=0) + 1e-6
    posterior = np.full(problem.average.shape, 1e-6)
    classes = np.unique(labels)
    if len(classes) == 1:
        posterior[:, classes[0]] = 1
    else:
        model = LogisticRegression(C=1, max_iter=300).fit((taught - mean) / spread, labels)
        posterior[:, classes] += model.predict_proba((problem.features - mean) / spread)
    return posterior / posterior.sum(axis=1, keepdims=True)


def half_and_half(problem: Problem, items: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Half the tempered average, half the stacker."""
    return 0.5 * tempered(problem, items, labels) + 0.5 * stacker(problem, items, labels)


METHODS: dict[str, Method] = {
    "label-free": label_free,
    "average, tempered": tempered,
    "stacker": stacker,
    "half and half": half_and_half,
    "consensus": consensus,
}


def draw(problem: Problem, n_labels: int, seed: int) -> np.ndarray | None:
    """Items to label, at random among those with a truth; None where too few would be left to score."""
    known = np.flatnonzero(problem.one.labels >= 0)
    if len(known) < n_labels + LEAST_SCORED:
        return None
    return np.sort(np.random.default_rng([seed, n_labels]).choice(known, n_labels, replace=False))


def change(problem: Problem, posterior: np.ndarray, scored: np.ndarray) -> list[float]:
    """What a posterior changes against the average, on some items."""
    truth, once = problem.one.labels[scored], np.ones((1, len(scored)))
    yardstick = scores(problem.average[scored], truth, once)
    found: list[float] = changes(scores(posterior[scored], truth, once), yardstick)[0].tolist()
    return found


def rows_of(problem: Problem, n_labels: int, seed: int, names: list[str]) -> dict[str, list[float]]:
    """What each method changes on the items that are not labelled; nothing where too few are left."""
    items, truth = draw(problem, n_labels, seed), problem.one.labels
    if items is None:
        return {}
    rest = np.setdiff1d(np.flatnonzero(truth >= 0), items)
    return {name: change(problem, METHODS[name](problem, items, truth[items]), rest) for name in names}


Rows = Callable[[Problem, int, int, list[str]], dict[str, list[float]]]
"""Of a problem, a number of labels, a draw and some methods: what each one changes."""


def table(path: Path) -> str:
    """Means over sets, of each set the mean of its draws, by count and method; and the worst set."""
    by_count: dict[tuple[int, str], dict[str, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    groups: dict[str, str] = {}
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            values = [float(row[metric]) for metric in METRICS]
            by_count[int(row["labels"]), row["method"]][row["set"]].append(values)
            groups[row["set"]] = row["group"]
    lines = []
    for kind in ("all sets", "shifted sets"):
        lines += [f"\n{kind}: mean change against the average", HEADER]
        for (n_labels, method), sets in sorted(by_count.items(), key=lambda entry: entry[0][0]):
            chosen = {name: np.mean(rows, axis=0) for name, rows in sets.items()}
            if kind == "shifted sets":
                chosen = {name: row for name, row in chosen.items() if groups[name].startswith("shifted")}
            if not chosen:
                continue
            means = np.mean(list(chosen.values()), axis=0)
            means = np.where(IS_RATIO, np.exp(means), means)
            worst = min(chosen, key=lambda name: chosen[name][0])
            n_worse = sum(row[0] < -0.5 for row in chosen.values())
            lines.append(
                f"{n_labels:6} {method:20} {len(chosen):4} {means[0]:+8.2f} {means[1]:7.3f} {means[2]:7.3f} "
                f"{means[4]:+8.2f} {n_worse:6} {chosen[worst][0]:+7.1f}  {worst}"
            )
    return "\n".join(lines)


HEADER = "labels method               sets   points   NLL × Brier ×      ECE  worse   worst  where"


def done(path: Path) -> set[tuple[str, int, int, str]]:
    """What an earlier run has written."""
    if not path.exists():
        return set()
    with path.open(encoding="utf-8") as file:
        return {(row["set"], int(row["labels"]), int(row["draw"]), row["method"]) for row in csv.DictReader(file)}


def run(options: argparse.Namespace, methods: list[str], rows: Rows) -> Path:
    """Score what is not scored yet, row by row; where it is written."""
    path: Path = options.output.with_suffix(".csv")
    earlier, is_new = done(path), not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(["set", "group", "labels", "draw", "method", *METRICS])
        for one in read_sets(options.work_dir / "sets", options.part):
            print(f"\r{one.name:60}", end="", file=sys.stderr, flush=True)
            problem = Problem(one)
            for n_labels in options.counts:
                for seed in range(options.draws):
                    left = [name for name in methods if (one.name, n_labels, seed, name) not in earlier]
                    for name, values in (rows(problem, n_labels, seed, left) if left else {}).items():
                        writer.writerow([one.name, one.group, n_labels, seed, name, *(f"{v:.5f}" for v in values)])
                    file.flush()
    print(file=sys.stderr)
    return path


def plot(path: Path, figure: Path) -> None:
    """The learning curves: accuracy, NLL and Brier score against the number of labels."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra; pyplot would keep the figure open

    values: dict[tuple[str, int], list[list[float]]] = defaultdict(list)
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            values[row["method"], int(row["labels"])].append([float(row[metric]) for metric in METRICS[:3]])
    drawn = Figure(figsize=(11, 3.4), layout="constrained")
    axes = drawn.subplots(1, 3)
    for place, (ax, title) in enumerate(
        zip(axes, ("accuracy, points more", "NLL, × the average's", "Brier score, × the average's"), strict=True)
    ):
        for name in dict.fromkeys(name for name, _ in values):
            counts = sorted(count for other, count in values if other == name)
            curve = np.array([np.mean(values[name, count], axis=0)[place] for count in counts])
            ax.plot(counts, np.exp(curve) if IS_RATIO[place] else curve, marker="o", ms=3, label=name)
        ax.set(xscale="log", title=title, xlabel="labels", xticks=counts, xticklabels=map(str, counts))
        ax.minorticks_off()
        ax.axhline(1 if IS_RATIO[place] else 0, color="0.6", lw=0.8)
    axes[0].legend(frameon=False, fontsize=8)
    drawn.savefig(figure)


def arguments(description: str | None, counts: tuple[int, ...]) -> argparse.ArgumentParser:
    """What every command about labels takes."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work-dir", type=Path, required=True)
    parser.add_argument("--part", choices=["tuning", "held-out", "fresh", "all"], default="tuning")
    parser.add_argument("--counts", type=int, nargs="+", default=list(counts))
    parser.add_argument("--draws", type=int, default=5, help="of the labelled items")
    parser.add_argument("-o", "--output", type=Path, required=True, help="without ending: .csv, .txt and .svg follow")
    return parser


def show(path: Path, text: str) -> None:
    """Print the text, and keep it and the curves beside the rows."""
    print(text)
    path.with_suffix(".txt").write_text(text + "\n", encoding="utf-8")
    plot(path, path.with_suffix(".svg"))


def main() -> None:
    """Score, print, draw."""
    parser = arguments(__doc__, COUNTS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    options = parser.parse_args()
    path = run(options, options.methods, rows_of)
    show(path, table(path))


if __name__ == "__main__":
    main()
