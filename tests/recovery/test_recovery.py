"""Parameters come back from data drawn from the model, and do not where the model does not hold."""

import numpy as np
import pytest
from sklearn.base import clone

import consilience as cs
from consilience.aggregators.consensus.panel import skills
from consilience.passes.reader import Reader

from assertions import assert_within_errors
from simulate import diagonal_confusion, labels_from_confusion, rows_from_dirichlet, softmax_members

CLASS_PRIOR = np.array([0.5, 0.3, 0.2])
CONFUSION = np.array(
    [
        [[0.9, 0.05, 0.05], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]],
        [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.1, 0.6]],
        [[0.8, 0.1, 0.1], [0.05, 0.9, 0.05], [0.1, 0.3, 0.6]],
        [[0.6, 0.3, 0.1], [0.1, 0.7, 0.2], [0.05, 0.15, 0.8]],
        [[0.75, 0.15, 0.1], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]],
    ]
)
N_ITEMS = 8000
# A rate estimated from n known items has a standard error of at most .5 / √n; not knowing the class of an item
# with certainty makes it larger, here by a factor below 2.
RATE_ERROR = 2 * 0.5 / np.sqrt(N_ITEMS * CLASS_PRIOR.min())


@pytest.mark.parametrize("method", [cs.DawidSkene(), cs.BayesianClassifierCombination()], ids=repr)
def test_confusion_matrices_come_back(rng, method):
    labels, truth = labels_from_confusion(rng, CONFUSION, CLASS_PRIOR, N_ITEMS)
    fitted = method.fit(cs.Predictions.from_labels(labels, 3))
    assert_within_errors(fitted.confusion_, CONFUSION, RATE_ERROR)
    assert_within_errors(fitted.class_prior_, CLASS_PRIOR, RATE_ERROR)
    vote = cs.MajorityVote().fit(cs.Predictions.from_labels(labels, 3))
    assert (fitted.posterior_.argmax(axis=1) == truth).mean() > (vote.posterior_.argmax(axis=1) == truth).mean()


def test_members_who_copy_each_other_are_the_negative_control(rng):
    """Members that answer alike are not independent: the rates that come back are wrong, as they must be."""
    labels, _ = labels_from_confusion(rng, CONFUSION, CLASS_PRIOR, N_ITEMS)
    copied = np.concatenate([labels[:2], np.repeat(labels[3:4], 5, axis=0)])
    fitted = cs.DawidSkene().fit(cs.Predictions.from_labels(copied, 3))
    with pytest.raises(AssertionError, match="standard errors off"):
        assert_within_errors(fitted.confusion_[2], CONFUSION[3], RATE_ERROR)


CONCENTRATION = np.array(
    [[[6.0, 2.0, 1.0], [1.0, 5.0, 2.0], [1.5, 1.5, 7.0]]] * 2 + [[[4, 1, 1], [2, 6, 1], [1, 3, 5]]]
)


def test_concentrations_come_back(rng):
    """Plain EM (exact M steps, no averaging) is right where rows really are Dirichlet-distributed."""
    array, truth = rows_from_dirichlet(rng, CONCENTRATION, CLASS_PRIOR, 6000)
    sds = cs.SoftDawidSkene(solver="exact", averaging=1, max_iter=60).fit(array)
    # The relative error of a concentration fitted to n rows is about √(2/n); 3 for the classes not being known.
    assert_within_errors(sds.concentration_ / CONCENTRATION, 1.0, 3 * np.sqrt(2 / (6000 * 0.2)))
    average = cs.Average().fit(array).posterior_
    assert (sds.posterior_.argmax(axis=1) == truth).mean() > (average.argmax(axis=1) == truth).mean()


def test_members_who_know_nothing_leave_the_prior(rng):
    """Rows that do not depend on the truth say nothing: the posterior of every item is the class prior."""
    blind = np.repeat([[0.5, 0.3, 0.2]], 3, axis=0)[None].repeat(4, axis=0)
    labels, _ = labels_from_confusion(rng, blind, CLASS_PRIOR, 500)
    ds = cs.DawidSkene(class_prior=CLASS_PRIOR, max_iter=1, tol=None)
    ds.fit(cs.Predictions.from_labels(labels, 3))
    ds.parameters_.confusion[:] = blind
    posterior = ds.predict_proba(cs.Predictions.from_labels(labels, 3))
    np.testing.assert_allclose(posterior, np.tile(CLASS_PRIOR, (500, 1)), atol=1e-12)


