"""What it gains to say that classes are ratings: methods on ordered classes, against themselves on plain ones.

    python -m benchmarks.quality.ratings --shared-dir ../shared/data [-o results/ratings.txt]

Every real panel with ordered classes, whole and as ten draws of 50 and of 200 labelled items. `leaning BCC` is Bayesian
classifier combination with a prior that leans to neighbours too; it was tried, and the package does not do it. The form
of the prior was chosen among seven on these same panels, so that small gains may be chance.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import consilience as cs
from consilience.aggregators.bayesian_combination import VariationalModel
from consilience.data.predictions import renamed
from consilience.maths.em import leaning
from consilience.metrics.ratings import score_ratings
from consilience.metrics.scores import score
from consilience.system.arrays import to_numpy

DRAWS, SIZES = 10, (50, 200)
METRICS = ("accuracy", "mae", "mae of median", "rps", "nll")


class Panel(NamedTuple):
    """A panel of ordered classes, and the true class of each item, -1 where unknown."""

    name: str
    predictions: cs.Predictions
    truth: np.ndarray


class LeaningCombination(cs.BayesianClassifierCombination):
    """Bayesian classifier combination whose prior leans to neighbours."""

    command = None

    def _model(self, n_classes: int, *, ordered: bool) -> VariationalModel:
        model = super()._model(n_classes, ordered=ordered)
        prior = np.eye(n_classes) + leaning(n_classes, ordered=ordered)
        return VariationalModel(model.prior_classes, prior, model.class_prior)


METHODS: dict[str, Callable[[], cs.DawidSkene | cs.Consensus | cs.BayesianClassifierCombination]] = {
    "DawidSkene": cs.DawidSkene,
    "Consensus": cs.Consensus,
    "leaning BCC": LeaningCombination,
}
CROWDS = {"crowd.npz": "web", "panels/crowds.npz": "s4_Relevance"}
TABLES = (
    "panels/css_wiki_politeness",
    "more_panels/superlim_argumentation",
    "more_panels/flu_ratechange_2425_h1",
    "more_panels/flu_ratechange_2526_h0",
    "more_panels/flu_ratechange_2526_h3",
    "more_panels/flu_peakweek_2425",
    "more_panels/flu_peakweek_2526",
)


def panels(shared: Path) -> Iterator[Panel]:
    """Relevance as crowds rate it, politeness, for and against, and forecasts of rates and weeks."""
    for file, name in CROWDS.items():
        with np.load(shared / file) as own:
            item, worker, label, gold = (own[f"{name}/{part}"] for part in ("item", "worker", "label", "gold"))
        yield Panel(name, cs.Predictions.from_answers(item, worker, label, ordered=True), gold.astype(int))
    for file in TABLES:
        with np.load(shared / f"{file}.npz") as own:
            if "labels" in own.files:
                made = cs.Predictions.from_labels(own["labels"], len(own["classes"]), ordered=True)
            else:
                made = cs.Predictions(own["probabilities"].astype(np.float64), normalize=True, ordered=True)
            yield Panel(file.split("/")[1], made, own["y"].astype(int))


def plain(predictions: cs.Predictions) -> cs.Predictions:
    """The same answers, the classes without an order."""
    return renamed(predictions, classes=type(predictions.axes.classes)("class", predictions.n_classes))


def scores(method: str, predictions: cs.Predictions, truth: np.ndarray) -> np.ndarray:
    """Accuracy, mean absolute error of the answers and of the medians, ranked probability score, and NLL."""
    is_known = truth >= 0
    rows = to_numpy(METHODS[method]().fit_predict_proba(predictions))[is_known]
    rows = rows / rows.sum(axis=1, keepdims=True)
    found = score(rows, truth[is_known]) | score_ratings(rows, truth[is_known])
    return np.array([found[name] for name in METRICS])


def compared(panel: Panel, method: str, n_items: int | None) -> str:
    """A line: the scores without an order, and what the order changes, with its standard error over draws."""
    labelled = np.flatnonzero(panel.truth >= 0)
    draws = [np.arange(panel.predictions.n_items)]
    if n_items is not None:
        draws = [np.sort(np.random.default_rng(seed).choice(labelled, n_items, replace=False)) for seed in range(DRAWS)]
    before, after = [], []
    for items in draws:
        some, truth = panel.predictions.take(items), panel.truth[items]
        before.append(scores(method, plain(some), truth))
        after.append(scores(method, some, truth))
    change = np.array(after) - np.array(before)
    errors = change.std(axis=0, ddof=1) / np.sqrt(len(draws)) if len(draws) > 1 else np.full(len(METRICS), np.nan)
    cells = "".join(
        f"{value:>15.3f} {by:+8.4f}{'' if np.isnan(error) else f' ± {error:.4f}':<9}"
        for value, by, error in zip(np.mean(before, axis=0), change.mean(axis=0), errors, strict=True)
    )
    size = panel.predictions.n_items if n_items is None else n_items
    return f"{panel.name:<24}{panel.predictions.n_classes:>4}{size:>7}  {method:<12}{cells}"


def main() -> None:
    """Print the table, and write it where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared-dir", type=Path, default=Path("../shared/data"))
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    head = "".join(f"{name:>15} {'ordered':>17}" for name in METRICS)
    lines = [
        "python -m benchmarks.quality.ratings: scores of plain classes, and what changes if they are ordered",
        f"(± a standard error over {DRAWS} draws of so many items). The form of the prior, and that BCC has none, were",
        "chosen on these same panels, among seven forms: small gains may be chance.",
        "",
        f"{'panel':<24}{'k':>4}{'items':>7}  {'method':<12}{head}",
    ]
    print(*lines, sep="\n")
    for panel in panels(options.shared_dir):
        for method in METHODS:
            for n_items in (*SIZES, None):
                lines.append(compared(panel, method, n_items))
                print(lines[-1], flush=True)
    if options.output is not None:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
