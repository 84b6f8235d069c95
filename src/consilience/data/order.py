"""Classes that are ratings: which order they stand in, and the numbers they stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.data.axes import Axis, some
from consilience.data.names import is_whole, sorted_names, text_of
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consilience.system.arrays import FloatArray

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
                "ordered classes must be numbers, or be listed in their order as classes; "
                f"got {some(names)}, whose order is not known"
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
    if not classes.is_named or not FEWEST <= classes.size <= MOST or classes.ordered:
        return False
    texts = [text_of(name) for name in classes.names]
    if not all(map(is_whole, texts)):
        return False
    return bool((np.diff(sorted(map(int, texts))) == 1).all())


def _numbers(names: Sequence[Any]) -> FloatArray | None:
    """The names as numbers; None if some name is none."""
    try:
        values = np.array([float(text_of(name)) for name in names])
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None
