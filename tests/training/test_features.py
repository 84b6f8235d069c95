"""What training sees is what the library computes, and follows whatever is reordered or renamed."""

from dataclasses import replace

import numpy as np
import pytest

import consilience as cs
from benchmarks.quality.methods import average
from benchmarks.quality.panel import take
from consilience.answering.learned.features import LOWEST_LOG, MOST_CANDIDATES, NAMES
from panels_of_quality import hard, soft
from training.features import AVERAGE, features_of

ROUNDING = 2e-4
"""Features are stored in single precision, up to 12 in size; EM amplifies rounding."""

PANELS = {"probabilities": soft, "votes": hard}


@pytest.fixture(params=PANELS)
def panel(request):
    return PANELS[request.param](n_items=60)


def test_every_feature_has_its_place(panel):
    found = features_of(panel)
    assert found.values.shape == (60, 4, len(NAMES))
    np.testing.assert_allclose(found.values[:, :, AVERAGE], found.average, atol=1e-6)
    np.testing.assert_allclose(found.average, average(panel), atol=1e-5)


def test_items_and_members_may_be_reordered(panel):
    order, members = (np.random.default_rng(0).permutation(n) for n in (panel.n_items, panel.n_members))
    other = features_of(take(panel, order, members))
    np.testing.assert_allclose(other.values, features_of(panel).values[order], atol=ROUNDING)


def test_features_are_those_of_a_fit(panel):
    """The traits of a fitted Consensus, of which the last columns are."""
    traits = cs.Consensus().fit(panel.predictions).rule().traits
    values = features_of(panel).values
    np.testing.assert_allclose(values[0, 0, -len(traits.panel) :], traits.panel, atol=1e-5)


@pytest.mark.parametrize(
    "odd",
    [
        soft(n_members=1, missing=0),
        soft(n_items=1, missing=0),
        hard(n_items=1, n_members=1, missing=0),
        soft(n_classes=2),
        hard(n_classes=60, n_items=30),
        replace(hard(), labels=np.zeros((6, 400), dtype=int)),
        replace(soft(missing=0), probabilities=np.full((6, 400, 4), 0.25)),
    ],
    ids=["member", "item", "answer", "two", "sixty", "all-say-one", "undecided"],
)
def test_features_are_finite(odd):
    found = features_of(odd)
    assert np.isfinite(found.values).all()
    assert np.abs(found.values).max() <= -LOWEST_LOG
    assert found.candidates.shape == (odd.n_items, min(odd.n_classes, MOST_CANDIDATES))
    np.testing.assert_allclose(found.average.sum(axis=1), 1)
