"""`monitor`: estimated accuracy over the windows of a stream, and alarms where something has changed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from itertools import chain, islice
from numbers import Integral
from pathlib import Path
from typing import Any, final

import numpy as np

from consilience.data.labels import known_labels
from consilience.data.predictions import Predictions
from consilience.data.reading import check_number
from consilience.insight.accuracy.estimates import FUSED_ANSWER
from consilience.insight.monitoring.drift import DriftTest, change_of, drift, sentences, who_stopped
from consilience.insight.monitoring.windows import (
    AGREEMENT,
    CONFIDENCE,
    SHARES,
    Seen,
    estimate_columns,
    look,
    on_axes_of,
    together,
    windows_of,
)
from consilience.insight.warnings import FALLEN, Warned
from consilience.system.arrays import FloatArray
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
    windows = windows_of(stream, window, labels)
    first = next(windows, None)
    if first is None:
        raise InvalidPredictions("the stream must have at least one batch; got none")
    windows = chain([first], windows)
    n_first = FIRST_WINDOWS if reference is None else reference
    names: list[Any]
    if isinstance(n_first, Integral):
        check_number("reference", n_first, least=1, integer=True)
        n_first = int(n_first)
        looks = [look(*part, class_shares) for part in islice(windows, n_first)]
        names = list(range(len(looks)))
    else:
        earlier = on_axes_of(first[0], reference, "the reference")
        looks, names = [look(earlier, class_shares=class_shares)], ["reference"]
        n_first = 0
    seen, old = [part for part, _ in looks], together([numbers for _, numbers in looks])
    n_reference = len(seen)
    tests: list[DriftTest | None] = [None] * n_reference
    before = [part.accuracies.answers[FUSED_ANSWER] for part in seen]
    changes = []
    for place, part in enumerate(windows, n_first):
        now, numbers = look(*part, class_shares)
        tested = drift(old, numbers, false_alarms)
        if tested.is_alarm:
            changes.append(change_of(place, tested, old, numbers, now.accuracies.answers[FUSED_ANSWER]))
        seen.append(now)
        tests.append(tested)
        names.append(place)
    if tests[-1] is None:
        raise ValueError(
            f"the stream must have more windows than the {n_first} of the reference; got {len(seen)}: make windows "
            "smaller, or give reference="
        )
    return Monitoring(
        windows=_window_table(names, seen, tests),
        members=_member_table(names, seen, first[0].members),
        shares=np.stack([part.shares for part in seen]),
        classes=first[0].classes,
        alarms=sentences(changes, before),
        false_alarms=false_alarms,
        silent=who_stopped(seen[:n_reference], seen[n_reference:], n_first, first[0].members),
    )


# ---- tables -----------------------------------------------------------------------------------------------


def _window_table(names: list[Any], seen: list[Seen], tests: list[DriftTest | None]) -> Table:
    fused = [part.accuracies.answers[FUSED_ANSWER] for part in seen]
    return Table(
        {
            "window": names,
            "items": [part.n_items for part in seen],
            "reference": [test is None for test in tests],
            **estimate_columns(fused),
            "agreement": [part.agreement for part in seen],
            "confidence": [part.confidence for part in seen],
            "p-value": [float("nan") if test is None else test.p_value for test in tests],
            "alarm": [test is not None and test.is_alarm for test in tests],
        }
    )


def _member_table(names: list[Any], seen: list[Seen], members: list[Any]) -> Table:
    return Table(
        {
            "window": [name for name in names for _ in members],
            "member": [str(member) for _ in names for member in members],
            "answered": [share for part in seen for share in part.answered.tolist()],
            **estimate_columns([found for part in seen for found in part.accuracies.members]),
        }
    )


# ---- one panel and a reference --------------------------------------------------------------------------

FALSE_ALARMS = 0.01  # the rate of the test

MOST_MEASURED = 10


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
        return [
            Warned(
                finding="the fused answer is probably right on fewer items than in the reference, by 5 points or more",
                because=f"it is estimated to be right on {now:.0%}, and on {then:.0%} there; the loss may be larger",
                advice="Before you use it, label some of these items drawn at random, 50 say: they tell how often it "
                "is right, and correct it",
            )
        ]

    def _doubt(self, kind: str) -> str:
        p_value = self.p_values[kind]
        return f"changed, p = {p_value:.2g}" if p_value <= FALSE_ALARMS else f"no change to speak of, p = {p_value:.2g}"


def since(data: Predictions, reference: Any, reference_labels: Any = None) -> Since:
    """Compare a panel with a reference, which may have labels."""
    before = on_axes_of(data, reference, "the reference")
    known = known_labels(reference_labels, before.axes)
    (old, was), (new, now) = look(before, known), look(data)
    found = [*old.accuracies.members, old.accuracies.answers[FUSED_ANSWER]]
    measured = Table({"member": [*map(str, data.members), FUSED_ANSWER], **estimate_columns(found)})
    p_values = drift(was, now, FALSE_ALARMS).by_kind
    return Since(old, new, p_values, (old.fused, new.fused), None if known is None else measured)
