"""What tips a learned answer: Shapley values against loops over the rule itself, and what is known of them."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.consensus.labels.corrected_rule import CorrectedRule
from consilience.aggregators.consensus.learned.experts import (
    CLASS_TRAITS,
    LOWEST_LOG,
    MOST_CANDIDATES,
    N_LOGS,
    PAIR_FEATURES,
)
from consilience.maths.shapley import MOST_EXACT, exact_values

from simulate import softmax_members

EXACT = 1e-9
N_ITEMS = 60


def fitted(rng, n_members=4, n_classes=3, missing=0.0, n_labels=0):
    array, truth = softmax_members(rng, np.linspace(0.5, 3, n_members), N_ITEMS, n_classes, missing=missing)
    labels = np.where(np.arange(N_ITEMS) < n_labels, truth, -1) if n_labels else None
    return cs.Consensus().fit(array, labels), array


def by_loops(model, array, item, first, second):
    """The definition: the rule answers the item once for each set of members."""
    rule, n_members = model.rule(), len(array)
    log_prior = rule.traits.classes[:, CLASS_TRAITS.index("share in translation")]

    def worth(some):
        if not some:
            return log_prior[first] - log_prior[second]
        said = np.full_like(array[:, [item]], np.nan)
        said[list(some)] = array[list(some)][:, [item]]
        posterior = rule.posterior(cs.Predictions(said))[0]
        return np.log(posterior[first] / posterior[second])

    found = np.zeros(n_members)
    for member in range(n_members):
        others = [other for other in range(n_members) if other != member]
        for size in range(n_members):
            weight = factorial(size) * factorial(n_members - size - 1) / factorial(n_members)
            for some in combinations(others, size):
                found[member] += weight * (worth((*some, member)) - worth(some))
    return found


@pytest.mark.parametrize("n_classes", [2, 3, MOST_CANDIDATES + 4])
@pytest.mark.parametrize("is_hard", [False, True])
def test_are_shapley_values_of_the_rule_itself(rng, n_classes, is_hard):
    _, array = fitted(rng, n_classes=n_classes)
    if is_hard:
        array[1:3] = np.eye(n_classes)[array[1:3].argmax(axis=2)]
    model = cs.Consensus().fit(array)
    for item in range(3):
        e = cs.explain(array, item, aggregator=model)
        np.testing.assert_allclose(e.by_member, by_loops(model, array, item, e.winner, e.runner_up), atol=EXACT)


@pytest.mark.parametrize("n_members", [*range(1, MOST_EXACT + 1), MOST_EXACT + 1, 20])
def test_sum_up_to_the_log_odds(rng, n_members):
    model, array = fitted(rng, n_members)
    e = cs.explain(array, 5, aggregator=model)
    posterior = model.predict_proba(array[:, [5]])[0]
    assert e.log_odds == pytest.approx(np.log(posterior[e.winner] / posterior[e.runner_up]), abs=EXACT)
    assert e.log_odds == pytest.approx(e.prior + e.by_member.sum(), abs=EXACT)


def test_every_pair_of_classes(rng):
    model, array = fitted(rng)
    explained = model.rule().explained(cs.Predictions(array[:, [2]]))
    for first in range(3):
        for second in range(3):
            prior, by_probability, normalizer, *_ = explained.evidence(first, second)
            log_odds = explained.log_posterior[first] - explained.log_posterior[second]
            assert prior + by_probability.sum() == pytest.approx(log_odds, abs=EXACT)
            back = explained.evidence(second, first)
            np.testing.assert_allclose(back.by_probability, -by_probability, atol=EXACT)
            assert (normalizer == 0).all()


def test_equal_members_get_equal_values(rng):
    array, _ = softmax_members(rng, [2, 1, 3], N_ITEMS, 3)
    array = np.concatenate([array, array[:1]])
    model = cs.Consensus().fit(array)
    for item in range(5):
        by_member = cs.explain(array, item, aggregator=model).by_member
        assert by_member[0] == pytest.approx(by_member[3], abs=EXACT)


def test_members_who_did_not_answer_get_nothing(rng):
    model, array = fitted(rng, 6, missing=0.4)
    for item in range(10):
        e = cs.explain(array, item, aggregator=model)
        is_silent = np.isnan(array[:, item, 0])
        assert (e.by_member[is_silent] == 0).all() and (e.by_member[~is_silent] != 0).all()
        assert e.log_odds == pytest.approx(e.prior + e.by_member.sum(), abs=EXACT)


def test_a_value_stands_at_the_first_choice(rng):
    model, array = fitted(rng, missing=0.2)
    e = cs.explain(array, 1, aggregator=model)
    for member in np.flatnonzero(~np.isnan(array[:, 1, 0])):
        assert np.flatnonzero(e.by_probability[member]).tolist() == [array[member, 1].argmax()]


def test_the_prior_is_that_of_the_translated_answers(rng):
    model, array = fitted(rng)
    e = cs.explain(array, 0, aggregator=model)
    shares = model.survey_.of_class("translation")
    assert e.prior == pytest.approx(np.log(shares[e.winner] / shares[e.runner_up]), abs=EXACT)


def test_a_sample_of_orders_is_close(rng, monkeypatch):
    model, array = fitted(rng, MOST_EXACT + 1)
    sampled = cs.explain(array, 4, aggregator=model)
    monkeypatch.setattr("consilience.aggregators.consensus.learned.network.shapley_values", exact_values)
    exact = cs.explain(array, 4, aggregator=model)
    spread = np.abs(exact.by_member).max()
    assert np.abs(sampled.by_member - exact.by_member).max() < 0.25 * spread  # about 0.1 in 512 orders
    assert sampled.by_member.sum() == pytest.approx(exact.by_member.sum(), abs=EXACT)
    monkeypatch.undo()
    np.testing.assert_array_equal(cs.explain(array, 4, aggregator=model).by_member, sampled.by_member)


def test_a_member_who_answers_twice_counts_once_with_all_it_said():
    rows = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4], [0.2, 0.8]]
    p = cs.Predictions.from_answers([0, 0, 0, 1, 1], [0, 0, 1, 0, 1], probabilities=rows)
    labels = cs.Predictions.from_answers([0, 0, 0, 1, 1], [0, 0, 1, 0, 1], [0, 0, 1, 0, 1])
    for said in (p, labels):
        model = cs.Consensus().fit(said)
        e = cs.explain(said, 0, aggregator=model)
        np.testing.assert_allclose(e.posterior, model.predict_proba(said)[0], rtol=1e-12)
        assert e.log_odds == pytest.approx(e.prior + e.by_member.sum(), abs=EXACT)
        assert (e.by_member != 0).all()


def test_labels_and_one_hot_rows_have_the_same_explanation(rng):
    labels = rng.integers(3, size=(5, N_ITEMS))
    labels[2, :20] = -1
    one_hot = np.where((labels < 0)[:, :, None], np.nan, np.eye(3)[labels])
    people, rows = cs.Predictions.from_labels(labels, 3), cs.Predictions(one_hot)
    both = [cs.explain(said, 1, aggregator=cs.Consensus().fit(said)) for said in (people, rows)]
    np.testing.assert_allclose(both[0].by_member, both[1].by_member, atol=EXACT)


def test_what_labels_taught_is_added(rng):
    model, array = fitted(rng, missing=0.2, n_labels=40)
    assert isinstance(model.rule(), CorrectedRule)
    for item in range(45, 50):
        e = cs.explain(array, item, aggregator=model)
        np.testing.assert_allclose(e.posterior, model.predict_proba(array[:, [item]])[0], atol=1e-12)
        assert e.log_odds == pytest.approx(e.prior + e.by_member.sum(), abs=EXACT)
        assert len(e.experts) == N_LOGS


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_torch(rng, dtype):
    torch = pytest.importorskip("torch")
    model, array = fitted(rng, missing=0.2)
    e = cs.explain(torch.tensor(array, dtype=getattr(torch, dtype)), 3, aggregator=model)
    expected = cs.explain(array, 3, aggregator=model)
    np.testing.assert_allclose(e.by_member, expected.by_member, atol=EXACT if dtype == "float64" else 1e-4)
    assert e.log_odds == pytest.approx(e.prior + e.by_member.sum(), abs=EXACT)


def test_hundreds_of_members(rng):
    labels = rng.integers(3, size=(400, 30))
    people = cs.Predictions.from_labels(labels, 3, members=range(400))
    e = cs.explain(people, 0, aggregator=cs.Consensus().fit(people))
    assert e.log_odds == pytest.approx(e.prior + e.by_member.sum(), abs=EXACT)


def test_who_rules_a_class_out_stays_finite():
    sure = np.tile(np.eye(3)[[0, 1, 2, 0]], (3, 1, 1))
    e = cs.explain(sure, 0, aggregator=cs.Consensus().fit(sure))
    assert np.isfinite(e.by_member).all()
    assert e.log_odds == pytest.approx(e.prior + e.by_member.sum(), abs=EXACT)


def test_what_each_expert_says(rng):
    model, array = fitted(rng)
    e = cs.explain(array, 6, aggregator=model)
    average = array[:, 6].mean(axis=0)
    weighted = model.member_weights_ @ array[:, 6]
    for name, row in (("average", average), ("weighted average", weighted)):
        assert e.experts[name] == pytest.approx(np.log(row[e.winner] / row[e.runner_up]), abs=1e-9)
    assert [f"log {name}" for name in e.experts] == list(PAIR_FEATURES[:N_LOGS])
    assert all(abs(nats) <= -LOWEST_LOG for nats in e.experts.values())
