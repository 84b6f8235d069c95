"""The items of a report: which they are, and the evidence for each answer."""

import numpy as np
import pytest

import consilience as cs
from consilience.insight.analysis import Analysis
from consilience.report.items import Seen
from consilience.report.page import report_payload

EXPLAINED = [cs.Consensus(), cs.SoftDawidSkene(), cs.DawidSkene(), cs.MajorityVote(), cs.Average()]


def test_every_item_is_there_once_and_says_why(payload):
    rows = payload["items"]["rows"]
    assert len({row["name"] for row in rows}) == len(rows) == 100
    assert sum(payload["items"]["reasons"].values()) == 100
    disputed = [row["against"] / row["answers"] for row in rows if row["reason"] == "disputed"]
    assert max(disputed) == max(row["against"] / row["answers"] for row in rows if row["reason"] != "changed")


@pytest.mark.parametrize("method", EXPLAINED, ids=repr)
def test_evidence_adds_up_to_the_log_odds(digits, method):
    rows = report_payload(digits[0], aggregator=method, most_items=40)["items"]["rows"]
    for row in rows:
        why = row["why"]
        total = why["prior"] + why["others_weight"] + sum(part["weight"] for part in why["members"])
        assert why["log_odds"] == pytest.approx(total, abs=0.005)
        assert why["winner"] == row["chosen"]
        if row["reason"] == "changed":
            assert why["rival"] == row["average"]


def test_answers_against_the_consensus_are_counted():
    predictions = cs.Predictions.from_labels([[0, 1], [1, -1], [0, 1]], 2)
    n_answers, n_against = Seen.of(Analysis(predictions, cs.MajorityVote().fit(predictions))).counted()
    assert n_answers.tolist() == [3, 2] and n_against.tolist() == [1, 0]


def test_probabilities_shown_are_those_of_both_methods(digits, fitted, payload):
    analysis = Analysis(digits[0], fitted)
    for row in payload["items"]["rows"][:5]:
        item, why = int(row["name"]), row["why"]
        np.testing.assert_allclose(why["consensus"], analysis.posterior[item, why["classes"]], atol=5e-5)
        np.testing.assert_allclose(why["average"], analysis.average[item, why["classes"]], atol=5e-5)


def test_answers_to_look_at_again_are_those_the_fused_answer_finds_least_probable(digits, fitted, payload):
    p, _ = digits
    posterior, votes = fitted.predict_proba(p), p.votes().hard
    belief = np.sort(posterior[votes.items, votes.labels])
    rows = payload["items"]["doubtful"]
    np.testing.assert_allclose([row["belief"] for row in rows], belief[:50], atol=5e-5)
    for row in rows:
        item = int(row["item"])
        assert p.to_array()[row["member"], item].argmax() == row["said"] != row["chosen"]
        assert posterior[item, row["said"]] == pytest.approx(row["belief"], abs=5e-5)


def test_each_answer_to_an_item_has_the_probability_that_all_give_it(digits, fitted, payload):
    posterior = fitted.predict_proba(digits[0])
    for row in payload["items"]["rows"][:20]:
        for part in row["why"]["members"]:
            assert part["belief"] == pytest.approx(posterior[int(row["name"]), part["vote"]], abs=5e-5)
            assert part["sure"] == max(part["said"])


def test_nobody_who_agrees_is_doubted():
    rows = np.tile([[0.9, 0.1], [0.1, 0.9]], (3, 1, 1))
    assert report_payload(rows)["items"]["doubtful"] == []
