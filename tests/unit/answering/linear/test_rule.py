"""The linear rule against loops over items, members and classes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import consilience as cs
from consilience.answering.linear import SINGLE_LIMIT, LinearRule
from consilience.maths.em import Scores

from simulate import softmax_members

N_MEMBERS, N_CLASSES = 3, 4
SOFT = np.zeros(N_MEMBERS, dtype=bool)


def random_scores(rng, size=1.0):
    return Scores(
        size * rng.normal(size=N_CLASSES),
        size * rng.normal(size=(N_MEMBERS, N_CLASSES, N_CLASSES)),
        size * rng.normal(size=(N_MEMBERS, N_CLASSES)),
    )


def softmax(values):
    exponentials = [math.exp(value - max(values)) for value in values]
    return [value / sum(exponentials) for value in exponentials]


def by_loops(rule, array):
    """(1 - weight) · average + weight · softmax(scores), one item after the other."""
    posterior = np.zeros(array.shape[1:])
    for i in range(array.shape[1]):
        answered = [m for m in range(len(array)) if not np.isnan(array[m, i]).any()]
        rows, features = {}, {}
        for m in answered:
            row = array[m, i]
            rows[m] = features[m] = np.eye(len(row))[row.argmax()] if rule.is_label[m] else row
            if rule.log_floor is not None and not rule.is_label[m]:
                features[m] = np.log(np.maximum(row, rule.log_floor))
        pooled = features if rule.averages_logs else rows
        total = sum(rule.member_weights[m] for m in answered)
        average = [sum(rule.member_weights[m] * pooled[m][k] for m in answered) / total for k in range(array.shape[2])]
        if rule.averages_logs:
            average = softmax(average)
        pure = average
        if rule.scores is not None:
            log_prior, weights, bias = rule.scores
            pure = softmax(
                [
                    log_prior[k] + sum(weights[m, k] @ features[m] + bias[m, k] for m in answered)
                    for k in range(array.shape[2])
                ]
            )
        posterior[i] = [(1 - rule.weight) * a + rule.weight * p for a, p in zip(average, pure, strict=True)]
    return posterior


@pytest.fixture
def array(rng):
    return softmax_members(rng, [2, 1, 0.5], n_items=25, n_classes=N_CLASSES, missing=0.3)[0]


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("log_floor", [None, 1e-3])
@pytest.mark.parametrize("chunk_size", [None, 1, 7])
def test_is_the_loops(rng, array, weight, log_floor, chunk_size):
    rule = LinearRule(
        np.array([1.0, 2.0, 0.5]), SOFT, weight, random_scores(rng), log_floor=log_floor, chunk_size=chunk_size
    )
    np.testing.assert_allclose(rule.posterior(cs.Predictions(array)), by_loops(rule, array), atol=1e-12)


def test_labels_are_the_loops(rng, array):
    rule = LinearRule(np.ones(N_MEMBERS), ~SOFT, 1.0, random_scores(rng))
    np.testing.assert_allclose(rule.posterior(cs.Predictions(array)), by_loops(rule, array), atol=1e-12)


def test_labels_beside_probabilities_are_the_loops(rng, array):
    is_label = np.array([False, False, True])
    rule = LinearRule(np.array([1.0, 2.0, 0.5]), is_label, 0.4, random_scores(rng), log_floor=1e-6)
    votes = np.where(np.isnan(array[2, :, 0]), -1, np.nan_to_num(array[2]).argmax(axis=1))
    mixed = cs.Predictions.concatenate([array[:2], cs.Predictions.from_labels([votes], N_CLASSES, partial=True)])
    np.testing.assert_allclose(rule.posterior(mixed), by_loops(rule, array), atol=1e-12)


def test_a_geometric_mean_is_the_loops(array):
    rule = LinearRule(np.array([1.0, 2.0, 0.5]), SOFT, log_floor=1e-10, averages_logs=True)
    np.testing.assert_allclose(rule.posterior(cs.Predictions(array)), by_loops(rule, array), atol=1e-12)
    labels = cs.Predictions.from_labels([[0, 1], [1, 1], [0, 0]])
    with pytest.raises(cs.InvalidPredictions, match="the geometric mean needs probabilities; some members give labels"):
        rule.posterior(labels)


@given(st.floats(-50, 50), st.integers(0, 2**32 - 1))
def test_what_all_classes_share_changes_nothing(shift, seed):
    rng = np.random.default_rng(seed)
    array = rng.dirichlet(np.ones(N_CLASSES), size=(N_MEMBERS, 5))
    log_prior, weights, bias = random_scores(rng)
    shifted = Scores(log_prior + shift, weights + rng.normal(size=(N_MEMBERS, 1, N_CLASSES)), bias - shift)
    first, second = (
        LinearRule(np.ones(N_MEMBERS), SOFT, 1.0, scores, log_floor=1e-6).posterior(cs.Predictions(array))
        for scores in (Scores(log_prior, weights, bias), shifted)
    )
    np.testing.assert_allclose(first, second, atol=1e-10)


@pytest.mark.parametrize("is_label", [SOFT, ~SOFT], ids=["soft", "labels"])
def test_an_exported_layer_leaves_out_what_all_classes_share(rng, is_label):
    """What is likely then scores near zero: least weights of logarithms, which are negative, and largest of labels."""
    scores = random_scores(rng)
    layer = LinearRule(np.ones(N_MEMBERS), is_label, 1.0, scores, log_floor=1e-6).form().numbers
    features = rng.normal(size=(N_MEMBERS, N_CLASSES))
    full = scores.log_prior + np.einsum("mkj,mj->k", scores.weights, features) + scores.bias.sum(axis=0)
    shifted = features.ravel() @ layer["table"] + layer["bias"].sum(axis=0) + layer["log_prior"]
    np.testing.assert_allclose(np.diff(shifted), np.diff(full), atol=1e-10)
    extreme = layer["table"].max(axis=1) if is_label.all() else layer["table"].min(axis=1)
    np.testing.assert_allclose(extreme, 0, atol=1e-15)
    assert "table" not in LinearRule(np.ones(N_MEMBERS), is_label, 0.0, scores).form().numbers


def test_large_scores_need_double_precision_unless_they_weigh_little():
    """One member, two classes, a label whose wrong class costs 300 nats: by hand, the largest score is 300."""
    scores = Scores(np.zeros(2), np.array([[[0.0, -300.0], [-300.0, 0.0]]]), np.zeros((1, 2)))
    rules = [LinearRule(np.ones(1), np.ones(1, dtype=bool), weight, scores) for weight in (1.0, 0.9, 0.8)]
    assert [rule.form().needs_double for rule in rules] == [300 * weight > SINGLE_LIMIT for weight in (1.0, 0.9, 0.8)]
    assert rules[0].n_numbers == 4
    average = LinearRule(np.ones(1), np.zeros(1, dtype=bool))
    assert (average.form().needs_double, average.n_numbers) == (False, 0)
