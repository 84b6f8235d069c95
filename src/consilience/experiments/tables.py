"""Results as tables like the paper's: mean ± standard deviation over ensembles, the best in bold."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from consilience.experiments.results import Summary, best_of, paper_rows, summarized

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from consilience.experiments.results import Row

METRICS = (
    "accuracy",
    "ece 300",
    "brier",
    "nll",
    "ece 15",
    "ece debiased",
    "auroc",
    "auroc entropy",
    "aggr",
    "pred",
    "lap",
)
"""In the order they are printed; those of the paper first."""

PAPER_NAMES = {"Accuracy": "accuracy", "ECE": "ece 300", "Brier score": "brier", "NLL": "nll"}


class Block(NamedTuple):
    """One metric under one shift: a line for each method, a column for each severity (or size)."""

    title: str
    metric: str
    columns: list[str]
    methods: list[str]
    cells: list[list[Summary | None]]


def blocks(rows: Iterable[Row]) -> list[Block]:
    """The tables of some rows of one experiment."""
    found = summarized(rows)
    result = []
    for task, shift in _unique((key[0], key[1]) for key in found):
        inside = {key[2:]: value for key, value in found.items() if key[:2] == (task, shift)}
        columns = sorted({(key[1], key[0]) for key in inside})
        has_sizes = len({size for size, _ in columns}) > 1
        for metric in (name for name in METRICS if any(key[3] == name for key in inside)):
            methods = _unique(key[2] for key in inside if key[3] == metric)
            cells = [[inside.get((severity, size, name, metric)) for size, severity in columns] for name in methods]
            names = [f"{severity:g}" + (f", {size} members" if has_sizes else "") for size, severity in columns]
            result.append(Block(f"{task}, {shift}", metric, names, methods, cells))
    return result


def _unique(values: Iterable[tuple[str, str] | str]) -> list:  # type: ignore[type-arg]
    return list(dict.fromkeys(values))


def markdown(title: str, rows: Sequence[Row]) -> str:
    """All tables as Markdown."""
    lines = [f"# {title}", "", f"Scale: {'; '.join(sorted({row.scale for row in rows}))}.", ""]
    lines += ["Mean ± standard deviation over independent ensembles; the best of a column is bold.", ""]
    for block in blocks(rows):
        lines += [f"## {block.title}: {block.metric}", "", f"| method | {' | '.join(block.columns)} |"]
        lines.append(f"|---|{'---|' * len(block.columns)}")
        lines += [f"| {method} | {' | '.join(cells)} |" for method, cells in _printed(block, "**{}**", "±")]
        lines.append("")
    return "\n".join(lines)


def latex(rows: Sequence[Row]) -> str:
    """All tables as LaTeX (booktabs)."""
    lines = []
    for block in blocks(rows):
        lines += [rf"% {block.title}", rf"\begin{{tabular}}{{l{'l' * len(block.columns)}}}", r"\toprule"]
        lines += [" & ".join([block.metric, *block.columns]) + r" \\", r"\midrule"]
        lines += [" & ".join([m, *cells]) + r" \\" for m, cells in _printed(block, r"\textbf{{{}}}", r"$\pm$")]
        lines += [r"\bottomrule", r"\end{tabular}", ""]
    return "\n".join(lines)


def _printed(block: Block, bold: str, plus_minus: str) -> Iterable[tuple[str, list[str]]]:
    means = np.array([[np.nan if cell is None else cell.mean for cell in row] for row in block.cells])
    is_best = np.array([best_of(block.metric, column.tolist()) for column in means.T]).T
    for method, row, best in zip(block.methods, block.cells, is_best, strict=True):
        yield method, [_text(cell, bold if top else "{}", plus_minus) for cell, top in zip(row, best, strict=True)]


def _text(cell: Summary | None, style: str, plus_minus: str) -> str:
    if cell is None:
        return "–"
    mean = style.format(f"{cell.mean:.3f}")
    return mean if np.isnan(cell.std) else f"{mean} {plus_minus} {cell.std:.3f}"


class Tally(NamedTuple):
    """How often one method beats another over all cells of an experiment."""

    wins: int
    ties: int
    losses: int
    mean_difference: float  # positive is better


def tally(rows: Iterable[Row], method: str, other: str, metric: str, *, tie: float = 5e-4) -> Tally:
    """Wins, ties (equal as the paper prints) and losses of a method over all cells: nothing is picked."""
    found: dict[tuple[object, ...], dict[str, float]] = {}
    for row in rows:
        if row.metric == metric and row.method in (method, other):
            found.setdefault((row.task, row.shift, row.severity, row.size, row.ensemble), {})[row.method] = row.value
    return _tallied(found, method, other, metric, tie=tie)


def paper_tally(experiment: str, method: str, other: str, metric: str, *, tie: float = 5e-4) -> Tally:
    """The same over the means that the paper prints."""
    found: dict[tuple[object, ...], dict[str, float]] = {}
    for row in paper_rows():
        if row.experiment == experiment and PAPER_NAMES.get(row.metric) == metric and row.method in (method, other):
            found.setdefault((row.corruption, row.severity, row.ensemble_size), {})[row.method] = row.mean
    return _tallied(found, method, other, metric, tie=tie)


def _tallied(
    found: dict[tuple[object, ...], dict[str, float]], method: str, other: str, metric: str, *, tie: float
) -> Tally:
    """The tally over the cells in which both methods have a value."""
    sign = 1 if best_of(metric, [0.0, 1.0]) == [False, True] else -1
    gaps = np.array([sign * (cell[method] - cell[other]) for cell in found.values() if len(cell) == 2])
    mean = float(gaps.mean()) if len(gaps) else float("nan")
    return Tally(int((gaps > tie).sum()), int((np.abs(gaps) <= tie).sum()), int((gaps < -tie).sum()), mean)
