"""ImageNet-1K and ImageNet-C as they unpack: folders of JPEGs. Nothing is held in memory but the names of the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paper.datasets import Images
from paper.errors import CannotReproduce
from paper.jpegs import JpegFiles

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SUFFIXES = {".jpeg", ".jpg"}


def read_imagenet(folder: Path, *, train: bool) -> Images:
    """`train/WNID/*.JPEG`, and `val/WNID/*.JPEG` or `val/*.JPEG` with the development kit's ground truth."""
    wnids = class_names(folder)
    part = folder / ("train" if train else "val")
    if train or any((part / wnid).is_dir() for wnid in wnids):
        return by_class(part, wnids)
    return _by_ground_truth(part, folder, wnids)


def read_imagenet_c(data_dir: Path, corruption: str, severity: int) -> Images | None:
    """`ImageNet-C/CORRUPTION/SEVERITY/WNID/*.JPEG`; None where it is not there.

    The published archives are named for groups of corruptions (noise, blur, weather, digital), and unpack either into
    these folders or to the corruptions right away.
    """
    top = data_dir / "ImageNet-C"
    for folder in (top / corruption, *sorted(top.glob(f"*/{corruption}"))):
        if (folder / str(severity)).is_dir():
            return by_class(folder / str(severity), class_names(data_dir / "imagenet"))
    return None


def class_names(folder: Path) -> list[str]:
    """The WordNet ids of the classes in the order of their numbers, which is the alphabet's."""
    for part in (folder / "train", folder / "val"):
        if part.is_dir() and (found := sorted(path.name for path in part.iterdir() if path.is_dir())):
            return found
    if (truth := _ground_truth(folder)) is not None:
        return sorted(_kit_classes(truth.with_name("meta.mat")).values())
    raise CannotReproduce(
        f"{folder} must hold train/WNID/*.JPEG, val/WNID/*.JPEG or the development kit; it has none of them"
    )


def by_class(folder: Path, wnids: Sequence[str]) -> Images:
    """The images of folders that are named for their classes: the first of each class, then the second, and so on.

    So the first so many images, which a scale may ask for, are of all classes.
    """
    numbers = {wnid: number for number, wnid in enumerate(wnids)}
    if unknown := sorted(path.name for path in folder.glob("*/") if path.name not in numbers):
        raise CannotReproduce(f"{folder} must hold folders of known classes; got {unknown[0]!r}")
    ranked = [(rank, numbers[wnid], path) for wnid in wnids for rank, path in enumerate(_images_in(folder / wnid))]
    if not ranked:
        raise CannotReproduce(f"{folder} must hold images in folders named for classes; it has none")
    _, labels, paths = zip(*sorted(ranked), strict=True)
    return Images(JpegFiles(paths), np.array(labels, dtype=np.int64))


def _by_ground_truth(part: Path, folder: Path, wnids: Sequence[str]) -> Images:
    """Validation images as ILSVRC2012_img_val.tar unpacks, with the development kit's numbers of classes."""
    truth = _ground_truth(folder)
    if truth is None:
        raise CannotReproduce(f"{part} must have folders by class, or the development kit must be in {folder}")
    numbers = [int(line) for line in truth.read_text(encoding="ascii").split()]
    paths = _images_in(part)
    if len(numbers) != len(paths):
        raise CannotReproduce(f"{truth} must have a line for each of the {len(paths)} images; it has {len(numbers)}")
    places = {number: wnids.index(wnid) for number, wnid in _kit_classes(truth.with_name("meta.mat")).items()}
    return Images(JpegFiles(tuple(paths)), np.array([places[number] for number in numbers], dtype=np.int64))


def _ground_truth(folder: Path) -> Path | None:
    """Where the development kit has the classes of the validation images; None where it is not there."""
    kits = [folder / "ILSVRC2012_devkit_t12" / "data", folder / "data", folder]
    return next((path for kit in kits if (path := kit / "ILSVRC2012_validation_ground_truth.txt").exists()), None)


def _kit_classes(meta: Path) -> dict[int, str]:
    """The development kit's own numbers of the classes: only those of leaves (no children) label images."""
    from scipy.io import loadmat  # noqa: PLC0415 - only this format needs it

    rows = loadmat(meta, squeeze_me=True)["synsets"]
    return {int(row["ILSVRC2012_ID"]): str(row["WNID"]) for row in np.atleast_1d(rows) if int(row["num_children"]) == 0}


def _images_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.suffix.lower() in SUFFIXES)
