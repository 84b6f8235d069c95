"""The classes that the network looks at are the same ones in every library."""

import numpy as np
import pytest

from consilience.answering.learned.experts import Opinions
from consilience.answering.learned.features import MOST_CANDIDATES, candidates

N_CLASSES = MOST_CANDIDATES + 10


def opinions_like(best):
    low = best - best
    return Opinions(best, low, low - 50, low - 50, low, low[:, :1] + 1, low[:, :1] + 1)


def test_few_classes_are_all_candidates():
    assert candidates(opinions_like(np.full((3, MOST_CANDIDATES), 1 / MOST_CANDIDATES))) is None


def test_candidates_are_the_largest_and_the_first_of_equal_ones(rng):
    best = rng.integers(1, 5, size=(50, N_CLASSES)) / 10  # many are equal
    best[0] = 0.1
    expected = np.sort(np.argsort(-best, axis=1, kind="stable")[:, :MOST_CANDIDATES], axis=1)
    np.testing.assert_array_equal(candidates(opinions_like(best)), expected)
    torch = pytest.importorskip("torch")
    np.testing.assert_array_equal(candidates(opinions_like(torch.tensor(best))).numpy(), expected)
