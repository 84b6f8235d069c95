"""Known truths: what the user knows of some items, as positions of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from consilience.data.axes import Axes, Axis, index_of, short, some
from consilience.data.names import is_unknown
from consilience.data.tables.columns import Column, Columns
from consilience.data.tables.frames import columns_of, index_names, is_frame
from consilience.data.tables.numbers import numbers_in, numbers_of
from consilience.data.tables.roles import columns_naming, label_of_truths, unusual, usual_items
from consilience.data.tables.told import names_of
from consilience.data.validation import are_probabilities, places_among
from consilience.system.arrays import FloatArray, IntArray, check_is_dense, is_array, plain_numpy, to_numpy
from consilience.system.errors import Either, InvalidPredictions


class NamedLabels(NamedTuple):
    """Labels beside the names of their items, as a table has them: one of each, or rows of probabilities of classes."""

    items: Sequence[Any] | None  # None where they are in the order of the items
    labels: Any
    classes: list[Any] | None = None  # of the rows; None where labels are certain


# ---- labels that are certain --------------------------------------------------------------------------------


def known_labels(labels: Any, axes: Axes) -> IntArray | None:
    """Known truths as positions of classes, -1 where unknown; None where nothing is known.

    `labels` has one entry per item, or names items (a mapping, a pandas Series, a frame with a column `label`). Labels
    are names of classes; only classes without names are told by their positions. -1, None, NaN and words such as NA are
    unknown, unless a class is called so.
    """
    if labels is None:
        return None
    named = _named(labels, axes.items)
    if named.classes is not None:
        raise InvalidPredictions(
            f"labels must be certain here; got probabilities of {some(named.classes)}: give the column label alone"
        )
    places = _places(named, axes.items, "labels must have one entry")

    def refusal(label: Any, row: int) -> str:
        is_position = axes.classes.is_named and Axis("class", axes.classes.size).find(label) is not None
        hint = ": the classes have names, so give names instead of positions" if is_position else ""
        return (
            f"labels must be among the classes {some(axes.classes.names)}, or -1 where unknown; "
            f"{axes.items.describe(int(places[row]))} has {short(label)}{hint}"
        )

    found = places_among(axes.classes, named.labels, is_unknown, refusal)
    known = np.full(axes.items.size, -1, dtype=np.intp)
    is_given = found >= 0
    known[places[is_given][::-1]] = found[is_given][::-1]  # the first label of an item is kept
    is_other = is_given & (known[places] != found)
    if is_other.any():
        entry = int(np.argmax(is_other))
        place = int(places[entry])
        one, two = (short(axes.classes.name(int(k))) for k in (known[place], found[entry]))
        raise InvalidPredictions(
            f"labels must give an item one label; {axes.items.describe(place)} has {one} and {two}"
        )
    return known if is_given.any() else None


def _places(named: NamedLabels, items: Axis, expected: str) -> IntArray:
    """The place of each label's item; where items are not named, there must be what is expected for each of them."""
    if named.items is not None:
        return np.array([items.position_of(name) for name in named.items], dtype=np.intp)
    if len(named.labels) != items.size:
        raise InvalidPredictions(f"{expected} for each of the {items.size} items; got {len(named.labels)}")
    return np.arange(items.size)


# ---- which item a label belongs to --------------------------------------------------------------------------


def _named(labels: Any, items: Axis) -> NamedLabels:
    """The labels, and the items they name; raises where it is open which item a label belongs to."""
    if isinstance(labels, NamedLabels):
        return labels
    if isinstance(labels, Mapping):
        return NamedLabels(list(labels), list(labels.values()))
    if is_frame(labels):
        return read_label_frame(labels, items)
    values, index = _listed(labels, items.size), index_of(labels)
    _check_order(index, items)
    return NamedLabels(index, values)


def _listed(labels: Any, n_items: int) -> Any:
    """A flat array or list. A masked array lists what is masked as None, which is unknown."""
    check_is_dense(labels, "labels")
    if is_array(labels) and not isinstance(labels, np.ma.MaskedArray):
        labels = to_numpy(labels)
    # Without an order, a set cannot say which label is whose.
    is_list = hasattr(labels, "__len__") and not isinstance(labels, str | bytes | AbstractSet)
    n_axes = getattr(labels, "ndim", 1) if is_list else 0
    if n_axes != 1:
        got = f"shape {labels.shape}" if n_axes else f"a {type(labels).__name__}"
        raise InvalidPredictions(
            f"labels must be a flat list with one entry for each of the {n_items} items; got {got}"
        )
    if type(labels) is np.ndarray and labels.dtype.kind in "iu":
        return labels
    method = next((name for name in ("tolist", "to_pylist", "to_list") if hasattr(labels, name)), None)
    return list(labels if method is None else getattr(labels, method)())


def _check_order(index: Sequence[Any] | None, items: Axis) -> None:
    """Raise where labels may be in another order than the items.

    So they are without an index where nobody chose the order of the items; and with an index that items without names
    do not have, which may mean either order.
    """
    if index is None and items.by_name and not items.is_counted:
        raise InvalidPredictions(
            f"labels must name their items, as {Either('a mapping, a Series or ', '')}a table with a column of items: "
            f"these items, {some(items.names)}, are matched by name"
        )
    if index is not None and not items.is_named and len(index) == items.size and not items.is_same_as(index):
        raise InvalidPredictions(
            f"labels must have an index that the items have; items are 0 to {items.size - 1} without names, and the "
            f"index is {some(index)}: name the items{Either('', ' with --items')}, or give an array of labels in the "
            "order of the items"
        )


# ---- frames of labels ---------------------------------------------------------------------------------------


