"""Reading arrays and lists of any library; the messages that users meet are in `test_predictions.py` too."""

import array_api_strict
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, special

import consilience as cs
from consilience.data import validation
from consilience.data.answers import HardAnswers, SoftMember
from consilience.data.axes import Axes, Axis
from consilience.data.validation import (
    are_probabilities,
    axis_of_positions,
    check_number,
    check_sizes,
    floats,
    integers,
    member_matrices,
    normalized,
    number_of_classes,
    positions_of_labels,
    softmax,
    sum_tolerance,
    validated,
)
from consilience.system.arrays import to_numpy

torch = pytest.importorskip("torch")

LIBRARIES = {"numpy": np.asarray, "torch": torch.asarray, "strict": array_api_strict.asarray}
every_library = pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
BLOCK = np.array([[[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]], [[0.6, 0.4], [0.3, 0.7], [1.0, 0.0]]])
AXES = Axes(Axis("member", 2), Axis("item", 3, ["x", "y", "z"]), Axis("class", 2))


# ---- arrays -----------------------------------------------------------------------------------------------


@every_library
def test_a_block_is_cut_into_members(make):
    for given_ in (make(BLOCK), [make(BLOCK[0]), make(BLOCK[1])]):
        matrices = member_matrices(given_)
        assert all(type(matrix) is type(make(BLOCK)) for matrix in matrices)
        np.testing.assert_array_equal([to_numpy(matrix) for matrix in matrices], BLOCK)


def test_arrays_are_not_copied():
    assert all(np.shares_memory(matrix, BLOCK) for matrix in member_matrices(BLOCK))
    tensor = torch.tensor(BLOCK)
    assert member_matrices(tensor)[1].data_ptr() == tensor[1].data_ptr()


def test_lists_and_files(tmp_path):
    np.save(tmp_path / "all.npy", BLOCK)
    np.save(tmp_path / "one.npy", BLOCK[0])
    for given_ in (
        BLOCK.tolist(),
        tmp_path / "all.npy",
        [tmp_path / "one.npy", BLOCK[1]],
        [BLOCK[0].tolist(), BLOCK[1]],
    ):
        np.testing.assert_array_equal(member_matrices(given_), BLOCK)


def test_files_that_hold_no_numbers(tmp_path):
    (tmp_path / "text.npy").write_text("hello")
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object))
    for name in ("text.npy", "objects.npy"):
        with pytest.raises(cs.InvalidPredictions, match=f"{name} must be a .npy file of numbers"):
            member_matrices([tmp_path / name])
    with pytest.raises(cs.InvalidPredictions, match="is a directory; expected a file"):
        member_matrices([tmp_path])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([pd.DataFrame(BLOCK[0])], "got a data frame: give one for each member"),
        ([sparse.csr_array(BLOCK[0])], "must be a dense array; got a sparse csr_array"),
        (object(), r"^probabilities \(members, items, classes\) must be an array; got an object$"),
        ([[[{}]]], "must be real numbers; got object values$"),
        (np.ma.masked_array([[["a"]]]), "^probabilities must be real numbers; got <U1 values$"),
        (torch.ones(1, 1, 2, dtype=torch.complex64), "real numbers; got torch.complex64 values"),
        (np.array([[["2020"]]], dtype="M8[Y]"), r"real numbers; got datetime64\[Y\] values"),
    ],
    ids=["frame", "sparse", "object", "objects", "masked text", "complex tensor", "dates"],
)
def test_what_holds_no_numbers(values, message):
    with pytest.raises(cs.InvalidPredictions, match=message):
        member_matrices(values)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (np.ones(2, np.float16), np.float16),
        (np.ones(2, np.float32), np.float32),
        (np.ones(2, np.int8), np.float64),
        (np.ones(2, bool), np.float64),
        (np.ones(2, np.longdouble), np.float64),
        (torch.ones(2, dtype=torch.bfloat16), torch.bfloat16),
        (torch.ones(2, dtype=torch.int64), torch.float64),
        (array_api_strict.ones(2, dtype=array_api_strict.int32), array_api_strict.float64),
    ],
    ids=str,
)
def test_precision_is_kept_where_it_is_one(values, dtype):
    assert floats(values).dtype == dtype


