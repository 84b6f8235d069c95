"""`consilience export`: the graph answers as the model does."""

import numpy as np
import pytest

import consilience as cs


def test_export_writes_what_a_server_runs(run, arrays):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    run("aggregate", *arrays, "--save", "model.npz")
    code, out, _ = run("export", "model.npz", "-o", "model.onnx")
    assert code == 0 and "Wrote model.onnx" in out
    block = np.stack([np.load(name) for name in arrays]).astype(np.float32)
    (posterior,) = runtime.InferenceSession("model.onnx").run(["posterior"], {"predictions": block})
    np.testing.assert_allclose(posterior, cs.load("model.npz").predict_proba(block), atol=1e-5)
