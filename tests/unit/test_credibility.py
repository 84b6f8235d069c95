"""Members who are surer than their agreement bears out are believed less."""

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.credibility import LEAST, credibility
from consilience.agreement import Agreement

from simulate import softmax_members


def claims(confidences, n_answers=100):
    """The agreement of members who are so sure in the mean."""
    n_members = len(confidences)
    pairs = np.full((n_members, n_members), float(n_answers))
    answers = np.full(n_members, float(n_answers))
    return Agreement(pairs, pairs, np.array(confidences) * n_answers, answers)


EQUAL = np.full(3, 1 / 3)


@pytest.mark.parametrize("sureness", [0.3, 0.6, 0.8])
def test_whoever_claims_no_more_than_agreement_shows_is_believed_in_full(sureness):
    np.testing.assert_array_equal(credibility(claims([sureness] * 3), EQUAL, np.full(3, 0.8)), 1)


def test_the_more_is_claimed_the_less_is_believed():
    factors = [credibility(claims([sureness] * 3), EQUAL, np.full(3, 0.7))[0] for sureness in np.linspace(0.7, 0.99, 9)]
    assert factors[0] == 1 and (np.diff(factors) <= 0).all()
    assert factors[-1] == LEAST
    assert factors[1] == pytest.approx(((1 - 0.73625 + 0.005) / 0.305) ** 3)


def test_labels_claim_nothing():
    accuracies = np.array([0.6, 0.6, 0.6])
    np.testing.assert_array_equal(credibility(claims([1.0, 1.0, 1.0]), EQUAL, accuracies), 1)
    mixed = credibility(claims([0.95, 0.95, 1.0]), EQUAL, accuracies)
    assert mixed[0] == mixed[1] == LEAST and mixed[2] == 1


def test_who_weighs_little_claims_little():
    accuracies = np.array([0.8, 0.8, 0.3])
    modest = credibility(claims([0.75, 0.75, 0.99]), np.array([0.495, 0.495, 0.01]), accuracies)
    np.testing.assert_array_equal(modest, 1)


def test_who_has_not_answered_claims_nothing():
    agreement = claims([0.9, 0.9, 0.0])
    agreement.answers[2] = 0
    assert credibility(agreement, EQUAL, np.full(3, 0.5))[2] == 1


@pytest.mark.parametrize(("sharpness", "is_believed"), [(1, True), (4, False)])
def test_overconfidence_is_found_without_labels(rng, sharpness, is_believed):
    """Members whose errors are independent: as they are, and with their logits made four times as large."""
    array, _ = softmax_members(rng, [2, 2, 2, 2], n_items=2000, n_classes=5)
    sharp = array**sharpness
    fitted = cs.Consensus().fit(sharp / sharp.sum(axis=2, keepdims=True))
    assert (fitted.member_credibility_ == 1).all() == is_believed


def test_shared_errors_of_overconfident_members_are_taken_for_less(rng):
    """Half of what members see is seen by all alike, so much of what they agree on is wrong."""
    truth = rng.integers(4, size=3000)
    shared = rng.normal(size=(3000, 4))
    logits = 4 * (np.eye(4)[truth] + shared + rng.normal(size=(3, 3000, 4)))
    fitted = cs.Consensus().fit(cs.Predictions.from_logits(logits))
    assert (fitted.member_credibility_ < 0.9).all()
    believing = cs.Consensus(evidence=fitted.evidence / fitted.member_credibility_[0])
    full = believing.fit(cs.Predictions.from_logits(logits)).posterior_
    for metric in (cs.metrics.nll, cs.metrics.brier_score):
        assert metric(fitted.posterior_, truth) < metric(full, truth)
