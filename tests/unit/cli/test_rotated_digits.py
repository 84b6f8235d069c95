"""The demo stops when it is told to."""

import warnings

import numpy as np
import pytest

from consilience.cli import rotated_digits


def test_an_interrupt_that_a_network_swallows_stops_the_demo():
    class Network:
        def fit(self, *_):
            warnings.warn("Training interrupted by user.", UserWarning, stacklevel=1)

    with pytest.raises(KeyboardInterrupt):
        rotated_digits._fit(Network(), None, None)


def test_digits_are_turned_about_their_middle():
    image = np.zeros((8, 8))
    image[1, 3:5] = 1  # above the middle
    turned = rotated_digits.rotated(image.reshape(1, 64), 90).reshape(8, 8)
    np.testing.assert_allclose(turned, np.rot90(image), atol=1e-12)
    np.testing.assert_allclose(rotated_digits.rotated(image.reshape(1, 64), 0).reshape(8, 8), image, atol=1e-12)
    bright = rotated_digits.rotated(np.ones((2, 64)), 30)
    assert bright.shape == (2, 64) and bright.min() >= 0 and bright.max() <= 1
