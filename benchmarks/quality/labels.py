"""What a few labels give: learning curves of Consensus, and of what people do with labels otherwise.

    python -m benchmarks.quality.labels --work-dir WORK --side tuning -o labels-tuning

On each panel of a side, as it is (made by `python -m benchmarks.quality`), some items are labelled, drawn at random,
and all methods are scored on the others, against averaging. Rows are written as they come, and a run goes on where it
was cut off.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression

import consilience as cs
from benchmarks.quality.families import side_of
from benchmarks.quality.methods import average, unseen
from benchmarks.quality.panel import AS_IT_IS, Panel, read_all
from benchmarks.quality.scores import change as change_of
from benchmarks.quality.scores import readable, scores
from consilience.aggregators.consensus.consensus import rule_taught

METRICS = ("accuracy", "nll", "brier", "ece debiased")

COUNTS = (10, 20, 50, 100, 200, 500)

LEAST_SCORED = 200
"""So many items with a known truth must be left to score, or the panel is left out at that count."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A panel, and what is found in it without labels."""

    panel: Panel

    @cached_property
    def predictions(self) -> cs.Predictions:
        """What members say."""
        return self.panel.predictions

    @cached_property
    def average(self) -> np.ndarray:
        """The yardstick."""
        return average(self.panel)

    @cached_property
    def consensus(self) -> cs.Consensus:
        """Fitted without labels, by a network that has not seen the panel's family."""
        return cs.Consensus(weights=unseen(self.panel.family)).fit(self.predictions)

    @cached_property
    def features(self) -> np.ndarray:
        """(items, members × classes): centered log-probabilities, those of a missing member the others' mean."""
        logs = np.log(np.maximum(rows_said(self.panel), 1e-4))
        logs = np.where(np.isnan(logs), np.nanmean(logs, axis=0)[None], logs)
        logs -= logs.mean(axis=2, keepdims=True)
        return logs.transpose(1, 0, 2).reshape(logs.shape[1], -1)


def rows_said(panel: Panel) -> np.ndarray:
    """(members, items, classes): what members say, labels as 0 and 1; NaN where they say nothing."""
    if panel.probabilities is not None:
        return panel.probabilities.astype(np.float64)
    one_hot = np.eye(panel.n_classes)[panel.votes]
    one_hot[panel.votes < 0] = np.nan
    return one_hot


Method = Callable[[Problem, np.ndarray, np.ndarray], np.ndarray]  # items labelled, labels -> (items, classes)


def label_free(problem: Problem, *_: object) -> np.ndarray:
    """`Consensus` without the labels."""
    return np.asarray(problem.consensus.posterior_, dtype=np.float64)


