"""Rows and labels, cut and taken, against lists of single answers."""

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import consilience as cs
from consilience.data import answers
from consilience.data.answers import HardAnswers, SoftMember, merged, parts_of
from consilience.system.arrays import to_numpy

torch = pytest.importorskip("torch")

LIBRARIES = [np.asarray, torch.asarray, array_api_strict.asarray]
ids = ["numpy", "torch", "strict"]


def dense(rows, make=np.asarray):
    return SoftMember(3, make(np.asarray(rows, dtype=float)), None, is_complete=not np.isnan(rows).any())


def listed(rows, items):
    return SoftMember(3, np.asarray(rows, dtype=float), np.asarray(items, dtype=np.intp), is_complete=True)


def pairs(member):
    """(item, row) of each stored row."""
    items = range(member.rows.shape[0]) if member.items is None else member.items.tolist()
    return list(zip(items, to_numpy(member.rows).tolist(), strict=True))


def triples(hard):
    return list(zip(hard.items.tolist(), hard.members.tolist(), hard.labels.tolist(), strict=True))


ITEMS = st.lists(st.integers(0, 5), max_size=10).map(sorted)
RANGES = st.tuples(st.integers(0, 6), st.integers(0, 6)).map(sorted)


@given(ITEMS, RANGES)
def test_a_range_of_a_list_of_answers(items, between):
    start, stop = between
    rows = [[place, 1 - place] for place in range(len(items))]
    member = listed(np.reshape(rows, (-1, 2)), items)
    expected = [(item - start, row) for item, row in zip(items, rows, strict=True) if start <= item < stop]
    assert pairs(member.between(start, stop)) == expected
    hard = HardAnswers(*(np.asarray(items, dtype=np.intp) for _ in range(3)))
    assert triples(hard.between(start, stop)) == [(i - start, i, i) for i in items if start <= i < stop]


@given(ITEMS, st.lists(st.integers(0, 5), max_size=8))
def test_items_taken_from_a_list_of_answers(items, positions):
    """Each answer to each position, in the order of positions; a position twice has its answers twice."""
    rows = [[place, 1 - place] for place in range(len(items))]
    member, wanted = listed(np.reshape(rows, (-1, 2)), items), np.asarray(positions, dtype=np.intp)
    expected = [
        (place, row)
        for place, position in enumerate(positions)
        for item, row in zip(items, rows, strict=True)
        if item == position
    ]
    assert pairs(member.take(wanted)) == expected
    hard = HardAnswers(np.asarray(items, dtype=np.intp), np.arange(len(items)), np.arange(len(items)))
    assert triples(hard.take(wanted)) == [(place, int(row[0]), int(row[0])) for place, row in expected]


@pytest.mark.parametrize("make", LIBRARIES, ids=ids)
def test_dense_rows(make):
    rows = np.array([[0.1, 0.9], [np.nan, np.nan], [0.5, 0.5], [0.8, 0.2]])
    member = dense(rows, make)
    np.testing.assert_array_equal(to_numpy(member.between(1, 3).rows), rows[1:3])
    np.testing.assert_array_equal(to_numpy(member.take(np.array([3, 0, 3])).rows), rows[[3, 0, 3]])
    assert member.answered().tolist() == [0, 2, 3]
    assert triples(member.harden()) == [(0, 3, 1), (2, 3, 0), (3, 3, 0)]  # of a tie the lowest


def test_a_range_of_dense_rows_is_a_view():
    member = dense(np.full((4, 2), 0.5))
    assert np.shares_memory(member.between(1, 3).rows, member.rows)


def test_labels_of_a_list_of_answers_keep_their_items():
    assert triples(listed([[0.1, 0.9], [0.8, 0.2]], [4, 7]).harden()) == [(4, 3, 1), (7, 3, 0)]


def test_a_member_without_rows():
    empty = dense(np.empty((0, 2)))
    assert triples(empty.harden()) == [] and empty.answered().tolist() == []


def test_parts_cover_all_rows_once(monkeypatch):
    rows = np.arange(14.0).reshape(7, 2)
    monkeypatch.setattr(answers, "NUMBERS_AT_ONCE", 7)
    parts = list(parts_of(rows))
    assert [start for start, _ in parts] == [0, 3, 6]
    np.testing.assert_array_equal(np.concatenate([part for _, part in parts]), rows)
    monkeypatch.setattr(answers, "NUMBERS_AT_ONCE", 1)  # less than a row
    assert [len(part) for _, part in parts_of(rows)] == [1] * 7
    peaks = dense(np.eye(3)[[2, 0, 1, 1]])
    assert peaks.harden().labels.tolist() == [2, 0, 1, 1]


