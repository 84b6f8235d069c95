"""EM on labels: what Dawid-Skene and its Bayesian variant have in common."""

import numpy as np
import pytest
from sklearn.base import clone

import consilience as cs

from assertions import assert_never_falls


@pytest.mark.parametrize(
    "method",
    [
        cs.DawidSkene(max_iter=50, tol=None),
        cs.DawidSkene(smoothing=0, max_iter=50, tol=None),
        cs.DawidSkene(class_prior=[0.2, 0.3, 0.5], max_iter=50, tol=None),
        cs.BayesianClassifierCombination(max_iter=50, tol=None),
        cs.BayesianClassifierCombination(class_prior="uniform", max_iter=50, tol=None),
    ],
    ids=repr,
)
@pytest.mark.parametrize("is_semi_supervised", [False, True])
def test_objectives_never_fall(labels, method, is_semi_supervised):
    known = np.full(labels.shape[1], -1)
    known[:5] = 0 if is_semi_supervised else -1
    assert_never_falls(method.fit(cs.Predictions.from_labels(labels, 3), known).history_)


@pytest.mark.parametrize("method", [cs.DawidSkene(), cs.BayesianClassifierCombination()], ids=repr)
def test_a_stream_of_labels_begins_with_an_item_per_class(method):
    """By hand: after the fit, each member answers an item of each class, right with probability 1/2 + 1/2K."""
    votes = np.array([[0, 0, 1, 1, 0], [0, 1, 1, 1, 0], [0, 0, 1, 0, 0]])
    predictions = cs.Predictions.from_labels(votes, 3)
    fitted, streamed = clone(method).fit(predictions), clone(method).partial_fit(predictions)
    table = np.full((3, 3), 1 / 6) + np.eye(3) / 2
    for own, before, added in (
        (streamed.statistics_.sums, fitted.statistics_.sums, np.broadcast_to(table, (3, 3, 3))),
        (streamed.statistics_.answer_counts, fitted.statistics_.answer_counts, np.ones((3, 3))),
        (streamed.statistics_.class_counts, fitted.statistics_.class_counts, np.ones(3)),
    ):
        np.testing.assert_allclose(own, before + added, rtol=1e-12)
    assert streamed.statistics_.n_items == 5
    assert streamed.statistics_.log_evidence == fitted.statistics_.log_evidence


@pytest.mark.parametrize("method", [cs.DawidSkene(), cs.BayesianClassifierCombination()], ids=repr)
def test_a_member_alone_is_believed(method):
    votes = np.array([[0, 0, 1, 2, 0, 1]])
    alone = clone(method).fit(cs.Predictions.from_labels(votes, 3))
    assert (alone.n_iter_, alone.converged_) == (1, False)
    silent = clone(method).fit(cs.Predictions.from_labels(np.concatenate([votes, np.full((1, 6), -1)]), 3))
    assert silent.n_iter_ == 1
    for fitted in (alone, silent):
        assert fitted.posterior_.argmax(axis=1).tolist() == votes[0].tolist()
