"""A frame for each member, and frames with a column of labels for each member."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import consilience as cs

ROWS = np.random.default_rng(0).dirichlet(np.ones(3), size=(2, 5))
ITEMS, CLASSES = list("vwxyz"), ["cat", "dog", "owl"]
FRAMES = [pd.DataFrame(rows, index=ITEMS, columns=CLASSES) for rows in ROWS]
VOTES = pd.DataFrame({"ann": [0, 1, 2, np.nan] * 5, "bob": [0, 1, np.nan, 2] * 5, "cid": [0, 2, 2, 2] * 5})


def test_frames_are_matched_by_index_and_columns():
    other = FRAMES[1].iloc[::-1][["owl", "cat", "dog"]]
    p = cs.Predictions({"vit": FRAMES[0], "swin": other})
    assert (p.members, p.items, p.classes) == (["vit", "swin"], ITEMS, CLASSES)
    np.testing.assert_array_equal(p.to_array(), ROWS)
    some = cs.Predictions({"vit": FRAMES[0], "swin": other.iloc[:2]})
    assert np.isnan(some.to_array()[1, :3]).all()


@pytest.mark.parametrize("make", [pl.DataFrame, lambda columns: pl.DataFrame(columns).lazy(), pd.DataFrame])
def test_items_may_be_a_column(make):
    frames = [make({"image_id": ITEMS} | dict(zip(CLASSES, rows.T, strict=True))) for rows in ROWS]
    p = cs.Predictions(frames)
    assert (p.items, p.classes) == (ITEMS, CLASSES) and not p.axes.members.is_named
    np.testing.assert_array_equal(p.to_array(), ROWS)


def test_an_item_called_0_is_no_probability():
    frame = pd.DataFrame({"id": range(5)} | dict(zip(CLASSES, ROWS[0].T, strict=True)))
    p = cs.Predictions({"vit": frame, "swin": frame.iloc[::-1]})
    assert (p.items, p.classes) == ([0, 1, 2, 3, 4], CLASSES)


def test_classes_pick_columns():
    frames = {f"m{m}": frame.assign(confidence=frame.max(axis=1), epoch=3) for m, frame in enumerate(FRAMES)}
    p = cs.Predictions(frames, classes=CLASSES[::-1])
    assert p.classes == CLASSES[::-1]
    np.testing.assert_array_equal(p.to_array()[:, :, ::-1], ROWS)
    with pytest.raises(cs.InvalidPredictions, match=r"has numbers in \['epoch'\]: name the classes with classes="):
        cs.Predictions(frames)


def test_frames_without_names_are_in_one_order():
    p = cs.Predictions({"a": pd.DataFrame(ROWS[0]), "b": ROWS[1]})
    np.testing.assert_array_equal(p.to_array(), ROWS)
    with pytest.raises(cs.InvalidPredictions, match="named in all parts"):
        cs.Predictions({"a": FRAMES[0], "b": ROWS[1]})
    with pytest.raises(cs.InvalidPredictions, match="a frame with a column of probabilities per class"):
        cs.Predictions({"a": pd.DataFrame({"x": ["text", "more"], "z": [1, 2]})})


def test_the_wide_frame_of_cleanlab():
    p = cs.Predictions.from_frame(VOTES)
    assert (p.members, p.n_items, p.classes) == (["ann", "bob", "cid"], 20, [0, 1, 2])
    expected = cs.Predictions.from_labels(VOTES.fillna(-1).to_numpy().astype(int).T)
    np.testing.assert_array_equal(p.to_array(), expected.to_array())
    np.testing.assert_array_equal(cs.Predictions.from_labels(VOTES.to_numpy().T).to_array(), expected.to_array())


def test_true_labels_are_no_member():
    frame = VOTES.assign(true_label=VOTES["cid"], id=[f"i{place}" for place in range(20)])
    p = cs.Predictions.from_frame(frame)
    assert p.members == ["ann", "bob", "cid"] and p.items == frame["id"].tolist()
    assert cs.Predictions.from_frame(frame, member="ann,bob", item="id").members == ["ann", "bob"]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (VOTES.assign(note=[f"n{place}" for place in range(20)]), "labels must be classes"),
        (VOTES.assign(country=["fr", "de"] * 10), "must have labels in common"),
        (pd.concat([VOTES] * 2, ignore_index=True).T, "40 members on 3 items|columns that sum to 1 are classes"),
    ],
)
def test_what_is_not_clear_is_refused(frame, message):
    with pytest.raises(cs.InvalidPredictions, match=message):
        cs.Predictions.from_frame(frame)


def test_judges_are_recognised():
    frame = pd.DataFrame(
        {
            "question_id": np.repeat(np.arange(10), 3),
            "judge_model": ["a", "b", "c"] * 10,
            "verdict": ["yes", "no"] * 15,
            "score": np.linspace(0, 10, 30),
            "rationale": [f"because {place}" for place in range(30)],
        }
    )
    p = cs.Predictions.from_frame(frame)
    assert (p.members, p.items, p.classes) == (["a", "b", "c"], list(range(10)), ["no", "yes"])


def test_a_data_set_of_hugging_face():
    datasets = pytest.importorskip("datasets")
    labels = datasets.ClassLabel(names=["neg", "pos"])
    features = datasets.Features({"id": datasets.Value("string"), "model": datasets.Value("string"), "label": labels})
    data = datasets.Dataset.from_dict(
        {"id": ["1", "1", "2", "2"], "model": list("abab"), "label": [0, 1, 1, 1]}, features
    )
    p = cs.Predictions.from_frame(data)
    assert (p.members, p.classes) == (["a", "b"], ["neg", "pos"])


def test_frames_of_members_may_be_partial():
    frame = pd.DataFrame({"x": [0.5, np.nan], "y": [0.5, np.nan]}, index=["a", "b"])
    assert cs.Predictions({"one": frame}, partial=True).n_items == 2
    with pytest.raises(cs.InvalidPredictions, match="item 'b' has none"):
        cs.Predictions({"one": frame})


def test_an_index_that_counts_in_another_way_names_the_items():
    """What is left of a frame that was sliced or turned round."""
    frame = pd.DataFrame(ROWS[0], columns=CLASSES)
    turned = cs.Predictions({"a": frame, "b": frame.iloc[::-1]})
    np.testing.assert_array_equal(turned.to_array()[1], ROWS[0])
    with pytest.raises(cs.InvalidPredictions, match=r"named in all parts.*\[3, 4, 5, 6, 7\] beside 5 without names"):
        cs.Predictions({"a": frame, "b": frame.set_index(pd.RangeIndex(3, 8))})
    rest = cs.Predictions.from_frame(VOTES.iloc[1:])
    assert rest.items == list(range(1, 20))
    assert cs.DawidSkene().fit(rest, pd.Series({1: 2})).posterior_[0].tolist() == [0, 0, 1]


def test_levels_of_an_index_are_columns():
    long = pd.DataFrame({"task": list("xxyy"), "worker": list("abab"), "label": list("nyyy")})
    p = cs.Predictions.from_frame(long.set_index(["task", "worker"]))
    np.testing.assert_array_equal(p.to_array(), cs.Predictions.from_frame(long).to_array())
    unnamed = long.set_index(["task", "worker"]).rename_axis([None, None])
    with pytest.raises(cs.InvalidPredictions, match=r"levels \[None, None\].*reset_index"):
        cs.Predictions.from_frame(unnamed)


def test_series_of_labels_have_one_index():
    first, second = pd.Series([0, 1], index=["x", "y"]), pd.Series([1, 0], index=["y", "x"])
    assert cs.Predictions.from_labels([first, first]).items == ["x", "y"]
    assert not cs.Predictions.from_labels([first.reset_index(drop=True), np.array([0, 1])]).axes.items.is_named
    for other, got in ((second, r"\['y', 'x'\]"), (np.array([0, 1]), "none")):
        with pytest.raises(cs.InvalidPredictions, match=rf"member 0 has \['x', 'y'\] and member 1 {got}: from_frame"):
            cs.Predictions.from_labels([first, other])


SKUS = pd.DataFrame({"sku": ["x", "y", "z"], "cat": [0.9, 0.2, 0.6], "dog": [0.1, 0.8, 0.4]})


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_the_only_column_of_names_beside_the_classes_names_the_items(make):
    extra = SKUS.assign(confidence=[0.9, 0.8, 0.6], pred=["cat", "dog", "owl"], label=["cat", "cat", "dog"])
    for frame in (SKUS, extra, extra.assign(**{"Unnamed: 0": [0, 1, 2]})):
        parts = {"a": make(frame.to_dict("list")), "b": make(SKUS.iloc[::-1].to_dict("list"))}
        p = cs.Predictions(parts, classes=["cat", "dog"])
        assert p.items == ["x", "y", "z"]
        np.testing.assert_array_equal(p.to_array(), [SKUS[["cat", "dog"]]] * 2)


def test_two_columns_of_names_beside_the_classes():
    frame = SKUS.assign(place=["Rome", "Lima", "Oslo"])
    with pytest.raises(cs.InvalidPredictions, match=r"member 'a' must name the items; \['sku', 'place'\] may: call it"):
        cs.Predictions({"a": frame}, classes=["cat", "dog"])
    assert cs.Predictions({"a": frame.set_index("sku")}, classes=["cat", "dog"]).items == ["x", "y", "z"]
    assert cs.Predictions({"a": frame.rename(columns={"sku": "id"})}, classes=["dog", "cat"]).items == ["x", "y", "z"]
