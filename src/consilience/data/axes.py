"""Names along an axis: members, items or classes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

PLURAL = {"member": "members", "item": "items", "class": "classes"}


@final
class Axis:
    """The names along one axis, or 0, 1, 2, … where none were given.

    >>> Axis("member", 2, ["vit", "resnet"]).name(1)
    'resnet'
    >>> Axis("item", 3).names
    [0, 1, 2]
    """

    def __init__(self, kind: str, size: int, names: Iterable[Any] | None = None) -> None:
        self.kind = kind
        self.size = size
        self._names = None if names is None else listed(kind, names)
        if self._names is not None:
            self._check()

    def _check(self) -> None:
        plural = PLURAL[self.kind]
        if len(self.names) != self.size:
            raise InvalidPredictions(
                f"{plural} must name each of the {self.size} {plural}; got {len(self.names)} names"
            )
        if self.kind == "class" and any(map(is_missing, self.names)):
            raise InvalidPredictions("classes must not be called None or NaN, which stand for unknown labels")
        try:
            distinct = len(self.positions)
        except TypeError as error:
            raise InvalidPredictions(f"{plural} must be hashable names; got {self.names[:3]!r}") from error
        if distinct < self.size:
            repeated = next(name for place, name in enumerate(self.names) if self.positions[name] != place)
            raise InvalidPredictions(f"{plural} must have distinct names; got {repeated!r} more than once")

    @property
    def is_named(self) -> bool:
        """Whether the user gave names."""
        return self._names is not None

    @property
    def names(self) -> list[Any]:
        """The names in the order of the axis."""
        return list(range(self.size)) if self._names is None else list(self._names)

    def name(self, position: int) -> Any:
        """The name at a position."""
        return position if self._names is None else self._names[position]

    @cached_property
    def positions(self) -> dict[Any, int]:
        """Where each name stands (the last place, where a name is repeated)."""
        return {name: position for position, name in enumerate(self.names)}

    def position_of(self, name: Any) -> int:
        """Where a name stands; raises where it does not."""
        if self._names is None and isinstance(name, int | np.integer) and 0 <= name < self.size:
            return int(name)  # without a table of all positions
        try:
            return self.positions[name]
        except (KeyError, TypeError):
            plural = PLURAL[self.kind]
            raise InvalidPredictions(
                f"{self.kind} must be one of the {self.size} {plural} {some(self.names)}; got {name!r}"
            ) from None

    def describe(self, position: int) -> str:
        """How an error message refers to a position, such as `member 'vit'` or `item 3`."""
        return f"{self.kind} {self.name(position)!r}"


class Axes(NamedTuple):
    """The names along the three axes."""

    members: Axis
    items: Axis
    classes: Axis


class HasAxes:
    """Gives the names along three axes, and their numbers."""

    axes: Axes

    @property
    def members(self) -> list[Any]:
        """The members' names."""
        return self.axes.members.names

    @property
    def items(self) -> list[Any]:
        """The items' names."""
        return self.axes.items.names

    @property
    def classes(self) -> list[Any]:
        """The classes' names."""
        return self.axes.classes.names

    @property
    def n_members(self) -> int:
        """How many members there are."""
        return self.axes.members.size

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return self.axes.items.size

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.axes.classes.size


def is_missing(value: Any) -> bool:
    """Whether a value of a frame or a list is None, NaN or pandas' NA."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124 - NaN is what differs from itself
    except (TypeError, ValueError):
        return True  # NA refuses to be compared


def listed(kind: str, names: Iterable[Any]) -> list[Any]:
    """The names as a list, with NumPy's strings and integers as plain Python ones, which print better."""
    if isinstance(names, str):
        raise InvalidPredictions(
            f"{PLURAL[kind]}: names must be a list, one per place on the axis; got the string {names!r}"
        )
    if not hasattr(names, "__iter__"):
        raise InvalidPredictions(f"{PLURAL[kind]} must be a list of names; got {names!r}")
    return [name.item() if isinstance(name, np.generic) else name for name in names]


def array_of_names(names: Sequence[Any]) -> npt.NDArray[Any]:
    """The names as an array that keeps their types; NumPy alone makes text of the 1 in [1, "a"].

    >>> array_of_names([1, "a"]).tolist(), array_of_names([("a", "b"), ("c", "d")]).shape
    ([1, 'a'], (2,))
    """
    kinds = {type(name) for name in names}
    if len(kinds) == 1 and kinds <= {str, bool, int, float}:
        plain = np.asarray(names)
        if kinds == {float} or (plain.dtype.kind != "f" and plain.tolist() == list(names)):  # 2**63 and "a\0" are not
            return plain
    array = np.empty(len(names), dtype=object)
    for place, name in enumerate(names):
        array[place] = name
    return array


def some(names: Sequence[Any]) -> str:
    """Up to eight names, for a message."""
    return f"[{', '.join(repr(name) for name in names[:8])}{', …' if len(names) > 8 else ''}]"
