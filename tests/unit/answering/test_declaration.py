"""Nothing gets into an aggregator that it does not declare, in the shape that it declares."""

import numpy as np
import pytest

from consilience.answering.declaration import STATISTICS, Number, Record, Shape, nested, reason_to_refuse
from consilience.maths.em import Moments, Statistics

N_MEMBERS, N_CLASSES, N_ITEMS = 3, 2, 4
DECLARED = {
    "confusion_": Shape("mkk", sums_to_one=1e-6),
    "weights_": Shape("m", is_positive=True, most=1),
    "scores_": Shape("k", is_signed=True),
    "said_": Shape("lk", sums_to_one=0.01, may_miss=True),
    "targets_": "l",
    "counts_": Shape("k", least=1e-12),
    "groups_": "gk",
    "is_soft_": Shape("m", dtypes=("bool",)),
    "share_": Number(most=1),
    "statistics_": STATISTICS,
    "moments_": Record(Moments, {"first": Shape("mkk", is_signed=True), "second": "mkk", "n_steps": Number()}, True),
}


@pytest.fixture
def learned():
    """What a file of such an aggregator holds, under dotted names."""
    return {
        "history_": [-3.5, -3.25],
        "n_iter_": 2,
        "converged_": True,
        "members_": ["a", 2, 1.5],
        "classes_": ["x", None],
        "items_": [0, 1, 2, 3],
        "posterior_": np.full((N_ITEMS, N_CLASSES), 0.5),
        "confusion_": np.full((N_MEMBERS, N_CLASSES, N_CLASSES), 0.5),
        "weights_": np.full(N_MEMBERS, 0.5),
        "scores_": np.array([-1.0, 1.0]),
        "said_": np.array([[0.5, 0.5], [np.nan, np.nan]]),
        "targets_": np.ones(2),
        "counts_": np.array([1e-12, 3.0]),
        "groups_": np.ones((N_MEMBERS, N_CLASSES)),
        "is_soft_": np.ones(N_MEMBERS, dtype=bool),
        "share_": 0.25,
        "statistics_.n_items": 4.0,
        "statistics_.class_counts": np.ones(N_CLASSES),
        "statistics_.answer_counts": np.ones((N_MEMBERS, N_CLASSES)),
        "statistics_.sums": np.ones((N_MEMBERS, N_CLASSES, N_CLASSES)),
        "statistics_.log_evidence": -7.0,
        "moments_": None,
    }


