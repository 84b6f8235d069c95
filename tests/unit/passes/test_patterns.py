"""Items with the same votes are one item that counts as often: the same answers as with all of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

import consilience as cs
from consilience.passes import reader as patterns
from consilience.passes.reader import Reader

METHODS = [
    cs.Consensus(),
    cs.DawidSkene(),
    cs.DawidSkene(missing="informative"),
    cs.BayesianClassifierCombination(),
    cs.MajorityVote(),
    cs.Average(),
    cs.SoftDawidSkene(max_iter=15),
]
NAMES = [f"{type(method).__name__}{place}" for place, method in enumerate(METHODS)]


def votes(n_items=3000, n_members=4, n_classes=3, *, missing=0.2, seed=0):
    """(members, items): hard labels, -1 where missing; every item has an answer."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_items)
    is_right = rng.random((n_members, n_items)) < np.linspace(0.9, 0.5, n_members)[:, None]
    table = np.where(is_right, truth, rng.integers(n_classes, size=is_right.shape))
    table[1:][rng.random((n_members - 1, n_items)) < missing] = -1
    return table


def one_by_one(monkeypatch):
    monkeypatch.setattr(patterns, "FEWEST_ITEMS", np.inf)


@pytest.mark.parametrize("missing", [0, 0.2])
@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_grouped_by_the_fit_or_by_hand_the_answers_are_those_of_all_items(method, missing, monkeypatch):
    table = votes(missing=missing)
    distinct, place, counts = np.unique(table, axis=1, return_inverse=True, return_counts=True)
    grouped = clone(method).fit(cs.Predictions.from_labels(table, 3))
    by_hand = clone(method).fit(cs.Predictions.from_labels(distinct, 3, counts=counts))
    one_by_one(monkeypatch)
    plain = clone(method).fit(cs.Predictions.from_labels(table, 3))
    np.testing.assert_allclose(grouped.posterior_, plain.posterior_, atol=1e-10, rtol=0)
    np.testing.assert_allclose(by_hand.posterior_[place.ravel()], plain.posterior_, atol=1e-10, rtol=0)
    for name in ("class_prior_", "confusion_", "history_"):
        np.testing.assert_allclose(getattr(grouped, name), getattr(plain, name), rtol=1e-9)
        np.testing.assert_allclose(getattr(by_hand, name), getattr(plain, name), rtol=1e-9)
    assert grouped.items_ == plain.items_
    assert grouped.statistics_.n_items == by_hand.statistics_.n_items == plain.statistics_.n_items == 3000


def test_counts_are_no_decoration():
    table = votes()
    distinct, counts = np.unique(table, axis=1, return_counts=True)
    with_counts = cs.DawidSkene().fit(cs.Predictions.from_labels(distinct, 3, counts=counts))
    without = cs.DawidSkene().fit(cs.Predictions.from_labels(distinct, 3))
    assert np.abs(with_counts.posterior_ - without.posterior_).max() > 0.01


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_streams_and_new_items_are_grouped_too(method, monkeypatch):
    first, second, new = (cs.Predictions.from_labels(votes(seed=seed), 3) for seed in range(3))
    grouped = clone(method).partial_fit(first).partial_fit(second)
    found = grouped.predict_proba(new)
    one_by_one(monkeypatch)
    plain = clone(method).partial_fit(first).partial_fit(second)
    np.testing.assert_allclose(grouped.posterior_, plain.posterior_, atol=1e-10, rtol=0)
    np.testing.assert_allclose(found, plain.predict_proba(new), atol=1e-10, rtol=0)


def test_probabilities_may_count_too():
    rng = np.random.default_rng(1)
    rows, counts = rng.dirichlet(np.ones(4), size=(3, 200)), rng.integers(1, 6, size=200)
    rows[0, :20] = np.nan
    every = np.repeat(np.arange(200), counts)
    for method in (cs.Consensus(), cs.SoftDawidSkene(max_iter=10), cs.DawidSkene(max_iter=20, tol=None), cs.Average()):
        counted = clone(method).fit(cs.Predictions(rows, counts=counts))
        plain = clone(method).fit(rows[:, every])
        np.testing.assert_allclose(counted.posterior_[every], plain.posterior_, atol=1e-10, rtol=0)


def test_many_classes_may_count_too():
    """Sparse responsibilities, and items that are left out of a pass."""
    rng = np.random.default_rng(2)
    logits = 6 * np.eye(80)[rng.integers(80, size=300)] + rng.normal(size=(4, 300, 80))
    counts = rng.integers(1, 4, size=300)
    counted = cs.SoftDawidSkene(max_iter=8).fit(cs.Predictions.from_logits(logits, counts=counts))
    plain = cs.SoftDawidSkene(max_iter=8).fit(cs.Predictions.from_logits(np.repeat(logits, counts, axis=1)))
    np.testing.assert_allclose(counted.posterior_[np.repeat(np.arange(300), counts)], plain.posterior_, atol=1e-10)
    np.testing.assert_allclose(counted.history_, plain.history_, rtol=1e-10)


def test_lists_of_probabilities_agree_as_often_as_they_count():
    rng = np.random.default_rng(3)
    item, member = np.repeat(np.arange(50), 2), np.tile([0, 1], 50)
    rows, counts = rng.dirichlet(np.ones(3), size=100), rng.integers(1, 5, size=50)
    data = cs.Predictions.from_answers(item[1:], member[1:], probabilities=rows[1:], counts=counts)
    repeated = data.take(np.repeat(np.arange(50), counts))
    repeated.counts = None
    one, other = Reader(data).agreement(), Reader(repeated).agreement()
    for name in ("products", "counts", "confidences", "answers", "totals"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12)


