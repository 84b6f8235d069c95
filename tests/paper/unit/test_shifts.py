"""Images of a condition: turned, corrupted, foreign."""

import numpy as np
import pytest

pytest.importorskip("torch")

from paper.errors import CannotReproduce
from paper.shifts import Condition, resized, rotated, shifted

from small_data import write_cifar, write_mnist

IMAGE = np.arange(2 * 3 * 4 * 4, dtype=np.float32).reshape(2, 3, 4, 4) / 100


def test_images_of_other_sizes_are_padded_or_cropped_about_their_middle():
    larger = resized(IMAGE, 3, 8)
    np.testing.assert_array_equal(larger[:, :, 2:6, 2:6], IMAGE)
    assert larger.sum() == pytest.approx(IMAGE.sum())
    np.testing.assert_array_equal(resized(larger, 3, 4), IMAGE)
    np.testing.assert_array_equal(resized(IMAGE, 3, 4), IMAGE)


def test_colours_become_grey_and_grey_is_repeated():
    grey = resized(IMAGE, 1, 4)
    np.testing.assert_allclose(grey[:, 0], IMAGE.mean(axis=1))
    np.testing.assert_array_equal(resized(grey, 3, 4), np.repeat(grey, 3, axis=1))


def test_a_quarter_turn_is_one():
    np.testing.assert_allclose(rotated(IMAGE, 90), np.rot90(IMAGE, axes=(2, 3)), atol=1e-5)
    assert rotated(IMAGE, 0) is IMAGE and rotated(IMAGE, 360) is IMAGE


def test_conditions_of_small_data(tmp_path):
    write_mnist(tmp_path / "mnist")
    write_cifar(tmp_path / "cifar10", 1)
    foreign = shifted(Condition("cifar10", "mnist"), tmp_path, 5)
    assert foreign.pixels.shape == (5, 3, 32, 32)
    turned = shifted(Condition("mnist", "rotation", 90), tmp_path, 5)
    clean = shifted(Condition("mnist"), tmp_path, 5)
    np.testing.assert_allclose(turned.pixels, np.rot90(clean.pixels, axes=(2, 3)), atol=1e-5)
    with pytest.raises(CannotReproduce, match=r"shift must be clean, rotation, a corruption .*; got 'upside-down'"):
        shifted(Condition("mnist", "upside-down"), tmp_path)


def test_more_items_than_there_are(tmp_path):
    write_mnist(tmp_path / "mnist")
    with pytest.raises(CannotReproduce, match="items must be at most the 40 that there are; got 41"):
        shifted(Condition("mnist"), tmp_path, 41)
    assert len(shifted(Condition("mnist"), tmp_path, 40).labels) == 40


def test_corrupted_imagenet_that_is_not_there(tmp_path):
    with pytest.raises(CannotReproduce, match=r"ImageNet-C must be in .*; fog/3 is not there"):
        shifted(Condition("imagenet", "fog", 3), tmp_path)
