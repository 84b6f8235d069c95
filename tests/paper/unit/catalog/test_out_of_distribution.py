"""Figure 6: a share of foreign items."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from paper.catalog import out_of_distribution


def test_a_share_of_the_items_is_replaced():
    inside, outside = np.zeros((2, 10, 3), np.float32), np.ones((2, 4, 3), np.float32)
    for share, n_foreign in ((0.3, 3), (0.5, 5)):
        mixed, is_foreign = out_of_distribution.mixture(inside, outside, share, seed=0)
        assert is_foreign.sum() == n_foreign and np.array_equal(mixed[0, :, 0] == 1, is_foreign)
