"""Known truths: what the user knows of some items, as positions of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.axes import Axis, index_of, short, some
from consilience.data.names import is_unknown
from consilience.data.reading import are_probabilities, places_among
from consilience.data.tables.frames import is_frame
from consilience.data.tables.truth import LabelFrame, on_axes, read_label_frame
from consilience.system.arrays import FloatArray, IntArray, check_is_dense, is_array, plain_numpy, to_numpy
from consilience.system.errors import Either, InvalidPredictions

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.data.axes import Axes


class NamedLabels(NamedTuple):
    """Labels beside the names of their items, as a table has them; None where they are in the order of the items."""

    items: Sequence[Any] | None
    labels: Any


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
    places = np.arange(axes.items.size)
    if named.items is not None:
        places = np.array([axes.items.position_of(name) for name in named.items], dtype=np.intp)
    elif len(named.labels) != len(places):
        raise InvalidPredictions(
            f"labels must have one entry for each of the {len(places)} items; got {len(named.labels)}"
        )

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


# ---- which item a label belongs to --------------------------------------------------------------------------


def _named(labels: Any, items: Axis) -> NamedLabels:
    """The labels, and the items they name; raises where it is open which item a label belongs to."""
    if isinstance(labels, NamedLabels):
        return labels
    if isinstance(labels, Mapping):
        return NamedLabels(list(labels), list(labels.values()))
    if is_frame(labels):
        found = _read_frame(labels, items)
        if found.labels is None:
            raise InvalidPredictions(
                f"labels must be certain here; got probabilities of {some(found.classes)}: give the column label alone"
            )
        return NamedLabels(found.items, found.labels)
    values, index = _listed(labels, items.size), index_of(labels)
    if index is None:
        check_order_is_known(items)
    else:
        _check_index(index, items)
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


def _read_frame(labels: Any, items: Axis) -> LabelFrame:
    """A frame of labels, certain or not; raises where it is open which item a row belongs to."""
    found = read_label_frame(labels, items)
    if found.items is None:
        check_order_is_known(items)
    elif found.has_index:
        _check_index(found.items, items)
        if items.by_name and not items.is_counted and not found.is_index_named and _counts(found.items):
            raise InvalidPredictions(
                f"labels must name their items, {some(items.names)}; the index of the frame only counts its rows, and "
                f"none of its columns {some(found.columns)} has a usual name for items: call one item, or make it the "
                "index"
            )
    return found


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


def _counts(index: Sequence[Any]) -> bool:
    return Axis("item", len(index)).is_same_as(index)


# ---- labels of either kind ----------------------------------------------------------------------------------


def known_truths(labels: Any, axes: Axes) -> IntArray | FloatArray | None:
    """Labels of either kind. Those in two dimensions are soft, except for a frame with a column of labels."""
    is_soft = is_array(labels) and len(labels.shape) == 2
    if is_frame(labels):
        is_soft = read_label_frame(labels, axes.items).labels is None
    return known_rows(labels, axes) if is_soft else known_labels(labels, axes)


def known_rows(labels: Any, axes: Axes) -> FloatArray | None:
    """Soft labels: (items, classes), rows of NaN where unknown, the others probabilities; None where nothing is known.

    A frame has a column for each class; a class without one has no probability.
    """
    rows = (
        on_axes(_read_frame(labels, axes.items), axes.items, axes.classes) if is_frame(labels) else _rows(labels, axes)
    )
    is_nothing = np.isnan(rows).all(axis=1)
    is_wrong = ~is_nothing & ~are_probabilities(rows, is_half=True)
    if is_wrong.any():
        place = int(np.argmax(is_wrong))
        raise InvalidPredictions(
            "soft labels must be probabilities that sum to 1, or NaN throughout where unknown; "
            f"{axes.items.describe(place)} has {rows[place].tolist()}"
        )
    return None if is_nothing.all() else np.asarray(rows / rows.sum(axis=1, keepdims=True))


def _rows(labels: Any, axes: Axes) -> FloatArray:
    rows, shape = plain_numpy(labels, "labels"), (axes.items.size, axes.classes.size)
    if rows.dtype.kind not in "fiub":
        raise InvalidPredictions(f"soft labels must be numbers (items, classes); got {rows.dtype} values")
    check_order_is_known(axes.items)
    if rows.shape != shape:
        raise InvalidPredictions(f"soft labels must be (items, classes) = {shape}; got {rows.shape}")
    return np.array(rows, dtype=np.float64)


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
