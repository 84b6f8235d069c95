"""Print summaries and tables to the terminal."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import Any

import rich.box
from rich import markup
from rich.console import Console
from rich.measure import Measurement
from rich.table import Column
from rich.table import Table as Grid

from consilience.insight.accuracy.estimates import AccuracyEstimate
from consilience.insight.analysis import FEWEST_ANSWERS
from consilience.metrics.ratings import RATINGS
from consilience.metrics.scores import METRICS
from consilience.report.items import as_json
from consilience.report.panel import MOST_ON_CARD
from consilience.system.tables import Table

out = Console(highlight=False, emoji=False)
err = Console(stderr=True, highlight=False, emoji=False)

CONTROL = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")
"""Control characters. Names come from files that anybody may have written, and a terminal would obey them."""

NARROW, WIDEST = 60, 10_000  # below so many columns tables are not made to fit; and no table is wider than that
PRINTED_PAIRS = 3  # of the pairs that a summary lists, so many that agree least, and most, are printed
LONGEST_METHOD = 29  # characters of a method's name in a comparison: as many as the longest of ours has

ALL_MEMBERS_UP_TO, FIRST_ROWS, LAST_ROWS = 20, 10, 5
"""Up to the first number of members, all are listed; of more, so many of the best and so many of the worst."""

MEASURED_NOTES = (
    "right: on the labelled items, with the 90 % interval for other items of the same kind",
    "behind: points behind the best row, on the same items; ≈: may be chance, by the 90 % interval of the difference",
)

ESTIMATED_NOTES = (
    "* the interval that holds the true share in nine of ten panels",
    "Nothing is ranked: without labels, methods whose intervals overlap cannot be told apart.",
    "30 labels of items drawn at random (--labels) would rank them.",
)

REWORDED = (
    (
        r"make windows smaller, or give reference=",
        "make windows smaller with --window, or give predictions from before as --reference",
    ),
    (
        r"Use the plain average instead, or give labels of some items to the fit, which correct it",
        "Use --method average instead, or give labels of some items with --known, which correct it",
    ),
    (r"(?<!-)\blabels=", "--labels"),
    (r"\bmissing='(\w+)'", r"--option missing=\1"),
    (r"(?<!, )\bclass_shares\b", "--class-shares"),
)
"""What the library says of arguments of Python, as a pattern, and what the command line says of flags instead.

