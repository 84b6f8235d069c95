import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import consilience as cs
from consilience.data.predictions import apart, renamed

GOOD = np.array([[[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]], [[0.6, 0.4], [0.3, 0.7], [1.0, 0.0]]])


def test_names_come_back_in_order():
    p = cs.Predictions(GOOD, members=["vit", "resnet"], items=["x", "y", "z"], classes=["cat", "dog"])
    assert (p.members, p.items, p.classes) == (["vit", "resnet"], ["x", "y", "z"], ["cat", "dog"])
    assert cs.Predictions(GOOD).items == [0, 1, 2]


def test_mappings_and_lists_of_members():
    p = cs.Predictions({"vit": GOOD[0], "resnet": GOOD[1]})
    assert p.members == ["vit", "resnet"]
    np.testing.assert_array_equal(p.to_array(), GOOD)
    np.testing.assert_array_equal(cs.Predictions(list(GOOD)).to_array(), GOOD)
    np.testing.assert_array_equal(cs.Predictions(GOOD.tolist()).to_array(), GOOD)


def test_arrays_are_used_in_place():
    p = cs.Predictions(GOOD)
    assert all(np.shares_memory(member.rows, GOOD) for member in p.soft)


def test_logits():
    logits = np.log(np.maximum(GOOD, 1e-300)) + 7.0
    np.testing.assert_allclose(cs.Predictions.from_logits(logits).to_array(), GOOD, atol=1e-12)
    half = cs.Predictions.from_logits(np.float16([[[3e4, -3e4], [0, 0]]]))
    np.testing.assert_allclose(half.to_array(), [[[1, 0], [0.5, 0.5]]])


def test_missing_logits_stay_missing():
    logits = np.array([[[0.0, 0.0], [np.nan, np.nan]], [[0.0, 2.0], [0.0, 1.0]]])
    assert np.isnan(cs.Predictions.from_logits(logits).to_array()[0, 1]).all()


def test_normalize_on_purpose():
    counts = np.array([[[3.0, 1.0]], [[np.nan, np.nan]]])
    np.testing.assert_allclose(cs.Predictions(counts, normalize=True).to_array()[0], [[0.75, 0.25]])


def test_labels_become_one_hot_and_missing():
    array = cs.Predictions.from_labels([[0, 2, 1], [-1, 1, 1]], n_classes=3).to_array()
    assert np.isnan(array[1, 0]).all()
    np.testing.assert_array_equal(array[0], np.eye(3)[[0, 2, 1]])


def test_harden_takes_the_lowest_class_of_a_tie():
    p = cs.Predictions(GOOD).harden()
    np.testing.assert_array_equal(p.to_array().argmax(axis=2), [[0, 1, 0], [0, 1, 0]])
    assert not p.is_soft.any()


def test_apart_every_member_who_answered_has_an_item_of_its_own():
    soft = cs.Predictions([[[0.7, 0.3]], [[np.nan] * 2], [[0.4, 0.6]]])
    expected = np.full((3, 2, 2), np.nan)
    expected[0, 0], expected[2, 1] = [0.7, 0.3], [0.4, 0.6]
    np.testing.assert_array_equal(apart(soft).to_array(), expected)
    mixed = apart(cs.Predictions.concatenate([soft, cs.Predictions.from_labels([[-1], [1]], 2)]))
    assert mixed.to_array().shape == (5, 3, 2)
    np.testing.assert_array_equal(mixed.to_array()[4], [[np.nan] * 2, [np.nan] * 2, [0, 1]])
    twice = apart(cs.Predictions.from_answers([0, 0, 0], [0, 1, 1], probabilities=[[0.7, 0.3], [1, 0], [0, 1]]))
    np.testing.assert_array_equal(twice.to_array()[1], [[np.nan] * 2, [0.5, 0.5]])


def test_take_keeps_names_and_answers():
    array = GOOD.copy()
    array[0, 1] = np.nan
    p = cs.Predictions(array, items=["x", "y", "z"])
    q = cs.Predictions.concatenate([p, cs.Predictions.from_labels([[1, 0, 1]], 2, items=["x", "y", "z"])])
    for predictions in (p, q):
        some = predictions.take([2, 1])
        assert some.items == ["z", "y"]
        np.testing.assert_array_equal(some.to_array(), predictions.to_array()[:, [2, 1]])
    np.testing.assert_array_equal(q.take(slice(1, None)).to_array(), q.to_array()[:, 1:])
    assert q.take([1, 1]).items == [0, 1]


