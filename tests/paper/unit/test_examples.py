"""Images as a network sees them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from paper.datasets import Images
from paper.examples import Examples


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=80)
    images = rng.normal(size=(80, 3, 8, 8)) + labels[:, None, None, None]
    return Examples(Images(images.astype(np.float32), labels), (0.5,), (2.0,))


def test_augmentation_comes_before_normalization(data):
    torch.manual_seed(0)
    black = Examples(Images(np.ones((64, 1, 9, 9), np.float32), np.zeros(64, np.int64)), (0.5,), (0.25,))
    assert set(black.batch(torch.arange(64), "crop-flip").unique().tolist()) == {-2.0, 2.0}  # black and white
