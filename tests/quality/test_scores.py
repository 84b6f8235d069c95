import numpy as np
import pytest

import consilience as cs
from benchmarks.quality.scores import METRICS, change, gain, readable, scores


def test_scores_by_hand():
    posterior = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.5, 0.5]])
    found = scores(posterior, np.array([0, 1, 1, -1]))  # nobody knows the truth of the last
    assert list(found) == list(METRICS)
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["nll"] == pytest.approx(-np.log([0.9, 0.4, 0.7]).mean())
    assert found["brier"] == pytest.approx(np.mean([0.02, 0.72, 0.18]))
    assert found["auroc"] == 1  # the wrong answer is the least sure


def test_auroc_needs_right_and_wrong_answers():
    assert np.isnan(scores(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]))["auroc"])


def test_scores_are_those_of_the_package():
    rng = np.random.default_rng(0)
    posterior, truth = rng.dirichlet(np.ones(4), size=300), rng.integers(4, size=300)
    ours, theirs = scores(posterior, truth), cs.evaluate(posterior, truth, n_bootstrap=0)
    for metric in METRICS[:-1]:
        assert ours[metric] == pytest.approx(theirs[metric].value, rel=1e-12)


def test_changes_are_points_and_ratios():
    assert change(0.82, 0.8, "accuracy") == pytest.approx(2)
    assert readable(change(1.98, 0.98, "nll"), "nll") == pytest.approx(2)  # .02 is added to both
    assert readable(change(0.2, 0.41, "brier"), "brier") == pytest.approx(0.5)
    assert readable(change(0.0, 0.0, "nll"), "nll") == 1


@pytest.mark.parametrize(
    ("metric", "better", "even", "worse"),
    [("accuracy", 0.8021, 0.8019, 0.7979), ("nll", 0.78, 0.79, 0.82), ("ece debiased", 0.794, 0.796, 0.806)],
)
def test_less_than_the_margin_is_a_tie(metric, better, even, worse):
    assert gain(change(better, 0.8, metric), metric) > 1
    assert abs(gain(change(even, 0.8, metric), metric)) < 1
    assert gain(change(worse, 0.8, metric), metric) < -1
