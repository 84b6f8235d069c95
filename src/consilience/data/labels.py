"""Known truths: what the user knows of some items, as positions of classes."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.data.axes import is_missing, some
from consilience.data.reading import are_probabilities, sum_tolerance
from consilience.system.arrays import FloatArray, IntArray, check_is_dense, is_array, plain_numpy, to_numpy
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from consilience.data.axes import Axes


def known_labels(labels: Any, axes: Axes) -> IntArray | None:
    """Known truths as positions of classes, -1 where unknown; None where nothing is known.

    `labels` has one entry per item, or maps items to labels (a mapping, a pandas Series). Labels are names of classes,
    or their positions where the names are not numbers; -1, None and NaN are unknown.
    """
    if labels is None:
        return None
    # Without an order, a set cannot say which label is whose.
    is_list = hasattr(labels, "__len__") and not isinstance(labels, str | bytes | AbstractSet)
    if not is_list or hasattr(labels, "columns") or getattr(labels, "ndim", 1) == 0:
        raise InvalidPredictions(
            f"labels must have one entry for each of the {axes.items.size} items; got a {type(labels).__name__}"
        )
    if isinstance(labels, Mapping) or hasattr(labels, "to_dict"):
        values = _by_item(labels if isinstance(labels, Mapping) else labels.to_dict(), axes)
    else:
        check_is_dense(labels, "labels")
        # A masked array lists what is masked as None, which is unknown.
        is_plain = is_array(labels) and not isinstance(labels, np.ma.MaskedArray)
        values = to_numpy(labels).tolist() if is_plain else _listed(labels)
    if len(values) != axes.items.size:
        raise InvalidPredictions(
            f"labels must have one entry for each of the {axes.items.size} items; got {len(values)}"
        )
    positions = dict(axes.classes.positions)
    if not any(isinstance(name, int | float) for name in positions):
        positions |= {place: place for place in range(axes.classes.size)}
    found = (_position(label, place, positions, axes) for place, label in enumerate(values))
    known = np.fromiter(found, np.intp, len(values))
    return known if (known >= 0).any() else None


def _listed(labels: Any) -> list[Any]:
    return list(labels.tolist() if isinstance(labels, np.ma.MaskedArray) else labels)


def known_rows(labels: Any, axes: Axes) -> FloatArray | None:
    """Soft labels: (items, classes), rows of NaN where unknown, the others probabilities; None of nothing known."""
    given, shape = plain_numpy(labels, "labels"), (axes.items.size, axes.classes.size)
    if given.dtype.kind not in "fiub":
        raise InvalidPredictions(f"soft labels must be numbers (items, classes); got {given.dtype} values")
    rows = np.array(given, dtype=np.float64)
    if rows.shape != shape:
        raise InvalidPredictions(f"soft labels must be (items, classes) = {shape}; got {rows.shape}")
    is_unknown = np.isnan(rows).all(axis=1)
    is_wrong = ~is_unknown & ~are_probabilities(rows, sum_tolerance(labels))
    if is_wrong.any():
        place = int(np.argmax(is_wrong))
        raise InvalidPredictions(
            "soft labels must be probabilities that sum to 1, or NaN throughout where unknown; "
            f"{axes.items.describe(place)} has {rows[place].tolist()}"
        )
    return None if is_unknown.all() else np.asarray(rows / rows.sum(axis=1, keepdims=True))


def known_truths(labels: Any, axes: Axes) -> IntArray | FloatArray | None:
    """Labels of either kind: those in two dimensions are soft."""
    is_soft = is_array(labels) and len(labels.shape) == 2
    return known_rows(labels, axes) if is_soft else known_labels(labels, axes)


def on_classes(known: Any, axes: Axes, classes: Sequence[Any]) -> Any:
    """What is known of items on these axes, for classes that may stand in another order."""
    if known is None or not axes.classes.is_named or list(axes.classes.names) == list(classes):
        return known
    place = {name: position for position, name in enumerate(classes)}
    positions = np.array([place[name] for name in axes.classes.names])
    if known.ndim == 1:
        return np.where(known >= 0, positions[known], -1)
    rows = np.where(np.isnan(known[:, :1]), np.nan, np.zeros((len(known), len(classes))))
    rows[:, positions] = known
    return rows


def which_known(known: IntArray | FloatArray) -> npt.NDArray[np.bool_]:
    """The items (items,) of which something is known, given labels of either kind."""
    return np.asarray(known >= 0 if known.ndim == 1 else ~np.isnan(known[:, 0]))


def _by_item(mapping: Mapping[Any, Any], axes: Axes) -> list[Any]:
    values: list[Any] = [None] * axes.items.size
    for item, label in mapping.items():
        values[axes.items.position_of(item)] = label
    return values


def _position(label: Any, place: int, positions: Mapping[Any, int], axes: Axes) -> int:
    if is_missing(label) or (-1 not in positions and label == -1):
        return -1
    try:
        return positions[label]
    except (KeyError, TypeError):
        raise InvalidPredictions(
            f"labels must be among the classes {some(axes.classes.names)}, or -1 where unknown; "
            f"{axes.items.describe(place)} has {label!r}"
        ) from None
