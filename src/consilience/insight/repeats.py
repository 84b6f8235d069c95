"""How members repeat themselves: answers of one member to one item that was asked several times, or in both orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.metrics.scores import wilson

if TYPE_CHECKING:
    from consilience.data.answers import HardAnswers
    from consilience.system.arrays import FloatArray, IntArray


class Repeats(NamedTuple):
    """Pairs of answers of a member to the same item; of three answers there are three pairs.

    `first` is told only where the second question is known to have swapped the options, which are the first two
    classes in their first order. It is about items that a member answered once by each of the two (ties, a third
    class, do not count): whose first answer is the first class has picked the first position both times, and else the
    second one. 1/2 shows no bias.
    """

    pairs: IntArray  # (members,)
    same: IntArray  # (members,): pairs of equal answers
    swapped: IntArray  # (members,): items answered twice, by class 0 and by class 1
    first: IntArray  # (members,): those whose first answer is class 0

    @classmethod
    def of(cls, answers: HardAnswers, n_members: int) -> Repeats:
        """Count them. Answers are sorted by item and member, and those of one pair stand as they were given."""
        order = np.lexsort((answers.members, answers.items))
        items, members, labels = answers.items[order], answers.members[order], answers.labels[order]
        is_first = np.append(True, (items[1:] != items[:-1]) | (members[1:] != members[:-1]))[: len(items)]
        starts, group = np.flatnonzero(is_first), np.cumsum(is_first) - 1
        n_answers, owners = np.bincount(group, minlength=len(starts)), members[starts]
        cells, n_same = np.unique(np.stack([group, labels]), axis=1, return_counts=True)
        same = np.bincount(cells[0], n_same * (n_same - 1) // 2, len(starts))
        twice = starts[n_answers == 2]
        differs = twice[(labels[twice] != labels[twice + 1]) & (labels[twice] + labels[twice + 1] == 1)]
        rises = labels[differs] == 0

        def by_member(owner: IntArray, weights: Any = None) -> IntArray:
            return np.bincount(owner, weights, n_members).astype(np.intp)

        pairs = by_member(owners, n_answers * (n_answers - 1) // 2)
        return cls(pairs, by_member(owners, same), by_member(members[differs]), by_member(members[differs], rises))

    def columns(self, *, both_orders: bool) -> dict[str, list[Any]]:
        """What a report on members says of it; nothing where nobody answered an item twice."""
        if not self.pairs.any():
            return {}
        found = {"consistency": _shares(self.same, self.pairs).tolist(), "pairs": self.pairs.tolist()}
        if both_orders:
            low, high = zip(*map(_interval, self.first, self.swapped), strict=True)
            found["first"] = _shares(self.first, self.swapped).tolist()
            found |= {"first from": list(low), "first to": list(high)}
        return found


def _shares(part: IntArray, whole: IntArray) -> FloatArray:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)


def _interval(part: int, whole: int) -> tuple[float, float]:
    return wilson(part / whole, int(whole)) if whole else (np.nan, np.nan)
