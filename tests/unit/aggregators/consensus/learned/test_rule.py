"""The learned rule: some items at a time, in any library and precision."""

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.consensus.learned import network as module

from simulate import softmax_members


@pytest.fixture
def fitted(rng):
    return cs.Consensus().fit(softmax_members(rng, [3, 2, 1], 40, 4)[0])


@pytest.mark.parametrize("at_once", [1, 1000, 5000])
def test_parts_answer_as_all_at_once(fitted, rng, monkeypatch, at_once):
    new = softmax_members(rng, [3, 2, 1], 30, 4)[0]
    whole = fitted.predict_proba(new)
    monkeypatch.setattr(module, "HIDDEN_AT_ONCE", at_once)
    np.testing.assert_allclose(fitted.predict_proba(new), whole, atol=1e-12)


def test_without_trust_the_answer_is_the_average(rng):
    array = softmax_members(rng, [3], 30, 4)[0]
    rule = cs.Consensus().fit(array).rule()
    assert rule.trust == 0
    np.testing.assert_allclose(np.asarray(rule.posterior(cs.Predictions(array))), array[0], atol=1e-12)


def test_several_members_and_items_are_trusted(fitted):
    assert fitted.rule().trust == 1


def test_rules_hold_the_numbers_of_their_experts(fitted):
    rule = fitted.rule()
    assert rule.n_numbers == (2 + 2) * 3 * 4 * 4  # two experts, and two networks
    assert not rule.is_label.any() and not rule.form().needs_double


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_answers_keep_their_precision(fitted, rng, precision):
    new = softmax_members(rng, [3, 2, 1], 10, 4)[0].astype(precision)
    found = fitted.predict_proba(new)
    assert found.dtype == precision
    np.testing.assert_allclose(found, fitted.predict_proba(new.astype(np.float64)), atol=1e-4)
