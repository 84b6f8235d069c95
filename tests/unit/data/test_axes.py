import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import consilience as cs
from consilience.data.axes import Axis, array_of_names, is_missing, listed, some
from consilience.data.names import look_alike, text_of

NAMES = st.one_of(st.text(max_size=5), st.integers(), st.booleans(), st.tuples(st.integers(), st.text(max_size=2)))


def test_without_names_positions_are_the_names():
    axis = Axis("item", 3)
    assert (axis.names, axis.name(2), axis.position_of(1), axis.is_named) == ([0, 1, 2], 2, 1, False)
    assert axis.describe(2) == "item 2"


@given(st.lists(NAMES, unique_by=(text_of, lambda name: name), max_size=12))
def test_names_and_positions_are_each_others_inverse(names):
    assume(look_alike(map(text_of, names)) is None)
    axis = Axis("member", len(names), names)
    assert [axis.position_of(name) for name in names] == list(range(len(names)))
    assert [axis.name(place) for place in range(len(names))] == axis.names == names


def test_names_are_python_objects_whatever_they_came_in():
    assert listed("class", np.array(["cat", "dog"])) == ["cat", "dog"]
    assert [type(name) for name in listed("item", np.array([1, 2]))] == [int, int]
    assert Axis("class", 2, pd.Series(["cat", "dog"], index=[5, 6])).describe(1) == "class 'dog'"
    assert Axis("item", 2, (name for name in "ab")).names == ["a", "b"]


def test_the_names_given_back_are_a_copy():
    axis = Axis("item", 2, ["a", "b"])
    axis.names.append("c")
    assert axis.names == ["a", "b"]


def test_long_names_are_cut_in_messages():
    axis = Axis("class", 20, [f"{k}{'x' * 6000}" for k in range(20)])
    with pytest.raises(cs.InvalidPredictions) as caught:
        axis.position_of("y" * 6000)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("kind", "names", "message"),
    [
        ("member", ["a"], "^members must name each of the 2 members; got 1 names$"),
        ("item", ["a", "a"], "^items must have distinct names; got 'a' more than once$"),
        ("item", [1, True], "^items must have distinct names; got 1 and True, which are one name$"),
        ("class", [1, "1"], "^classes must have distinct names; got 1 and '1', which are one name$"),
        ("class", [1, 1.0], "^classes must have distinct names; got 1 and 1.0, which are one name$"),
        ("class", {"a", "b"}, "^classes must be a list of names, in the order of the axis; got a set$"),
        ("class", {"a": 1, "b": 0}, "^classes must be a list of names, in the order of the axis; got a dict$"),
        ("class", [["a"], ["b"]], r"^classes must be hashable names; got \[\['a'\], \['b'\]\]$"),
        ("class", ["a", None], "^classes must not be called None or NaN, which stand for unknown labels$"),
        ("class", ["a", float("nan")], "^classes must not be called None or NaN"),
        ("class", ["a", pd.NA], "^classes must not be called None or NaN"),
        ("class", "ab", "^classes must be a list of names, in the order of the axis; got 'ab'$"),
        ("member", 2, "^members must be a list of names, in the order of the axis; got 2$"),
    ],
)
def test_wrong_names(kind, names, message):
    with pytest.raises(cs.InvalidPredictions, match=message):
        Axis(kind, 2, names)


def test_items_may_be_called_none():
    """Only among classes does it stand for something else."""
    assert Axis("item", 2, [None, "b"]).position_of(None) == 0


@pytest.mark.parametrize("name", ["bird", 0, None, ["unhashable"]])
def test_a_name_that_is_not_there(name):
    with pytest.raises(cs.InvalidPredictions) as caught:
        Axis("class", 2, ["cat", "dog"]).position_of(name)
    assert str(caught.value) == f"class must be one of the 2 classes ['cat', 'dog']; got {name!r}"


@pytest.mark.parametrize("value", [None, float("nan"), np.nan, np.float32("nan"), pd.NA, pd.NaT])
def test_missing_values(value):
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, "", "nan", False, (), np.int64(0)])
def test_values_that_only_look_missing(value):
    assert not is_missing(value)


@given(st.lists(NAMES, max_size=8))
def test_an_array_of_names_holds_each_name_as_it_is(names):
    array = array_of_names(names)
    assert array.shape == (len(names),)
    assert [(type(name), name) for name in array.tolist()] == [(type(name), name) for name in names]


def test_names_of_one_kind_need_no_array_of_objects():
    assert [array_of_names(names).dtype.kind for names in (["a"], [1], [0.5], [True])] == ["U", "i", "f", "b"]
    assert array_of_names([2**63, 1]).tolist() == [2**63, 1]  # NumPy alone makes floats of them
    assert array_of_names(["a\0", "a"]).tolist() == ["a\0", "a"]  # and one name of these


def test_messages_show_up_to_eight_names():
    assert some(list("abcdefgh")) == "['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']"
    assert some(list("abcdefghi")) == "['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', …]"
    assert some([]) == "[]"
