"""What leaves the library answers as `predict_proba` does: the torch module, and the ONNX graph in ONNX Runtime."""

import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import consilience as cs
from exports import DOUBLE, N_CLASSES, SINGLE, awkward_items, exported, fitted, logits_of, run_onnx

from simulate import softmax_members

EXACT = {"solver": "exact", "averaging": {0: 0, 1: 1}, "max_iter": 2}
METHODS = [
    (cs.Average(), {}),
    (cs.Average(weights=[1, 2, 3, 4]), {}),
    (cs.Average(kind="geometric", weights=[1, 2, 3, 4]), {}),
    (cs.MajorityVote(), {}),
    (cs.DawidSkene(tol=None), {}),
    (cs.DawidSkene(smoothing=0, tol=None), {}),
    (cs.BayesianClassifierCombination(tol=None), {}),
    (cs.Consensus(), {}),
    (cs.SoftDawidSkene(), {}),
    (cs.SoftDawidSkene(averaging=0), {}),
    (cs.SoftDawidSkene(), {"pure": True}),
    (cs.SoftDawidSkene(**EXACT), {}),
]
every_method = pytest.mark.parametrize(("method", "options"), METHODS, ids=repr)


# ---- equality with predict_proba --------------------------------------------------------------------------


@every_method
def test_torch_module_answers_as_predict_proba(method, options, rng):
    torch = pytest.importorskip("torch")
    aggregator = fitted(method, rng, **options)
    for dtype, tolerance in ((np.float64, DOUBLE), (np.float32, SINGLE)):
        new = awkward_items(rng, dtype)
        expected = aggregator.predict_proba(new.astype(np.float64))
        precision = torch.float64 if dtype == np.float64 else None
        given = aggregator.to_torch(dtype=precision)(torch.tensor(new))
        assert given.dtype == torch.tensor(new).dtype
        np.testing.assert_allclose(given.numpy(), expected, atol=tolerance)


@every_method
def test_onnx_graph_answers_as_predict_proba(method, options, rng, tmp_path):
    aggregator = fitted(method, rng, **options)
    new = awkward_items(rng, np.float32)
    posterior, label = run_onnx(exported(aggregator, tmp_path / "model.onnx"), new)
    np.testing.assert_allclose(posterior, aggregator.predict_proba(new.astype(np.float64)), atol=SINGLE)
    np.testing.assert_array_equal(label, posterior.argmax(axis=1))


@every_method
def test_logits_answer_as_from_logits(method, options, rng, tmp_path):
    torch = pytest.importorskip("torch")
    aggregator = fitted(method, rng, **options)
    logits = logits_of(awkward_items(rng, np.float64))
    expected = aggregator.predict_proba(cs.Predictions.from_logits(logits))
    module = aggregator.to_torch(logits=True, dtype=torch.float64)
    np.testing.assert_allclose(module(torch.tensor(logits)).numpy(), expected, atol=DOUBLE)
    path = exported(aggregator, tmp_path / "model.onnx", logits=True)
    np.testing.assert_allclose(run_onnx(path, logits)[0], expected, atol=SINGLE)


def test_people_beside_networks(rng, tmp_path):
    torch = pytest.importorskip("torch")
    array, truth = softmax_members(rng, [3, 2], 100, N_CLASSES)
    people = rng.integers(N_CLASSES, size=(2, 100))
    people[0] = truth
    people[1, ::3] = -1
    mixed = cs.Predictions.concatenate([array, cs.Predictions.from_labels(people, N_CLASSES)])
    aggregator = cs.SoftDawidSkene(averaging=0.05, max_iter=20).fit(mixed)
    expected, block = aggregator.predict_proba(mixed), mixed.to_array()
    module = aggregator.to_torch(dtype=torch.float64)
    np.testing.assert_allclose(module(torch.tensor(block)).numpy(), expected, atol=DOUBLE)
    path = exported(aggregator, tmp_path / "model.onnx")
    np.testing.assert_allclose(run_onnx(path, block)[0], expected, atol=SINGLE)
    # Of a person only the most probable class counts, however it is written; of a network everything does.
    softer = block.copy()
    softer[2:] = 0.6 * softer[2:] + 0.4 / N_CLASSES
    np.testing.assert_allclose(module(torch.tensor(softer)).numpy(), expected, atol=DOUBLE)
    softer[0] = 0.6 * softer[0] + 0.4 / N_CLASSES
    assert abs(module(torch.tensor(softer)).numpy() - expected).max() > 0.01


