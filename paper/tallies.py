"""Wins, ties and losses over all cells of an experiment: nothing is picked."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from paper.results import goodness

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from paper.results import Key, Row, Summary

TIE = 5e-4
"""Closer than the three digits that the paper prints."""

BASELINES = ("DS", "BCC", "EA", "MV", "PE")
"""What the paper compares Soft Dawid-Skene with, and the vote."""

Cells = dict[tuple[object, ...], dict[str, float]]
"""The value of each method, by the place that it was measured in."""


class Tally(NamedTuple):
    """How often one method beats another over all cells of an experiment."""

    wins: int
    ties: int
    losses: int
    mean_difference: float  # positive is better

    def __str__(self) -> str:
        """For tables."""
        if self.wins + self.ties + self.losses == 0:
            return "–"
        return f"{self.wins} / {self.ties} / {self.losses} ({self.mean_difference:+.4f})"


def cells_of_rows(rows: Iterable[Row]) -> dict[str, Cells]:
    """Every measured value by metric; each ensemble counts."""
    found: dict[str, Cells] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        place = (row.task, row.shift, row.severity, row.size, row.ensemble)
        found[row.metric][place][row.method] = row.value
    return found


def cells_of_summaries(summaries: Mapping[Key, Summary]) -> dict[str, Cells]:
    """Every mean by metric, which is all that the paper prints."""
    found: dict[str, Cells] = defaultdict(lambda: defaultdict(dict))
    for key, value in summaries.items():
        found[key.metric][key[:4]][key.method] = value.mean
    return found


def tally(cells: Cells, metric: str, method: str, others: Sequence[str], *, tie: float = TIE) -> Tally:
    """How a method does against another, or against the best of others, in the cells that have both."""
    gaps = []
    for values in cells.values():
        against = [goodness(metric, values[name]) for name in others if name in values and name != method]
        if method in values and against:
            gaps.append(goodness(metric, values[method]) - max(against))
    gap = np.round(gaps, 9)  # one image of 2,000 is a gap of .0005 and of no more, whatever the rounding of the two
    mean = float(gap.mean()) if len(gap) else float("nan")
    return Tally(int((gap > tie).sum()), int((np.abs(gap) <= tie).sum()), int((gap < -tie).sum()), mean)
