"""Ordered classes: the prior leans to neighbours, and everything that held of a fit still does."""

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.dawid_skene import CategoricalModel, Rates
from consilience.maths.em import leaning, pseudo_answers

from assertions import assert_never_falls

LEANING = [cs.DawidSkene(), cs.Consensus()]
NOT_LEANING = [cs.BayesianClassifierCombination(), cs.SoftDawidSkene(), cs.Average(), cs.MajorityVote()]


@pytest.fixture
def ratings(rng):
    """Few ratings of many raters, wrong by a step or two."""
    truth = rng.integers(5, size=60)
    said = np.clip(truth + rng.choice([-2, -1, 0, 0, 0, 1, 2], size=(8, 60)), 0, 4)
    said[rng.random(said.shape) < 0.4] = -1
    said[0] = np.maximum(said[0], 0)
    return said


def both(ratings):
    return cs.Predictions.from_labels(ratings, 5, ordered=True), cs.Predictions.from_labels(ratings, 5)


def test_wrong_answers_lean_to_neighbours_and_are_as_many():
    table = leaning(5, ordered=True)
    assert (np.diff(table[0, 1:]) < 0).all() and (np.diff(table[2, 2:][1:]) < 0).all()
    assert table.sum(axis=1) == pytest.approx(5) and np.diagonal(table).tolist() == [1] * 5
    np.testing.assert_allclose(table, table[::-1, ::-1])
    np.testing.assert_array_equal(leaning(5, ordered=False), np.ones((5, 5)))
    np.testing.assert_allclose(leaning(2, ordered=True), 1)  # two classes have no order to speak of


@pytest.mark.parametrize("method", LEANING, ids=lambda method: type(method).__name__)
def test_the_order_counts(method, ratings):
    ordered, plain = both(ratings)
    assert np.abs(method.fit_predict_proba(ordered) - method.fit_predict_proba(plain)).max() > 1e-6


@pytest.mark.parametrize("method", NOT_LEANING, ids=lambda method: type(method).__name__)
def test_other_methods_answer_as_before(method, ratings):
    ordered, plain = both(ratings)
    np.testing.assert_array_equal(method.fit_predict_proba(ordered), method.fit_predict_proba(plain))


@pytest.mark.parametrize("method", LEANING, ids=lambda method: type(method).__name__)
def test_a_scale_from_good_to_bad_answers_the_same(method, ratings):
    forwards = method.fit_predict_proba(cs.Predictions.from_labels(ratings, 5, ordered=True))
    turned = np.where(ratings < 0, -1, 4 - ratings)
    backwards = method.fit_predict_proba(cs.Predictions.from_labels(turned, 5, ordered=True))
    np.testing.assert_allclose(forwards, backwards[:, ::-1], atol=1e-9)


@pytest.mark.parametrize("method", LEANING, ids=lambda method: type(method).__name__)
def test_chunks_change_nothing(method, ratings):
    ordered, _ = both(ratings)
    whole = method.fit_predict_proba(ordered)
    np.testing.assert_allclose(method.set_params(chunk_size=7).fit_predict_proba(ordered), whole, atol=1e-9)
    method.set_params(chunk_size=None)


@pytest.mark.parametrize("method", LEANING, ids=lambda method: type(method).__name__)
def test_the_order_outlives_a_file_and_a_batch_that_does_not_say_it(method, ratings, tmp_path):
    ordered, plain = both(ratings)
    method.fit(ordered).save(tmp_path / "model.npz")
    loaded = cs.load(tmp_path / "model.npz")
    assert method.ordered_ and loaded.ordered_ and not cs.DawidSkene().fit(plain).ordered_
    np.testing.assert_allclose(loaded.predict_proba(plain), method.predict_proba(ordered))
    for model in (method, loaded):
        model.partial_fit(plain if model is loaded else ordered)
    np.testing.assert_allclose(loaded.confusion_, method.confusion_)
    assert loaded.ordered_


def test_the_objective_never_falls(ratings):
    ordered, _ = both(ratings)
    assert_never_falls(cs.DawidSkene(smoothing=0.5, tol=None, max_iter=40).fit(ordered).history_)


def test_the_rates_maximize_the_objective(rng):
    """No rates near those found have a larger log-likelihood plus log-prior."""
    model, counts = CategoricalModel(0.7, np.full(4, 0.25), ordered=True), rng.gamma(1.0, size=(1, 4, 4))
    table = counts + pseudo_answers(4, 0.7, ordered=True)
    best = Rates(np.full(4, 0.25), table / table.sum(axis=-1, keepdims=True))

    def objective(rates):
        return (counts * np.log(rates.confusion)).sum() + model.log_prior(rates)

    for _ in range(20):
        moved = best.confusion * np.exp(0.05 * rng.normal(size=counts.shape))
        other = Rates(best.class_prior, moved / moved.sum(axis=-1, keepdims=True))
        assert objective(other) < objective(best)
