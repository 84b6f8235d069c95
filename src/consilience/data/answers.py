"""Where predictions lie: rows of probabilities, member by member, and a list of hard answers.

Networks answer everything: a `SoftMember` is then a plain (items, classes) array, a view of what the user gave.
Crowds answer little: `HardAnswers` and a `SoftMember` with `items` hold one entry per answer, sorted by item,
so cost and memory grow with the answers alone and a range of items is a slice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import final

import numpy as np
import numpy.typing as npt

from consilience.system.arrays import Array, IntArray, is_numpy, namespace, position_of_largest, take, to_numpy
from consilience.system.errors import InvalidPredictions

FEW_CLASSES = 64  # with fewer classes than this, rows are read class by class
NUMBERS_AT_ONCE = 3 * 2**20  # about how many numbers a temporary array may have
TIE = 1e-6  # probabilities that differ by less, as a share of the larger, are equally large


@final
@dataclass(frozen=True, slots=True, eq=False)
class SoftMember:
    """The probability rows of one member.

    `items` says which item each row answers, in rising order; None means row i answers item i. `is_complete`
    means that no row is missing (all NaN).
    """

    position: int
    rows: Array  # (answers, classes)
    items: IntArray | None
    is_complete: bool

    @property
    def places(self) -> IntArray:
        """Which item each row answers."""
        return np.arange(self.rows.shape[0]) if self.items is None else self.items

    def is_given(self) -> npt.NDArray[np.bool_]:
        """Which rows are not missing."""
        if self.is_complete:
            return np.ones(self.rows.shape[0], dtype=bool)
        return np.asarray(~to_numpy(namespace(self.rows).isnan(self.rows[:, 0])))

    def answered(self) -> IntArray:
        """The items with an answer."""
        return self.places[self.is_given()]

    def between(self, start: int, stop: int) -> SoftMember:
        """The rows that answer items start to stop, the items counted from start."""
        if self.items is None:
            return replace(self, rows=self.rows[start:stop, :])
        first, last = np.searchsorted(self.items, [start, stop])
        return replace(self, rows=self.rows[int(first) : int(last), :], items=self.items[first:last] - start)

    def take(self, positions: IntArray) -> SoftMember:
        """The rows that answer the items at these positions, in their order."""
        if self.items is None:
            return replace(self, rows=take(self.rows, positions, axis=0))
        answers, items = _answers_of(self.items, positions)
        return replace(self, rows=take(self.rows, answers, axis=0), items=items)

    def moved(
        self, members: IntArray, item_map: IntArray | None, class_map: IntArray | None, n_classes: int
    ) -> SoftMember:
        """The rows with members, items and classes numbered as on other axes."""
        rows, items = self.rows, self.items
        if class_map is not None:
            if len(class_map) < n_classes:
                raise InvalidPredictions(
                    f"members with probabilities must give one for each of the {n_classes} classes; "
                    f"some give {len(class_map)}"
                )
            rows = take(rows, np.argsort(class_map), axis=1)
        if item_map is not None:
            items = item_map[self.places]
            order = np.argsort(items, kind="stable")
            rows, items = take(rows, order, axis=0), items[order]
        return replace(self, position=int(members[self.position]), rows=rows, items=items)

    def harden(self) -> HardAnswers:
        """The member's answers as labels: the most probable class, the lowest index winning a tie."""
        pieces = [position_of_largest(rows) for _, rows in parts_of(self.rows)]
        labels = np.concatenate([np.empty(0, dtype=np.intp), *pieces])[self.is_given()]
        items = self.answered()
        return HardAnswers(items, np.full(len(items), self.position), labels)

    def ballots(self) -> tuple[HardAnswers, SoftMember]:
        """The answers as votes, and the rows of those that are split. This decides everywhere how undecided ones count.

        A row with one most probable class is a vote for it. Several that are tied get an equal part of the vote each.
        A row in which all classes are tied is no vote, and neither is a missing one.
        """
        (n_rows, n_classes), items = self.rows.shape, self.places
        labels, n_tied = np.empty(n_rows, dtype=np.intp), np.empty(n_rows, dtype=np.intp)
        split, places = [np.empty((0, n_classes))], [np.empty(0, dtype=np.intp)]
        for start, rows in parts_of(self.rows):
            some = slice(start, start + rows.shape[0])
            labels[some], n_tied[some], is_tied = largest_of(rows)
            places.append(start + np.flatnonzero((n_tied[some] > 1) & (n_tied[some] < n_classes)))
            tied = to_numpy(take(is_tied, places[-1] - start, axis=0)).astype(np.float64)
            split.append(tied / tied.sum(axis=1, keepdims=True))
        is_vote, place = n_tied == 1, np.concatenate(places)
        votes = HardAnswers(items[is_vote], np.full(int(is_vote.sum()), self.position), labels[is_vote])
        return votes, SoftMember(self.position, np.concatenate(split), items[place], is_complete=True)


