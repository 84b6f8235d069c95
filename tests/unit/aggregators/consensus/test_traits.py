"""What is known of a panel: traits are finite, within their ranges, and say what their names say."""

import numpy as np
import pytest
from hypothesis import given

import consilience as cs
from consilience.aggregators.consensus.label_free_fit import fit_panel
from consilience.aggregators.consensus.learned.experts import CLASS_TRAITS, MEMBER_TRAITS, PANEL_TRAITS
from consilience.aggregators.consensus.panel import traits_of

from generated_panels import generated, panels
from simulate import softmax_members


def panel_of(given_):
    predictions = given_ if isinstance(given_, cs.Predictions) else cs.Predictions(given_)
    return dict(zip(PANEL_TRAITS, traits_of(fit_panel(predictions, None)).panel, strict=True))


def classes_of(given_):
    return dict(zip(CLASS_TRAITS, traits_of(fit_panel(cs.Predictions(given_), None)).classes.T, strict=True))


@generated
@given(panel=panels())
def test_traits_are_finite_whatever_the_panel(panel):
    traits = traits_of(fit_panel(cs.Predictions(panel.array()), None))
    assert traits.classes.shape == (panel.n_classes, len(CLASS_TRAITS)) and traits.panel.shape == (len(PANEL_TRAITS),)
    assert traits.members.shape == (panel.n_members, len(MEMBER_TRAITS))
    assert all(np.isfinite(part).all() for part in traits)


def test_a_member_alone_has_the_usual_traits(rng):
    traits = panel_of(softmax_members(rng, [2], 30, 3)[0])
    assert (traits["raw agreement"], traits["mean skill"], traits["copies"]) == (1, 1, 0)


def test_silent_members_change_no_trait(rng):
    array, _ = softmax_members(rng, [3, 2, 1], 60, 3)
    silent = np.full_like(array[:1], np.nan)
    before, after = panel_of(array), panel_of(np.concatenate([array, silent]))
    assert after == pytest.approx(before)


def test_agreement_and_skill_rise_with_the_members(rng):
    weak, strong = (panel_of(softmax_members(rng, [strength] * 4, 500, 4)[0]) for strength in (0.5, 3))
    for name in ("agreement", "raw agreement", "mean skill", "best skill", "mean confidence", "top of translation"):
        assert strong[name] > weak[name], name
    assert strong["mean entropy"] < weak["mean entropy"]


def test_copies_gaps_and_votes_are_seen(rng):
    array, _ = softmax_members(rng, [2, 2, 1], 200, 4)
    assert panel_of(array[[0, 0, 1]])["copies"] > 0.25 > panel_of(array)["copies"]
    gaps = array.copy()
    gaps[1, ::2] = np.nan
    assert panel_of(array)["missing"] == 0
    assert panel_of(gaps)["missing"] == pytest.approx(1 / 6)
    labels = cs.Predictions.from_labels(array.argmax(axis=2), 4)
    assert panel_of(array)["votes among members"] == 0
    assert panel_of(labels)["votes among members"] == 1
    assert panel_of(cs.Predictions.concatenate([array, labels]))["votes among members"] == 0.5


def members_of(given_):
    return dict(zip(MEMBER_TRAITS, traits_of(fit_panel(given_, None)).members.T, strict=True))


def test_members_who_err_together_are_seen(rng):
    """Two who guess alike agree more than their accuracy explains; how far is bounded."""
    truth = rng.integers(20, size=3000)
    able = np.where(rng.random((5, 3000)) < 0.8, truth, rng.integers(20, size=(5, 3000)))
    guess = rng.integers(20, size=3000)
    nearly = np.where(rng.random(3000) < 0.95, guess, rng.integers(20, size=3000))
    predictions = cs.Predictions.from_labels(np.vstack([able, guess, nearly]), 20)
    found, panel = members_of(predictions), panel_of(predictions)
    assert (found["most excess agreement"][5:] == 3).all() and (found["most excess agreement"][:5] < 1).all()
    assert panel["most excess agreement"] == 3
    assert panel_of(cs.Predictions.from_labels(able, 20))["most excess agreement"] < 0.5
    assert (found["accuracy"][:5] > 0.7).all() and (found["accuracy"][5:] < 0.2).all()
    assert (found["accuracy beyond agreement"][:5] > found["accuracy beyond agreement"][5:].max()).all()


def test_traits_of_a_member_that_never_answers_are_those_of_nobody(rng):
    array, _ = softmax_members(rng, [3, 2, 1], 60, 3)
    found = members_of(cs.Predictions(np.concatenate([array, np.full_like(array[:1], np.nan)])))
    assert found["coverage"].tolist() == [1, 1, 1, 0]
    assert (found["gives votes"][3], found["excess agreement"][3], found["agreement with others"][3]) == (0, 0, 1)


def test_a_class_that_nobody_says_is_seen(rng):
    array, _ = softmax_members(rng, [3, 2], 100, 3)
    never = np.concatenate(
        [array[:, :, :2] / array[:, :, :2].sum(axis=2, keepdims=True), np.zeros((2, 100, 1))], axis=2
    )
    found = classes_of(never)
    assert found["share in average"][2] == -5 and found["members who say it"].tolist() == [1, 1, 0]
    assert found["agreement on it"][2] == 0
