"""Known truths: what the user knows of some items, as positions of classes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.axes import COUNT, Axis, short, some
from consilience.data.names import UNKNOWN, is_missing, text_of
from consilience.data.reading import are_probabilities
from consilience.data.tables.frames import is_frame
from consilience.data.tables.truth import LabelFrame, on_axes, read_label_frame
from consilience.system.arrays import FloatArray, IntArray, check_is_dense, is_array, plain_numpy, to_numpy
from consilience.system.errors import Either, InvalidPredictions

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.data.axes import Axes


class NamedLabels(NamedTuple):
    """Labels beside the names of their items, as a table has them."""

    items: Sequence[Any]
    labels: Sequence[Any]


def known_labels(labels: Any, axes: Axes) -> IntArray | None:
    """Known truths as positions of classes, -1 where unknown; None where nothing is known.

    `labels` has one entry per item, or names items (a mapping, a pandas Series, a frame with a column `label`). Labels
    are names of classes; only classes without names are told by their positions. -1, None, NaN and words such as NA are
    unknown, unless a class is called so.
    """
    if labels is None:
        return None
    entries = _entries(labels, axes.items)
    if entries.items is None and (quickly := _positions(labels, axes)) is not None:
        return quickly if (quickly >= 0).any() else None
    places = range(axes.items.size) if entries.items is None else [axes.items.position_of(i) for i in entries.items]
    known = np.full(axes.items.size, -1, dtype=np.intp)
    positions: dict[Any, int] = {}  # of labels seen before
    for place, label in zip(places, entries.labels, strict=True):
        key = (type(label), label) if isinstance(label, Hashable) else None
        position = positions.get(key, -2)
        if position == -2:
            position = positions[key] = _position(label, place, axes)
        if position != -1 and known[place] not in (-1, position):
            one, two = (axes.classes.name(k) for k in (int(known[place]), position))
            raise InvalidPredictions(
                f"labels must give an item one label; {axes.items.describe(place)} has {short(one)} and {short(two)}"
            )
        known[place] = max(known[place], position)
    return known if (known >= 0).any() else None


def _positions(labels: Any, axes: Axes) -> IntArray | None:
    """A plain array of positions as it is, without a look at each; None where it is no such array."""
    if axes.classes.is_named or type(labels) is not np.ndarray or labels.dtype.kind not in "iu":
        return None
    is_good = (labels >= -1) & (labels < axes.classes.size)
    return labels.astype(np.intp) if is_good.all() else None


class _Entries(NamedTuple):
    items: Sequence[Any] | None  # None where the labels are in the order of the items
    labels: Sequence[Any]


def _entries(labels: Any, items: Axis) -> _Entries:
    """The labels, and the items they name; raises where it is open which item a label belongs to."""
    if is_array(labels) and not isinstance(labels, np.ma.MaskedArray):
        check_is_dense(labels, "labels")
        labels = to_numpy(labels)
    # Without an order, a set cannot say which label is whose.
    is_list = hasattr(labels, "__len__") and not isinstance(labels, str | bytes | AbstractSet)
    if is_frame(labels):
        return _of_frame(read_label_frame(labels, items), items)
    if not is_list or getattr(labels, "ndim", 1) == 0:
        raise InvalidPredictions(
            f"labels must have one entry for each of the {items.size} items; got a {type(labels).__name__}"
        )
    if getattr(labels, "ndim", 1) > 1:
        raise InvalidPredictions(
            f"labels must be a flat list with one entry for each of the {items.size} items; got shape {labels.shape}"
        )
    if isinstance(labels, NamedLabels):
        return _Entries(*labels)
    if isinstance(labels, Mapping):
        return _Entries(list(labels), list(labels.values()))
    values = _listed(labels)
    if hasattr(labels, "to_dict") and hasattr(labels, "index"):  # a Series
        index = list(labels.index)
        _check_index(index, items)
        return _Entries(index, values)
    return _in_order(values, items)


def _of_frame(found: LabelFrame, items: Axis) -> _Entries:
    if found.labels is None:
        raise InvalidPredictions(
            f"labels must be certain here; got probabilities of {some(found.classes)}: give the column label alone"
        )
    if found.items is None:
        return _in_order(found.labels, items)
    if found.has_index:
        _check_index_of_frame(found, items)
    return _Entries(found.items, found.labels)


def _in_order(values: list[Any], items: Axis) -> _Entries:
    check_order_is_known(items)
    if len(values) != items.size:
        raise InvalidPredictions(f"labels must have one entry for each of the {items.size} items; got {len(values)}")
    return _Entries(None, values)


def check_order_is_known(items: Axis) -> None:
    """Raise where items come in an order that nobody chose, so that a list without names may be in another."""
    if items.by_name and not items.is_counted:
        raise InvalidPredictions(
            "labels must name their items, as ",
            Either("a mapping, a Series or ", ""),
            f"a table with a column of items: these items, {some(items.names)}, are matched by name",
        )


def _check_index(index: Sequence[Any], items: Axis) -> None:
    """Raise where the index of a Series has another order than items without names, which may mean either order."""
    if not items.is_named and len(index) == items.size and not _counts(index):
        raise InvalidPredictions(
            f"labels must have an index that the items have; items are 0 to {items.size - 1} without names, and the "
            f"index is {some(index)}: name the items",
            Either("", " with --items"),
            ", or give an array of labels in the order of the items",
        )


def _check_index_of_frame(found: LabelFrame, items: Axis) -> None:
    """Raise also where the index only counts the rows, although items may be called by the same numbers."""
    index = found.items or []
    _check_index(index, items)
    if items.by_name and not items.is_counted and not found.is_index_named and _counts(index):
        raise InvalidPredictions(
            f"labels must name their items, {some(items.names)}; the index of the frame only counts its rows, and none "
            f"of its columns {some(found.columns)} has a usual name for items: call one item, or make it the index"
        )


def _counts(index: Sequence[Any]) -> bool:
    return Axis("item", len(index)).is_same_as(index)


def _listed(labels: Any) -> list[Any]:
    """The values of an array or a list. A masked array lists what is masked as None, which is unknown."""
    check_is_dense(labels, "labels")
    for method in ("tolist", "to_pylist", "to_list"):
        if hasattr(labels, method):
            return list(getattr(labels, method)())
    return list(labels)


def known_rows(labels: Any, axes: Axes) -> FloatArray | None:
    """Soft labels: (items, classes), rows of NaN where unknown, the others probabilities; None where nothing is known.

    A frame has a column for each class; a class without one has no probability.
    """
    if is_frame(labels):
        return _checked_rows(_rows_of_frame(labels, axes), axes)
    given, shape = plain_numpy(labels, "labels"), (axes.items.size, axes.classes.size)
    if given.dtype.kind not in "fiub":
        raise InvalidPredictions(f"soft labels must be numbers (items, classes); got {given.dtype} values")
    rows = np.array(given, dtype=np.float64)
    check_order_is_known(axes.items)
    if rows.shape != shape:
        raise InvalidPredictions(f"soft labels must be (items, classes) = {shape}; got {rows.shape}")
    return _checked_rows(rows, axes)


def _rows_of_frame(frame: Any, axes: Axes) -> FloatArray:
    found = read_label_frame(frame, axes.items)
    if found.items is None:
        check_order_is_known(axes.items)
    elif found.has_index:
        _check_index_of_frame(found, axes.items)
    return on_axes(found, axes.items, axes.classes)


def _checked_rows(rows: FloatArray, axes: Axes) -> FloatArray | None:
    is_unknown = np.isnan(rows).all(axis=1)
    is_wrong = ~is_unknown & ~are_probabilities(rows, is_half=True)
    if is_wrong.any():
        place = int(np.argmax(is_wrong))
        raise InvalidPredictions(
            "soft labels must be probabilities that sum to 1, or NaN throughout where unknown; "
            f"{axes.items.describe(place)} has {rows[place].tolist()}"
        )
    return None if is_unknown.all() else np.asarray(rows / rows.sum(axis=1, keepdims=True))


def known_truths(labels: Any, axes: Axes) -> IntArray | FloatArray | None:
    """Labels of either kind. Those in two dimensions are soft, except for a frame with a column of labels."""
    is_soft = is_array(labels) and len(labels.shape) == 2
    if is_frame(labels):
        is_soft = read_label_frame(labels, axes.items).labels is None
    return known_rows(labels, axes) if is_soft else known_labels(labels, axes)


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


def _position(label: Any, place: int, axes: Axes) -> int:
    classes = axes.classes
    position = None if is_missing(label) else classes.find(label)
    if position is not None:
        return position
    if is_missing(label) or text_of(label) in ("", "-1", *UNKNOWN):
        return -1
    is_position = classes.is_named and COUNT.fullmatch(text_of(label)) and int(text_of(label)) < classes.size
    hint = ": the classes have names, so give names instead of positions" if is_position else ""
    raise InvalidPredictions(
        f"labels must be among the classes {some(classes.names)}, or -1 where unknown; "
        f"{axes.items.describe(place)} has {short(label)}{hint}"
    )
