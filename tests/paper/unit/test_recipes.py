"""Recipes: milestones and learning rates."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from paper.recipes import RECIPES


def test_recipes_scale_with_their_milestones():
    scaled = RECIPES["cifar10"].scaled_to(10)
    assert (scaled.epochs, scaled.milestones, scaled.batch_size) == (10, (5, 8), 128)


def test_rates_that_fall_linearly():
    shares = [RECIPES["cifar100"].share_of_learning_rate(epoch) for epoch in (0, 149, 150, 210, 270, 299)]
    np.testing.assert_allclose(shares, [1, 1, 1, 0.505, 0.01, 0.01], atol=1e-12)
