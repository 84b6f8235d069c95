"""The loop of expectation-maximization: repeat `step` until the objective settles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, final

from consilience.system.warning import warn

if TYPE_CHECKING:
    from collections.abc import Callable

State = TypeVar("State")

UNSETTLED = "the objective still changes by "
"""How the warning of a loop that has not settled begins."""


@final
@dataclass(frozen=True, slots=True)
class Fit(Generic[State]):
    """Where the loop ended: the last state, and the objective after each step."""

    state: State
    history: list[float]
    converged: bool


def em(
    step: Callable[[State, int], tuple[State, float]],
    start: State,
    *,
    max_iter: int,
    tol: float | None,
    n_items: float,
) -> Fit[State]:
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
