"""Results as tables like the paper's: mean ± deviation over ensembles, the best in bold, the paper's numbers beside."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from paper.methods import PAPER
from paper.results import best_of, paper_summaries, summarized
from paper.tallies import BASELINES, cells_of_rows, cells_of_summaries, tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from paper.results import Key, Row, Summary
    from paper.tallies import Cells

METRICS = (
    "accuracy",
    "brier",
    "nll",
    "ece 300",
    "ece 300 floor",
    "ece 15",
    "ece 15 floor",
    "ece debiased",
    "auroc",
    "auroc entropy",
    "alone right",
    "alone right, no member",
    "average alone right",
    "average alone right, no member",
    "pred",
    "aggr",
    "lap",
    "total",
    "learn",
    "infer",
)
"""In the order they are printed."""

FLOORS = ("ece 300 floor", "ece 15 floor")
"""What perfectly calibrated predictions would score: nobody's merit."""

COUNTED = tuple(name for name in METRICS[: METRICS.index("auroc entropy") + 1] if name not in FLOORS)
"""What wins and losses are counted in."""

OF_PAPER = ", as printed"
"""Behind the name of a method whose numbers are those that the paper prints."""

LEGEND = {
    "nll": "NLL takes probabilities of at least 1e-12, so an answer that gives the truth none costs 27.6; DS, as "
    "crowd-kit leaves it, gives at least 1e-10 to classes that somebody names, and costs at most 23.0 there.",
    "ece 300 floor": "A floor is the mean calibration error that the same confidences would have if they were "
    "perfectly calibrated: noise in the bins. The debiased error is 0 then, on average, so it may be negative: it is "
    "compared with its sign, and less is better.",
}
"""What a reader has to know of a metric."""

PAPER_TABLES = {"imagenet-c": ["imagenet-c"], "ensemble-size": ["cifar100-c-sizes", "imagenet-c-sizes"]}
"""The paper's tables that can be put beside ours. Its others are figures, without numbers."""


WEIGHT_SIGN = ", α = "
"""Between the name of a method and the weight of a new estimate, where weights are compared."""


class Block(NamedTuple):
    """One table of one shift: a line for each method.

    There is a table for each metric, with a column for each severity (or size); where there is only one of these, one
    table with a column for each metric.
    """

    title: str
    columns: list[str]
    metrics: list[str]  # of each column
    methods: list[str]
    cells: list[list[Summary | None]]


def blocks(rows: Iterable[Row], paper: Mapping[Key, Summary] | None = None) -> list[Block]:
    """The tables of some rows of one experiment, the paper's numbers below ours where there are any."""
    found = summarized(rows)
    places = dict.fromkeys((key.task, key.shift) for key in found)
    theirs = {key: value for key, value in (paper or {}).items() if (key.task, key.shift) in places}
    found |= {key._replace(method=key.method + OF_PAPER): value for key, value in theirs.items()}
    return [block for place in places for block in _blocks_of(*place, found)]


def _blocks_of(task: str, shift: str, found: Mapping[Key, Summary]) -> Iterator[Block]:
    inside = {key[2:]: value for key, value in found.items() if key[:2] == (task, shift)}
    columns = sorted({(size, severity) for severity, size, _, _ in inside})
    has_sizes = len({size for size, _ in columns}) > 1
    unit = "°" if shift == "rotation" else ""
    names = [f"{severity:g}{unit}" + (f", {size} members" if has_sizes else "") for size, severity in columns]
    metrics = [name for name in METRICS if any(key[3] == name for key in inside)]
    methods = sorted(dict.fromkeys(key[2] for key in inside), key=_rank)
    if len(columns) == 1:
        ((size, severity),) = columns
        cells = [[inside.get((severity, size, method, metric)) for metric in metrics] for method in methods]
        yield Block(f"{task}, {shift}", metrics, metrics, methods, cells)
        return
    for metric in metrics:
        having = [method for method in methods if any(key[2:] == (method, metric) for key in inside)]
        cells = [[inside.get((severity, size, method, metric)) for size, severity in columns] for method in having]
        yield Block(f"{task}, {shift}: {metric}", names, [metric] * len(names), having, cells)


def _rank(method: str) -> tuple[bool, int, str, float]:
    """The order of the paper's tables, then our other methods by name and weight, then what the paper measured."""
    name, _, weight = method.removesuffix(OF_PAPER).partition(WEIGHT_SIGN)
    place = PAPER.index(name) if name in PAPER else len(PAPER)
    return method.endswith(OF_PAPER), place, name, -float(weight or 0)


