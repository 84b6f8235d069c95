"""Test images as an experiment shows them: clean, rotated, corrupted, or mixed with foreign ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import ndimage

from paper import datasets
from paper.corruptions import CORRUPTIONS, FROST_NEEDS, corrupted, frost_photographs
from paper.errors import CannotReproduce
from paper.imagenet import read_imagenet_c
from paper.jpegs import JpegFiles
from paper.provenance import checksum, of_file, of_images
from paper.tasks import TASKS

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from paper.datasets import Images


VERSION = 2
"""Of how images are shifted here and how networks see them: to be raised when either changes."""


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
    if condition.shift in datasets.FOREIGN:
        return _foreign(condition, data_dir, n_items)
    if condition.task == "imagenet" and condition.shift in CORRUPTIONS:
        return _imagenet_c(condition, data_dir).first(n_items)
    clean = TASKS[condition.task].images(data_dir, train=False)
    if n_items is not None and n_items > len(clean.labels):
        raise CannotReproduce(f"items must be at most the {len(clean.labels):,} that there are; got {n_items:,}")
    clean = clean.first(n_items)
    if condition.shift == "clean":
        return clean
    if isinstance(clean.pixels, JpegFiles):
        raise CannotReproduce(f"images of {condition.task} are clean or corrupted; got {condition.shift!r}")
    if condition.shift == "rotation":
        return datasets.Images(rotated(clean.pixels, condition.severity), clean.labels)
    if condition.shift in CORRUPTIONS:
        return datasets.Images(_corrupted(condition, clean.pixels, data_dir), clean.labels)
    raise CannotReproduce(f"shift must be clean, rotation, a corruption or a data set; got {condition.shift!r}")


def is_made_here(condition: Condition, data_dir: Path) -> bool:
    """Whether a condition is a corruption that is made from the clean images, since the published one is absent."""
    task = TASKS[condition.task]
    is_corruption = condition.shift in CORRUPTIONS and condition.task != "imagenet"
    return is_corruption and datasets.published_file(data_dir, task.data_set, condition.shift) is None


def source_of(condition: Condition, clean: str, data_dir: Path) -> str:
    """The checksum of what a condition is made of, the clean images' being known."""
    found: list[object] = [VERSION, condition, clean]
    if condition.shift in datasets.FOREIGN:
        found.append(of_images(datasets.FOREIGN[condition.shift](data_dir)))
    elif condition.task == "imagenet" and condition.shift in CORRUPTIONS:
        found.append(of_images(_imagenet_c(condition, data_dir)))
    elif is_made_here(condition, data_dir):
        photographs = frost_photographs(data_dir / "frost") if condition.shift == "frost" else []
        found += ["made here", [of_file(path) for path in photographs]]
    elif (file := datasets.published_file(data_dir, TASKS[condition.task].data_set, condition.shift)) is not None:
        found.append(of_file(file))
    return checksum(*found)


def why_missing(condition: Condition, data_dir: Path) -> str | None:
    """A sentence where something that a condition is made of is absent, the task's own images aside."""
    if condition.shift == "frost" and is_made_here(condition, data_dir) and not frost_photographs(data_dir / "frost"):
        return FROST_NEEDS
    if condition.task == "imagenet" and condition.shift in CORRUPTIONS:
        severity = int(condition.severity)
        if read_imagenet_c(data_dir, condition.shift, severity) is None:
            return f"ImageNet-C/{condition.shift}/{severity} is not in {data_dir}"
    return None


def labels_of(condition: Condition, data_dir: Path, n_items: int | None = None) -> npt.NDArray[np.int64]:
    """The true classes of a condition's items, without making its images."""
    if condition.task == "imagenet":
        return shifted(condition, data_dir, n_items).labels  # names of files: nothing is read
    return TASKS[condition.task].images(data_dir, train=False).labels[:n_items]


def _corrupted(condition: Condition, pixels: npt.NDArray[np.float32], data_dir: Path) -> npt.NDArray[np.float32]:
    """The published corruption where it is there, one made here elsewhere."""
    severity = int(condition.severity)
    published = datasets.published_file(data_dir, TASKS[condition.task].data_set, condition.shift)
    if published is not None:
        return datasets.published_corruption(published, severity)[: len(pixels)]
    made = corrupted(pixels, condition.shift, severity, frost_dir=data_dir / "frost")
    return np.asarray(made, dtype=np.float32)


def _imagenet_c(condition: Condition, data_dir: Path) -> Images:
    images = read_imagenet_c(data_dir, condition.shift, int(condition.severity))
    if images is None:
        raise CannotReproduce(
            f"ImageNet-C must be in {data_dir / 'ImageNet-C'}; {condition.shift}/{condition.severity:g} is not there"
        )
    return images


def rotated(pixels: npt.NDArray[np.float32], degrees: float) -> npt.NDArray[np.float32]:
    """Each image turned about its middle, by linear interpolation, black outside."""
    if degrees % 360 == 0:
        return pixels
    turned = ndimage.rotate(pixels, degrees, axes=(2, 3), reshape=False, order=1)
    return np.asarray(np.clip(turned, 0, 1), dtype=np.float32)


def _foreign(condition: Condition, data_dir: Path, n_items: int | None) -> Images:
    """Another data set's test images in the shape that the task's network takes."""
    images = datasets.FOREIGN[condition.shift](data_dir).first(n_items)
    task = TASKS[condition.task]
    return datasets.Images(resized(np.asarray(images.pixels), len(task.mean), task.size), images.labels)


def resized(pixels: npt.NDArray[np.float32], n_channels: int, size: int) -> npt.NDArray[np.float32]:
    """Images of another number of channels and size: grey by mean or repetition, size by padding or cropping."""
    if pixels.shape[1] != n_channels:
        grey = pixels.mean(axis=1, keepdims=True)
        pixels = np.repeat(grey, n_channels, axis=1)
    margin = (size - pixels.shape[2]) // 2
    if margin > 0:
        return np.pad(pixels, ((0, 0), (0, 0), (margin, margin), (margin, margin)))
    return pixels[:, :, -margin : -margin + size, -margin : -margin + size]