def test_gradients_and_masks_are_left_behind():
    assert not floats(torch.ones(2, requires_grad=True)).requires_grad
    np.testing.assert_array_equal(floats(np.ma.masked_array([1, 2], [True, False])), [np.nan, 2])


def test_members_of_unequal_shape():
    assert len(member_matrices([BLOCK[0], torch.tensor(BLOCK[1])])) == 2
    with pytest.raises(cs.InvalidPredictions, match="^predictions need at least 1 member; got 0$"):
        member_matrices(BLOCK[:0])


@every_library
def test_integers_are_not_rounded(make):
    found = integers(make(np.array([[0, -1]], np.int16)), "labels")
    assert found.dtype == np.intp and found.tolist() == [[0, -1]]
    with pytest.raises(cs.InvalidPredictions, match="^labels must be integers; got float64 values$"):
        integers(make(np.array([[0.0, 1.0]])), "labels")


def test_integers_that_do_not_fit():
    assert integers(np.array([2**63 - 1], np.uint64), "item").tolist() == [2**63 - 1]
    message = f"^item must be integers up to {2**63 - 1}; got {2**63}$"
    with pytest.raises(cs.InvalidPredictions, match=message):
        integers(np.array([2**63], np.uint64), "item")
    with pytest.raises(cs.InvalidPredictions, match="got a data frame: use from_frame"):
        positions_of_labels(pd.DataFrame({"a": [1]}), ["a"], "labels")
    assert integers([], "label").tolist() == []
    assert integers(np.ma.masked_array([3, 4], [False, True]), "labels").tolist() == [3, -1]


# ---- sizes ------------------------------------------------------------------------------------------------


def test_the_number_of_classes():
    labels = np.array([0, 4, -1])
    assert number_of_classes(7, ["a"], labels) == 7
    assert number_of_classes(None, list("abcdef"), labels) == 6
    assert number_of_classes(None, None, labels) == 5
    assert number_of_classes(None, None, np.empty(0, np.intp)) == 1  # which is refused when classes are counted
    for wrong in (1, True, 2.0, "3"):
        with pytest.raises(cs.InvalidPredictions, match="^n_classes must be a whole number of at least 2; got "):
            number_of_classes(wrong, None, labels)
    with pytest.raises(cs.InvalidPredictions, match=f"got {validation.MOST_CLASSES}: say n_classes"):
        number_of_classes(None, None, np.array([validation.MOST_CLASSES]))


def test_the_axis_of_positions():
    positions = np.array([3, 0, 3])
    assert axis_of_positions("item", positions, None).names == [0, 1, 2, 3]
    assert axis_of_positions("item", positions, ["a", "b", "c", "d", "e"]).size == 5
    assert axis_of_positions("item", np.empty(0, np.intp), None).size == 0
    with pytest.raises(cs.InvalidPredictions, match="^item must be positions from 0 to 1; got 3$"):
        axis_of_positions("item", positions, ["a", "b"])
    with pytest.raises(cs.InvalidPredictions, match="^member must be positions from 0 on; got -2$"):
        axis_of_positions("member", np.array([4, -2]), None)


def test_a_position_far_beyond_the_number_of_answers_is_a_name():
    most = validation.MOST_EMPTY + 2000
    assert axis_of_positions("item", np.array([0, most - 1]), None).size == most
    with pytest.raises(cs.InvalidPredictions, match=f"got {most} in 2 answers: .*, or name them in items$"):
        axis_of_positions("item", np.array([0, most]), None)


def test_one_entry_for_each_answer():
    from_answers = cs.Predictions.from_answers
    with pytest.raises(
        cs.InvalidPredictions, match=r"^label must be a flat list, .* one entry for each of the 3 answers; got \(2,\)$"
    ):
        from_answers([0, 1, 2], [0, 0, 0], [1, 0])
    with pytest.raises(cs.InvalidPredictions, match=r"\(answers, classes\), .* 2 answers; got \(2,\)$"):
        from_answers([0, 1], [0, 0], probabilities=[0.5, 0.5])


# ---- rows -------------------------------------------------------------------------------------------------


@every_library
def test_softmax_is_scipys(make):
    logits = np.random.default_rng(0).normal(scale=300, size=(20, 4))
    logits[3] = np.nan
    found = softmax(make(logits), 0)
    assert type(found) is type(make(logits))
    np.testing.assert_allclose(to_numpy(found), special.softmax(logits, axis=1), rtol=1e-12)


