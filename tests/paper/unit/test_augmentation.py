"""Training images are turned, moved and mirrored as torchvision does it."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from paper.augmentation import crop_and_flip, draw_crops, random_box, rotate_and_flip


def test_augmentation_turns_and_mirrors():
    torch.manual_seed(0)
    image = torch.zeros(200, 1, 33, 33)
    image[:, :, 16, 26] = 1  # ten pixels right of the middle
    made = rotate_and_flip(image)
    where = np.array(np.nonzero(made.numpy()[:, 0]))
    distance = np.hypot(where[1] - 16, where[2] - 16)
    assert np.all(np.abs(distance - 10) < 1.0)
    assert 0.3 < (where[2] < 16).mean() < 0.7  # mirrored every other time
    torch.testing.assert_close(rotate_and_flip(torch.ones(4, 3, 8, 8), 0.0), torch.ones(4, 3, 8, 8))


def test_crops_move_and_mirror():
    torch.manual_seed(0)
    image = torch.zeros(300, 1, 9, 9)
    image[:, :, 4, 6] = 1
    where = np.array(np.nonzero(crop_and_flip(image, 2).numpy()[:, 0]))
    assert where.shape[1] == 300
    assert set(where[1]) == {2, 3, 4, 5, 6} and set(where[2]) == set(range(9))
    torch.testing.assert_close(crop_and_flip(torch.ones(3, 2, 5, 5), 0), torch.ones(3, 2, 5, 5))


def test_random_parts_lie_inside():
    torch.manual_seed(0)
    boxes = [random_box(500, 375, draws) for draws in draw_crops(300)]
    areas = np.array([(right - left) * (bottom - top) for left, top, right, bottom in boxes]) / (500 * 375)
    ratios = np.array([(right - left) / (bottom - top) for left, top, right, bottom in boxes])
    assert all(0 <= left < right <= 500 and 0 <= top < bottom <= 375 for left, top, right, bottom in boxes)
    assert 0.07 < areas.min() < 0.2 and areas.max() > 0.8
    assert 0.73 < ratios.min() < 0.8 and 1.25 < ratios.max() < 1.36


def test_the_middle_is_taken_where_no_part_fits():
    assert random_box(1000, 10, torch.full((10, 4), 0.99)) == (493, 0, 506, 10)