def markdown(name: str, rows: Sequence[Row]) -> str:
    """All tables as Markdown."""
    scales = {row.task: row.scale for row in rows}
    lines = [f"# {name}", "", *(f"- {task}: {scale}." for task, scale in scales.items()), ""]
    lines += ["Mean ± standard deviation over ensembles; the best of a column is bold.", ""]
    measured = {row.metric for row in rows}
    lines += [line for metric, text in LEGEND.items() if metric in measured for line in (text, "")]
    for block in blocks(rows, paper_summaries(*PAPER_TABLES.get(name, []))):
        lines += [f"## {block.title}", "", f"| method | {' | '.join(block.columns)} |"]
        lines.append(f"|---|{'---|' * len(block.columns)}")
        lines += [f"| {method} | {' | '.join(cells)} |" for method, cells in _printed(block, "**{}**", "±")]
        lines.append("")
    return "\n".join(lines + tallies(name, rows))


def latex(name: str, rows: Sequence[Row]) -> str:
    """All tables as LaTeX (booktabs)."""
    lines = []
    for block in blocks(rows, paper_summaries(*PAPER_TABLES.get(name, []))):
        lines += [rf"% {block.title}", rf"\begin{{tabular}}{{l{'l' * len(block.columns)}}}", r"\toprule"]
        columns = [name.replace("°", r"$^\circ$") for name in block.columns]
        lines += [" & ".join(["method", *columns]) + r" \\", r"\midrule"]
        lines += [" & ".join([m, *cells]) + r" \\" for m, cells in _printed(block, r"\textbf{{{}}}", r"$\pm$")]
        lines += [r"\bottomrule", r"\end{tabular}", ""]
    return "\n".join(lines)


def _printed(block: Block, bold: str, plus_minus: str) -> Iterable[tuple[str, list[str]]]:
    """The cells as text; ours and the paper's each have their best."""
    means = np.array([[np.nan if cell is None else cell.mean for cell in row] for row in block.cells])
    is_best = np.zeros(means.shape, dtype=bool)
    is_paper = np.array([method.endswith(OF_PAPER) for method in block.methods])
    for group in (is_paper, ~is_paper):
        if group.any():
            columns = zip(block.metrics, means[group].T.tolist(), strict=True)
            is_best[group] = np.array([best_of(metric, column) for metric, column in columns]).T
    is_best[:, [metric in FLOORS for metric in block.metrics]] = False
    for method, row, best in zip(block.methods, block.cells, is_best, strict=True):
        yield method, [_text(cell, bold if top else "{}", plus_minus) for cell, top in zip(row, best, strict=True)]


def _text(cell: Summary | None, style: str, plus_minus: str) -> str:
    if cell is None:
        return "–"
    mean = style.format(f"{cell.mean:.3f}")
    return mean if np.isnan(cell.std) else f"{mean} {plus_minus} {cell.std:.3f}"


# ---- wins, ties, losses -----------------------------------------------------------------------------------


def tallies(name: str, rows: Sequence[Row]) -> list[str]:
    """Each method against the average and against the best baseline, over all cells; then the paper's own, if any."""
    lines = _tally_tables("Wins / ties / losses over all cells and ensembles", cells_of_rows(rows))
    if not lines:
        return []
    which = PAPER_TABLES.get(name, [])
    title = f"The same over the means that the paper prints ({', '.join(which)})"
    return [*lines, *_tally_tables(title, cells_of_summaries(paper_summaries(*which)))]


def _tally_tables(title: str, found: Mapping[str, Cells]) -> list[str]:
    metrics = [metric for metric in COUNTED if metric in found]
    if not metrics:
        return []
    methods = sorted({method for metric in metrics for cell in found[metric].values() for method in cell}, key=_rank)
    lines = [f"## {title}", "", "In brackets the mean difference, positive where the method is better.", ""]
    for against, others in (("EA", ["EA"]), (f"the best of {', '.join(BASELINES)}", list(BASELINES))):
        lines += [f"| against {against} | {' | '.join(metrics)} |", f"|---|{'---|' * len(metrics)}"]
        for method in (method for method in methods if [method] != others):
            texts = [str(tally(found[metric], metric, method, others)) for metric in metrics]
            lines.append(f"| {method} | {' | '.join(texts)} |")
        lines.append("")
    return lines
