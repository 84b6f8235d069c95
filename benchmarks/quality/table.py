"""What is printed and written of the scores: against averaging, by kind of panel and over all.

Draws of the same panel and kind are one panel, whose scores are the means of theirs. A method is compared with
averaging on the panels that it ran on. A family's change is the mean of its panels', and every family counts the same;
intervals come from drawing families anew.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.quality.draws import KINDS
from benchmarks.quality.methods import METHODS, PEERS, YARDSTICK
from benchmarks.quality.panel import AS_IT_IS
from benchmarks.quality.run import Row
from benchmarks.quality.scores import ADDED, METRICS, change, gain, readable
from consilience.system.atomic import whole_file
from consilience.system.tables import Table

N_BOOTSTRAP = 2000

ALL = "all kinds"
TWO_CLASSES = "two classes, as they are"
AS_VOTES = "votes, as they are"


class Cell(NamedTuple):
    """A panel as it is, or all draws of a kind from it."""

    family: str
    kind: str
    base: str
    n_classes: int
    has_votes: bool  # members give labels, not probabilities

    @property
    def name(self) -> str:
        """For tables."""
        return self.base if self.kind == AS_IT_IS else f"{self.base}, {self.kind}"


class Pair(NamedTuple):
    """A method's scores in a cell, and averaging's on the same draws; means over the draws that both can score."""

    own: dict[str, float]  # by metric
    average: dict[str, float]
    seconds: float

    def change(self, metric: str) -> float:
        """What the method's score is against averaging's; NaN where there is none."""
        return change(self.own[metric], self.average[metric], metric)


Scores = dict[Cell, dict[str, Pair]]  # by cell and method


def gathered(rows: Iterable[Row]) -> Scores:
    """All pairs; a method that was left out of all draws of a cell is left out of the cell."""
    by_cell: dict[Cell, dict[str, dict[str, Row]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        if "left out" not in row:
            cell = Cell(row["family"], row["kind"], row["base"], row["classes"], row["votes"])
            by_cell[cell][row["method"]][row["panel"]] = row
    return {
        cell: {method: _pair(draws, methods[YARDSTICK]) for method, draws in methods.items()}
        for cell, methods in by_cell.items()
    }


def _pair(own: dict[str, Row], average: dict[str, Row]) -> Pair:
    means: list[dict[str, float]] = [{}, {}]
    for metric in METRICS:
        pairs = [(own[panel][metric], average[panel][metric]) for panel in own]
        known = [pair for pair in pairs if not np.isnan(pair).any()]
        for place, mean in enumerate(np.mean(known, axis=0) if known else (np.nan, np.nan)):
            means[place][metric] = float(mean)
    return Pair(*means, seconds=float(np.mean([row["seconds"] for row in own.values()])))


def slices(scores: Scores) -> dict[str, list[Cell]]:
    """What is looked at together: every kind, some panels as they are, each family of generated ones, and all."""
    as_they_are = [cell for cell in scores if cell.kind == AS_IT_IS]
    found = {kind: [cell for cell in scores if cell.kind == kind] for kind in (AS_IT_IS, *KINDS)}
    found[TWO_CLASSES] = [cell for cell in as_they_are if cell.n_classes == 2]
    found[AS_VOTES] = [cell for cell in as_they_are if cell.has_votes]
    found |= generated_kinds(scores)
    found[ALL] = list(scores)
    return {name: cells for name, cells in found.items() if cells}


def generated_kinds(scores: Scores) -> dict[str, list[Cell]]:
    """The cells of each family of generated panels."""
    families = sorted({cell.family for cell in scores if cell.family.startswith("generated")})
    return {family: [cell for cell in scores if cell.family == family] for family in families}


class Contest(NamedTuple):
    """One method against averaging in one metric, on some cells."""

    value: float  # points, or a factor
    low: float
    high: float
    n_panels: int
    won: int
    lost: int
    worst: float
    where: str
    by_family: dict[str, float]


def contest(scores: Scores, method: str, metric: str, cells: Iterable[Cell] | None = None) -> Contest | None:
    """How a method does against averaging on some cells; None where it was never run.

    Over several kinds, a family's change is the mean of its kinds', so that kinds with many panels count no more.
    """
    changes = {
        cell: scores[cell][method].change(metric)
        for cell in (scores if cells is None else cells)
        if method in scores[cell]
    }
    changes = {cell: value for cell, value in changes.items() if not np.isnan(value)}
    if not changes:
        return None
    by_family = _family_means(changes)
    means = np.array(list(by_family.values()))
    drawn = np.random.default_rng(0).integers(len(means), size=(N_BOOTSTRAP, len(means)))
    low, high = np.quantile(means[drawn].mean(axis=1), [0.025, 0.975])
    gains = {cell: gain(value, metric) for cell, value in changes.items()}
    worst = min(gains, key=gains.__getitem__)
    return Contest(
        *(readable(float(value), metric) for value in (means.mean(), low, high)),
        n_panels=len(changes),
        won=int(sum(value > 1 for value in gains.values())),
        lost=int(sum(value < -1 for value in gains.values())),
        worst=readable(changes[worst], metric),
        where=worst.name,
        by_family={family: readable(value, metric) for family, value in by_family.items()},
    )


def _family_means(changes: dict[Cell, float]) -> dict[str, float]:
    by_kind: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for cell, value in changes.items():
        by_kind[cell.family][cell.kind].append(value)
    return {family: float(np.mean([np.mean(values) for values in kinds.values()])) for family, kinds in by_kind.items()}


def methods_of(scores: Scores) -> list[str]:
    """The methods there are, without the yardstick: ours first, then others, then peers."""
    there = {name for methods in scores.values() for name in methods}
    known = [name for name in (*METHODS, *PEERS) if name in there]
    others = sorted(there - {*known})
    ours = [name for name in known if name in METHODS and name != YARDSTICK]
    return [*ours, *others, *(name for name in known if name in PEERS)]


# ---- tables -----------------------------------------------------------------------------------------------


def against_averaging(scores: Scores, cells: list[Cell]) -> Table:
    """Every method on some cells: all metrics, what is won and lost, the worst."""
    rows = []
    for method in methods_of(scores):
        found = {metric: contest(scores, method, metric, cells) for metric in METRICS}
        points = found["accuracy"]
        if points is None:
            continue
        seconds = [scores[cell][method].seconds for cell in cells if method in scores[cell]]
        shown = {metric: "" if one is None else _shown(one.value, metric) for metric, one in found.items()}
        rows.append(
            {
                "method": method,
                "panels": points.n_panels,
                "points": shown["accuracy"],
                "95 %": f"{points.low:+.1f} to {points.high:+.1f}",
                "won : lost": f"{points.won} : {points.lost}",
                "worst": f"{points.worst:+.1f}",
                "where": points.where,
                "NLL ×": shown["nll"],
                "Brier ×": shown["brier"],
                "ECE": shown["ece debiased"],
                "AUROC": shown["auroc"],
                "seconds": f"{np.mean(seconds):.3f}",
            }
        )
    return Table({column: [row[column] for row in rows] for column in rows[0]} if rows else {})


def by_slice(scores: Scores, metric: str) -> Table:
    """A metric's mean change for every method and slice."""
    columns: dict[str, list[str]] = {"method": methods_of(scores)}
    for name, cells in slices(scores).items():
        found = [contest(scores, method, metric, cells) for method in methods_of(scores)]
        columns[name.removeprefix("generated ")] = ["" if one is None else _shown(one.value, metric) for one in found]
    return Table(columns)