def test_softmax_of_logits_further_apart_than_numbers_go():
    largest = np.finfo(np.float64).max
    assert softmax(np.array([[largest, -largest, 0.0]]), 0).tolist() == [[1, 0, 0]]
    assert softmax(np.array([[-np.inf, 2.0]]), 0).tolist() == [[0, 1]]
    half = softmax(np.array([[6e4, -6e4]], np.float16), 0)
    assert half.dtype == np.float32 and half.tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("logits", "message"),
    [
        ([[0.0, 1.0], [np.nan, 2.0]], "item 1 of member 7 is NaN for 1 of 2$"),
        ([[0.0, 2.0], [np.inf, 1.0]], "finite largest value; item 1 of member 7 has inf$"),
        ([[-np.inf, -np.inf]], "finite largest value; item 0 of member 7 has -inf$"),
        ([[0.5, 0.5], [1.0, 0.0]], "every row of member 7 sums to 1: use Predictions"),
    ],
)
def test_wrong_logits(logits, message):
    with pytest.raises(cs.InvalidPredictions, match=message):
        softmax(np.array(logits), 7)


@every_library
@given(seed=st.integers(0, 2**32 - 1))
def test_normalized_rows_are_shares(make, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 50, size=(6, 3)) * 10.0 ** rng.integers(-300, 300, size=(6, 1))
    counts[:, 0] += 1e-300
    counts[2] = np.nan
    found = to_numpy(normalized(make(counts)))
    exact = [[float(value) for value in row] for row in counts]
    for row, ours in zip(exact, found, strict=True):
        largest = max(row)
        np.testing.assert_allclose(ours, [value / largest / sum(v / largest for v in row) for value in row], rtol=1e-12)


def test_rows_that_are_no_counts_are_left_as_they_are():
    rows = np.array([[-1.0, 2.0], [0.0, 0.0], [np.inf, 1.0]])
    np.testing.assert_array_equal(normalized(rows), rows)
    assert normalized(np.empty((2, 0))).shape == (2, 0)


@every_library
def test_which_rows_are_probabilities(make):
    rows = [[0.5, 0.5], [0.5, 0.502], [0.5, 0.4991], [1.5, -0.5], [np.nan, 0.5], [np.inf, 0.0], [1.0, 0.0]]
    found = to_numpy(are_probabilities(make(np.array(rows))))
    assert found.tolist() == [True, False, True, False, False, False, True]
    assert to_numpy(are_probabilities(make(np.array(rows)), is_half=True))[1]


def test_the_tolerance_is_that_of_the_precision():
    assert sum_tolerance(np.ones(1, np.float16)) == sum_tolerance(torch.ones(1, dtype=torch.bfloat16)) == 1e-2
    assert sum_tolerance(np.ones(1, np.float32)) == sum_tolerance(torch.ones(1)) == 1e-3


def test_the_tolerance_grows_with_the_classes_as_rounding_to_four_digits_does():
    assert sum_tolerance(np.ones(100)) == pytest.approx(100 * 0.5e-4)
    assert sum_tolerance(np.ones(10_000)) == 0.05


@pytest.mark.parametrize("n_classes", [2, 10, 100, 1000])
@pytest.mark.parametrize(
    "written", [lambda rows: rows.round(4), np.float16, lambda rows: np.float16(rows).astype(float)]
)
def test_rounded_probabilities_are_no_logits(n_classes, written):
    rows = np.random.default_rng(0).dirichlet(np.full(n_classes, 0.3), size=(2, 50))
    given = written(rows)
    given[0, 3] = np.nan
    assert to_numpy(are_probabilities(given, is_half=True))[1].all()
    with pytest.raises(cs.InvalidPredictions, match="logits must not be probabilities already; every row of member 0"):
        cs.Predictions.from_logits(given)


@pytest.mark.parametrize("n_classes", [10, 300, 1000])
def test_probabilities_of_four_digits_are_taken(n_classes):
    rows = np.random.default_rng(0).dirichlet(np.full(n_classes, 0.3), size=(3, 50)).round(4)
    posterior = cs.Average().fit(rows).posterior_
    cs.evaluate(posterior, posterior.argmax(axis=1), n_bootstrap=0)


