"""Data sets in their published file formats."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from paper.cifar_batches import read_batch
from paper.errors import CannotReproduce

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from paper.jpegs import JpegFiles

    Pixels: TypeAlias = npt.NDArray[np.float32] | JpegFiles


class Images(NamedTuple):
    """Images (items, channels, height, width) in [0, 1], an array or files to be read, and their labels."""

    pixels: Pixels
    labels: npt.NDArray[np.int64]

    def first(self, n_items: int | None) -> Images:
        """The first so many; None: all."""
        return Images(self.pixels[:n_items], self.labels[:n_items])


def read_idx(path: Path) -> npt.NDArray[np.uint8]:
    """An IDX file of bytes, compressed or not."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    n_dimensions = data[3] if len(data) > 3 else 0
    if data[:3] != b"\x00\x00\x08" or len(data) < 4 + 4 * n_dimensions:
        raise CannotReproduce(f"{path} must be an IDX file of bytes; it begins with {data[:4]!r}")
    shape = np.frombuffer(data, ">u4", n_dimensions, 4).astype(int)
    values = np.frombuffer(data, np.uint8, offset=4 + 4 * n_dimensions)
    if values.size != shape.prod():
        raise CannotReproduce(f"{path} must have {shape.prod()} values as its header says; it has {values.size}")
    return values.reshape(shape)


def read_mnist(folder: Path, *, train: bool) -> Images:
    """MNIST, Fashion-MNIST or notMNIST: four IDX files."""
    part = "train" if train else "t10k"
    images, labels = (read_idx(_idx(folder, f"{part}-{kind}")) for kind in ("images-idx3", "labels-idx1"))
    return Images(as_pixels(images[:, None]), labels.astype(np.int64))


def _idx(folder: Path, stem: str) -> Path:
    for suffix in ("-ubyte.gz", "-ubyte"):
        if (path := folder / f"{stem}{suffix}").exists():
            return path
    raise CannotReproduce(f"{folder} must hold {stem}-ubyte or {stem}-ubyte.gz; it does not")


def read_cifar10(folder: Path, *, train: bool) -> Images:
    """CIFAR-10's binary version (one byte of label, 3072 of pixels), or its Python version."""
    names = [f"data_batch_{place}" for place in range(1, 6)] if train else ["test_batch"]
    if not (binary := folder / "cifar-10-batches-bin").is_dir():
        return _read_batches([folder / "cifar-10-batches-py" / name for name in names], b"labels")
    return _read_cifar([binary / f"{name}.bin" for name in names], n_labels=1)


def read_cifar100(folder: Path, *, train: bool) -> Images:
    """CIFAR-100's binary version (coarse and fine label, 3072 of pixels), or its Python version; fine labels count."""
    name = "train" if train else "test"
    if not (binary := folder / "cifar-100-binary").is_dir():
        return _read_batches([folder / "cifar-100-python" / name], b"fine_labels")
    return _read_cifar([binary / f"{name}.bin"], n_labels=2)


def _read_cifar(paths: list[Path], n_labels: int) -> Images:
    parts = []
    for path in paths:
        values = np.frombuffer(path.read_bytes(), np.uint8)
        if not values.size or values.size % (3072 + n_labels):
            raise CannotReproduce(f"{path} must hold rows of {3072 + n_labels} bytes; it has {values.size} bytes")
        parts.append(values.reshape(-1, 3072 + n_labels))
    rows = np.concatenate(parts)
    return _cifar_images(rows[:, n_labels:], rows[:, n_labels - 1].astype(np.int64))


def _read_batches(paths: list[Path], name: bytes) -> Images:
    pixels, labels = zip(*(read_batch(path, name) for path in paths), strict=True)
    return _cifar_images(np.concatenate(pixels), np.concatenate(labels))


def _cifar_images(rows: npt.NDArray[np.uint8], labels: npt.NDArray[np.int64]) -> Images:
    if len(rows) != len(labels):
        raise CannotReproduce(f"every image must have a label; there are {len(rows)} images, {len(labels)} labels")
    return Images(as_pixels(rows.reshape(-1, 3, 32, 32)), labels)


def as_pixels(values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Bytes as numbers in [0, 1]."""
    return values.astype(np.float32) / np.float32(255)


def read_svhn(folder: Path, *, train: bool) -> Images:
    """SVHN's cropped digits: MATLAB files of X (32, 32, 3, items) and y, where 10 stands for 0."""
    from scipy.io import loadmat  # noqa: PLC0415 - only this format needs it

    data = loadmat(folder / ("train_32x32.mat" if train else "test_32x32.mat"))
    return Images(as_pixels(data["X"].transpose(3, 2, 0, 1)), data["y"].ravel().astype(np.int64) % 10)


CORRUPTED = {"cifar10": "CIFAR-10-C", "cifar100": "CIFAR-100-C"}


def published_file(data_dir: Path, data_set: str, corruption: str) -> Path | None:
    """The file of a corruption of a -C data set; None where it is absent."""
    path = data_dir / CORRUPTED.get(data_set, "") / f"{corruption}.npy"
    return path if data_set in CORRUPTED and path.exists() else None


def published_corruption(path: Path, severity: int) -> npt.NDArray[np.float32]:
    """The images of a file of a -C data set: an array of 50,000 images, 10,000 per severity."""
    images = np.load(path, mmap_mode="r", allow_pickle=False)
    each = len(images) // 5
    if images.ndim != 4 or images.shape[1:] != (32, 32, 3) or images.dtype != np.uint8 or len(images) % 5:
        raise CannotReproduce(f"{path} must be bytes (5 × items, 32, 32, 3); got {images.dtype} {images.shape}")
    return as_pixels(images[(severity - 1) * each : severity * each].transpose(0, 3, 1, 2))


FOREIGN = {
    "mnist": lambda data_dir: read_mnist(data_dir / "mnist", train=False),
    "fashion-mnist": lambda data_dir: read_mnist(data_dir / "fashion-mnist", train=False),
    "notmnist": lambda data_dir: read_mnist(data_dir / "notmnist", train=False),
    "cifar10": lambda data_dir: read_cifar10(data_dir / "cifar10", train=False),
    "cifar100": lambda data_dir: read_cifar100(data_dir / "cifar100", train=False),
    "svhn": lambda data_dir: read_svhn(data_dir / "svhn", train=False),
}
"""Test images of data sets that members were not trained on, by name."""
