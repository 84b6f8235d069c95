"""Intervals: where they lie, and which weights are refused."""

from dataclasses import replace

import numpy as np
import pytest

import consilience as cs
from consilience.insight.accuracy import intervals
from consilience.insight.accuracy.intervals import NAMES, Intervals

N = len(NAMES)
EVEN = Intervals(np.zeros((N, 2)), np.zeros(2), np.zeros(N), np.ones(N))


def test_the_estimate_lies_within(rng):
    believed = np.array([0.0, 0.3, 0.9, 0.999, 1.0])
    low, high = intervals.shipped().around(believed, 3 * rng.normal(size=(5, N)))
    assert (low <= believed).all() and (believed <= high).all()
    assert (low >= 0).all() and (high <= 1).all()


def test_it_reaches_by_the_log_odds_that_the_functions_say():
    low, high = EVEN.around(np.array([0.5]), np.zeros((1, N)))
    assert (low[0], high[0]) == pytest.approx((1 / 3, 2 / 3))  # log 2 down and up
    wider, _ = replace(EVEN, bias=np.array([2.0, 0])).around(np.array([0.5]), np.zeros((1, N)))
    assert wider[0] < low[0]


def test_beyond_what_was_seen_features_count_no_more(rng):
    weights = replace(EVEN, table=rng.normal(size=(N, 2)))
    far, further = (weights.around(np.array([0.7]), np.full((1, N), value)) for value in (4.0, 400.0))
    np.testing.assert_array_equal(far, further)


def test_weights_survive_a_file_and_damage_is_refused(tmp_path, rng):
    path = tmp_path / "weights.npz"
    weights = Intervals(rng.normal(size=(N, 2)), rng.normal(size=2), rng.normal(size=N), rng.random(N) + 0.1)
    np.savez(path, **intervals.contents(weights))
    np.testing.assert_array_equal(intervals.read(path).table, weights.table)
    np.savez(path, **{**intervals.contents(weights), "bias": np.zeros(2)})
    with pytest.raises(cs.InvalidPredictions, match=r"weights\.npz are damaged; train them again"):
        intervals.read(path)
    np.savez(path, **intervals.contents(replace(weights, deviation=np.zeros(N))))
    with pytest.raises(cs.InvalidPredictions, match="are damaged"):
        intervals.read(path)
    np.savez(path, **{**intervals.contents(weights), "version": np.array(99)})
    with pytest.raises(cs.InvalidPredictions, match="are of version 99; this consilience needs 1"):
        intervals.read(path)
