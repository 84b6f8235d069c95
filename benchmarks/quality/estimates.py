"""How far off estimated accuracies are, how often their intervals hold the true one, and what labels change.

    python -m benchmarks.quality.estimates --work-dir WORK [--side tuning | held-out] [-o results/estimates]
    python -m benchmarks.quality.estimates --side regimes [--panels 200] [-o results/estimates-regimes]

The first after `python -m benchmarks.quality`, whose panels it takes. Panels of a tuning family are fused and judged by
weights that have not seen the family: `training/folds`. The second needs no data: panels of one regime of errors at a
time (`benchmarks.quality.regimes`), of which nothing was learned; in each of them intervals should hold. Every panel
has its members' accuracies estimated without labels, and those of two whole answers, Consensus and the average; then 50
labels are drawn at random, and the accuracy is measured with their help, beside what the 50 alone would tell.

What could be reached stands beside it. Of the ranks: how far members measured on one half of the items stand in the
same order on the other half. Of intervals with labels: their width if it were known from all labels how being right
follows from what Consensus believes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.progress import track
from scipy.stats import spearmanr

import consilience as cs
from benchmarks.quality.draws import KINDS
from benchmarks.quality.families import side_of
from benchmarks.quality.methods import FOLDS, unseen
from benchmarks.quality.panel import AS_IT_IS, Panel, read
from benchmarks.quality.regimes import REGIMES, draw
from consilience.aggregators.consensus.consensus import plain_rule
from consilience.insight.accuracy.estimates import (
    AccuracyEstimate,
    Intervals,
    Voters,
    estimates_of,
    measured,
    shipped,
    voters_of,
)
from consilience.insight.accuracy.estimates import (
    read as read_intervals,
)

GOOD, N_LABELS, MOST_WORK = 0.7, 50, 2e7

LEAST_VOTES = 5
"""Of fewer votes with a known truth there is no accuracy to speak of."""

COLUMNS = {
    "members error": "error",
    "independent error": "by skills",
    "members good error": "error, > 70 %",
    "members holds": "holds",
    "members width": "width",
    "members rank": "rank",
    "halves rank": "rank of halves",
    "answers error": "fused: error",
    "answers holds": "holds",
    "answers width": "width",
    "labels error": "labels: error",
    "labels width": "width",
    "labels best": "at best",
    "labels holds": "holds",
}
"""The numbers of a row, and what is written above them."""

N_SPLITS = 5

ENDS = (3, 5, 10, 30), (100, 300, 1000, 5000)
"""Where rows for numbers of members and of items begin and end."""

Numbers = dict[str, float]


class Scored(NamedTuple):
    """What became of a panel."""

    family: str
    kind: str
    sizes: tuple[int, int]  # members and items
    numbers: Numbers
    points: np.ndarray  # (members, 4): estimate, from, to, truth


def scored(panel: Panel) -> Scored | None:
    """All numbers of a panel; None where nothing is fused."""
    model = fused(panel)
    if plain_rule(model).trust == 0:
        return None
    found = voters_of(panel.predictions, model, whole_answers(panel, model))
    truth = accuracies(panel, found)
    weights = intervals_of(panel.family)
    members = slice(0, panel.n_members)
    without = estimates_of(found, weights)
    numbers = {f"members {name}": value for name, value in _compared(without[members], truth[members]).items()}
    numbers |= {f"answers {name}": value for name, value in _compared(without[-2:], truth[-2:]).items()}
    numbers["independent error"] = 100 * _mean(np.abs(found.independent - truth)[members].tolist())
    numbers |= _by_halves(panel, found, truth) if "members rank" in numbers else {}
    numbers |= _with_labels(panel, found, truth)
    points = np.column_stack([np.array([one[:3] for one in without[members]]), truth[members]])
    sizes = panel.n_members, panel.n_items
    return Scored(panel.family, panel.kind, sizes, numbers, points[np.isfinite(points).all(axis=1)])


def fused(panel: Panel, **options: Any) -> cs.Consensus:
    """The panel, fused by weights that have not seen its family."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cs.Consensus(weights=unseen(panel.family), **options).fit(panel.predictions)


def whole_answers(panel: Panel, model: cs.Consensus) -> dict[str, np.ndarray]:
    """The fused answer and the average's."""
    average = cs.Average().fit_predict_proba(panel.predictions)
    return {
        "Consensus": np.asarray(model.posterior_).argmax(axis=1),
        "Average": np.asarray(average).argmax(axis=1),
    }


def accuracies(panel: Panel, found: Voters) -> np.ndarray:
    """How often each voter is right on the items whose truth is known (voters,); NaN where these are too few."""
    return _measured_on(panel.truth, found, LEAST_VOTES)


