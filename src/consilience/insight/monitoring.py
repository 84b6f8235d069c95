"""Watch a stream of predictions: estimated accuracy over time, and alarms where something has changed.

A stream is a list of batches, or one panel cut in the order of its items. Each window is looked at, `drift` tests
whether it differs from a reference, and alarms say what has changed. `since` is the same for one panel and a reference.
`report.stream` draws a stream.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import chain, groupby, islice, pairwise, repeat
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from consilience.aggregators.consensus.consensus import Consensus
from consilience.data.labels import known_labels
from consilience.data.predictions import Predictions, as_single_items
from consilience.data.validation import check_number
from consilience.insight.accuracy.estimates import FUSED_ANSWER, AccuracyEstimate, Estimates, named_estimates, voters_of
from consilience.insight.agreement import alpha_of, coverage_of, labels_of
from consilience.insight.drift import (
    AGREEMENT,
    ALL_MEMBERS,
    CONFIDENCE,
    KINDS,
    SHARES,
    DriftTest,
    ItemNumbers,
    drift,
    numbers_of,
)
from consilience.insight.warnings import FALLEN, TELLING, Warned
from consilience.passes.reader import lies_on_cluster, read_anywhere
from consilience.system.arrays import FloatArray, IntArray, is_array, position_of_largest
from consilience.system.atomic import whole_file
from consilience.system.errors import InvalidPredictions
from consilience.system.tables import Table

FIRST_WINDOWS = 5  # so many windows are the reference where none is given

RAREST_ALARMS, MOST_ALARMS = 1e-4, 0.5
"""False alarms rarer than this would take too long to test for; more frequent ones are no alarms."""


@final
@dataclass(frozen=True, eq=False)
class Monitoring:
    """What was seen in the windows of a stream; prints as a table and the alarms.

    Attributes
    ----------
    windows
        One row per window: how many items it has; whether it belongs to the reference; the accuracy of the fused
        answer, with the 90 % interval `from` … `to`; how far members agree beyond chance (Krippendorff's alpha: 0 as
        blind votes would, 1 always); how sure they are in the mean; the p-value of the test for drift; whether it is an
        alarm. A reference that was given is the first row.
    members
        One row per window and member: the share of the items that it `answered`, and its accuracy with the interval,
        `measured` where there are labels.
    shares
        (windows, classes): each class's share of the votes; the classes are `classes`.
    alarms
        What has changed, since when, and what to do next: a sentence for each run of alarmed windows.
    false_alarms
        The rate that was asked for.
    silent
        A sentence for each member who answers nothing in some windows, and used to.
    """

    windows: Table
    members: Table
    shares: FloatArray
    classes: list[Any]
    alarms: list[str]
    false_alarms: float
    silent: list[str]

    def __repr__(self) -> str:
        """The windows, and the alarms."""
        return "\n".join([repr(self.windows), "", *self.told()])

    def told(self) -> list[str]:
        """Who has stopped answering, and the alarms, or that there is none."""
        calm = (
            "no alarm: no window differs from the reference by more than chance explains. Where nothing changes, at "
            f"most one window in {1 / self.false_alarms:,.0f} is a false alarm"
        )
        alarms = [f"! {alarm}" for alarm in self.alarms] or [calm]
        return [*(f"! {sentence}" for sentence in self.silent), *alarms]

    def svg(self) -> str:
        """The accuracy of the fused answer over time, with its band and the alarms, as an SVG element."""
        return str(_drawing().figure(self))

    def to_html(self, path: str | os.PathLike[str]) -> Path:
        """Write one page to look at, which fetches nothing, and return its path."""
        with whole_file(path) as file:
            file.write(_drawing().page(self).encode("utf-8", errors="replace"))
        return Path(path)


def _drawing() -> Any:
    return import_module("consilience.report.stream")  # by name: a room does not import one below it


def monitor(
    stream: Any,
    labels: Any = None,
    *,
    window: int | None = None,
    reference: Any = None,
    false_alarms: float = 0.01,
    class_shares: Any = None,
) -> Monitoring:
    """Estimate accuracies over the windows of a stream, without labels, and raise an alarm where something changes.

    Each window is fused by a `Consensus` of its own, and accuracies are estimated as `diagnose` does. A test compares
    each window with a reference: how far each member's votes agree with the others', the shares of the classes, and how
    sure members are. If nothing has changed, a window is an alarm with a probability of at most `false_alarms`.

    Parameters
    ----------
    stream
        An iterable of batches, each whatever `Predictions` takes, each one a window; or, with `window`, one panel,
        whose items are in the order of time.
    labels
        True classes, -1 where unknown: of each item of one panel, or an iterable with an entry for each batch. Where a
        window has ten labelled votes of a member, drawn at random, its accuracy is measured. They change no alarm.
    window
        Cut one panel into windows of so many items.
    reference
        Predictions of the same members from before; or how many of the first windows are the reference, 5 by default.
    false_alarms
        The share of windows without any change that may be alarms. It holds if items are drawn independently; items
        that come in runs, such as the frames of a film, raise more.
    class_shares
        How frequent the classes are in each window, where you know it. They change no alarm.

    Examples
    --------
    >>> import consilience as cs
    >>> upright, rotated = (cs.datasets.shifted_digits(angle).predictions for angle in (0, 30))
    >>> batches = [upright.take(slice(start, start + 100)) for start in range(0, 600, 100)]
    >>> found = cs.monitor([*batches, rotated.take(slice(600, 700))])
    >>> found.windows["alarm"]
    [False, False, False, False, False, False, True]
    """
    if isinstance(labels, int):
        raise TypeError(f"monitor takes labels second, and the window by name: monitor(stream, window={labels})")
    check_number("false_alarms", false_alarms, least=RAREST_ALARMS, most=MOST_ALARMS)
    windows = _batches(stream, labels) if window is None else _cut(stream, window, labels)
    first = next(windows, None)
    if first is None:
        raise InvalidPredictions("the stream must have at least one batch; got none")
    windows, n_first = chain([first], windows), 0
    if reference is None or isinstance(reference, Integral):
        check_number("reference", FIRST_WINDOWS if reference is None else reference, least=1, integer=True)
        n_first = FIRST_WINDOWS if reference is None else int(reference)
        looks = [look(*part, class_shares, name) for name, part in enumerate(islice(windows, n_first))]
    else:
        earlier = on_axes_of(first[0], reference, "the reference")
        looks = [look(earlier, class_shares=class_shares, name="reference")]
    before, usual = [seen for seen, _ in looks], ItemNumbers.of_all([numbers for _, numbers in looks])
    after = []
    for name, part in enumerate(windows, n_first):
        seen, numbers = look(*part, class_shares, name)
        after.append(seen._replace(test=drift(usual, numbers, false_alarms)))
    if not after:
        raise ValueError(
            f"the stream must have more windows than the {n_first} of the reference; got {len(before)}: make windows "
            "smaller, or give reference="
        )
    members, whole = list(map(str, first[0].members)), [*before, *after]
    return Monitoring(
        windows=Table.of_rows(seen.row() for seen in whole),
        members=Table.of_rows(row for seen in whole for row in seen.rows_of(members)),
        shares=np.stack([seen.shares for seen in whole]),
        classes=first[0].classes,
        alarms=_alarms(before, after, usual),
        false_alarms=false_alarms,
        silent=_who_stopped(before, after, members),
    )


# ---- windows -----------------------------------------------------------------------------------------------

LEAST_ITEMS = 10  # of fewer items nothing can be said

NONE_LEFT = object()

Window = tuple[Predictions, IntArray | None]
"""The predictions of a window, and what is known of the truth."""


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
    is_panel = is_frame or isinstance(stream, Predictions | Mapping | str | os.PathLike) or is_array(stream)
    if is_panel or not isinstance(stream, Iterable):
        raise ValueError(
            "without a window, the stream must be an iterable of batches, and one panel needs window=, the number of "
            f"items in each window; got a {type(stream).__name__}"
        )
    first: Predictions | None = None
    some_labels = repeat(None) if labels is None else iter(labels)
    for place, batch in enumerate(stream):
        data = as_single_items(batch) if first is None else on_axes_of(first, batch, f"batch {place}")
        first = data if first is None else first
        if data.n_items < LEAST_ITEMS:
            raise InvalidPredictions(f"batch {place} must have at least {LEAST_ITEMS} items; got {data.n_items}")
        own = next(some_labels, NONE_LEFT)
        if own is NONE_LEFT:
            raise InvalidPredictions(f"labels must have an entry for each batch; got {place}")
        yield data, known_labels(own, data.axes)


class Seen(NamedTuple):
    """What is kept of a window."""

    name: Any
    n_items: int
    accuracies: Estimates
    agreement: float  # Krippendorff's alpha
    means: dict[str, FloatArray]  # of the numbers of the items, by kind
    answered: FloatArray  # (members,): the share of the items that each answers
    fused: float  # how often the fused answer is right, estimated whatever is known
    test: DriftTest | None = None  # None of the reference

    @property
    def shares(self) -> FloatArray:
        """Each class's share of the votes (classes,)."""
        return self.means[SHARES]

    @property
    def confidence(self) -> float:
        """How sure members are in the mean; NaN of members who give labels."""
        sure = self.means[CONFIDENCE]
        return float(np.nanmean(sure)) if np.isfinite(sure).any() else float("nan")

    @property
    def answer(self) -> AccuracyEstimate:
        """How often the fused answer is right, measured where that is known."""
        return self.accuracies.answers[FUSED_ANSWER]

    @property
    def is_alarm(self) -> bool:
        """Whether it differs from the reference."""
        return self.test is not None and self.test.is_alarm

    def row(self) -> dict[str, Any]:
        """The window in a table."""
        return {
            "window": self.name,
            "items": self.n_items,
            "reference": self.test is None,
            **_cells(self.answer),
            "agreement": self.agreement,
            "confidence": self.confidence,
            "p-value": float("nan") if self.test is None else self.test.p_value,
            "alarm": self.is_alarm,
        }

    def rows_of(self, members: Sequence[str]) -> list[dict[str, Any]]:
        """The members of the window in a table."""
        return [
            {"window": self.name, "member": member, "answered": share, **_cells(found)}
            for member, share, found in zip(members, self.answered.tolist(), self.accuracies.members, strict=True)
        ]


