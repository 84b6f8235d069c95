"""What is given by name is used by name, also where names are numbers, and labels are never lost without a word."""

import numpy as np
import pandas as pd
import pytest

import consilience as cs

ARRAY = np.random.default_rng(0).dirichlet([1, 1], size=(2, 12))


def test_weights_of_members_that_are_called_by_numbers():
    weights = pd.Series({0: 0.9, 1: 0.1})
    with pytest.raises(cs.InvalidPredictions, match=r"in the order of the members \[1, 0\]; its index is \[0, 1\]"):
        cs.Average(weights=weights).fit(cs.Predictions(ARRAY, members=[1, 0]))
    for members in (None, [0, 1], ["a", "b"]):
        posterior = cs.Average(weights=weights).fit(cs.Predictions(ARRAY, members=members)).posterior_
        np.testing.assert_allclose(posterior, 0.9 * ARRAY[0] + 0.1 * ARRAY[1])


def test_weights_that_were_set_after_the_fit():
    panel = cs.Predictions(ARRAY, members=["x", "y"])
    model = cs.Average().fit(panel).set_params(weights=pd.Series([0.1, 0.9], index=["y", "x"]))
    with pytest.raises(cs.InvalidPredictions, match="weights must be in the order of the members"):
        model.predict_proba(panel)


def test_shares_of_classes_that_are_called_by_numbers():
    panel, shares = cs.Predictions(ARRAY, classes=[1, 0]), {0: 0.2, 1: 0.8}
    by_series, by_mapping = (
        cs.Consensus(class_shares=given).fit(panel).posterior_ for given in (pd.Series(shares), shares)
    )
    np.testing.assert_array_equal(by_series, by_mapping)


def test_masked_labels_of_an_ensemble_are_unknown():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    features, truth = rng.normal(size=(80, 3)), rng.integers(2, size=80)
    members = [(name, LogisticRegression(C=c).fit(features, truth)) for name, c in (("a", 1.0), ("b", 0.01))]
    known = np.ma.masked_array(truth, rng.random(80) < 0.5)
    fitted = cs.EnsembleClassifier(members, prefit=True).fit(features, known)
    again = cs.EnsembleClassifier(members, prefit=True).fit_aggregator(features, known)
    np.testing.assert_array_equal(fitted.aggregator_.posterior_, again.aggregator_.posterior_)


@pytest.mark.parametrize("learn", ["add_labels", "partial_fit"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_labels_of_items_that_look_alike_all_count(learn, dtype):
    """Three judges, each asked five times: two items often get the same probabilities."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=200)
    yes = rng.binomial(5, np.where(truth == 1, [[0.9], [0.85], [0.8]], [[0.5], [0.6], [0.45]])) / 5
    array = np.stack([1 - yes, yes], axis=2).astype(dtype)
    model = cs.Consensus().fit(array)
    for start in range(0, 200, 20):
        getattr(model, learn)(array[:, start : start + 20], truth[start : start + 20])
    assert len(model.labelled_.weights) == 200


def test_parts_are_a_list():
    with pytest.raises(cs.InvalidPredictions, match="parts must be a list of predictions; got dict"):
        cs.Predictions.concatenate({"x": ARRAY, "y": ARRAY})


def test_a_column_twice_is_called_by_its_name():
    import pyarrow as pa

    table = pa.Table.from_arrays([pa.array(["a"])] * 3, names=["task", "label", "label"])
    with pytest.raises(cs.InvalidPredictions, match="different names; got 'label' twice"):
        cs.Predictions.from_frame(table)


FRAME = pd.DataFrame({"cat": [0.9, 0.2, 0.6], "dog": [0.1, 0.8, 0.4]}, index=["x", "y", "z"])


def test_frames_come_in_the_order_of_the_items():
    panel = cs.Predictions({"a": FRAME, "b": FRAME.iloc[::-1]}, items=["z", "y", "x"])
    assert panel.items == ["z", "y", "x"]
    np.testing.assert_array_equal(panel.to_array(), [FRAME.iloc[::-1]] * 2)
    assert cs.MajorityVote().fit(panel, ["cat", "dog", "dog"]).posterior_[2].tolist() == [0, 1]
    counted = FRAME.reset_index(drop=True)
    np.testing.assert_array_equal(cs.Predictions([counted], items=["z", "y", "x"]).to_array(), [FRAME])


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (["x"], "items must name each of the 3 items; got 1 names"),
        (["x", "y", "q"], r"item must be one of \['x', 'y', 'q'\]; got 'z'"),
    ],
)
def test_items_that_the_frames_do_not_have(items, message):
    with pytest.raises(cs.InvalidPredictions, match=message):
        cs.Predictions({"a": FRAME, "b": FRAME}, items=items)


@pytest.mark.parametrize(
    "make",
    [
        cs.Predictions,
        lambda parts, **names: cs.Predictions({name: pd.DataFrame(rows) for name, rows in parts.items()}, **names),
        lambda parts, **names: cs.Predictions.from_logits(
            {name: np.log(part) for name, part in parts.items()}, **names
        ),
    ],
)
def test_names_that_contradict_those_of_a_mapping(make):
    parts = {"a": ARRAY[0], "b": ARRAY[1]}
    for members in (["b", "a"], ["b", "c"]):
        with pytest.raises(
            cs.InvalidPredictions, match=r"order of the mapping, \['a', 'b'\], or be left out; got \['b'"
        ):
            make(parts, members=members)
    assert make(parts, members=["x", "y"]).members == ["x", "y"]
