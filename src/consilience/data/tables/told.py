"""What the user says of how tables are laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from consilience.data.axes import short
from consilience.system.errors import InvalidPredictions, Say

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from consilience.data.tables.columns import Column


class Told(NamedTuple):
    """What the user says; whatever is None is found out.

    `item`, `member` and `label` name columns of tables. `item` may join several, as in `question+model`; `member` may
    list the columns of a wide table that are members, as in `ann,bob`. `classes` picks the columns of classes in
    tables, and names the classes of arrays. `items` names the items of files without names. `normalize` says that rows
    of numbers are to be divided by their sum. `positive` names the class whose probability alone is given.
    `strict` says that no column which may hold answers is left out unsaid: Python does not print what was not read.
    `sources` are the files that names were read from. `format` names the tool that wrote the files, and `question` the
    one of its questions that is read. `ordered` says that the classes are ratings.
    """

    item: str | None = None
    member: str | None = None
    label: str | None = None
    classes: tuple[str, ...] | None = None
    items: tuple[str, ...] | None = None
    normalize: bool = False
    sources: tuple[str, ...] = ()
    positive: str | None = None
    strict: bool = False
    format: str | None = None
    question: str | None = None
    ordered: bool = False

    @property
    def are_named(self) -> bool:
        """Whether the user named a column of items, members or labels."""
        return (self.item, self.member, self.label) != (None, None, None)


N_SAMPLES, LONGEST, LONGEST_NAME, MOST_LISTED = 2, 16, 120, 6
"""How many values of a column are shown, how many characters of each and of a name, and how many columns are listed."""


def names_of(columns: Iterable[Column]) -> list[Any]:
    """The names of columns."""
    return [column.name for column in columns]


def say_members(columns: Iterable[Column]) -> Say:
    """These columns as the members of a wide table."""
    return Say("member", ",".join(map(str, names_of(columns))))


def options(argument: str, *columns: Column | list[Column], before: str = "") -> str:
    """Columns, or columns to be joined, as what to say, with two values of each: none goes before another."""
    together = [own if isinstance(own, list) else [own] for own in columns[:MOST_LISTED]]
    said = [
        f"{Say(argument, _cut('+'.join(map(str, names_of(own))), LONGEST_NAME))} ({_samples(own)})" for own in together
    ]
    return f"{before if said else ''}{' or '.join(said)}{' or another' if len(columns) > MOST_LISTED else ''}"


def _samples(columns: Sequence[Column]) -> str:
    given = [column.given for column in columns if column.given]
    values = dict.fromkeys("/".join(str(own[place % len(own)]) for own in given) for place in range(N_SAMPLES))
    return ", ".join(_cut(value, LONGEST) for value in values)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def unclear(argument: str, *columns: Column) -> InvalidPredictions:
    """Several columns may have a role."""
    together = f", or {Say(argument, '+'.join(names_of(columns)))} for all together" if argument == "item" else ""
    return InvalidPredictions(
        f"one column must hold the {argument}; {' and '.join(map(short, names_of(columns[:MOST_LISTED])))} may: say "
        f"{options(argument, *columns)}{together}"
    )
