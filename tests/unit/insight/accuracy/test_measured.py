"""Accuracies measured with labels: right, unbiased, and narrower than from the labels alone where belief is good."""

import numpy as np
import pytest

from consilience.insight.accuracy.estimates import COVERAGE, measured
from consilience.metrics.scores import wilson

N_ITEMS, N_LABELS, DRAWS = 2000, 50, 400


def draws(rng, is_right, believed):
    """The interval of many draws of labelled items, and how often it holds the truth."""
    widths, holds, values = [], [], []
    for _ in range(DRAWS):
        some = rng.choice(N_ITEMS, N_LABELS, replace=False)
        value, low, high = measured(is_right[some], believed[some], believed)
        widths.append(high - low)
        holds.append(low <= is_right.mean() <= high)
        values.append(value)
    return np.mean(widths), np.mean(holds), np.mean(values)


@pytest.fixture
def known(rng):
    """Items that are easy or hard, and a belief that knows which."""
    believed = rng.choice([0.02, 0.98], size=N_ITEMS, p=[0.3, 0.7])
    return (rng.random(N_ITEMS) < believed).astype(float), believed


def test_belief_that_follows_the_truth_narrows_the_interval(rng, known):
    is_right, believed = known
    width, holds, value = draws(rng, is_right, believed)
    alone, _, _ = draws(rng, is_right, np.zeros(N_ITEMS))
    assert width < 0.6 * alone
    assert holds > COVERAGE - 0.05
    assert value == pytest.approx(is_right.mean(), abs=0.01)


@pytest.mark.parametrize("wrong", ["reversed", "random", "too sure"])
def test_belief_that_is_wrong_does_no_harm(rng, known, wrong):
    is_right, believed = known
    believed = {"reversed": 1 - believed, "random": rng.random(N_ITEMS), "too sure": np.full(N_ITEMS, 0.99)}[wrong]
    width, holds, value = draws(rng, is_right, believed)
    alone, _, _ = draws(rng, is_right, np.zeros(N_ITEMS))
    assert width < 1.02 * alone
    assert holds > COVERAGE - 0.05
    assert value == pytest.approx(is_right.mean(), abs=0.02)


def test_labels_that_are_all_right_leave_room_for_errors(rng):
    value, low, high = measured(np.ones(30), np.full(30, 0.9), np.full(1000, 0.9))
    assert value == high == 1 and 0.9 < low < 0.99


def test_where_all_is_known_the_interval_is_of_other_items():
    assert measured(np.array([1.0, 0, 1, 1]), np.full(4, 0.5), np.full(4, 0.5)) == (0.75, *wilson(0.75, 4, COVERAGE))
    value, low, high = measured(np.ones(200), np.full(200, 0.5), np.full(200, 0.5))
    assert value == high == 1 and 0.98 < low < 1
