"""What is printed and written of the scores: against averaging, by kind of panel and over all.

Draws of the same panel and kind are one panel, whose scores are the means of theirs. A family's change is the mean of
its panels', and every family counts the same; intervals come from drawing families anew.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.quality.draws import KINDS
from benchmarks.quality.methods import YARDSTICK
from benchmarks.quality.panel import AS_IT_IS
from benchmarks.quality.run import Row
from benchmarks.quality.scores import METRICS, change, gain, readable
from consilience.system.atomic import whole_file
from consilience.system.tables import Table

N_BOOTSTRAP = 2000
ALL = "all kinds"


class Cell(NamedTuple):
    """A panel as it is, or all draws of a kind from it."""

    family: str
    kind: str
    base: str

    @property
    def name(self) -> str:
        """For tables."""
        return self.base if self.kind == AS_IT_IS else f"{self.base}, {self.kind}"


Scores = dict[Cell, dict[str, dict[str, float]]]  # by cell, method and metric


def gathered(rows: Iterable[Row]) -> Scores:
    """Mean scores by cell and method; a method that was left out of a draw is left out of the cell."""
    by_cell: dict[Cell, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        by_cell[Cell(row["family"], row["kind"], row["base"])][row["method"]].append(row)
    return {
        cell: {
            method: {metric: _mean([row[metric] for row in some]) for metric in (*METRICS, "seconds")}
            for method, some in methods.items()
            if not any("left out" in row for row in some)
        }
        for cell, methods in by_cell.items()
    }


def _mean(values: list[float]) -> float:
    """The mean of what is a number."""
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else np.nan


class Contest(NamedTuple):
    """One method against averaging in one metric, on some cells."""

    value: float  # points, or a factor
    low: float
    high: float
    won: int
    lost: int
    worst: float
    where: str
    by_family: dict[str, float]


def contest(scores: Scores, method: str, metric: str, kind: str = ALL) -> Contest | None:
    """How a method does against averaging; None where it was never run.

    Over all kinds, a family's change is the mean of its kinds', so that kinds with many panels count no more.
    """
    changes = {
        cell: change(methods[method][metric], methods[YARDSTICK][metric], metric)
        for cell, methods in scores.items()
        if method in methods and kind in {ALL, cell.kind}
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
        won=sum(bool(value > 1) for value in gains.values()),
        lost=sum(bool(value < -1) for value in gains.values()),
        worst=readable(changes[worst], metric),
        where=worst.name,
        by_family={family: readable(value, metric) for family, value in by_family.items()},
    )


def _family_means(changes: dict[Cell, float]) -> dict[str, float]:
    by_kind: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for cell, value in changes.items():
        by_kind[cell.family][cell.kind].append(value)
    return {
        family: float(np.mean([np.mean(values) for values in kinds.values()])) for family, kinds in by_kind.items()
    }


def kinds_of(scores: Scores) -> list[str]:
    """The kinds there are, in the order of tables."""
    there = {cell.kind for cell in scores}
    return [kind for kind in (AS_IT_IS, *KINDS) if kind in there]


def methods_of(scores: Scores) -> list[str]:
    """The methods there are, without the yardstick."""
    return [name for name in dict.fromkeys(name for methods in scores.values() for name in methods) if name != YARDSTICK]


def against_averaging(scores: Scores, kind: str) -> Table:
    """Every method on the panels of a kind: all metrics, what is won and lost, the worst."""
    rows = []
    for method in methods_of(scores):
        found = {metric: contest(scores, method, metric, kind) for metric in METRICS}
        points = found["accuracy"]
        if points is None:
            continue
        seconds = [s[method]["seconds"] for cell, s in scores.items() if method in s and kind in {ALL, cell.kind}]
        rows.append(
            {
                "method": method,
                "panels": len(seconds),
                "points": f"{points.value:+.2f}",
                "95 %": f"{points.low:+.1f} to {points.high:+.1f}",
                "won : lost": f"{points.won} : {points.lost}",
                "worst": f"{points.worst:+.1f}",
                "where": points.where,
                **{
                    f"{name} ×": "" if (one := found[metric]) is None else f"{one.value:.3f}"
                    for name, metric in (("NLL", "nll"), ("Brier", "brier"))
                },
                **{
                    name: "" if (one := found[metric]) is None else f"{one.value:+.1f}"
                    for name, metric in (("ECE", "ece debiased"), ("AUROC", "auroc"))
                },
                "seconds": f"{np.mean(seconds):.3f}",
            }
        )
    return Table({column: [row[column] for row in rows] for column in rows[0]})


def by_kind(scores: Scores, metric: str) -> Table:
    """A metric's mean change for every method and kind."""
    columns: dict[str, list[str]] = {"method": methods_of(scores)}
    for kind in (*kinds_of(scores), ALL):
        found = [contest(scores, method, metric, kind) for method in methods_of(scores)]
        columns[kind] = ["" if one is None else _shown(one.value, metric) for one in found]
    return Table(columns)


def by_family(scores: Scores, method: str) -> Table:
    """One method's mean changes in each family, over all kinds."""
    found = {metric: contest(scores, method, metric) for metric in METRICS}
    families = sorted({cell.family for cell in scores})
    return Table(
        {
            "family": families,
            **{
                metric: [_shown(one.by_family[f], metric) if one and f in one.by_family else "" for f in families]
                for metric, one in found.items()
            },
        }
    )


def _shown(value: float, metric: str) -> str:
    return f"{value:.3f}" if metric in {"nll", "brier"} else f"{value:+.2f}"


def text(scores: Scores, side: str) -> str:
    """All of it, to print."""
    families = sorted({cell.family for cell in scores})
    parts = [
        f"{len(scores)} panels of {len(families)} families ({side}): {', '.join(families)}.\n"
        "Against averaging. Every family counts the same; intervals are of drawing families anew. points: of accuracy, "
        "won and lost beyond .2; NLL and Brier score by ratio, below 1 is better; ECE (debiased, below 0 is better) and "
        "AUROC of the confidence for right answers in points.",
        f"All kinds together\n{against_averaging(scores, ALL)}",
    ]
    parts += [f"accuracy, points, by kind\n{by_kind(scores, 'accuracy')}"]
    parts += [f"{metric} ×, by kind\n{by_kind(scores, metric)}" for metric in ("nll", "brier")]
    parts += [f"{kind}\n{against_averaging(scores, kind)}" for kind in kinds_of(scores)]
    if any("consensus" in methods for methods in scores.values()):
        parts += [f"Consensus by family, all kinds\n{by_family(scores, 'consensus')}"]
    return "\n\n".join(parts)


def write_json(scores: Scores, path: Path) -> None:
    """Every contest and every cell's scores as a file."""
    contests = [
        {"method": method, "metric": metric, "kind": kind, **found._asdict()}
        for method in methods_of(scores)
        for metric in METRICS
        for kind in (*kinds_of(scores), ALL)
        if (found := contest(scores, method, metric, kind)) is not None
    ]
    cells = [{**cell._asdict(), "scores": methods} for cell, methods in scores.items()]
    with whole_file(path) as file:
        file.write(json.dumps({"against averaging": contests, "panels": cells}, indent=1).encode())
