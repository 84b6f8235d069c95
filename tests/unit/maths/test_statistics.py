"""Statistics form a vector space, whatever they hold."""

import numpy as np
import pytest

from consilience.maths.em import Statistics

FIELDS = ("n_items", "class_counts", "answer_counts", "sums", "log_evidence")


def draw(rng):
    return Statistics(rng.random(), rng.random(3), rng.random((2, 3)), rng.random((2, 3, 3)), rng.normal())


def assert_is(found, expected):
    for field in FIELDS:
        np.testing.assert_allclose(getattr(found, field), expected(lambda one, name=field: getattr(one, name)))


@pytest.fixture
def pair(rng):
    return draw(rng), draw(rng)


def test_sums(pair):
    a, b = pair
    assert_is(a + b, lambda of: of(a) + of(b))


def test_multiples(pair):
    a, b = pair
    assert_is(0.3 * a + 0.7 * b, lambda of: 0.3 * of(a) + 0.7 * of(b))


def test_averages_are_made_in_the_room_of_the_new(pair):
    a, b = pair
    expected, room = 0.8 * a + 0.2 * b, b.sums
    found = a.averaged_into(b, 0.2)
    assert_is(found, lambda of: of(expected))
    assert found.sums is room
