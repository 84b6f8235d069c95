"""The examples run, and say what they should."""

import importlib.util
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import consilience as cs

from simulate import softmax_members

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(name, *arguments, code=0):
    command = [sys.executable, "-W", "error", EXAMPLES / f"{name}.py", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


# ---- the service ------------------------------------------------------------------------------------------


@pytest.fixture
def service(tmp_path, monkeypatch):
    """The aggregator and a client of the service that answers for it."""
    for library in ("onnx", "onnxruntime", "fastapi"):
        pytest.importorskip(library)
    from fastapi.testclient import TestClient

    array, _ = softmax_members(np.random.default_rng(0), [3, 2, 1], 100, 3)
    names = {"members": ["vit", "cnn", "knn"], "classes": ["cat", "dog", "fox"]}
    aggregator = cs.SoftDawidSkene(averaging=0.05).fit(cs.Predictions(array, **names))
    aggregator.to_onnx(tmp_path / "model.onnx")
    monkeypatch.setenv("MODEL", str(tmp_path / "model.onnx"))
    with TestClient(load("service").app) as client:
        yield aggregator, client


def test_the_service_answers_as_predict_proba(service):
    aggregator, client = service
    array, _ = softmax_members(np.random.default_rng(1), [3, 2, 1], 20, 3, missing=0.4)
    rows = [[None if math.isnan(row[0]) else row for row in member] for member in array.tolist()]
    answer = client.post("/predict", json={"predictions": rows}).json()
    np.testing.assert_allclose(answer["probabilities"], aggregator.predict_proba(array), atol=1e-5)
    assert answer["labels"] == aggregator.predict(array).tolist()
    assert answer["classes"] == ["cat", "dog", "fox"]
    assert client.post("/predict", json={"predictions": [[], [], []]}).json()["labels"] == []


ROW = [0.5, 0.3, 0.2]


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        ([[ROW], [ROW]], "predictions must be 3 members × items × 3 classes"),
        ([[ROW], [ROW], [ROW, ROW]], "predictions must be 3 members × items × 3 classes"),
        ([[ROW], [ROW], [[0.5, 0.5]]], "predictions must be 3 members × items × 3 classes"),
        ([[ROW], [ROW], [[]]], "predictions must be 3 members × items × 3 classes"),
        ([[ROW], [ROW], [[0.5, 0.3, 0.3]]], "each row must be probabilities that sum to 1"),
        ([[ROW], [ROW], [[1.5, -0.3, -0.2]]], "each row must be probabilities that sum to 1"),
        ([[ROW, None], [ROW, None], [None, None]], "item 1 needs an answer of at least one member"),
        ([], "predictions must be 3 members"),
        ([[ROW], [ROW], [["cat", 0, 0]]], "valid number"),
    ],
)
def test_the_service_says_what_is_wrong(service, predictions, message):
    answer = service[1].post("/predict", json={"predictions": predictions})
    assert answer.status_code == 422
    assert message in str(answer.json()["detail"])


def test_the_service_runs_as_a_script():
    pytest.importorskip("onnxruntime")
    pytest.importorskip("fastapi")
    first, second = run("service").splitlines()
    assert "'labels'" in first and "'labels'" in second and first != second


# ---- the jury ---------------------------------------------------------------------------------------------


def response(*tokens):
    top = [{"token": token, "logprob": math.log(probability)} for token, probability in tokens]
    return {"choices": [{"message": {}, "logprobs": {"content": [{**top[0], "top_logprobs": top}]}}]}


def test_spellings_are_summed_and_missing_tokens_bounded():
    read = load("llm_jury").read_answer
    row = read(response(("A", 0.5), (" a", 0.2), ("(B)", 0.2), ("I", 0.04)), ["A", "B", "C"])
    # C is not listed: at most the .04 of the last token, and at most the .06 that the list leaves over.
    np.testing.assert_allclose(row, np.array([0.7, 0.2, 0.04]) / 0.94)
    row = read(response(("Yes", 0.9), ("yes.", 0.09)), ["yes", "no"])
    np.testing.assert_allclose(row, [0.99, 0.01])  # here the .01 left over is the smaller bound
    assert read(response(("Yes", 1.0)), ["yes", "no"]) == [1, 0]


def test_a_judge_who_says_something_else_has_not_answered():
    read = load("llm_jury").read_answer
    assert read(response(("Sorry", 0.8), ("A", 0.1), ("B", 0.1)), ["A", "B"]) is None
    assert read({"choices": [{"message": {"content": "A"}, "logprobs": None}]}, ["A", "B"]) is None


def test_judges_and_items_are_matched_by_name():
    jury = load("llm_jury").read_jury
    yes, no, refusal = response(("yes", 0.9), ("no", 0.1)), response(("No", 0.8), ("yes", 0.2)), response(("I", 1.0))
    answers = [("q1", "x", yes), ("q2", "y", no), ("q1", "y", no), ("q3", "x", refusal)]
    records = [{"item": item, "judge": judge, "response": said} for item, judge, said in answers]
    predictions = jury(records, ["yes", "no"])
    assert (predictions.members, predictions.items) == (["x", "y"], ["q1", "q2"])
    expected = [[[0.9, 0.1], [np.nan, np.nan]], [[0.2, 0.8], [0.2, 0.8]]]
    np.testing.assert_allclose(predictions.to_array(), expected)
    with pytest.raises(ValueError, match="choices must differ in more than case and punctuation"):
        jury(records, ["yes", "Yes."])


def test_the_jury_runs_on_made_up_records_and_says_so():
    text = run("llm_jury")
    assert text.startswith("The records are made up: no language model was asked.")
    for part in ("SoftDawidSkene", "small, likes A", "answers missing", "Why Soft Dawid-Skene says"):
        assert part in text


def test_the_jury_reads_a_file(tmp_path):
    records, _ = load("llm_jury").made_up_records(["yes", "no"], n_items=40)
    path = tmp_path / "answers.jsonl"
    path.write_text("\n\n".join(map(json.dumps, records)))
    text = run("llm_jury", path, "--choices", "yes", "no")
    assert "5 members × 40 items × 2 classes" in text and "accuracy  nll" not in text
    path.write_text(json.dumps({"item": 1, "judge": "x"}))
    assert "a record must have item, judge and response; line 1 has not" in run("llm_jury", path, code=1)


# ---- the labelling loop -----------------------------------------------------------------------------------


def test_the_loop_learns_from_what_it_asks():
    loop = load("label_loop")
    loop.BATCH, loop.N_ROUNDS = 40, 2
    for choose in (loop.suggested, loop.at_random):
        before, _, after = loop.learning_curve(choose, seed=0)
        assert before < 0.9 and after > before + 0.01


def test_the_loop_runs_as_a_script():
    lines = run("label_loop").splitlines()
    assert lines[0].startswith("The members are made up.")
    assert [line.split()[0] for line in lines[-6:]] == ["labels", "0", "25", "50", "75", "100"]
