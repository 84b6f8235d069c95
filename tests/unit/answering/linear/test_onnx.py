"""A linear rule as an ONNX graph answers as the rule itself, half by half."""

import numpy as np
import pytest

from consilience.answering.linear import LinearRule
from consilience.answering.onnx import write_onnx
from consilience.answering.rule import Names
from consilience.data.predictions import Predictions
from consilience.maths.em import Scores
from exports import N_CLASSES, N_MEMBERS, SINGLE, awkward_items, run_onnx

SOFT = np.zeros(N_MEMBERS, dtype=bool)
NAMES = Names("Own", list(range(N_MEMBERS)), list(range(N_CLASSES)))
HALVES = {
    "average": {},
    "geometric mean": {"log_floor": 1e-6, "averages_logs": True},
    "scores": {"weight": 1.0, "log_floor": 1e-6},
    "scores of probabilities": {"weight": 1.0},
    "mixture": {"weight": 0.3, "log_floor": 1e-6},
}


def operators(path):
    onnx = pytest.importorskip("onnx")
    return [node.op_type for node in onnx.load(path).graph.node]


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("half", HALVES)
def test_answers_as_the_rule(rng, tmp_path, half, has_bias):
    pytest.importorskip("onnx")
    options = HALVES[half]
    bias = rng.normal(size=(N_MEMBERS, N_CLASSES)) * has_bias
    scores = Scores(rng.normal(size=N_CLASSES), rng.normal(size=(N_MEMBERS, N_CLASSES, N_CLASSES)), bias)
    rule = LinearRule(
        rng.uniform(0.5, 2, size=N_MEMBERS), SOFT, **options, scores=scores if options.get("weight") else None
    )
    write_onnx(rule, NAMES, tmp_path / "f.onnx", logits=False)
    new = awkward_items(rng, np.float32)
    found = run_onnx(tmp_path / "f.onnx", new)[0]
    np.testing.assert_allclose(found, rule.posterior(Predictions(new.astype(float))), atol=SINGLE)
    assert ("MatMul" in operators(tmp_path / "f.onnx")) == (rule.scores is not None)
    assert operators(tmp_path / "f.onnx").count("Div") == (
        rule.weight < 1
    )  # an average that weighs nothing is left out
