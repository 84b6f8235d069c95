"""What leaves the library answers as `predict_proba` does: the torch module, and the ONNX graph in ONNX Runtime."""

import copy
import json
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import consilience as cs
from consilience.answering.linear import LinearRule

from simulate import softmax_members

SINGLE, DOUBLE = 1e-5, 1e-10
N_MEMBERS, N_CLASSES = 4, 5
EXACT = {"solver": "exact", "averaging": {0: 0, 1: 1}, "max_iter": 2}
METHODS = [
    (cs.Average(), {}),
    (cs.Average(weights=[1, 2, 3, 4]), {}),
    (cs.Average(kind="geometric", weights=[1, 2, 3, 4]), {}),
    (cs.MajorityVote(), {}),
    (cs.DawidSkene(tol=None), {}),
    (cs.DawidSkene(smoothing=0, tol=None), {}),
    (cs.BayesianClassifierCombination(tol=None), {}),
    (cs.Consensus(tol=None), {}),
    (cs.SoftDawidSkene(), {}),
    (cs.SoftDawidSkene(averaging=0), {}),
    (cs.SoftDawidSkene(), {"pure": True}),
    (cs.SoftDawidSkene(**EXACT), {}),
]
every_method = pytest.mark.parametrize(("method", "options"), METHODS, ids=repr)


def awkward_items(rng, dtype):
    """New items: members missing, probabilities of 0 and 1, rows whose largest entries tie."""
    array, _ = softmax_members(rng, [4, 3, 2, 1], 60, N_CLASSES, missing=0.3)
    array[:2, :6] = np.eye(N_CLASSES)[[[0, 1, 2, 3, 4, 0], [0, 2, 2, 1, 4, 3]]]
    array[:, 6] = 1 / N_CLASSES
    array[2, 7] = [0, 0.5, 0, 0.5, 0]
    array[1:, 8] = np.nan
    array[0, 9:12] = np.nan
    array[3, 9:12] = [0.1, 0.2, 0.3, 0.4, 0]
    return array.astype(dtype)


def fitted(method, rng, *, pure=False):
    model = clone(method).fit(softmax_members(rng, [4, 3, 2, 1], 200, N_CLASSES)[0])
    return model.pure() if pure else model


def run_onnx(path, array):
    session = pytest.importorskip("onnxruntime").InferenceSession(path)
    return session.run(["posterior", "label"], {"predictions": np.asarray(array, dtype=np.float32)})


def exported(aggregator, path, **options):
    pytest.importorskip("onnx")
    aggregator.to_onnx(path, **options)
    return path


def logits_of(array):
    """Logits, shifted item by item, of these probabilities."""
    with np.errstate(divide="ignore"):
        return np.log(array) + np.arange(array.shape[1])[:, None]


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


def test_what_all_classes_share_is_left_out_of_the_scores_alone(rng):
    scores = fitted(cs.SoftDawidSkene(), rng).rule().scores
    layer = LinearRule(np.ones(N_MEMBERS), np.zeros(4, bool), 1.0, scores).layer()
    features = rng.normal(size=(N_MEMBERS, N_CLASSES))
    full = scores.log_prior + np.einsum("mkj,mj->k", scores.weights, features) + scores.bias.sum(axis=0)
    shifted = features.ravel() @ layer.table + layer.bias.sum(axis=0) + layer.log_prior
    np.testing.assert_allclose(np.diff(shifted), np.diff(full), atol=1e-10)
    # What is likely scores near zero: least weights of logarithms, which are negative, and largest of labels.
    np.testing.assert_allclose(layer.table.min(axis=1), 0, atol=1e-15)
    labels = fitted(cs.DawidSkene(), rng).rule().layer()
    np.testing.assert_allclose(labels.table.max(axis=1), 0, atol=1e-15)


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


def test_gradients_are_finite_at_the_edges(rng):
    torch = pytest.importorskip("torch")
    for method in (cs.SoftDawidSkene(), cs.Average(kind="geometric")):
        new = torch.tensor(awkward_items(rng, np.float32), requires_grad=True)
        fitted(method, rng).to_torch()(new).square().sum().backward()
        assert torch.isfinite(new.grad).all()
        assert (new.grad[new.isnan()] == 0).all()


def test_other_precisions(rng):
    torch = pytest.importorskip("torch")
    aggregator = fitted(cs.SoftDawidSkene(averaging=0.05), rng)
    new = torch.tensor(awkward_items(rng, np.float32))
    module = aggregator.to_torch()
    expected = module(new)
    for narrow in (torch.float16, torch.bfloat16):
        given = copy.deepcopy(module).to(narrow)(new.to(narrow))
        assert given.dtype == narrow
        torch.testing.assert_close(given.float(), expected, atol=0.02, rtol=0)
        with torch.autocast("cpu", dtype=narrow):
            torch.testing.assert_close(module(new), expected, atol=0, rtol=0)


