"""Scores, sums and pools of each kind of features, against loops over items, members and classes."""

from itertools import pairwise

import array_api_strict
import numpy as np
import pytest
import torch
from scipy import sparse

import consilience as cs
from consilience.data.answers import HardAnswers, SoftMember
from consilience.data.predictions import Chunk
from consilience.maths.em import Scores
from consilience.passes.kernels import (
    ADDED_AT_ONCE,
    LabelFeatures,
    Layer,
    RowFeatures,
    _sums_over_items,
    added_up,
    chunk_statistics,
    log_evidence,
    read_features,
)
from consilience.system.arrays import to_numpy

import reference

N_MEMBERS, N_ITEMS, N_CLASSES = 6, 9, 3
FLOOR = 1e-3
LIBRARIES = {"numpy": np.asarray, "torch": torch.asarray, "strict": array_api_strict.asarray}
every_library = pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)


def complete(position, rows, items=None, *, is_complete=True):
    return SoftMember(position, rows, items, is_complete=is_complete)


def case(make=np.asarray):
    """A chunk with members of every kind, and its answers (member, item, row).

    Members 0 and 2 answer every item, 1 all but two, 4 some (one of them twice); 3 and 5 give labels.
    """
    rng = np.random.default_rng(0)
    rows = rng.dirichlet(np.full(N_CLASSES, 0.5), size=(3, N_ITEMS))
    rows[0, 0] = [1, 0, 0]
    rows[1, [2, 5]] = np.nan
    items = np.array([0, 3, 3, 8])
    some = rng.dirichlet(np.ones(N_CLASSES), size=4)
    some[3] = np.nan
    hard = HardAnswers(np.array([0, 1, 1, 7, 7]), np.array([3, 3, 5, 5, 5]), np.array([2, 0, 1, 1, 2]))
    soft = (
        complete(0, make(rows[0])),
        complete(1, make(rows[1]), is_complete=False),
        complete(2, make(rows[2])),
        complete(4, some, items, is_complete=False),
    )
    answers = reference.answers_of(rows)
    answers += [(4, int(item), row) for item, row in zip(items[:3], some[:3], strict=True)]
    answers += [(m, i, np.eye(N_CLASSES)[j]) for i, m, j in zip(hard.items, hard.members, hard.labels, strict=True)]
    return Chunk(0, N_ITEMS, soft, hard), answers


def scores_of(seed=1):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(N_MEMBERS, N_CLASSES, N_CLASSES))
    return Scores(rng.normal(size=N_CLASSES), weights, rng.normal(size=(N_MEMBERS, N_CLASSES)))


def read(make=np.asarray, log_floor=None):
    chunk, answers = case(make)
    example = make(np.empty(0))
    features = read_features(chunk, N_CLASSES, np.array([3, 5]), example, log_floor=log_floor)
    if log_floor is not None:  # labels stay labels
        answers = [(m, i, row if m in {3, 5} else np.log(np.maximum(row, log_floor))) for m, i, row in answers]
    return features, answers, Layer(scores_of(), example, np.array([0, 1, 2]), np.array([3, 5]))


def responsibilities_of(n_items=N_ITEMS):
    return np.random.default_rng(2).dirichlet(np.ones(N_CLASSES), size=n_items)


@pytest.fixture(params=[None, FLOOR], ids=["probabilities", "logarithms"])
def log_floor(request):
    return request.param


def test_each_kind_of_member_has_its_features():
    features, _, _ = read()
    assert [type(part) for part in features] == [RowFeatures, RowFeatures, LabelFeatures]
    assert features[0].positions.tolist() == [0, 1, 2] and features[0].incidence is None
    assert features[1].positions.tolist() == [4] and features[1].incidence.shape == (N_ITEMS, 4)


