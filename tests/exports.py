"""Items that exported rules find hard, and fitted aggregators to export."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from simulate import softmax_members

SINGLE, DOUBLE = 1e-5, 1e-10
N_MEMBERS, N_CLASSES = 4, 5


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