def test_a_large_posterior_is_written_out_when_asked_for(monkeypatch):
    monkeypatch.setattr(patterns, "DENSE_NUMBERS", 0)
    monkeypatch.setattr(patterns, "ANSWERED_AT_ONCE", 700)
    fitted = cs.DawidSkene().fit(cs.Predictions.from_labels(votes(), 3))
    assert fitted._lazy_posterior()._values is None
    chunks = list(fitted.posterior_chunks())
    assert [chunk[:2] for chunk in chunks] == [(0, 700), (700, 1400), (1400, 2100), (2100, 2800), (2800, 3000)]
    np.testing.assert_array_equal(np.concatenate([rows for *_, rows in chunks]), fitted.posterior_)


@pytest.mark.parametrize(
    "predictions",
    [
        cs.Predictions.from_labels(votes(900), 3),  # few
        cs.Predictions.from_labels(votes(1500, n_members=30), 3),  # nearly all distinct
        cs.Predictions.from_labels(votes(1500, n_members=70, n_classes=2), 2),  # more than a number holds
        cs.Predictions(np.full((2, 2000, 2), 0.5)),  # probabilities
        cs.Predictions.from_answers(np.repeat(np.arange(1500), 2), np.zeros(3000, int), np.tile([0, 1], 1500)),  # twice
    ],
    ids=["few", "distinct", "long", "probabilities", "repeats"],
)
def test_what_cannot_be_grouped_is_left_alone(predictions):
    assert patterns.patterns_of(predictions) is None


def test_many_possible_patterns_are_sorted(monkeypatch):
    data = cs.Predictions.from_labels(votes(missing=0.4), 3)
    tabled = patterns.patterns_of(data)
    monkeypatch.setattr(patterns, "MOST_TABLED", 0)
    by_sorting = patterns.patterns_of(data)
    np.testing.assert_array_equal(tabled.places, by_sorting.places)
    np.testing.assert_array_equal(tabled.predictions.counts, by_sorting.predictions.counts)
    np.testing.assert_array_equal(tabled.predictions.to_array(), by_sorting.predictions.to_array())
    np.testing.assert_array_equal(tabled.predictions.take(tabled.places).to_array(), data.to_array())


# ---- counts as an argument --------------------------------------------------------------------------------


def test_counts_stay_with_their_items():
    data = cs.Predictions([[[0.9, 0.1], [0.4, 0.6], [0.5, 0.5]]], members=["a"], counts=[3, 1, 2])
    assert data.take([2, 0]).counts.tolist() == [2, 3]
    for made in (data.votes(), data.ballots(), data.harden(), data.aligned(["b", "a"], [0, 1])):
        assert made.counts.tolist() == [3, 1, 2]
    assert "counted 6 times" in repr(data)


@pytest.mark.parametrize("counts", [[1, 2], [1, 0, 1], [1, -1, 2], [1, np.nan, 1], "abc", [[1, 1, 1]], [0.1, 0.1, 0.1]])
def test_counts_that_are_none_are_refused(counts):
    with pytest.raises(cs.InvalidPredictions, match="counts must be a positive number for each of the 3 items"):
        cs.Predictions.from_labels([[0, 1, 1]], counts=counts)


def test_what_needs_single_items_says_so():
    counted = cs.Predictions.from_labels([[0, 1, 1], [0, 1, 0]], counts=[2, 3, 1.5])
    with pytest.raises(cs.InvalidPredictions, match="labels are of single items"):
        cs.DawidSkene().fit(counted, labels=[0, 1, 1])
    with pytest.raises(cs.InvalidPredictions, match="single items"):
        cs.Predictions.concatenate([counted, counted])
    with pytest.raises(cs.InvalidPredictions, match="whole counts"):
        cs.diagnose(counted)


def test_a_diagnosis_of_counted_items_is_that_of_all():
    table = votes(400)
    distinct, counts = np.unique(table, axis=1, return_counts=True)
    counted = cs.diagnose(cs.Predictions.from_labels(distinct, 3, counts=counts))
    order = np.lexsort(table[::-1])
    plain = cs.diagnose(cs.Predictions.from_labels(table[:, order], 3))
    assert counted.members["answers"] == plain.members["answers"]
    np.testing.assert_allclose(counted.members["estimated accuracy"], plain.members["estimated accuracy"], atol=1e-9)


def test_a_column_of_a_grouped_table_counts():
    frame = {"a": ["x", "y", "x"], "b": ["x", "y", "y"], "n": [5, 3, 2]}
    grouped = cs.Predictions.from_frame(pl.DataFrame(frame), counts="n")
    assert (grouped.counts.tolist(), grouped.members) == ([5, 3, 2], ["a", "b"])
    named = pl.DataFrame({"item": ["2", "0", "1"]} | frame)
    by_name = cs.Predictions.from_frame(named, counts="n")
    assert dict(zip(by_name.items, by_name.counts, strict=True)) == {"2": 5, "0": 3, "1": 2}
    long = pl.DataFrame({"task": [0, 0, 1], "worker": ["a", "b", "a"], "label": ["x", "x", "y"], "n": [5, 5, 3]})
    for table, name in ((long, "n"), (named, "a"), (named, "m")):
        with pytest.raises(cs.InvalidPredictions, match="column of numbers in a table with a row for each item"):
            cs.Predictions.from_frame(table, counts=name)
    with pytest.raises(cs.InvalidPredictions, match="counts must be a positive number"):
        cs.Predictions.from_frame(pl.DataFrame(frame | {"n": [5, 0, 2]}), counts="n")
