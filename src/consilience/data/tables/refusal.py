"""What to say where a table can be read in several ways, or in none: all candidates, with some of their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consilience.system.errors import InvalidPredictions, Say

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from consilience.data.tables.columns import Column

N_SAMPLES, LONGEST, MOST_LISTED = 2, 16, 6
"""How many values of a column are shown, how many characters of each, and how many columns are listed."""


def names_of(columns: Iterable[Column]) -> list[Any]:
    """The names of columns."""
    return [column.name for column in columns]


def say_members(columns: Iterable[Column]) -> Say:
    """These columns as the members of a wide table."""
    return Say("member", ",".join(map(str, names_of(columns))))


def options(argument: str, *columns: Column | list[Column], before: str = "") -> str:
    """Columns, or columns to be joined, as what to say, with two values of each: none goes before another."""
    together = [own if isinstance(own, list) else [own] for own in columns[:MOST_LISTED]]
    said = [f"{Say(argument, '+'.join(map(str, names_of(own))))} ({_samples(own)})" for own in together]
    return f"{before if said else ''}{' or '.join(said)}{' or another' if len(columns) > MOST_LISTED else ''}"


def _samples(columns: Sequence[Column]) -> str:
    given = [column.given for column in columns if column.given]
    values = dict.fromkeys("/".join(str(own[place % len(own)]) for own in given) for place in range(N_SAMPLES))
    return ", ".join(value if len(value) <= LONGEST else f"{value[: LONGEST - 1]}…" for value in values)


def unclear(argument: str, *columns: Column) -> InvalidPredictions:
    """Several columns may have a role."""
    together = f", or {Say(argument, '+'.join(names_of(columns)))} for all together" if argument == "item" else ""
    return InvalidPredictions(
        f"one column must hold the {argument}; {' and '.join(map(repr, names_of(columns[:MOST_LISTED])))} may: say "
        f"{options(argument, *columns)}{together}"
    )
