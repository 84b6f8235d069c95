"""Expectation-maximization: the loop, the statistics that it adds up, and what an M step makes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, NamedTuple, Self, TypeVar, final

import numpy as np
import numpy.typing as npt

from consilience.system.arrays import FloatArray
from consilience.system.errors import warn

NEARLY_ONE = 0.9
"""At least so many items and answers are in any sum, also after rounding. Forgetting never touches the newest."""


@dataclass(frozen=True, slots=True, eq=False)
class SumsOverItems:
    """Numbers and arrays that are sums over items: those of two sets of items add up."""

    def __add__(self, other: Self) -> Self:
        return type(self)(*(getattr(self, own.name) + getattr(other, own.name) for own in fields(self)))

    def __rmul__(self, factor: float) -> Self:
        return type(self)(*(factor * getattr(self, own.name) for own in fields(self)))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Statistics(SumsOverItems):
    """Sums over items, linear in the responsibilities t.

    Because they are linear, the statistics of two sets of items add up, and averaging responsibilities is averaging
    statistics: `(1 - a) * old + a * new`. Their size does not depend on the number of items.
    """

    n_items: float
    class_counts: FloatArray  # (true,): Σ_i t_ik
    answer_counts: FloatArray  # (members, true): the same over the items each member answered
    sums: FloatArray  # (members, true, predicted): Σ_i t_ik x_imj, x probabilities, their logarithms or one-hot labels
    log_evidence: float  # Σ_i log Σ_k p(x_i, k), up to a constant of the data

    def __sizeof__(self) -> int:
        """The bytes of all sums."""
        return object.__sizeof__(self) + self.class_counts.nbytes + self.answer_counts.nbytes + self.sums.nbytes

    def flaw(self, *, may_be_silent: bool = False) -> str | None:
        """Why these are no sums over items; None where they are."""
        if self.n_items < NEARLY_ONE or self.class_counts.sum() < NEARLY_ONE:
            return "must be of at least one item"
        is_silent = self.answer_counts.sum() < NEARLY_ONE
        return "must be of at least one answer" if is_silent and not may_be_silent else None

    def averaged_into(self, new: Statistics, weight: float) -> Statistics:
        """`(1 - weight) * self + weight * new`. It is written into `new`, which must not be used afterwards."""
        for name in ("class_counts", "answer_counts", "sums"):
            old, result = getattr(self, name), getattr(new, name)
            result -= old  # in place, as one expression would need another array of this size
            result *= weight
            result += old
        n_items = self.n_items + weight * (new.n_items - self.n_items)
        log_evidence = self.log_evidence + weight * (new.log_evidence - self.log_evidence)
        return replace(new, n_items=n_items, log_evidence=log_evidence)


class Scores(NamedTuple):
    """A linear layer: class k of item i scores `log_prior[k] + Σ_m weights[m, k] · x_im + bias[m, k]`.

    The posterior is the softmax of the scores. So a fitted model is one linear layer on what the members say.
    """

    log_prior: FloatArray  # (true,)
    weights: FloatArray  # (members, true, predicted)
    bias: FloatArray  # (members, true)


class State(NamedTuple):
    """Where EM stands: parameters, and the statistics that belong to them."""

    parameters: Any
    statistics: Statistics


Found = TypeVar("Found")

UNSETTLED = "the objective still changes by "  # how the warning of a loop that has not settled begins


class Fit(NamedTuple, Generic[Found]):
    """Where the loop ended: the last state, and the objective after each step."""

    state: Found
    history: list[float]
    converged: bool


def em(
    step: Callable[[Found, int], tuple[Found, float]],
    start: Found,
    *,
    max_iter: int,
    tol: float | None,
    n_items: float,
) -> Fit[Found]:
    """Repeat `step`, which gives the next state and its objective, until the objective settles.

    The objective is that of the state returned with it. It has settled when it changes by less than `tol` per item;
    with `tol=None` all `max_iter` steps are made, without a warning.
    """
    state, history, converged = start, [], False
    del start  # frees memory: statistics of a thousand classes are large
    for iteration in range(max_iter):
        state, objective = step(state, iteration)
        history.append(objective)
        if tol is not None and iteration > 0 and abs(history[-1] - history[-2]) < tol * n_items:
            converged = True
            break
    if tol is not None and not converged:
        from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - slow to import

        warn(
            f"{UNSETTLED}{tol:g} or more per item after {max_iter} iterations; raise max_iter or tol",
            ConvergenceWarning,
        )
    return Fit(state, history, converged)


# ---- counts of answers as rates, and rates as logarithms --------------------------------------------------

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

HALF = 0.5  # and so many more that it answers, and that it does not: a single gap tells little
LEAST = 1e-9  # no rate is closer to 0 or 1

ENOUGH_ANSWERS, FEW_NAMED, COMPLETE = 20, 1 / 3, 0.8
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
    names_few = _n_classes_named(said) - 1 <= FEW_NAMED * (anybodys - 1)
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


# ---- AdamW ------------------------------------------------------------------------------------------------

FIRST_DECAY, SECOND_DECAY, EPSILON = 0.9, 0.999, 1e-8


@final
@dataclass(slots=True, eq=False)
class Moments:
    """What the optimizer remembers of past gradients; steps write to it."""

    first: FloatArray
    second: FloatArray
    n_steps: int

    @classmethod
    def zero(cls, shape: tuple[int, ...]) -> Moments:
        """The memory before the first step."""
        return cls(np.zeros(shape), np.zeros(shape), 0)

    def forget(self) -> None:
        """Be as before the first step."""
        self.first[:], self.second[:], self.n_steps = 0, 0, 0

    def of_rows(self, rows: slice) -> Moments:
        """The memory of some rows of the values, as a view."""
        width = self.first.shape[-1]
        return Moments(self.first.reshape(-1, width)[rows], self.second.reshape(-1, width)[rows], self.n_steps)


def adamw_step(
    values: FloatArray, gradient: FloatArray, moments: Moments, *, learning_rate: float, weight_decay: float
) -> None:
    """Decay the values, move them one step down the gradient, and update the moments, all in place.

    It is AdamW (Loshchilov and Hutter 2019), step for step as `torch.optim.AdamW` does it.
    """
    moments.n_steps = int(moments.n_steps) + 1
    moments.first *= FIRST_DECAY
    moments.first += (1 - FIRST_DECAY) * gradient
    np.multiply(gradient, gradient, out=gradient)
    gradient *= 1 - SECOND_DECAY
    moments.second *= SECOND_DECAY
    moments.second += gradient
    scale = np.sqrt(moments.second, out=gradient)  # written over the gradient, which is no longer needed
    # The moments began at zero, so they are divided by 1 - decayⁿ. One factor of the whole step does it for both.
    second_share = np.sqrt(1 - SECOND_DECAY**moments.n_steps)
    scale += EPSILON * second_share
    step = np.divide(moments.first, scale, out=scale)
    step *= learning_rate * second_share / (1 - FIRST_DECAY**moments.n_steps)
    values *= 1 - learning_rate * weight_decay
    values -= step
