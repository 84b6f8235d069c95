"""What training sees is what the library computes, and follows whatever is reordered or renamed."""

from dataclasses import replace

import numpy as np
import pytest

import consilience as cs
from benchmarks.quality.methods import average
from benchmarks.quality.panel import take
from consilience.aggregators.consensus.class_shares import MANY, ClassShares
from consilience.aggregators.consensus.label_free_fit import fit_panel
from consilience.aggregators.consensus.learned.experts import (
    CLASS_TRAITS,
    ITEM_FEATURES,
    LOWEST_LOG,
    MEMBER_TRAITS,
    MOST_CANDIDATES,
    PAIR_FEATURES,
    PANEL_TRAITS,
)
from consilience.aggregators.consensus.panel import traits_of
from panels_of_quality import hard, soft
from training.features import AVERAGE_SHARE, STATED, features_of

ROUNDING = 2e-4
"""Features are stored in single precision, up to 12 in size; EM amplifies rounding."""

PANELS = {"probabilities": soft, "votes": hard}


@pytest.fixture(params=PANELS)
def panel(request):
    return PANELS[request.param](n_items=60)


def test_every_feature_has_its_place(panel):
    found = features_of(panel)
    assert found.pair.shape == (60, 4, len(PAIR_FEATURES)) and found.item.shape == (60, len(ITEM_FEATURES))
    assert found.classes.shape == (4, len(CLASS_TRAITS)) and found.panel.shape == (len(PANEL_TRAITS),)
    assert found.members.shape == (6, len(MEMBER_TRAITS))
    np.testing.assert_allclose(found.pair[:, :, PAIR_FEATURES.index("average")], found.average, atol=1e-6)
    np.testing.assert_allclose(found.average, average(panel), atol=1e-5)
    assert (CLASS_TRAITS[AVERAGE_SHARE], CLASS_TRAITS[STATED]) == ("share in average", "stated share")


def test_there_is_evidence_of_each_answer(panel):
    """Answer by answer: the logarithms of what it says, softened, and those of its vote."""
    found, said = features_of(panel), panel.predictions.to_array()
    combination = fit_panel(panel.predictions, None).experts.combination
    places = list(zip(found.answer_item.tolist(), found.answer_member.tolist(), strict=True))
    assert places == [(i, m) for i in range(60) for m in range(6) if not np.isnan(said[m, i, 0])]
    for number, (i, m) in enumerate(places):
        np.testing.assert_allclose(found.own[number], np.log(0.98 * said[m, i] + 0.02 / 4), atol=1e-5)
        vote = said[m, i].argmax()
        logs = combination.weights[m, :, vote] + combination.bias[m]
        np.testing.assert_allclose(found.said[number], logs, atol=1e-5)


def test_who_is_undecided_has_no_evidence_of_a_vote():
    panel = soft(n_items=20, missing=0)
    panel.probabilities[2, 3] = [0.3, 0.3, 0.2, 0.2]
    found = features_of(panel)
    is_undecided = (found.answer_item == 3) & (found.answer_member == 2)
    assert is_undecided.sum() == 1 and not found.said[is_undecided].any()
    assert found.said[~is_undecided].any(axis=1).all()


def test_some_items_have_the_traits_of_all(panel):
    items = np.array([3, 10, 11, 40])
    some, whole = features_of(panel, items), features_of(panel)
    for name in ("classes", "panel", "members"):
        np.testing.assert_array_equal(getattr(some, name), getattr(whole, name))
    np.testing.assert_allclose(some.pair, whole.pair[items], atol=ROUNDING)
    is_in = np.isin(whole.answer_item, items)
    np.testing.assert_array_equal(items[some.answer_item], whole.answer_item[is_in])
    np.testing.assert_allclose(some.own, whole.own[is_in], atol=ROUNDING)
    np.testing.assert_allclose(some.said, whole.said[is_in], atol=ROUNDING)


def test_items_and_members_may_be_reordered(panel):
    order, members = (np.random.default_rng(0).permutation(n) for n in (panel.n_items, panel.n_members))
    other, found = features_of(take(panel, order, members)), features_of(panel)
    np.testing.assert_allclose(other.pair, found.pair[order], atol=ROUNDING)
    np.testing.assert_allclose(other.item, found.item[order], atol=ROUNDING)
    np.testing.assert_allclose(other.classes, found.classes, atol=ROUNDING)
    np.testing.assert_allclose(other.panel, found.panel, atol=ROUNDING)
    np.testing.assert_allclose(other.members, found.members[members], atol=ROUNDING)


def test_traits_are_those_of_a_fit(panel):
    traits, found = cs.Consensus().fit(panel.predictions).rule().traits, features_of(panel)
    for name in ("classes", "panel", "members"):
        np.testing.assert_allclose(getattr(found, name), getattr(traits, name), atol=1e-9)


@pytest.mark.parametrize("n_counted", [MANY, 100, 7])
@pytest.mark.parametrize("shares", [[0.7, 0.2, 0.1, 0.0], [0.25] * 4], ids=["uneven", "even"])
def test_stated_shares_are_the_librarys(panel, shares, n_counted):
    pytest.importorskip("torch")
    from training.fit import with_stated

    stated = ClassShares(np.array(shares), n_counted)
    traits = traits_of(fit_panel(panel.predictions, None), stated)
    before = features_of(panel)
    found = with_stated(before, stated, panel.n_items)
    for name in ("classes", "panel", "members"):
        np.testing.assert_allclose(getattr(found, name), getattr(traits, name), atol=1e-9)
    assert not before.classes[:, STATED : STATED + 2].any()  # which stay as they are


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
    assert all(np.isfinite(part).all() for part in found)
    assert all(np.abs(part).max() <= -LOWEST_LOG for part in found[:6] if part is not found.candidates)
    assert found.candidates.shape == (odd.n_items, min(odd.n_classes, MOST_CANDIDATES))
    np.testing.assert_allclose(found.average.sum(axis=1), 1)
