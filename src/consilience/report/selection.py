"""Choose the members, classes and items of a large ensemble that a report shows."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from consilience.report.items import ItemAnswers
    from consilience.system.arrays import FloatArray, IntArray


LONGEST_TEXT = 200
"""Longer names are cut."""


def rounded(values: Any, digits: int = 4) -> Any:
    """Round a number or an array to plain numbers in nested lists. What is not finite becomes None.

    >>> rounded([[0.123456, float("nan")]])
    [[0.1235, None]]
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim:
        return [rounded(value, digits) for value in array]
    return round(float(array), digits) + 0.0 if np.isfinite(array) else None


def text(name: Any, most: int = LONGEST_TEXT) -> str:
    """A name as text, cut if it is too long."""
    words = str(name)
    return words if len(words) <= most else words[: most - 1] + "…"


ENOUGH_TO_RANK = 20
"""Members with fewer answers do not count as best or worst, unless all have fewer: three right answers are luck."""

SHARE_OF_CHANGED = 0.6
"""The largest share of changed items among those shown, if there are others to show."""


class ShownItems(NamedTuple):
    """The items shown, in order, why each is shown, and how many items changed in all."""

    positions: IntArray
    reasons: list[str]
    n_changed: int


def members_to_show(n_answers: IntArray, accuracy: FloatArray, most: int) -> IntArray:
    """All members if they are few; else a third each: most answers, best and worst estimated accuracy."""
    if len(n_answers) <= most:
        return np.arange(len(n_answers))
    is_known = (n_answers >= min(ENOUGH_TO_RANK, n_answers.max())) & ~np.isnan(accuracy)
    known = np.flatnonzero(is_known)
    by_accuracy = known[np.argsort(-accuracy[known], kind="stable")]
    rankings = [np.argsort(-n_answers, kind="stable"), by_accuracy, by_accuracy[::-1]]
    return np.sort(np.array(list(first_of_each(rankings, most)), dtype=np.intp))


def first_of_each(rankings: Sequence[IntArray], most: int) -> dict[int, int]:
    """Take from each ranking in turn until `most` positions are found; map each to the number of its ranking."""
    found: dict[int, int] = {}
    for turn in zip_longest(*(ranking[:most] for ranking in rankings)):
        for number, position in enumerate(turn):
            if position is not None and len(found) < most:
                found.setdefault(int(position), number)
    return found


def largest_cells(table: FloatArray, most: int) -> list[tuple[int, int]]:
    """The positive cells off the diagonal of a square table, the largest first, at most so many."""
    values = np.where(np.eye(len(table), dtype=bool), 0, table).ravel()
    most = min(most, values.size)
    candidates = np.argpartition(-values, most - 1)[:most]
    ordered = candidates[np.lexsort((candidates, -values[candidates]))]
    return [(int(cell // len(table)), int(cell % len(table))) for cell in ordered if values[cell] > 0]


def items_to_show(
    consensus: ItemAnswers, is_changed: npt.NDArray[np.bool_], against: FloatArray, most: int
) -> ShownItems:
    """First the changed items, by decreasing margin; then the most uncertain and the most disputed others.

    `against` is the share of an item's answers that contradict the consensus.
    """
    changed = np.flatnonzero(is_changed)
    changed = changed[np.argsort(-consensus.margin[changed], kind="stable")]
    others = np.flatnonzero(~is_changed)
    n_changed = min(len(changed), max(int(np.ceil(SHARE_OF_CHANGED * most)), most - len(others)))
    uncertain = others[np.argsort(consensus.margin[others], kind="stable")]
    disputed = others[np.lexsort((consensus.margin[others], -against[others]))]
    found = first_of_each([uncertain, disputed], most - n_changed)
    rest = sorted(found, key=lambda position: found[position])
    reasons = ["changed"] * n_changed + [("uncertain", "disputed")[found[position]] for position in rest]
    return ShownItems(np.array([*changed[:n_changed], *rest], dtype=np.intp), reasons, len(changed))
