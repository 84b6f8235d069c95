"""Counts as rates, by hand."""

import numpy as np
import pytest

from consilience.aggregators.soft_dawid_skene import lend_to_silent_classes
from consilience.maths.em import Statistics, log_rates, pseudo_answers, smoothed_rates

COUNTS = np.array([[[6.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 2.0]]])


def test_without_smoothing_rows_are_shares_and_empty_rows_uniform():
    expected = [[[0.75, 0.25, 0], [1 / 3, 1 / 3, 1 / 3], [0.25, 0.25, 0.5]]]
    before = COUNTS.copy()
    np.testing.assert_allclose(smoothed_rates(COUNTS, 0.0), expected, rtol=1e-15)
    np.testing.assert_array_equal(COUNTS, before)


def test_smoothing_adds_answers_and_twice_on_the_diagonal():
    assert pseudo_answers(2, 0.5).tolist() == [[1.0, 0.5], [0.5, 1.0]]
    rates = smoothed_rates(COUNTS, 0.5)
    np.testing.assert_allclose(rates[0, 1], [0.25, 0.5, 0.25])
    np.testing.assert_allclose(rates[0, 0], np.array([7, 2.5, 0.5]) / 10)


def test_logarithms_stay_finite():
    logs = log_rates(np.array([0.0, 0.5, 1.0]))
    assert logs.tolist() == pytest.approx([np.log(np.finfo(float).tiny), np.log(0.5), 0.0])


def test_classes_that_nobody_votes_for_borrow_the_average_class():
    """Of classes 0 and 2 the member is right with 6 and 2 of 8 and 4 answers: 4 of 6 in the mean, 1 for each other."""
    statistics = Statistics(12.0, np.array([8.0, 0.0, 4.0]), np.ones((1, 3)), COUNTS, 0.0)
    lent = lend_to_silent_classes(statistics)
    np.testing.assert_allclose(lent[0, 1], [1.0, 4.0, 1.0])
    np.testing.assert_array_equal(lent[0, [0, 2]], COUNTS[0, [0, 2]])
    for counts in (np.ones(3), np.zeros(3)):  # all speak, or none: nothing to lend
        assert lend_to_silent_classes(Statistics(1.0, counts, np.ones((1, 3)), COUNTS, 0.0)) is COUNTS
