"""Fitting intervals: they reach as far as the errors that were seen, where they were seen."""

from dataclasses import replace

import numpy as np

from consilience.insight.accuracy.estimates import INTERVAL_FEATURES
from training.accuracy import LEAST_DOWN, Rows, fit


def panels(rng, n_panels=600, n_voters=5):
    """Estimates are off by much where the first feature is high, and by little where it is low."""
    rows = []
    for number in range(n_panels):
        features = rng.normal(size=(n_voters, len(INTERVAL_FEATURES)))
        spread = np.where(features[:, 0] > 0, 0.15, 0.02)
        believed = rng.uniform(0.3, 0.9, n_voters)
        truth = np.clip(believed + spread * rng.uniform(-1, 1, n_voters), 0, 1)
        rows.append(Rows(features, believed, np.full(n_voters, np.nan), truth, f"generated {number % 3}"))
    return rows


def test_intervals_hold_as_often_as_asked_and_are_wide_where_errors_are(rng):
    rows = panels(rng)
    found = fit(rows, coverage=0.9)
    features, believed, unknown, truth = (
        np.concatenate([getattr(one, name) for one in rows]) for name in Rows._fields[:4]
    )
    found = replace(found, least=np.array([1.0, 0.0]))
    low, high = found.around(believed, features, unknown)
    assert abs(((low <= truth) & (truth <= high)).mean() - 0.9) < 0.06
    wide, narrow = (high - low)[features[:, 0] > 1].mean(), (high - low)[features[:, 0] < -1].mean()
    assert wide > 2 * narrow


def test_the_least_reach_holds_where_the_features_are_sure_and_wrong(rng):
    """Some panels are wrong together, and no feature tells which."""
    rows = panels(rng)
    rows = [one._replace(truth=one.truth * (0.6 if rng.random() < 0.1 else 1)) for one in rows]
    found = fit(rows)
    share = found.least[0]
    assert 0.55 < share < 0.8  # below it are 8 % of the voters
    believed, truth = (np.concatenate([getattr(one, name) for one in rows]) for name in ("believed", "truth"))
    assert abs((truth < share * believed).mean() - LEAST_DOWN) < 0.02


def test_the_same_rows_give_the_same_weights(rng):
    rows = panels(rng, n_panels=50)
    np.testing.assert_array_equal(fit(rows).table, fit(rows).table)
