"""Training images turned, shifted and mirrored at random, a batch at a time; randomness is torch's own."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def rotate_and_flip(images: Tensor, degrees: float = 90.0) -> Tensor:
    """Each image turned by an angle of up to ±degrees (nearest pixel, black outside), every other one mirrored.

    What torchvision's RandomRotation(90) and RandomHorizontalFlip do.
    """
    angle = torch.deg2rad((2 * torch.rand(len(images)) - 1) * degrees)
    mirror = torch.where(torch.rand(len(images)) < 0.5, -1.0, 1.0)
    zero = torch.zeros_like(angle)
    rows = torch.stack([mirror * angle.cos(), -angle.sin(), zero, mirror * angle.sin(), angle.cos(), zero], dim=1)
    grid = nn.functional.affine_grid(rows.reshape(-1, 2, 3), list(images.shape), align_corners=False)
    return nn.functional.grid_sample(images, grid, mode="nearest", padding_mode="zeros", align_corners=False)


def crop_and_flip(images: Tensor, margin: int = 4) -> Tensor:
    """Each image moved by up to so many pixels (black outside), every other one mirrored.

    What torchvision's RandomCrop(size, padding=4) and RandomHorizontalFlip do.
    """
    size = images.shape[-1]
    padded = nn.functional.pad(images, (margin,) * 4)
    top, left = torch.randint(2 * margin + 1, (2, len(images), 1))
    line = torch.arange(size)
    columns = torch.where(torch.rand(len(images), 1) < 0.5, line.flip(0), line) + left
    items = torch.arange(len(images))[:, None, None]
    return padded[items, :, (line + top)[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)


N_TRIES = 10


def draw_crops(n_images: int) -> Tensor:
    """What `random_box` needs for so many images: (images, tries, 4) random numbers, then whether to mirror."""
    return torch.rand(n_images, N_TRIES, 4)


def random_box(width: int, height: int, draws: Tensor) -> tuple[int, int, int, int]:
    """A box (left, top, right, bottom) of 8 to 100 % of an image's area and a ratio of 3/4 to 4/3: RandomResizedCrop.

    The first of the tries that fits; the middle of the image, its ratio clipped, where none does.
    """
    for area, ratio, across, down in draws.tolist():
        aspect = (3 / 4) ** (1 - 2 * ratio)  # uniform in the logarithm
        size = width * height * (0.08 + 0.92 * area)
        wide, high = round((size * aspect) ** 0.5), round((size / aspect) ** 0.5)
        if 0 < wide <= width and 0 < high <= height:
            left, top = int(across * (width - wide + 1)), int(down * (height - high + 1))
            return left, top, left + wide, top + high
    wide, high = min(width, round(height * 4 / 3)), min(height, round(width * 4 / 3))
    left, top = (width - wide) // 2, (height - high) // 2
    return left, top, left + wide, top + high