def _measured_on(truth: np.ndarray, found: Voters, least: int) -> np.ndarray:
    """How often each voter is right (voters,), given true classes, -1 where unknown; NaN of those with fewer votes."""
    shares = []
    for items, labels in found.votes:
        is_known = truth[items] >= 0
        right = labels[is_known] == truth[items][is_known]
        shares.append(right.mean() if len(right) >= least else np.nan)
    return np.array(shares)


def _compared(estimates: list[AccuracyEstimate], truth: np.ndarray) -> Numbers:
    """How estimates and true accuracies differ, over those whose accuracy is known."""
    values, low, high = (np.array([getattr(one, name) for one in estimates]) for name in ("value", "low", "high"))
    is_known = np.isfinite(truth) & np.isfinite(values)
    if not is_known.any():
        return {}
    values, low, high, truth = values[is_known], low[is_known], high[is_known], truth[is_known]
    error, is_good = np.abs(values - truth), truth > GOOD
    holds = (low <= truth + 1e-9) & (truth <= high + 1e-9)
    found = {"error": 100 * error.mean(), "holds": 100 * holds.mean(), "width": 100 * (high - low).mean()}
    if is_good.any():
        found["good error"] = 100 * error[is_good].mean()
    if len(truth) >= 5 and np.ptp(truth) > 0 and np.ptp(values) > 0:
        found["rank"] = float(spearmanr(values, truth)[0])
    return found


def _by_halves(panel: Panel, found: Voters, truth: np.ndarray) -> Numbers:
    """The rank correlation of the members' accuracies on one half of the items with those on the other."""
    rng = np.random.default_rng(0)
    ranks = []
    for _ in range(N_SPLITS):
        is_first = rng.random(panel.n_items) < 0.5
        halves = (np.where(half, panel.truth, -1) for half in (is_first, ~is_first))
        first, second = (_measured_on(half, found, 1)[: panel.n_members] for half in halves)
        is_known = np.isfinite(first) & np.isfinite(second) & np.isfinite(truth[: panel.n_members])
        if is_known.sum() >= 5 and np.ptp(first[is_known]) > 0 and np.ptp(second[is_known]) > 0:
            ranks.append(float(spearmanr(first[is_known], second[is_known])[0]))
    return {"halves rank": _mean(ranks)}


def _with_labels(panel: Panel, found: Voters, truth: np.ndarray) -> Numbers:
    """How far off accuracies measured with labels are, the width of their intervals, and how often they hold.

    The width is a share of what the labels alone give.
    """
    items = np.flatnonzero(panel.truth >= 0)
    if len(items) < 2 * N_LABELS:
        return {}
    rng = np.random.default_rng(0)
    ratios, best, holds, errors = [], [], [], []
    for place, (said, labels) in enumerate(found.votes):
        is_known = panel.truth[said] >= 0
        right = (labels == panel.truth[said])[is_known].astype(np.float64)
        believed = found.posterior[said, labels][is_known]
        if len(right) < 2 * N_LABELS:
            continue
        some = rng.choice(len(right), N_LABELS, replace=False)
        value, low, high = measured(right[some], believed[some], believed)
        _, alone_low, alone_high = measured(right[some], np.zeros(N_LABELS), np.zeros(len(right)))
        if alone_high > alone_low:
            ratios.append((high - low) / (alone_high - alone_low))
            follows = np.corrcoef(right, believed)[0, 1] if right.std() > 0 and believed.std() > 0 else 0.0
            best.append(np.sqrt(1 - max(follows, 0) ** 2))
        holds.append(low - 1e-9 <= truth[place] <= high + 1e-9)
        errors.append(abs(value - truth[place]))
    means = {"labels width": ratios, "labels best": best}
    means |= {"labels holds": [100 * one for one in holds], "labels error": [100 * one for one in errors]}
    return {name: float(np.mean(values)) for name, values in means.items()} if ratios else {}


def intervals_of(family: str) -> Intervals:
    """The intervals that were fitted without a tuning family, or those of the package."""
    path = unseen(family)
    return shipped() if path is None else read_intervals(FOLDS / "accuracy" / path.name)


def table(found: Iterable[Scored], rows_of: Callable[[Scored], Iterable[str]]) -> str:
    """A row for each name that `rows_of` gives to a panel; each family counts the same in it."""
    groups: dict[str, dict[str, list[Numbers]]] = defaultdict(lambda: defaultdict(list))
    for one in found:
        for name in (*rows_of(one), "all"):
            groups[name][one.family].append(one.numbers)
    width = max(len(name) for name in groups) + 1
    lines = [f"{'':{width}}{'panels':>15}" + "".join(f"{column:>15}" for column in COLUMNS.values())]
    order = {name: place for place, name in enumerate([AS_IT_IS, *KINDS])}
    for name in sorted(groups, key=lambda name: (name == "all", order.get(name, 99), name)):
        by_family = groups[name].values()
        means = [_mean([_mean([one.get(column, np.nan) for one in some]) for some in by_family]) for column in COLUMNS]
        n_panels = sum(len(some) for some in by_family)
        lines.append(f"{name:{width}}{n_panels:>15}" + "".join(f"{mean:>15.2f}" for mean in means))
    return "\n".join(lines)


