"""Pairs of members: where they met, how often they said the same, and how often chance alone would make them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from consilience.data.answers import HardAnswers

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.system.arrays import FloatArray, IntArray


MOST_COMPARED = 500
"""Pairs are compared among the members with the most answers, at most this many of them."""


def most_active(answers: HardAnswers, n_members: int) -> IntArray:
    """The members with the most answers, at most `MOST_COMPARED`, in their order."""
    counts = np.bincount(answers.members, minlength=n_members)
    return np.sort(np.argsort(-counts, kind="stable")[:MOST_COMPARED])


def last_answers(answers: HardAnswers) -> HardAnswers:
    """The same, with the last answer alone where a member answered an item several times."""
    items, members = answers.items, answers.members
    is_last = np.ones(len(items), dtype=bool)
    is_last[:-1] = (items[1:] != items[:-1]) | (members[1:] != members[:-1])  # they are sorted by item, then by member
    return HardAnswers(items[is_last], members[is_last], answers.labels[is_last])


class PairCounts(NamedTuple):
    """Counts over the items that both members of a pair answered; rows and columns are the members compared."""

    answered: Any  # (items, members), sparse: 1 where a member answered
    common: FloatArray  # (members, members): on how many items both answered
    same: FloatArray  # (members, members): on how many of them with the same label
    by_chance: FloatArray  # (members, members): the same, if both answered blindly with their shares on these items

    @classmethod
    def of(cls, answers: HardAnswers, compared: IntArray, n_items: int, n_classes: int) -> PairCounts:
        """Count the answers of the members compared, the last one where a member answered an item several times."""
        place = np.full(max(answers.members.max(initial=0), compared.max(initial=0)) + 1, -1)
        place[compared] = np.arange(len(compared))
        last = last_answers(answers)
        is_in = place[last.members] >= 0
        items, members, labels = last.items[is_in], place[last.members[is_in]], last.labels[is_in]
        ones, n_members = np.ones(len(items)), len(compared)
        answered = sparse.csr_array((ones, (items, members)), shape=(n_items, n_members))
        said = sparse.csr_array((ones, (members, items * n_classes + labels)), shape=(n_members, n_items * n_classes))
        common, same = (answered.T @ answered).toarray(), (said @ said.T).toarray()
        if answered.nnz == n_items * n_members:
            totals = np.bincount(members * n_classes + labels, minlength=n_members * n_classes)
            shares = totals.reshape(n_members, n_classes) / n_items
            return cls(answered, common, same, n_items * shares @ shares.T)
        by_chance, order = np.zeros_like(common), np.argsort(labels, kind="stable")
        bounds = np.searchsorted(labels[order], np.arange(n_classes + 1))
        for first, last in pairwise(bounds):  # one class at a time: of all at once there may be too many numbers
            places = members[order[first:last]], items[order[first:last]]
            said = sparse.csr_array((ones[first:last], places), shape=(n_members, n_items))
            said_where_met = (said @ answered).toarray()
            by_chance += said_where_met * said_where_met.T
        return cls(answered, common, same, by_chance / np.maximum(common, 1))

    def agreement(self) -> FloatArray:
        """The share of common items with the same label; NaN where there is none."""
        return np.where(self.common > 0, self.same / np.maximum(self.common, 1), np.nan)

    def kappa(self) -> FloatArray:
        """Cohen's kappa of each pair: 0 for blind answers, 1 where both always say the same.

        NaN where two members have no common item, or chance alone explains that they always agree.
        """
        possible = self.common - self.by_chance
        is_known = possible > 1e-9 * self.common
        return np.where(is_known, (self.same - self.by_chance) / np.where(is_known, possible, 1), np.nan)

    def kappa_error(self) -> FloatArray:
        """The standard error of each kappa, as Cohen (1960) gives it: the shares of labels count as known."""
        possible = self.common - self.by_chance
        is_known = possible > 1e-9 * self.common
        spread = np.sqrt(self.same * (self.common - self.same) / np.maximum(self.common, 1))
        return np.where(is_known, spread / np.where(is_known, possible, 1), np.nan)


class Coverage(NamedTuple):
    """Shares of all items, one entry per member, as Snorkel's `LFAnalysis` has them."""

    coverage: FloatArray  # it answered
    overlap: FloatArray  # it answered, and so did another member
    conflict: FloatArray  # it answered, and another member said something else


def answered_shares(answers: HardAnswers, n_members: int, n_items: int) -> FloatArray:
    """The share of the items that each member answers (members,), once or several times."""
    return np.bincount(last_answers(answers).members, minlength=n_members) / n_items


def coverage_of(answers: HardAnswers, n_members: int, n_items: int) -> Coverage:
    """Count the last answer of each member to each item."""
    last = last_answers(answers)
    n_answers = np.bincount(last.items, minlength=n_items)
    n_classes = int(last.labels.max(initial=0)) + 1
    kinds = np.unique(last.items * n_classes + last.labels)
    n_kinds = np.bincount(kinds // n_classes, minlength=n_items)

    def share(is_counted: npt.NDArray[np.bool_]) -> FloatArray:
        return np.bincount(last.members[is_counted[last.items]], minlength=n_members) / n_items

    return Coverage(answered_shares(last, n_members, n_items), share(n_answers > 1), share(n_kinds > 1))
