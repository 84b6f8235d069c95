"""Labels in a data frame of any library: a label in each row, or the probabilities of the classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.axes import Axis, some
from consilience.data.frames import as_table, numbers_of, sum_to_one
from consilience.data.label_roles import columns_naming, item_naming, label_of_labels, usual_item
from consilience.data.roles import names_items
from consilience.data.wide_frames import index_names
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consilience.system.arrays import FloatArray
    from consilience.system.tables import Table

ITEM, LABEL = ("item", "task"), "label"
"""The columns that hold the items even beside an index with a name, and the column of labels."""


class LabelFrame(NamedTuple):
    """The rows of a frame of labels: either `labels`, or `rows` of probabilities of the `classes`."""

    items: Sequence[Any] | None  # None where rows are in the order of the items
    has_index: bool  # whether the items come from the frame's index
    is_index_named: bool
    columns: list[Any]
    labels: list[Any] | None
    rows: FloatArray | None  # (rows, classes)
    classes: list[Any]


def read_label_frame(frame: Any, known: Axis) -> LabelFrame:
    """Read a frame with a column of labels, such as `label` or `gold`, or with one of probabilities for each class.

    Items are in a column of a usual name, such as `item` or `question_id`, or they are the index of a pandas frame, or
    in the only column that holds names of the `known` items.
    """
    table = as_table(frame)
    item = _item(frame, table, known)
    others = [name for name in table.columns if name != item]
    has_index = item is None and hasattr(frame, "index")
    items = table[item] if item is not None else list(frame.index) if has_index else None
    if not others:
        raise InvalidPredictions(
            f"a frame of labels must have a column {LABEL!r}, or a column of probabilities for each class; "
            f"it has {some(list(table.columns))}"
        )
    label = others[0] if len(others) == 1 else _label(table, others, item)
    if label is not None:
        return LabelFrame(items, has_index, _is_index_named(frame), table.columns, table[label], None, [])
    rows = np.stack([numbers_of(table[name], name) for name in others], axis=1)
    return LabelFrame(items, has_index, _is_index_named(frame), table.columns, None, rows, others)


def _item(frame: Any, table: Table, known: Axis) -> Any:
    """The column of items; None if the index names them, or if all columns are classes, whatever their names."""
    if sum_to_one(table, table.columns):
        return None
    usual = next((name for name in ITEM if name in table.columns), None)
    if usual is not None or _is_index_named(frame):
        return usual
    texts = _texts(table)
    item, index = usual_item(texts), index_names(frame)
    if index is None:
        return item_naming(known, texts) if item is None else item
    if item is not None and names_items(item):
        return item
    _check_one_naming(index, known, texts)
    return None  # an index of names says more than a column such as `text`


def _check_one_naming(index: list[Any], known: Axis, texts: dict[str, list[Any]]) -> None:
    """Raise if the index, such as the numbers of rows that were kept, names items, and a column names others."""
    if not known.has_all(index):
        return
    for name in columns_naming(known, texts):
        if [known.find(value) for value in texts[name]] != [known.find(value) for value in index]:
            raise InvalidPredictions(
                f"labels must name their items once; the index, {some(index)}, and the column {name!r} do: call the "
                "column item, or leave it out"
            )


def _label(table: Table, names: list[Any], item: Any) -> Any:
    """The column of labels; None if the columns are classes, which may be called `true` and `false`."""
    return None if sum_to_one(table, names) else label_of_labels(_texts(table), item)


def _is_index_named(frame: Any) -> bool:
    return getattr(getattr(frame, "index", None), "name", None) is not None


def _texts(table: Table) -> dict[str, list[Any]]:
    """The columns with names of text, which may tell a role."""
    return {name: table[name] for name in table.columns if isinstance(name, str)}


def on_axes(found: LabelFrame, items: Axis, classes: Axis) -> FloatArray:
    """The probabilities (items, classes): NaN for items that the frame does not have, 0 for classes that it lacks."""
    assert found.rows is not None  # noqa: S101 - only frames of probabilities are asked for
    n_rows = len(found.rows)
    if found.items is None and n_rows != items.size:
        raise InvalidPredictions(f"soft labels must have one row for each of the {items.size} items; got {n_rows}")
    places = list(range(n_rows)) if found.items is None else [items.position_of(name) for name in found.items]
    if len(set(places)) < n_rows:
        twice = next(place for row, place in enumerate(places) if place in places[:row])
        raise InvalidPredictions(f"soft labels must give an item one row; {items.describe(twice)} has several")
    columns = [classes.position_of(name) for name in found.classes]
    rows = np.full((items.size, classes.size), np.nan)
    rows[places] = np.where(np.isnan(found.rows).all(axis=1, keepdims=True), np.nan, 0.0)
    rows[np.ix_(places, columns)] = found.rows
    return rows
