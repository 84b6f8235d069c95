"""The verdict: without labels what is known, with labels who is right more often."""

import numpy as np
import pytest

import consilience as cs
from consilience.insight.accuracy.estimates import AccuracyEstimate
from consilience.insight.analysis import Analysis
from consilience.insight.verdict import AVERAGE, Rival, one_of, rivals_of
from consilience.metrics.scores import paired_difference

from simulate import softmax_members

NAMES = ["vit", "svc", "knn", "tree"]


@pytest.fixture
def panel(rng):
    array, truth = softmax_members(rng, [2, 1.5, 1.5, 0.7], n_items=300, n_classes=3)
    return cs.Predictions(array, members=NAMES), truth


def test_without_labels_nobody_is_told_apart_and_what_is_known_is_said(panel):
    predictions, _ = panel
    told = cs.diagnose(predictions).verdict.sentences()
    whole = " ".join(told)
    assert told[0].startswith("The fused answer (") and told[0].endswith("cannot be told apart without labels.")
    for known in ("Krippendorff's alpha", "tree agrees least with the others", "half of what moves the answers"):
        assert known in whole
    assert "30 labels would tell" in whole and "`suggest`" in whole and "class_shares" in whole
    assert "trust" not in whole.lower() and "best" not in whole.replace("answers best", "")


def test_it_does_not_claim_what_the_fused_answer_believes_of_itself(panel):
    predictions, _ = panel
    diagnosis = cs.diagnose(predictions)
    fused = diagnosis.answers["fused answer"]
    assert f"{100 * fused.low:.0f} to {fused.high:.0%} right" in diagnosis.verdict.sentences()[0]
    assert f"{fused.value:.0%}" not in diagnosis.verdict.sentences()[0]


def test_a_member_whose_interval_lies_apart_is_named(panel):
    predictions, _ = panel
    verdict = cs.diagnose(predictions).verdict
    verdict.estimates.members[3] = AccuracyEstimate(0.05, 0.01, 0.1)
    assert verdict.standing()[0].endswith("without labels, except that tree is worse")


def test_with_labels_the_paired_difference_ranks(panel):
    predictions, truth = panel
    diagnosis = cs.diagnose(predictions, labels=truth)
    fused = np.asarray(cs.Consensus().fit(predictions).posterior_).argmax(axis=1)
    best = max(NAMES, key=lambda name: (predictions.to_array()[NAMES.index(name)].argmax(axis=1) == truth).mean())
    lead = paired_difference(
        fused == truth, predictions.to_array()[NAMES.index(best)].argmax(axis=1) == truth, one_of(4)
    )
    (of_best,) = (rival for rival in diagnosis.verdict.rivals if rival.name != AVERAGE)
    assert of_best.name == best and of_best.lead == lead
    assert of_best.is_told_apart and f"{100 * lead.value:+.1f} points" in of_best.sentence()
    assert "The fused answer is right more often than" in repr(diagnosis)


@pytest.mark.parametrize(("right", "words"), [(90, "more often"), (70, "less often"), (81, "do not tell whether")])
def test_a_rival_is_better_worse_or_not_told_apart(right, words):
    truth, fused = np.zeros(100, dtype=int), (np.arange(100) >= right).astype(int)
    average = (np.arange(100) >= 80).astype(int)
    found = {rival.name: rival for rival in rivals_of(fused, average, {}, truth)}
    assert words in found[AVERAGE].sentence()


def test_who_voted_little_is_no_rival():
    truth = np.zeros(100, dtype=int)
    lucky, steady = (np.arange(40), truth[:40]), (np.arange(100), (np.arange(100) >= 80).astype(int))
    found = rivals_of(truth, truth, {"lucky": lucky, "steady": steady}, truth)
    assert [rival.name for rival in found] == [AVERAGE, "steady"]
    assert rivals_of(truth, truth, {"steady": steady}, np.where(np.arange(100) < 5, 0, -1)) == []


def test_a_rival_is_compared_on_its_own_items():
    truth = np.zeros(100, dtype=int)
    own = np.arange(60)
    (_, member) = rivals_of(truth, truth, {"a": (own, np.ones(60, dtype=int)), "b": (own, truth[own])}, truth)
    assert member == Rival("b", 1.0, 1.0, paired_difference(truth[own] == 0, truth[own] == 0, one_of(2)), 60)


def test_a_claim_within_the_interval_is_not_called_too_sure():
    """9 of 12 right where .94 is promised is far off, and within the interval that is printed beside it."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=60)
    said = np.where(np.arange(60) % 12 < 3, (truth + 1) % 3, truth)
    rows = {name: 0.91 * np.eye(3)[said] + 0.03 for name in "abc"}
    diagnosis = cs.diagnose(rows, labels=np.where(np.arange(60) < 12, truth, -1))
    found = diagnosis.members.rows()[0]
    assert found["measured"] and found["estimated accuracy"] < 0.8 and found["to"] > 0.94
    assert not any("too sure" in warning for warning in diagnosis.warnings)


def test_too_sure_is_said_where_the_claim_is_beyond_the_interval():
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=400)
    said = np.where(rng.random((3, 400)) < 0.6, truth, (truth + rng.integers(1, 3, size=(3, 400))) % 3)
    rows = {name: 0.955 * np.eye(3)[row] + 0.015 for name, row in zip("abc", said, strict=True)}
    assert any("too sure" in warning for warning in cs.diagnose(rows, labels=truth).warnings)


def test_labels_that_taught_the_fit_measure_members(panel):
    """`aggregate --known` must not warn as if there were no labels."""
    predictions, truth = panel
    known = np.where(np.arange(300) < 90, truth, -1)
    analysis = Analysis(predictions, cs.Consensus(), known)
    diagnosis = analysis.diagnosis
    truly = (predictions.to_array().argmax(axis=2) == truth).mean(axis=1)
    assert all(diagnosis.members["measured"])
    np.testing.assert_allclose(diagnosis.members["estimated accuracy"], truly, atol=0.1)
    assert analysis.gain is not None
    fused = diagnosis.answers["fused answer"]
    assert fused.is_measured and fused.value == analysis.gain.after["accuracy"]
    assert fused.high - fused.low < 0.25


def test_the_best_of_many_is_seldom_claimed_to_be_better_by_chance(rng):
    """Members and the fused answer are equally good: whoever happens to be best on 100 labels is told apart rarely."""
    n_claims = 0
    for _ in range(300):
        right = rng.random((21, 100)) < 0.8
        fused, *members = (~right).astype(int)
        voters = {str(place): (np.arange(100), votes) for place, votes in enumerate(members)}
        (_, best) = rivals_of(fused, fused, voters, np.zeros(100, dtype=int))
        n_claims += best.is_told_apart
    assert n_claims <= 0.15 * 300


def test_typed_at_a_prompt_it_reads_as_its_sentences_in_short_lines(panel):
    predictions, truth = panel
    for diagnosis in (cs.diagnose(predictions), cs.diagnose(predictions, truth)):
        lines = repr(diagnosis.verdict).splitlines()
        assert " ".join(lines) == " ".join(diagnosis.verdict.sentences()) and max(map(len, lines)) <= 100
