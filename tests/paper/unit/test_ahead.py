"""Batches are made ahead, and are the same."""

import threading

import pytest

from paper.ahead import made_ahead


@pytest.mark.parametrize("n_parts", [0, 1, 2, 7])
def test_the_same_parts_in_the_same_order(n_parts):
    assert list(made_ahead(iter(range(1, n_parts + 1)))) == list(range(1, n_parts + 1))


def test_the_next_is_made_while_this_one_is_used():
    is_second_made = threading.Event()

    def parts():
        yield "first"
        is_second_made.set()
        yield "second"

    found = made_ahead(parts())
    assert next(found) == "first"
    assert is_second_made.wait(timeout=30)
    assert list(found) == ["second"]


def test_a_failure_comes_through_in_its_turn():
    def parts():
        yield "first"
        raise OSError("the disk is gone")

    found = made_ahead(parts())
    assert next(found) == "first"
    with pytest.raises(OSError, match="the disk is gone"):
        next(found)
