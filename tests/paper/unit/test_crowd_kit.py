"""Dawid-Skene as the paper ran it; tests/equivalence/test_crowd_kit.py sets it beside crowd-kit itself."""

import numpy as np
import pytest

pytest.importorskip("torch")

import consilience as cs
from paper.crowd_kit import CrowdKitDawidSkene, dawid_skene

from simulate import softmax_members


@pytest.fixture
def array(rng):
    return softmax_members(rng, [2, 1, 1], n_items=120, n_classes=4)[0]


def test_without_a_floor_that_matters_it_is_dawid_skene(array):
    """As many iterations make the same answers, where no rate is zero but those that stay so."""
    theirs = CrowdKitDawidSkene(n_iter=7, tol=-np.inf).fit(cs.Predictions(array)).posterior_
    ours = cs.DawidSkene(smoothing=0, max_iter=7, tol=None).fit(array).posterior_
    np.testing.assert_allclose(theirs, ours, atol=1e-6)


def test_probabilities_are_at_least_their_floor_and_classes_that_nobody_names_have_none(array):
    wider = np.concatenate([array, np.zeros((*array.shape[:2], 1))], axis=2)
    rows = CrowdKitDawidSkene().fit(cs.Predictions(wider)).posterior_
    assert rows[:, :4].min() == 1e-10 and not rows[:, 4].any()


def test_it_stops_when_the_bound_gains_less_than_tol(array):
    labels = array.argmax(axis=2)
    few, many = (dawid_skene(labels, 4, n_iter=n_iter).probabilities for n_iter in (3, 100))
    assert np.abs(few - many).max() > 1e-6
    np.testing.assert_array_equal(many, dawid_skene(labels, 4, n_iter=1000).probabilities)
    assert np.abs(many - dawid_skene(labels, 4, n_iter=1000, tol=-np.inf).probabilities).max() > 1e-9
