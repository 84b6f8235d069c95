"""What to say where a table can be read in several ways, or in none: all candidates, with some of their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consilience.system.errors import InvalidPredictions, Say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consilience.data.tables.columns import Columns

N_SAMPLES, LONGEST, MOST_LISTED = 2, 16, 6
"""How many values of a column are shown, how many characters of each, and how many columns are listed."""


def samples(columns: Columns, name: str) -> str:
    """Two values of a column, to recognise it by."""
    parts = [part.strip() for part in name.split("+")] if name not in columns else [name]
    values = [
        "/".join(str(columns[part].given[place % len(columns[part].given)]) for part in parts if columns[part].given)
        for place in range(N_SAMPLES)
    ]
    values = list(dict.fromkeys(values))
    return ", ".join(value if len(value) <= LONGEST else f"{value[: LONGEST - 1]}…" for value in values)


def options(columns: Columns, argument: str, names: Sequence[str]) -> list[Any]:
    """The parts of a message that list columns, each as what to say: none comes before the others."""
    parts: list[Any] = []
    for place, name in enumerate(names[:MOST_LISTED]):
        parts += [" or " if place else "", Say(argument, name), f" ({samples(columns, name)})"]
    return [*parts, " or another" if len(names) > MOST_LISTED else ""]


def unclear(columns: Columns, argument: str, names: Sequence[str], *, joined: bool = False) -> InvalidPredictions:
    """Several columns may have a role."""
    together: list[str | Say] = [", or ", Say(argument, "+".join(names)), " for all together"] if joined else []
    return InvalidPredictions(
        f"one column must hold the {argument}; {' and '.join(map(repr, names[:MOST_LISTED]))} may: say ",
        *options(columns, argument, names),
        *together,
    )