def test_chunks_cover_everything_once():
    p = cs.Predictions.from_labels([[0, 1, 1, 0, 1], [-1, 0, -1, 1, 1]])
    pieces = list(p.chunks(2))
    assert [(c.start, c.stop) for c in pieces] == [(0, 2), (2, 4), (4, 5)]
    answers = [(c.start + i, m, j) for c in pieces for i, m, j in zip(*_columns(c.hard), strict=True)]
    assert answers == list(zip(*_columns(p.hard), strict=True))


def _columns(hard):
    return hard.items.tolist(), hard.members.tolist(), hard.labels.tolist()


def test_concatenate_matches_items_and_classes_by_name():
    networks = cs.Predictions(GOOD, members=["a", "b"], items=["x", "y", "z"], classes=["cat", "dog"])
    people = cs.Predictions.from_labels([[0, 1]], members=["eve"], items=["z", "x"], classes=["dog", "cat"])
    both = cs.Predictions.concatenate([networks, people])
    assert both.members == ["a", "b", "eve"]
    assert both.is_soft.tolist() == [True, True, False]
    np.testing.assert_array_equal(both.to_array()[2, [0, 2]], [[1, 0], [0, 1]])
    assert np.isnan(both.to_array()[2, 1]).all()
    np.testing.assert_array_equal(both.to_array()[:2], GOOD)


def test_concatenate_reorders_soft_classes_and_adds_items():
    first = cs.Predictions(GOOD, items=["x", "y", "z"], classes=["cat", "dog"], members=["a", "b"])
    second = cs.Predictions(GOOD[:1, :, ::-1], items=["w", "x", "y"], classes=["dog", "cat"], members=["c"])
    both = cs.Predictions.concatenate([first, second])
    assert both.items == ["x", "y", "z", "w"]
    np.testing.assert_array_equal(both.to_array()[2, [3, 0, 1]], GOOD[0])
    assert np.isnan(both.to_array()[2, 2]).all()
    assert np.isnan(both.to_array()[:2, 3]).all()


def test_concatenate_refuses_to_guess():
    named = cs.Predictions.from_labels([[0, 1, 1]], items=["x", "y", "z"])
    with pytest.raises(cs.InvalidPredictions, match="items must be named in all parts, or be the same in all"):
        cs.Predictions.concatenate([cs.Predictions(GOOD), named])
    with pytest.raises(cs.InvalidPredictions, match=r"3\] beside 3 without names"):
        cs.Predictions.concatenate([cs.Predictions(GOOD), cs.Predictions.from_labels([[0, 1, 1, 0]])])
    text = cs.Predictions.from_labels([[1, 0]], items=["2", "0"])
    assert cs.Predictions.concatenate([cs.Predictions.from_labels([[1, 0]], items=[2, 0]), text]).items == [2, 0]
    numbered = cs.Predictions.from_labels([[1, 0]], items=[2, 0])
    assert cs.Predictions.concatenate([GOOD, numbered]).to_array()[2, [2, 0]].tolist() == [[0, 1], [1, 0]]


def test_several_answers_of_one_member_to_one_item():
    p = cs.Predictions.from_answers(item=[0, 1, 0, 0], member=[0, 0, 0, 1], label=[1, 0, 0, 1])
    np.testing.assert_array_equal(p.to_array()[0], [[0.5, 0.5], [1, 0]])


def test_complete_answers_are_stored_densely():
    item, member = np.tile(np.arange(3), 2), np.repeat([0, 1], 3)
    p = cs.Predictions.from_answers(item, member, probabilities=GOOD.reshape(6, 2))
    assert all(soft.items is None for soft in p.soft)
    sparse = cs.Predictions.from_answers(item[:-1], member[:-1], probabilities=GOOD.reshape(6, 2)[:-1])
    assert sparse.soft[1].items.tolist() == [0, 1]


