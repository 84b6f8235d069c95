"""Members who are surer than their agreement bears out are believed less."""

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.consensus.panel import LEAST_CREDIBILITY, credibility
from consilience.passes.pair_products import Agreement

from simulate import softmax_members


def agreeing(share, n_members=3, n_items=1000, n_classes=4):
    """Votes of members who agree on that share of the items, and say each class as often as the others."""
    counts = np.full((n_members, n_members), float(n_items))
    products = share * counts
    np.fill_diagonal(products, n_items)
    answers = np.full(n_members, float(n_items))
    return Agreement(products, counts, answers, answers, np.full((n_members, n_classes), n_items / n_classes))


def believed(sureness, share, n_items=1000, weights=None):
    """The credibility of members who are so sure, and agree on that share of the items."""
    sureness = np.array(sureness)
    votes = agreeing(share, len(sureness), n_items)
    probabilities = Agreement(votes.products, votes.counts, sureness * n_items, votes.answers, votes.totals)
    weights = np.full(len(sureness), 1 / len(sureness)) if weights is None else np.array(weights)
    return credibility(probabilities, votes, weights, np.eye(len(sureness)))


@pytest.mark.parametrize("sureness", [0.3, 0.6, 0.8])
def test_whoever_claims_no_more_than_agreement_shows_is_believed_in_full(sureness):
    np.testing.assert_array_equal(believed([sureness] * 3, 0.7), 1)


def test_the_more_is_claimed_the_less_is_believed():
    factors = [believed([sureness] * 3, 0.5)[0] for sureness in np.linspace(0.6, 0.99, 12)]
    assert factors[0] == 1 and factors[-1] == LEAST_CREDIBILITY and (np.diff(factors) <= 0).all()


def test_by_hand():
    """Independent members of skill α agree beyond chance on α²; chance may have done a standard error of it."""
    agreement = (0.82**2 * 3 + 1) / 4
    n_meetings = 3 * 100_000
    at_most = agreement + np.sqrt((agreement * (1 - agreement) + 1 / n_meetings) / n_meetings)
    shown = (1 - np.sqrt((4 * at_most - 1) / 3)) * 3 / 4
    assert shown == pytest.approx(0.135, abs=0.001)
    factor = believed([0.9] * 3, agreement, n_items=100_000)[0]
    assert factor == pytest.approx((0.105 / (shown + 0.005)) ** 3, rel=1e-6)


@pytest.mark.parametrize("n_items", [0, 1, 3])
def test_too_little_to_tell_is_no_doubt(n_items):
    assert (believed([0.8] * 3, 0.7, n_items=max(n_items, 1e-9)) == 1).all()


def test_who_agree_on_everything_are_believed(rng):
    truth = rng.integers(3, size=20)
    array = np.full((4, 20, 3), 0.025)
    array[:, np.arange(20), truth] = 0.95
    assert (cs.Consensus().fit(array).member_credibility_ == 1).all()


def test_crowds_with_few_answers_each_are_believed(rng):
    """Thirty members, three answers to an item, calibrated: they meet rarely, which is no sign of overconfidence."""
    array, _ = softmax_members(rng, [2] * 30, n_items=400, n_classes=3)
    is_asked = np.argsort(rng.random((30, 400)), axis=0) < 3
    fitted = cs.Consensus().fit(np.where(is_asked[:, :, None], array, np.nan))
    assert (fitted.member_credibility_ > 0.9).all()


def test_labels_claim_nothing():
    np.testing.assert_array_equal(believed([1.0, 1.0, 1.0], 0.4), 1)
    mixed = believed([0.95, 0.95, 1.0], 0.4)
    assert mixed[0] == mixed[1] == LEAST_CREDIBILITY and mixed[2] == 1


def test_who_weighs_little_claims_little():
    np.testing.assert_array_equal(believed([0.75, 0.75, 0.999], 0.7, weights=[0.495, 0.495, 0.01]), 1)


def test_who_has_not_answered_claims_nothing():
    votes = agreeing(0.4)
    probabilities = Agreement(votes.products, votes.counts, 0.9 * votes.answers, votes.answers.copy(), votes.totals)
    probabilities.answers[2] = 0
    assert credibility(probabilities, votes, np.full(3, 1 / 3), np.eye(3))[2] == 1


@pytest.mark.parametrize(("sharpness", "is_believed"), [(1, True), (4, False)])
def test_overconfidence_is_found_without_labels(rng, sharpness, is_believed):
    """Members whose errors are independent: as they are, and with their logits made four times as large."""
    array, _ = softmax_members(rng, [2, 2, 2, 2], n_items=2000, n_classes=5)
    sharp = array**sharpness
    fitted = cs.Consensus().fit(sharp / sharp.sum(axis=2, keepdims=True))
    assert (fitted.member_credibility_ == 1).all() == is_believed


def test_shared_errors_do_not_hide_all_overconfidence(rng):
    """Half of what members see is seen by all alike, so much of what they agree on is wrong."""
    truth = rng.integers(4, size=3000)
    shared = rng.normal(size=(3000, 4))
    logits = 4 * (np.eye(4)[truth] + shared + rng.normal(size=(3, 3000, 4)))
    fitted = cs.Consensus().fit(cs.Predictions.from_logits(logits))
    assert (fitted.member_credibility_ < 0.9).all()