def test_a_few_labels_rescue_members_who_are_mostly_wrong(rng):
    """Members who are wrong together mislead every label-free method; known labels count in the M step."""
    confusion = diagonal_confusion([0.2, 0.25, 0.2], 2)
    labels, truth = labels_from_confusion(rng, confusion, [0.5, 0.5], 400)
    predictions = cs.Predictions.from_labels(labels, 2)
    known = np.where(np.arange(400) < 100, truth, -1)
    for method in (cs.DawidSkene(tol=1e-4), cs.BayesianClassifierCombination(off_diagonal_prior=2, tol=1e-4)):
        alone = (method.fit(predictions).posterior_.argmax(axis=1) == truth)[100:].mean()
        helped = (method.fit(predictions, known).posterior_.argmax(axis=1) == truth)[100:].mean()
        assert alone < 0.3
        assert helped > 0.7


@pytest.mark.parametrize(
    "method", [cs.DawidSkene(tol=1e-4), cs.BayesianClassifierCombination(tol=1e-4)], ids=["ds", "bcc"]
)
def test_a_stream_learns_what_a_fit_learns(rng, method):
    labels, _ = labels_from_confusion(rng, CONFUSION, CLASS_PRIOR, N_ITEMS)
    method = clone(method)
    for start in range(0, N_ITEMS, 100):
        method.partial_fit(cs.Predictions.from_labels(labels[:, start : start + 100], 3))
    assert_within_errors(method.confusion_, CONFUSION, RATE_ERROR)
    assert method.statistics_.n_items == N_ITEMS


def test_a_stream_starts_with_a_single_item_and_learns_unseen_classes(rng):
    labels, truth = labels_from_confusion(rng, CONFUSION, CLASS_PRIOR, 3000)
    ds = cs.DawidSkene()
    for item in range(600):
        ds.partial_fit(cs.Predictions.from_labels(labels[:, [item]], 3))
    rest = cs.Predictions.from_labels(labels[:, 600:], 3)
    assert (ds.predict(rest) == truth[600:]).mean() > 0.85


def test_forgetting_follows_a_member_that_changes(rng):
    before, after = CONFUSION.copy(), CONFUSION.copy()
    after[0] = 1 / 3
    first, _ = labels_from_confusion(rng, before, CLASS_PRIOR, 4000)
    second, _ = labels_from_confusion(rng, after, CLASS_PRIOR, 2000)
    labels = np.concatenate([first, second], axis=1)
    forgetful, faithful = cs.DawidSkene(forgetting=0.8), cs.DawidSkene()
    for start in range(0, 6000, 100):
        for method in (forgetful, faithful):
            method.partial_fit(cs.Predictions.from_labels(labels[:, start : start + 100], 3))
    assert np.trace(forgetful.confusion_[0]) / 3 == pytest.approx(1 / 3, abs=0.1)
    assert np.trace(faithful.confusion_[0]) / 3 > 0.5


def test_a_soft_stream_stays_near_the_fit(rng):
    array, truth = rows_from_dirichlet(rng, CONCENTRATION, CLASS_PRIOR, 3000)
    sds = cs.SoftDawidSkene(forgetting=0.99)
    right = []
    for start in range(0, 3000, 100):
        sds.partial_fit(array[:, start : start + 100])
        right.append((sds.posterior_.argmax(axis=1) == truth[start : start + 100]).mean())
    average = cs.Average().fit(array).posterior_
    assert np.mean(right) > (average.argmax(axis=1) == truth).mean() - 0.01
    assert sds.statistics_.n_items == pytest.approx(100 * (1 - 0.99**30) / 0.01, rel=1e-9)


ACCURACIES = np.array([0.9, 0.8, 0.7, 0.6, 0.5])


