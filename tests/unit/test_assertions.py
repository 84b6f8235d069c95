"""The tests' own assertions can fail."""

import pytest

from assertions import assert_never_falls, assert_within_errors


def test_a_falling_objective_is_noticed():
    assert_never_falls([-3.0, -2.0, -2.0])
    with pytest.raises(AssertionError, match="falls by"):
        assert_never_falls([-3.0, -2.0, -2.1, -1.0])
    with pytest.raises(AssertionError, match="says nothing"):
        assert_never_falls([-3.0])


def test_a_wrong_estimate_is_noticed():
    assert_within_errors([1.0], 1.3, 0.1)
    with pytest.raises(AssertionError, match="5.0 standard errors off"):
        assert_within_errors([1.0], 1.5, 0.1)