def by_family(scores: Scores, method: str) -> Table:
    """One method's mean changes in each family, over all kinds."""
    found = {metric: contest(scores, method, metric) for metric in METRICS}
    families = sorted({cell.family for cell in scores})
    return Table(
        {
            "family": families,
            "panels": [sum(cell.family == family for cell in scores) for family in families],
            **{
                metric: [_shown(one.by_family[f], metric) if one and f in one.by_family else "" for f in families]
                for metric, one in found.items()
            },
        }
    )


def beside(rows: list[Row], method: str) -> Table:
    """Every peer, and one of our methods on the very draws that the peer ran on."""
    found = []
    for peer in (name for name in methods_of(gathered(rows)) if name in PEERS):
        seen = {row["panel"] for row in rows if row["method"] == peer and "left out" not in row}
        scores = gathered(row for row in rows if row["panel"] in seen and row["method"] in {peer, method, YARDSTICK})
        line: dict[str, object] = {"peer": peer, "panels": len(seen)}
        for name, start in ((peer, ""), (method, f"{method}: ")):
            for title, metric in (("points", "accuracy"), ("NLL ×", "nll"), ("Brier ×", "brier")):
                one = contest(scores, name, metric)
                line[start + title] = "" if one is None else _shown(one.value, metric)
        found.append(line)
    return Table({column: [line[column] for line in found] for column in found[0]} if found else {})


def by_kind(scores: Scores) -> Table:
    """Every method on every kind of generated panels."""
    shown = ("method", "panels", "points", "worst", "NLL ×", "Brier ×")
    columns: dict[str, list[object]] = {column: [] for column in ("kind", *shown)}
    for kind, cells in generated_kinds(scores).items():
        table = against_averaging(scores, cells)
        columns["kind"] += [kind.removeprefix("generated ")] * len(table)
        for column in shown if len(table) else ():
            columns[column] += table[column]
    return Table(columns)


