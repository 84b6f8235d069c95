"""The same values in every array library, on the host and back."""

import array_api_strict
import numpy as np
import pytest
import torch
from scipy import sparse

import consilience as cs
from consilience.system.arrays import (
    like,
    like_array,
    namespace,
    plain_numpy,
    position_of_largest,
    take,
    to_numpy,
    unmasked,
    working_dtype,
)

ROWS = np.array([[0.2, 0.8], [0.5, 0.5], [0.75, 0.25]])
LIBRARIES = {"numpy": np.asarray, "torch": torch.asarray, "strict": array_api_strict.asarray}
every_library = pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
SECOND_DEVICE = array_api_strict.Device("device1")


@every_library
def test_values_survive_the_way_to_numpy_and_back(make):
    array = make(ROWS)
    back = like(to_numpy(array), array)
    assert type(back) is type(array) and namespace(back) is namespace(array)
    np.testing.assert_array_equal(to_numpy(back), ROWS)


def test_tensors_that_numpy_does_not_take_as_they_are():
    tracked = torch.tensor(ROWS, requires_grad=True)
    np.testing.assert_array_equal(to_numpy(tracked), ROWS)
    half = to_numpy(torch.tensor(ROWS).to(torch.bfloat16))  # a precision that NumPy does not have
    assert half.dtype == np.float32
    np.testing.assert_allclose(half, ROWS, rtol=2**-8)
    np.testing.assert_array_equal(to_numpy(array_api_strict.asarray(ROWS, device=SECOND_DEVICE)), ROWS)


@every_library
def test_the_example_decides_on_library_and_precision(make):
    for example in (make(ROWS.astype(np.float32)), make(ROWS)):
        made, given = like(ROWS, example), like_array(make(ROWS), example)
        assert made.dtype == given.dtype == example.dtype
        np.testing.assert_allclose(to_numpy(made), ROWS, rtol=1e-7)
    assert like(ROWS > 0.5, make(ROWS), dtype=namespace(make(ROWS)).bool).dtype == namespace(make(ROWS)).bool


def test_what_is_right_already_is_not_copied():
    assert like_array(ROWS, ROWS) is ROWS
    tensor = torch.tensor(ROWS)
    assert like_array(tensor, tensor[:0]).data_ptr() == tensor.data_ptr()


def test_an_array_moves_to_the_device_of_the_example():
    example = array_api_strict.asarray(ROWS, device=SECOND_DEVICE)
    for array in (ROWS, array_api_strict.asarray(ROWS), example):
        assert like_array(array, example).device == SECOND_DEVICE
    assert take(example, np.array([2, 0]), axis=0).device == SECOND_DEVICE


@every_library
def test_rows_and_columns_are_taken_in_the_order_asked_for(make):
    np.testing.assert_array_equal(to_numpy(take(make(ROWS), np.array([2, 0, 2]), axis=0)), ROWS[[2, 0, 2]])
    np.testing.assert_array_equal(to_numpy(take(make(ROWS), np.array([1, 0]), axis=1)), ROWS[:, ::-1])


@every_library
def test_the_lowest_class_wins_a_tie(make):
    found = position_of_largest(make(ROWS))
    assert found.dtype == np.intp and found.tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (ROWS, np.float64),
        (ROWS.astype(">f8"), np.float64),
        (ROWS.astype(np.float32), np.float32),
        (ROWS.astype(np.float16), np.float32),
        (torch.tensor(ROWS).half(), torch.float32),
        (torch.tensor(ROWS), torch.float64),
    ],
)
def test_the_precision_to_compute_in(array, expected):
    assert working_dtype(array) == expected


def test_masked_values_are_missing():
    mask = [[True, True], [False, False]]
    assert unmasked(np.ma.masked_array([[3, 4], [1, 2]], mask)).tolist() == [[-1, -1], [1, 2]]
    filled = unmasked(np.ma.masked_array([[0.5, 0.5], [0.2, 0.8]], mask))
    np.testing.assert_array_equal(filled, [[np.nan, np.nan], [0.2, 0.8]])
    counts = unmasked(np.ma.masked_array(np.array([3, 4], np.uint8), [False, True]))
    np.testing.assert_array_equal(counts, [3, np.nan])
    assert unmasked(np.ma.masked_array(["a", "b"], [False, True])).tolist() == ["a", None]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1.0], [1.0, 2.0]], "^labels must be an array; got ragged lists$"),
        ({1: 2}, "^labels must be an array; got a dict$"),
        (object(), "^labels must be an array; got an object$"),
        (sparse.csr_array(np.eye(2)), "^labels must be a dense array; got a sparse csr_array: make it dense$"),
        (torch.eye(2).to_sparse(), "^labels must be a dense array; got a sparse Tensor: make it dense$"),
        (torch.empty(2, device="meta"), "^labels must be an array with values; got a tensor on the device 'meta'$"),
    ],
    ids=["ragged", "mapping", "object", "scipy", "torch", "meta"],
)
def test_what_is_no_plain_array(values, message):
    with pytest.raises(cs.InvalidPredictions, match=message):
        plain_numpy(values, "labels")
