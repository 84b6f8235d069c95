import array_api_strict
import numpy as np
import pytest

import consilience as cs
from consilience.data.alignment import (
    _sizes,
    check_size,
    check_sizes,
    joined_axis,
    joined_members,
    moved,
)
from consilience.data.answers import SoftMember
from consilience.data.axes import Axis
from consilience.system.arrays import to_numpy

torch = pytest.importorskip("torch")


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


LIBRARIES = {"numpy": np.asarray, "torch": torch.asarray, "strict": array_api_strict.asarray}
ROWS = np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])


@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
@pytest.mark.parametrize("given", [None, [0, 4]], ids=["all items", "some items"])
def test_moved_rows_say_the_same_under_the_new_numbers(make, given):
    """Checked answer by answer: the number that stood at (item, class) stands at (new item, new class)."""
    member = SoftMember(0, make(ROWS), None if given is None else np.array(given), is_complete=True)
    item_map, class_map = np.array([5, 2] if given is None else [5, 2, 9, 9, 1]), np.array([2, 0, 1])
    there = moved(member, 7, item_map, class_map, 3)
    assert there.position == 7 and there.items.tolist() == sorted(there.items)
    found = {
        (int(item), k): value
        for item, row in zip(there.items, to_numpy(there.rows), strict=True)
        for k, value in enumerate(row)
    }
    old_items = [0, 1] if given is None else given
    expected = {
        (int(item_map[item]), int(class_map[k])): ROWS[place, k]
        for place, item in enumerate(old_items)
        for k in range(3)
    }
    assert found == expected


def test_rows_that_need_not_move_are_not_copied():
    member = SoftMember(0, ROWS, None, is_complete=True)
    assert moved(member, 1, None, None, 3).rows is ROWS


def test_two_answers_to_an_item_keep_their_order():
    """A hundred answers to two items: short lists are sorted in place by any method."""
    rows = np.random.default_rng(0).dirichlet(np.ones(3), size=100)
    member = SoftMember(0, rows, np.repeat([0, 1], 50), is_complete=True)
    there = moved(member, 0, np.array([8, 3]), None, 3)
    assert there.items.tolist() == [3] * 50 + [8] * 50
    np.testing.assert_array_equal(there.rows, np.concatenate([rows[50:], rows[:50]]))


def test_probabilities_of_some_classes_are_refused():
    message = "^members with probabilities must give one for each of the 4 classes; some give 3$"
    with pytest.raises(cs.InvalidPredictions, match=message):
        moved(SoftMember(0, ROWS, None, is_complete=True), 0, None, np.array([0, 1, 3]), 4)


def test_sizes_that_do_not_fit():
    with pytest.raises(cs.InvalidPredictions, match=r"must have the 3 members of the fit \(name them, .*\); got 2$"):
        check_size("member", 2, 3)
    with pytest.raises(cs.InvalidPredictions, match="^predictions must have the 3 classes of the fit; got 2$"):
        check_size("class", 2, 3)


@pytest.mark.parametrize("wrap", [np.asarray, torch.asarray, list, tuple], ids=["numpy", "torch", "list", "tuple"])
def test_sizes_of_arrays_are_checked_before_they_are_read(wrap):
    block = np.ones((2, 5, 3))
    check_sizes(wrap(block), 2, 3)
    with pytest.raises(cs.InvalidPredictions, match="4 members of the fit"):
        check_sizes(wrap(block), 4, 3)
    with pytest.raises(cs.InvalidPredictions, match="4 classes of the fit"):
        check_sizes(wrap(block), 2, 4)


@pytest.mark.parametrize(
    "unknown",
    [[[0.5, 0.5]], [np.ones((5, 3)), np.ones((5, 2))], np.ones((5, 3)), {"a": np.ones((5, 3))}, "file.npy", None, []],
    ids=["lists", "unequal", "a matrix", "a mapping", "a path", "nothing", "an empty list"],
)
def test_what_cannot_be_counted_is_left_to_the_reader(unknown):
    assert _sizes(unknown) is None
    check_sizes(unknown, 99, 99)
