"""Real panels are read as they were published; the numbers are those of the files' own README."""

import numpy as np
import pytest

import consilience as cs
from benchmarks.quality.families import side_of
from benchmarks.quality.sources import shared

PUBLISHED = {"bluebird": 24.1, "rte": 10.3, "dog": 17.8, "web": 26.9}
"""Errors of a majority vote in percent, one decimal."""


def accuracies(panel):
    known = panel.truth >= 0
    return (panel.votes[:, known] == panel.truth[known]).mean(axis=1)


def test_prompts_are_right_as_often_as_published(shared_dir):
    everything, *subjects = shared._prompts(shared_dir / "mmlu_prompts.npz")
    assert everything.probabilities.shape == (10, 2886, 4)
    assert 0.395 < accuracies(everything).min() < accuracies(everything).max() < 0.425
    assert all(panel.n_items >= 150 for panel in subjects) and len(subjects) > 5


def test_networks_are_right_as_often_as_published(shared_dir):
    clean, jpeg = shared._resnets(shared_dir / "cifar10_resnets.npz")
    for panel, low, high in ((clean, 0.917, 0.934), (jpeg, 0.810, 0.832)):
        assert panel.probabilities.shape == (4, 10_000, 10)
        found = accuracies(panel)
        assert (round(found.min(), 3), round(found.max(), 3)) == (low, high)


@pytest.mark.parametrize("name", list(PUBLISHED))
def test_majorities_of_crowds_err_as_often_as_published(shared_dir, name):
    panels = {panel.name: panel for panel in shared._crowds(shared_dir / "crowd.npz")}
    panel = panels[f"crowd_{name}"]
    assert 100 * error_of_majority(panel) == pytest.approx(PUBLISHED[name], abs=0.05)


def error_of_majority(panel):
    """The chance to err of a majority vote that draws lots where classes are even."""
    counts = (panel.votes[:, :, None] == np.arange(panel.n_classes)).sum(axis=0)
    is_first = counts == counts.max(axis=1, keepdims=True)
    known = np.flatnonzero(panel.truth >= 0)
    return 1 - (is_first / is_first.sum(axis=1, keepdims=True))[known, panel.truth[known]].mean()


def test_all_panels_have_answers_in_range_and_a_family(shared_dir):
    names, families = set(), set()
    for panel in shared.shared_panels(shared_dir):
        names.add(panel.name)
        families.add(panel.family)
        assert side_of(panel.family) in {"tuning", "held-out"}
        assert panel.truth.max() < panel.n_classes and panel.votes.max() < panel.n_classes
        assert (panel.votes >= 0).any(axis=0).all() and (panel.votes >= 0).any(axis=1).all()
        assert panel.n_items <= shared.MOST_ITEMS or panel.family == "crowds"
        if panel.probabilities is not None:
            np.testing.assert_allclose(np.nansum(panel.probabilities, axis=2)[panel.votes >= 0], 1, atol=1e-3)
    assert len(names) > 50 and families == {*shared.FAMILIES.values(), "prompts", "crowds"}


def test_a_smaller_panel_is_drawn_once_and_for_all(shared_dir):
    clean = next(shared._resnets(shared_dir / "cifar10_resnets.npz"))
    first, again = shared.smaller(clean), shared.smaller(clean)
    assert first.n_items == shared.MOST_ITEMS
    np.testing.assert_array_equal(first.probabilities, again.probabilities)


def test_silence_of_labelling_functions_is_worth_what_the_guide_says(shared_dir):
    trec = shared._panel(shared_dir / "panels" / "spear_trec.npz")
    right = {
        missing: (cs.DawidSkene(missing=missing).fit_predict(trec.predictions) == trec.truth).mean()
        for missing in ("ignored", "informative")
    }
    assert right == {"ignored": pytest.approx(0.26, abs=0.005), "informative": pytest.approx(0.49, abs=0.005)}
