"""Data that is large, on disk, or has many classes goes other ways to the same result."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import consilience as cs

from simulate import softmax_members

METHODS = [
    cs.SoftDawidSkene(max_iter=5, averaging=0.1),
    cs.DawidSkene(),
    cs.BayesianClassifierCombination(),
    cs.Consensus(),
]


@pytest.fixture
def array(rng):
    return softmax_members(rng, [9, 8, 7], n_items=150, n_classes=90)[0]


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_vanishing_responsibilities_may_be_left_out(method, array, monkeypatch):
    sparse = clone(method).fit(array)
    for module in ("reader", "responsibilities"):
        monkeypatch.setattr(f"consilience.passes.{module}.SPARSE_FROM", 10**9)
    dense = clone(method).fit(array)
    np.testing.assert_allclose(sparse.posterior_, dense.posterior_, atol=1e-11)
    np.testing.assert_allclose(sparse.statistics_.sums, dense.statistics_.sums, atol=1e-8)


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("labels", [None, np.arange(150) % 4 - 1])
@pytest.mark.filterwarnings("ignore:.*labels contradict")
def test_a_large_posterior_is_computed_when_it_is_asked_for(method, labels, array, monkeypatch):
    expected = clone(method).fit(array, labels).posterior_
    monkeypatch.setattr("consilience.passes.reader.DENSE_NUMBERS", 0)
    fitted = clone(method).set_params(chunk_size=40).fit(array, labels)
    assert fitted._posterior._values is None
    pieces = list(fitted.posterior_chunks())
    assert [(start, stop) for start, stop, _ in pieces] == [(0, 40), (40, 80), (80, 120), (120, 150)]
    np.testing.assert_allclose(np.concatenate([rows for _, _, rows in pieces]), expected, atol=1e-11)
    np.testing.assert_allclose(fitted.posterior_, expected, atol=1e-11)
    assert [(start, stop) for start, stop, _ in fitted.posterior_chunks()] == [(0, 150)]


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_one_file_per_member_or_one_for_all(method, array, tmp_path):
    expected = clone(method).fit(array).posterior_
    paths = [tmp_path / f"{member}.npy" for member in range(3)]
    for path, rows in zip(paths, array, strict=True):
        np.save(path, rows)
    np.save(tmp_path / "all.npy", array)
    named = dict(zip(["a", "b", "c"], map(str, paths), strict=True))
    for source in (paths, tmp_path / "all.npy", cs.Predictions(named)):
        np.testing.assert_allclose(clone(method).fit(source).posterior_, expected, atol=1e-12)


def test_a_progress_bar_where_it_is_wanted(array, capsys):
    cs.DawidSkene(verbose=True).fit(array)
    printed = capsys.readouterr()
    assert "DawidSkene" in printed.err and printed.out == ""
    cs.DawidSkene().fit(array)
    assert capsys.readouterr().err == ""


def test_half_precision_on_disk_is_read_in_single(array, tmp_path):
    array = np.where(array < 0.05, 0, array)  # half precision has no number near the floor
    array /= array.sum(axis=-1, keepdims=True)
    np.save(tmp_path / "half.npy", array.astype(np.float16))
    half = cs.SoftDawidSkene(max_iter=3).fit(tmp_path / "half.npy")
    assert half.posterior_.dtype == np.float32
    exact = cs.SoftDawidSkene(max_iter=3).fit(array.astype(np.float16).astype(np.float64))
    np.testing.assert_allclose(half.posterior_, exact.posterior_, atol=1e-4)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_copies_and_pickles_of_a_large_fit(method, array, monkeypatch):
    expected = clone(method).fit(array).posterior_
    monkeypatch.setattr("consilience.passes.reader.DENSE_NUMBERS", 0)
    fitted = clone(method).fit(array)
    for twin in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):  # noqa: S301 - made a moment ago
        np.testing.assert_allclose(twin.posterior_, expected, atol=1e-11)
        np.testing.assert_array_equal(twin.predict_proba(array), fitted.predict_proba(array))


def test_a_copy_that_learns_on_leaves_the_original_alone(array):
    fitted = cs.SoftDawidSkene(max_iter=3).fit(array)
    before = fitted.predict_proba(array, pure=True)
    copy.copy(fitted).partial_fit(array)
    np.testing.assert_array_equal(fitted.predict_proba(array, pure=True), before)
