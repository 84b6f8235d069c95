"""A fitted aggregator behind HTTP: its ONNX graph, ONNX Runtime and FastAPI. Serving does not need consilience.

    aggregator.to_onnx("model.onnx")                                      where it was fitted: consilience[onnx]
    MODEL=model.onnx uvicorn --app-dir examples service:app               where it answers: onnxruntime fastapi uvicorn

POST /predict takes `{"predictions": members × items × classes}`, null in the place of a missing row. Run as a script,
it fits a small aggregator and asks the service two questions, in this process.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import onnxruntime
from fastapi import FastAPI, HTTPException, Request
from pydantic import BaseModel


class Batch(BaseModel):
    """Rows of probabilities: members × items × classes."""

    predictions: list[list[list[float] | None]]


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[dict[str, Any]]:
    """The session and its names, loaded once."""
    session = onnxruntime.InferenceSession(os.environ["MODEL"])
    facts = session.get_modelmeta().custom_metadata_map
    yield {"session": session, "members": json.loads(facts["members"]), "classes": json.loads(facts["classes"])}


app = FastAPI(title="consilience", lifespan=lifespan)


@app.post("/predict")
def predict(batch: Batch, request: Request) -> dict[str, Any]:
    """The name of the most probable class of each item, and the probabilities of all classes."""
    state = request.state
    block = read(batch.predictions, len(state.members), len(state.classes))
    posterior, labels = state.session.run(["posterior", "label"], {"predictions": block})
    names = [state.classes[label] for label in labels]
    return {"classes": state.classes, "labels": names, "probabilities": posterior.tolist()}


def read(rows: list[list[list[float] | None]], n_members: int, n_classes: int) -> np.ndarray:
    """The rows as an array (members, items, classes), or a refusal that says why."""
    missing = [math.nan] * n_classes
    shape = {len(row) for member in rows for row in member if row is not None} | {n_classes}
    if len(rows) != n_members or len(shape) > 1 or len({len(member) for member in rows}) > 1:
        raise HTTPException(422, f"predictions must be {n_members} members × items × {n_classes} classes")
    block = np.array([[row or missing for row in member] for member in rows], dtype=np.float32)
    block = block.reshape(n_members, len(rows[0]), n_classes)  # a batch may be empty
    is_missing = np.isnan(block).all(axis=2)
    if not (is_missing | ((block >= 0).all(axis=2) & (abs(block.sum(axis=2) - 1) < 1e-3))).all():
        raise HTTPException(422, "each row must be probabilities that sum to 1, or null where it is missing")
    if is_missing.all(axis=0).any():
        raise HTTPException(422, f"item {is_missing.all(axis=0).argmax()} needs an answer of at least one member")
    return block


def main() -> None:
    """Fit, export, serve, ask."""
    from tempfile import TemporaryDirectory  # noqa: PLC0415 - only the demonstration needs these

    from fastapi.testclient import TestClient  # noqa: PLC0415

    import consilience as cs  # noqa: PLC0415

    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=500)
    logits = np.array([4, 2, 1])[:, None, None] * np.eye(3)[truth] + rng.normal(size=(3, 500, 3))
    names = {"members": ["vit", "cnn", "knn"], "classes": ["cat", "dog", "fox"]}
    aggregator = cs.SoftDawidSkene().fit(cs.Predictions.from_logits(logits, **names))
    with TemporaryDirectory() as folder:
        os.environ["MODEL"] = f"{folder}/model.onnx"
        aggregator.to_onnx(os.environ["MODEL"])
        with TestClient(app) as client:
            everyone = [[[0.7, 0.2, 0.1]], [[0.2, 0.7, 0.1]], [[0.3, 0.4, 0.3]]]
            print(client.post("/predict", json={"predictions": everyone}).json())
            print(client.post("/predict", json={"predictions": [[None], everyone[1], everyone[2]]}).json())


if __name__ == "__main__":
    main()
