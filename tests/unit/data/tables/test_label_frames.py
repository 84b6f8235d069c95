"""Labels in frames of several libraries: certain ones in a column, soft ones in a column for each class."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import consilience as cs
from consilience.data.labels import known_labels, known_truths, read_label_frame
from consilience.data.tables.frames import is_frame

PREDICTIONS = cs.Predictions(
    np.random.default_rng(0).dirichlet(np.ones(3), size=(3, 4)), items=list("wxyz"), classes=["ant", "bee", "cat"]
)
AXES = PREDICTIONS.axes
SOFT = {"cat": [0.5, 0.0, np.nan], "ant": [0.5, 1.0, np.nan]}  # no column for bee, and the last row is unknown


def test_which_labels_are_frames():
    assert is_frame(pd.DataFrame({"label": [0]})) and is_frame(pl.DataFrame({"label": [0]}))
    assert not is_frame(pd.Series([0])) and not is_frame([0]) and not is_frame(np.zeros((2, 2)))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("item", ["item", "task"])
def test_labels_are_matched_by_the_column_of_items(make, item):
    frame = make({"note": ["a", "b"], item: ["z", "x"], "label": ["cat", "ant"]})
    assert known_labels(frame, AXES).tolist() == [-1, 0, -1, 2]
    assert known_truths(frame, AXES).tolist() == [-1, 0, -1, 2]


@pytest.mark.parametrize("label", ["label", "gold", "true_class"])
@pytest.mark.parametrize("item", ["id", "question_id", "Image"])
def test_columns_of_usual_names_come_before_the_index(item, label):
    frame = pd.DataFrame({"note": ["a", "b"], item: ["z", "x"], label: ["cat", "ant"]})
    assert known_labels(frame, AXES).tolist() == [-1, 0, -1, 2]
    counted = cs.Predictions(np.full((1, 4, 3), 1 / 3), classes=["ant", "bee", "cat"]).axes
    some = pd.DataFrame({item: [3, 1], label: ["cat", "ant"]}, index=[0, 2])
    assert known_labels(some, counted).tolist() == [-1, 0, -1, 2]


def test_an_index_of_names_comes_before_a_column_of_text():
    frame = pd.DataFrame({"text": ["a", "b"], "label": ["cat", "ant"]}, index=["z", "x"])
    assert known_labels(frame, AXES).tolist() == [-1, 0, -1, 2]


def test_classes_may_be_called_like_items_and_labels():
    axes = cs.Predictions(np.full((1, 2, 2), 0.5), classes=["image", "true"]).axes
    frame = pd.DataFrame({"image": [0.25, 1.0], "true": [0.75, 0.0]})
    np.testing.assert_array_equal(known_truths(frame, axes), frame.to_numpy())


def test_lazy_frames_do_not_warn(recwarn):
    lazy = pl.DataFrame({"item": ["z", "x"], "label": ["cat", "ant"]}).lazy()
    assert known_labels(lazy, AXES).tolist() == [-1, 0, -1, 2]
    assert not recwarn.list


def test_labels_are_matched_by_the_index_or_come_in_order():
    by_index = pd.DataFrame({"species": ["cat", "ant"]}, index=["z", "x"])
    assert known_labels(by_index, AXES).tolist() == [-1, 0, -1, 2]
    in_order = pl.DataFrame({"species": ["cat", None, "ant", "bee"]})
    assert known_labels(in_order, AXES).tolist() == [2, -1, 0, 1]
    with pytest.raises(cs.InvalidPredictions, match="one entry for each of the 4 items; got 2"):
        known_labels(pl.DataFrame({"species": ["cat", "ant"]}), AXES)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_soft_labels_are_matched_by_item_and_class(make):
    rows = known_truths(make({"item": ["z", "x", "y"], **SOFT}), AXES)
    np.testing.assert_array_equal(rows, [[np.nan] * 3, [1, 0, 0], [np.nan] * 3, [0.5, 0, 0.5]])
    np.testing.assert_array_equal(known_truths(pd.DataFrame(SOFT, index=["z", "x", "y"]), AXES), rows)


def test_soft_frames_teach_and_score_as_arrays_do():
    frame = pd.DataFrame({"item": ["z", "x", "y"], **SOFT})
    rows = known_truths(frame, AXES)
    one, other = (cs.Consensus().fit(PREDICTIONS, labels).posterior_ for labels in (frame, rows))
    np.testing.assert_array_equal(one, other)
    posterior = pd.DataFrame(cs.Average().fit(PREDICTIONS).posterior_, index=list("wxyz"), columns=AXES.classes.names)
    found = cs.evaluate(posterior, frame, n_bootstrap=0)
    chosen = posterior.to_numpy().argmax(axis=1)
    assert found.n_items == 2
    assert found["accuracy"].value == pytest.approx((rows[1, chosen[1]] + rows[3, chosen[3]]) / 2)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"item": ["z"]}), "must have a column 'label', or a column of probabilities .* it has"),
        (pl.DataFrame({"item": ["z", "z"], "ant": [0.5, 1], "bee": [0.5, 0]}), "one row; item 'z' has several"),
        (pl.DataFrame({"ant": [0.5], "bee": [0.5]}), "one row for each of the 4 items; got 1"),
        (pl.DataFrame({"item": ["z"], "ant": [0.5], "dog": [0.5]}), "must be one of the 3 classes .* got 'dog'"),
        (pl.DataFrame({"item": ["z"], "ant": [0.5], "bee": [0.1]}), "that sum to 1.* item 'z' has"),
        (pl.DataFrame({"item": ["z"], "ant": ["much"], "bee": [0.1]}), "'ant' must hold probabilities"),
    ],
)
def test_wrong_frames(frame, message):
    with pytest.raises(cs.InvalidPredictions, match=message):
        known_truths(frame, AXES)


def test_methods_that_need_certain_labels_say_so():
    with pytest.raises(
        cs.InvalidPredictions, match=r"labels must be certain here; got probabilities of \['cat', 'ant'\]"
    ):
        cs.DawidSkene().fit(PREDICTIONS, pd.DataFrame({"item": ["z", "x", "y"], **SOFT}))


def test_what_an_error_recommends_is_taken():
    crowd = cs.Predictions.from_frame(pd.DataFrame({"task": ["b", "a"], "worker": [1, 2], "label": ["x", "y"]}))
    with pytest.raises(cs.InvalidPredictions, match="a Series or a table with a column of items"):
        cs.DawidSkene().fit(crowd, ["x", "y"])
    fitted = cs.DawidSkene().fit(crowd, pd.DataFrame({"item": ["a", "b"], "label": ["y", "x"]}))
    assert crowd.items == ["b", "a"] and fitted.posterior_.argmax(axis=1).tolist() == [0, 1]


def test_reading():
    found = read_label_frame(pd.DataFrame({"a": [1.0], "b": [0.0]}, index=["x"]), AXES.items)
    assert found.items == ["x"] and found.labels.tolist() == [[1.0, 0.0]] and found.classes == ["a", "b"]


SHUFFLED = cs.Predictions.from_frame(
    pd.DataFrame({"question_id": [2, 0, 3, 1], "a": list("xyxy"), "b": list("xyxy"), "c": list("xyyy")})
)
"""Items with whole numbers for names, in another order than the rows of a frame."""


@pytest.mark.parametrize("column", ["question_id", "qid", "trace_id", "item"])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_the_column_of_items_goes_before_the_number_of_the_row(make, column):
    frame = make({column: [3, 2], "label": ["y", "x"], "note": ["a", "b"]})
    assert known_labels(frame, SHUFFLED.axes).tolist() == [0, -1, 1, -1]


def test_a_frame_without_a_column_of_items_is_refused_if_items_are_matched_by_name():
    frame = pd.DataFrame({"who": ["a", "a"], "label": ["y", "x"]})
    with pytest.raises(cs.InvalidPredictions, match=r"these items, \[2, 0, 3, 1\], are matched by name$"):
        known_labels(frame, SHUFFLED.axes)
    named = frame.set_index(pd.Index([0, 1], name="question_id"))  # somebody chose these numbers
    assert known_labels(named, SHUFFLED.axes).tolist() == [-1, 1, -1, 0]


def test_labels_in_a_column_with_another_usual_name():
    frame = pd.DataFrame({"question_id": [3, 2], "truth": ["y", "x"], "note": ["a", "b"]})
    assert known_truths(frame, SHUFFLED.axes).tolist() == [0, -1, 1, -1]


def test_classes_may_be_called_like_items():
    axes = cs.Predictions([[[0.5, 0.5], [0.1, 0.9]]], items=["u", "v"], classes=["image", "text"]).axes
    frame = pd.DataFrame({"image": [0.25, 1.0], "text": [0.75, 0.0]}, index=["v", "u"])
    assert known_truths(frame, axes).tolist() == [[1.0, 0.0], [0.25, 0.75]]


@pytest.mark.parametrize("label", ["label", "species"])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_the_column_with_the_names_of_items_may_be_called_otherwise(make, label):
    columns = {"note": ["a", "b", "a"], "product": ["z", "x", "x"], label: ["cat", "ant", "ant"]}
    if label == "species":
        del columns["note"]
    assert known_labels(make(columns), AXES).tolist() == [-1, 0, -1, 2]
    counted = make({"grade": [1, 1, 1], "product": [3, 1, 2], "label": ["y", "x", "y"]})
    assert known_labels(counted, SHUFFLED.axes).tolist() == [1, -1, 1, 0]
    with_count = make({"index": [0, 1, 2], "product": [3, 1, 2], "label": ["y", "x", "y"]})
    assert known_labels(with_count, SHUFFLED.axes).tolist() == [1, -1, 1, 0]


def test_soft_labels_beside_a_column_of_unusual_name():
    rows = known_truths(pl.DataFrame({"product": ["z", "x", "y"], **SOFT}), AXES)
    np.testing.assert_array_equal(rows, known_truths(pl.DataFrame({"item": ["z", "x", "y"], **SOFT}), AXES))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(
    ("columns", "meant"),
    [
        ({"product": list("abcd")}, r"\['product'\]"),
        ({"product": list("zyxw"), "next": list("yxwz")}, r"\['product', 'next'\]"),
    ],
)
def test_columns_that_may_name_the_items_are_not_ignored(make, columns, meant):
    with pytest.raises(cs.InvalidPredictions, match=rf"name their items, .*, in one column; {meant} may be meant"):
        known_labels(make({**columns, "label": ["cat"] * 4}), AXES)


def test_rows_that_were_kept_beside_a_column_of_items():
    """The index counts the rows of the frame that they were kept from."""
    kept = pd.DataFrame({"product": [3, 1, 0, 2], "label": list("xyxy")}).iloc[2:]
    with pytest.raises(cs.InvalidPredictions, match=r"once; the index, \[2, 3\], and the column 'product' do"):
        known_labels(kept, SHUFFLED.axes)
    assert known_labels(kept.rename(columns={"product": "item"}), SHUFFLED.axes).tolist() == [1, 0, -1, -1]
    assert known_labels(kept[["label"]], SHUFFLED.axes).tolist() == [0, -1, 1, -1]
