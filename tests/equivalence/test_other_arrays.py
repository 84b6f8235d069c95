"""Arrays of JAX and zarr, where these are installed: the same answers as NumPy's."""

import numpy as np
import pytest
from sklearn.base import clone

import consilience as cs

from simulate import softmax_members

METHODS = [
    cs.Average(),
    cs.Average(kind="geometric"),
    cs.MajorityVote(),
    cs.DawidSkene(),
    cs.BayesianClassifierCombination(),
    cs.SoftDawidSkene(max_iter=5),
    cs.Consensus(),
]


@pytest.fixture(scope="module")
def array():
    rows = softmax_members(np.random.default_rng(0), [3, 2, 1, 1], n_items=120, n_classes=4)[0].astype(np.float32)
    rows[1, ::3] = np.nan
    return rows


@pytest.fixture(params=[False, True], ids=["single", "double"])
def jnp(request):
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", request.param)  # without, JAX warns of every float64
    yield pytest.importorskip("jax.numpy")
    jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_jax(method, array, jnp):
    fitted, theirs = clone(method).fit(array), clone(method).fit(jnp.asarray(array))
    assert isinstance(theirs.posterior_, jnp.ndarray) and theirs.posterior_.dtype == np.float32
    np.testing.assert_allclose(theirs.posterior_, fitted.posterior_, atol=2e-6)
    new = array[:, :9]
    np.testing.assert_allclose(theirs.predict_proba(jnp.asarray(new)), fitted.predict_proba(new), atol=2e-6)


@pytest.mark.parametrize("method", [cs.Average(), cs.SoftDawidSkene(max_iter=5), cs.Consensus()], ids=repr)
def test_bfloat16_is_computed_with_in_single_precision(method, array, jnp):
    narrow = method.fit(jnp.asarray(array, dtype=jnp.bfloat16)).posterior_
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, method.fit(array).posterior_, atol=0.02)


def test_bfloat16_of_numpy(array):
    narrow = array.astype(pytest.importorskip("ml_dtypes").bfloat16)
    found = cs.Average().fit(cs.Predictions(narrow, normalize=True)).posterior_
    np.testing.assert_allclose(found, cs.Average().fit(array).posterior_, atol=0.01)


def test_rows_that_bfloat16_has_rounded_are_divided_by_their_sum():
    rows = np.random.default_rng(0).dirichlet(np.full(5, 0.3), size=(4, 400))
    narrow = rows.astype(pytest.importorskip("ml_dtypes").bfloat16)
    assert abs(narrow.astype(float).sum(axis=2) - 1).max() > 2e-3
    fitted = cs.Average().fit(narrow)
    np.testing.assert_allclose(fitted.posterior_, rows.mean(axis=0), atol=5e-3)
    np.testing.assert_allclose(fitted.posterior_.sum(axis=1), 1, atol=1e-6)
    with pytest.raises(cs.InvalidPredictions, match="sums to"):
        cs.Average().fit(narrow * narrow.dtype.type(1.1))


@pytest.mark.parametrize("shards", [None, (2, 100, 4)])
def test_zarr_is_unpacked_chunk_by_chunk(array, tmp_path, shards):
    zarr = pytest.importorskip("zarr")
    packed = zarr.create_array(
        tmp_path / "x.zarr", shape=array.shape, chunks=(1, 50, 4), shards=shards, dtype="float32"
    )
    packed[:] = array
    members = [packed, *(zarr.array(rows, chunks=(50, 4)) for rows in array)]
    for given in (packed, members[1:]):
        predictions = cs.Predictions(given)
        assert all(isinstance(member.rows, np.memmap) for member in predictions.soft)
        np.testing.assert_array_equal(cs.Consensus().fit(predictions).posterior_, cs.Consensus().fit(array).posterior_)
