"""Test images as an experiment shows them: clean, rotated, corrupted, or mixed with foreign ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import ndimage

from consilience.errors import InvalidPredictions
from consilience.experiments import datasets
from consilience.experiments.corruptions import CORRUPTIONS, corrupted
from consilience.experiments.tasks import TASKS

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from consilience.experiments.datasets import Images


@dataclass(frozen=True)
class Condition:
    """What members look at: the test images of a task under a shift."""

    task: str
    shift: str = "clean"  # "clean", "rotation", a corruption, or the name of a foreign data set
    severity: float = 0  # an angle in degrees, 1 to 5, or nothing

    def __str__(self) -> str:
        """For file names and progress."""
        return f"{self.task}-{self.shift}" + ("" if self.shift == "clean" else f"-{self.severity:g}")


def shifted(condition: Condition, data_dir: Path, n_items: int | None = None) -> Images:
    """The images of a condition, the first so many; labels of foreign ones mean nothing."""
    task = TASKS[condition.task]
    if condition.shift in datasets.FOREIGN:
        return _foreign(condition, data_dir, n_items)
    images = task.images(data_dir, train=False)
    pixels, labels = images.pixels[:n_items], images.labels[:n_items]
    if condition.shift == "rotation":
        return datasets.Images(rotated(pixels, condition.severity), labels)
    if condition.shift in CORRUPTIONS:
        published = datasets.published_corruption(data_dir, condition.task, condition.shift, int(condition.severity))
        if published is not None:
            return datasets.Images(published[:n_items], labels)
        made = corrupted(pixels, condition.shift, int(condition.severity), frost_dir=data_dir / "frost")
        return datasets.Images(made.astype(np.float32), labels)
    if condition.shift != "clean":
        raise InvalidPredictions(f"shift must be clean, rotation, a corruption or a data set; got {condition.shift!r}")
    return datasets.Images(pixels, labels)


def rotated(pixels: npt.NDArray[np.float32], degrees: float) -> npt.NDArray[np.float32]:
    """Each image turned about its middle, by linear interpolation, black outside."""
    if degrees % 360 == 0:
        return pixels
    turned = ndimage.rotate(pixels, degrees, axes=(2, 3), reshape=False, order=1)
    return np.asarray(np.clip(turned, 0, 1), dtype=np.float32)


def _foreign(condition: Condition, data_dir: Path, n_items: int | None) -> Images:
    """Another data set's test images in the shape that the task's network takes."""
    images = datasets.FOREIGN[condition.shift](data_dir)
    n_channels = len(TASKS[condition.task].mean)
    size = 28 if n_channels == 1 else 32
    return datasets.Images(resized(images.pixels[:n_items], n_channels, size), images.labels[:n_items])


def resized(pixels: npt.NDArray[np.float32], n_channels: int, size: int) -> npt.NDArray[np.float32]:
    """Images of another number of channels and size: grey by mean or repetition, size by padding or cropping."""
    if pixels.shape[1] != n_channels:
        grey = pixels.mean(axis=1, keepdims=True)
        pixels = np.repeat(grey, n_channels, axis=1)
    margin = (size - pixels.shape[2]) // 2
    if margin > 0:
        return np.pad(pixels, ((0, 0), (0, 0), (margin, margin), (margin, margin)))
    return pixels[:, :, -margin : -margin + size, -margin : -margin + size]
