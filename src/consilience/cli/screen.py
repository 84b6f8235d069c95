"""Print summaries and tables to the terminal."""

from __future__ import annotations

import json
import math
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import rich.table
from rich import markup
from rich.console import Console
from rich.measure import Measurement

from consilience.cli.summary import MOST_MEMBERS
from consilience.insight.accuracy.estimates import Estimate
from consilience.metrics.scores import METRICS
from consilience.system.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

out = Console(highlight=False, emoji=False)
err = Console(stderr=True, highlight=False, emoji=False)

CONTROL = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")
"""Control characters. Names come from files that anybody may have written, and a terminal would obey them."""

NARROW, WIDEST = 60, 10_000
"""Below so many columns tables are not made to fit; and no table is wider than that."""

LOWER_IS_BETTER = set(METRICS) - {"accuracy"}


def visible(text: str) -> str:
    r"""Spell out every control character of a text.

    >>> print(visible("cat\x1b[2J"))
    cat\x1b[2J
    """
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def escape(text: str) -> str:
    """Escape a text so that the console prints it as it is."""
    return markup.escape(visible(text))


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show a spinner on a terminal while something runs."""
    try:
        with err.status(what):
            yield
    finally:
        err.show_cursor()  # also if Ctrl-C comes while the spinner hides it


def print_text(text: str) -> None:
    """Print lines of text without markup."""
    for line in text.split("\n"):
        out.print(visible(line), markup=False)


def print_json(value: Any) -> None:
    """Print one JSON document to standard output. NaN becomes null, because JSON has no NaN."""
    text = json.dumps(_plain(value), ensure_ascii=False, indent=1)
    for line in text.split("\n"):  # json.dumps has escaped the ASCII control characters
        print(CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", line))  # noqa: T201 - the console would wrap it


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def print_found(found: list[str]) -> None:
    """Print how the files were understood."""
    for line in found:
        err.print(f"[dim]{escape(line)}[/dim]")


def print_table(table: Table, title: str | None = None, *, best: str | None = None) -> None:
    """Print a table with the best scores in bold. `best` ("higher" or "lower") makes all columns of numbers scores."""
    if title is not None:
        out.print(f"\n[bold]{escape(title)}[/bold]")
    grid = rich.table.Table()
    for name in table.columns:
        is_number = any(isinstance(value, int | float) for value in table[name])
        grid.add_column(escape(name), justify="right" if is_number else "left", overflow="fold")
    bests = {name: _best(name, table[name], best) for name in table.columns}
    for row in table.rows():
        cells = (_cell(value, is_best=bests[name] is not None and value == bests[name]) for name, value in row.items())
        grid.add_row(*cells)
    _print_grid(grid)


def _print_grid(grid: rich.table.Table) -> None:
    """Print a table; on a narrow terminal no narrower than its longest words, since columns would be empty."""
    if out.width < NARROW:
        grid.width = Measurement.get(out, out.options.update(max_width=WIDEST), grid).minimum
    out.print(grid, crop=False)


def _best(name: str, values: list[Any], better: str | None) -> float | None:
    numbers = [value for value in values if isinstance(value, float) and not math.isnan(value)]
    known = "lower" if name in LOWER_IS_BETTER else "higher" if name == "accuracy" else None
    if len(numbers) < 2 or (better or known) is None:
        return None
    return min(numbers) if (better or known) == "lower" else max(numbers)


def _cell(value: Any, *, is_best: bool) -> str:
    text = escape(str(value))
    if isinstance(value, float):
        text = "–" if math.isnan(value) else f"{value:.4f}"
    return f"[bold]{text}[/bold]" if is_best else text


def print_summary(summary: dict[str, Any]) -> None:
    """Print the members, the pairs that disagree, the changed items, the scores and the warnings."""
    out.print(
        f"[bold]{summary['method']}[/bold] of {summary['n_members']:,} members on {summary['n_items']:,} items "
        f"and {summary['n_classes']:,} classes"
    )
    out.print(escape(summary["agreement"]["sentence"]))
    is_measured = all(found.get("measured") for found in summary["answers"].values())
    how = "measured on the labels" if is_measured else "as estimated without labels*"
    answers = (f"the {name} {_with_interval(found)}" for name, found in summary["answers"].items())
    out.print(f"Right, {how}: {'; '.join(answers)}")
    _print_members(summary["members"])
    if summary["disagreement"]:
        pairs = "; ".join(
            f"{' and '.join(pair['members'])} {pair['kappa']:z.2f} ({pair['agreement']:.0%} the same)"
            for pair in summary["disagreement"][:3]
        )
        out.print(f"Least agreement beyond chance, Cohen's kappa: {escape(pairs)}")
    _print_changed(summary["changed"])
    if "scores" in summary:
        _print_scores(summary["scores"])
    if "labels" in summary:
        out.print(f"\n[bold]Known labels[/bold]\n{escape(summary['labels']['sentence'])}")
    for warning in summary["warnings"]:
        out.print(f"[yellow]![/yellow] {escape(warning)}")


def _print_members(members: list[dict[str, Any]]) -> None:
    out.print("\n[bold]Members, as their answers tell[/bold]")
    grid = rich.table.Table()
    has_weights = "weight" in members[0]
    is_estimated = not all(row.get("measured") for row in members)
    right = "right*" if is_estimated else "right"
    for name in ("member", "answered", right, "kappa†", "weight", "upheld‡", "confuses most"):
        if name != "weight" or has_weights:
            grid.add_column(name, justify="left" if name in ("member", "confuses most") else "right")
    ranked = sorted(members, key=lambda row: -_number(row["estimated accuracy"]))
    for row in ranked[:MOST_MEMBERS]:
        won = f"{row['dissents won']:.0%} of {row['dissents']}" if row["dissents"] else "–"
        weight = [f"{row['weight']:.1%}"] if has_weights else []
        kappa = "–" if math.isnan(row["kappa"]) else f"{row['kappa']:z.2f}"
        cells = (f"{row['coverage']:.0%}", _with_interval(row), kappa, *weight, won)
        grid.add_row(escape(row["member"]), *cells, escape(row["confuses most"]))
    _print_grid(grid)
    more = f" {len(ranked) - MOST_MEMBERS:,} more members are not listed." if len(ranked) > MOST_MEMBERS else ""
    note = (
        "* estimated without labels, with the interval that holds the true share in nine of ten panels; labels of some "
        "items drawn at random would measure it."
    )
    beyond = (
        "† agreement with the other members beyond chance: 0 for blind answers, and for one and the same answer always."
    )
    alone = "‡ how often the fused answer sides with it, of the times that it contradicts what most others say."
    lines = [note, beyond, alone] if is_estimated else [beyond, alone]
    out.print("[dim]" + "\n".join(lines) + f"{more}[/dim]")


def _with_interval(row: dict[str, Any]) -> str:
    """An estimated accuracy and its interval."""
    return str(Estimate(row["estimated accuracy"], row["from"], row["to"]))


def _number(value: float) -> float:
    return -1.0 if math.isnan(value) else value


def _print_changed(changed: dict[str, Any]) -> None:
    if not changed["count"]:
        out.print("No item is answered differently from plain averaging.")
        return
    title = f"{changed['count']:,} items ({changed['share']:.1%}) are answered differently from plain averaging"
    out.print(f"\n[bold]{title}[/bold]")
    grid = rich.table.Table()
    for name in ("item", "average", "consensus", "tipped by"):
        grid.add_column(name)
    for row in changed["surest"]:
        answers = (f"{row[name]['class']} {row[name]['probability']:.2f}" for name in ("average", "consensus"))
        tipped = f"{row['tipped by']['member']} (odds × {math.exp(min(row['tipped by']['nats'], 20)):,.1f})"
        grid.add_row(*(escape(text) for text in (str(row["item"]), *answers, tipped)))
    _print_grid(grid)


def _print_scores(scores: dict[str, dict[str, float]]) -> None:
    values = {metric: [row[metric] for row in scores.values()] for metric in METRICS}
    print_table(Table({"method": list(scores), **values}), "Scored on the labels")
