"""Counts of answers as rates, and rates as logarithms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from consilience.maths.em import Scores

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.maths.em import Statistics
    from consilience.system.arrays import FloatArray


SMALLEST = np.finfo(np.float64).tiny
"""Replaces a rate of zero under the logarithm: the class is then ruled out unless all classes are."""


def leaning(n_classes: int, *, ordered: bool) -> FloatArray:
    """How far a wrong answer leans to each class (true, predicted): 1 in the mean of a row, and on the diagonal.

    Wrong answers are spread evenly; of ordered classes one half of them is, and the other half falls by half with each
    step away from the truth.

    >>> leaning(4, ordered=True)[0].round(2).tolist()
    [1.0, 1.36, 0.93, 0.71]
    """
    table = np.ones((n_classes, n_classes))
    if not ordered:
        return table
    places, is_wrong = np.arange(n_classes), ~np.eye(n_classes, dtype=bool)
    near = np.where(is_wrong, 0.5 ** np.abs(places[:, None] - places), 0.0)
    near *= (n_classes - 1) / near.sum(axis=1, keepdims=True)
    return np.where(is_wrong, (1 + near) / 2, table)


def pseudo_answers(n_classes: int, smoothing: float, *, ordered: bool = False) -> FloatArray:
    """The answers (true, predicted) that smoothing adds: `smoothing` to each cell, twice that on the diagonal.

    Because of the diagonal, two classes that nobody has named yet are still told apart. Of ordered classes, the
    neighbours of the true one get more of it than those far away.
    """
    return smoothing * (leaning(n_classes, ordered=ordered) + np.eye(n_classes))


def smoothed_rates(counts: FloatArray, smoothing: float, *, ordered: bool = False) -> FloatArray:
    """Rows of counts and pseudo-answers as rates; a row without either is uniform."""
    table = counts + pseudo_answers(counts.shape[-1], smoothing, ordered=ordered)
    totals = table.sum(axis=-1, keepdims=True)
    is_empty = totals[..., 0] <= 0
    if is_empty.any():
        table[is_empty], totals[is_empty] = 1.0, counts.shape[-1]
    table /= totals
    return table


def log_rates(rates: FloatArray) -> FloatArray:
    """Logarithms that stay finite where a rate is zero."""
    logs = np.maximum(rates, SMALLEST)
    return np.log(logs, out=logs)


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