NAN = np.nan
WRONG_ARRAYS = {
    "sum": ([[[0.5, 0.37]]], "must sum to 1 over classes; item 0 of member 0 sums to 0.87"),
    "negative": ([[[1.2, -0.2]]], "from 0 to 1; item 0 of member 0 has -0.2.*from_logits"),
    "infinite": ([[[np.inf, 0.0]]], "from 0 to 1; item 0 of member 0 has inf"),
    "positive logits": ([[[3.0, 2.0]]], "from 0 to 1; item 0 of member 0 has 3. Logits go through"),
    "empty list": ([], r"must be \(members, items, classes\); got 1 dimensions"),
    "nothing": (None, r"\(members, items, classes\) must be an array; got a NoneType"),
    "part missing": ([[[NAN, 0.5]]], "NaN for every class; item 0 of member 0 is NaN for 1 of 2"),
    "nobody": ([[[0.5, 0.5], [NAN, NAN]]], "at least one member; item 1 has none"),
    "nobody, often": ([[[0.5, 0.5], [NAN, NAN], [NAN, NAN]]], "item 1 has none, nor have 1 others"),
    "two axes": ([[0.5, 0.5]], r"must be \(members, items, classes\); got 2 dimensions.*from_labels"),
    "one class": ([[[1.0]]], "at least 2 classes; got 1"),
    "no item": (np.zeros((2, 0, 3)), "at least 1 item; got 0"),
    "no member": (np.zeros((0, 2, 3)), "at least 1 member; got 0"),
    "text": ([[["a", "b"]]], "real numbers; got <U1"),
    "complex": ([[[1j, 0]]], "real numbers; got complex128"),
    "ragged": ([[[0.5, 0.5]], [[1.0]]], "ragged"),
    "unequal": ([np.ones((1, 2)) / 2, np.ones((2, 2)) / 2], r"shape of the first, \(1, 2\); member 1 has \(2, 2\)"),
    "flat member": ([np.ones(2) / 2], r"each member must be \(items, classes\), .* member 0 has \(2,\)"),
    "transposed": (np.moveaxis(GOOD, 2, 0), "The first axis does: the order of axes is"),
    "members last": (np.moveaxis(GOOD, 2, 1), "The second axis does"),
}


@pytest.mark.parametrize(("values", "message"), WRONG_ARRAYS.values(), ids=WRONG_ARRAYS)
def test_wrong_arrays(values, message):
    with pytest.raises(cs.InvalidPredictions, match=message):
        cs.Predictions(values)


def test_messages_use_names_and_count_the_rest():
    bad = GOOD.copy()
    bad[1, 1:] *= 0.9
    message = "item 'y' of member 'resnet' sums to 0.9 .1 more such rows follow."
    with pytest.raises(cs.InvalidPredictions, match=message):
        cs.Predictions(bad, members=["vit", "resnet"], items=["x", "y", "z"])


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"members": ["a"]}, "members must name each of the 2 members; got 1 names"),
        ({"items": ["a", "b", "a"]}, "items must have distinct names; got 'a' more than once"),
        ({"classes": [["a"], ["b"]]}, "classes must be hashable"),
        ({"classes": "ab"}, "classes must be a list of names.*got 'ab'"),
    ],
)
def test_wrong_names(names, message):
    with pytest.raises(cs.InvalidPredictions, match=message):
        cs.Predictions(GOOD, **names)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cs.Predictions.from_labels([[0, 3]], 3), "from 0 to 2.*item 1 of member 0 has 3"),
        (lambda: cs.Predictions.from_labels([[0, -2]], 3), "from 0 to 2.*has -2"),
        (lambda: cs.Predictions.from_labels([[0.0, 1.0]], 2), "labels must be integers; got float64"),
        (lambda: cs.Predictions.from_labels([0, 1], 2), r"\(members, items\); got 1 dim"),
        (lambda: cs.Predictions.from_labels([[-1, 0], [-1, 1]]), "item 0 has none"),
        (lambda: cs.Predictions.from_answers([0], [0, 1], [0]), "two lists of the same length"),
        (lambda: cs.Predictions.from_answers([0], [0]), "either a label or probabilities"),
        (lambda: cs.Predictions.from_answers([0, 2], [0, 0], [0, 1]), "item 1 has none"),
        (lambda: cs.Predictions.from_answers([0], [-1], [0]), "member must be positions"),
        (
            lambda: cs.Predictions.from_answers([0], [0], [0, 1]),
            "label must be a flat list, with one entry for each of the 1",
        ),
        (lambda: cs.Predictions.from_answers([0], [0], probabilities=[0.5]), r"\(answers, classes\)"),
        (lambda: cs.Predictions.from_logits([[[np.inf, 0.0]]]), "finite largest value; item 0 of member 0"),
        (lambda: cs.Predictions.from_logits([[[np.nan, 0.0]]]), "NaN for every class; item 0 of member 0 is NaN for 1"),
        (lambda: cs.Predictions.from_logits(GOOD), "must not be probabilities already"),
        (lambda: cs.Predictions.concatenate([]), "at least one part"),
    ],
)
def test_wrong_answers(make, message):
    with pytest.raises(cs.InvalidPredictions, match=message):
        make()


