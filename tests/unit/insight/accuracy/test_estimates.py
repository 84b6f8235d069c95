"""Estimates of accuracies: their order, their intervals, and labels that take over."""

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.consensus.consensus import label_free_fit_of
from consilience.insight.accuracy.estimates import AccuracyEstimate, estimate_accuracies, if_independent

from simulate import softmax_members


@pytest.fixture
def case(rng):
    array, truth = softmax_members(rng, [4, 2, 1, 0], n_items=600, n_classes=4)
    return cs.Predictions(array), truth, cs.Consensus().fit(array)


def answers_of(model):
    return {"fused": np.asarray(model.posterior_).argmax(axis=1)}


def test_better_members_are_estimated_higher(case):
    data, truth, model = case
    found = estimate_accuracies(data, model, answers_of(model))
    values = [one.value for one in found.members]
    assert values == sorted(values, reverse=True)
    accuracies = [(row.argmax(axis=1) == truth).mean() for row in data.to_array()]
    # Independent errors are rare in what it has learned from, so that the best of these is underestimated.
    assert all(one.low < accuracy < one.high + 0.1 for one, accuracy in zip(found.members, accuracies, strict=True))
    fused = (answers_of(model)["fused"] == truth).mean()
    assert found.answers["fused"].low < fused < found.answers["fused"].high + 0.1


def test_the_order_of_members_and_items_does_not_matter(case, rng):
    data, _, model = case
    expected = estimate_accuracies(data, model, {}).members
    members, items = rng.permutation(4), rng.permutation(600)
    array = data.to_array()[members][:, items]
    turned = estimate_accuracies(cs.Predictions(array), cs.Consensus().fit(array), {}).members
    np.testing.assert_allclose([turned[list(members).index(m)][:3] for m in range(4)], [one[:3] for one in expected])


def test_members_with_enough_labels_are_measured(case, rng):
    data, truth, model = case
    known = np.where(rng.permutation(600) < 9, truth, -1)
    assert not estimate_accuracies(data, model, {}, known).has_labels
    known = np.where(rng.permutation(600) < 200, truth, -1)
    found = estimate_accuracies(data, model, answers_of(model), known)
    assert found.has_labels and all(one.is_measured for one in [*found.members, *found.answers.values()])
    accuracies = [(row.argmax(axis=1) == truth).mean() for row in data.to_array()]
    np.testing.assert_allclose([one.value for one in found.members], accuracies, atol=0.06)


def test_an_answer_that_labels_taught_is_not_measured_on_them(rng):
    array, truth = softmax_members(rng, [2, 1, 1], n_items=400, n_classes=4)
    known = np.where(rng.permutation(400) < 60, truth, -1)
    taught, plain = cs.Consensus().fit(array, known), cs.Consensus().fit(array)
    assert taught.correction_ is not None
    found = cs.diagnose(array, known, aggregator=taught).answers
    assert not found["fused answer"].is_measured and found["average"].is_measured
    assert cs.diagnose(array, known, aggregator=plain).answers["fused answer"].is_measured


def test_silent_members_change_no_estimate_of_others(rng):
    truth = (rng.random(800) < 0.05).astype(int)
    votes = np.where(rng.random((4, 800)) < 0.95, truth, 1 - truth)
    silent = np.full((10, 800), -1)
    alone, beside = (
        if_independent(label_free_fit_of(cs.Consensus().fit(cs.Predictions.from_labels(part, 2))).standing)
        for part in (votes, np.concatenate([votes, silent]))
    )
    np.testing.assert_allclose(beside[:4], alone, atol=1e-6)
    assert np.isnan(beside[4:]).all()


def test_who_has_not_voted_is_unknown(rng):
    array, _ = softmax_members(rng, [3, 2], n_items=50, n_classes=3)
    array = np.concatenate([array, np.full_like(array[:1], np.nan)])
    data = cs.Predictions(array)
    found = estimate_accuracies(data, cs.Consensus().fit(data), {}).members[2]
    assert np.isnan(found.value) and str(found) == "unknown"
    model = cs.Consensus().fit(array[:2])
    gone = array[:2].copy()
    gone[1] = np.nan
    found = estimate_accuracies(cs.Predictions(gone), model, {}).members[1]
    assert np.isnan([found.value, found.low, found.high]).all()


def test_independent_members_lie_within_their_intervals():
    """Uniformly wrong where they err; skills follow from agreement then, and intervals reach them."""
    rng = np.random.default_rng(0)
    accuracies = np.array([0.9, 0.85, 0.8, 0.75, 0.7, 0.6])
    truth = rng.integers(4, size=20_000)
    wrong = (truth + rng.integers(1, 4, size=(6, 20_000))) % 4
    data = cs.Predictions.from_labels(np.where(rng.random((6, 20_000)) < accuracies[:, None], truth, wrong), 4)
    model = cs.Consensus().fit(data)
    told = if_independent(label_free_fit_of(model).standing)
    np.testing.assert_allclose(told, accuracies, atol=0.025)
    for one, value in zip(estimate_accuracies(data, model, {}).members, told, strict=True):
        assert one.low <= value <= one.high


def test_an_estimate_reads_as_a_sentence():
    assert str(AccuracyEstimate(0.873, 0.8, 0.92)) == "87% (80% to 92%)"
