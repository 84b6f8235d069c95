"""Dawid-Skene against loops and by hand."""

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.dawid_skene import CategoricalModel, Rates
from consilience.maths.em import Statistics

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


def test_the_m_step_is_the_maximum_of_what_em_climbs(rng):
    """No rates beside those returned have a larger expected log-likelihood plus log prior."""
    sums = rng.gamma(1.0, size=(2, 3, 3))
    statistics = Statistics(9.0, sums[0].sum(axis=1), sums.sum(axis=2), sums, 0.0)
    model = CategoricalModel(0.5, None)

    def objective(rates):
        scores = model.scores(rates)
        expected = (statistics.class_counts * scores.log_prior).sum() + (sums * scores.weights).sum()
        return expected + model.log_prior(rates)

    best = model.maximize(statistics)
    np.testing.assert_allclose(best.confusion.sum(axis=2), 1, rtol=1e-12)
    for _ in range(50):
        prior = best.class_prior * np.exp(0.1 * rng.normal(size=3))
        confusion = best.confusion * np.exp(0.1 * rng.normal(size=(2, 3, 3)))
        other = Rates(prior / prior.sum(), confusion / confusion.sum(axis=2, keepdims=True))
        assert objective(other) < objective(best)


def test_a_fixed_class_prior_is_not_part_of_the_prior():
    rates = Rates(np.array([0.25, 0.75]), np.full((1, 2, 2), 0.5))
    of_rates = 0.1 * 6 * np.log(0.5)  # each of two rows has one pseudo-answer of .2 and one of .1
    assert CategoricalModel(0.1, rates.class_prior).log_prior(rates) == pytest.approx(of_rates)
    of_classes = 0.1 * np.log(0.25 * 0.75)
    assert CategoricalModel(0.1, None).log_prior(rates) == pytest.approx(of_rates + of_classes)
    assert CategoricalModel(0.0, None).log_prior(rates) == 0


def test_forgetting_halves_what_came_before(labels):
    """By hand: after the first batch, which adds an item per class, all statistics count half."""
    predictions = cs.Predictions.from_labels(labels, 3)
    ds = cs.DawidSkene(forgetting=0.5).partial_fit(predictions.take(slice(0, 40)))
    before, batch = ds.statistics_, predictions.take(slice(40, 60))
    posterior = ds.predict_proba(batch)
    ds.partial_fit(batch)
    counts = reference.confusion_counts(reference.answers_of(np.zeros((0, 0, 3)), labels[:, 40:]), posterior, 4)
    np.testing.assert_allclose(ds.statistics_.sums, 0.5 * before.sums + counts, rtol=1e-10)
    assert ds.statistics_.n_items == 0.5 * 40 + 20
    table = ds.statistics_.sums + 0.01 * (1 + np.eye(3))
    np.testing.assert_allclose(ds.confusion_, table / table.sum(axis=2, keepdims=True), rtol=1e-10)


def test_a_rate_of_zero_forbids_a_class_for_ever():
    """Without smoothing, whoever never called class 1 class 0 rules class 1 out by saying 0."""
    ds = cs.DawidSkene(smoothing=0, max_iter=1, tol=None).fit(cs.Predictions.from_labels([[0, 0, 1, 1]] * 2))
    new = cs.Predictions.from_labels([[0], [-1]], 2)
    np.testing.assert_allclose(ds.predict_proba(new), [[1, 0]], atol=1e-300)
