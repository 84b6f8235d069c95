"""Members who stop answering. The test for drift compares answers, so it does not notice that some are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consilience.insight.monitoring.look import Seen

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
    if len(windows) == last - windows[0] + 1 and len(windows) > 1:
        return f"from window {windows[0]} on"
    return (
        f"in window {windows[0]}" if len(windows) == 1 else f"in {len(windows)} windows, first in window {windows[0]}"
    )