Errors about tables carry what to say as data (`system.errors.Say`), and need none of this.
"""

HIGHER_IS_BETTER = {"accuracy", "quadratic kappa"}
LOWER_IS_BETTER = {*METRICS, *RATINGS} - HIGHER_IS_BETTER


def visible(text: str) -> str:
    r"""Spell out every control character of a text.

    >>> print(visible("cat\x1b[2J"))
    cat\x1b[2J
    """
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def on_command_line(sentence: str) -> str:
    """The same sentence with flags instead of arguments.

    >>> on_command_line("missing='informative' needs one answer")
    '--option missing=informative needs one answer'
    """
    for python, flag in REWORDED:
        sentence = re.sub(python, flag, sentence)
    return sentence


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


def print_text(*texts: str) -> None:
    """Print lines of text without markup."""
    for line in "\n".join(texts).split("\n") if texts else ():
        out.print(visible(line), markup=False)


def print_json(value: Any) -> None:
    """Print one JSON document to standard output. NaN becomes null, because JSON has no NaN."""
    text = json.dumps(as_json(value), ensure_ascii=False, indent=1)
    for line in text.split("\n"):  # json.dumps has escaped the ASCII control characters
        print(CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", line))  # noqa: T201 - the console would wrap it


def print_note(text: str) -> None:
    """Print a line below a table."""
    out.print(f"[dim]{escape(text)}[/dim]")


def print_found(found: list[str], examples: Sequence[Table | None] = ()) -> None:
    """Print how the files were understood, with some rows of each kind of table."""
    shown = set()
    for line, example in zip_longest(found, examples):
        err.print(f"[dim]{escape(line)}[/dim]")
        if example is not None and (kind := tuple(example.columns)) not in shown:
            shown.add(kind)
            for row in repr(example).split("\n"):
                err.print(f"[dim]    {escape(row)}[/dim]", soft_wrap=True)


def print_remark(sentence: str) -> None:
    """Print a sentence that the user should notice to standard error."""
    err.print(visible(f"! {sentence}"), markup=False, highlight=False, soft_wrap=True)


def print_table(table: Table, title: str | None = None, *, best: str | None = None) -> None:
    """Print a table with the best scores in bold. `best` ("higher" or "lower") makes all columns of numbers scores."""
    columns = []
    for name in table.columns:
        is_number = any(isinstance(value, int | float) for value in table[name])
        columns.append(Column(escape(name), justify="right" if is_number else "left", overflow="fold"))
    bests = {name: _best(name, table[name], best) for name in table.columns}
    rows = ([_cell(value, bests[name]) for name, value in row.items()] for row in table.rows())
    _print_grid(columns, rows, title)


def _print_grid(
    columns: Iterable[Column], rows: Iterable[Iterable[str]], title: str | None = None, **look: Any
) -> None:
    """Print rows of markup; on a narrow terminal no narrower than the longest words, since columns would be empty."""
    if title is not None:
        out.print(f"\n[bold]{escape(title)}[/bold]")
    grid = Grid(*columns, **look)
    for row in rows:
        grid.add_row(*row)
    if out.width < NARROW:
        grid.width = Measurement.get(out, out.options.update(max_width=WIDEST), grid).minimum
    out.print(grid, crop=False)


def _best(name: str, values: list[Any], better: str | None = None) -> float | None:
    numbers = [value for value in values if isinstance(value, float) and not math.isnan(value)]
    better = better or ("lower" if name in LOWER_IS_BETTER else "higher" if name in HIGHER_IS_BETTER else None)
    if len(numbers) < 2 or better is None:
        return None
    return min(numbers) if better == "lower" else max(numbers)


def _cell(value: Any, best: float | None, digits: int = 4) -> str:
    text = escape(str(value))
    if isinstance(value, float):
        text = "–" if math.isnan(value) else f"{value:.{digits}f}"
    return f"[bold]{text}[/bold]" if best is not None and value == best else text


# ---- a comparison ---------------------------------------------------------------------------------------


def print_comparison(rows: list[dict[str, Any]]) -> None:
    """Print a comparison of methods and members in 80 columns; JSON has the rest."""
    is_measured = "accuracy" in rows[0]
    numbers = ("nll", "ece") if is_measured else ("confidence",)
    bests = {name: _best(name, [row[name] for row in rows]) for name in numbers}
    names = [f"{row['method']}: {row['member']}" if row["member"] else str(row["method"]) for row in rows]
    headings = (*(("right", "behind") if is_measured else ("right*",)), *numbers, "changed")
    columns = [
        Column("method", no_wrap=True, max_width=LONGEST_METHOD),
        *(Column(heading, justify="right", no_wrap=True) for heading in headings),
    ]

    def cells(row: dict[str, Any], name: str) -> Iterator[str]:
        ends = f"{100 * row['from']:.0f}–{row['to']:.0%}"
        yield escape(name)
        yield from (f"{row['accuracy']:.1%} ({ends})", _behind(row)) if is_measured else (ends,)
        yield from (_cell(row[number], bests[number], digits=3) for number in numbers)
        yield f"{row['changed']:.1%}"

    _print_grid(columns, map(cells, rows, names), box=rich.box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for note in MEASURED_NOTES if is_measured else ESTIMATED_NOTES:
        print_note(note)
    print_note("changed: items answered differently from plain averaging")
    for name in names:
        if len(name) > LONGEST_METHOD:
            print_note(name)


def _behind(row: dict[str, Any]) -> str:
    """By how many points a row is behind the best one; nothing for the best."""
    if row["verdict"] == "best":
        return ""
    return f"{100 * row['behind']:.1f}{'' if row['verdict'] == 'worse' else '≈'}"


# ---- a summary ------------------------------------------------------------------------------------------


def print_summary(summary: dict[str, Any]) -> None:
    """Print the members, the pairs that disagree, the changed items, the scores and the warnings."""
    out.print(
        f"[bold]{summary['method']}[/bold] of {summary['n_members']:,} members on {summary['n_items']:,} items "
        f"and {summary['n_classes']:,} classes"
    )
    if n := summary["repeated"]["members"]:  # which also happens if the name of an item has a second column
        who, n_items = "1 member answers" if n == 1 else f"{n:,} members answer", summary["repeated"]["items"]
        out.print(
            f"[yellow]![/yellow] {who} items more than once ({n_items:,} {'item' if n_items == 1 else 'items'}), and "
            "each answer counts. If a column of your table tells these answers apart, name it too: --item-column "
            "question_id+candidate"
        )
    for sentence in summary["verdict"]:
        out.print(escape(sentence))
    _print_members(summary)
    least = summary["disagreement"][:PRINTED_PAIRS]
    most = [pair for pair in summary["alike"][:PRINTED_PAIRS] if pair not in least]
    for which, pairs in (("Least", least), ("Most", most)):
        said = (f"{' and '.join(p['members'])} {p['kappa']:z.2f} ({p['agreement']:.0%} the same)" for p in pairs)
        if told := "; ".join(said):
            out.print(f"{which} agreement beyond chance, Cohen's kappa: {escape(told)}")
    _print_changed(summary["changed"])
    scores = summary.get("scores", {})
    for metrics, title in ((METRICS, "Scored on the labels"), (RATINGS, "Scored as ratings")):
        if scores and all(name in row for row in scores.values() for name in metrics):
            values = {metric: [row[metric] for row in scores.values()] for metric in metrics}
            print_table(Table({"method": list(scores), **values}), title)
    if "labels" in summary:
        out.print(f"\n[bold]Known labels[/bold]\n{escape(summary['labels']['sentence'])}")
    for warning in summary["warnings"]:
        out.print(f"[yellow]![/yellow] {escape(warning)}")
    if summary["hint"] is not None:
        out.print(escape(f"{summary['hint']}."))


def _print_members(summary: dict[str, Any]) -> None:
    """Print how often each member is right: all members, or of many the best and the worst."""
    ranked = sorted((row for row in summary["members"] if row["coverage"] > 0), key=lambda row: -_number(row))
    if len(ranked) > ALL_MEMBERS_UP_TO:
        ranked = [row for row in ranked if not math.isnan(row["estimated accuracy"])] or ranked
    n_between = len(ranked) - FIRST_ROWS - LAST_ROWS if len(ranked) > ALL_MEMBERS_UP_TO else 0
    is_mixed = any(row.get("measured") for row in ranked)
    rows = [_member_cells(row, is_mixed=is_mixed) for row in ranked]
    if n_between:
        rows[FIRST_ROWS:-LAST_ROWS] = [["…"]]
    names = ("member", "answered", "right" if is_mixed else "right*", "kappa†", "influence‡", "confuses most")
    columns = [Column(name, justify="left" if name in (names[0], names[-1]) else "right") for name in names]
    _print_grid(columns, rows, "Members")
    for note in _notes(summary, ranked, n_between):
        print_note(note)


def _member_cells(row: dict[str, Any], *, is_mixed: bool) -> list[str]:
    coverage, (value, low, high) = row["coverage"], (row[name] for name in ("estimated accuracy", "from", "to"))
    has_few = math.isnan(value) and not math.isnan(low)  # answers: there is the interval alone
    right = f"{low:.0%} to {high:.0%}" if has_few else str(AccuracyEstimate(value, low, high))
    return [
        escape(row["member"]) + (" [yellow]![/yellow]" if row.get("warned") else ""),
        "<1%" if 0 < coverage < 0.005 else f"{coverage:.0%}",
        right + ("*" if is_mixed and not row["measured"] else ""),
        "–" if math.isnan(row["kappa"]) else f"{row['kappa']:z.2f}",
        f"{row['influence']:.1%}",
        escape(row["confuses most"]),
    ]


def _notes(summary: dict[str, Any], ranked: list[dict[str, Any]], n_between: int) -> Iterator[str]:
    """What the table leaves out, and what its columns mean."""
    members = summary["members"]
    if n_between:
        where = "--json and --report list" if len(members) <= MOST_ON_CARD else "--json lists"
        yield f"{n_between:,} more members are in between: {where} them."
    n_silent = sum(row["coverage"] == 0 for row in members)
    if n_few := len(members) - len(ranked) - n_silent:
        few = f"{n_few:,} of {len(members):,} members gave fewer than {FEWEST_ANSWERS} answers"
        yield f"{few}; --json has their intervals."
    if n_silent:
        yield f"{n_silent:,} of {len(members):,} members answered no item here."
    if any(row.get("warned") for row in ranked):
        yield "! there is a warning about this member, below."
    if any(row.get("measured") for row in ranked):
        yield (
            "right: measured on the labels, with the 90 % interval for all items here; if all of them have labels, for "
            "other items of the same kind."
        )
    if not all(row.get("measured") for row in ranked):
        yield (
            "* estimated without labels, with the interval that holds the true share in nine of ten panels; labels of "
            "some items drawn at random would measure it."
        )
    yield (
        "† agreement with the other members beyond chance: 0 for blind answers, and for one and the same answer always."
    )
    yield "‡ its mean share of what moves the answers, as `explain` shows it of one item."
    how = "counted on the labelled items" if summary["confusions counted"] else "estimated without labels"
    yield f"confuses most: true class → its vote, and how often of that class; {how}."


def _number(row: dict[str, Any]) -> float:
    """What members are ranked by: the accuracy; those who have none come last, by the end of their interval."""
    values = (row["estimated accuracy"], row["to"] - 2, -2.0)
    return next(value for value in values if not math.isnan(value))


def _print_changed(changed: dict[str, Any]) -> None:
    if not changed["count"]:
        out.print("No item is answered differently from plain averaging.")
        return
    what, are = ("1 item", "is") if changed["count"] == 1 else (f"{changed['count']:,} items", "are")
    title = f"{what} ({changed['share']:.1%}) {are} answered differently from plain averaging"
    if changed["ties"]:
        title += f", {changed['ties']:,} of them ties"
    rows = []
    for row in changed["surest"]:
        answers = (f"{row[name]['class']} {row[name]['probability']:.2f}" for name in ("average", "consensus"))
        by, odds = row["tipped by"]["member"], math.exp(min(row["tipped by"]["log-odds"], 20))
        tipped = f"{'the class shares' if by is None else by} (odds × {odds:,.1f})"
        rows.append([escape(text) for text in (str(row["item"]), *answers, tipped)])
    _print_grid(map(Column, ("item", "average", "consensus", "tipped by")), rows, title)
