"""Shapley values against the definition, by loops, and the properties that define them."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience.maths import shapley
from consilience.maths.shapley import MOST_EXACT, exact_values, sampled_values, shapley_values

EXACT = 1e-12


def game(rng, n_players):
    """Any value of any coalition, by the bits of who is in."""
    values = rng.normal(size=2**n_players)
    return lambda is_in: values[is_in @ 2 ** np.arange(n_players)], values[0], values[-1]


def by_loops(value, n_players, nothing, everything):
    def worth(some):
        if len(some) in {0, n_players}:
            return everything if some else nothing
        return value(np.isin(np.arange(n_players), list(some))[None])[0]

    found = np.zeros(n_players)
    for player in range(n_players):
        others = [other for other in range(n_players) if other != player]
        for size in range(n_players):
            weight = factorial(size) * factorial(n_players - size - 1) / factorial(n_players)
            for some in combinations(others, size):
                found[player] += weight * (worth((*some, player)) - worth(some))
    return found


@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_are_the_definition(seed, n_players):
    arguments = game(np.random.default_rng(seed), n_players)
    value, nothing, everything = arguments
    found = shapley_values(value, n_players, nothing, everything)
    np.testing.assert_allclose(found, by_loops(value, n_players, nothing, everything), atol=EXACT)


@pytest.mark.parametrize("n_players", [1, 2, MOST_EXACT, MOST_EXACT + 1, 60])
def test_sum_up_exactly(rng, n_players):
    weights = rng.normal(size=n_players)
    found = shapley_values(lambda is_in: np.exp(is_in @ weights / 10), n_players, nothing=-3.0, everything=7.5)
    assert found.sum() == pytest.approx(10.5, abs=1e-10)


def test_a_sum_is_split_into_its_terms(rng):
    """Sampled orders are exact here: each player adds the same to any coalition."""
    for n_players in (5, 40):
        terms = rng.normal(size=n_players)
        found = shapley_values(lambda is_in, terms=terms: 2 + is_in @ terms, n_players, 2.0, 2 + terms.sum())
        np.testing.assert_allclose(found, terms, atol=EXACT)


def test_all_orders_are_all_coalitions(rng):
    """Over all orders of four players, the sampled form is the exact one."""
    value, nothing, everything = game(rng, 4)
    orders = np.array([order for order in np.ndindex(4, 4, 4, 4) if len(set(order)) == 4])
    expected = exact_values(value, 4, nothing, everything)
    np.testing.assert_allclose(sampled_values(value, orders, nothing, everything), expected, atol=EXACT)


def test_orders_in_parts_are_the_same(rng, monkeypatch):
    value, nothing, everything = game(rng, MOST_EXACT + 1)
    whole = shapley_values(value, MOST_EXACT + 1, nothing, everything)
    monkeypatch.setattr(shapley, "FLAGS_AT_ONCE", 1)
    np.testing.assert_allclose(shapley_values(value, MOST_EXACT + 1, nothing, everything), whole, atol=EXACT)


def test_many_players_ask_for_few_coalitions():
    asked = []

    def value(is_in):
        asked.append(len(is_in))
        return is_in.sum(axis=1) * 1.0

    shapley_values(value, 500, 0.0, 500.0)
    assert sum(asked) <= shapley.MOST_COALITIONS
    assert max(asked) * 500 <= shapley.FLAGS_AT_ONCE
