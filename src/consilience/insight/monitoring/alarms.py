"""Alarms as sentences: what has changed, since when, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from consilience.insight.monitoring.numbers import AGREEMENT, CONFIDENCE, SHARES, TOGETHER, ItemNumbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consilience.insight.accuracy.estimates import AccuracyEstimate
    from consilience.insight.monitoring.drift import DriftTest

NEXT = {
    AGREEMENT: "label some 50 of these items, drawn at random, and give them as labels= to measure the accuracy",
    SHARES: "find out whether the classes have become as frequent as that; if not, label some 50 items drawn at random",
    CONFIDENCE: "members still agree as before, so look at what has changed in the items before you use probabilities",
}
"""What to do, by the first kind that has changed."""

NEXT_WITH_LABELS = "compare the members' measured accuracies, and train again or leave out those that have fallen"


class Change(NamedTuple):
    """An alarmed window."""

    window: int
    changed: str
    next: str
    fused: AccuracyEstimate


def change_of(
    window: int, tested: DriftTest, reference: ItemNumbers, now: ItemNumbers, fused: AccuracyEstimate
) -> Change:
    """What has changed in an alarmed window, given the accuracy of its fused answer."""
    kinds = tested.changed
    changed = "; ".join(_changed(kind, tested, reference, now) for kind in kinds)
    return Change(window, changed, NEXT_WITH_LABELS if fused.is_measured else NEXT[kinds[0]], fused)


def sentences(changes: Sequence[Change], before: Sequence[AccuracyEstimate]) -> list[str]:
    """A sentence for each run of alarmed windows, about the last; `before` are the accuracies of the reference."""
    runs: list[list[Change]] = []
    for change in changes:
        if runs and runs[-1][-1].window == change.window - 1:
            runs[-1].append(change)
        else:
            runs.append([change])
    return [_sentence(run, before) for run in runs]


def _sentence(run: list[Change], before: Sequence[AccuracyEstimate]) -> str:
    first, last = run[0], run[-1]
    when = (
        f"window {first.window}" if len(run) == 1 else f"windows {first.window} to {last.window}; in the last of them"
    )
    was = np.mean([found.value for found in before])
    accuracy = f"the fused answer is right on {last.fused}, {_how([last.fused])}, and was on {was:.0%}, {_how(before)}"
    return f"{when}: {last.changed}; {accuracy}. Next: {last.next}"


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
    return f"{what} ({all_of_them})" + ("" if name == TOGETHER else f", most of all {name!r} ({one})")
