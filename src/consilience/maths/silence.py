"""What it tells that a member does not answer: how often it answers items of each class.

A labelling function that says one class or nothing tells most by keeping silent. Given the truth k, member m answers
with probability r_mk. In the E step that is log r_mk of those who answer and log (1 - r_mk) of those who do not: a
linear layer again, with Σ_m log (1 - r_mk) in the prior and the log-odds of r in the bias of each answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from consilience.maths.model import Scores

if TYPE_CHECKING:
    from consilience.maths.statistics import Statistics
    from consilience.system.arrays import FloatArray

PSEUDO_ITEMS = 2.0
"""Items of each class that a member is taken to answer as often as all others, beside those that were seen."""

LEAST = 1e-9
"""No rate is closer to 0 or 1."""

ENOUGH_ANSWERS, FEW_CLASSES, COMPLETE = 20, 1 / 3, 0.8
"""A member with so many answers, to less than `COMPLETE` of the items, that name no more than a third of the classes
(or only one) keeps silent about the other classes."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Silence:
    """How often each member answers."""

    answering: FloatArray  # (members, true): r
    usual: FloatArray  # (members,): the share of all items, which r is drawn to

    @classmethod
    def of(cls, statistics: Statistics) -> Silence:
        """The most probable rates; a member who answers an item twice counts once for each class at most."""
        usual = _answered_share(statistics)
        counts = statistics.class_counts[None, :]
        answers = np.minimum(statistics.answer_counts, counts)
        rates = (answers + PSEUDO_ITEMS * usual[:, None]) / (counts + PSEUDO_ITEMS)
        return cls(np.clip(rates, LEAST, 1 - LEAST), usual)

    def log_prior(self) -> float:
        """The logarithm of the prior of the rates, up to a constant."""
        usual = self.usual[:, None]
        logs = usual * np.log(self.answering) + (1 - usual) * np.log1p(-self.answering)
        return float(PSEUDO_ITEMS * logs.sum())


def heard(scores: Scores, silence: Silence | None) -> Scores:
    """The scores with what silence tells, where it counts."""
    if silence is None:
        return scores
    silent = np.log1p(-silence.answering)
    bias = scores.bias + np.log(silence.answering) - silent
    return Scores(scores.log_prior + silent.sum(axis=0), scores.weights, bias)


def keeps_silent(statistics: Statistics) -> bool:
    """Whether silence tells something: most answers are of members who name few classes and leave items out."""
    said = statistics.sums.sum(axis=1)  # (members, predicted): how often each class was said, whatever the truth
    n_answers, n_classes = said.sum(axis=1), said.shape[1]
    names_few = (said > 0).sum(axis=1) <= max(1, int(FEW_CLASSES * n_classes))
    is_judged = n_answers >= ENOUGH_ANSWERS
    is_silent = is_judged & names_few & (_answered_share(statistics) < COMPLETE)
    return bool(n_answers[is_silent].sum() > n_answers[is_judged].sum() / 2)


def _answered_share(statistics: Statistics) -> FloatArray:
    """The share of the items that each member answered (members,)."""
    shares = statistics.answer_counts.sum(axis=1) / max(statistics.class_counts.sum(), LEAST)
    return np.asarray(np.minimum(shares, 1.0))
