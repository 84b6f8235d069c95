"""Products of answers, by hand and by comparing each answer with each."""

import array_api_strict
import numpy as np
import pytest
import torch

import consilience as cs
from consilience.passes import pair_products
from consilience.passes.pair_products import SPREAD, Agreement, chunk_agreement
from consilience.passes.reader import Reader

import reference
from simulate import softmax_members

FIELDS = ("products", "counts", "confidences", "answers", "totals")


def of(predictions):
    (chunk,) = Reader(predictions).chunks
    return chunk_agreement(chunk.features(), predictions.n_members, chunk.n_items, predictions.n_classes)


def assert_is(found, answers, n_members):
    products, counts = reference.agreement(answers, n_members)
    np.testing.assert_allclose(found.products, products, atol=1e-12)
    np.testing.assert_array_equal(found.counts, counts)
    sure = [[max(row) for m, _, row in answers if m == member] for member in range(n_members)]
    np.testing.assert_allclose(found.confidences, [sum(given) for given in sure], atol=1e-12)
    np.testing.assert_array_equal(found.answers, [len(given) for given in sure])
    rows = [[row for m, _, row in answers if m == member] for member in range(n_members)]
    np.testing.assert_allclose(found.totals, [np.sum(given, axis=0) for given in rows], atol=1e-12)


def test_two_members_by_hand():
    found = of(cs.Predictions([[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [np.nan, np.nan]]]))
    np.testing.assert_allclose(found.products, [[0.82 + 0.68, 0.58], [0.58, 0.52]])
    assert found.counts.tolist() == [[2, 1], [1, 1]]
    np.testing.assert_allclose(found.mean_confidence, [0.85, 0.6])


def test_labels_agree_where_they_are_the_same():
    found = of(cs.Predictions.from_labels([[0, 1, 2, 2], [0, 1, 1, -1]], 3))
    assert found.products.tolist() == [[4, 2], [2, 3]] and found.counts.tolist() == [[4, 3], [3, 3]]
    assert found.mean_confidence.tolist() == [1, 1]


@pytest.mark.parametrize(
    "make", [np.asarray, torch.asarray, array_api_strict.asarray], ids=["numpy", "torch", "strict"]
)
def test_all_kinds_of_members_together(make, rng):
    """Probabilities with gaps, a list of answers with a second thought, and labels; every pair of kinds meets."""
    array, truth = softmax_members(rng, [3, 2], n_items=12, n_classes=3, missing=0.3)
    some = rng.dirichlet(np.ones(3), size=5)
    items = [0, 4, 4, 7, 11]
    labels = np.where(np.arange(12) % 4 == 1, -1, truth)[None]
    parts = [
        cs.Predictions(make(array)),
        cs.Predictions.from_answers(items, [0] * 5, probabilities=some, items=range(12), partial=True),
        cs.Predictions.from_labels(labels, 3, partial=True),
    ]
    answers = [(m, i, x) for m, i, x in reference.answers_of(array)]
    answers += [(2, i, x) for i, x in zip(items, some, strict=True)]
    answers += [(3, i, x) for _, i, x in reference.answers_of(np.empty((0, 12, 3)), labels)]
    assert_is(of(cs.Predictions.concatenate(parts)), answers, 4)


def test_no_items_have_no_agreement():
    found = Agreement.zero(3, 2)
    assert not any(getattr(found, name).any() for name in FIELDS)
    assert found.mean_confidence.tolist() == [1, 1, 1]
    assert not found.beyond_chance().any()


def test_sums_multiples_and_parts(rng):
    array, _ = softmax_members(rng, [3, 2, 1], n_items=20, n_classes=4, missing=0.3)
    whole = of(cs.Predictions(array))
    halves = [of(cs.Predictions(part, partial=True)) for part in (array[:, :7], array[:, 7:])]
    members = np.array([2, 0])
    some = of(cs.Predictions(array[members], partial=True))
    for name in FIELDS:
        np.testing.assert_allclose(getattr(halves[0] + halves[1], name), getattr(whole, name), rtol=1e-12)
        np.testing.assert_allclose(getattr(0.25 * whole, name), 0.25 * getattr(whole, name))
        np.testing.assert_allclose(getattr(whole.among(members), name), getattr(some, name), rtol=1e-12)


