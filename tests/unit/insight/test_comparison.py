import numpy as np
import pytest

import consilience as cs

from simulate import softmax_members

ARRAY, TRUTH = softmax_members(np.random.default_rng(0), [3, 2, 1], n_items=200, n_classes=3)
METHODS = ["Average", "Average (geometric)", "MajorityVote", "DawidSkene", "BayesianClassifierCombination"]


def test_every_method_is_scored():
    table = cs.compare(ARRAY, TRUTH)
    assert table["method"] == [*METHODS, "SoftDawidSkene", "Consensus"]
    average = cs.Average().fit(ARRAY).posterior_
    assert table.rows()[0]["accuracy"] == cs.metrics.accuracy(average, TRUTH)
    assert table.rows()[0]["nll"] == pytest.approx(cs.metrics.nll(average, TRUTH))
    assert table.rows()[0]["changed"] == 0


def test_labels_only_score():
    with_labels, without = cs.compare(ARRAY, TRUTH), cs.compare(ARRAY)
    for column in ("confidence", "entropy", "changed", "agreement", "iterations"):
        assert with_labels[column] == without[column]
    assert "accuracy" not in without.columns
    some = cs.compare(ARRAY, np.where(np.arange(200) < 50, TRUTH, -1))
    assert some["accuracy"][0] == cs.metrics.accuracy(cs.Average().fit(ARRAY).posterior_[:50], TRUTH[:50])


def test_accuracies_are_estimated_without_labels():
    table = cs.compare(ARRAY)
    diagnosis = cs.diagnose(ARRAY)
    consensus = dict(zip(table["method"], table.rows(), strict=True))["Consensus"]
    fused = diagnosis.answers["fused answer"]
    found = [consensus[name] for name in ("estimated accuracy", "from", "to")]
    np.testing.assert_allclose(found, [fused.value, fused.low, fused.high])  # one answer, one number
    low, value, high = (np.array(table[name]) for name in ("from", "estimated accuracy", "to"))
    assert (low < value).all() and (value < high).all()
    assert "estimated accuracy" not in cs.compare(ARRAY, TRUTH).columns
    alone = cs.compare(ARRAY, aggregators=[cs.Average()]).rows()[0]
    assert alone["estimated accuracy"] == pytest.approx(diagnosis.answers["average"].value)


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
