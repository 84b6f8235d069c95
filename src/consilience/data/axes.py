"""Names along an axis: members, items or classes, which may be ratings."""

from __future__ import annotations

import re
from collections.abc import Iterable, KeysView, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from consilience.data.names import cut, is_missing, is_whole, look_alike, sorted_names, text_of, texts_of
from consilience.system.arrays import FloatArray, IntArray
from consilience.system.errors import InvalidPredictions

PLURAL = {"member": "members", "item": "items", "class": "classes"}
LONGEST_NAME = 40  # how many characters of a name a message shows

COUNT = re.compile("0|[1-9][0-9]{0,15}")


@final
class Axis:
    """The names along one axis, or 0, 1, 2, … where none were given. Names are told by their text (see `names`).

    `by_name` says that nobody chose the order of the names, as in a table of answers: only names, never places, tell
    which is which. `ordered` says that classes are ratings: each is one step above the one before it.

    >>> Axis("member", 2, ["vit", "resnet"]).name(1)
    'resnet'
    >>> Axis("item", 3).names
    [0, 1, 2]
    """

    def __init__(
        self,
        kind: str,
        size: int,
        names: Iterable[Any] | None = None,
        *,
        by_name: bool = False,
        ordered: bool = False,
    ) -> None:
        self.kind, self.size, self.by_name, self.ordered = kind, size, by_name, ordered
        self._names = None if names is None else listed(kind, names)
        self._positions: dict[str, int] = {}
        if self._names is not None:
            texts = texts_of(self._names)
            self._positions = {text: position for position, text in enumerate(texts)}  # the last of two equal names
            self._check(self._names, texts)

    def _check(self, names: list[Any], texts: list[str]) -> None:
        plural = PLURAL[self.kind]
        if len(names) != self.size:
            raise InvalidPredictions(f"{plural} must name each of the {self.size} {plural}; got {len(names)} names")
        if self.kind == "class" and any(map(is_missing, names)):
            raise InvalidPredictions("classes must not be called None or NaN, which stand for unknown labels")
        try:
            by_name = self._positions if texts is names else {name: place for place, name in enumerate(names)}
        except TypeError as error:
            raise InvalidPredictions(f"{plural} must be hashable names; got {names[:3]!r}") from error
        for keys, last in ((texts, self._positions), (names, by_name)):  # 1 and True are equal
            if len(last) < self.size:
                place = next(place for place, key in enumerate(keys) if last[key] != place)
                one, two = short(names[place]), short(names[last[keys[place]]])
                both = f"{one} more than once" if one == two else f"{one} and {two}, which are one name"
                raise InvalidPredictions(f"{plural} must have distinct names; got {both}")
        if (alike := look_alike(texts)) is not None:
            one, two = (ascii(text)[:LONGEST_NAME] for text in alike)
            raise InvalidPredictions(f"{plural} must have names that differ to the eye; {one} and {two} look the same")

    @property
    def is_named(self) -> bool:
        """Whether the user gave names."""
        return self._names is not None

    @property
    def names(self) -> list[Any]:
        """The names in the order of the axis."""
        return list(range(self.size)) if self._names is None else list(self._names)

    @cached_property
    def is_counted(self) -> bool:
        """Whether the places are called 0, 1, 2, … in this order, so that a list can only be meant in this order."""
        return self._names is None or Axis(self.kind, self.size).is_same_as(self._names)

    def is_same_as(self, names: Sequence[Any]) -> bool:
        """Whether these are the names, in this order."""
        return len(names) == self.size and all(self.find(name) == place for place, name in enumerate(names))

    def has_all(self, names: Sequence[Any]) -> bool:
        """Whether all of these are names along the axis, in any order."""
        return all(self.find(name) is not None for name in names)

    def name(self, position: int) -> Any:
        """The name at a position."""
        return position if self._names is None else self._names[position]

    def find(self, name: Any) -> int | None:
        """Where a name stands; None where it does not."""
        if self._names is not None:
            return self._positions.get(text_of(name))
        if not isinstance(name, int | np.integer):
            text = text_of(name)
            if not COUNT.fullmatch(text):
                return None
            name = int(text)
        return int(name) if 0 <= name < self.size else None

    def position_of(self, name: Any) -> int:
        """Where a name stands; raises where it does not."""
        position = self.find(name)
        if position is None:
            among = f"the {self.size} {PLURAL[self.kind]} {some(self.names)}"
            raise InvalidPredictions(f"{self.kind} must be one of {among}; got {short(name)}")
        return position

    def positions_on(self, target: Axis) -> IntArray | None:
        """Where each place stands on another axis; None where the two are the same."""
        if self is target or (not self.is_named and not target.is_named and self.size == target.size):
            return None
        found = [target.find(name) for name in self.names]
        if None in found:
            unknown = self.name(found.index(None))
            raise InvalidPredictions(f"{self.kind} must be one of {some(target.names)}; got {short(unknown)}")
        positions = np.array(found, dtype=np.intp)
        return None if np.array_equal(positions, np.arange(target.size)) else positions

    def places_in_fit(self, fitted: Axis) -> IntArray | None:
        """Where each place stands on the axis of a fit: by name, or one after the other where there are no names."""
        if self.is_named:
            return self.positions_on(fitted)
        check_size(self.kind, self.size, fitted.size)
        return None

    def check_order(self, values: Any, argument: str) -> None:
        """Raise where a Series, which is read by place, has the names of this axis in another order."""
        index = index_of(values)
        if index is None or self.is_same_as(index):
            return
        if self.has_all(index) or not Axis(self.kind, len(index)).is_same_as(index):
            order = f"the {PLURAL[self.kind]} {some(self.names)}"
            raise InvalidPredictions(f"{argument} must be in the order of {order}; its index is {some(index)}")

    def matched_by_name(self) -> Axis:
        """The same names, in an order that nobody chose."""
        return Axis(self.kind, self.size, self._names, by_name=self.is_named)

    def describe(self, position: int) -> str:
        """How an error message refers to a position, such as `member 'vit'` or `item 3`."""
        return f"{self.kind} {short(self.name(position))}"


