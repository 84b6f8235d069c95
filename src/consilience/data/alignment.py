"""Match members, items and classes by name, of several predictions or with an earlier fit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.data.axes import PLURAL, Axis, some
from consilience.data.names import text_of
from consilience.system.arrays import IntArray, take
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consilience.data.answers import SoftMember


def joined_members(axes: Sequence[Axis]) -> list[Any] | None:
    """The members' names, part after part; in a part without names they are `part.member`, such as `1.0`."""
    if not any(axis.is_named for axis in axes):
        return None
    names: list[Any] = []
    for number, axis in enumerate(axes):
        names += axis.names if axis.is_named else [f"{number}.{member}" for member in axis.names]
    return names


def joined_axis(axes: Sequence[Axis]) -> Axis:
    """All names in order of first appearance.

    A part without names counts 0, 1, 2, …. The names of the other parts must then be such numbers: guessing which
    name belongs to which place could pair the wrong items.
    """
    kind = axes[0].kind
    unnamed = [axis for axis in axes if not axis.is_named]
    if not unnamed:
        names = _in_order_of_appearance(axes)
        for axis in axes[1:]:
            if all(axes[0].find(name) is None for name in axis.names):
                raise InvalidPredictions(
                    f"parts must have {PLURAL[kind]} in common; got {some(axes[0].names)} and {some(axis.names)}"
                )
        is_one_order = all(axis.size == len(names) and axis.positions_on(axes[0]) is None for axis in axes)
        return Axis(kind, len(names), names, by_name=any(axis.by_name for axis in axes) or not is_one_order)
    for axis in axes:
        is_alike = axis.size == unnamed[0].size if not axis.is_named else True
        if not is_alike or any(unnamed[0].find(name) is None for name in axis.names):
            raise InvalidPredictions(
                f"{PLURAL[kind]} must be named in all parts, or be the same in all; got {some(axis.names)} "
                f"beside {unnamed[0].size} without names"
            )
    return unnamed[0]


def _in_order_of_appearance(axes: Sequence[Axis]) -> list[Any]:
    by_text: dict[str, Any] = {}
    for axis in axes:
        for name in axis.names:
            by_text.setdefault(text_of(name), name)
    return list(by_text.values())


def places_of_members(own: Axis, members: Sequence[Any]) -> IntArray:
    """Where each member stands among those of a fit: by name, or one after the other where they have none."""
    if not own.is_named:
        check_members_fit(own.size, len(members))
        return np.arange(own.size)
    fitted = Axis("member", len(members), members)
    unknown = [name for name in own.names if fitted.find(name) is None]
    if unknown:
        hint = ": the fit had no names of members, so give all in one array" if fitted.is_counted else ""
        raise InvalidPredictions(f"members must be among those fitted, {some(members)}; got {unknown[0]!r}{hint}")
    return np.array([fitted.find(name) for name in own.names])


def check_members_fit(n_members: int, expected: int) -> None:
    """Raise where predictions without names have other members than a fit."""
    if n_members != expected:
        raise InvalidPredictions(
            f"predictions must have the {expected} members of the fit "
            f"(name them, or use NaN rows, where some are missing); got {n_members}"
        )


def check_classes_fit(n_classes: int, expected: int) -> None:
    """Raise where predictions without names have other classes than a fit."""
    if n_classes != expected:
        raise InvalidPredictions(f"predictions must have the {expected} classes of the fit; got {n_classes}")


def check_sizes(predictions: Any, n_members: int, n_classes: int) -> None:
    """Raise if arrays have other members or classes than a fit; data with names is matched by name, later.

    This is checked first: otherwise the error would say that the rows, which lack a class, do not sum to 1.
    """
    sizes = _sizes(predictions)
    if sizes is not None:
        check_members_fit(sizes[0], n_members)
        check_classes_fit(sizes[1], n_classes)


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
