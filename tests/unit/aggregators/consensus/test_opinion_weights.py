"""Weights from agreement: what they promise, and how far."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import consilience as cs
from consilience.aggregators.consensus.panel import LEAST_SHARE, copies, pool_weights, skills
from consilience.passes.pair_products import MOST_MEMBERS
from consilience.passes.reader import Reader

from simulate import softmax_members


def agreement_of(array):
    return Reader(cs.Predictions(array, partial=True)).agreement()


def votes_of(array):
    return Reader(cs.Predictions(array, partial=True).harden()).agreement()


def weights_of(array):
    return pool_weights(agreement_of(array), votes_of(array))


@st.composite
def any_answers(draw):
    """Probabilities of any members: sure or unsure, alike or not, with gaps, among them one-hot and flat rows."""
    n_members, n_items, n_classes = (draw(st.integers(low, high)) for low, high in ((1, 6), (1, 12), (2, 5)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    array = rng.dirichlet(np.full(n_classes, draw(st.sampled_from([0.05, 1.0, 50.0]))), size=(n_members, n_items))
    for member in range(n_members):
        kind = draw(st.sampled_from(["as it is", "flat", "one-hot", "constant", "copy", "silent", "gaps"]))
        if kind == "flat":
            array[member] = 1 / n_classes
        elif kind == "one-hot":
            array[member] = np.eye(n_classes)[rng.integers(n_classes, size=n_items)]
        elif kind == "constant":
            array[member] = np.eye(n_classes)[0]
        elif kind == "copy":
            array[member] = array[0]
        elif kind == "silent":
            array[member] = np.nan
        elif kind == "gaps":
            array[member, rng.random(n_items) < 0.6] = np.nan
    return array


@given(any_answers(), st.sampled_from([1.0, 1e-3, 1e-9]))
@settings(max_examples=150)
def test_weights_are_weights_whatever_the_answers(array, forgotten):
    agreement, votes = forgotten * agreement_of(array), forgotten * votes_of(array)
    weights = pool_weights(agreement, votes)
    assert np.isfinite(weights).all() and weights.sum() == pytest.approx(1)
    n_heard = max((np.diag(agreement.counts) > 0).sum(), 1)
    assert (weights >= 0.9 * LEAST_SHARE / (n_heard + len(weights))).all()
    sameness = copies(agreement)
    assert ((sameness >= 0) & (sameness <= 1)).all() and (np.diag(sameness) == 1).all()
    found = skills(votes, sameness)
    assert ((found > 0) & (found <= 1)).all()


@given(any_answers(), st.integers(0, 2**32 - 1))
@settings(max_examples=50)
def test_weights_go_with_their_members(array, seed):
    order = np.random.default_rng(seed).permutation(len(array))
    np.testing.assert_allclose(weights_of(array[order]), weights_of(array)[order], atol=1e-6)


@given(any_answers())
@settings(max_examples=50)
def test_a_silent_member_changes_nothing(array):
    with_silent = weights_of(np.concatenate([array, np.full((1, *array.shape[1:]), np.nan)]))
    np.testing.assert_allclose(with_silent[:-1] / with_silent[:-1].sum(), weights_of(array), atol=1e-12)


def test_better_members_weigh_more(rng):
    weights = weights_of(softmax_members(rng, [4, 3, 2, 1], 1000, 4)[0])
    assert weights[0] == pytest.approx(weights[1], rel=1e-6)  # as good as the second best is good enough
    assert (np.diff(weights[1:]) < 0).all()


@pytest.mark.parametrize("n_copies", [1, 3, 8])
def test_copies_share_one_weight(rng, n_copies):
    array, _ = softmax_members(rng, [2.5] * 4, 1000, 4)
    copied = np.concatenate([array, *[array[:1]] * n_copies])
    weights = weights_of(copied)
    np.testing.assert_allclose(weights[4:], weights[0], atol=1e-9)
    together = 1 - weights[1:4].sum()
    # Not quite one weight: that two are the same is believed the more, the more items they have met on.
    assert weights_of(array)[0] == pytest.approx(together, abs=0.03)


def test_the_best_of_an_easy_task_are_no_copies_to_be_silenced(rng):
    """Three members who are right on 99 % agree on 99 %; who contradicts them all, or guesses, must not win."""
    truth = rng.integers(5, size=1000)
    said = np.where(rng.random((3, 1000)) < 0.99, truth, rng.integers(5, size=(3, 1000)))
    good = 0.95 * np.eye(5)[said] + 0.01
    permuted = 0.9 * np.eye(5)[(truth + 1) % 5] + 0.02
    array = np.concatenate([good, permuted[None], rng.dirichlet(np.full(5, 500), size=(1, 1000))])
    fitted = cs.Consensus().fit(array)
    assert fitted.member_weights_[3:].sum() < 0.05
    assert (fitted.posterior_.argmax(axis=1) == truth).mean() > 0.99


@pytest.mark.parametrize("accuracy", [0.99, 0.999, 1.0])
def test_who_is_always_right_outweighs_the_weak(rng, accuracy):
    truth = rng.integers(5, size=2000)
    rates = np.array([accuracy] * 5 + [0.6] * 4)[:, None]
    labels = np.where(rng.random((9, 2000)) < rates, truth, rng.integers(5, size=(9, 2000)))
    fitted = cs.Consensus().fit(cs.Predictions.from_labels(labels, 5))
    assert fitted.member_weights_[:5].min() > fitted.member_weights_[5:].max()
    assert (fitted.posterior_.argmax(axis=1) == truth).mean() > 0.997


def test_a_copy_of_the_best_does_not_make_others_worse(rng):
    array, _ = softmax_members(rng, [3, 2, 1, 0.7], 3000, 4)
    before, after = weights_of(array), weights_of(array[[0, 0, 1, 2, 3]])
    np.testing.assert_allclose(after[2:] / after[2:].sum(), before[1:] / before[1:].sum(), atol=0.04)
    assert after[:2].sum() == pytest.approx(before[0], abs=0.08)


def test_the_modest_are_not_undervalued(rng):
    """Who is right and unsure weighs as much as who is right and sure; who is sure alone gains nothing by it."""
    array, _ = softmax_members(rng, [2.5] * 5, 2000, 4)
    array[1] = 0.3 * array[1] + 0.7 / 4
    array[2] = array[2] ** 4 / (array[2] ** 4).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(weights_of(array), 1 / 5, atol=0.01)


def sure_of(classes, rng):
    """A member as sure as the others, of these classes."""
    exponentials = np.exp(2.5 * np.eye(4)[classes] + rng.normal(size=(len(classes), 4)))
    return (exponentials / exponentials.sum(axis=1, keepdims=True))[None]


def test_who_guesses_weighs_next_to_nothing(rng):
    array, _ = softmax_members(rng, [1.5, 2, 2.5, 3], 1000, 4)
    guesses = sure_of(rng.integers(4, size=1000), rng)
    assert weights_of(np.concatenate([array, guesses]))[-1] < 0.15 / 5


def test_who_has_permuted_classes_is_translated(rng):
    """It weighs next to nothing in the average, and its confusion matrix shows what it means."""
    array, truth = softmax_members(rng, [1.5] * 4, 2000, 4)
    broken = np.concatenate([array, sure_of((truth + 1) % 4, rng)])
    fitted = cs.Consensus().fit(broken)
    assert fitted.member_weights_[-1] < 0.1 / 5
    assert (fitted.confusion_[-1].argmax(axis=1) == (np.arange(4) + 1) % 4).all()


def test_two_members_weigh_the_same(rng):
    """Agreement of two is one number: it cannot tell who of them is better."""
    weights = weights_of(softmax_members(rng, [3, 1], 2000, 4)[0])
    np.testing.assert_allclose(weights, 0.5, atol=1e-9)


def test_many_members_are_not_compared(rng, monkeypatch):
    array, truth = softmax_members(rng, rng.uniform(0.5, 3, size=MOST_MEMBERS + 1), 100, 3)
    monkeypatch.setattr("consilience.passes.pair_products._compare", lambda *_: pytest.fail("they were compared"))
    fitted = cs.Consensus().fit(array)
    np.testing.assert_array_equal(fitted.member_weights_, 1 / len(array))
    assert (fitted.posterior_.argmax(axis=1) == truth).mean() > 0.95
    fitted.partial_fit(array[:, :10])
    assert fitted.posterior_.shape == (10, 3)
