"""The best and the median member of a comparison."""

import numpy as np
import pytest

import consilience as cs
from consilience.insight.verdict import Ranked, SingleMember, sureness
from consilience.metrics.scores import wilson

TRUTH = np.arange(40) % 2
VOTES = np.stack([np.where(np.arange(40) < n_wrong, 1 - TRUTH, TRUTH) for n_wrong in (16, 4, 10)])


def test_best_and_median_by_labels():
    ranked = Ranked.measured(cs.Predictions.from_labels(VOTES), TRUTH)
    assert ranked.accuracy.tolist() == [0.6, 0.9, 0.75] and ranked.n_votes.tolist() == [40] * 3
    assert ranked.best_and_median() == {"best member": 1, "median member": 2}
    assert Ranked.measured(cs.Predictions.from_labels(VOTES[:1]), TRUTH).best_and_median() == {"best member": 0}


def test_members_with_few_votes_are_not_ranked():
    votes = np.where(np.arange(40) < 3, TRUTH, -1)[None]
    ranked = Ranked.measured(cs.Predictions.from_labels(np.concatenate([VOTES, votes])), TRUTH)
    assert ranked.accuracy[3] == 1 and ranked.best_and_median()["best member"] == 1
    alone = Ranked.measured(cs.Predictions.from_labels(VOTES[:, :4]), TRUTH[:4])
    assert alone.best_and_median()["best member"] in (0, 1, 2)
    nobody = Ranked(np.full(2, np.nan), np.zeros(2, dtype=int))
    assert nobody.best_and_median() == {}


def test_a_member_who_gives_labels_has_no_probabilities_to_score():
    predictions = cs.Predictions.from_labels(VOTES)
    member = SingleMember(predictions, predictions.harden().hard, 1)
    scores = member.scores(0.9, TRUTH, 15)
    assert scores["accuracy"] == 0.9 and np.isnan(scores["nll"])
    facts = member.facts(VOTES[0])
    assert facts["changed"] == pytest.approx(12 / 40) and np.isnan(facts["confidence"])
    assert facts["agreement"] == pytest.approx(((VOTES[0] == VOTES[1]).mean() + (VOTES[2] == VOTES[1]).mean()) / 2)


def test_gaps_do_not_count():
    rows = np.full((2, 40, 2), 0.5)
    rows[0] = np.eye(2)[VOTES[0]] * 0.8 + 0.1
    rows[1, :20] = np.eye(2)[VOTES[1, :20]] * 0.6 + 0.2
    rows[1, 20:] = np.nan
    predictions = cs.Predictions(rows)
    member = SingleMember(predictions, predictions.harden().hard, 1)
    assert member.scores(0.8, TRUTH, 15)["nll"] == pytest.approx(cs.metrics.nll(rows[1, :20], TRUTH[:20]))
    assert member.facts(VOTES[1])["confidence"] == pytest.approx(0.8)


def test_sureness():
    assert sureness(np.array([[0.5, 0.5], [1.0, 0.0]])) == pytest.approx({"confidence": 0.75, "entropy": np.log(2) / 2})


def test_a_comparison_shows_them_beside_the_methods():
    rows = {row["method"]: row for row in cs.compare(cs.Predictions.from_labels(VOTES), TRUTH).rows()}
    best = rows["best member"]
    assert (best["member"], best["accuracy"]) == ("1", 0.9)
    assert (best["from"], best["to"]) == wilson(0.9, 40, 0.9)
    assert rows["Consensus"]["member"] == "" and rows["median member"]["accuracy"] == 0.75
