"""What is looked at in each item: how far votes agree, which classes they are for, how sure members are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from consilience.system.arrays import to_numpy

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.data.predictions import Predictions
    from consilience.system.arrays import FloatArray, IntArray

AGREEMENT, SHARES, CONFIDENCE = KINDS = ("agreement", "class shares", "confidence")

MOST_APART = 32
"""Up to so many members are looked at one by one, more of them only together."""

TOGETHER = "all members"


@final
@dataclass(frozen=True, slots=True, eq=False)
class ItemNumbers:
    """Some numbers of each item; their means over a set of items are what may drift."""

    values: FloatArray  # (items, numbers); NaN where there is none, as of a member who did not answer
    kinds: npt.NDArray[np.str_]  # (numbers,), of `KINDS`
    names: list[Any]  # (numbers,): whose, a member's name or a class's

    def __len__(self) -> int:
        return len(self.values)

    def take(self, items: IntArray) -> ItemNumbers:
        """The numbers of some items."""
        return ItemNumbers(self.values[items], self.kinds, self.names)

    def mean(self, kind: str) -> FloatArray:
        """The means over the items of all numbers of a kind; NaN of who has none."""
        values = self.values[:, self.kinds == kind]
        n_values = (~np.isnan(values)).sum(axis=0)
        return np.asarray(np.where(n_values > 0, np.nansum(values, axis=0) / np.maximum(n_values, 1), np.nan))


def together(parts: list[ItemNumbers]) -> ItemNumbers:
    """The numbers of several sets of items of one stream."""
    return ItemNumbers(np.concatenate([part.values for part in parts]), parts[0].kinds, parts[0].names)


def numbers_of(data: Predictions) -> ItemNumbers:
    """Look at each item.

    Of each member: the share of the other votes that are for the class it votes for, and the largest of its
    probabilities. Of each class: its share of the votes. All are numbers of one item, so that items can change places
    between two samples if these do not differ.
    """
    votes = data.votes().hard
    members, items, labels = (
        (np.empty(0, dtype=np.intp),) * 3 if votes is None else (votes.members, votes.items, votes.labels)
    )
    counts = np.zeros((data.n_items, data.n_classes))
    np.add.at(counts, (items, labels), 1)
    n_votes = counts.sum(axis=1)
    has_others = n_votes[items] > 1
    shared = (counts[items, labels] - 1)[has_others] / (n_votes[items] - 1)[has_others]
    agreement = _by_member(data, members[has_others], items[has_others], shared)
    confidence = _confidence(data)
    with np.errstate(invalid="ignore"):
        shares = counts / n_votes[:, None]
    parts = {AGREEMENT: agreement, SHARES: shares, CONFIDENCE: confidence}
    member_names = data.members if data.n_members <= MOST_APART else [TOGETHER]
    names = {AGREEMENT: member_names, SHARES: data.classes, CONFIDENCE: member_names}
    return ItemNumbers(
        np.concatenate(list(parts.values()), axis=1),
        np.repeat(list(parts), [part.shape[1] for part in parts.values()]),
        [name for kind in parts for name in names[kind]],
    )


def _confidence(data: Predictions) -> FloatArray:
    """How sure members are; labels say nothing of it."""
    members, items, values = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)], [np.empty(0)]
    for member in data.soft:
        largest = to_numpy(member.rows).astype(np.float64).max(axis=1)
        answered = np.arange(data.n_items) if member.items is None else member.items
        is_given = ~np.isnan(largest)
        items.append(answered[is_given])
        values.append(largest[is_given])
        members.append(np.full(int(is_given.sum()), member.position))
    return _by_member(data, np.concatenate(members), np.concatenate(items), np.concatenate(values))


def _by_member(data: Predictions, members: IntArray, items: IntArray, values: FloatArray) -> FloatArray:
    """The mean of some values by item and member (items, members), or by item alone (items, 1) of many members."""
    n_columns = data.n_members if data.n_members <= MOST_APART else 1
    places = items * n_columns + (members if n_columns > 1 else 0)
    size = data.n_items * n_columns
    n_values = np.bincount(places, minlength=size)
    sums = np.bincount(places, weights=values, minlength=size)
    return np.where(n_values > 0, sums / np.maximum(n_values, 1), np.nan).reshape(data.n_items, n_columns)