def test_compiled_exported_and_saved(rng, tmp_path):
    torch = pytest.importorskip("torch")
    aggregator = fitted(cs.SoftDawidSkene(), rng)
    module = aggregator.to_torch()
    new = torch.tensor(awkward_items(rng, np.float32))
    expected = module(new)
    assert torch.equal(torch.compile(module, backend="eager", fullgraph=True)(new).nan_to_num(), expected.nan_to_num())
    batch = torch.export.Dim("batch")
    program = torch.export.export(module, (new[:, :7].contiguous(),), dynamic_shapes=({1: batch},))
    torch.testing.assert_close(program.module()(new), expected)
    torch.save(module, tmp_path / "module.pt")
    torch.testing.assert_close(torch.load(tmp_path / "module.pt", weights_only=False)(new), expected)
    other = fitted(cs.SoftDawidSkene(averaging=0.05), np.random.default_rng(1)).to_torch()
    assert not torch.allclose(other(new), expected)
    other.load_state_dict(module.state_dict())
    torch.testing.assert_close(other(new), expected)


def test_nothing_of_the_module_is_trained(rng):
    torch = pytest.importorskip("torch")
    module = fitted(cs.SoftDawidSkene(), rng).to_torch()
    assert list(module.parameters()) == []
    assert (module.members, module.classes) == ([0, 1, 2, 3], [0, 1, 2, 3, 4])
    assert repr(module) == "Fusion(SoftDawidSkene, 4 members × batch × 5 classes of probabilities)"
    assert module(torch.empty(4, 0, 5)).shape == (0, 5)
    with pytest.raises(ValueError, match=r"must be \(4 members, batch, 5 classes\); got \(3, 2, 5\)"):
        module(torch.rand(3, 2, 5))


# ---- the ONNX graph ---------------------------------------------------------------------------------------


def test_the_file_says_what_it_is(rng, tmp_path):
    onnx = pytest.importorskip("onnx")
    array, _ = softmax_members(rng, [3, 2], 50, 3)
    names = {"members": ["vit", 7], "classes": ["chat", "été", ("a", 1)]}
    aggregator = cs.DawidSkene().fit(cs.Predictions(array, **names))
    model = onnx.load(exported(aggregator, tmp_path / "model.onnx", logits=True))
    onnx.checker.check_model(model, full_check=True)
    facts = {entry.key: entry.value for entry in model.metadata_props}
    assert (facts["aggregator"], facts["consilience"], facts["input"]) == ("DawidSkene", cs.__version__, "logits")
    assert json.loads(facts["members"]) == ["vit", 7]
    assert json.loads(facts["classes"]) == ["chat", "été", ["a", 1]]
    assert model.opset_import[0].version >= 17
    (given,) = model.graph.input
    dimensions = [dimension.dim_param or dimension.dim_value for dimension in given.type.tensor_type.shape.dim]
    assert (given.name, dimensions) == ("predictions", [2, "batch", 3])
    assert [output.name for output in model.graph.output] == ["posterior", "label"]


def test_batches_of_any_size(rng, tmp_path):
    path = exported(fitted(cs.SoftDawidSkene(), rng), tmp_path / "model.onnx")
    new = awkward_items(rng, np.float32)
    whole, labels = run_onnx(path, new)
    np.testing.assert_allclose(run_onnx(path, new[:, 5:6])[0], whole[5:6], atol=1e-6)
    posterior, label = run_onnx(path, new[:, :0])
    assert posterior.shape == (0, N_CLASSES) and label.shape == (0,)


def test_a_thousand_classes(rng, tmp_path):
    array, _ = softmax_members(rng, [12, 10, 8], 300, 1000)
    array = array.astype(np.float32)
    aggregator = cs.SoftDawidSkene.paper("imagenet").set_params(max_iter=2).fit(array)
    path = exported(aggregator, tmp_path / "model.onnx")
    assert path.stat().st_size < 12.2e6  # 3 × 1000² numbers of single precision are 12 MB
    np.testing.assert_allclose(run_onnx(path, array)[0], aggregator.predict_proba(array.astype(float)), atol=SINGLE)


def test_a_file_that_would_be_too_large(rng, tmp_path, monkeypatch):
    pytest.importorskip("onnx")
    monkeypatch.setattr("consilience.answering.onnx.MOST_BYTES", 399)
    with pytest.raises(ValueError, match=r"must stay below 2 GiB; 4 members × 5² classes take 0.0 GiB"):
        fitted(cs.SoftDawidSkene(), rng).to_onnx(tmp_path / "model.onnx")


def test_a_failed_export_leaves_the_old_file(rng, tmp_path, monkeypatch):
    onnx = pytest.importorskip("onnx")
    aggregator = fitted(cs.SoftDawidSkene(), rng)
    path = exported(aggregator, tmp_path / "model.onnx")
    before = path.read_bytes()

    def fail(_):
        raise OSError("the disk is full")

    monkeypatch.setattr(onnx.ModelProto, "SerializeToString", fail, raising=False)
    with pytest.raises(OSError, match="the disk is full"):
        aggregator.pure().to_onnx(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.onnx"]


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
