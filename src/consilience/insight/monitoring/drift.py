"""Whether a window differs from a reference: a permutation test, whose false-alarm rate is the one asked for.

If nothing has changed, items of the window and of the reference could have changed places. So the items of both are
dealt out again at random, many times, and the window is as unusual as its place among these deals. Three statistics
are compared, one each for agreement, class shares and confidence: the sum of the squared, standardized differences of
the means. The most unusual of the three counts, and its place among the most unusual of each deal is the p-value, which
is at most α with a probability of at most α (Westfall and Young 1993).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from consilience.insight.accuracy.estimates import AccuracyEstimate
from consilience.insight.monitoring.windows import AGREEMENT, ALL_MEMBERS, CONFIDENCE, KINDS, SHARES, ItemNumbers, Seen
from consilience.system.arrays import FloatArray

BoolArray = npt.NDArray[np.bool_]

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


EXPECTED = 10
"""A member who was expected to answer so many items of a window, and answers none, has stopped: by chance, that happens
once in 20,000 windows."""


def who_stopped(before: Sequence[Seen], after: Sequence[Seen], first: int, members: Sequence[Any]) -> list[str]:
    """A sentence for each member who answers nothing in some windows; the first of `after` has the number `first`."""
    n_items = np.array([part.n_items for part in before])
    usual = n_items @ np.stack([part.answered for part in before]) / n_items.sum()
    told = []
    for place, name in enumerate(members):
        silent = [
            first + number
            for number, part in enumerate(after)
            if part.answered[place] == 0 and usual[place] * part.n_items >= EXPECTED
        ]
        if silent:
            told.append(
                f"member {str(name)!r} answers no item {_when(silent, first + len(after) - 1)}; before, it answered "
                f"{usual[place]:.0%}. Next: find out why; meanwhile the others are fused without it"
            )
    return told


def _when(windows: list[int], last: int) -> str:
    """When a member is silent.

    >>> _when([3], 9), _when([3, 5], 9), _when([8, 9], 9)
    ('in window 3', 'in 2 windows, first in window 3', 'from window 8 on')
    """
    first, is_to_the_end = windows[0], len(windows) == last - windows[0] + 1
    if len(windows) == 1:
        return f"in window {first}"
    return f"from window {first} on" if is_to_the_end else f"in {len(windows)} windows, first in window {first}"


NEXT = {
    AGREEMENT: "label some 50 of these items, drawn at random, and give them as labels= to measure the accuracy",
    SHARES: "find out whether the classes have become as frequent as that; if not, label some 50 items drawn at random",
    CONFIDENCE: "members still agree as before, so look at what has changed in the items before you use probabilities",
}
"""What to do, by the first kind that has changed."""

NEXT_WITH_LABELS = "compare the members' measured accuracies, and train again or leave out those that have fallen"


class AlarmedWindow(NamedTuple):
    """An alarmed window."""

    window: int
    changed: str
    next: str
    fused: AccuracyEstimate


def change_of(
    window: int, tested: DriftTest, reference: ItemNumbers, now: ItemNumbers, fused: AccuracyEstimate
) -> AlarmedWindow:
    """What has changed in an alarmed window, given the accuracy of its fused answer."""
    kinds = tested.changed
    changed = "; ".join(_changed(kind, tested, reference, now) for kind in kinds)
    return AlarmedWindow(window, changed, NEXT_WITH_LABELS if fused.is_measured else NEXT[kinds[0]], fused)


def sentences(changes: Sequence[AlarmedWindow], before: Sequence[AccuracyEstimate]) -> list[str]:
    """A sentence for each run of alarmed windows, about the last; `before` are the accuracies of the reference."""
    was, told = f"{np.mean([found.value for found in before]):.0%}, {_how(before)}", []
    for _, run in groupby(enumerate(changes), lambda numbered: numbered[1].window - numbered[0]):
        alarmed = [change for _, change in run]
        first, last = alarmed[0].window, alarmed[-1]
        when = f"window {first}" if len(alarmed) == 1 else f"windows {first} to {last.window}; in the last of them"
        fused = f"the fused answer is right on {last.fused}, {_how([last.fused])}, and was on {was}"
        told.append(f"{when}: {last.changed}; {fused}. Next: {last.next}")
    return told


def _how(found: Sequence[AccuracyEstimate]) -> str:
    return "measured" if all(one.is_measured for one in found) else "estimated"


def _changed(kind: str, tested: DriftTest, reference: ItemNumbers, now: ItemNumbers) -> str:
    """How a kind of numbers has changed, and which of them has most."""
    old, new = reference.mean(kind), now.mean(kind)
    places = np.flatnonzero(reference.kinds == kind)
    most = int(np.abs(tested.deviations[places]).argmax())
    name, one = reference.names[places[most]], f"{new[most]:.0%}, before {old[most]:.0%}"
    if kind == SHARES:
        return f"the share of votes for class {name!r} is {one}"
    less = "less" if np.nanmean(new) < np.nanmean(old) else "more"
    what = f"members agree {less} with each other" if kind == AGREEMENT else f"members are {less} sure"
    all_of_them = f"{np.nanmean(new):.0%}, before {np.nanmean(old):.0%}"
    return f"{what} ({all_of_them})" + ("" if name == ALL_MEMBERS else f", most of all {name!r} ({one})")
