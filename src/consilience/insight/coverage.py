"""How much each member answers, where others answer too, and where they contradict it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from consilience.insight.pairs import last_answers

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.data.answers import HardAnswers
    from consilience.system.arrays import FloatArray


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
