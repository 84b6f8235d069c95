"""Weights from agreement: what they promise, and how far."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import consilience as cs
from consilience.aggregators.opinion_weights import LEAST_SHARE, MOST_MEMBERS, copies, pool_weights, skills
from consilience.agreement import Agreement
from consilience.expectation import Reader

from simulate import softmax_members


def agreement_of(array):
    return Reader(cs.Predictions(array, partial=True)).agreement()


def weights_of(array):
    return pool_weights(agreement_of(array), array.shape[2])


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
@settings(max_examples=150, deadline=None)
def test_weights_are_weights_whatever_the_answers(array, forgotten):
    agreement = forgotten * agreement_of(array)
    weights = pool_weights(agreement, array.shape[2])
    assert np.isfinite(weights).all() and weights.sum() == pytest.approx(1)
    n_heard = max((np.diag(agreement.counts) > 0).sum(), 1)
    assert (weights >= 0.9 * LEAST_SHARE / (n_heard + len(weights))).all()
    found = skills(agreement, array.shape[2])
    assert ((found >= 0) & (found <= 1 + 1e-9)).all()
    sameness = copies(agreement, array.shape[2])
    assert ((sameness >= 0) & (sameness <= 1)).all() and (np.diag(sameness) == 1).all()


@given(any_answers(), st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_weights_go_with_their_members(array, seed):
    order = np.random.default_rng(seed).permutation(len(array))
    np.testing.assert_allclose(weights_of(array[order]), weights_of(array)[order], atol=1e-6)


@given(any_answers())
@settings(max_examples=50, deadline=None)
def test_a_silent_member_changes_nothing(array):
    with_silent = weights_of(np.concatenate([array, np.full((1, *array.shape[1:]), np.nan)]))
    np.testing.assert_allclose(with_silent[:-1] / with_silent[:-1].sum(), weights_of(array), atol=1e-12)


def test_what_is_nearly_forgotten_keeps_its_scale(rng):
    """A stream may leave a hundredth of an item: means are those of the items, not of a hundredth of them."""
    agreement = agreement_of(softmax_members(rng, [3, 2, 1], 50, 4, missing=0.3)[0])
    faded = 1e-6 * agreement
    np.testing.assert_allclose(faded.beyond_chance(4), agreement.beyond_chance(4), rtol=1e-12)
    assert (Agreement.zero(3).beyond_chance(4) == 0).all()


def test_better_members_weigh_more(rng):
    weights = weights_of(softmax_members(rng, [4, 3, 2, 1], 1000, 4)[0])
    assert (np.diff(weights) < 0).all()


@pytest.mark.parametrize("n_copies", [1, 3, 8])
def test_copies_get_less_than_members_who_differ(rng, n_copies):
    """Of equally good members, one and its copies get together less than equal weights would give them.

    They do get more than one alone, because the ridge takes them for several: of what equal weights give, .70 to .95
    with one copy and .58 to .76 with eight. The answer moves by about half of what the average's does.
    """
    array, _ = softmax_members(rng, [2.5] * 4, 1000, 4)
    copied = np.concatenate([array, *[array[:1]] * n_copies])
    alone, together = weights_of(array)[0], 1 - weights_of(copied)[1:4].sum()
    equal = (n_copies + 1) / (n_copies + 4)
    assert alone < together < equal * {1: 0.98, 3: 0.88, 8: 0.82}[n_copies]
    weights = weights_of(copied)
    np.testing.assert_allclose(weights[4:], weights[0], atol=1e-9)

    def moved(method):
        first, second = (method.fit(rows).posterior_ for rows in (array, copied))
        return np.abs(first - second).mean()

    assert moved(cs.Consensus()) < 0.75 * moved(cs.Average())
    assert moved(cs.Consensus()) < 0.035


def sure_of(classes, rng):
    """A member as sure as the others, of these classes."""
    exponentials = np.exp(2.5 * np.eye(4)[classes] + rng.normal(size=(len(classes), 4)))
    return (exponentials / exponentials.sum(axis=1, keepdims=True))[None]


def test_who_guesses_weighs_next_to_nothing(rng):
    array, _ = softmax_members(rng, np.linspace(1.5, 3, 9), 1000, 4)
    guesses = sure_of(rng.integers(4, size=1000), rng)
    assert weights_of(np.concatenate([array, guesses]))[-1] < 0.1 / 10
    few = weights_of(np.concatenate([array[:5], guesses]))[-1]
    assert few < 0.5 / 6


def test_who_has_permuted_classes_is_translated(rng):
    """Contradicting everybody is a hedge: it keeps some weight in the average. What it says is understood."""
    array, truth = softmax_members(rng, [1.5] * 4, 2000, 4)
    broken = np.concatenate([array, sure_of((truth + 1) % 4, rng)])
    fitted = cs.Consensus().fit(broken)
    assert fitted.member_weights_[-1] < 1 / 5
    assert (fitted.confusion_[-1].argmax(axis=1) == (np.arange(4) + 1) % 4).all()

    def accuracy(model):
        return (model.posterior_.argmax(axis=1) == truth).mean()

    assert accuracy(fitted) > accuracy(cs.Consensus().fit(array)) - 0.01
    assert accuracy(fitted) > accuracy(cs.Average().fit(broken)) + 0.05


def test_two_members_are_weighed_by_what_they_claim(rng):
    """Agreement of two is one number; the surer is taken to be the better, and nothing more is known."""
    array, truth = softmax_members(rng, [2, 2], 2000, 4)
    timid = array.copy()
    timid[1] = 0.4 * timid[1] + 0.6 / 4
    assert (timid[1].argmax(axis=1) == array[1].argmax(axis=1)).all()
    assert weights_of(array)[0] == pytest.approx(0.5, abs=0.02)
    assert weights_of(timid)[0] > weights_of(timid)[1] + 0.02


def test_many_members_are_not_compared(rng):
    array, truth = softmax_members(rng, rng.uniform(0.5, 3, size=MOST_MEMBERS + 1), 100, 3)
    started = time.perf_counter()
    fitted = cs.Consensus().fit(array)
    assert time.perf_counter() - started < 5  # a tenth of a second on an idle machine
    np.testing.assert_array_equal(fitted.member_weights_, 1 / len(array))
    assert (fitted.posterior_.argmax(axis=1) == truth).mean() > 0.95
    fitted.partial_fit(array[:, :10])
    assert fitted.posterior_.shape == (10, 3)
