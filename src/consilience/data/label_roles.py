"""Decide which columns of a table of labels hold the items and the labels, in files and in data frames alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consilience.data.axes import some
from consilience.data.names import NUMBER, is_missing, is_whole
from consilience.data.roles import LABEL, TRUTH, UNNAMED, called, check_one_id, column_named, counts_rows, role_of
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from consilience.data.axes import Axis

INDEX = "index"
"""What pandas calls an index without a name once it is a column."""


def item_of_labels(table: Mapping[str, Sequence[Any]], told: str | None = None) -> str | None:
    """The column of items: the one that was told, else one with a usual name, else an index.

    An index that only counts the rows comes last. Without a column of another name it would match labels to items by
    the number of the row, so any column of names goes before it.
    """
    if told is not None:
        return column_named(table, told, ())
    usual = usual_item(table)
    counting = [name for name in table if is_count(name, table[name])]
    if usual is not None or not counting:
        return usual
    others = _unusual(table)
    if len(others) > 1:
        raise InvalidPredictions(f"one column must name the items; {some(others)} may: say item={others[0]!r}")
    return (others or counting)[0]


def usual_item(table: Mapping[str, Sequence[Any]]) -> str | None:
    """The column with a usual name for items, else an index of names; None if there is neither."""
    named = [name for name in called(table, "item") if not is_count(name, table[name])]
    check_one_id(table, named)
    index = [name for name in table if name in UNNAMED and not is_count(name, table[name])]
    return next(iter((*named, *index)), None)


def item_naming(items: Axis, table: Mapping[str, Sequence[Any]]) -> str | None:
    """The one column, whatever its name, that holds names of these items, else an index that counts the rows.

    Raises if several do, and if a column has a name for each row, but not those of the items: the rows are then about
    others, or in an unknown order.
    """
    naming = columns_naming(items, table)
    if len(naming) == 1:
        return naming[0]
    if others := naming or _unusual(table):
        raise InvalidPredictions(
            f"labels must name their items, {some(items.names)}, in one column; {some(others)} may be meant: call that "
            "column item, or leave it out if the rows are in the order of the items"
        )
    return next((name for name in table if is_count(name, table[name])), None)


def columns_naming(items: Axis, table: Mapping[str, Sequence[Any]]) -> list[str]:
    """The columns beside that of labels with the name of an item in each row.

    Numbers must also tell the rows apart: a grade from 1 to 5 names none of 30 items.
    """
    label = label_of_labels(table, item=None)
    others = {name: values for name, values in table.items() if name != label and not is_count(name, values)}
    return [
        name
        for name, values in others.items()
        if items.has_all(values) and (are_names(values) or not all(map(is_whole, values)))
    ]


def _unusual(table: Mapping[str, Sequence[Any]]) -> list[str]:
    """The columns that have a name for each row, although they are not called so."""
    label = label_of_labels(table, item=None)
    others = [name for name in table if name != label and not is_count(name, table[name])]
    return [name for name in others if role_of(name) is None and are_names(table[name])]


def label_of_labels(table: Mapping[str, Sequence[Any]], item: str | None, told: str | None = None) -> str | None:
    """The column of labels: the one that was told, the only one beside the items, or one with a usual name.

    A name that says that labels are true (`gold`) comes before others.
    """
    others = [name for name in table if name != item and name not in UNNAMED]
    if told is None and len(others) == 1:
        return others[0]
    if told is not None:
        return column_named(table, told, ())
    true, said = ([name for name in others if role_of(name) == role] for role in ("truth", "label"))
    usual_true = column_named(others, None, [name for name in TRUTH if name not in LABEL])
    found = (usual_true, *true, column_named(others, None, LABEL), *said)
    return next((name for name in found if name is not None), None)


def is_count(name: str, values: Sequence[Any]) -> bool:
    """Whether a column is an index that only counts the rows."""
    return (name in UNNAMED or name.strip().lower() == INDEX) and counts_rows(values)


def are_names(values: Sequence[Any]) -> bool:
    """Whether each row has a name of its own, and the names are no measurements."""
    if any(is_missing(value) or value == "" for value in values) or len(set(values)) < len(values):
        return False
    return not any(NUMBER.fullmatch(str(value)) and float(value) % 1 for value in values)
