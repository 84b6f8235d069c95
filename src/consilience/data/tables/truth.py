"""Tables of labels: which columns hold the items and the labels, in files and in data frames alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.axes import some
from consilience.data.names import is_whole
from consilience.data.reading import are_probabilities
from consilience.data.tables.class_columns import numbers_of
from consilience.data.tables.frames import columns_of, index_names
from consilience.data.tables.numbers import numbers_in
from consilience.data.tables.refusal import options
from consilience.data.tables.roles import check_one_id
from consilience.data.tables.vocabulary import LABEL, TRUTH, UNNAMED, called, column_named, is_exact, role_of
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consilience.data.axes import Axis
    from consilience.data.tables.columns import Columns
    from consilience.data.tables.told import Told
    from consilience.system.arrays import FloatArray


# ---- roles ----------------------------------------------------------------------------------------------------


def columns_of_labels(columns: Columns, told: Told) -> tuple[str | None, str]:
    """The column of items, if there is one, and that of labels."""
    item = item_of_labels(columns, told.item)
    label = label_of_labels(columns, item, told.label)
    if label is None:
        raise InvalidPredictions(f"it must have a column of labels, one of {some(TRUTH)}; it has {some(list(columns))}")
    others = [name for name in columns if name != label and name not in UNNAMED]
    if item is None and (ids := [name for name in others if columns[name].are_ids]):
        raise may_name_items(columns, ids)
    if list(columns) == [label] and label in columns[label].names:
        raise InvalidPredictions(
            f"a table of labels must have a header; its first line, {label!r}, is a label itself: "
            "put a line such as label before it"
        )
    return item, label


def may_name_items(columns: Columns, ids: list[Any]) -> InvalidPredictions:
    """A table would be matched by the places of its rows although columns may name its items."""
    return InvalidPredictions(
        f"a column must name the items, or none; {', '.join(map(repr, ids[:6]))}, with another value in each row, may: "
        "say ",
        *options(columns, "item", ids),
        " if it does, or leave it out if rows are in the same order everywhere",
    )


def item_of_labels(columns: Columns, told: str | None = None) -> str | None:
    """The column of items: the one that was told, else one with a usual name, else an index.

    An index that only counts the rows comes last. Without a column of another name it would match labels to items by
    the number of the row, so any column of names goes before it.
    """
    if told is not None:
        return column_named(list(columns), told)
    usual = usual_item(columns)
    counting = [name for name in columns if columns[name].is_count]
    if usual is not None or not counting:
        return usual
    others = _unusual(columns)
    if len(others) > 1:
        raise InvalidPredictions(
            f"one column must name the items; {some(others)} may: say ", *options(columns, "item", others)
        )
    return (others or counting)[0]


def usual_item(columns: Columns) -> str | None:
    """The column with a usual name for items, else an index of names; None if there is neither."""
    named = [name for name in called(columns.flat, "item") if not columns[name].is_count]
    check_one_id(columns, named)
    index = [name for name in columns.flat if name in UNNAMED and not columns[name].is_count]
    return next(iter((*named, *index)), None)


def item_naming(items: Axis, columns: Columns) -> str | None:
    """The one column, whatever its name, that holds names of these items, else an index that counts the rows.

    Raises if several do, and if a column has a name for each row, but not those of the items: the rows are then about
    others, or in an unknown order.
    """
    naming = columns_naming(items, columns)
    if len(naming) == 1:
        return naming[0]
    if others := naming or _unusual(columns):
        raise InvalidPredictions(
            f"labels must name their items, {some(items.names)}, in one column; {some(others)} may be meant: call that "
            "column item, or leave it out if the rows are in the order of the items"
        )
    return next((name for name in columns if columns[name].is_count), None)


def columns_naming(items: Axis, columns: Columns) -> list[str]:
    """The columns beside that of labels with the name of an item in each row.

    Numbers must also tell the rows apart: a grade from 1 to 5 names none of 30 items.
    """
    label = label_of_labels(columns, item=None)
    others = [name for name in columns.flat if name != label and not columns[name].is_count]
    return [
        name
        for name in others
        if (columns[name].coded.codes >= 0).all() and items.has_all(columns[name].coded.values)
        if columns[name].are_names or not all(map(is_whole, columns[name].coded.values))
    ]


def _unusual(columns: Columns) -> list[str]:
    """The columns that have a name for each row, although they are not called so."""
    label = label_of_labels(columns, item=None)
    others = [name for name in columns.flat if name != label and not columns[name].is_count]
    return [name for name in others if role_of(str(name)) is None and columns[name].are_names]


def label_of_labels(columns: Columns, item: str | None, told: str | None = None) -> str | None:
    """The column of labels: the one that was told, the only one beside the items, or one with a usual name.

    A name that says that labels are true (`gold`) comes before others.
    """
    others = [name for name in columns if name != item and name not in UNNAMED]
    if told is not None:
        return column_named(list(columns), told)
    if len(others) == 1:
        return str(others[0])
    true, said = ([name for name in others if role_of(str(name)) == role] for role in ("truth", "label"))
    usual_true = column_named(others, None, [name for name in TRUTH if name not in LABEL])
    found = (usual_true, *true, column_named(others, None, LABEL), *said)
    return next((name for name in found if name is not None), None)


# ---- frames -------------------------------------------------------------------------------------------------


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
    columns = columns_of(frame)
    columns = columns.kept([name for name in columns if not _is_index(frame, name)])
    item = _item(frame, columns, known)
    others = [name for name in columns if name != item]
    has_index = item is None and hasattr(frame, "index")
    items = columns[item].rows() if item is not None else list(frame.index) if has_index else None
    if not others:
        raise InvalidPredictions(
            "a frame of labels must have a column 'label', or a column of probabilities for each class; "
            f"it has {some(list(columns))}"
        )
    label = others[0] if len(others) == 1 else _label(columns, others, item)
    if label is not None:
        return LabelFrame(items, has_index, _is_index_named(frame), list(columns), columns[label].rows(), None, [])
    rows = numbers_of(columns, others).values
    return LabelFrame(items, has_index, _is_index_named(frame), list(columns), None, rows, others)


def _is_index(frame: Any, name: Any) -> bool:
    """Whether a column is the index of a pandas frame."""
    return hasattr(frame, "index") and name not in list(frame.columns)


def _item(frame: Any, columns: Columns, known: Axis) -> Any:
    """The column of items; None if the index names them, or if all columns are classes, whatever their names."""
    if _sum_to_one(columns, list(columns)):
        return None
    usual = next((name for name in ("item", "task") if name in columns), None)
    if usual is not None or _is_index_named(frame):
        return usual
    texts = columns.kept([name for name in columns if isinstance(name, str)])
    item, index = usual_item(texts), index_names(frame)
    if index is None:
        return item_naming(known, texts) if item is None else item
    if item is not None and is_exact(item, "item"):
        return item
    _check_one_naming(index, known, texts)
    return None  # an index of names says more than a column such as `text`


def _check_one_naming(index: list[Any], known: Axis, texts: Columns) -> None:
    """Raise if the index, such as the numbers of rows that were kept, names items, and a column names others."""
    if not known.has_all(index):
        return
    for name in columns_naming(known, texts):
        if [known.find(value) for value in texts[name].rows()] != [known.find(value) for value in index]:
            raise InvalidPredictions(
                f"labels must name their items once; the index, {some(index)}, and the column {name!r} do: call the "
                "column item, or leave it out"
            )


def _label(columns: Columns, names: list[Any], item: Any) -> Any:
    """The column of labels; None if the columns are classes, which may be called `true` and `false`."""
    if _sum_to_one(columns, names):
        return None
    return label_of_labels(columns.kept([name for name in columns if isinstance(name, str)]), item)


def _sum_to_one(columns: Columns, names: Sequence[Any]) -> bool:
    """Whether these columns are numbers, and all rows without a gap are probabilities."""
    numbers = numbers_in([columns[name] for name in names])
    if numbers is None:
        return False
    rows = numbers.values[~np.isnan(numbers.values).any(axis=1)]
    return bool(len(rows)) and bool(are_probabilities(rows, is_half=True).all())


def _is_index_named(frame: Any) -> bool:
    return getattr(getattr(frame, "index", None), "name", None) is not None


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
