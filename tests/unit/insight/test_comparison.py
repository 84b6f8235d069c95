from itertools import pairwise

import numpy as np
import pytest

import consilience as cs
from consilience.metrics.scores import wilson

from simulate import softmax_members

ARRAY, TRUTH = softmax_members(np.random.default_rng(0), [3, 2, 1], n_items=200, n_classes=3)
METHODS = ["Average", "Average (geometric)", "MajorityVote", "DawidSkene", "BayesianClassifierCombination"]


SINGLE = ["best member", "median member"]


def by_method(table):
    return dict(zip(table["method"], table.rows(), strict=True))


def test_every_method_is_scored():
    table = cs.compare(ARRAY, TRUTH)
    assert sorted(table["method"]) == sorted([*METHODS, "SoftDawidSkene", "Consensus", *SINGLE])
    average, found = cs.Average().fit(ARRAY).posterior_, by_method(table)["Average"]
    assert found["accuracy"] == cs.metrics.accuracy(average, TRUTH)
    assert found["nll"] == pytest.approx(cs.metrics.nll(average, TRUTH))
    assert found["changed"] == 0
    assert (found["from"], found["to"]) == wilson(found["accuracy"], 200, 0.9)


def test_the_best_row_comes_first():
    for one, two in pairwise(cs.compare(ARRAY, TRUTH).rows()):
        assert (-one["accuracy"], one["nll"]) <= (-two["accuracy"], two["nll"])


def test_without_labels_nothing_is_ranked():
    """Consensus would be first by its own belief in 29 of 30 panels; it truly beat the best member in 9."""
    table = cs.compare(ARRAY)
    assert table["method"] == [*METHODS, "SoftDawidSkene", "Consensus"]  # the order of the methods, and no best member
    assert not {"accuracy", "estimated accuracy"} & set(table.columns)
    assert set(table["verdict"]) == {"cannot be told apart without labels"}


def test_with_labels_rows_are_behind_the_best_by_a_paired_difference():
    rows = cs.compare(ARRAY, TRUTH).rows()
    best = rows[0]
    assert best["verdict"] == "best" and np.isnan(best["behind"])
    for row in rows[1:]:
        assert row["behind"] == pytest.approx(best["accuracy"] - row["accuracy"])
        assert row["behind from"] <= row["behind"] <= row["behind to"]
        assert row["verdict"] == ("worse" if row["behind from"] > 0 else "not told apart")
    assert {"worse", "not told apart"} <= set(cs.compare(ARRAY, TRUTH)["verdict"])


def test_a_measured_member_has_one_number_wherever_it_is_shown():
    diagnosis, rows = cs.diagnose(ARRAY, labels=TRUTH), by_method(cs.compare(ARRAY, TRUTH))
    best = int(rows["best member"]["member"])
    found = [diagnosis.members[name][best] for name in ("estimated accuracy", "from", "to")]
    assert found == pytest.approx([rows["best member"][name] for name in ("accuracy", "from", "to")])


def test_known_labels_teach_and_their_items_are_left_out():
    known = np.where(np.arange(200) < 60, TRUTH, -1)
    found = by_method(cs.compare(ARRAY, TRUTH, known=known))
    taught = cs.Consensus().fit(ARRAY, known).posterior_[60:]
    assert found["Consensus"]["nll"] == pytest.approx(cs.metrics.nll(taught, TRUTH[60:]))
    assert found["Average"]["accuracy"] == cs.metrics.accuracy(cs.Average().fit(ARRAY).posterior_[60:], TRUTH[60:])
    assert found["Average"]["confidence"] == pytest.approx(cs.Average().fit(ARRAY).posterior_[60:].max(axis=1).mean())
    assert "accuracy" not in cs.compare(ARRAY, known=known).columns
    with pytest.raises(cs.InvalidPredictions, match="known must leave out some items"):
        cs.compare(ARRAY, known=TRUTH)
    with pytest.raises(cs.InvalidPredictions, match="for an item that is not among the known ones; none is"):
        cs.compare(ARRAY, known, known=known)


def test_labels_only_score():
    with_labels, without = cs.compare(ARRAY, TRUTH), cs.compare(ARRAY)
    for name in without["method"]:
        row = by_method(with_labels)[name]
        for column in ("confidence", "entropy", "changed", "agreement", "iterations"):
            assert row[column] == by_method(without)[name][column]
    assert "accuracy" not in without.columns
    some = cs.compare(ARRAY, np.where(np.arange(200) < 50, TRUTH, -1))
    assert by_method(some)["Average"]["accuracy"] == cs.metrics.accuracy(
        cs.Average().fit(ARRAY).posterior_[:50], TRUTH[:50]
    )


def test_intervals_are_estimated_without_labels():
    diagnosis = cs.diagnose(ARRAY)
    consensus = by_method(cs.compare(ARRAY))["Consensus"]
    fused = diagnosis.answers["fused answer"]
    np.testing.assert_allclose([consensus[name] for name in ("from", "to")], fused[1:3])  # one answer, one interval
    alone = cs.compare(ARRAY, aggregators=[cs.Average()]).rows()[0]
    assert (alone["from"], alone["to"]) == pytest.approx(diagnosis.answers["average"][1:3])


def test_hard_labels_have_no_geometric_mean():
    table = cs.compare(cs.Predictions(ARRAY).harden(), TRUTH)
    assert "Average (geometric)" not in table["method"]


def test_own_methods():
    method = cs.DawidSkene(max_iter=1, tol=1e-9)
    table = cs.compare(ARRAY, aggregators={"mine": method})
    assert (table["method"], table["iterations"]) == (["mine"], [1])
    assert not hasattr(method, "posterior_")
    assert cs.compare(ARRAY, aggregators=[method])["method"] == ["DawidSkene(max_iter=1, tol=1e-09)"]
    twice = cs.compare(ARRAY, aggregators=[cs.MajorityVote(), cs.MajorityVote()])
    assert twice["method"] == ["MajorityVote()", "MajorityVote() (2)"]
    with pytest.raises(ValueError, match="at least one method; got none"):
        cs.compare(ARRAY, aggregators={})
