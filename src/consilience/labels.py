"""Known truths: what the user knows of some items, as positions of classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.arrays import IntArray, is_array, to_numpy
from consilience.axes import some
from consilience.errors import InvalidPredictions

if TYPE_CHECKING:
    from consilience.axes import Axes


def known_labels(labels: Any, axes: Axes) -> IntArray | None:
    """Known truths as positions of classes, -1 where unknown; None where nothing is known.

    `labels` has one entry per item, or maps items to labels (a mapping, a pandas Series). Labels are names of classes
    (positions, where classes have no names); -1 and None are unknown.
    """
    if labels is None:
        return None
    if isinstance(labels, Mapping) or hasattr(labels, "to_dict"):
        values = _by_item(labels if isinstance(labels, Mapping) else labels.to_dict(), axes)
    else:
        values = to_numpy(labels).tolist() if is_array(labels) else list(labels)
    if len(values) != axes.items.size:
        raise InvalidPredictions(
            f"labels must have one entry for each of the {axes.items.size} items; got {len(values)}"
        )
    known = np.fromiter((_position(label, place, axes) for place, label in enumerate(values)), np.intp, len(values))
    return known if (known >= 0).any() else None


def _by_item(mapping: Mapping[Any, Any], axes: Axes) -> list[Any]:
    values: list[Any] = [None] * axes.items.size
    for item, label in mapping.items():
        values[axes.items.position_of(item)] = label
    return values


def _position(label: Any, place: int, axes: Axes) -> int:
    positions = axes.classes.positions
    if label is None or (label == -1 and -1 not in positions):
        return -1
    try:
        return positions[label]
    except (KeyError, TypeError):
        raise InvalidPredictions(
            f"labels must be among the classes {some(axes.classes.names)}, or -1 where unknown; "
            f"{axes.items.describe(place)} has {label!r}"
        ) from None
