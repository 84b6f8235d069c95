"""A posterior that is computed when it is asked for, and once at most."""

import copy
import pickle

import numpy as np
import pytest

from consilience.passes.responsibilities import LazyPosterior

ROWS = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])


class Source:
    """Counts how often it is asked."""

    def __init__(self):
        self.n_computed = 0

    def compute(self):
        self.n_computed += 1
        return ROWS

    def chunks(self):
        yield 0, 2, ROWS[:2]
        yield 2, 3, ROWS[2:]

    def lazy(self):
        return LazyPosterior(None, self.compute, self.chunks)


def test_a_large_one_is_computed_when_it_is_asked_for():
    source = Source()
    posterior = source.lazy()
    pieces = list(posterior.chunks())
    assert [(start, stop) for start, stop, _ in pieces] == [(0, 2), (2, 3)]
    assert (source.n_computed, posterior._values is not None) == (0, False)
    assert posterior.to_array() is ROWS
    assert [(start, stop) for start, stop, _ in posterior.chunks()] == [(0, 3)]
    assert source.n_computed == 1


def test_a_remote_one_still_comes_in_blocks():
    posterior = LazyPosterior(ROWS, chunks=Source().chunks)
    assert len(list(posterior.chunks())) == 2
    assert posterior.to_array() is ROWS


@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize("twin", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])  # noqa: S301
def test_copies_hold_the_numbers(is_large, twin):
    posterior = LazyPosterior(None, lambda: ROWS, lambda: iter(())) if is_large else LazyPosterior(ROWS)
    other = twin(posterior)
    np.testing.assert_array_equal(other.to_array(), ROWS)
    assert other._values is not None
    ((start, stop, rows),) = other.chunks()
    assert (start, stop) == (0, 3)
    np.testing.assert_array_equal(rows, ROWS)


def test_what_is_known_already():
    posterior = LazyPosterior(ROWS)
    assert posterior.to_array() is ROWS
    assert [(start, stop) for start, stop, _ in posterior.chunks()] == [(0, 3)]
