"""What members are trained on and what they look at: images, shifted, unbalanced or among foreign ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from zlib import crc32

import numpy as np
from scipy import ndimage
from sklearn.datasets import load_digits

from paper.datasets import FOREIGN, Images
from paper.shifts import resized, rotated
from paper.tasks import TASKS

LEVELS: dict[str, dict[str, tuple[float, float]]] = {
    "rotation": {"mnist": (25, 45), "fashion-mnist": (12, 25), "cifar10": (15, 40), "digits": (15, 30)},
    "noise": {"mnist": (0.35, 0.6), "fashion-mnist": (0.15, 0.3), "cifar10": (0.05, 0.1), "digits": (0.2, 0.4)},
    "impulse": {"mnist": (0.15, 0.3), "fashion-mnist": (0.08, 0.15), "cifar10": (0.03, 0.08)},
    "blur": {"mnist": (1.5, 2.2), "fashion-mnist": (0.8, 1.5), "cifar10": (0.7, 1.2)},
    "contrast": {"mnist": (0.4, 0.25), "fashion-mnist": (0.6, 0.4), "cifar10": (0.6, 0.4)},
    "brightness": {"mnist": (0.15, 0.3), "fashion-mnist": (0.15, 0.25), "cifar10": (0.15, 0.25)},
    "pixelation": {"mnist": (2, 4), "fashion-mnist": (2, 4), "cifar10": (2, 4)},
    "translation": {"mnist": (3, 5), "fashion-mnist": (3, 5), "cifar10": (4, 8)},
    "occlusion": {"mnist": (9, 12), "fashion-mnist": (10, 14), "cifar10": (10, 14)},
    "imbalance": dict.fromkeys(TASKS, (0.3, 0.05)),
    "foreign": dict.fromkeys(TASKS, (0.2, 0.5)),
}
"""How strong each view is, by data set and level: such that members err more, and not always.

Who changes it, or a shift, deletes the predictions in the work directory: they are kept by the names of views."""

STRANGERS = {"mnist": "notmnist", "fashion-mnist": "mnist", "cifar10": "fashion-mnist"}
"""Whose images are mixed with a data set's own."""


@lru_cache(maxsize=2)
def training_images(data: str, data_dir: Path) -> Images:
    """The 20,000 images (of the digits: 600) that members are trained on."""
    if data == "digits":
        return _between(_digits(), 0, 600)
    return _between(TASKS[data].images(data_dir, train=True), 0, 20_000)


@lru_cache(maxsize=2)
def test_images(data: str, data_dir: Path) -> Images:
    """Images nobody was trained on."""
    return _between(_digits(), 600, 1797) if data == "digits" else TASKS[data].images(data_dir, train=False)


def _between(images: Images, start: int, stop: int) -> Images:
    return Images(images.pixels[start:stop].copy(), images.labels[start:stop].copy())


def _digits() -> Images:
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    pixels = (images / images.max()).astype(np.float32).reshape(-1, 1, 8, 8)
    return Images(pixels[order], labels[order].astype(np.int64))


def viewed(data: str, view: str, n_items: int, data_dir: Path) -> Images:
    """The images of a view, the same whoever looks; labels of foreign images are -1."""
    rng = np.random.default_rng(crc32(f"{data} {view} {n_items}".encode()))
    images = test_images(data, data_dir)
    family, _, level = view.partition("-")
    amount = LEVELS[family][data][int(level) - 1] if level else 0
    share = 1 - amount if family == "foreign" else 1
    chosen = _chosen(images.labels, round(share * n_items), amount if family == "imbalance" else 1, rng)
    pixels, labels = images.pixels[chosen], images.labels[chosen]
    if family in SHIFTS:
        return Images(np.clip(SHIFTS[family](pixels, amount, rng), 0, 1).astype(np.float32), labels)
    if family == "foreign":
        others = FOREIGN[STRANGERS[data]](data_dir)
        drawn = rng.choice(len(others.labels), n_items - len(labels), replace=False)
        strangers = resized(others.pixels[drawn], pixels.shape[1], pixels.shape[2])
        order = rng.permutation(n_items)
        labels = np.concatenate([labels, np.full(len(drawn), -1)])
        return Images(np.concatenate([pixels, strangers])[order], labels[order])
    return Images(pixels, labels)


def _chosen(labels: np.ndarray, n_items: int, kept: float, rng: np.random.Generator) -> np.ndarray:
    """Which items are looked at; of half of the classes, drawn at random, only a share is kept."""
    rare = rng.permutation(10)[:5]
    is_kept = ~np.isin(labels, rare) | (rng.random(len(labels)) < kept)
    return rng.permutation(np.flatnonzero(is_kept))[:n_items]


# ---- shifts: (pixels, amount, generator) -> pixels ---------------------------------------------------------


def _noisy(pixels: np.ndarray, amount: float, rng: np.random.Generator) -> np.ndarray:
    return pixels + rng.normal(0, amount, pixels.shape)


def _salted(pixels: np.ndarray, amount: float, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(pixels.shape) < amount, rng.random(pixels.shape) < 0.5, pixels)


def _blurred(pixels: np.ndarray, amount: float, _: np.random.Generator) -> np.ndarray:
    return ndimage.gaussian_filter(pixels, (0, 0, amount, amount))


def _flat(pixels: np.ndarray, amount: float, _: np.random.Generator) -> np.ndarray:
    mean = pixels.mean(axis=(2, 3), keepdims=True)
    return mean + amount * (pixels - mean)


def _pixelated(pixels: np.ndarray, amount: float, _: np.random.Generator) -> np.ndarray:
    n_items, n_channels, height, width = pixels.shape
    size = int(amount)
    blocks = pixels.reshape(n_items, n_channels, height // size, size, width // size, size).mean(axis=(3, 5))
    return blocks.repeat(size, axis=2).repeat(size, axis=3)


def _translated(pixels: np.ndarray, amount: float, rng: np.random.Generator) -> np.ndarray:
    """Each image moved by so many pixels in one of eight directions, its edge following."""
    down, right = amount * np.array([(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1) if x or y]).T
    way = rng.integers(8, size=len(pixels))
    moved = [ndimage.shift(pixels, (0, 0, y, x), order=0) for y, x in zip(down, right, strict=True)]
    return np.choose(way[:, None, None, None], moved)


def _occluded(pixels: np.ndarray, amount: float, rng: np.random.Generator) -> np.ndarray:
    """A grey square on each image."""
    size, extent = int(amount), pixels.shape[2]
    top, left = rng.integers(extent - size + 1, size=(2, len(pixels), 1, 1, 1))
    rows, columns = np.arange(extent)[:, None], np.arange(extent)[None, :]
    inside = (rows >= top) & (rows < top + size) & (columns >= left) & (columns < left + size)
    return np.where(inside, 0.5, pixels)


SHIFTS: dict[str, Callable[[np.ndarray, float, np.random.Generator], np.ndarray]] = {
    "rotation": lambda pixels, amount, _: rotated(pixels, amount),
    "noise": _noisy,
    "impulse": _salted,
    "blur": _blurred,
    "contrast": _flat,
    "brightness": lambda pixels, amount, _: pixels + np.float32(amount),
    "pixelation": _pixelated,
    "translation": _translated,
    "occlusion": _occluded,
}
