"""Labelled images as a network sees them, a batch at a time, whether they are in memory or on the disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from paper.augmentation import crop_and_flip, rotate_and_flip
from paper.jpegs import JpegFiles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from paper.datasets import Images

AUGMENTATIONS = {"rotate-flip": rotate_and_flip, "crop-flip": crop_and_flip}


@dataclass(frozen=True)
class Examples:
    """Images, their labels, and what their channels are normalized by."""

    images: Images
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)

    def __len__(self) -> int:
        """How many."""
        return len(self.images.labels)

    @property
    def labels(self) -> Tensor:
        """The true classes."""
        return torch.from_numpy(self.images.labels)

    def batch(self, places: Tensor, augment: str | None = None) -> Tensor:
        """The images at some positions, normalized; augmented before that, so that what comes in is black."""
        mean, std = (torch.tensor(values).reshape(1, -1, 1, 1) for values in (self.mean, self.std))
        return (self._pixels(places, augment) - mean) / std

    def _pixels(self, places: Tensor, augment: str | None) -> Tensor:
        pixels, at = self.images.pixels, places.numpy()
        if augment == "resize-crop-flip" and isinstance(pixels, JpegFiles):
            return torch.from_numpy(pixels.cropped_at_random(at))
        values = torch.from_numpy(np.asarray(pixels[at]))
        return AUGMENTATIONS[augment](values) if augment in AUGMENTATIONS else values

    def batches(self, size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """All images in order, with their labels."""
        for places in torch.arange(len(self)).split(size):
            yield self.batch(places), self.labels[places]
