"""Lists of numbers and scores by class become rows; what lacks a class is refused."""

import numpy as np
import pytest

import consilience as cs
from consilience.data.tables.columns import Rows, are_scored, is_row, read_rows

SCORES = [
    [{"label": "pos", "score": 0.75}, {"label": "neg", "score": 0.25}],
    [{"label": "neg", "score": 0.9}, {"label": "pos", "score": 0.1}],
]


def test_scores_are_matched_by_class():
    rows = read_rows(SCORES, "bert")
    assert rows.classes == ["neg", "pos"] and rows.values.tolist() == [[0.25, 0.75], [0.9, 0.1]]
    assert read_rows([{"b": 1.0, "a": 0.0}, None], "p").classes == ["a", "b"]


def test_lists_of_numbers_have_no_names():
    rows = read_rows([[0.5, 0.5], None, (0.25, 0.75)], "p")
    assert isinstance(rows, Rows) and rows.classes is None
    np.testing.assert_array_equal(rows.values, [[0.5, 0.5], [np.nan, np.nan], [0.25, 0.75]])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1.0], [0.5, 0.5]], "lists of one length"),
        ([[], [0.5, 0.5]], r"lists of one length; got \[0, 2\]"),
        ([SCORES[0], SCORES[0][:1]], "top_k=None"),
        ([[SCORES[0][0], SCORES[0][0]]], "score each class once"),
        ([[0.25, 0.75], {"a": 0.25, "b": 0.75}], "some of each"),
        ([SCORES[0], [0.25, 0.75]], "some of each"),
    ],
)
def test_ragged_rows_are_refused(values, message):
    with pytest.raises(cs.InvalidPredictions, match=message):
        read_rows(values, "p")


def test_what_is_a_row():
    assert (
        is_row([1, 2.5])
        and is_row([None, 0.5])
        and is_row(SCORES[0])
        and is_row({"a": 1, "b": 2})
        and is_row(np.ones(2))
    )
    assert not any(map(is_row, ([], "text", [True], ["a"], {"a": "b", "c": 1}, {"a": 1}, 3)))
    assert are_scored(SCORES) and are_scored([SCORES[0][0]])
    assert not any(map(are_scored, ([], [[]], [{"label": "x"}], [[1, 2]], "text", np.ones((2, 2)))))


def test_pipelines_are_members():
    p = cs.Predictions({"bert": SCORES, "gpt": np.array([[0.5, 0.5], [0.2, 0.8]])}, classes=["neg", "pos"])
    assert p.members == ["bert", "gpt"] and p.classes == ["neg", "pos"]
    assert p.to_array()[:, 0].tolist() == [[0.25, 0.75], [0.5, 0.5]]
    best = [row[0] for row in SCORES]
    with pytest.raises(cs.InvalidPredictions, match="run the pipeline with top_k=None"):
        cs.Predictions({"bert": best})
