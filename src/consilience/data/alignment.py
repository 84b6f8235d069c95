"""Match members, items and classes by name, of several predictions or with an earlier fit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.data.axes import PLURAL, Axis, in_order, some
from consilience.data.names import text_of
from consilience.system.arrays import IntArray, take
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consilience.data.answers import SoftMember


def joined_members(axes: Sequence[Axis]) -> Axis:
    """The members, part after part; in a part without names they are called `part.member`, such as `1.0`."""
    size = sum(axis.size for axis in axes)
    if not any(axis.is_named for axis in axes):
        return Axis("member", size)
    names = [name if axis.is_named else f"{part}.{name}" for part, axis in enumerate(axes) for name in axis.names]
    return Axis("member", size, names)


def joined_axis(axes: Sequence[Axis]) -> Axis:
    """All names in order of first appearance.

    A part without names counts 0, 1, 2, …. The names of the other parts must then be such numbers: guessing which
    name belongs to which place could pair the wrong items.
    """
    counted = next((axis for axis in axes if not axis.is_named), None)
    return _named_axis(axes) if counted is None else _counted_axis(axes, counted)


def _counted_axis(axes: Sequence[Axis], counted: Axis) -> Axis:
    for axis in axes:
        if not counted.has_all(axis.names) or (not axis.is_named and axis.size != counted.size):
            raise InvalidPredictions(
                f"{PLURAL[axis.kind]} must be named in all parts, or be the same in all; got {some(axis.names)} "
                f"beside {counted.size} without names"
            )
    return next((axis for axis in axes if not axis.is_named and axis.ordered), counted)


def _named_axis(axes: Sequence[Axis]) -> Axis:
    first, names = axes[0], dict[str, Any]()
    for axis in axes:
        if all(first.find(name) is None for name in axis.names):
            raise InvalidPredictions(
                f"parts must have {PLURAL[axis.kind]} in common; got {some(first.names)} and {some(axis.names)}"
            )
        for name in axis.names:
            names.setdefault(text_of(name), name)
    is_one_order = all(axis.size == len(names) and axis.positions_on(first) is None for axis in axes)
    by_name = any(axis.by_name for axis in axes) or not is_one_order
    joined = Axis(first.kind, len(names), names.values(), by_name=by_name)
    return _ratings(joined, axes) if any(axis.ordered for axis in axes) else joined


def _ratings(joined: Axis, axes: Sequence[Axis]) -> Axis:
    """All classes as ratings: in the order of a part that has all of them, or in that of their numbers."""
    whole = (axis.names for axis in axes if axis.ordered and axis.size == joined.size)
    return in_order(joined, next(whole, None))


def check_same_order(ratings: Axis, target: Axis) -> None:
    """Raise where ratings stand in another order on the axis of a fit."""
    if not ratings.ordered or not ratings.is_named:
        return
    places = ratings.positions_on(target)
    if places is not None and (np.diff(places) < 0).any():
        raise InvalidPredictions(
            f"ordered classes must be in the order of those fitted, {some(target.names)}; got {some(ratings.names)}"
        )


def places_of_members(own: Axis, members: Sequence[Any]) -> IntArray:
    """Where each member stands among those of a fit: by name, or one after the other where they have none."""
    if not own.is_named:
        check_size("member", own.size, len(members))
        return np.arange(own.size)
    fitted = Axis("member", len(members), members)
    unknown = [name for name in own.names if fitted.find(name) is None]
    if unknown:
        hint = ": the fit had no names of members, so give all in one array" if fitted.is_counted else ""
        raise InvalidPredictions(f"members must be among those fitted, {some(members)}; got {unknown[0]!r}{hint}")
    return np.array([fitted.find(name) for name in own.names])


def check_size(kind: str, size: int, expected: int) -> None:
    """Raise where predictions without names have other members or classes than a fit."""
    if size != expected:
        hint = " (name them, or use NaN rows, where some are missing)" if kind == "member" else ""
        raise InvalidPredictions(f"predictions must have the {expected} {PLURAL[kind]} of the fit{hint}; got {size}")


def check_sizes(predictions: Any, n_members: int, n_classes: int) -> None:
    """Raise if arrays have other members or classes than a fit; data with names is matched by name, later.

    This is checked first: otherwise the error would say that the rows, which lack a class, do not sum to 1.
    """
    sizes = _sizes(predictions)
    if sizes is not None:
        check_size("member", sizes[0], n_members)
        check_size("class", sizes[1], n_classes)


def _sizes(predictions: Any) -> tuple[int, int] | None:
    """The members and classes of arrays, where they can be counted before they are read."""
    if isinstance(predictions, list | tuple):
        shapes = {_shape(part) for part in predictions}
        shape = shapes.pop() if len(shapes) == 1 else ()
        return (len(predictions), shape[1]) if len(shape) == 2 else None
    shape = _shape(predictions)
    return (shape[0], shape[2]) if len(shape) == 3 else None


def _shape(array: Any) -> tuple[int, ...]:
    shape = getattr(array, "shape", ())
    return tuple(shape) if isinstance(shape, tuple) else ()  # what is delayed has a delayed shape


def moved(
    member: SoftMember, position: int, item_map: IntArray | None, class_map: IntArray | None, n_classes: int
) -> SoftMember:
    """A member's rows with items and classes numbered as on other axes."""
    rows, items = member.rows, member.items
    if class_map is not None:
        if len(class_map) < n_classes:
            raise InvalidPredictions(
                f"members with probabilities must give one for each of the {n_classes} classes; "
                f"some give {len(class_map)}"
            )
        rows = take(rows, np.argsort(class_map), axis=1)
    if item_map is not None:
        items = item_map if items is None else item_map[items]
        order = np.argsort(items, kind="stable")
        rows, items = take(rows, order, axis=0), items[order]
    return replace(member, position=position, rows=rows, items=items)