class Axes(NamedTuple):
    """The names along the three axes."""

    members: Axis
    items: Axis
    classes: Axis

    @classmethod
    def named(cls, members: Sequence[Any], items: Axis, classes: Sequence[Any]) -> Axes:
        """With these names of members and classes."""
        return cls(Axis("member", len(members), members), items, Axis("class", len(classes), classes))


def index_of(values: Any) -> list[Any] | None:
    """The index of a pandas Series; None for anything else."""
    return list(values.index) if hasattr(values, "to_dict") and hasattr(values, "index") else None


def listed(kind: str, names: Iterable[Any]) -> list[Any]:
    """The names as a list, with NumPy's strings and integers as plain Python ones, which print better."""
    is_unordered = isinstance(names, AbstractSet | Mapping) and not isinstance(names, KeysView)
    if is_unordered or isinstance(names, str) or not hasattr(names, "__iter__"):
        got = f"a {type(names).__name__}" if is_unordered else repr(names)
        raise InvalidPredictions(f"{PLURAL[kind]} must be a list of names, in the order of the axis; got {got}")
    given = list(names)
    if set(map(type, given)) <= {str, int}:
        return given
    return [name.item() if isinstance(name, np.generic) else name for name in given]


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
    return np.fromiter(names, dtype=object, count=len(names))


def some(names: Sequence[Any]) -> str:
    """Up to eight names, for a message."""
    return f"[{', '.join(map(short, names[:8]))}{', …' if len(names) > 8 else ''}]"


def short(name: Any) -> str:
    """A name for a message, cut where it is very long."""
    return cut(repr(name), LONGEST_NAME)


# ---- several axes, matched by name --------------------------------------------------------------------------------


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
    if counted is None:
        return _joined_names(axes)
    for axis in axes:
        if not counted.has_all(axis.names) or (not axis.is_named and axis.size != counted.size):
            got = f"{some(axis.names)} beside {counted.size} without names"
            raise InvalidPredictions(
                f"{PLURAL[axis.kind]} must be named in all parts, or be the same in all; got {got}"
            )
    return next((axis for axis in axes if not axis.is_named and axis.ordered), counted)


