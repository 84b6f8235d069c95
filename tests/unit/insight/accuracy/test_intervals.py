"""Intervals: where they lie, and which weights are refused."""

from dataclasses import replace

import numpy as np
import pytest

import consilience as cs
from consilience.insight.accuracy import estimates
from consilience.insight.accuracy.estimates import INTERVAL_FEATURES, Intervals

N = len(INTERVAL_FEATURES)
EVEN = Intervals(np.zeros((N, 2)), np.zeros(2), np.zeros(N), np.ones(N), np.array([1.0, 0.0]))
UNKNOWN = np.full(5, np.nan)


def test_the_estimate_lies_within(rng):
    believed = np.array([0.0, 0.3, 0.9, 0.999, 1.0])
    low, high = estimates.shipped().around(believed, 3 * rng.normal(size=(5, N)), UNKNOWN)
    assert (low <= believed).all() and (believed <= high).all()
    assert (low >= 0).all() and (high <= 1).all()


def test_it_reaches_by_the_log_odds_that_the_functions_say():
    low, high = EVEN.around(np.array([0.5]), np.zeros((1, N)), UNKNOWN[:1])
    assert (low[0], high[0]) == pytest.approx((1 / 3, 2 / 3))  # log 2 down and up
    wider, _ = replace(EVEN, bias=np.array([2.0, 0])).around(np.array([0.5]), np.zeros((1, N)), UNKNOWN[:1])
    assert wider[0] < low[0]


def test_it_reaches_as_far_as_independent_errors_would_have_it_and_beyond():
    believed, features = np.array([0.8]), np.zeros((1, N))
    low, high = EVEN.around(believed, features, np.array([0.95]))
    plain_low, plain_high = EVEN.around(believed, features, UNKNOWN[:1])
    assert high[0] > 0.95 > plain_high[0] and low[0] == plain_low[0]
    assert EVEN.around(believed, features, np.array([0.5]))[0][0] < plain_low[0]


def test_however_sure_the_functions_are_members_may_be_wrong_together():
    sure = replace(EVEN, bias=np.array([-20.0, -20]), least=np.array([0.6, 1.0]))
    low, high = sure.around(np.array([0.9]), np.zeros((1, N)), UNKNOWN[:1])
    assert low[0] == pytest.approx(0.6 * 0.9) and high[0] == pytest.approx(1 / (1 + np.exp(-1) / 9))


def test_beyond_what_was_seen_features_count_no_more(rng):
    weights = replace(EVEN, table=rng.normal(size=(N, 2)))
    far, further = (weights.around(np.array([0.7]), np.full((1, N), value), UNKNOWN[:1]) for value in (4.0, 400.0))
    np.testing.assert_array_equal(far, further)


def test_weights_survive_a_file_and_damage_is_refused(tmp_path, rng):
    path = tmp_path / "weights.npz"
    weights = Intervals(
        rng.normal(size=(N, 2)), rng.normal(size=2), rng.normal(size=N), rng.random(N) + 0.1, rng.random(2)
    )
    np.savez(path, **estimates.contents(weights))
    np.testing.assert_array_equal(estimates.read(path).table, weights.table)
    np.savez(path, **{**estimates.contents(weights), "bias": np.zeros(2)})
    with pytest.raises(cs.InvalidPredictions, match=r"weights\.npz are damaged; train them again"):
        estimates.read(path)
    np.savez(path, **estimates.contents(replace(weights, deviation=np.zeros(N))))
    with pytest.raises(cs.InvalidPredictions, match="are damaged"):
        estimates.read(path)
    np.savez(path, **{**estimates.contents(weights), "version": np.array(99)})
    with pytest.raises(cs.InvalidPredictions, match="are of version 99; this consilience needs 2"):
        estimates.read(path)
