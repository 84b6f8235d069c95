"""The loop of expectation-maximization: repeat `step` until the objective settles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar, final

from consilience.system.errors import warn

if TYPE_CHECKING:
    from collections.abc import Callable

    from consilience.system.arrays import FloatArray


NEARLY_ONE = 0.9
"""At least so many items and answers are in any sum, also after rounding. Forgetting never touches the newest."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
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
        _average_in_place(self.class_counts, new.class_counts, weight)
        _average_in_place(self.answer_counts, new.answer_counts, weight)
        _average_in_place(self.sums, new.sums, weight)
        n_items = self.n_items + weight * (new.n_items - self.n_items)
        log_evidence = self.log_evidence + weight * (new.log_evidence - self.log_evidence)
        return Statistics(n_items, new.class_counts, new.answer_counts, new.sums, log_evidence)

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(
            self.n_items + other.n_items,
            self.class_counts + other.class_counts,
            self.answer_counts + other.answer_counts,
            self.sums + other.sums,
            self.log_evidence + other.log_evidence,
        )

    def __rmul__(self, factor: float) -> Statistics:
        return Statistics(
            factor * self.n_items,
            factor * self.class_counts,
            factor * self.answer_counts,
            factor * self.sums,
            factor * self.log_evidence,
        )


def _average_in_place(old: FloatArray, new: FloatArray, weight: float) -> None:
    """Make `new` old + weight · (new - old), without a temporary array."""
    new -= old
    new *= weight
    new += old


class Scores(NamedTuple):
    """A linear layer: class k of item i scores `log_prior[k] + Σ_m weights[m, k] · x_im + bias[m, k]`.

    The posterior is the softmax of the scores. So a fitted model is one linear layer on what the members say.
    """

    log_prior: FloatArray  # (true,)
    weights: FloatArray  # (members, true, predicted)
    bias: FloatArray  # (members, true)


class Model(Protocol):
    """The mathematics of a latent-class method."""

    def maximize(self, statistics: Statistics, start: Any, /) -> Any:
        """The best parameters given the statistics, or better ones than `start` where the best has no formula."""

    def scores(self, parameters: Any, /) -> Scores:
        """The linear layer of the E step."""


class State(NamedTuple):
    """Where EM stands: parameters, and the statistics that belong to them."""

    parameters: Any
    statistics: Statistics


Found = TypeVar("Found")

UNSETTLED = "the objective still changes by "
"""How the warning of a loop that has not settled begins."""


@final
@dataclass(frozen=True, slots=True)
class Fit(Generic[Found]):
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
