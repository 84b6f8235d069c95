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
    import numpy.typing as npt

    from consilience.maths.statistics import Statistics
    from consilience.system.arrays import FloatArray

PSEUDO_ITEMS = 2.0
"""Items of each class that a member is taken to answer as often as all others, beside those that were seen."""

HALF = 0.5
"""And so many more that it answers, and that it does not: a single gap tells little."""

LEAST = 1e-9
"""No rate is closer to 0 or 1."""

ENOUGH_ANSWERS, FEW_CLASSES, COMPLETE = 20, 1 / 3, 0.8
"""A member with so many answers, to less than `COMPLETE` of the items, keeps silent about other classes if beside its
first class it names no more than a third of those that as many answers of anybody would name."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Silence:
    """How often each member answers."""

    answering: FloatArray  # (members, true)
    usual: FloatArray  # (members,): the share of all items, which the rates are drawn to

    @classmethod
    def of(cls, statistics: Statistics) -> Silence:
        """The most probable rates. The gaps of members who answer nearly everything, or nothing, tell nothing."""
        usual = _answered_share(statistics)
        counts = statistics.class_counts[None, :]
        answers = np.minimum(statistics.answer_counts, counts)
        rates = (answers + PSEUDO_ITEMS * usual[:, None] + HALF) / (counts + PSEUDO_ITEMS + 2 * HALF)
        return cls(np.where(_has_gaps(usual)[:, None], rates, usual[:, None]), usual)

    def flaw(self) -> str | None:
        """Why these are no rates that were found; None where they are."""
        rates = self.answering[_has_gaps(self.usual)]
        return "must have rates between 0 and 1" if ((rates <= 0) | (rates >= 1)).any() else None

    def log_prior(self) -> float:
        """The logarithm of the prior of the rates, up to a constant."""
        told = _has_gaps(self.usual)
        usual, rates = self.usual[told, None], self.answering[told]
        logs = (PSEUDO_ITEMS * usual + HALF) * np.log(rates) + (PSEUDO_ITEMS * (1 - usual) + HALF) * np.log1p(-rates)
        return float(logs.sum())


def heard(scores: Scores, silence: Silence | None) -> Scores:
    """The scores with what silence tells, where it counts."""
    if silence is None:
        return scores
    rates = np.clip(silence.answering, LEAST, 1 - LEAST)
    silent = np.log1p(-rates)
    return Scores(scores.log_prior + silent.sum(axis=0), scores.weights, scores.bias + np.log(rates) - silent)


def keeps_silent(statistics: Statistics) -> bool:
    """Whether silence tells something: most answers are of members who name few classes and leave items out."""
    said = statistics.sums.sum(axis=1)  # (members, predicted): how often each class was said, whatever the truth
    n_answers, shares = said.sum(axis=1), said.sum(axis=0) / max(said.sum(), LEAST)
    anybodys = (1 - (1 - shares)[None, :] ** n_answers[:, None]).sum(axis=1)  # classes among so many answers
    anybodys = np.minimum(anybodys, _n_classes_named(shares[None, :]))
    names_few = _n_classes_named(said) - 1 <= FEW_CLASSES * (anybodys - 1)
    is_judged = n_answers >= ENOUGH_ANSWERS
    is_silent = is_judged & names_few & _has_gaps(_answered_share(statistics))
    return bool(n_answers[is_silent].sum() > n_answers[is_judged].sum() / 2)


def _n_classes_named(said: FloatArray) -> FloatArray:
    """The effective number of classes in each row of counts: the exponential of the entropy."""
    shares = said / np.maximum(said.sum(axis=1, keepdims=True), LEAST)
    return np.asarray(np.exp(-(shares * np.log(np.maximum(shares, LEAST))).sum(axis=1)))


def _has_gaps(usual: FloatArray) -> npt.NDArray[np.bool_]:
    """Which members answer something, and leave so much out that it may tell something.

    A share of exactly `COMPLETE` is a sum over classes, whose order must not decide.
    """
    return np.asarray((usual > 0) & (usual < COMPLETE - LEAST))


def _answered_share(statistics: Statistics) -> FloatArray:
    """The share of the items that each member answered (members,)."""
    shares = statistics.answer_counts.sum(axis=1) / max(statistics.class_counts.sum(), LEAST)
    return np.asarray(np.minimum(shares, 1.0))