def look(
    data: Predictions, known: IntArray | None = None, class_shares: Any = None, name: Any = None
) -> tuple[Seen, ItemNumbers]:
    """Look at a window by itself, with the numbers that only the test needs.

    Where true classes are known (items,), accuracies are measured.
    """
    model = Consensus(class_shares=class_shares).fit(data)
    answers = {FUSED_ANSWER: position_of_largest(model.posterior_)}
    voters = voters_of(data, model, answers)
    labels, numbers = labels_of(data.harden()), numbers_of(data)
    seen = Seen(
        name,
        n_items=data.n_items,
        accuracies=named_estimates(voters, answers, known),
        agreement=alpha_of(labels, data),
        means={kind: numbers.mean(kind) for kind in KINDS},
        answered=coverage_of(labels, data.n_members, data.n_items)["coverage"],
        fused=float(voters.believed[-1]),
    )
    return seen, numbers


def _cells(found: AccuracyEstimate) -> dict[str, Any]:
    return {"accuracy": found.value, "from": found.low, "to": found.high, "measured": found.is_measured}


# ---- alarms -----------------------------------------------------------------------------------------------

EXPECTED = 10
"""A member who was expected to answer so many items of a window, and answers none, has stopped: by chance, that happens
once in 20,000 windows."""


def _who_stopped(before: Sequence[Seen], after: Sequence[Seen], members: Sequence[str]) -> list[str]:
    """A sentence for each member who answers nothing in some windows."""
    usual = np.average([seen.answered for seen in before], axis=0, weights=[seen.n_items for seen in before])
    told = []
    for place, (member, share) in enumerate(zip(members, usual, strict=True)):
        silent = [seen.name for seen in after if seen.answered[place] == 0 and seen.n_items * share >= EXPECTED]
        if silent:
            told.append(
                f"member {member!r} answers no item {_when(silent, after[-1].name)}; before, it answered {share:.0%}. "
                "Next: find out why; meanwhile the others are fused without it"
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


def _alarms(before: Sequence[Seen], after: Sequence[Seen], usual: ItemNumbers) -> list[str]:
    """A sentence for each run of alarmed windows, about the last."""
    then = [seen.answer for seen in before]
    was, told = f"{np.mean([found.value for found in then]):.0%}, {_how(then)}", []
    for _, run in groupby(after, lambda seen: seen.is_alarm):
        first, *others = run
        last = others[-1] if others else first
        if last.test is None or not last.is_alarm:
            continue
        several = f"windows {first.name} to {last.name}; in the last of them"
        now, kinds = last.answer, last.test.changed
        changed = "; ".join(_changed(kind, last, last.test, usual) for kind in kinds)
        told.append(
            f"{several if others else f'window {first.name}'}: {changed}; the fused answer is right on "
            f"{now}, {_how([now])}, and was on {was}. Next: {NEXT_WITH_LABELS if now.is_measured else NEXT[kinds[0]]}"
        )
    return told


def _how(found: Sequence[AccuracyEstimate]) -> str:
    return "measured" if all(one.is_measured for one in found) else "estimated"


def _changed(kind: str, seen: Seen, tested: DriftTest, usual: ItemNumbers) -> str:
    """How a kind of numbers has changed, and which of them has most."""
    old, new = usual.mean(kind), seen.means[kind]
    places = np.flatnonzero(usual.kinds == kind)
    most = int(np.abs(tested.deviations[places]).argmax())
    name, one = usual.names[places[most]], f"{new[most]:.0%}, before {old[most]:.0%}"
    if kind == SHARES:
        return f"the share of votes for class {name!r} is {one}"
    less = "less" if np.nanmean(new) < np.nanmean(old) else "more"
    what = f"members agree {less} with each other" if kind == AGREEMENT else f"members are {less} sure"
    all_of_them = f"{np.nanmean(new):.0%}, before {np.nanmean(old):.0%}"
    return f"{what} ({all_of_them})" + ("" if name == ALL_MEMBERS else f", most of all {name!r} ({one})")


# ---- one panel and a reference --------------------------------------------------------------------------

FALSE_ALARMS = 0.01  # the rate of the test
MOST_MEASURED = 10  # so many members are told as measured


@final
@dataclass(frozen=True, eq=False)
class Since:
    """A panel beside a reference; prints as a few lines.

    Attributes
    ----------
    then, now
        What was seen in each: `agreement` (Krippendorff's alpha), `confidence`, `shares` of the classes.
    p_values
        By kind: how likely a difference as large is between two samples of the same.
    fused
        The estimated accuracy of the fused answer then and now, both without labels.
    measured
        The accuracies of the members on the reference, and of its fused answer: one row each with the 90 % interval,
        and whether there were enough labels to measure it;
        None without labels of the reference. Estimates for the panel are not moved by how far they were off on the
        reference: on panels whose truth was known that made them worse (`benchmarks/quality/drift.py`).
    """

    then: Seen
    now: Seen
    p_values: dict[str, float]
    fused: tuple[float, float]
    measured: Table | None

    def lines(self) -> list[str]:
        """Agreement and confidence then and now, and what was measured then."""
        alpha = f"{self.then.agreement:.2f} then, {self.now.agreement:.2f} now"
        sure = f"{self.then.confidence:.0%} then, {self.now.confidence:.0%} now"
        lines = [f"agreement, Krippendorff's alpha: {alpha}; how often members agree: {self._doubt(AGREEMENT)}"]
        if np.isfinite([self.then.confidence, self.now.confidence]).all():
            lines.append(f"mean confidence: {sure} ({self._doubt(CONFIDENCE)})")
        lines.append(f"class shares: {self._doubt(SHARES)}")
        if self.measured is not None:
            rows = [row for row in self.measured.rows() if row["measured"]]
            shown = [*rows[:MOST_MEASURED], rows[-1]] if len(rows) > MOST_MEASURED + 1 else rows
            texts = [f"{row['member']} {row['accuracy']:.0%}" for row in shown if np.isfinite(row["accuracy"])]
            if texts:
                more = f", and {len(rows) - len(shown)} more" if len(shown) < len(rows) else ""
                lines.append(f"right then, as measured: {', '.join(texts)}{more}")
        return lines

    def warned(self) -> list[Warned]:
        """That the fused answer has become worse, if its estimated accuracy has fallen by much."""
        then, now = self.fused
        if not then - now > FALLEN:
            return []
        finding = "the fused answer is probably right on fewer items than in the reference, by 5 points or more"
        advice = f"Before you use it, label some of these items drawn at random, {TELLING}"
        because = f"it is estimated to be right on {now:.0%}, and on {then:.0%} there; the loss may be larger"
        return [Warned(finding, advice, because)]

    def _doubt(self, kind: str) -> str:
        p_value = self.p_values[kind]
        return f"changed, p = {p_value:.2g}" if p_value <= FALSE_ALARMS else f"no change to speak of, p = {p_value:.2g}"


def since(data: Predictions, reference: Any, reference_labels: Any = None) -> Since:
    """Compare a panel with a reference, which may have labels."""
    before = on_axes_of(data, reference, "the reference")
    known = known_labels(reference_labels, before.axes)
    (old, was), (new, now) = look(before, known), look(data)
    found = [*old.accuracies.members, old.answer]
    names = [*map(str, data.members), FUSED_ANSWER]
    measured = Table.of_rows({"member": name, **_cells(one)} for name, one in zip(names, found, strict=True))
    p_values = drift(was, now, FALSE_ALARMS).by_kind
    return Since(old, new, p_values, (old.fused, new.fused), None if known is None else measured)
