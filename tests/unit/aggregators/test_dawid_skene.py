"""Dawid-Skene against loops and by hand."""

import numpy as np
import pytest

import consilience as cs

import reference


@pytest.mark.parametrize("smoothing", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("n_iter", [1, 7])
def test_dawid_skene_is_the_loops(labels, smoothing, n_iter):
    ds = cs.DawidSkene(smoothing=smoothing, max_iter=n_iter, tol=None).fit(cs.Predictions.from_labels(labels, 3))
    posterior, prior, confusion, log_likelihood = reference.dawid_skene(labels, 3, n_iter, smoothing)
    np.testing.assert_allclose(ds.posterior_, posterior, atol=1e-12)
    np.testing.assert_allclose(ds.class_prior_, prior, atol=1e-12)
    np.testing.assert_allclose(ds.confusion_, confusion, atol=1e-12)
    penalty = (smoothing * (1 + np.eye(3)) * np.log(np.maximum(confusion, 1e-300))).sum() if smoothing else 0
    penalty += smoothing * np.log(prior).sum()
    assert ds.history_[-1] == pytest.approx(log_likelihood + penalty, rel=1e-12)


def test_last_objective_belongs_to_the_parameters_returned(labels):
    predictions = cs.Predictions.from_labels(labels, 3)
    ds = cs.DawidSkene(smoothing=0, max_iter=4, tol=None).fit(predictions)
    total = 0.0
    for i in range(labels.shape[1]):
        joint = ds.class_prior_.copy()
        for m in range(len(labels)):
            if labels[m, i] >= 0:
                joint *= ds.confusion_[m, :, labels[m, i]]
        total += np.log(joint.sum())
        np.testing.assert_allclose(ds.posterior_[i], joint / joint.sum(), atol=1e-12)
    assert ds.history_[-1] == pytest.approx(total, rel=1e-12)


def test_two_members_by_hand():
    """One E step from the shares of votes, on two items, computed on paper."""
    ds = cs.DawidSkene(smoothing=0, max_iter=1, tol=None).fit(cs.Predictions.from_labels([[0, 1], [0, 0]]))
    # Shares: item 0 (1, 0), item 1 (1/2, 1/2). Prior 3/4, 1/4. Member 0: class 0 → (2/3, 1/3), class 1 → (0, 1).
    np.testing.assert_allclose(ds.class_prior_, [0.75, 0.25])
    np.testing.assert_allclose(ds.confusion_, [[[2 / 3, 1 / 3], [0, 1]], [[1, 0], [1, 0]]])
    np.testing.assert_allclose(ds.posterior_, [[1, 0], [0.5, 0.5]], atol=1e-300)
    assert ds.history_[-1] == pytest.approx(np.log(0.75 * 2 / 3) + np.log(0.75 / 3 + 0.25))