def skills_of(labels, n_classes):
    return skills(Reader(cs.Predictions.from_labels(labels, n_classes)).agreement(), np.eye(len(labels)))


@pytest.mark.parametrize("draw", range(5))
def test_skills_come_back_where_errors_are_independent(rng, draw):
    """Within .08, drawn a little to each other."""
    rng = np.random.default_rng([draw, *rng.integers(2**32, size=2)])
    labels, _ = labels_from_confusion(rng, diagonal_confusion(ACCURACIES, 4), np.full(4, 0.25), N_ITEMS)
    true = (4 * ACCURACIES - 1) / 3
    found = skills_of(labels, 4)
    np.testing.assert_allclose(found, true, atol=0.08)
    assert (np.diff(found) < 0).all()


def test_shared_errors_pass_for_skill(rng):
    """The negative control: on three items of ten all give the same wrong answer, and everybody seems better."""
    labels, truth = labels_from_confusion(rng, diagonal_confusion(ACCURACIES, 4), np.full(4, 0.25), N_ITEMS)
    wrong = (truth + rng.integers(1, 4, size=N_ITEMS)) % 4
    together = np.where(rng.random(N_ITEMS) < 0.3, wrong, labels)
    true = (4 * (together == truth).mean(axis=1) - 1) / 3
    assert (skills_of(together, 4) > true + 0.25).all()


def test_a_consensus_stream_learns_what_a_fit_learns(rng):
    """Weights are the same, being sums; confusion matrices were counted under what was known then."""
    array, _ = softmax_members(rng, [3, 2, 1, 1], 4000, 4)
    whole, streamed = cs.Consensus().fit(array), cs.Consensus()
    for start in range(0, 4000, 200):
        streamed.partial_fit(array[:, start : start + 200])
    np.testing.assert_allclose(streamed.member_weights_, whole.member_weights_, atol=1e-10)
    np.testing.assert_allclose(streamed.confusion_, whole.confusion_, atol=0.05)
    np.testing.assert_allclose(streamed.predict_proba(array), whole.predict_proba(array), atol=0.06)
    assert streamed.statistics_.n_items == 4000


def test_a_forgetful_consensus_follows_a_member_that_breaks(rng):
    before, _ = softmax_members(rng, [3, 2, 1, 1], 4000, 4)
    after, _ = softmax_members(rng, [0, 2, 1, 3], 2000, 4)
    forgetful, faithful, fresh = cs.Consensus(forgetting=0.7), cs.Consensus(), cs.Consensus().fit(after)
    array = np.concatenate([before, after], axis=1)
    for start in range(0, 6000, 200):
        for method in (forgetful, faithful):
            method.partial_fit(array[:, start : start + 200])
    np.testing.assert_allclose(forgetful.member_weights_, fresh.member_weights_, atol=0.08)
    np.testing.assert_allclose(forgetful.confusion_[0], fresh.confusion_[0], atol=0.08)
    assert faithful.member_weights_[0] > fresh.member_weights_[0] + 0.1


def test_people_beside_networks(rng):
    """People who label half of the items are given their due rates, and help."""
    array, truth = rows_from_dirichlet(rng, 0.3 * CONCENTRATION, CLASS_PRIOR, 2000)
    skills = np.array([0.9, 0.4])
    guesses = rng.integers(3, size=(2, 2000))
    labels = np.where(rng.random((2, 2000)) < skills[:, None], truth, guesses)
    labels[:, rng.random(2000) < 0.5] = -1
    both = cs.Predictions.concatenate([array, cs.Predictions.from_labels(labels, 3, partial=True)])
    for options in ({}, {"solver": "exact", "averaging": 1, "max_iter": 20}):
        alone, together = (cs.SoftDawidSkene(**options).fit(predictions) for predictions in (array, both))
        gain = (together.posterior_.argmax(axis=1) == truth).mean() - (alone.posterior_.argmax(axis=1) == truth).mean()
        assert gain > 0.003
    rates = np.diagonal(together.confusion_[3:], axis1=1, axis2=2)
    assert_within_errors(rates, (skills + (1 - skills) / 3)[:, None], 1.5 * 0.5 / np.sqrt(1000 * 0.2))
