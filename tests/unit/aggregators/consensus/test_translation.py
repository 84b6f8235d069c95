"""Confusion matrices that are drawn to even errors, and the scores that follow."""

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.consensus.label_free_fit import EVEN_PART, FEW_ANSWERS, TranslationModel
from consilience.passes.reader import Reader


def statistics_of(labels, posterior):
    return Reader(cs.Predictions.from_labels(labels, posterior.shape[1], partial=True)).statistics(posterior)


def test_rates_by_hand():
    """One member, ten items of two classes: eight right."""
    truth = np.array([0] * 5 + [1] * 5)
    said = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 0])
    rates = TranslationModel(np.ones(1)).maximize(statistics_of(said[None], np.eye(2)[truth]))
    accuracy = (8 + FEW_ANSWERS * 0.8) / (10 + FEW_ANSWERS + 1)
    pseudo = EVEN_PART * 10 / 2 + 1
    np.testing.assert_allclose(rates[0, 0, 0], (4 + pseudo * accuracy) / (5 + pseudo))
    np.testing.assert_allclose(rates.sum(axis=2), 1)


def test_nobody_is_beyond_error():
    posterior = np.eye(3)[[0, 1, 2] * 20]
    rates = TranslationModel(np.ones(2)).maximize(statistics_of(posterior.argmax(axis=1)[None].repeat(2, 0), posterior))
    assert (rates > 0).all() and (rates < 1).all()


def test_a_member_without_answers_is_as_good_as_the_others():
    truth = np.array([0, 1] * 30)
    labels = np.stack([truth, np.full(60, -1)])
    rates = TranslationModel(np.ones(2)).maximize(statistics_of(labels, np.eye(2)[truth]))
    assert rates[1, 0, 0] == pytest.approx(FEW_ANSWERS / (FEW_ANSWERS + 1))


def test_powers_multiply_the_evidence(rng):
    rates = rng.dirichlet(np.ones(3), size=(2, 3))
    scores = TranslationModel(np.array([1.0, 2.5])).scores(rates)
    np.testing.assert_allclose(scores.weights[0], np.log(rates[0]))
    np.testing.assert_allclose(scores.weights[1], 2.5 * np.log(rates[1]))
    assert (scores.log_prior == 0).all() and (scores.bias == 0).all()
