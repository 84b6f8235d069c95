"""A stream as windows: batches as they come, or one panel cut in the order of its items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from consilience.aggregators.consensus.consensus import Consensus
from consilience.data.labels import known_labels
from consilience.data.predictions import Predictions, as_single_items
from consilience.data.reading import check_number
from consilience.insight.accuracy.estimates import FUSED_ANSWER, AccuracyEstimate, Estimates, named_estimates, voters_of
from consilience.insight.agreement import agreement, answered_shares, labels_of, ratio
from consilience.passes.reader import lies_on_cluster, read_anywhere
from consilience.system.arrays import FloatArray, IntArray, is_array, position_of_largest, to_numpy
from consilience.system.errors import InvalidPredictions

LEAST_ITEMS = 10  # of fewer items nothing can be said

NONE_LEFT = object()

Window = tuple[Predictions, "IntArray | None"]
"""The predictions of a window, and what is known of the truth."""


def windows_of(stream: Any, window: int | None, labels: Any) -> Iterator[Window]:
    """The windows of a stream, all on the axes of the first one."""
    return _batches(stream, labels) if window is None else _cut(stream, window, labels)


def on_axes_of(first: Predictions, other: Any, what: str) -> Predictions:
    """Predictions with members and classes as in others; absent members are missing."""
    data = as_single_items(other)
    try:
        return data.aligned(first.members, first.classes)
    except InvalidPredictions as error:
        raise InvalidPredictions(f"{what} must have the members and classes of the first: {error}") from None


def _cut(stream: Any, window: int, labels: Any) -> Iterator[Window]:
    """Windows of so many items; a rest of less than half a window belongs to the last one."""
    check_number("window", window, least=LEAST_ITEMS, integer=True)
    data = read_anywhere(stream) if lies_on_cluster(stream) else as_single_items(stream)
    if getattr(data, "are_votes", False):
        raise InvalidPredictions("a stream must have an order; votes in a Dask frame have none: give a list of batches")
    if window > data.n_items:
        raise ValueError(f"window must be at most the stream's {data.n_items} items; got {window}")
    known = known_labels(labels, data.axes)
    bounds = [*range(0, data.n_items, window), data.n_items]
    if len(bounds) > 2 and bounds[-1] - bounds[-2] < window / 2:
        del bounds[-2]
    for start, stop in pairwise(bounds):
        yield data.take(slice(start, stop)), None if known is None else known[start:stop]


def _batches(stream: Any, labels: Any) -> Iterator[Window]:
    """Batches as they come; labels come along, one entry for each batch."""
    is_frame = hasattr(stream, "columns")
    is_panel = is_frame or isinstance(stream, Predictions | Mapping | str | PathLike) or is_array(stream)
    if is_panel or not isinstance(stream, Iterable):
        raise ValueError(
            "without a window, the stream must be an iterable of batches, and one panel needs window=, the number of "
            f"items in each window; got a {type(stream).__name__}"
        )
    first: Predictions | None = None
    some_labels = None if labels is None else iter(labels)
    for place, batch in enumerate(stream):
        data = as_single_items(batch) if first is None else on_axes_of(first, batch, f"batch {place}")
        first = data if first is None else first
        if data.n_items < LEAST_ITEMS:
            raise InvalidPredictions(f"batch {place} must have at least {LEAST_ITEMS} items; got {data.n_items}")
        own = NONE_LEFT if some_labels is None else next(some_labels, NONE_LEFT)
        if own is NONE_LEFT and some_labels is not None:
            raise InvalidPredictions(f"labels must have an entry for each batch; got {place}")
        yield data, None if own is NONE_LEFT else known_labels(own, data.axes)


class Seen(NamedTuple):
    """What is kept of a window."""

    n_items: int
    accuracies: Estimates
    agreement: float  # Krippendorff's alpha
    confidence: float
    shares: FloatArray  # (classes,)
    answered: FloatArray  # (members,): the share of the items that each answers
    fused: float  # how often the fused answer is right, estimated whatever is known


def look(data: Predictions, known: IntArray | None = None, class_shares: Any = None) -> tuple[Seen, ItemNumbers]:
    """Look at a window by itself, with the numbers that only the test needs.

    Where true classes are known (items,), accuracies are measured.
    """
    model = Consensus(class_shares=class_shares).fit(data)
    answers = {FUSED_ANSWER: position_of_largest(model.posterior_)}
    voters = voters_of(data, model, answers)
    numbers = numbers_of(data)
    confidence = numbers.mean(CONFIDENCE)
    seen = Seen(
        n_items=data.n_items,
        accuracies=named_estimates(voters, answers, known),
        agreement=agreement(data).alpha.value,
        confidence=float(np.nanmean(confidence)) if np.isfinite(confidence).any() else float("nan"),
        shares=numbers.mean(SHARES),
        answered=answered_shares(labels_of(data.harden()), data.n_members, data.n_items),
        fused=float(voters.believed[-1]),
    )
    return seen, numbers


def estimate_columns(found: list[AccuracyEstimate]) -> dict[str, list[Any]]:
    """Accuracies as columns of a table."""
    return {
        "accuracy": [one.value for one in found],
        "from": [one.low for one in found],
        "to": [one.high for one in found],
        "measured": [one.is_measured for one in found],
    }


# ---- numbers of each item -------------------------------------------------------------------------------

AGREEMENT, SHARES, CONFIDENCE = KINDS = ("agreement", "class shares", "confidence")

MOST_APART = 32  # up to so many members are looked at one by one, more of them only together

ALL_MEMBERS = "all members"


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
        """The means over the items of all numbers of a kind; NaN where there are none."""
        values = self.values[:, self.kinds == kind]
        return ratio(np.nansum(values, axis=0), (~np.isnan(values)).sum(axis=0))


def together(parts: list[ItemNumbers]) -> ItemNumbers:
    """The numbers of several sets of items of one stream."""
    return ItemNumbers(np.concatenate([part.values for part in parts]), parts[0].kinds, parts[0].names)


def numbers_of(data: Predictions) -> ItemNumbers:
    """Look at each item.

    Of each member: the share of the other votes that are for the class it votes for, and the largest of its
    probabilities. Of each class: its share of the votes. All are numbers of one item, so that items can change places
    between two samples if these do not differ.
    """
    votes = labels_of(data.votes())
    members, items, labels = votes.members, votes.items, votes.labels
    counts = np.zeros((data.n_items, data.n_classes))
    np.add.at(counts, (items, labels), 1)
    n_votes = counts.sum(axis=1)
    has_others = n_votes[items] > 1
    shared = (counts[items, labels] - 1)[has_others] / (n_votes[items] - 1)[has_others]
    agreement = _by_member(data, members[has_others], items[has_others], shared)
    with np.errstate(invalid="ignore"):
        shares = counts / n_votes[:, None]
    parts = {AGREEMENT: agreement, SHARES: shares, CONFIDENCE: _confidence(data)}
    member_names = data.members if data.n_members <= MOST_APART else [ALL_MEMBERS]
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
    sums, n_values = (np.bincount(places, weights=own, minlength=size) for own in (values, None))
    return ratio(sums, n_values).reshape(data.n_items, n_columns)