# ---- checks -----------------------------------------------------------------------------------------------


def soft(rows, items=None, position=0):
    return SoftMember(position, np.asarray(rows, dtype=float), items, is_complete=False)


@every_library
def test_complete_members_are_marked(make):
    missing = BLOCK.copy()
    missing[1, 2] = np.nan
    members = tuple(SoftMember(m, make(rows), None, is_complete=False) for m, rows in enumerate(missing))
    assert [member.is_complete for member in validated(members, None, AXES)] == [True, False]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([0.4, 0.4], "sum to 1 over classes; item 'y' of member 1 sums to 0.8"),
        ([0.4, np.nan], "NaN for every class; item 'y' of member 1 is NaN for 1 of 2$"),
        ([1.3, -0.3], "from 0 to 1; item 'y' of member 1 has -0.3. Logits go through"),
        ([2.0, 3.0], "from 0 to 1; item 'y' of member 1 has 3. Logits go through"),
    ],
)
def test_a_wrong_row_is_named(row, message):
    rows = BLOCK[1].copy()
    rows[1] = row
    with pytest.raises(cs.InvalidPredictions, match=message):
        validated((soft(BLOCK[0]), soft(rows, position=1)), None, AXES)
    listed = soft(rows[1:], items=np.array([1, 2]), position=1)
    with pytest.raises(cs.InvalidPredictions, match=message):
        validated((soft(BLOCK[0]), listed), None, AXES)


def test_wrong_rows_are_found_in_any_part(monkeypatch):
    monkeypatch.setattr("consilience.data.answers.NUMBERS_AT_ONCE", 4)
    rows = np.full((9, 2), 0.5)
    rows[2] = np.nan
    rows[7:] = 0.6
    axes = Axes(Axis("member", 1), Axis("item", 9), Axis("class", 2))
    with pytest.raises(cs.InvalidPredictions, match="item 7 of member 0 sums to 1.2"):
        validated((soft(rows),), None, axes)


def test_a_wrong_label_is_named():
    for label in (2, -1):
        hard = HardAnswers(np.array([0, 1]), np.array([0, 1]), np.array([1, label]))
        message = f"^labels must be from 0 to 1, or -1 where missing; item 'y' of member 1 has {label}$"
        with pytest.raises(cs.InvalidPredictions, match=message):
            validated((), hard, AXES)


def test_every_item_needs_an_answer():
    names, rows = ["x", "y", "z"], np.array(BLOCK[0])
    soft = cs.Predictions.from_answers([0, 1], [0, 0], probabilities=rows[:2], items=names, partial=True)
    hard = cs.Predictions.from_answers([2], [0], [0], n_classes=2, items=names, partial=True)
    assert cs.Predictions.concatenate([soft, hard]).n_items == 3
    with pytest.raises(cs.InvalidPredictions, match="^each item needs .*; item 'z' has none. Use partial=True"):
        cs.Predictions.concatenate([soft])
    with pytest.raises(cs.InvalidPredictions, match="item 'x' has none, nor have 1 others"):
        cs.Predictions.concatenate([hard])


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(1), np.int64(0)])
def test_numbers_in_their_range(value):
    assert check_number("weight", value, most=1) is None


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan, np.inf, True, "1", None])
def test_numbers_out_of_their_range(value):
    with pytest.raises(ValueError, match="^weight must be a number from 0 to 1; got "):
        check_number("weight", value, most=1)


def test_integers_out_of_their_range():
    for value in (0, 1.0, True, np.inf):
        with pytest.raises(ValueError, match="^max_iter must be an integer of at least 1; got "):
            check_number("max_iter", value, least=1, integer=True)
    assert check_number("max_iter", np.int64(1), least=1, integer=True) is None


def test_a_dask_array_is_computed_once():
    """Each look at it would compute all of it again: a comparison took five minutes."""
    import dask
    import dask.array as da

    computed = []

    def block():
        computed.append(None)
        return np.full((2, 6, 3), 1 / 3)

    array = da.from_delayed(dask.delayed(block)(), (2, 6, 3), dtype=float)
    with dask.config.set(scheduler="synchronous"):
        assert cs.compare(array)["method"]
    assert len(computed) == 1


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
    check_sizes(unknown, 99, 99)