def _joined_names(axes: Sequence[Axis]) -> Axis:
    first, names = axes[0], dict[str, Any]()
    for axis in axes:
        if all(first.find(name) is None for name in axis.names):
            got = f"{some(first.names)} and {some(axis.names)}"
            raise InvalidPredictions(f"parts must have {PLURAL[axis.kind]} in common; got {got}")
        for name in axis.names:
            names.setdefault(text_of(name), name)
    is_one_order = all(axis.size == len(names) and axis.positions_on(first) is None for axis in axes)
    by_name = any(axis.by_name for axis in axes) or not is_one_order
    joined = Axis(first.kind, len(names), names.values(), by_name=by_name)
    ratings = [axis for axis in axes if axis.ordered]
    whole = next((axis.names for axis in ratings if axis.size == joined.size), None)  # else by their numbers
    return in_order(joined, whole) if ratings else joined


def check_size(kind: str, size: int, expected: int) -> None:
    """Raise where predictions without names have other members or classes than a fit."""
    if size != expected:
        hint = " (name them, or use NaN rows, where some are missing)" if kind == "member" else ""
        raise InvalidPredictions(f"predictions must have the {expected} {PLURAL[kind]} of the fit{hint}; got {size}")


# ---- classes that are ratings -----------------------------------------------------------------------------------

FEWEST, MOST = 3, 11
"""So many whole numbers in a row look like ratings: two have no order to speak of, and 0 to 10 is the widest scale."""


def in_order(classes: Axis, told: Sequence[Any] | None = None) -> Axis:
    """The classes as ratings: in the order of their numbers, or in the one that was told.

    Classes without names are in the order of their places.

    >>> in_order(Axis("class", 3, ["10", "2", "9"])).names
    ['2', '9', '10']
    """
    names = classes.names if told is None else list(told)
    if told is None and classes.is_named:
        if _numbers(names) is None:
            raise InvalidPredictions(
                f"ordered classes must be numbers, or be listed in order as classes; got {some(names)}"
            )
        names = sorted_names(names)
    return Axis("class", classes.size, names if classes.is_named else None, by_name=classes.by_name, ordered=True)


def check_order(classes: Axis) -> Axis:
    """Classes whose order was chosen, as ratings; raises if they are numbers in another order than by size."""
    values = _numbers(classes.names)
    if values is not None and (np.diff(values) <= 0).any():
        raise InvalidPredictions(f"ordered classes must rise from the first to the last; got {some(classes.names)}")
    return Axis("class", classes.size, classes.names if classes.is_named else None, ordered=True)


def ratings_of(classes: Sequence[Any]) -> FloatArray:
    """The numbers that ordered classes stand for: their names, or 0, 1, 2, … if some name is not a number.

    >>> ratings_of(["1", "2", "3"]).tolist(), ratings_of(["bad", "fair", "good"]).tolist()
    ([1.0, 2.0, 3.0], [0.0, 1.0, 2.0])
    """
    values = _numbers(classes)
    return np.arange(len(classes), dtype=np.float64) if values is None else values


def look_like_ratings(classes: Axis) -> bool:
    """Whether the classes are named by whole numbers in a row, as ratings are; so are codes, so that it is only said.

    >>> look_like_ratings(Axis("class", 5, [1, 2, 3, 4, 5])), look_like_ratings(Axis("class", 3, [1, 2, 4]))
    (True, False)
    """
    texts = [text_of(name) for name in classes.names]
    are_few = classes.is_named and FEWEST <= classes.size <= MOST and not classes.ordered
    return are_few and all(map(is_whole, texts)) and bool((np.diff(sorted(map(int, texts))) == 1).all())


def _numbers(names: Sequence[Any]) -> FloatArray | None:
    """The names as numbers; None if some name is none."""
    try:
        values = np.array([float(text_of(name)) for name in names])
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None