@every_library
def test_scores_are_the_loops(make, log_floor):
    features, answers, layer = read(make, log_floor)
    expected = np.zeros((N_CLASSES, N_ITEMS))
    for m, i, x in answers:
        for k in range(N_CLASSES):
            expected[k, i] += layer.scores.bias[m, k]
            expected[k, i] += sum(layer.scores.weights[m, k, j] * x[j] for j in range(N_CLASSES))
    np.testing.assert_allclose(sum(to_numpy(part.score(layer)) for part in features), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "form"),
    [*((make, make) for make in LIBRARIES.values()), (np.asarray, sparse.csr_array)],
    ids=[*LIBRARIES, "sparse"],
)
def test_statistics_are_the_loops(make, form, log_floor):
    features, answers, _ = read(make, log_floor)
    rows = responsibilities_of()
    statistics = added_up([chunk_statistics(features, form(rows.T))], N_MEMBERS, N_CLASSES)
    counts = np.zeros((N_MEMBERS, N_CLASSES))
    for m, i, _ in answers:
        counts[m] += rows[i]
    assert statistics.n_items == N_ITEMS
    np.testing.assert_allclose(statistics.class_counts, rows.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(statistics.answer_counts, counts, rtol=1e-12)
    np.testing.assert_allclose(
        statistics.sums, reference.confusion_counts(answers, rows, N_MEMBERS), rtol=1e-12, atol=1e-14
    )


@every_library
def test_pools_are_the_loops(make):
    features, answers, _ = read(make)
    weights = np.array([0.5, 1.0, 2.0, 0.25, 3.0, 0.1])
    pools = [part.pool(weights) for part in features]
    total, behind = (sum(to_numpy(part) for part in parts) for parts in zip(*pools, strict=True))
    expected = reference.weighted_average(answers, weights, N_ITEMS, N_CLASSES)
    np.testing.assert_allclose(total / behind, expected, rtol=1e-12)


def test_shares_of_votes_are_the_pool_of_labels():
    labels = read()[0][2]
    weights = np.array([0, 0, 0, 0.25, 0, 0.5])
    votes, behind = labels.pool(weights)
    answered = behind[:, 0] > 0
    shares = labels.shares(weights).toarray().T
    np.testing.assert_allclose(shares[answered], votes[answered] / behind[answered])
    assert answered.tolist() == [i in {0, 1, 7} for i in range(N_ITEMS)] and not shares[~answered].any()


def test_a_vote_given_twice_is_one_entry():
    """Both halves of the sparse product that follows rely on it."""
    hard = HardAnswers(np.array([0, 0, 0]), np.array([0, 0, 0]), np.array([1, 1, 2]))
    (labels,) = read_features(Chunk(0, 1, (), hard), N_CLASSES, np.array([0]), np.empty(0), log_floor=None)
    shares = labels.shares(np.ones(1))
    assert shares.nnz == 2
    np.testing.assert_allclose(shares.toarray()[:, 0], [0, 2 / 3, 1 / 3])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_floor_holds_in_any_precision(dtype):
    """1e-10 is 0 in half precision, so it is applied in the working precision."""
    rows = np.array([[1.0, 0.0, 0.0], [0.5, 0.25, 0.25]], dtype=dtype)
    chunk = Chunk(0, 2, (complete(0, rows), complete(1, rows, np.array([0, 1]))), None)
    working = np.float64 if dtype == np.float64 else np.float32
    features = read_features(chunk, N_CLASSES, np.empty(0, np.intp), np.empty(0, working), log_floor=1e-10)
    expected = np.log(np.maximum(rows.astype(np.float64), 1e-10))
    for part in features:
        assert part.values.dtype == working
        np.testing.assert_allclose(part.values, expected, rtol=1e-6)


@pytest.mark.parametrize("make", [np.asarray, torch.asarray], ids=["numpy", "torch"])
def test_reading_leaves_the_rows_alone(make):
    chunk, _ = case(make)
    before = [to_numpy(member.rows).copy() for member in chunk.soft]
    read_features(chunk, N_CLASSES, np.array([3, 5]), make(np.empty(0)), log_floor=FLOOR)
    for member, rows in zip(chunk.soft, before, strict=True):
        np.testing.assert_array_equal(to_numpy(member.rows), rows)


def test_a_chunk_without_answers_has_empty_features():
    """Where nobody votes on any item of a chunk, its scores are those of no answer at all."""
    chunk, _ = case()
    nobody = Chunk(5, 7, tuple(m.between(5, 7) for m in chunk.soft[3:]), chunk.hard.between(5, 7))
    (features,) = read_features(nobody, N_CLASSES, np.array([3, 5]), np.empty(0), log_floor=None)
    pooled, behind = features.pool(np.ones(6))
    assert (to_numpy(pooled) == 0).all() and (to_numpy(behind) == 0).all()
    beside = Chunk(5, 7, tuple(m.between(5, 7) for m in chunk.soft), chunk.hard.between(5, 7))
    assert not any(
        isinstance(part, LabelFeatures)
        for part in read_features(beside, N_CLASSES, np.array([3, 5]), np.empty(0), log_floor=None)
    )


def test_chunks_add_up():
    chunk, _ = case()
    rows, hard_positions = responsibilities_of(), np.array([3, 5])

    def of(start, stop):
        soft = tuple(member.between(start, stop) for member in chunk.soft)
        piece = Chunk(start, stop, soft, chunk.hard.between(start, stop))
        features = read_features(piece, N_CLASSES, hard_positions, np.empty(0), log_floor=None)
        return chunk_statistics(features, rows[start:stop].T)._replace(log_evidence=float(stop - start))

    whole, parts = (
        added_up([of(*ends) for ends in pairwise(edges)], N_MEMBERS, N_CLASSES)
        for edges in ([0, N_ITEMS], [0, 1, 4, N_ITEMS])
    )
    assert whole.log_evidence == parts.log_evidence == N_ITEMS
    for name in ("n_items", "class_counts", "answer_counts", "sums"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-12)


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [3, 0, 4, 2, 1]])
def test_more_members_than_classes_are_added_at_once_with_the_same_result(order):
    rng = np.random.default_rng(0)
    rows = rng.dirichlet(np.ones(2), size=(5, 7))
    features = read_features(
        Chunk(0, 7, tuple(complete(member, rows[member]) for member in order), None),
        2,
        np.empty(0, np.intp),
        np.empty(0),
        log_floor=None,
    )
    posterior = rng.dirichlet(np.ones(2), size=7)
    total = added_up([chunk_statistics(features, posterior.T)], 5, 2)
    np.testing.assert_allclose(total.sums, reference.confusion_counts(reference.answers_of(rows), posterior, 5))