@final
@dataclass(frozen=True, slots=True, eq=False)
class HardAnswers:
    """Labels, one per answer, in rising order of item: item, position of the member, class."""

    items: IntArray
    members: IntArray
    labels: IntArray

    def between(self, start: int, stop: int) -> HardAnswers:
        """The answers to items start to stop, the items counted from start."""
        first, last = np.searchsorted(self.items, [start, stop])
        return HardAnswers(self.items[first:last] - start, self.members[first:last], self.labels[first:last])

    def take(self, positions: IntArray) -> HardAnswers:
        """The answers to the items at these positions, in their order."""
        answers, items = _answers_of(self.items, positions)
        return HardAnswers(items, self.members[answers], self.labels[answers])

    def moved(self, members: IntArray, item_map: IntArray | None, class_map: IntArray | None) -> HardAnswers:
        """The answers with members, items and classes numbered as on other axes, not yet in order: see `merged`."""
        items = self.items if item_map is None else item_map[self.items]
        labels = self.labels if class_map is None else class_map[self.labels]
        return HardAnswers(items, members[self.members], labels)


def is_largest(rows: Array) -> Array:
    """Which entries of each row are the largest, several where they are tied; none of a row of NaN."""
    return rows >= (1 - TIE) * namespace(rows).max(rows, axis=-1, keepdims=True)


def largest_of(rows: Array) -> tuple[IntArray, IntArray, Array]:
    """Of each row, the position of the largest entry if there is one; how many are the largest; and which."""
    xp, n_classes = namespace(rows), rows.shape[1]
    if is_numpy(rows) and n_classes < FEW_CLASSES:
        is_top = is_largest(np.asfortranarray(rows))  # sums over classes run along rows then, ten times as fast
        number = is_top.sum(axis=1, dtype=np.int16)
        return (is_top * np.arange(n_classes, dtype=np.int16)).sum(axis=1, dtype=np.int16), number, is_top
    is_top = is_largest(rows)
    return position_of_largest(rows), to_numpy(xp.sum(xp.astype(is_top, xp.int32), axis=1)), is_top


def parts_of(rows: Array) -> Iterator[tuple[int, Array]]:
    """The rows in parts, so that temporary arrays stay small: the position of the first row, and the rows."""
    n_rows, n_classes = rows.shape
    step = max(1, NUMBERS_AT_ONCE // n_classes)
    for start in range(0, n_rows, step):
        yield start, rows[start : min(start + step, n_rows), :]


def merged(parts: Iterable[HardAnswers | None]) -> HardAnswers | None:
    """All the answers as one list, sorted by item and then by member; None where there are no parts."""
    given = [part for part in parts if part is not None]
    if not given:
        return None
    items, members, labels = (
        np.concatenate([getattr(part, name) for part in given]).astype(np.intp)
        for name in ("items", "members", "labels")
    )
    order = np.argsort(items * (members.max(initial=0) + 1) + members, kind="stable")  # quick, as parts are in order
    return HardAnswers(items[order], members[order], labels[order])


def _answers_of(items: IntArray, positions: IntArray) -> tuple[IntArray, IntArray]:
    """The answers to the items at these positions, and the index of the position that each one answers."""
    starts = np.searchsorted(items, positions)
    counts = np.searchsorted(items, positions, side="right") - starts
    new_items = np.repeat(np.arange(len(positions)), counts)
    within = np.arange(len(new_items)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(starts, counts) + within, new_items
