"""Scikit-learn members: their names, and their answers on the ensemble's classes."""

from types import SimpleNamespace

import numpy as np
import pytest

from consilience.ensemble.classifier import (
    answers_of,
    are_pairs,
    classes_of,
    in_one_spelling,
    named_members,
    positions_among,
    put_together,
)

CLASSES = np.array(["ant", "bee", "cat"])


class Soft:
    """Knows two of the classes, and not in their order."""

    classes_ = np.array(["cat", "ant"])

    def predict_proba(self, X):
        return np.tile([0.25, 0.75], (len(X), 1)).astype(np.float32)


class Hard:
    classes_ = CLASSES

    def predict(self, X):
        return np.array(["bee", "ant", "cat"])[: len(X)]


def test_members_without_names_are_called_by_their_kind():
    first, second, other = Soft(), Soft(), Hard()
    assert named_members([first, other, second]) == [("soft-1", first), ("hard", other), ("soft-2", second)]
    assert named_members((("a", first), ("a", "drop"))) == [("a", first), ("a", "drop")]


@pytest.mark.parametrize(
    ("estimators", "is_so"), [([("a", 1)], True), ([1], False), ([(1, "a")], False), ("ab", False)]
)
def test_pairs(estimators, is_so):
    assert are_pairs(estimators) == is_so


@pytest.mark.parametrize("estimators", [[], "lr", None, {"a": 1}])
def test_no_members(estimators):
    with pytest.raises(
        ValueError, match=r"estimators must be a list of \(name, classifier\) pairs, and not empty; got"
    ):
        named_members(estimators)


def test_classes_that_a_member_does_not_know_get_no_probability():
    rows = answers_of(Soft(), [0, 0], CLASSES)
    np.testing.assert_array_equal(rows, [[0.75, 0, 0.25]] * 2)
    assert rows.dtype == np.float32


def test_labels_become_positions():
    assert answers_of(Hard(), [0, 0, 0], CLASSES).tolist() == [1, 0, 2]


def test_labels_that_are_none():
    with pytest.raises(ValueError, match=r"members must answer by the classes \['ant', 'bee', 'cat'\]; got 'dog'"):
        positions_among(CLASSES, np.array(["ant", "dog"]))
    with pytest.raises(ValueError, match=r"by the classes \[1, 2\]; got 0"):  # before the first
        positions_among(np.array([1, 2]), np.array([0]))


def test_classes_of_all_members():
    assert in_one_spelling({"a": Soft.classes_, "b": Hard.classes_}).tolist() == ["ant", "bee", "cat"]
    with pytest.raises(ValueError, match=r"same names; 'a' knows \['cat', 'ant'\]; 'b' knows \[0, 1\]"):
        in_one_spelling({"a": Soft.classes_, "b": np.array([0, 1])})
    assert classes_of("b", Hard()).tolist() == ["ant", "bee", "cat"]
    with pytest.raises(ValueError, match=r"member 'x' \(SimpleNamespace\) has no classes_"):
        classes_of("x", SimpleNamespace())
    with pytest.raises(ValueError, match="member 'x' has several outputs"):
        classes_of("x", SimpleNamespace(classes_=[np.array([0, 1]), np.array([0, 1])]))


def test_answers_of_both_kinds_stand_side_by_side():
    together = put_together(["a", "b"], [np.array([[0.2, 0.8, 0], [1, 0, 0]]), np.array([2, 1])], CLASSES)
    assert (together.members, together.classes) == (["a", "b"], ["ant", "bee", "cat"])
    assert together.is_soft.tolist() == [True, False]
    np.testing.assert_array_equal(together.to_array()[1], np.eye(3)[[2, 1]])
