"""The summary of a fit: which items and labels it counts, and the few members, pairs and items it lists."""

import json

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import consilience as cs
from consilience.cli.summary import MOST_CHANGED, MOST_PAIRS, _pairs, _reliable, _repeated, _tipped, summarize
from consilience.insight.analysis import Analysis

from simulate import softmax_members


def test_labels_that_were_given_are_not_scored(run, tmp_path):
    """Their answers are the labels themselves, right or wrong."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=120)
    np.save(tmp_path / "members.npy", rng.dirichlet(np.ones(3), size=(3, 120)))
    np.save(tmp_path / "truth.npy", truth)
    np.save(tmp_path / "known.npy", np.where(np.arange(120) < 60, truth, -1))
    words = ["--labels", "truth.npy", "--known", "known.npy", "--method", "dawid-skene", "--json"]
    code, out, _ = run("aggregate", "members.npy", *words)
    summary = json.loads(out)
    assert code == 0
    assert summary["scores"]["DawidSkene"]["accuracy"] < 0.6
    assert min(row["item"] for row in summary["changed"]["surest"]) >= 60
    assert summary["changed"]["share"] == summary["changed"]["count"] / 60


@pytest.fixture
def analysis():
    array, truth = softmax_members(np.random.default_rng(0), [3, 0.4, 0.4], 150, 3)
    predictions = cs.Predictions(array, classes=["cat", "dog", "fox"])
    return Analysis(predictions, cs.DawidSkene().fit(predictions)), truth


def test_changed_items_are_those_the_average_answers_otherwise(analysis):
    analysis, _ = analysis
    summary = summarize(analysis, analysis.posterior)
    is_changed = analysis.posterior.argmax(axis=1) != analysis.average.argmax(axis=1)
    changed = summary["changed"]
    assert changed["count"] == is_changed.sum() > MOST_CHANGED == len(changed["surest"])
    assert changed["share"] == is_changed.mean()
    assert all(is_changed[row["item"]] for row in changed["surest"])
    chances = [row["consensus"]["probability"] for row in changed["surest"]]
    assert chances == sorted(chances, reverse=True) and chances[0] == analysis.posterior[is_changed].max()
    for row in changed["surest"]:
        why = cs.explain(analysis.predictions, row["item"], against=row["average"]["class"], aggregator=analysis.method)
        assert row["tipped by"]["log-odds"] == max(why.prior, why.by_member.max())


def test_scores_need_labels(analysis):
    analysis, truth = analysis
    assert "scores" not in summarize(analysis, analysis.posterior)
    names = [analysis.predictions.classes[k] for k in truth]
    labelled = Analysis(analysis.predictions, analysis.method, labels=names)
    scores = summarize(labelled, analysis.posterior)["scores"]
    assert scores["DawidSkene"]["accuracy"] == cs.metrics.accuracy(analysis.posterior, truth)
    assert scores["Average"]["nll"] == pytest.approx(cs.metrics.nll(analysis.average, truth))
    given = Analysis(analysis.predictions, analysis.method, names, names)
    assert "scores" not in summarize(given, analysis.posterior)  # all of them were given


def test_labels_are_names_whatever_the_order_of_classes(analysis):
    analysis, truth = analysis
    order = [2, 0, 1]
    other = cs.Predictions(analysis.predictions.to_array()[:, :, order], classes=["fox", "cat", "dog"])
    names = np.array(["cat", "dog", "fox"])[truth]
    analysis, again = (Analysis(some, analysis.method, labels=names) for some in (analysis.predictions, other))
    expected = summarize(analysis, analysis.posterior)["scores"]["DawidSkene"]
    assert summarize(again, again.posterior)["scores"]["DawidSkene"] == pytest.approx(expected)


def test_a_fit_that_has_not_settled_is_warned_of(analysis):
    predictions = analysis[0].predictions
    with pytest.warns(ConvergenceWarning, match="after 1 iterations"):
        hasty = Analysis(predictions, cs.DawidSkene(max_iter=1).fit(predictions))
    summary = summarize(hasty, hasty.posterior)
    assert summary["converged"] is False
    settling = [warning for warning in summary["warnings"] if "settled" in warning]
    assert len(settling) == 1 and "Raise max_iter" in settling[0]


def test_the_accuracies_are_those_of_the_diagnosis(analysis):
    analysis, _ = analysis
    summary, diagnosis = summarize(analysis, analysis.posterior), analysis.diagnosis
    for name in ("estimated accuracy", "from", "to"):
        assert [row[name] for row in summary["members"]] == diagnosis.members[name]
    fused = diagnosis.answers["fused answer"]
    assert summary["answers"]["fused answer"] == {
        "estimated accuracy": fused.value,
        "from": fused.low,
        "to": fused.high,
    }


def test_the_classes_a_member_recognizes_best():
    confusion = np.array([[0.5, 0.5, 0], [0.1, 0.9, 0], [np.nan, np.nan, np.nan]])
    assert _reliable(confusion, ["cat", "dog", "fox"]) == "dog 90%, cat 50%"


def test_pairs_that_agree_least_beyond_chance_come_first_and_strangers_are_left_out():
    agreement = np.array([[1, 0.9, 0.4], [0.9, 1, np.nan], [0.4, np.nan, 1]])
    kappa = np.array([[1, 0.1, 0.2], [0.1, 1, np.nan], [0.2, np.nan, 1]])
    first, second = _pairs(agreement, kappa, ["a", "b", "c"])
    assert first == {"members": ["a", "b"], "agreement": 0.9, "kappa": 0.1}
    assert second == {"members": ["a", "c"], "agreement": 0.4, "kappa": 0.2}
    assert len(_pairs(*np.full((2, 9, 9), 0.5), list("abcdefghi"))) == 2 * MOST_PAIRS


def test_the_most_alike_pairs_are_listed_too(analysis):
    predictions = analysis[0].predictions
    twice = cs.Predictions(predictions.to_array()[[0, 1, 2, 2]], members=list("abcd"))
    found = Analysis(twice, cs.Average().fit(twice))
    pairs = summarize(found, found.posterior)["alike"]
    assert pairs[0] == {"members": ["c", "d"], "agreement": 1.0, "kappa": 1.0}
    assert [pair["kappa"] for pair in pairs] == sorted((pair["kappa"] for pair in pairs), reverse=True)


def test_the_class_shares_tip_an_answer_where_no_member_says_more():
    rows = np.tile([[0.6, 0.4], [0.4, 0.6]], (30, 1, 1)).transpose(1, 0, 2)  # two who contradict each other
    predictions = cs.Predictions(rows, members=["a", "b"])
    model = cs.Consensus(class_shares=[0.02, 0.98]).fit(predictions)
    why = cs.explain(predictions, 0, aggregator=model)
    assert why.prior + why.shares > why.by_member.max()
    assert _tipped(why) == {"member": None, "log-odds": why.prior + why.shares}


def test_ties_of_the_average_are_counted():
    predictions = cs.Predictions.from_labels(np.array([[0] * 40, [1] * 40, [0] * 10 + [-1] * 20 + [1] * 10]), 2)
    model = cs.Consensus(class_shares=[0.02, 0.98]).fit(predictions)
    found = Analysis(predictions, model)
    changed = summarize(found, np.tile([0.1, 0.9], (40, 1)))["changed"]
    assert changed["count"] == 30 and changed["ties"] == 20  # the average answers a tie by the first class


def test_answers_to_the_same_item_are_counted():
    assert _repeated(cs.Predictions.from_answers([0, 0, 1, 1, 1], [0, 0, 0, 1, 1], [0, 1, 1, 0, 0])) == {
        "members": 2,
        "items": 2,
    }
    assert _repeated(cs.Predictions(np.full((2, 3, 2), 0.5))) == {"members": 0, "items": 0}
    twice = cs.Predictions.from_answers([0, 0, 1, 1], [0, 0, 0, 1], probabilities=np.full((4, 2), 0.5))
    assert _repeated(twice) == {"members": 1, "items": 1}