def test_people_beside_networks_in_a_consensus(rng, tmp_path):
    """A label is a row that is sure, so that nothing need be known of who gave labels."""
    torch = pytest.importorskip("torch")
    array, truth = softmax_members(rng, [3, 2], 100, N_CLASSES, missing=0.2)
    people = np.where(rng.random((2, 100)) < 0.7, truth, 0)
    people[1, ::3] = -1
    mixed = cs.Predictions.concatenate([array, cs.Predictions.from_labels(people, N_CLASSES)])
    aggregator = cs.Consensus().fit(mixed)
    expected, block = aggregator.predict_proba(mixed), mixed.to_array()
    np.testing.assert_allclose(expected, aggregator.posterior_, atol=1e-12)
    module = aggregator.to_torch(dtype=torch.float64)
    np.testing.assert_allclose(module(torch.tensor(block)).numpy(), expected, atol=DOUBLE)
    np.testing.assert_allclose(run_onnx(exported(aggregator, tmp_path / "model.onnx"), block)[0], expected, atol=SINGLE)


def test_a_loaded_aggregator_leaves_as_the_fitted_one(rng, tmp_path):
    torch = pytest.importorskip("torch")
    new = torch.tensor(awkward_items(rng, np.float64))
    for method, options in METHODS:
        aggregator = fitted(method, rng, **options)
        aggregator.save(tmp_path / "saved", posterior=False)
        modules = [part.to_torch(dtype=torch.float64) for part in (aggregator, cs.load(tmp_path / "saved"))]
        torch.testing.assert_close(modules[1](new), modules[0](new), atol=0, rtol=0)


@pytest.mark.parametrize("method", [cs.DawidSkene(), cs.SoftDawidSkene(), cs.Average()], ids=repr)
def test_an_item_that_nobody_answers(method, rng, tmp_path):
    torch = pytest.importorskip("torch")
    aggregator = fitted(method, rng)
    new = awkward_items(rng, np.float32)
    new[:, 3] = np.nan
    new[2, 4] = [np.nan, 0.5, 0.5, 0, 0]  # predict_proba refuses this row; here it is missing
    posterior, label = run_onnx(exported(aggregator, tmp_path / "model.onnx"), new)
    for rows in (posterior, aggregator.to_torch()(torch.tensor(new)).numpy()):
        assert np.isnan(rows[3]).all()
        assert not np.isnan(np.delete(rows, 3, axis=0)).any()
    assert label[3] == -1 and (np.delete(label, 3) >= 0).all()


def test_single_precision_is_left_where_it_would_show(rng):
    torch = pytest.importorskip("torch")
    small, large = fitted(cs.DawidSkene(), rng), fitted(cs.DawidSkene(smoothing=0), rng)
    assert small.to_torch().table.dtype == torch.float32
    assert large.to_torch().table.dtype == torch.float64
    assert large.to_torch(dtype=torch.float32).table.dtype == torch.float32


# ---- the torch module -------------------------------------------------------------------------------------


def test_gradients_flow_to_logits(rng):
    torch = pytest.importorskip("torch")
    logits = torch.tensor(rng.normal(size=(4, 2, N_CLASSES)), requires_grad=True)
    for method, options in METHODS:
        module = fitted(method, rng, **options).to_torch(logits=True, dtype=torch.float64)
        is_smooth = not isinstance(method, cs.MajorityVote | cs.DawidSkene | cs.BayesianClassifierCombination)
        posterior = module(logits)
        assert posterior.requires_grad == is_smooth
        if is_smooth:
            assert torch.autograd.gradcheck(module, logits, fast_mode=True)
            (gradient,) = torch.autograd.grad(posterior[:, 0].sum(), logits)
            assert (gradient.abs().amax(dim=(1, 2)) > 0).all()


# ---- what the user is told --------------------------------------------------------------------------------


def test_not_fitted_and_unknown_options(rng, tmp_path):
    for export in (lambda m, **o: m.to_torch(**o), lambda m, **o: m.to_onnx(tmp_path / "x", **o)):
        for method in (cs.Average(), cs.DawidSkene()):
            with pytest.raises(NotFittedError, match="is not fitted yet; call fit first"):
                export(method)
            with pytest.raises(TypeError, match="pure"):
                export(fitted(method, rng), pure=True)


@pytest.mark.parametrize("library", ["torch", "onnx"])
def test_a_missing_library_is_named_with_its_extra(library, rng, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    aggregator = fitted(cs.Average(), rng)
    with pytest.raises(ImportError, match=rf'to_{library} needs {library}, .*: pip install "consilience\[{library}\]"'):
        aggregator.to_torch() if library == "torch" else aggregator.to_onnx(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []
