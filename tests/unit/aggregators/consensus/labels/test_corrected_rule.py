"""A correction is one more linear layer and a softmax, by loops; what it adds to the evidence is exact."""

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.consensus.labels.corrected_rule import (
    ANSWER_FLOOR,
    LOG_FLOOR,
    CorrectedRule,
    Correction,
)
from consilience.answering.linear import LinearRule

from simulate import softmax_members

N_MEMBERS, N_CLASSES = 3, 4


@pytest.fixture
def correction(rng):
    weights = rng.normal(size=(N_MEMBERS, N_CLASSES, N_CLASSES))
    weights -= weights.mean(axis=2, keepdims=True)
    return Correction(1.3, rng.normal(size=N_CLASSES), weights)


@pytest.fixture
def rule(correction):
    return CorrectedRule(LinearRule(np.ones(N_MEMBERS), np.zeros(N_MEMBERS, bool), chunk_size=4), correction)


@pytest.fixture
def array(rng):
    array = softmax_members(rng, [2, 1, 1], n_items=10, n_classes=N_CLASSES, missing=0.3)[0]
    array[0, 0] = [1, 0, 0, 0]  # certain: floors count
    array[1:, 0] = [1, 0, 0, 0]
    return array


def by_loops(correction, array):
    posterior = np.zeros(array.shape[1:])
    for i in range(array.shape[1]):
        rows = {m: array[m, i] for m in range(len(array)) if not np.isnan(array[m, i]).any()}
        answer = np.mean(list(rows.values()), axis=0)
        scores = correction.sharpness * np.log(np.maximum(answer, ANSWER_FLOOR)) + correction.bias
        for m, row in rows.items():
            scores = scores + correction.weights[m] @ np.log(np.maximum(row, LOG_FLOOR))
        exponentials = np.exp(scores - scores.max())
        posterior[i] = exponentials / exponentials.sum()
    return posterior


def test_is_the_loops(rule, correction, array):
    np.testing.assert_allclose(rule.posterior(cs.Predictions(array)), by_loops(correction, array), atol=1e-12)


def test_a_label_is_a_one_hot_row(rule, array):
    labels = np.where(np.isnan(array[:, :, 0]), -1, np.nan_to_num(array).argmax(axis=2))
    one_hot = np.where(labels[:, :, None] < 0, np.nan, np.eye(N_CLASSES)[labels])
    expected = rule.posterior(cs.Predictions(one_hot))
    np.testing.assert_allclose(rule.posterior(cs.Predictions.from_labels(labels, N_CLASSES)), expected, atol=1e-12)


def test_a_correction_of_nothing_keeps_the_answers(array):
    nothing = Correction(1.0, np.zeros(N_CLASSES), np.zeros((N_MEMBERS, N_CLASSES, N_CLASSES)))
    inner = LinearRule(np.ones(N_MEMBERS), np.zeros(N_MEMBERS, bool))
    expected = np.maximum(inner.posterior(cs.Predictions(array)), ANSWER_FLOOR)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(CorrectedRule(inner, nothing).posterior(cs.Predictions(array)), expected, atol=1e-12)


@pytest.mark.parametrize("item", [0, 1, 5])
def test_evidence_adds_up_exactly(rule, array, item):
    one = cs.Predictions(array[:, [item]])
    explained = rule.explained(one)
    np.testing.assert_allclose(np.exp(explained.log_posterior), rule.posterior(one)[0], rtol=1e-9)
    for first in range(N_CLASSES):
        for second in range(N_CLASSES):
            prior, by_probability, normalizer, *_ = explained.evidence(first, second)
            log_odds = explained.log_posterior[first] - explained.log_posterior[second]
            assert prior + by_probability.sum() + normalizer.sum() == pytest.approx(log_odds, abs=1e-9)


def test_what_the_inner_rule_knows_is_passed_on(correction):
    inner = LinearRule(np.ones(N_MEMBERS), np.array([True, False, True]), chunk_size=7)
    rule = CorrectedRule(inner, correction)
    assert rule.is_label is inner.is_label
    assert (rule.chunk_size, rule.n_numbers) == (7, inner.n_numbers)
    assert rule.form().needs_double == inner.form().needs_double
