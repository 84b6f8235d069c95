import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import consilience as cs

ANSWERS = {
    "task": ["t2", "t2", "t1", "t1", "t1"],
    "worker": ["ann", "bob", "ann", "bob", "bob"],
    "label": ["dog", "cat", "dog", "dog", "cat"],
}
ROWS = {"item": [7, 7, 9], "model": ["a", "b", "a"], "no": [0.2, 0.3, 1.0], "yes": [0.8, 0.7, 0.0]}
LIBRARIES = [pd.DataFrame, pl.DataFrame, pa.table]


@pytest.mark.parametrize("library", LIBRARIES)
def test_labels_as_crowd_kit_has_them(library):
    p = cs.Predictions.from_frame(library(ANSWERS))
    assert (p.members, p.items, p.classes) == (["ann", "bob"], ["t2", "t1"], ["cat", "dog"])
    np.testing.assert_array_equal(p.to_array(), [[[0, 1], [0, 1]], [[1, 0], [0.5, 0.5]]])


def test_items_come_in_the_order_of_their_first_rows():
    """Which may be the order of time; only the numbers 0, 1, 2, … say their places themselves."""
    for given, expected in [
        (["q9", "q10", "q9", "a"], ["q9", "q10", "a"]),
        ([30, 10, 30, 20], [30, 10, 20]),
        ([2, 0, 2, 1], [0, 1, 2]),
    ]:
        frame = pd.DataFrame({"task": given, "worker": [1, 1, 2, 2], "label": ["x", "y", "y", "y"]})
        p = cs.Predictions.from_frame(frame)
        assert p.items == expected
        assert p.to_array()[0, p.items.index(given[1])].tolist() == [0, 1]


@pytest.mark.parametrize("library", LIBRARIES)
def test_one_probability_column_per_class(library):
    p = cs.Predictions.from_frame(library(ROWS), item="item", member="model")
    assert (p.members, p.items, p.classes) == (["a", "b"], [7, 9], ["no", "yes"])
    array = p.to_array()
    np.testing.assert_array_equal(array[0], [[0.2, 0.8], [1, 0]])
    assert np.isnan(array[1, 1]).all()


def test_classes_choose_and_order_columns_and_labels():
    p = cs.Predictions.from_frame(pd.DataFrame(ROWS), item="item", member="model", classes=["yes", "no"])
    assert p.to_array()[0, 0].tolist() == [0.8, 0.2]
    q = cs.Predictions.from_frame(pd.DataFrame(ANSWERS), classes=["dog", "bird", "cat"])
    assert q.to_array()[0, 0].tolist() == [1, 0, 0]


def test_truths_by_number_line_up_with_items_in_any_order():
    frame = pd.DataFrame({"task": [2, 0, 1], "worker": ["a"] * 3, "label": ["x", "y", "y"]})
    p = cs.Predictions.from_frame(frame)
    assert p.items == [0, 1, 2]
    assert cs.compare(p, ["y", "y", "x"])["accuracy"][0] == 1


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_a_missing_label_is_no_answer(missing):
    frame = pd.DataFrame({"task": [1, 1, 2], "worker": [1, 2, 1], "label": ["a", missing, "b"]})
    assert np.isnan(cs.Predictions.from_frame(frame).to_array()[1]).all()


def test_fit_on_a_frame_is_the_fit_on_its_array():
    rng = np.random.default_rng(0)
    array = rng.dirichlet(np.ones(3), size=(3, 20))
    columns = {f"c{k}": array[..., k].ravel() for k in range(3)}
    index = {"task": np.tile(np.arange(20), 3), "worker": np.repeat(["a", "b", "c"], 20)}
    soft = cs.Predictions.from_frame(pd.DataFrame(index | columns))
    hard = cs.Predictions.from_frame(pd.DataFrame(index | {"label": array.argmax(axis=2).ravel()}))
    for aggregator in (cs.SoftDawidSkene(), cs.DawidSkene(), cs.BayesianClassifierCombination()):
        np.testing.assert_array_equal(aggregator.fit_predict_proba(soft), aggregator.fit_predict_proba(array))
    ds = cs.DawidSkene()
    np.testing.assert_array_equal(ds.fit_predict_proba(hard), ds.fit_predict_proba(array))


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (pd.DataFrame(ANSWERS), {"item": "id"}, "expected the column 'id'; the table has"),
        (pd.DataFrame(ANSWERS), {"member": "who"}, "expected the column 'who'; the table has"),
        (pd.DataFrame(ANSWERS), {"classes": ["dog"]}, r"must hold the classes \['dog'\]; got 'cat'"),
        (
            pd.DataFrame(ROWS).replace(1.0, "all"),
            {"item": "item", "member": "model"},
            r"one of numbers for each class; it has \['item', 'model', 'no', 'yes'\]",
        ),
        (
            pd.DataFrame(ANSWERS),
            {"label": "answer"},
            "expected the column 'answer'",
        ),
        (pd.DataFrame(ANSWERS)[["task", "worker"]], {}, "needs a column of labels, or one of numbers for each class"),
        (pd.DataFrame(ROWS), {"item": "item", "member": "model", "classes": ["no", "maybe"]}, "'maybe' is missing"),
        (pd.DataFrame(ANSWERS | {"task": [None, *ANSWERS["task"][1:]]}), {}, "no missing values; row 0 is missing"),
        ([[1, 2]], {}, "frame must be a data frame .*; got list"),
    ],
)
def test_wrong_frames(frame, options, message):
    with pytest.raises(cs.InvalidPredictions, match=message):
        cs.Predictions.from_frame(frame, **options)


def test_a_frame_given_as_an_array_is_pointed_to_from_frame():
    with pytest.raises(cs.InvalidPredictions, match="a long one to from_frame"):
        cs.Predictions(pd.DataFrame(ANSWERS))


def test_probabilities_beside_labels_are_refused():
    """The labels may be the truth, and would be taken for the answers of all members."""
    frame = pd.DataFrame({"task": ["a", "a", "b"], "worker": ["x", "y", "x"], "cat": [0.9, 0.4, 0.2]})
    frame = frame.assign(dog=1 - frame["cat"])
    assert cs.Predictions.from_frame(frame).is_soft.all()
    with pytest.raises(cs.InvalidPredictions, match=r"the labels 'label' and probabilities in \['cat', 'dog'\]"):
        cs.Predictions.from_frame(frame.assign(label=["cat", "cat", "dog"]))
    extra = frame.assign(label=["cat", "cat", "dog"], dog=[3.0, 4.0, 5.0])  # seconds, say
    assert not cs.Predictions.from_frame(extra).is_soft.any()


def test_items_may_be_several_columns_joined():
    frame = pd.DataFrame(
        {
            "question": [1, 2] * 4,
            "model": ["a", "a", "b", "b"] * 2,
            "judge": ["x"] * 4 + ["y"] * 4,
            "vote": list("01010111"),
        }
    )
    p = cs.Predictions.from_frame(frame, item="question+model", member="judge", label="vote")
    assert (p.items, p.members) == (["1/a", "2/a", "1/b", "2/b"], ["x", "y"])
    with pytest.raises(cs.InvalidPredictions, match=r"expected the column 'question\+other'"):
        cs.Predictions.from_frame(frame, item="question+other")