def test_half_precision_has_its_own_tolerance():
    rng = np.random.default_rng(0)
    rows = rng.dirichlet(np.ones(1000), size=(2, 5)).astype(np.float16)
    assert np.abs(rows.astype(float).sum(axis=2) - 1).max() < 1e-2
    assert cs.Average().fit(rows).posterior_.dtype == np.float32


@pytest.mark.parametrize("coarse", [lambda rows: rows.round(4), np.float16], ids=["four digits", "half precision"])
def test_coarse_probabilities_are_not_taken_for_logits(coarse):
    rows = coarse(np.random.default_rng(0).dirichlet(np.ones(5), size=(2, 200)))
    assert np.abs(rows.astype(float).sum(axis=2) - 1).max() > 1e-6
    with pytest.raises(cs.InvalidPredictions, match="must not be probabilities already"):
        cs.Predictions.from_logits(rows)


def test_masked_arrays_are_missing():
    masked = np.ma.masked_array(GOOD, mask=np.isclose(GOOD, 0.9) | np.isclose(GOOD, 0.1))
    assert np.isnan(cs.Predictions(masked).to_array()[0, 0]).all()


def test_masked_arrays_in_lists_are_missing():
    """NumPy drops the masks of what it stacks."""
    votes = [np.ma.masked_array([0, 1, 1], [False, True, False]), np.ma.masked_array([0, 1, 1])]
    for names in ({}, {"classes": ["no", "yes"]}):
        assert np.isnan(cs.Predictions.from_labels(votes, **names).to_array()[0, 1]).all()
    rows = [[np.ma.masked_array([0.5, 0.5], True), [0.2, 0.8]], [[0.1, 0.9], [0.2, 0.8]]]
    assert np.isnan(cs.Predictions(rows).to_array()[0, 0]).all()


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 6), st.integers(2, 4))
def test_any_probabilities_go_in_and_come_out(seed, n_members, n_items, n_classes):
    rng = np.random.default_rng(seed)
    array = rng.dirichlet(np.full(n_classes, 0.3), size=(n_members, n_items))
    array[rng.random((n_members, n_items)) < 0.3] = np.nan
    array[0] = 1 / n_classes
    np.testing.assert_array_equal(cs.Predictions(array).to_array(), array)


def test_items_are_renamed_by_a_list():
    predictions = renamed(cs.Predictions([[[0.9, 0.1], [0.2, 0.8]]]), items=["x", "y"])
    assert predictions.items == ["x", "y"]
    for names, message in (("xy", "list of names"), (["x"], "each of the 2 items; got 1"), (["x", "x"], "distinct")):
        with pytest.raises(cs.InvalidPredictions, match=message):
            renamed(predictions, items=names)


def test_labels_that_seem_to_count_from_one_are_warned_of():
    with pytest.warns(UserWarning, match="count from 0, and none of these is 0"):
        cs.Predictions.from_labels([[1, 2], [2, 2]])
    cs.Predictions.from_labels([[1, 2], [2, 2]], n_classes=3)
    cs.Predictions.from_labels([[1, 2], [2, 2]], classes=[1, 2])


def test_a_fit_to_items_in_the_place_of_members_is_warned_of():
    rows = np.random.default_rng(0).dirichlet([1, 1], size=(40, 4))
    with pytest.warns(UserWarning, match="40 members on 4 items: arrays are"):
        cs.Average().fit(rows)
    cs.Average().fit(cs.Predictions(rows, members=range(40)))
    cs.Average().fit(rows.swapaxes(0, 1))
