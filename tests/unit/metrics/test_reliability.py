"""Calibration: by hand, by loops, and what is known of it in theory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import consilience as cs
from consilience.metrics import calibration_error, reliability_curve
from consilience.metrics.scores import binned_gap, bins_of, confidence_and_correctness, curve_of

import reference


def draw(seed, n_items=50, n_classes=4):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(n_classes), size=n_items), rng.integers(n_classes, size=n_items)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_calibration_error_is_the_naive_one(seed, n_bins):
    posterior, labels = draw(seed)
    expected = reference.calibration_error(posterior, labels, n_bins)
    assert calibration_error(posterior, labels, n_bins=n_bins) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("confidence", "place"), [(1.0, 3), (0.75, 2), (0.5, 1), (0.7500001, 3)])
def test_bins_include_their_upper_edge(confidence, place):
    curve = reliability_curve([[confidence, 1 - confidence]], [0], n_bins=4)
    assert curve.n_items.tolist() == [int(b == place) for b in range(4)]


def test_calibration_error_over_bins_of_equal_mass():
    confidence = np.array([0.55, 0.65, 0.9, 0.95])
    posterior, labels = np.stack([confidence, 1 - confidence], axis=1), [1, 0, 0, 1]
    found = calibration_error(posterior, labels, n_bins=2, strategy="quantile")
    assert found == pytest.approx((abs(0.55 + 0.65 - 1) + abs(0.9 + 0.95 - 1)) / 4)


def test_sure_and_right_is_perfect_sure_and_wrong_is_one():
    sure = np.eye(3)
    for n_bins in (1, 15, 300):
        assert calibration_error(sure, [0, 1, 2], n_bins=n_bins) == 0
        assert calibration_error(sure, [1, 2, 0], n_bins=n_bins) == 1


def test_equal_mass_bins_have_equal_mass():
    posterior, labels = draw(2, n_items=1000)
    curve = reliability_curve(posterior, labels, n_bins=10, strategy="quantile")
    assert curve.n_items.sum() == 1000
    assert np.ptp(curve.n_items) <= 2
    assert reliability_curve(np.full((9, 2), 0.5), np.zeros(9, int), strategy="quantile").n_items.sum() == 9


@pytest.mark.parametrize(("n_items", "n_bins", "floor"), [(10_000, 300, 0.044), (10_000, 15, 0.0086)])
def test_calibrated_predictions_have_a_floor_that_debiasing_removes(n_items, n_bins, floor):
    plain, debiased = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        confidence = rng.uniform(0.5, 1, size=n_items)
        posterior = np.stack([confidence, 1 - confidence], axis=1)
        labels = (rng.random(n_items) > confidence).astype(int)
        plain.append(calibration_error(posterior, labels, n_bins=n_bins))
        debiased.append(calibration_error(posterior, labels, n_bins=n_bins, debiased=True))
    assert np.mean(plain) == pytest.approx(floor, rel=0.35)
    assert abs(np.mean(debiased)) < 4 * np.std(debiased) / np.sqrt(20) + 1e-4
    assert np.mean(plain) > 5 * abs(np.mean(debiased))


def test_debiasing_leaves_a_real_gap():
    rng = np.random.default_rng(0)
    posterior = np.tile([0.9, 0.1], (5000, 1))
    labels = (rng.random(5000) > 0.7).astype(int)
    assert calibration_error(posterior, labels, debiased=True) == pytest.approx(0.2, abs=0.03)


def test_a_reliability_curve_by_hand():
    confidence = np.array([0.55, 0.65, 0.9, 0.95])
    posterior, labels = np.stack([confidence, 1 - confidence], axis=1), [0, 1, 0, 0]
    curve = reliability_curve(posterior, labels, n_bins=4)
    assert curve.edges.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert curve.n_items.tolist() == [0, 0, 2, 2]
    assert np.isnan(curve.confidence[:2]).all() and np.isnan(curve.accuracy[:2]).all()
    assert curve.confidence[2:].tolist() == pytest.approx([0.6, 0.925])
    assert curve.accuracy[2:].tolist() == [0.5, 1.0]
    assert len(reliability_curve(posterior, labels).n_items) == 15
    by_mass = reliability_curve(posterior, labels, n_bins=2, strategy="quantile")
    assert by_mass.edges.tolist() == [0, 0.65, 1] and by_mass.n_items.tolist() == [2, 2]


def test_a_curve_and_the_error_tell_the_same():
    posterior, labels = draw(4)
    for options in ({}, {"n_bins": 7}, {"n_bins": 5, "strategy": "quantile"}):
        curve = reliability_curve(posterior, labels, **options)
        gaps = np.nan_to_num(np.abs(curve.accuracy - curve.confidence)) * curve.n_items
        assert calibration_error(posterior, labels, **options) == pytest.approx(gaps.sum() / 50, abs=1e-12)


def test_a_curve_of_answers_is_that_of_their_posterior():
    posterior, labels = draw(5)
    ours = curve_of(*confidence_and_correctness(posterior, labels), n_bins=6)
    for one, other in zip(ours, reliability_curve(posterior, labels, n_bins=6), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_lowest_class_of_a_tie_is_the_answer():
    confidence, is_right = confidence_and_correctness([[0.5, 0.5], [0.5, 0.5]], [0, 1])
    assert (confidence.tolist(), is_right.tolist()) == ([0.5, 0.5], [1, 0])


@given(st.lists(st.sampled_from([0.0, 0.25, 0.3, 0.5, 0.75, 1.0]), min_size=1, max_size=20), st.integers(1, 6))
def test_each_confidence_lies_in_its_bin(confidence, n_bins):
    """(low, high], and 0 in the first; ties leave fewer bins of equal mass, but never a bin without width."""
    confidence = np.array(confidence)
    for strategy in ("uniform", "quantile"):
        bins, edges = bins_of(confidence, n_bins, strategy)
        assert edges[0] == 0 and edges[-1] == 1 and (np.diff(edges) > 0).all() and len(edges) <= n_bins + 1
        for value, place in zip(confidence, bins, strict=True):
            assert edges[place] < value <= edges[place + 1] or (value == 0 and place == 0)


def test_weights_count_items_several_times():
    rng = np.random.default_rng(0)
    bins, gaps, weights = rng.integers(4, size=30), rng.normal(size=30), rng.integers(4, size=30)
    repeated = np.repeat(np.arange(30), weights)
    expected = binned_gap(bins[repeated], gaps[repeated], 4)
    assert binned_gap(bins, gaps, 4, weights=weights.astype(float)) == pytest.approx(expected, rel=1e-12)


def test_the_debiased_sign_comes_from_the_other_items():
    """Bin 0: 0.5 beside a rest of -0.2 counts -0.5, -0.2 beside 0.5 counts -0.2; alone in bin 1, 0.4 counts nothing."""
    bins, gaps = np.array([0, 0, 1]), np.array([0.5, -0.2, 0.4])
    assert binned_gap(bins, gaps, 2) == pytest.approx((0.3 + 0.4) / 3)
    assert binned_gap(bins, gaps, 2, debiased=True) == pytest.approx((-0.5 - 0.2 + 0) / 3)


def test_gaps_that_cancel_have_no_sign():
    """The rest of 0.11 is 0.3 - 0.3, but the sum of all three less 0.11 may be a rounding error."""
    bins = np.zeros(3, dtype=int)
    for gaps in ([0.3, -0.3, 0.11], [0.3, 0.11, -0.3]):
        assert binned_gap(bins, np.array(gaps), 1, debiased=True) == pytest.approx((-0.3 + 0 - 0.3) / 3)


def test_wrong_options():
    with pytest.raises(ValueError, match="^n_bins must be an integer of at least 1; got 0$"):
        calibration_error([[1.0, 0.0]], [0], n_bins=0)
    with pytest.raises(ValueError, match="^strategy must be 'uniform' or 'quantile'; got 'equal'$"):
        reliability_curve([[1.0, 0.0]], [0], strategy="equal")
    with pytest.raises(cs.InvalidPredictions, match="item 0 has 2"):
        calibration_error([[1.0, 0.0]], [2])