def left_out(rows: Iterable[Row]) -> Table:
    """On how many panels, draws counted singly, a method was run and why not on others."""
    ran: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        ran[row["method"]] += "left out" not in row
        if "left out" in row:
            reasons[row["method"]][row["left out"].partition("\n")[0]] += 1
    names = sorted(reasons, key=[*METHODS, *PEERS].index)
    told = ["; ".join(f"{n} ({reason})" for reason, n in reasons[name].most_common()) for name in names]
    return Table({"method": names, "run on": [ran[name] for name in names], "left out of": told})


def _shown(value: float, metric: str) -> str:
    return f"{value:.3f}" if metric in ADDED else f"{value:+.2f}"


LEGEND = """\
Against averaging, on the panels that a method was run on; draws of a panel and kind are one panel. Every family counts
the same; intervals are of drawing families anew. points: of accuracy, won and lost beyond .2; NLL and Brier score by
ratio, below 1 is better; ECE (debiased, below 0 is better) and AUROC of the confidence for right answers in points.
Peers see few panels and kinds: compare them with Consensus in the table of both on the same panels."""


def text(rows: list[Row], side: str, generated: Iterable[Row] = ()) -> str:
    """All of it, to print; generated panels beside real ones are in a table of their own."""
    scores = gathered(rows)
    families = sorted({cell.family for cell in scores})
    parts = [f"{len(scores)} panels of {len(families)} families ({side}): {', '.join(families)}.\n{LEGEND}"]
    parts += [f"{name}\n{by_slice(scores, metric)}" for name, metric in OVERVIEW.items()]
    found = slices(scores)
    parts += [f"{name}\n{against_averaging(scores, found[name])}" for name in dict.fromkeys((ALL, *found))]
    others = {}
    if "consensus" in methods_of(scores):
        others["consensus by family, all kinds"] = by_family(scores, "consensus")
        others["peers, and consensus on the same panels"] = beside(rows, "consensus")
    others["generated kinds"] = by_kind(gathered(generated))
    others["methods that were not run on all panels they were given"] = left_out(rows)
    parts += [f"{name}\n{table}" for name, table in others.items() if len(table)]
    return "\n\n".join(parts)


OVERVIEW = {"accuracy, points": "accuracy", "NLL ×": "nll", "Brier score ×": "brier"}


def write_json(rows: list[Row], path: Path, generated: Iterable[Row] = ()) -> None:
    """Every contest, and every method's scores on every panel, in the order of the metrics and as means over draws.

    Of generated panels beside real ones, every contest by kind.
    """
    scores, apart = gathered(rows), gathered(generated)
    panels = [
        {**cell._asdict(), "scores": {name: _short(pair.own.values()) for name, pair in methods.items()}}
        for cell, methods in scores.items()
    ]
    parts: dict[str, Iterable[object]] = {"metrics": METRICS, "against averaging": _contests(scores, slices(scores))}
    if apart:
        parts["generated kinds"] = _contests(apart, generated_kinds(apart))
    parts["panels"] = panels
    lines = [f"{json.dumps(key)}: [\n{_lines(some)}\n]" for key, some in parts.items()]
    with whole_file(path) as file:
        file.write(("{" + ",\n".join(lines) + "}\n").encode())


def _contests(scores: Scores, groups: dict[str, list[Cell]]) -> list[dict[str, object]]:
    """Every method in every metric on every group of cells."""
    return [
        {"method": method, "metric": metric, "panels of": name, **_rounded(found, whole=name == ALL)}
        for method in methods_of(scores)
        for metric in METRICS
        for name, cells in groups.items()
        if (found := contest(scores, method, metric, cells)) is not None
    ]


def _lines(some: Iterable[object]) -> str:
    """A line for each, which is shorter than what json indents and still can be compared line by line."""
    return ",\n".join(json.dumps(one, ensure_ascii=False) for one in some)


def _rounded(found: Contest, *, whole: bool) -> dict[str, object]:
    """A contest in short, with its families only where asked."""
    row = {key: _short([value])[0] if isinstance(value, float) else value for key, value in found._asdict().items()}
    row["by_family"] = {family: _short([value])[0] for family, value in found.by_family.items()}
    return row if whole else {key: value for key, value in row.items() if key != "by_family"}


def _short(values: Iterable[float]) -> list[float | None]:
    """Five digits; None for what is no number, which JSON does not have."""
    return [None if np.isnan(value) else float(f"{value:.5g}") for value in values]