def test_what_is_declared_is_taken(learned):
    assert reason_to_refuse("Own", DECLARED, learned) is None
    assert reason_to_refuse("Own", DECLARED, learned | {"groups_": np.ones((0, N_CLASSES))}) is None  # no members
    del learned["items_"], learned["posterior_"]
    assert reason_to_refuse("Own", DECLARED, learned) is None


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("surprise_", 1, "Own does not learn 'surprise_'"),
        ("statistics_.surprise", 1, "Own does not learn 'statistics_.surprise'"),
        ("members_", [], "'members_' is no list of names"),
        ("classes_", ["x"], "'classes_' is no list of names"),
        ("classes_", ["x", "x"], "'classes_' are no distinct names"),
        ("members_", ["a", 2, ["b"]], "'members_' are no distinct names"),
        ("history_", [1, "2"], "'history_' is no list of numbers"),
        ("history_", [float("nan")], "'history_' is no list of numbers"),
        ("n_iter_", -1, "'n_iter_' is no number that it can be, -1"),
        ("converged_", 2, "'converged_' is no number that it can be, 2"),
        ("share_", 1.5, "'share_' is no number that it can be, 1.5"),
        ("share_", float("nan"), "'share_' is no number that it can be, nan"),
        ("statistics_.n_items", -1.0, "'statistics_.n_items' is no number that it can be, -1.0"),
        ("confusion_", [[0.5]], "'confusion_' must be an array of float64; got list"),
        ("confusion_", np.full((3, 2, 2), np.nan), "'confusion_' is no array of finite numbers"),
        ("confusion_", np.full((3, 2, 2), 1e200), "'confusion_' is no array of finite numbers"),
        (
            "confusion_",
            np.ones((3, 2, 2), dtype=int),
            "'confusion_' must be an array of float64; got an array of int64",
        ),
        ("confusion_", np.full((3, 2, 2), 0.5, np.float16), "'confusion_' must be an array of float64; got"),
        ("confusion_", np.full((3, 2, 2), 0.5, ">f8"), "'confusion_' must be an array of float64; got"),
        ("confusion_", np.zeros((3, 2, 2)), "'confusion_' must have rows that sum to 1; one is off by 1"),
        ("posterior_", np.full((4, 2), 0.6), "'posterior_' must have rows that sum to 1; one is off by 0.2"),
        ("weights_", np.array([0.5, 0, 0.5]), "'weights_' has zeros"),
        ("weights_", np.array([0.5, 1.5, 0.5]), "'weights_' has numbers above 1"),
        ("said_", np.array([[0.5, np.nan], [0.5, 0.5]]), "'said_' is no array of finite numbers"),
        ("statistics_.n_items", 0.0, "'statistics_' must be of at least one item"),
        ("statistics_.class_counts", np.zeros(2), "'statistics_' must be of at least one item"),
        ("statistics_.n_items", 1e-308, "'statistics_' must be of at least one item"),
        ("statistics_.answer_counts", np.full((3, 2), 1e-308), "'statistics_' must be of at least one answer"),
        ("counts_", np.array([1.0, 1e-308]), "'counts_' has numbers below 1e-12"),
        ("said_", np.array([[0.5, np.inf], [0.5, 0.5]]), "'said_' is no array of finite numbers"),
        ("is_soft_", np.ones(3), "'is_soft_' must be an array of bool; got an array of float64"),
        ("confusion_", -np.ones((3, 2, 2)), "'confusion_' has negative numbers"),
        (
            "confusion_",
            np.ones((2, 2, 2)),
            "'confusion_' has the shape (2, 2, 2), which its members and classes do not",
        ),
        ("confusion_", np.ones((3, 2)), "'confusion_' has the shape (3, 2), which"),
        ("posterior_", np.ones((5, 2)), "'posterior_' has the shape (5, 2), which"),
        ("targets_", np.ones(3), "'targets_' has the shape (3,), which"),  # as many labels as `said_` has
        ("groups_", np.ones((2, 2)), "'groups_' has the shape (2, 2), which"),  # all members or none
    ],
)
def test_what_is_not_is_refused(learned, name, value, reason):
    assert reason_to_refuse("Own", DECLARED, learned | {name: value}).startswith(reason)


@pytest.mark.parametrize("name", ["confusion_", "history_", "members_", "share_"])
def test_what_is_missing_is_named(learned, name):
    del learned[name]
    expected = f"it lacks {name!r}, which an earlier version did not keep; fit it again"
    assert reason_to_refuse("Own", DECLARED, learned) == expected


def test_only_an_optional_record_may_be_none(learned):
    assert reason_to_refuse("Own", {**DECLARED, "moments_": "k"}, learned) == (
        "'moments_' must be an array of float64; got NoneType"
    )


def test_records_are_put_together_again(learned):
    found = nested(learned, DECLARED)
    assert isinstance(found["statistics_"], Statistics)
    np.testing.assert_array_equal(found["statistics_"].sums, learned["statistics_.sums"])
    assert found["moments_"] is None and not any("." in name for name in found)
    arrays = {"moments_.first": np.ones(1), "moments_.second": np.ones(1), "moments_.n_steps": np.array(7)}
    assert nested(arrays, DECLARED)["moments_"].n_steps == 7  # a number that was saved as an array


def test_what_is_optional_may_be_absent_from_an_older_file(learned):
    del learned["moments_"]
    assert reason_to_refuse("Own", DECLARED, learned) is None
