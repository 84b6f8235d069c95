"""Whether a window differs from a reference: a permutation test, whose false-alarm rate is the one asked for.

If nothing has changed, items of the window and of the reference could have changed places. So the items of both are
dealt out again at random, many times, and the window is as unusual as its place among these deals. Three statistics
are compared, one each for agreement, class shares and confidence: the sum of the squared, standardized differences of
the means. The most unusual of the three counts, and its place among the most unusual of each deal is the p-value, which
is at most α with a probability of at most α (Westfall and Young 1993).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from consilience.data.predictions import Predictions
from consilience.insight.agreement import labels_of, ratio
from consilience.system.arrays import FloatArray, IntArray, to_numpy

BoolArray = npt.NDArray[np.bool_]

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

    @classmethod
    def of_all(cls, parts: Sequence[ItemNumbers]) -> ItemNumbers:
        """The numbers of the items of several windows."""
        return cls(np.concatenate([own.values for own in parts]), parts[0].kinds, parts[0].names)

    def take(self, items: IntArray) -> ItemNumbers:
        """The numbers of some items."""
        return ItemNumbers(self.values[items], self.kinds, self.names)

    def mean(self, kind: str) -> FloatArray:
        """The means over the items of all numbers of a kind; NaN where there are none."""
        values = self.values[:, self.kinds == kind]
        return ratio(np.nansum(values, axis=0), (~np.isnan(values)).sum(axis=0))


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
    whose = data.members if data.n_members <= MOST_APART else [ALL_MEMBERS]
    return ItemNumbers(
        np.concatenate([agreement, shares, _confidence(data)], axis=1),
        np.repeat(KINDS, [len(whose), data.n_classes, len(whose)]),
        [*whose, *data.classes, *whose],
    )


def _confidence(data: Predictions) -> FloatArray:
    """How sure members are; labels say nothing of it."""
    answers = [np.empty((3, 0))]
    for member in data.soft:
        largest = to_numpy(member.rows).astype(np.float64).max(axis=1)
        largest = largest[~np.isnan(largest)]
        answers.append(np.stack([np.full(len(largest), member.position), member.answered(), largest]))
    members, items, values = np.concatenate(answers, axis=1)
    return _by_member(data, members.astype(np.intp), items.astype(np.intp), values)


def _by_member(data: Predictions, members: IntArray, items: IntArray, values: FloatArray) -> FloatArray:
    """The mean of some values by item and member (items, members), or by item alone (items, 1) of many members."""
    n_columns = data.n_members if data.n_members <= MOST_APART else 1
    places = items * n_columns + (members if n_columns > 1 else 0)
    size = data.n_items * n_columns
    sums, n_values = (np.bincount(places, weights=own, minlength=size) for own in (values, None))
    return ratio(sums, n_values).reshape(data.n_items, n_columns)


# ---- the test -----------------------------------------------------------------------------------------

DEALS = 20  # so many deals for each one that may be as unusual: at a rate of 1 % there are 2,000
MOST_TIMES = 10  # a reference of more windows than this is drawn from: more items would hardly make the test sharper
MOST_TESTED = 100  # so many classes are looked at one by one, and all others together
DEALT_AT_ONCE = 2**21  # deals are made some at a time, so many deals × items


class DriftTest(NamedTuple):
    """How unusual a window is beside a reference."""

    p_value: float
    by_kind: dict[str, float]  # p-values that already count that there are three kinds
    deviations: FloatArray  # (numbers,): each difference of means, in standard errors
    false_alarms: float  # the rate asked for

    @property
    def is_alarm(self) -> bool:
        """Whether anything has changed, at the rate of false alarms asked for."""
        return self.p_value <= self.false_alarms

    @property
    def changed(self) -> list[str]:
        """The kinds that have changed; at least one where there is an alarm."""
        return [kind for kind, p_value in self.by_kind.items() if p_value <= self.false_alarms]


def drift(reference: ItemNumbers, now: ItemNumbers, false_alarms: float) -> DriftTest:
    """Test whether the items of `now` are like those of the reference."""
    from scipy.stats import rankdata  # noqa: PLC0415 - slow to import

    if len(reference) > MOST_TIMES * len(now):
        some = np.random.default_rng(0).choice(len(reference), MOST_TIMES * len(now), replace=False)
        reference = reference.take(some)
    values = np.concatenate([now.values, reference.values])
    (deviations,) = next(_standardized(values, iter([np.arange(len(values))[None] < len(now)])))
    values, kinds = _columns(values, reference.kinds)
    deals = _deals(len(values), len(now), round(DEALS / false_alarms))
    found = np.concatenate([each**2 @ kinds for each in _standardized(values, deals)])  # (1 + deals, kinds)
    # Sums of the same numbers in another order may differ in the last digits.
    ranks = rankdata(-np.round(found, 9), method="max", axis=0) / len(found)
    most_unusual = ranks.min(axis=1)
    by_kind = {kind: float(np.mean(most_unusual <= ranks[0, place])) for place, kind in enumerate(KINDS)}
    return DriftTest(min(by_kind.values()), by_kind, deviations, false_alarms)


def _columns(values: FloatArray, of_kind: npt.NDArray[np.str_]) -> tuple[FloatArray, FloatArray]:
    """All items' numbers (items, numbers), rare classes put together; which is of which kind (numbers, kinds)."""
    kinds = np.array([of_kind == kind for kind in KINDS]).T.astype(np.float64)
    shares = np.flatnonzero(of_kind == SHARES)
    if len(shares) > MOST_TESTED:
        order = shares[np.argsort(-np.nansum(values[:, shares], axis=0), kind="stable")]
        rare, kept = order[MOST_TESTED:], np.setdiff1d(np.arange(values.shape[1]), order[MOST_TESTED:])
        values = np.column_stack([values[:, kept], values[:, rare].sum(axis=1)])
        kinds = np.concatenate([kinds[kept], kinds[rare[:1]]])
    return values, kinds