def test_merged_answers_are_sorted_by_item_and_then_by_member():
    parts = [
        HardAnswers(np.array([0, 2]), np.array([1, 1]), np.array([5, 6])),
        HardAnswers(np.array([0, 1, 2]), np.array([0, 0, 0]), np.array([7, 8, 9])),
    ]
    assert triples(merged(parts)) == [(0, 0, 7), (0, 1, 5), (1, 0, 8), (2, 0, 9), (2, 1, 6)]
    assert merged(parts).items.dtype == np.intp


@pytest.mark.parametrize("make", LIBRARIES, ids=ids)
def test_votes_leave_out_the_undecided(make):
    rows = [[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [np.nan] * 3, [1 / 3] * 3, [0.1, 0.2, 0.7], [0.5, 0.5 - 1e-9, 1e-9]]
    member = dense(rows, make)
    assert triples(member.ballots()[0]) == [(0, 3, 0), (4, 3, 2)]
    assert [item for item, _, _ in triples(member.harden())] == [0, 1, 3, 4, 5]


def test_votes_of_a_list_of_answers():
    """An item answered twice has two votes, or one where the other answer is undecided."""
    member = listed([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8], [0.5, 0.5]], [1, 1, 4, 5])
    assert triples(member.ballots()[0]) == [(1, 3, 0), (4, 3, 1)]


def test_votes_of_nobody():
    assert triples(dense(np.full((3, 2), 0.5)).ballots()[0]) == []
    assert triples(listed(np.empty((0, 2)), []).ballots()[0]) == []
    assert triples(dense(np.full((2, 2), np.nan)).ballots()[0]) == []


def test_votes_of_long_members(monkeypatch, rng):
    rows = rng.dirichlet(np.ones(3), size=50).round(1)
    whole = triples(dense(rows).ballots()[0])
    monkeypatch.setattr(answers, "NUMBERS_AT_ONCE", 12)
    assert triples(dense(rows).ballots()[0]) == whole
    assert {item for item, _, _ in whole} == {i for i, row in enumerate(rows) if (row >= row.max() - 1e-6).sum() == 1}


@pytest.mark.parametrize("make", LIBRARIES, ids=ids)
def test_tied_classes_share_a_vote_and_flat_rows_are_none(make):
    rows = [[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [np.nan] * 3, [1 / 3] * 3, [0.1, 0.45, 0.45]]
    votes, split = dense(rows, make).ballots()
    assert triples(votes) == [(0, 3, 0)]
    assert pairs(split) == [(1, [0.5, 0.5, 0]), (4, [0, 0.5, 0.5])] and split.position == 3


def test_split_votes_of_long_members(monkeypatch, rng):
    rows = rng.dirichlet(np.ones(3), size=50).round(1) + 0.01
    whole = pairs(dense(rows).ballots()[1])
    monkeypatch.setattr(answers, "NUMBERS_AT_ONCE", 12)
    assert pairs(dense(rows).ballots()[1]) == whole and len(whole) > 3


ROWS = np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])


@pytest.mark.parametrize("make", LIBRARIES, ids=ids)
@pytest.mark.parametrize("some", [None, [0, 4]], ids=["all items", "some items"])
def test_moved_rows_say_the_same_under_the_new_numbers(make, some):
    """Checked answer by answer: the number that stood at (item, class) stands at (new item, new class)."""
    member = SoftMember(0, make(ROWS), None if some is None else np.array(some), is_complete=True)
    item_map, class_map = np.array([5, 2] if some is None else [5, 2, 9, 9, 1]), np.array([2, 0, 1])
    there = member.moved(np.array([7]), item_map, class_map, 3)
    assert there.position == 7 and there.items.tolist() == sorted(there.items)
    found = {
        (int(item), k): value
        for item, row in zip(there.items, to_numpy(there.rows), strict=True)
        for k, value in enumerate(row)
    }
    old_items = [0, 1] if some is None else some
    expected = {
        (int(item_map[item]), int(class_map[k])): ROWS[place, k]
        for place, item in enumerate(old_items)
        for k in range(3)
    }
    assert found == expected


def test_rows_that_need_not_move_are_not_copied():
    member = SoftMember(0, ROWS, None, is_complete=True)
    assert member.moved(np.array([1]), None, None, 3).rows is ROWS


def test_two_answers_to_an_item_keep_their_order():
    """A hundred answers to two items: short lists are sorted in place by any method."""
    rows = np.random.default_rng(0).dirichlet(np.ones(3), size=100)
    member = SoftMember(0, rows, np.repeat([0, 1], 50), is_complete=True)
    there = member.moved(np.array([0]), np.array([8, 3]), None, 3)
    assert there.items.tolist() == [3] * 50 + [8] * 50
    np.testing.assert_array_equal(there.rows, np.concatenate([rows[50:], rows[:50]]))


def test_probabilities_of_some_classes_are_refused():
    message = "^members with probabilities must give one for each of the 4 classes; some give 3$"
    with pytest.raises(cs.InvalidPredictions, match=message):
        SoftMember(0, ROWS, None, is_complete=True).moved(np.array([0]), None, np.array([0, 1, 3]), 4)
