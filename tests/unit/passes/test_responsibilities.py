"""The softmax and what is made of it, dense and sparse, in every library."""

import array_api_strict
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, special

import consilience as cs
from consilience.passes.reader import Reader
from consilience.passes.responsibilities import (
    SPARSE_FROM,
    as_rows,
    blended,
    clamp,
    dense,
    dense_softmax,
    expected_from,
    settled,
    sparse_softmax,
    sparse_where_it_pays,
)
from consilience.system.arrays import to_numpy

LIBRARIES = {"numpy": np.asarray, "torch": torch.asarray, "strict": array_api_strict.asarray}
every_library = pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
ROWS = np.array([[0.2, 0.8], [0.5, 0.5], [0.7, 0.3]])


# ---- softmax ----------------------------------------------------------------------------------------------


@every_library
def test_softmax_is_scipys(make):
    scores = np.random.default_rng(0).normal(scale=400, size=(5, 30))
    found = dense_softmax(make(scores.copy()))
    np.testing.assert_allclose(to_numpy(found.values), special.softmax(scores, axis=0), atol=1e-15)
    assert found.log_evidence == pytest.approx(special.logsumexp(scores, axis=0).sum(), rel=1e-13)


def test_a_class_that_is_ruled_out_has_no_responsibility():
    found = dense_softmax(np.array([[-np.inf, 0.0], [3.0, 0.0]]))
    assert found.values.tolist() == [[0, 0.5], [1, 0.5]]
    assert found.log_evidence == pytest.approx(3 + np.log(2))


@given(st.integers(0, 2**32 - 1), st.sampled_from([np.float64, np.float32]), st.booleans())
def test_what_is_left_out_is_below_rounding(seed, dtype, by_item):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(80, 12)).astype(dtype)
    scores[rng.integers(80, size=12), np.arange(12)] += rng.uniform(50, 300, size=12)
    given_ = np.asfortranarray(scores) if by_item else scores
    found, full = sparse_softmax(given_), dense_softmax(scores.copy())
    assert found.values.format == "csr" and found.values.dtype == dtype and found.values.nnz < 0.1 * scores.size
    np.testing.assert_allclose(found.values.toarray(), full.values, atol=np.finfo(dtype).eps)
    np.testing.assert_allclose(found.values.sum(axis=0), 1, rtol=4 * np.finfo(dtype).eps)
    assert found.log_evidence == pytest.approx(full.log_evidence, rel=4 * float(np.finfo(dtype).eps))


def test_two_classes_that_share_an_item_are_both_kept():
    scores = np.full((70, 3), -1000.0)
    scores[[4, 9], 1], scores[2, 0], scores[5, 2] = [1.0, 0.0], 7.0, -3.0
    found = sparse_softmax(scores).values.toarray()
    assert found[4, 1] == pytest.approx(1 / (1 + np.exp(-1))) and found[9, 1] == pytest.approx(1 / (1 + np.e))
    assert np.count_nonzero(found) == 4


def test_flat_scores_stay_dense():
    flat = np.zeros((SPARSE_FROM, 5))
    assert sparse_softmax(flat) is None
    np.testing.assert_allclose(expected_from(flat).values, 1 / SPARSE_FROM)


def test_few_classes_and_other_libraries_stay_dense():
    peaked = np.where(np.arange(SPARSE_FROM)[:, None] == 3, 900.0, 0.0) * np.ones((1, 2))
    assert sparse.issparse(expected_from(peaked).values)
    assert not sparse.issparse(expected_from(peaked[1:].copy()).values)
    assert isinstance(expected_from(torch.tensor(peaked)).values, torch.Tensor)


def test_shares_of_votes_are_sparse_where_that_pays():
    one_hot = np.eye(SPARSE_FROM)
    assert sparse.issparse(sparse_where_it_pays(one_hot))
    for kept in (one_hot[1:], one_hot + 0.01, torch.tensor(one_hot)):
        assert sparse_where_it_pays(kept) is kept
    np.testing.assert_array_equal(dense(sparse_where_it_pays(one_hot)), one_hot)


# ---- what is known ----------------------------------------------------------------------------------------


@every_library
def test_known_classes_are_one_hot(make):
    given_ = make(ROWS)
    found = clamp(given_, np.array([-1, 0, 1]))
    np.testing.assert_array_equal(to_numpy(found), [[0.2, 0.8], [1, 0], [0, 1]])
    np.testing.assert_array_equal(to_numpy(given_), ROWS)
    assert clamp(given_, None) is given_


