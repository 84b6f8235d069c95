import numpy as np
import pytest

import consilience as cs

from simulate import softmax_members

ARRAY, _ = softmax_members(np.random.default_rng(0), [3, 2, 1], n_items=60, n_classes=4, missing=0.2)
METHODS = [
    (cs.Average(), {}),
    (cs.Average(weights=[1, 2, 3]), {}),
    (cs.Average(kind="geometric"), {}),
    (cs.MajorityVote(), {}),
    (cs.DawidSkene(), {}),
    (cs.BayesianClassifierCombination(), {}),
    (cs.Consensus(), {}),
    (cs.SoftDawidSkene(), {}),
    (cs.SoftDawidSkene(), {"pure": True}),
    (cs.SoftDawidSkene(averaging=0.3, max_iter=10), {}),
]


@pytest.mark.parametrize(("method", "options"), METHODS, ids=repr)
@pytest.mark.parametrize("item", range(12))
def test_contributions_add_up_exactly(method, options, item):
    method.fit(ARRAY)
    method = method.pure() if "pure" in options else method
    e = cs.explain(ARRAY, item, aggregator=method)
    posterior = method.predict_proba(ARRAY[:, [item]])[0]
    np.testing.assert_allclose(e.posterior, posterior, atol=1e-12)
    order = np.argsort(-posterior, kind="stable")
    assert (e.winner, e.runner_up) == (order[0], order[1])
    assert e.log_odds == pytest.approx(e.prior + e.by_member.sum(), abs=1e-9)
    np.testing.assert_allclose(e.by_member, e.by_probability.sum(axis=1) + e.normalizer, atol=1e-12)
    if posterior[order[1]] > 1e-200:
        assert e.log_odds == pytest.approx(np.log(posterior[order[0]] / posterior[order[1]]), abs=1e-9)
    silent = np.isnan(ARRAY[:, item, 0])
    np.testing.assert_array_equal(e.by_member[silent], 0)


def test_dawid_skene_by_hand():
    """A label's contribution is the log-ratio of the rates of the two classes."""
    labels = np.array([[0, 1, 0, 1, 0, 0], [0, 1, 0, 0, 0, 1], [0, 1, 1, 1, 0, 0]])
    predictions = cs.Predictions.from_labels(labels)
    ds = cs.DawidSkene(smoothing=0.5).fit(predictions)
    e = cs.explain(predictions, 3, aggregator=ds)
    first, second = e.winner, e.runner_up
    for member in range(3):
        rates = ds.confusion_[member, :, labels[member, 3]]
        assert e.by_member[member] == pytest.approx(np.log(rates[first] / rates[second]))
    assert e.prior == pytest.approx(np.log(ds.class_prior_[first] / ds.class_prior_[second]))


def test_against_another_class():
    ds = cs.DawidSkene().fit(cs.Predictions(ARRAY, classes=list("abcd")))
    named = cs.Predictions(ARRAY, classes=list("abcd"), items=[f"i{n}" for n in range(60)])
    for other in "abcd":
        e = cs.explain(named, "i5", against=other, aggregator=ds)
        assert e.runner_up == other != e.winner
    with pytest.raises(ValueError, match="against must be one of the classes"):
        cs.explain(named, "i5", against="z", aggregator=ds)
    with pytest.raises(cs.InvalidPredictions, match="item must be one of the 60 items .*; got 5"):
        cs.explain(named, 5, aggregator=ds)


def test_a_certain_answer_stays_finite():
    sure = np.tile(np.eye(3)[[0, 1]], (2, 1, 1))
    for method in (cs.Average(), cs.MajorityVote(), cs.SoftDawidSkene()):
        e = cs.explain(sure, 0, aggregator=method.fit(sure))
        assert np.isfinite(e.log_odds)
        assert e.log_odds == pytest.approx(e.prior + e.by_member.sum(), rel=1e-9)


def test_overwhelming_evidence_stays_finite():
    sharp, _ = softmax_members(np.random.default_rng(1), [9, 9, 9], n_items=100, n_classes=4)
    sds = cs.SoftDawidSkene(solver="exact", averaging=0.5, max_iter=6).fit(sharp)
    for item in range(100):
        e = cs.explain(sharp, item, aggregator=sds)
        assert e.log_odds == pytest.approx(e.prior + e.by_member.sum(), abs=1e-8)


def test_repeated_answers_of_a_geometric_mean():
    rows = [[0.9, 0.1], [0.9, 0.1], [0.3, 0.7]]
    p = cs.Predictions.from_answers([0, 0, 0], [0, 0, 1], probabilities=rows)
    method = cs.Average(kind="geometric").fit(p)
    np.testing.assert_allclose(cs.explain(p, 0, aggregator=method).posterior, method.predict_proba(p)[0], rtol=1e-12)


def test_repr_is_a_readable_table():
    p = cs.Predictions(
        [[[0.8, 0.2]], [[0.4, 0.6]], [[np.nan] * 2]], members=["vit", "cnn", "eve"], classes=["cat", "dog"]
    )
    text = repr(cs.explain(p, 0, aggregator=cs.Average().fit(p)))
    assert text.splitlines()[0] == "item 0: cat (0.600) over dog (0.400), log-odds +0.41"
    assert [line.split()[0] for line in text.splitlines()[1:]] == ["member", "(class", "vit", "cnn"]
    assert "cat 0.80, dog 0.20" in text


def test_repr_of_a_consensus_ends_with_what_each_expert_says():
    e = cs.explain(ARRAY, 0, aggregator=cs.Consensus().fit(ARRAY))
    *_, last = repr(e).splitlines()
    assert (
        last == f"log-odds by each expert alone: {', '.join(f'{name} {said:+.2f}' for name, said in e.experts.items())}"
    )
    assert "average" in e.experts


@pytest.mark.parametrize("method", [cs.Average(), cs.DawidSkene(), cs.SoftDawidSkene()], ids=repr)
def test_other_methods_have_no_experts(method):
    e = cs.explain(ARRAY, 0, aggregator=method.fit(ARRAY))
    assert e.experts == {}
    assert "expert" not in repr(e)


def test_one_item_of_a_crowd_costs_no_table_of_all_items():
    """Names of items that are their positions are not looked up; a slice of the answers is all that is read."""
    crowd = cs.Predictions.from_labels(np.tile([[0], [1], [1]], 1000))
    fitted = cs.DawidSkene(max_iter=3, tol=None).fit(crowd)
    for item in (999, np.int64(999)):
        found = cs.explain(crowd, item, aggregator=fitted)
        np.testing.assert_allclose(found.posterior, fitted.predict_proba(crowd)[999], rtol=1e-12)
    assert "positions" not in vars(crowd.axes.items)
    for wrong in (1000, -1, "x"):
        with pytest.raises(cs.InvalidPredictions, match=r"item must be one of the 1000 items \[0, 1, .*; got"):
            cs.explain(crowd, wrong, aggregator=fitted)
