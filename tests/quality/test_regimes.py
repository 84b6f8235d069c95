"""Intervals hold in every regime of errors, whichever a user is in; nothing was fitted to these panels."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

import consilience as cs
from benchmarks.quality.estimates import accuracies, by_regime, fused, scored, whole_answers
from benchmarks.quality.regimes import ITEMS, MEMBERS, REGIMES, draw
from consilience.insight.accuracy import estimates
from consilience.insight.accuracy.estimates import estimate_accuracies, estimates_of, voters_of

from simulate import softmax_members

FIRST, N_PANELS = 10_000, 20

LEAST, WIDEST = 0.75, 0.65
"""80 % and more hold of thousands of panels; of 20 that is seen within a binomial's noise."""


@pytest.fixture(scope="module")
def found():
    """By regime: believed voters and the true accuracies of the fused answer and the average."""
    rows = defaultdict(list)
    for regime in REGIMES:
        for seed in range(FIRST, FIRST + N_PANELS):
            panel = draw(regime, seed)
            model = fused(panel)
            voters = voters_of(panel.predictions, model, whole_answers(panel, model))
            rows[regime].append((voters, accuracies(panel, voters)))
    return rows


def held(rows, weights):
    ends = [(np.array([one[1:3] for one in estimates_of(voters, weights)[-2:]]), truth[-2:]) for voters, truth in rows]
    holds = np.array([(low <= truth) & (truth <= high) for (low, high), truth in ((e.T, t) for e, t in ends)])
    widths = np.array([high - low for low, high in (e.T for e, _ in ends)])
    return holds.mean(), widths.mean()


@pytest.mark.parametrize("regime", REGIMES)
def test_the_interval_of_the_fused_answer_holds(found, regime):
    share, width = held(found[regime], estimates.shipped())
    assert share >= LEAST and width < WIDEST


def test_modest_members_who_err_independently_tell_more_than_their_votes(rng):
    """Three who are right on 80 % and 50 % sure are right together on 92 %; their votes alone would not tell."""
    holds = []
    for _ in range(12):
        array, truth = softmax_members(rng, rng.uniform(0.5, 3, 3), n_items=300, n_classes=4)
        model = cs.Consensus().fit(array)
        answer = np.asarray(model.posterior_).argmax(axis=1)
        fused_answer = estimate_accuracies(cs.Predictions(array), model, {"fused": answer}).answers["fused"]
        holds.append(fused_answer.low <= (answer == truth).mean() <= fused_answer.high)
    assert np.mean(holds) >= LEAST


def test_without_the_least_reach_it_would_not(found):
    narrow = replace(estimates.shipped(), least=np.array([1.0, 0.0]))
    assert held(found["wrong together"], narrow)[0] < LEAST


def test_panels_are_of_the_sizes_that_are_promised():
    panels = [draw(regime, seed) for regime in REGIMES for seed in range(30)]
    assert {panel.kind for panel in panels} == {"votes", "soft"}
    for low, high, sizes in (
        (*MEMBERS, [panel.n_members for panel in panels]),
        (*ITEMS, [panel.n_items for panel in panels]),
    ):
        assert low <= min(sizes) < 2 * low and high / 2 < max(sizes) <= high
    again = draw("copies", 3)
    np.testing.assert_array_equal(again.probabilities, draw("copies", 3).probabilities)


def test_who_is_wrong_together_agrees_on_what_is_wrong():
    """How many pairs of wrong answers to an item are the same, where there are ten classes to be wrong by."""
    for regime, low, high in (("wrong together", 0.5, 1), ("independent", 0, 0.4)):
        panels = [panel for seed in range(0, 60, 2) if (panel := draw(regime, seed)).n_classes == 10]
        pairs = [panel.labels[:2][:, (panel.labels[:2] != panel.truth).all(axis=0)] for panel in panels]
        same = np.concatenate([first == second for first, second in pairs])
        assert low < same.mean() < high


def test_rows_are_by_regime_form_and_sizes():
    names = list(by_regime(scored(draw("copies", 3))))
    assert names[:2] == ["copies, soft", "all soft"]
    assert names[2].endswith(" members") and names[3].endswith(" items")