def read_label_frame(frame: Any, known: Axis) -> NamedLabels:
    """Read a frame with a column of labels, such as `label` or `gold`, or with one of probabilities for each class.

    Items are in a column of a usual name, such as `item` or `question_id`, or they are the index of a pandas frame, or
    in the only column that holds names of the `known` items. Raises where it is open which item a row belongs to.
    """
    columns, index = columns_of(frame), getattr(frame, "index", None)
    columns = columns if index is None else columns.kept(frame.columns)  # the index is one of them
    item = None if _sum_to_one(columns.all) else _item(frame, columns, known)
    others = [own for own in columns.all if own is not item]
    if not others:
        raise InvalidPredictions(
            "a frame of labels must have a column 'label', or a column of probabilities for each class; "
            f"it has {some(list(columns))}"
        )
    items = _indexed(index, known) if item is None else item.rows()
    label = others[0] if len(others) == 1 else None if _sum_to_one(others) else label_of_truths(columns.texts, item)
    if label is None:  # the columns are classes, which may be called `true` and `false`
        return NamedLabels(items, numbers_of(others).values, names_of(others))
    return NamedLabels(items, label.rows())


def _indexed(index: Any, known: Axis) -> list[Any] | None:
    """The items in the index of a frame; None if it has none. One that only counts the rows names no items."""
    items = None if index is None else list(index)
    only_counts = items is not None and index.name is None and Axis("item", len(items)).is_same_as(items)
    _check_order(None if only_counts else items, known)
    return items


def _item(frame: Any, columns: Columns, known: Axis) -> Column | None:
    """The column of items; None if the index names them."""
    usual = next((columns[name] for name in ("item", "task") if name in columns), None)
    if usual is not None or getattr(getattr(frame, "index", None), "name", None) is not None:
        return usual
    index, found = index_names(frame), usual_items(columns.texts, are_truths=True)
    if found and (index is None or found[0].is_exact("item")):
        return found[0]
    if index is None:
        return _naming(known, columns.texts)
    for own in columns_naming(known, columns.texts) if known.has_all(index) else ():
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
    naming = columns_naming(known, columns)
    others = naming or unusual(columns)
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


# ---- labels of either kind ----------------------------------------------------------------------------------


def known_truths(labels: Any, axes: Axes) -> IntArray | FloatArray | None:
    """Labels of either kind. Those in two dimensions are soft, except for a frame with a column of labels."""
    if is_frame(labels):
        labels = read_label_frame(labels, axes.items)
        is_soft = labels.classes is not None
    else:
        is_soft = is_array(labels) and len(labels.shape) == 2
    return known_rows(labels, axes) if is_soft else known_labels(labels, axes)


def known_rows(labels: Any, axes: Axes) -> FloatArray | None:
    """Soft labels: (items, classes), rows of NaN where unknown, the others probabilities; None where nothing is known.

    A frame has a column for each class; a class without one has no probability.
    """
    if isinstance(labels, NamedLabels):
        rows = _rows_by_name(labels, axes)
    else:
        rows, shape = plain_numpy(labels, "labels"), (axes.items.size, axes.classes.size)
        if rows.dtype.kind not in "fiub" or rows.shape != shape:
            got = f"{rows.dtype} values in the shape {rows.shape}"
            raise InvalidPredictions(f"soft labels must be numbers (items, classes) = {shape}; got {got}")
        _check_order(None, axes.items)
        rows = rows.astype(np.float64)
    is_nothing = np.isnan(rows).all(axis=1)
    is_wrong = ~is_nothing & ~are_probabilities(rows, is_half=True)
    if is_wrong.any():
        place = int(np.argmax(is_wrong))
        raise InvalidPredictions(
            "soft labels must be probabilities that sum to 1, or NaN throughout where unknown; "
            f"{axes.items.describe(place)} has {rows[place].tolist()}"
        )
    return None if is_nothing.all() else np.asarray(rows / rows.sum(axis=1, keepdims=True))


def _rows_by_name(found: NamedLabels, axes: Axes) -> FloatArray:
    """The probabilities (items, classes): NaN for items that are not there, 0 for classes that are not."""
    _, items, classes = axes
    places = _places(found, items, "soft labels must have one row")
    n_rows = np.bincount(places, minlength=1)
    if n_rows.max() > 1:
        twice = int(np.argmax(n_rows))
        raise InvalidPredictions(f"soft labels must give an item one row; {items.describe(twice)} has several")
    rows = np.full((items.size, classes.size), np.nan)
    rows[places] = np.where(np.isnan(found.labels).all(axis=1, keepdims=True), np.nan, 0.0)
    columns = np.array([classes.position_of(name) for name in found.classes or ()], dtype=np.intp)
    rows[np.ix_(places, columns)] = found.labels
    return rows


def on_classes(known: Any, axes: Axes, classes: Sequence[Any]) -> Any:
    """What is known of items on these axes, for classes that may stand in another order."""
    if known is None or not axes.classes.is_named:
        return known
    positions = axes.classes.positions_on(Axis("class", len(classes), classes))
    if positions is None:
        return known
    if known.ndim == 1:
        return np.where(known >= 0, positions[known], -1)
    rows = np.where(np.isnan(known[:, :1]), np.nan, np.zeros((len(known), len(classes))))
    rows[:, positions] = known
    return rows


def which_known(known: IntArray | FloatArray) -> npt.NDArray[np.bool_]:
    """The items (items,) of which something is known, given labels of either kind."""
    return np.asarray(known >= 0 if known.ndim == 1 else ~np.isnan(known[:, 0]))


def named(positions: IntArray, classes: Sequence[Any]) -> list[Any]:
    """Positions of classes as their names; None where the label is not known (-1).

    >>> named(np.array([1, -1]), ["bad", "good"])
    ['good', None]
    """
    return [None if place < 0 else classes[place] for place in positions]
