"""The comparison with scikit-learn's ensembles: how items are scored, and how they differ."""

from __future__ import annotations

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from benchmarks.ensembles import Scores, difference, scores


def test_items_are_scored_by_who_has_not_seen_them(rng):
    y = np.repeat([0, 1], [30, 10])
    x = y[:, None] + 0.01 * rng.normal(size=(40, 1))
    usual = scores(lambda: DummyClassifier(strategy="prior"), x, y, 2)
    assert isinstance(usual, Scores)
    np.testing.assert_array_equal(usual.accuracy, y == 0)
    np.testing.assert_allclose(usual.log_loss, -np.log(np.where(y == 0, 0.75, 0.25)))
    assert scores(GaussianNB, x, y, 1).accuracy.mean() == 1


def test_differences_have_the_interval_of_a_mean():
    ours, theirs = np.array([1.0, 0.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0, 0.0])
    half = 1.645 * np.std([1, 0, 0, 1], ddof=1) / 2
    assert difference(ours, theirs, 2) == f"+0.50 ({0.5 - half:+.2f} to {0.5 + half:+.2f})"
