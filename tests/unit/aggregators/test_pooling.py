"""What is counted under a posterior that needs no fit."""

import numpy as np

import consilience as cs

import reference
from simulate import softmax_members

ARRAY, TRUTH = softmax_members(np.random.default_rng(0), [2, 1, 1], n_items=40, n_classes=3, missing=0.2)


def counts_of(array, posterior):
    labels = np.where(np.isnan(array[:, :, 0]), -1, np.nan_to_num(array).argmax(axis=2))
    return reference.confusion_counts(reference.answers_of(np.zeros((0, 0, 3)), labels), posterior, len(array))


def test_priors_and_confusion_are_counted_under_the_posterior():
    fitted = cs.Average().fit(ARRAY)
    counts = counts_of(ARRAY, fitted.posterior_)
    np.testing.assert_allclose(fitted.confusion_, counts / counts.sum(axis=2, keepdims=True), rtol=1e-10)
    np.testing.assert_allclose(fitted.class_prior_, fitted.posterior_.mean(axis=0), rtol=1e-12)
    assert (fitted.n_iter_, fitted.history_, fitted.converged_) == (0, [], True)


def test_known_labels_are_kept_and_counted():
    labels = np.where(np.arange(40) < 10, (TRUTH + 1) % 3, -1)
    fitted = cs.MajorityVote().fit(ARRAY, labels)
    np.testing.assert_array_equal(fitted.posterior_[:10], np.eye(3)[labels[:10]])
    np.testing.assert_allclose(fitted.statistics_.sums, counts_of(ARRAY, fitted.posterior_), rtol=1e-10)
    np.testing.assert_array_equal(fitted.posterior_[10:], cs.MajorityVote().fit(ARRAY).posterior_[10:])


def test_a_stream_counts_all_batches_and_answers_the_last():
    streamed = cs.Average().partial_fit(ARRAY[:, :25]).partial_fit(ARRAY[:, 25:])
    whole = cs.Average().fit(ARRAY)
    np.testing.assert_allclose(streamed.confusion_, whole.confusion_, rtol=1e-10)
    np.testing.assert_allclose(streamed.class_prior_, whole.class_prior_, rtol=1e-10)
    np.testing.assert_allclose(streamed.posterior_, whole.posterior_[25:], rtol=1e-12)


def test_a_class_that_nobody_votes_for_has_a_uniform_row():
    fitted = cs.MajorityVote().fit(cs.Predictions.from_labels([[0, 1], [0, 1]], 3))
    np.testing.assert_allclose(fitted.confusion_[:, 2], 1 / 3)
    np.testing.assert_allclose(fitted.confusion_[:, :2], np.eye(3)[None, :2].repeat(2, axis=0))


def test_a_stream_may_use_one_array_again_and_again():
    batch = ARRAY[:, :20].copy()
    streamed = cs.Average().partial_fit(batch)
    batch[:] = ARRAY[:, 20:]
    np.testing.assert_allclose(streamed.partial_fit(batch).confusion_, cs.Average().fit(ARRAY).confusion_, rtol=1e-10)
