import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import consilience as cs
from consilience.data.axes import (
    Axis,
    array_of_names,
    check_size,
    is_missing,
    joined_axis,
    joined_members,
    listed,
    some,
)
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


def items(*names):
    return Axis("item", len(names), names)


def test_members_stand_one_after_the_other():
    together = joined_members([Axis("member", 2), Axis("member", 1)])
    assert together.size == 3 and not together.is_named
    named = Axis("member", 2, ["vit", "resnet"])
    assert joined_members([named, Axis("member", 2)]).names == ["vit", "resnet", "1.0", "1.1"]


def test_names_are_joined_in_the_order_of_first_appearance():
    joined = joined_axis([items("x", "y"), items("z", "y"), items("x", "w")])
    assert (joined.kind, joined.names) == ("item", ["x", "y", "z", "w"])


def test_parts_without_names_are_matched_by_position():
    axis = joined_axis([Axis("item", 3), Axis("item", 3, [2, 0, 1]), Axis("item", 1, [1])])
    assert axis.names == [0, 1, 2] and not axis.is_named


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ([items("x"), items("y")], r"^parts must have items in common; got \['x'\] and \['y'\]$"),
        ([Axis("item", 2), Axis("item", 3)], r"got \[0, 1, 2\] beside 2 without names$"),
        ([items("x", "y"), Axis("item", 2)], "^items must be named in all parts, or be the same in all; got .*'x'"),
        ([Axis("item", 2), items(0, 2)], r"got \[0, 2\] beside 2 without names$"),
        (
            [Axis("class", 2), Axis("class", 2, ["cat", "dog"])],
            "^classes must be named in all parts, or be the same in all",
        ),
    ],
)
def test_names_are_never_guessed(axes, message):
    with pytest.raises(cs.InvalidPredictions, match=message):
        joined_axis(axes)


def test_positions_on_another_axis():
    target = items("x", "y", "z")
    assert items("z", "x").positions_on(target).tolist() == [2, 0]
    assert items("x", "y", "z").positions_on(target) is None
    assert Axis("item", 2).positions_on(Axis("item", 2, [0, 1])) is None
    assert items(2, 0).positions_on(items("2", "0.0")) is None
    assert items(2, 0).positions_on(items("0", "2")).tolist() == [1, 0]
    with pytest.raises(cs.InvalidPredictions, match=r"^item must be one of \['x', 'y', 'z'\]; got 'w'$"):
        items("x", "w", "v").positions_on(target)


def test_sizes_that_do_not_fit():
    with pytest.raises(cs.InvalidPredictions, match=r"must have the 3 members of the fit \(name them, .*\); got 2$"):
        check_size("member", 2, 3)
    with pytest.raises(cs.InvalidPredictions, match="^predictions must have the 3 classes of the fit; got 2$"):
        check_size("class", 2, 3)
