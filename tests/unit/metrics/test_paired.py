"""Differences of two accuracies on the same items."""

import numpy as np
import pytest

from consilience.metrics.scores import paired_difference, wilson


def test_the_difference_is_told_where_two_intervals_overlap():
    first, second = np.arange(300) < 270, np.arange(300) < 255
    found = paired_difference(first, second)
    assert found.value == pytest.approx(0.05) and found.low > 0
    assert wilson(0.85, 300, 0.9)[1] > wilson(0.9, 300, 0.9)[0]  # they overlap


def test_who_errs_alike_is_not_told_apart(rng):
    right = rng.random(50) < 0.8
    same = paired_difference(right, right)
    assert same.value == 0 and same.low == -same.high < 0
    assert paired_difference(right[:3], ~right[:3]).high <= 1


def test_it_changes_sign_with_the_order(rng):
    first, second = rng.random((2, 80)) < [[0.8], [0.7]]
    forth, back = paired_difference(first, second), paired_difference(second, first)
    np.testing.assert_allclose([-back.value, -back.high, -back.low], forth)


@pytest.mark.parametrize("n_items", [20, 200])
def test_nine_of_ten_hold(n_items):
    rng = np.random.default_rng(0)
    holds = []
    for _ in range(2000):
        luck = rng.random(n_items)
        first, second = luck < 0.85, np.where(rng.random(n_items) < 0.7, luck, rng.random(n_items)) < 0.75
        found = paired_difference(first, second)
        holds.append(found.low <= 0.1 <= found.high)
    assert 0.87 < np.mean(holds) < 0.97
