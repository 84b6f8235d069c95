"""What tests of several aggregators are given."""

import pytest

from simulate import diagonal_confusion, labels_from_confusion


@pytest.fixture
def labels(rng):
    """Labels (members, items) of four members, a fifth of them missing; every item has one."""
    confusion = diagonal_confusion([0.9, 0.7, 0.6, 0.5], 3)
    table, _ = labels_from_confusion(rng, confusion, [0.5, 0.3, 0.2], 60)
    table[rng.random(table.shape) < 0.2] = -1
    table[0, (table < 0).all(axis=0)] = 0
    return table
