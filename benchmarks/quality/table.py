"""What is printed and written of the scores: means, changes against the average, wins and losses, the worst, groups."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.quality.methods import YARDSTICK
from benchmarks.quality.scores import IS_RATIO, METRICS, changes, gains, interval
from consilience.system.atomic import whole_file
from consilience.system.tables import Table


class Result(NamedTuple):
    """How every method scores on one set."""

    entry: dict[str, str | int]
    scores: dict[str, np.ndarray]  # by method: (1 + draws, metrics)
    seconds: dict[str, float]


def overview(results: list[Result]) -> Table:
    """Means over the sets, and the time of all of them."""
    methods = list(results[0].scores)
    means = {method: np.mean([result.scores[method][0] for result in results], axis=0) for method in methods}
    columns = {metric: [float(means[method][place]) for method in methods] for place, metric in enumerate(METRICS)}
    seconds = [round(sum(result.seconds[method] for result in results)) for method in methods]
    return Table({"method": methods, **columns, "seconds": seconds})


def contest(results: list[Result], metric: str) -> Table:
    """A metric against the average, method by method: the mean change, how many sets are won and lost, the worst."""
    place = METRICS.index(metric)
    rows = []
    for method in _rivals(results):
        all_changes = _changes(results, method)
        change = interval(all_changes.mean(axis=0), place)
        gain = gains(all_changes)[:, :, place]
        is_sure = (np.quantile(gain[:, 1:], 0.025, axis=1) > 0) | (np.quantile(gain[:, 1:], 0.975, axis=1) < 0)
        won, lost = gain[:, 0] > 1, gain[:, 0] < -1
        worst = int(gain[:, 0].argmin())
        rows.append(
            {
                "method": method,
                "change": change.value,
                "low": change.low,
                "high": change.high,
                "won": int(won.sum()),
                "tied": int((~won & ~lost).sum()),
                "lost": int(lost.sum()),
                "surely won": int((won & is_sure).sum()),
                "surely lost": int((lost & is_sure).sum()),
                "worst": interval(all_changes[worst], place).value,
                "where": results[worst].entry["name"],
            }
        )
    return Table({column: [row[column] for row in rows] for column in rows[0]})


def by_group(results: list[Result], metric: str) -> Table:
    """A metric's mean change against the average in each group of sets; how many sets stands in brackets."""
    place = METRICS.index(metric)
    groups = {group: {group} for group in sorted({str(result.entry["group"]) for result in results})}
    columns: dict[str, list[float]] = {}
    for name, meant in (groups | {"all but clean": set(groups) - {"clean"}}).items():
        some = [result for result in results if result.entry["group"] in meant]
        if not some:
            continue
        means = [_changes(some, method).mean(axis=0) for method in _rivals(results)]
        columns[f"{name} ({len(some)})"] = [interval(mean, place).value for mean in means]
    return Table({"method": _rivals(results), **columns})


def text(results: list[Result], part: str) -> str:
    """All of it, to print."""
    n_members, n_items, n_classes = (_range(results, key) for key in ("members", "items", "classes"))
    parts = [
        f"{len(results)} sets ({part}), {n_members} members, {n_items} items, {n_classes} classes",
        f"Means over the sets\n{overview(results)}",
    ]
    for metric, is_ratio in zip(METRICS, IS_RATIO, strict=True):
        unit = "× the average's, below 1 is better" if is_ratio else "points more than the average"
        parts.append(f"{metric}: {unit}\n{contest(results, metric)}")
    parts += [f"{metric} by group\n{by_group(results, metric)}" for metric in METRICS[:4]]
    return "\n\n".join(parts)


def rows(results: list[Result]) -> list[dict[str, str | int | float]]:
    """One row per set and method: every score, its change against the average, and the change's interval."""
    long = []
    for result in results:
        for method, scored in result.scores.items():
            row: dict[str, str | int | float] = {**result.entry, "method": method, "seconds": result.seconds[method]}
            change = changes(scored, result.scores[YARDSTICK])
            for place, metric in enumerate(METRICS):
                value, low, high = interval(change, place)
                row |= {metric: float(scored[0, place]), f"{metric} change": value}
                row |= {f"{metric} low": low, f"{metric} high": high}
            long.append(row)
    return long


def write_csv(results: list[Result], path: Path) -> None:
    """The rows as a file."""
    long = rows(results)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(long[0]))
        writer.writeheader()
        writer.writerows(long)


def write_json(results: list[Result], path: Path) -> None:
    """The tables and the rows as a file."""
    tables = {"means": overview(results).rows()}
    tables |= {metric: contest(results, metric).rows() for metric in METRICS}
    tables |= {f"{metric} by group": by_group(results, metric).rows() for metric in METRICS}
    with whole_file(path) as file:
        file.write(json.dumps({"tables": tables, "sets": rows(results)}, indent=1).encode())


def _rivals(results: list[Result]) -> list[str]:
    return [method for method in results[0].scores if method != YARDSTICK]


def _changes(results: list[Result], method: str) -> np.ndarray:
    """(sets, 1 + draws, metrics)."""
    return np.stack([changes(result.scores[method], result.scores[YARDSTICK]) for result in results])


def _range(results: list[Result], key: str) -> str:
    values = [int(result.entry[key]) for result in results]
    return f"{min(values)} to {max(values):,}"
