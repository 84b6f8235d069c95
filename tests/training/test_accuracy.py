"""Fitting intervals: they reach as far as the errors that were seen, where they were seen."""

import numpy as np

from consilience.insight.accuracy.intervals import NAMES
from training.accuracy import Rows, fit


def panels(rng, n_panels=600, n_voters=5):
    """Estimates are off by much where the first feature is high, and by little where it is low."""
    rows = []
    for number in range(n_panels):
        features = rng.normal(size=(n_voters, len(NAMES)))
        spread = np.where(features[:, 0] > 0, 0.15, 0.02)
        believed = rng.uniform(0.3, 0.9, n_voters)
        truth = np.clip(believed + spread * rng.uniform(-1, 1, n_voters), 0, 1)
        rows.append(Rows(features, believed, truth, f"generated {number % 3}"))
    return rows


def test_intervals_hold_as_often_as_asked_and_are_wide_where_errors_are(rng):
    rows = panels(rng)
    found = fit(rows, coverage=0.9)
    features, believed, truth = (np.concatenate([getattr(one, name) for one in rows]) for name in Rows._fields[:3])
    low, high = found.around(believed, features)
    assert abs(((low <= truth) & (truth <= high)).mean() - 0.9) < 0.06
    wide, narrow = (high - low)[features[:, 0] > 1].mean(), (high - low)[features[:, 0] < -1].mean()
    assert wide > 2 * narrow


def test_the_same_rows_give_the_same_weights(rng):
    rows = panels(rng, n_panels=50)
    np.testing.assert_array_equal(fit(rows).table, fit(rows).table)
