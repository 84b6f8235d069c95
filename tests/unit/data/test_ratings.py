"""Classes that are ratings: their order comes from numbers or from the user, and is kept."""

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.data.axes import Axis, look_like_ratings, ratings_of
from consilience.data.predictions import apart

FRAME = pd.DataFrame({"item": ["a", "a", "b", "b"], "member": ["x", "y"] * 2, "label": [10, 2, 9, 10]})
ROWS = np.array([[[0.2, 0.5, 0.3]], [[0.1, 0.1, 0.8]]])


def test_numbers_are_ordered_by_size_whatever_their_order_in_the_table():
    p = cs.Predictions.from_frame(FRAME.astype(str), ordered=True)
    assert p.ordered and p.classes == ["2", "9", "10"]
    assert p.to_array()[0, 0].tolist() == [0, 0, 1]


def test_words_need_an_order():
    words = FRAME.replace({"label": {2: "bad", 9: "fair", 10: "good"}})
    with pytest.raises(cs.InvalidPredictions, match="classes; got \\['bad', 'fair', 'good'\\]"):
        cs.Predictions.from_frame(words.replace("fair", "fair"), ordered=True)
    p = cs.Predictions.from_frame(words, classes=["bad", "fair", "good"], ordered=True)
    assert p.ordered and p.classes == ["bad", "fair", "good"] and p.to_array()[1, 0].tolist() == [1, 0, 0]


def test_arrays_are_in_the_order_of_their_classes():
    assert cs.Predictions(ROWS, ordered=True).ordered and not cs.Predictions(ROWS).ordered
    assert cs.Predictions(ROWS, classes=["bad", "fair", "good"], ordered=True).ordered
    assert cs.Predictions.from_logits(np.log(ROWS), ordered=True).ordered
    assert cs.Predictions.from_answers([0, 0], [0, 1], [0, 2], ordered=True).ordered
    with pytest.raises(cs.InvalidPredictions, match="rise from the first to the last; got \\[3, 1, 2\\]"):
        cs.Predictions(ROWS, classes=[3, 1, 2], ordered=True)


def test_member_frames_are_ordered_by_their_columns_numbers():
    frames = {name: pd.DataFrame(rows[:, ::-1], columns=["3", "2", "1"]) for name, rows in zip("xy", ROWS, strict=True)}
    p = cs.Predictions(frames, ordered=True)
    assert p.ordered and p.classes == ["1", "2", "3"]
    np.testing.assert_allclose(p.to_array(), ROWS)


def test_the_order_is_kept():
    p = cs.Predictions(ROWS, classes=[1, 2, 3], members=["x", "y"], ordered=True)
    kept = [p.take([0]), p.harden(), p.votes(), p.ballots(), p.aligned(["y", "x"], [1, 2, 3]), apart(p)]
    assert all(part.ordered for part in kept)


def test_a_fit_with_another_order_is_refused():
    model = cs.Average().fit(cs.Predictions(ROWS, classes=["bad", "good", "fair"]))
    with pytest.raises(cs.InvalidPredictions, match="order of those fitted"):
        model.predict_proba(cs.Predictions(ROWS, classes=["bad", "fair", "good"], ordered=True))
    unnamed = cs.Average().fit(cs.Predictions(ROWS))
    assert unnamed.predict_proba(cs.Predictions(ROWS, ordered=True)).shape == (1, 3)


def test_concatenated_ratings_are_in_order_although_a_part_lacks_some():
    first = cs.Predictions.from_frame(FRAME, ordered=True)  # 2, 9, 10
    second = cs.Predictions.from_frame(FRAME.replace({"label": {9: 3}, "member": {"x": "u", "y": "v"}}))
    both = cs.Predictions.concatenate([first, second])
    assert both.ordered and both.classes == [2, 3, 9, 10]
    words = cs.Predictions(ROWS, classes=["bad", "fair", "good"], ordered=True)
    some = cs.Predictions.from_labels([["good"]], classes=["good", "bad"])
    assert cs.Predictions.concatenate([some, words]).classes == ["bad", "fair", "good"]
    assert not cs.Predictions.concatenate([second]).ordered


def test_files_are_ordered(tmp_path):
    FRAME.to_csv(tmp_path / "votes.csv", index=False)
    p = cs.read_predictions(tmp_path / "votes.csv", ordered=True)
    assert p.ordered and p.classes == ["2", "9", "10"]
    assert not cs.read_predictions(tmp_path / "votes.csv").ordered


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["1", "2", "3", "4", "5"], True),
        ([0, 1, 2], True),
        ([3, 1, 2], True),  # in any order
        (["0", "1"], False),  # two have no order to speak of
        (["1", "2", "4"], False),
        (["a", "b", "c"], False),
        (list(range(12)), False),
        (None, False),  # an array without names is not asked about
    ],
)
def test_what_looks_like_ratings(names, expected):
    assert look_like_ratings(Axis("class", 3 if names is None else len(names), names)) is expected


def test_ratings_are_the_numbers_of_classes_or_their_places():
    assert ratings_of(["0", "2.5", "10"]).tolist() == [0, 2.5, 10]
    assert ratings_of(["1", "2", "not sure"]).tolist() == [0, 1, 2]
    assert ratings_of(["1", "inf"]).tolist() == [0, 1]
