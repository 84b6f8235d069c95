import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.data.labels import known_labels

AXES = cs.Predictions.from_labels([[0, 1, 1]], items=["x", "y", "z"], classes=["cat", "dog"]).axes
PLAIN = cs.Predictions.from_labels([[0, 1, 1]]).axes


@pytest.mark.parametrize(
    "labels",
    [
        ["dog", None, "cat"],
        ["dog", -1, "cat"],
        ["dog", float("nan"), "cat"],
        ["dog", pd.NA, "cat"],
        ["dog", "-1", "cat"],
        ["dog", "NA", "cat"],
        np.ma.array(["dog", "cat", "cat"], mask=[0, 1, 0]),
        {"x": "dog", "z": "cat"},
        pd.Series({"z": "cat", "x": "dog"}),
    ],
)
def test_names_in_any_form(labels):
    assert known_labels(labels, AXES).tolist() == [1, -1, 0]


def test_positions_where_classes_have_no_names():
    assert known_labels(np.array([1, -1, 0]), PLAIN).tolist() == [1, -1, 0]


def test_names_that_are_numbers_are_names():
    axes = cs.Predictions.from_labels([[3, 7, 7]], classes=[3, 7]).axes
    assert known_labels([7, 3, -1], axes).tolist() == [1, 0, -1]
    signs = cs.Predictions.from_labels([[-1, 1, 1]], classes=[-1, 1]).axes
    assert known_labels([-1, 1, None], signs).tolist() == [0, 1, -1]


def test_nothing_known():
    assert known_labels(None, AXES) is None
    assert known_labels([-1, -1, -1], AXES) is None


@pytest.mark.parametrize(
    ("labels", "axes", "message"),
    [
        (3, PLAIN, "one entry for each of the 3 items; got a int"),
        (pd.DataFrame(index=[0]), PLAIN, "a frame of labels must have a column 'label'"),
        ([0, 1], PLAIN, "one entry for each of the 3 items; got 2"),
        ([0, 1, 2], PLAIN, r"among the classes \[0, 1\], or -1 where unknown; item 2 has 2"),
        ([0.5, 1, 1], PLAIN, "item 0 has 0.5"),
        (np.array([1, -1, 0]), AXES, "item 'x' has 1: the classes have names, so give names instead of positions$"),
        ([[0], [1], [1]], PLAIN, r"item 0 has \[0\]"),
        ([0, 1, np.array([1])], PLAIN, r"item 2 has array\(\[1\]\)"),
        ([0, (1, [2]), 1], PLAIN, r"item 1 has \(1, \[2\]\)"),
        (
            np.zeros((3, 1), int),
            PLAIN,
            r"labels must be a flat list with one entry for each of the 3 items; got shape \(3, 1\)",
        ),
        (["cat", "bird", None], AXES, r"\['cat', 'dog'\].*; item 'y' has 'bird'"),
        ({"w": "cat"}, AXES, "item must be one of the 3 items .*; got 'w'"),
    ],
)
def test_wrong_labels(labels, axes, message):
    with pytest.raises(cs.InvalidPredictions, match=message):
        known_labels(labels, axes)
