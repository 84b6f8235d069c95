"""Numbers and names as JSON holds them."""

import json

import numpy as np
import pytest

from consilience.report.items import LONGEST_TEXT, as_json, text


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [
        (0.123456, 4, 0.1235),
        (0.123456, 2, 0.12),
        (0.123456, None, 0.123456),
        (np.float32(0.5), 4, 0.5),
        (np.int64(7), 4, 7),
        (np.bool_(True), 4, True),
        (np.nan, 4, None),
        (-np.inf, None, None),
        ("x", 4, "x"),
        (None, 4, None),
    ],
)
def test_numbers_keep_some_digits(value, digits, expected):
    found = as_json(value, digits)
    assert found == expected and type(found) is type(expected)


def test_arrays_become_nested_lists_for_json():
    values = as_json({3: [np.array([[1 / 3, np.inf], [2, 0]], dtype=np.float32), {1}]}, 4)
    assert json.dumps(values, allow_nan=False) == '{"3": [[[0.3333, null], [2.0, 0.0]], "{1}"]}'


def test_zero_has_no_sign():
    assert str(as_json(-0.00001, 4)) == "0.0"


def test_long_names_are_cut_to_the_longest_that_is_shown():
    assert text("x" * LONGEST_TEXT) == "x" * LONGEST_TEXT
    cut = text("x" * (LONGEST_TEXT + 1))
    assert len(cut) == LONGEST_TEXT and cut.endswith("x…")
    assert text(7) == "7"
