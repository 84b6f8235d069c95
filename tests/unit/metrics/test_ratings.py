"""Scores of ratings against scikit-learn and slow loops; the expected rating and its interval."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score, mean_absolute_error

import consilience as cs
from consilience.metrics import expected_rating, quadratic_kappa, ranked_probability_score
from consilience.metrics.ratings import RATINGS, score_ratings


@pytest.fixture
def scored(rng):
    posterior = rng.dirichlet(np.ones(5), size=80)
    return posterior, rng.integers(5, size=80)


def test_against_scikit_learn_and_loops(scored):
    posterior, truth = scored
    found = score_ratings(posterior, truth)
    answers = posterior.argmax(axis=1)
    assert found["mae"] == pytest.approx(mean_absolute_error(truth, answers))
    medians = [next(k for k in range(5) if row[: k + 1].sum() >= 0.5) for row in posterior]
    assert found["mae of median"] == pytest.approx(mean_absolute_error(truth, medians))
    assert found["quadratic kappa"] == pytest.approx(cohen_kappa_score(truth, answers, weights="quadratic"))
    slow = [
        sum((row[: k + 1].sum() - (true <= k)) ** 2 for k in range(4)) / 4
        for row, true in zip(posterior, truth, strict=True)
    ]
    assert found["rps"] == pytest.approx(np.mean(slow))


def test_ratings_are_the_classes_numbers(scored):
    posterior, truth = scored
    names = [0, 25, 50, 75, 100]
    found, plain = score_ratings(posterior, np.array(names)[truth], names), score_ratings(posterior, truth)
    assert found["mae"] == pytest.approx(25 * plain["mae"])
    assert found["rps"] == pytest.approx(plain["rps"])
    assert found["quadratic kappa"] == pytest.approx(plain["quadratic kappa"])


def test_two_classes_have_the_brier_score(rng):
    posterior, truth = rng.dirichlet(np.ones(2), size=30), rng.integers(2, size=30)
    assert 2 * ranked_probability_score(posterior, truth) == pytest.approx(cs.metrics.brier_score(posterior, truth))


def test_the_ends():
    right = np.eye(3)
    assert score_ratings(right, [0, 1, 2]) == pytest.approx(dict(zip(RATINGS, [0, 0, 0, 1], strict=True)))
    assert score_ratings(right[[0, 2]], [2, 0])["rps"] == 1
    assert quadratic_kappa(right[[0, 2]], [2, 0]) == -1
    assert np.isnan(quadratic_kappa(right[[1, 1]], [1, 1]))


def test_soft_truths_weigh_each_rating():
    found = cs.evaluate([[0.0, 1.0, 0.0]], np.array([[0.5, 0.0, 0.5]]), ordered=True, n_bootstrap=0)
    assert found["mae"].value == 1 and found["rps"].value == pytest.approx((0.5**2 + 0.5**2) / 2)


def test_evaluate_has_them_where_classes_are_ordered(scored):
    posterior, truth = scored
    truth[:3] = -1
    plain, ordered = cs.evaluate(posterior, truth), cs.evaluate(posterior, truth, ordered=True)
    assert list(ordered) == [*plain, *RATINGS] and all(plain[name] == ordered[name] for name in plain)
    known = score_ratings(posterior[3:], truth[3:])
    for name in RATINGS:
        value, low, high = ordered[name]
        assert value == pytest.approx(known[name]) and low < value < high
    with pytest.raises(cs.InvalidPredictions, match="rise from the first"):
        cs.evaluate(posterior, np.arange(5)[truth], classes=[4, 3, 2, 1, 0], ordered=True)


def test_the_columns_of_a_frame_are_the_ratings():
    posterior, truth = np.array([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1]]), [1, 5]
    frame = pd.DataFrame(posterior, columns=[1, 2, 5])
    assert cs.metrics.mean_absolute_error(frame, pd.Series(truth)) == 2
    with pytest.raises(cs.InvalidPredictions, match="rise from the first"):
        cs.metrics.mean_absolute_error(frame[[2, 1, 5]], pd.Series(truth))


def test_the_interval_has_the_rating_as_often_as_it_says(rng):
    """The truth is drawn from the posterior: whole ratings can only be covered too often."""
    posterior = rng.dirichlet(np.full(9, 0.7), size=20_000)
    truth = (posterior.cumsum(axis=1) < rng.random((len(posterior), 1))).sum(axis=1)
    found = expected_rating(posterior, level=0.8)
    assert 0.8 <= ((found.low <= truth) & (truth <= found.high)).mean() < 0.97
    below, above = (truth < found.low).mean(), (truth > found.high).mean()
    assert below <= 0.1 and above <= 0.1
    assert abs((truth - found.expected).mean()) < 0.05
    of_median, of_answer = (np.abs(truth - guess).mean() for guess in (found.median, posterior.argmax(axis=1)))
    assert of_median < of_answer - 0.05


def test_expected_ratings_of_sure_answers():
    found = expected_rating(np.eye(3), ["1", "2", "3"])
    assert [part.tolist() for part in found] == [[1, 2, 3]] * 4
    with pytest.raises(ValueError, match="level"):
        expected_rating(np.eye(3), level=2)
