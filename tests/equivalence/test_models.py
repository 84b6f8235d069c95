"""Where two methods are one model, they give the same fit."""

import numpy as np

import consilience as cs

from simulate import diagonal_confusion, labels_from_confusion


def test_dawid_skene_becomes_bcc_as_items_grow(rng):
    """With many items the priors are washed out, and both are the maximum-likelihood rates."""
    labels, _ = labels_from_confusion(rng, diagonal_confusion([0.8, 0.7, 0.9], 3), [0.5, 0.3, 0.2], 20_000)
    predictions = cs.Predictions.from_labels(labels, 3)
    ds, bcc = cs.DawidSkene(smoothing=0).fit(predictions), cs.BayesianClassifierCombination().fit(predictions)
    np.testing.assert_allclose(ds.confusion_, bcc.confusion_, atol=5e-3)


def test_hard_members_are_dawid_skenes(rng):
    """With hard members alone, no averaging and no floor in sight, Soft Dawid-Skene is Dawid-Skene."""
    labels, _ = labels_from_confusion(rng, diagonal_confusion([0.9, 0.7, 0.6], 3), [0.5, 0.3, 0.2], 100)
    predictions = cs.Predictions.from_labels(labels, 3)
    soft = cs.SoftDawidSkene(averaging=1, max_iter=6, smoothing=0.0).fit(predictions)
    hard = cs.DawidSkene(max_iter=6, smoothing=0.0, tol=None).fit(predictions)
    np.testing.assert_allclose(soft.posterior_, hard.posterior_, atol=1e-9)
    assert np.isnan(soft.concentration_).all()