def consensus(problem: Problem, items: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """`Consensus` with the labels, which change nothing but its correction."""
    rule = rule_taught(problem.consensus, problem.predictions.take(items), labels)
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
    known = np.flatnonzero(problem.panel.truth >= 0)
    if len(known) < n_labels + LEAST_SCORED:
        return None
    return np.sort(np.random.default_rng([seed, n_labels]).choice(known, n_labels, replace=False))


def change(problem: Problem, posterior: np.ndarray, scored: np.ndarray) -> list[float]:
    """What a posterior changes against averaging, on some items: by metric, as logarithms of ratios or in points."""
    truth = problem.panel.truth[scored]
    those, yardstick = scores(posterior[scored], truth), scores(problem.average[scored], truth)
    return [change_of(those[metric], yardstick[metric], metric) for metric in METRICS]


def rows_of(problem: Problem, n_labels: int, seed: int, names: list[str]) -> dict[str, list[float]]:
    """What each method changes on the items that are not labelled; nothing where too few are left."""
    items, truth = draw(problem, n_labels, seed), problem.panel.truth
    if items is None:
        return {}
    rest = np.setdiff1d(np.flatnonzero(truth >= 0), items)
    return {name: change(problem, METHODS[name](problem, items, truth[items]), rest) for name in names}


Rows = Callable[[Problem, int, int, list[str]], dict[str, list[float]]]
"""Of a problem, a number of labels, a draw and some methods: what each one changes."""


def table(path: Path) -> str:
    """Means over panels, of each panel the mean of its draws, by count and method; and the worst panel."""
    by_count: dict[tuple[int, str], dict[str, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    for row in read_rows(path):
        by_count[int(row["labels"]), row["method"]][row["panel"]].append(values_of(row))
    lines = ["mean change against averaging", HEADER]
    for (n_labels, method), panels in sorted(by_count.items(), key=lambda entry: entry[0][0]):
        changes = {name: np.mean(rows, axis=0) for name, rows in panels.items()}
        means = readable_means(list(changes.values()))
        worst = min(changes, key=lambda name: changes[name][0])
        n_worse = sum(row[0] < -0.5 for row in changes.values())
        lines.append(
            f"{n_labels:6} {method:20} {len(changes):6} {means['accuracy']:+8.2f} {means['nll']:7.3f} "
            f"{means['brier']:7.3f} {means['ece debiased']:+8.2f} {n_worse:6} {changes[worst][0]:+7.1f}  {worst}"
        )
    return "\n".join(lines)


HEADER = "labels method               panels   points   NLL × Brier ×      ECE  worse   worst  where"


def readable_means(rows: Sequence[Sequence[float]]) -> dict[str, float]:
    """Means of changes, as factors or in points."""
    return {name: readable(float(value), name) for name, value in zip(METRICS, np.mean(rows, axis=0), strict=True)}


def read_rows(path: Path) -> list[dict[str, str]]:
    """What was written."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def values_of(row: dict[str, str]) -> list[float]:
    """The changes of a row, in the order of the metrics."""
    return [float(row[metric]) for metric in METRICS]


def run(options: argparse.Namespace, methods: list[str], rows: Rows) -> Path:
    """Score what is not scored yet, row by row; where it is written."""
    path: Path = options.output.with_suffix(".csv")
    earlier = {(row["panel"], int(row["labels"]), int(row["draw"]), row["method"]) for row in read_rows(path)}
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(["panel", "family", "labels", "draw", "method", *METRICS])
        for panel in panels_of(options.side, options.work_dir):
            print(f"\r{panel.name:60}", end="", file=sys.stderr, flush=True)
            problem = Problem(panel)
            for n_labels in options.counts:
                for seed in range(options.draws):
                    left = [name for name in methods if (panel.name, n_labels, seed, name) not in earlier]
                    for name, values in (rows(problem, n_labels, seed, left) if left else {}).items():
                        writer.writerow(
                            [panel.name, panel.family, n_labels, seed, name, *(f"{value:.5f}" for value in values)]
                        )
                    file.flush()
    print(file=sys.stderr)
    return path


def panels_of(side: str, work_dir: Path) -> Iterator[Panel]:
    """The panels of a side as they are."""
    for panel in read_all(work_dir / "panels", AS_IT_IS):
        if side_of(panel.family) == side:
            yield panel


def plot(path: Path, figure: Path) -> None:
    """The learning curves: accuracy, NLL and Brier score against the number of labels."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra; pyplot would keep the figure open

    values: dict[tuple[str, int], list[list[float]]] = defaultdict(list)
    for row in read_rows(path):
        values[row["method"], int(row["labels"])].append(values_of(row))
    drawn = Figure(figsize=(11, 3.4), layout="constrained")
    axes = drawn.subplots(1, 3)
    titles = {"accuracy": "accuracy, points more", "nll": "NLL, × averaging's", "brier": "Brier score, × averaging's"}
    for ax, (metric, title) in zip(axes, titles.items(), strict=True):
        for name in dict.fromkeys(name for name, _ in values):
            counts = sorted(count for other, count in values if other == name)
            curve = [readable_means(values[name, count])[metric] for count in counts]
            ax.plot(counts, curve, marker="o", ms=3, label=name)
        ax.set(xscale="log", title=title, xlabel="labels", xticks=counts, xticklabels=map(str, counts))
        ax.minorticks_off()
        ax.axhline(readable(0, metric), color="0.6", lw=0.8)
    axes[0].legend(frameon=False, fontsize=8)
    drawn.savefig(figure)


def arguments(description: str | None, counts: tuple[int, ...]) -> argparse.ArgumentParser:
    """What every command about labels takes."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work-dir", type=Path, required=True)
    parser.add_argument("--side", choices=["tuning", "held-out"], default="tuning")
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