@pytest.mark.parametrize("n_items", [0, 1, ADDED_AT_ONCE, 2 * ADDED_AT_ONCE + 3])
def test_sums_over_items_in_any_layout(n_items):
    rows = responsibilities_of(n_items).astype(np.float32).reshape(n_items, N_CLASSES)
    expected = rows.astype(np.float64).sum(axis=0)
    for layout in (rows.T, np.ascontiguousarray(rows.T), torch.tensor(rows).T):
        found = _sums_over_items(layout)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_a_million_equal_numbers_do_not_drift():
    """Added one after the other in double precision, a tenth a million times is off by 1.3e-6."""
    tenths = np.full((10**6, 2), 0.1)
    assert abs(np.cumsum(tenths[:, 0])[-1] - 1e5) > 1e-6
    assert _sums_over_items(tenths.T) == pytest.approx([1e5, 1e5], abs=1e-7)


def test_the_evidence_follows_from_the_statistics():
    """Σ_i log Σ_k exp(score) of dense members, by loops."""
    rows = np.random.default_rng(0).dirichlet(np.ones(N_CLASSES), size=(3, N_ITEMS))
    chunk = Chunk(0, N_ITEMS, tuple(complete(m, r) for m, r in enumerate(rows)), None)
    features = read_features(chunk, N_CLASSES, np.empty(0, np.intp), np.empty(0), log_floor=None)
    layer = Layer(scores_of(), np.empty(0), np.array([0, 1, 2]), np.empty(0, np.intp))
    joint = features[0].score(layer) + layer.scores.log_prior[:, None]
    posterior = sparse.csr_array(np.exp(joint) / np.exp(joint).sum(axis=0))
    found = log_evidence(chunk_statistics(features, posterior), posterior, layer)
    assert found == pytest.approx(sum(np.log(sum(np.exp(joint[k, i]) for k in range(3))) for i in range(N_ITEMS)))


@every_library
def test_the_layer_has_the_precision_of_the_example(make):
    layer = Layer(scores_of(), make(np.empty(0, np.float32)), np.array([0, 2]), np.array([3]))
    assert layer.dense.weights.dtype == layer.log_prior.dtype == make(np.empty(0, np.float32)).dtype
    assert layer.dense.weights.shape == (N_CLASSES, 2 * N_CLASSES)
    expected = layer.scores.weights[3].T + layer.scores.bias[3]
    np.testing.assert_allclose(layer.hard_table, expected)  # in double precision: a row for each label


def test_few_labels_score_the_same_without_a_table_of_all():
    members, labels = np.array([0, 2, 0, 3, 3]), np.array([2, 0, 2, 1, 1])
    matrix = sparse.csr_array(
        (np.ones(5), [2, 3, 2, 7, 7], [0, 2, 2, 4, 5]), shape=(4, 9)
    )  # an item without an answer, one answered twice alike
    scores = scores_of()
    layers = [Layer(scores, np.empty(0), np.empty(0, np.intp), np.array([0, 2, 3]), few_labels=few) for few in (0, 1)]
    full, few = (layer.of_labels(matrix) for layer in layers)
    np.testing.assert_allclose(few, full, rtol=1e-15)
    added = [scores.weights[m, :, j] + scores.bias[m] for m, j in zip(members, labels, strict=True)]
    np.testing.assert_allclose(few[0], added[0] + added[1])
    np.testing.assert_array_equal(few[1], 0)


def test_items_without_answers_have_no_score():
    predictions = cs.Predictions.from_answers([0], [0], probabilities=[[0.5, 0.5]], items=["x", "y"], partial=True)
    (chunk,) = predictions.chunks()
    (part,) = read_features(chunk, 2, np.empty(0, np.intp), np.empty(0), log_floor=None)
    layer = Layer(
        Scores(np.zeros(2), np.ones((1, 2, 2)), np.ones((1, 2))), np.empty(0), np.empty(0, int), np.empty(0, int)
    )
    scores = part.score(layer)
    np.testing.assert_array_equal(scores, [[2, 0], [2, 0]])