def by_regime(one: Scored) -> Iterator[str]:
    """The regime, as votes and as probabilities apart; the kind, and the sizes."""
    yield f"{one.family.removeprefix('generated ')}, {one.kind}"
    yield f"all {one.kind}"
    for size, ends, what in zip(one.sizes, ENDS, ("members", "items"), strict=True):
        low, high = next(pair for pair in itertools.pairwise(ends) if size <= pair[1])
        yield f"{low:,} to {high:,} {what}"


def plot(found: Sequence[Scored], path: Path) -> None:
    """Estimates beside the truth, and how often intervals hold by how wide they are."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra; pyplot would keep the figure open

    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for family in sorted({one.family for one in found}):
        points = np.concatenate([one.points for one in found if one.family == family])
        left.scatter(points[:, 0], points[:, 3], s=3, alpha=0.4, label=family, rasterized=True)
    left.plot([0, 1], [0, 1], color="0.5", lw=0.8)
    left.set(xlabel="estimated accuracy of a member", ylabel="true accuracy", xlim=(0, 1), ylim=(0, 1))
    left.legend(fontsize=6, markerscale=3, frameon=False)
    every = np.concatenate([one.points for one in found])
    widths, holds = every[:, 2] - every[:, 1], (every[:, 1] <= every[:, 3]) & (every[:, 3] <= every[:, 2])
    parts = np.array_split(np.argsort(widths), 10)
    right.plot([100 * widths[part].mean() for part in parts], [100 * holds[part].mean() for part in parts], marker="o")
    right.axhline(90, color="0.5", lw=0.8)
    right.set(xlabel="width of the interval, points", ylabel="holds the truth, %", ylim=(50, 101))
    figure.savefig(path, dpi=150)


def _mean(values: list[float]) -> float:
    finite = [value for value in values if np.isfinite(value)]
    return float(np.mean(finite)) if finite else float("nan")


def chosen(folder: Path, side: str) -> list[Path]:
    """The panels of a side: as they are, and the first draw of each kind. Files of other families are not opened."""
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))["panels"]
    return [
        folder / f"{name}.npz"
        for name, (family, kind) in index.items()
        if side_of(family) == side and (kind == AS_IT_IS or name.endswith("~0"))
    ]


def panels_of(options: argparse.Namespace) -> Sequence[Callable[[], Panel]]:
    """What gives each panel."""
    if options.side == "regimes":
        return [partial(draw, regime, seed) for regime in REGIMES for seed in range(options.panels)]
    return [partial(read, path) for path in chosen(options.work_dir / "panels", options.side)]


def main() -> None:
    """Score, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work-dir", type=Path, help="where the panels are; regimes need none")
    parser.add_argument("--side", choices=["tuning", "held-out", "regimes"], default="tuning")
    parser.add_argument("--panels", type=int, default=200, help="of each regime (default: %(default)s)")
    parser.add_argument("-o", "--output", type=Path, help="without ending: .txt and .svg follow")
    options = parser.parse_args()
    if options.side != "regimes" and options.work_dir is None:
        parser.error("--work-dir must be given, but for --side regimes")
    found = []
    for made in track(panels_of(options), "estimating"):
        panel = made()
        one = scored(panel) if panel.n_members * panel.n_items * panel.n_classes <= MOST_WORK else None
        found += [] if one is None else [one]
    tables = [by_regime] if options.side == "regimes" else [lambda one: [one.kind], lambda one: [one.family]]
    shown = (
        f"{len(found)} panels of the {options.side} side. Errors, widths and how often intervals hold are in points; "
        "rank is Spearman's, over panels\nof five members or more; by skills: the error if errors were independent; "
        "rank of halves: of accuracies measured on one half of the\nitems with those on the other; "
        f"labels: the error with {N_LABELS} labels, the width over that of the labels alone,\nthe same at best, if it "
        "were known from all labels how being right follows from belief, and how often they hold.\n\n"
    ) + "\n\n".join(table(found, rows_of) for rows_of in tables)
    print(shown)
    if options.output:
        options.output.with_suffix(".txt").write_text(shown + "\n", encoding="utf-8")
        plot(found, options.output.with_suffix(".svg"))


if __name__ == "__main__":
    main()