def _deals(n_items: int, n_now: int, n_deals: int) -> Iterator[BoolArray]:
    """Which items (deals, items) are in the window: as it is, and then in each deal; some deals at a time."""
    yield np.arange(n_items)[None] < n_now
    at_once = max(1, DEALT_AT_ONCE // n_items)
    for number, start in enumerate(range(0, n_deals, at_once)):
        yield _dealt(n_items, n_now, min(at_once, n_deals - start), number)


@lru_cache(maxsize=8)
def _dealt(n_items: int, n_now: int, n_deals: int, seed: int) -> BoolArray:
    """Some deals; they are kept, since most windows of a stream have the same size."""
    keys = np.random.default_rng(seed).random((n_deals, n_items))
    return np.asarray(keys <= np.partition(keys, n_now - 1, axis=1)[:, n_now - 1, None])


def _standardized(values: FloatArray, deals: Iterator[BoolArray]) -> Iterator[FloatArray]:
    """For each deal (deals, items), true of the items of the window: the differences of means, in standard errors."""
    is_given = ~np.isnan(values)
    n_all = is_given.sum(axis=0)
    centered = np.where(is_given, values - np.nansum(values, axis=0) / np.maximum(n_all, 1), 0.0)
    variance = (centered**2).sum(axis=0) / np.maximum(n_all, 1)
    is_complete, given = bool(is_given.all()), is_given.astype(np.float64)
    for is_now in deals:
        chosen = is_now.astype(np.float64)
        sums = chosen @ centered
        n_now = chosen.sum(axis=1, keepdims=True) if is_complete else chosen @ given
        n_before = n_all - n_now
        # The sum over all items is zero, so that the other sum is the same with another sign.
        difference = sums / np.maximum(n_now, 1) + sums / np.maximum(n_before, 1)
        error = np.sqrt(variance * (1 / np.maximum(n_now, 1) + 1 / np.maximum(n_before, 1)))
        counts = (n_now > 0) & (n_before > 0) & (error > 1e-12)
        yield np.divide(difference, error, out=np.zeros_like(difference), where=counts)
