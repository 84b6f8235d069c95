"""The loop alone, on steps that are known."""

import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning

import consilience as cs
from consilience.maths.em import em


def halving(state, iteration):
    """The objective comes closer to 0 by half each time: -8, -4, -2, -1, …"""
    assert iteration == state
    return state + 1, -8.0 / 2**iteration


def test_it_stops_when_the_objective_changes_by_less_per_item():
    fit = em(halving, 0, max_iter=50, tol=0.5, n_items=3)  # 2 to 1 is a change of 1 < 1.5, 4 to 2 is none
    assert (fit.state, fit.history, fit.converged) == (4, [-8, -4, -2, -1], True)
    exact = em(halving, 0, max_iter=50, tol=1.0, n_items=2)  # a change of just as much is not less
    assert exact.history == [-8, -4, -2, -1]


def test_the_first_step_has_nothing_to_compare():
    fit = em(lambda state, _: (state, 0.0), "state", max_iter=50, tol=1.0, n_items=1)
    assert (fit.state, fit.history, fit.converged) == ("state", [0.0, 0.0], True)


def test_without_a_tolerance_all_steps_are_made_and_nothing_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = em(halving, 0, max_iter=7, tol=None, n_items=10**9)
    assert (fit.state, len(fit.history), fit.converged) == (7, 7, False)


def test_what_did_not_settle_is_told_where_fit_was_called():
    message = r"^the objective still changes by 1e-12 or more per item after 2 iterations; raise max_iter or tol$"
    with pytest.warns(ConvergenceWarning, match=message) as told:
        cs.DawidSkene(max_iter=2, tol=1e-12).fit([[[0.9, 0.1], [0.4, 0.6]], [[0.6, 0.4], [0.7, 0.3]]])
    assert told[0].filename == __file__
