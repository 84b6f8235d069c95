"""Tables of true labels: which columns hold the items and the labels, in files and in data frames alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.axes import some
from consilience.data.reading import are_probabilities
from consilience.data.tables import roles as rule
from consilience.data.tables.frames import columns_of, index_names
from consilience.data.tables.numbers import numbers_in, numbers_of
from consilience.data.tables.told import TRUTH, names_of
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consilience.data.axes import Axis
    from consilience.data.tables.columns import Column, Columns
    from consilience.data.tables.told import Told
    from consilience.system.arrays import FloatArray


def columns_of_labels(columns: Columns, told: Told) -> tuple[str | None, str]:
    """The names of the column of items, if there is one, and of that of labels."""
    item = rule.item_of_rows(columns, told, are_truths=True)
    label = rule.label_of_truths(columns, item) if told.label is None else columns.told(told.label)
    if label is None:
        raise InvalidPredictions(f"it must have a column of labels, one of {some(TRUTH)}; it has {some(list(columns))}")
    ids = [own for own in columns.all if own is not label and not own.is_unnamed and own.are_ids]
    if item is None and ids:
        raise rule.may_name_items(ids)
    if len(columns) == 1 and label.name in label.names:
        raise InvalidPredictions(
            f"a table of labels must have a header; its first line, {label.name!r}, is a label itself: "
            "put a line such as label before it"
        )
    return None if item is None else item.name, label.name


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
    columns, index = columns_of(frame), getattr(frame, "index", None)
    columns = columns if index is None else columns.kept(frame.columns)  # the index is one of them
    is_index_named = getattr(index, "name", None) is not None
    item = None if _sum_to_one(columns.all) else _item(frame, columns, known, is_index_named=is_index_named)
    others = [own for own in columns.all if own is not item]
    if not others:
        raise InvalidPredictions(
            "a frame of labels must have a column 'label', or a column of probabilities for each class; "
            f"it has {some(list(columns))}"
        )
    items = item.rows() if item is not None else None if index is None else list(index)
    where = (items, item is None and index is not None, is_index_named, list(columns))
    label = _label(columns, others, item)
    if label is not None:
        return LabelFrame(*where, label.rows(), None, [])
    return LabelFrame(*where, None, numbers_of(others).values, names_of(others))


def _label(columns: Columns, others: list[Column], item: Column | None) -> Column | None:
    """The column of labels; None if the columns are classes, which may be called `true` and `false`."""
    if len(others) == 1:
        return others[0]
    return None if _sum_to_one(others) else rule.label_of_truths(_texts(columns), item)


def _texts(columns: Columns) -> Columns:
    return columns.kept(name for name in columns if isinstance(name, str))


def _item(frame: Any, columns: Columns, known: Axis, *, is_index_named: bool) -> Column | None:
    """The column of items; None if the index names them."""
    usual = next((columns[name] for name in ("item", "task") if name in columns), None)
    if usual is not None or is_index_named:
        return usual
    texts, index = _texts(columns), index_names(frame)
    found = rule.usual_items(texts, are_truths=True)
    if index is None:
        return found[0] if found else _naming(known, texts)
    if found and found[0].is_exact("item"):
        return found[0]
    for own in rule.columns_naming(known, texts) if known.has_all(index) else ():
        # The index, such as the numbers of rows that were kept, may name items, and a column others.
        if list(map(known.find, own.rows())) != list(map(known.find, index)):
            raise InvalidPredictions(
                f"labels must name their items once; the index, {some(index)}, and the column {own.name!r} do: call "
                "the column item, or leave it out"
            )
    return None  # an index of names says more than a column such as `text`


def _naming(known: Axis, columns: Columns) -> Column | None:
    """The one column, whatever its name, that holds names of the known items, else an index that counts the rows.

    Raises if several do, and if a column has a name for each row, but not those of the items: the rows are then about
    others, or in an unknown order.
    """
    naming = rule.columns_naming(known, columns)
    others = naming or rule.unusual(columns)
    if others and len(naming) != 1:
        raise InvalidPredictions(
            f"labels must name their items, {some(known.names)}, in one column; {some(names_of(others))} may be meant: "
            "call that column item, or leave it out if the rows are in the order of the items"
        )
    return next(iter((*naming, *(own for own in columns.all if own.is_count))), None)


def _sum_to_one(columns: Sequence[Column]) -> bool:
    """Whether these columns are numbers, and all rows without a gap are probabilities."""
    numbers = numbers_in(columns)
    rows = np.empty((0, 1)) if numbers is None else numbers.values
    rows = rows[~np.isnan(rows).any(axis=1)]
    return bool(len(rows)) and bool(are_probabilities(rows, is_half=True).all())


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
