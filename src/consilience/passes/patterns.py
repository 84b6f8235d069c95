"""Items with the same votes are fitted and answered once, and count as often as there are of them.

With few members and classes most items have the votes of many others: five members and three classes can vote in 1,023
ways. All sums over items are then sums over these patterns, times how many items have each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.axes import Axis
from consilience.data.predictions import Predictions, counted, renamed
from consilience.passes.lazy_posterior import LazyPosterior
from consilience.passes.reader import DENSE_NUMBERS
from consilience.system.arrays import sample

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consilience.data.answers import HardAnswers
    from consilience.system.arrays import Array, FloatArray, IntArray

FEWEST_ITEMS, MOST_DISTINCT = 1000, 0.25
"""It pays for at least so many items, of which at most this share are distinct."""

FIRST_LOOK = 4096
"""So many items are looked at first: of a crowd nearly all are distinct."""

MOST_TABLED = 2**22
"""Up to so many possible patterns are counted in a table; more are sorted."""

MOST_CODES = 2**62
"""Votes with more possible patterns have no number."""

ROWS_AT_ONCE = 2**18
"""So many items at a time are given their answers."""


class Patterns(NamedTuple):
    """The distinct items of some predictions, with their counts."""

    predictions: Predictions
    places: IntArray  # (items,): which of them each item is

    def posterior(self, found: LazyPosterior | Array) -> LazyPosterior:
        """The posterior of all items, from that of the distinct ones."""
        rows: FloatArray = found.to_array() if isinstance(found, LazyPosterior) else found
        n_items = len(self.places)

        def chunks() -> Iterator[tuple[int, int, Array]]:
            for start in range(0, n_items, ROWS_AT_ONCE):
                stop = min(start + ROWS_AT_ONCE, n_items)
                yield start, stop, rows[self.places[start:stop]]

        is_large = n_items * rows.shape[1] > DENSE_NUMBERS
        return LazyPosterior(lambda: rows[self.places], chunks, is_large=is_large)


def patterns_of(predictions: Any) -> Patterns | None:
    """The distinct items; None where they are too many, or not votes of each member at most once."""
    if not isinstance(predictions, Predictions) or predictions.soft or predictions.counts is not None:
        return None
    codes = None if predictions.n_items < FEWEST_ITEMS else codes_of(predictions)
    if codes is None:
        return None
    some = codes[sample(len(codes), FIRST_LOOK)]
    if len(np.unique(some)) > len(some) / 2:
        return None
    first, places, counts = _distinct(codes, (predictions.n_classes + 1) ** predictions.n_members)
    if len(first) > MOST_DISTINCT * len(codes):
        return None
    distinct = renamed(predictions.take(first), items=Axis("item", len(first)))
    return Patterns(counted(distinct, counts.astype(np.float64), places), places)


def codes_of(predictions: Predictions) -> IntArray | None:
    """A number for each item, the same for the same votes; None where a number is too small to hold them."""
    votes, n_members, base = predictions.hard, predictions.n_members, predictions.n_classes + 1
    if votes is None or base**n_members >= MOST_CODES or not _are_single(votes, n_members):
        return None
    digits = base ** np.arange(n_members, dtype=np.int64)
    if len(votes.items) == predictions.n_items * n_members:
        return np.asarray((votes.labels + 1).reshape(-1, n_members) @ digits)
    starts = np.searchsorted(votes.items, np.arange(predictions.n_items))
    if not np.array_equal(votes.items[np.minimum(starts, len(votes.items) - 1)], np.arange(predictions.n_items)):
        return None  # somebody's vote was undecided, and an item has none
    return np.add.reduceat((votes.labels + 1) * digits[votes.members], starts)


def votes_of_codes(codes: IntArray, n_members: int, n_classes: int) -> IntArray:
    """The votes (items, members) of such numbers, -1 where missing."""
    digits = (n_classes + 1) ** np.arange(n_members, dtype=np.int64)
    return np.asarray(codes[:, None] // digits % (n_classes + 1) - 1)


def _are_single(votes: HardAnswers, n_members: int) -> bool:
    """Whether the votes are in the order of items and members, and nobody votes twice on an item."""
    keys = votes.items * n_members + votes.members
    return bool(len(keys)) and bool((keys[1:] > keys[:-1]).all())


def _distinct(codes: IntArray, n_possible: int) -> tuple[IntArray, IntArray, IntArray]:
    """The first item of each pattern, which pattern each item has, and how many items have each pattern."""
    if n_possible > MOST_TABLED:
        _, first, places, counts = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
        return first, places, counts
    counted = np.bincount(codes, minlength=n_possible)
    present = np.flatnonzero(counted)
    number, first = np.zeros(n_possible, dtype=np.intp), np.zeros(n_possible, dtype=np.intp)
    number[present] = np.arange(len(present))
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # the last one written is the first item
    return first[present], number[codes], counted[present]