def test_chance_is_0_and_equal_labels_are_1():
    labels = [[0, 1, 2, 3], [0, 1, 2, 3], [1, 2, 3, 0]]
    same = of(cs.Predictions.from_labels(labels, 4)).beyond_chance()
    np.testing.assert_allclose(same, [[1, 1, -1 / 3], [1, 1, -1 / 3], [-1 / 3, -1 / 3, 1]], atol=1e-12)
    blind = of(cs.Predictions(np.full((2, 5, 4), 0.25)))
    np.testing.assert_allclose(blind.beyond_chance(), 0, atol=1e-15)


def test_pairs_who_never_met_are_strangers():
    sure, gone = [[0.9, 0.1], [0.2, 0.8]], [[np.nan] * 2] * 2
    apart = [[*sure, *gone], [*gone, *sure]]
    found = of(cs.Predictions(apart)).beyond_chance()
    assert found[0, 1] == found[1, 0] == 0 and found[0, 0] > 0


def test_what_a_stream_has_nearly_forgotten_still_counts(rng):
    agreement = of(cs.Predictions(softmax_members(rng, [3, 2, 1], 50, 4, missing=0.3)[0]))
    np.testing.assert_allclose((1e-6 * agreement).beyond_chance(), agreement.beyond_chance(), rtol=1e-12)


def test_sums_of_single_precision_are_double(rng):
    array = softmax_members(rng, [3, 2], n_items=50, n_classes=4)[0].astype(np.float32)
    found = of(cs.Predictions(array))
    assert {getattr(found, name).dtype for name in FIELDS} == {np.dtype(np.float64)}
    np.testing.assert_allclose(found.products, of(cs.Predictions(array.astype(np.float64))).products, rtol=1e-6)


def test_who_always_says_the_frequent_class_agrees_by_chance_alone(rng):
    """One class in ten is another: two who say so at random agree on 82 %, which is worth nothing."""
    labels = (rng.random((2, 20_000)) < 0.1).astype(int)
    found = of(cs.Predictions.from_labels(labels, 2))
    assert found.products[0, 1] / 20_000 > 0.8
    assert found.beyond_chance()[0, 1] == pytest.approx(0, abs=4 / np.sqrt(20_000))


def test_cohens_kappa_of_two_members(rng):
    from sklearn.metrics import cohen_kappa_score

    labels = rng.integers(3, size=(2, 200))
    labels[1, :120] = labels[0, :120]
    kappa = cohen_kappa_score(*labels)
    assert of(cs.Predictions.from_labels(labels, 3)).beyond_chance()[0, 1] == pytest.approx(kappa, abs=2 * SPREAD)


@pytest.mark.parametrize("is_repeated", [False, True])
def test_dense_products_of_labels_are_the_sparse_ones(monkeypatch, is_repeated):
    rng = np.random.default_rng(0)
    item, member = (part.ravel() for part in np.indices((50, 7)))
    kept = rng.random(len(item)) < 0.8
    item, member = (np.concatenate([part[kept], part[:7] if is_repeated else part[:0]]) for part in (item, member))
    predictions = cs.Predictions.from_answers(item, member, rng.integers(3, size=len(item)), n_classes=3)
    found = []
    for faster in (0, np.inf):
        monkeypatch.setattr(pair_products, "DENSE_FASTER", faster)
        monkeypatch.setattr(pair_products, "TABLED_AT_ONCE", 64)  # several blocks
        found.append(of(predictions))
    for field in FIELDS:
        np.testing.assert_array_equal(*(getattr(each, field) for each in found))
