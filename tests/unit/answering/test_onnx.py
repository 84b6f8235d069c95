"""The ONNX file: what it says of itself, its size, and batches of any size."""

import json

import numpy as np
import pytest

import consilience as cs
from exports import N_CLASSES, SINGLE, awkward_items, exported, fitted, run_onnx

from simulate import softmax_members


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