@every_library
def test_labels_that_may_be_wrong_are_evidence(make):
    """Bayes by hand: a label that is wrong one time in ten makes 0.2 to 0.8 into 0.2 · 0.9 to 0.8 · 0.1."""
    found = to_numpy(settled(make(ROWS), np.array([0, -1, 1]), 0.1))
    np.testing.assert_allclose(found, [[0.18 / 0.26, 0.08 / 0.26], [0.5, 0.5], [0.07 / 0.34, 0.27 / 0.34]])
    exact = to_numpy(settled(make(ROWS), np.array([0, -1, 1]), 0.0))
    np.testing.assert_array_equal(exact, to_numpy(clamp(make(ROWS), np.array([0, -1, 1]))))


def test_noise_is_shared_by_the_other_classes():
    found = settled(np.full((1, 5), 0.2), np.array([3]), 0.4)
    np.testing.assert_allclose(found, [[0.1, 0.1, 0.1, 0.6, 0.1]])


@every_library
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_known_rows_are_the_answer(make, noise):
    known = np.array([[0.9, 0.1], [np.nan, np.nan], [0.0, 1.0]])
    found = to_numpy(settled(make(ROWS), known, noise))
    np.testing.assert_array_equal(found, [[0.9, 0.1], [0.5, 0.5], [0, 1]])


# ---- averaging --------------------------------------------------------------------------------------------

OLD, NEW = np.array([[0.5, 0.0], [0.5, 1.0]]), np.array([[1.0, 0.25], [0.0, 0.75]])


@pytest.mark.parametrize(
    ("rest", "new"),
    [
        (np.array, np.array),
        (np.array, sparse.csr_array),
        (sparse.csr_array, sparse.csr_array),
        (torch.tensor, torch.tensor),
    ],
    ids=["dense", "sparse into dense", "sparse", "torch"],
)
@pytest.mark.parametrize("averaging", [0.0, 0.3, 1.0])
def test_blends_are_weighted_sums(rest, new, averaging):
    found = dense(blended(rest(OLD), new(NEW), averaging))
    np.testing.assert_allclose(to_numpy(found), (1 - averaging) * OLD + averaging * NEW, rtol=1e-15)


def test_a_dense_rest_is_written_to_and_the_new_is_not():
    rest, new = OLD.copy(), NEW.copy()
    assert blended(rest, new, 0.5) is rest
    np.testing.assert_array_equal(new, NEW)
    np.testing.assert_array_equal(blended(None, new, 0.5), 0.5 * NEW)
    np.testing.assert_array_equal(new, NEW)


def test_responsibilities_become_rows_in_the_precision_of_the_example():
    example = np.empty(0, np.float32)
    found = as_rows(sparse.csr_array(NEW), example)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, NEW.T)
    np.testing.assert_array_equal(to_numpy(as_rows(array_api_strict.asarray(NEW), example)), NEW.T)


# ---- pools ------------------------------------------------------------------------------------------------


def votes(n_classes=SPARSE_FROM, known=None):
    labels = np.random.default_rng(0).integers(n_classes, size=(3, 20))
    predictions = cs.Predictions.from_labels(labels, n_classes)
    (chunk,) = Reader(predictions, known=known).chunks
    return chunk, predictions.to_array()


@pytest.mark.parametrize("known", [None, np.arange(20) % 3 - 1], ids=["unknown", "known"])
@pytest.mark.parametrize("n_classes", [4, SPARSE_FROM])
def test_pools_of_votes_are_weighted_means(known, n_classes):
    chunk, array = votes(n_classes, known)
    weights = np.array([1.0, 2.0, 0.5])
    expected = clamp(np.einsum("m,mij->ij", weights, array) / weights.sum(), known)
    np.testing.assert_allclose(chunk.pool(weights), expected, atol=1e-15)
    found = chunk.sparse_pool(weights)
    assert sparse.issparse(found) == (n_classes == SPARSE_FROM)
    np.testing.assert_allclose(dense(found).T, expected, atol=1e-15)


@pytest.mark.parametrize("weights", [np.ones(3), np.array([0.2, 0.5, 0.3])])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16])
def test_the_mean_of_complete_rows_is_that_of_their_features(weights, kind):
    rows = np.random.default_rng(0).dirichlet(np.ones(4), size=(3, 50)).astype(kind)
    known = np.where(np.arange(50) < 3, 1, -1)
    (straight,), (read,) = (Reader(cs.Predictions(rows), known=known).chunks for _ in range(2))
    read.features()
    assert read.kept_features and not straight.kept_features
    np.testing.assert_array_equal(straight.pool(weights), read.pool(weights))
