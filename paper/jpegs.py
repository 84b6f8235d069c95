"""Images that stay on the disk: read, scaled and cropped when they are asked for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import torch

from consilience.system.errors import extra
from consilience.system.machine import n_threads
from paper.augmentation import draw_crops, random_box
from paper.errors import CannotReproduce

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy.typing as npt
    from torch import Tensor

SMALLER_SIDE, SIZE = 256, 224
"""The smaller side is scaled to 256, the middle 224 × 224 are kept."""


@dataclass(frozen=True)
class JpegFiles:
    """Image files as one array (items, 3, 224, 224) in [0, 1], of which only what is indexed is ever in memory."""

    paths: tuple[Path, ...]
    size: int = SIZE

    def __len__(self) -> int:
        """How many images."""
        return len(self.paths)

    @overload
    def __getitem__(self, places: slice) -> JpegFiles: ...
    @overload
    def __getitem__(self, places: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]: ...
    def __getitem__(self, places: Any) -> Any:
        """Fewer images for a slice; the pixels for an array of positions."""
        if isinstance(places, slice):
            return replace(self, paths=self.paths[places])
        return self._read(places, lambda image, _: _middle(image, self.size))

    def cropped_at_random(self, places: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        """A random part of each image at those positions, scaled to size, every other one mirrored."""
        draws, is_mirrored = draw_crops(len(places)), torch.rand(len(places)) < 0.5

        def part(image: Any, place: int) -> Any:
            return _part(image, self.size, draws[place], mirror=bool(is_mirrored[place]))

        return self._read(places, part)

    def _read(self, places: npt.NDArray[Any], view: Callable[[Any, int], Any]) -> npt.NDArray[np.float32]:
        """Pictures are unpacked by libraries that let go of the interpreter, so threads read side by side."""

        def read(numbered: tuple[int, Any]) -> npt.NDArray[np.float32]:
            return _pixels(self.paths[int(numbered[1])], lambda image: view(image, numbered[0]))

        with ThreadPoolExecutor(n_threads()) as pool:
            return np.stack(list(pool.map(read, enumerate(places))))


def _pixels(path: Path, view: Callable[[Any], Any]) -> npt.NDArray[np.float32]:
    library = extra("PIL.Image", name="paper", use="reading images")
    try:
        with library.open(path) as image:
            picture = view(image.convert("RGB"))
    except (OSError, ValueError, SyntaxError, library.DecompressionBombError) as error:
        raise CannotReproduce(f"{path} must be an image; it could not be read ({type(error).__name__})") from error
    return np.asarray(picture, dtype=np.float32).transpose(2, 0, 1) / np.float32(255)


def _middle(image: Any, size: int) -> Any:
    """The middle of an image whose smaller side is 256; images of the right size, as ImageNet-C's, stay as they are."""
    if image.size == (size, size):
        return image
    scale = SMALLER_SIDE * size / SIZE / min(image.size)
    width, height = (round(side * scale) for side in image.size)
    left, top = (width - size) // 2, (height - size) // 2
    return image.resize((width, height), 2).crop((left, top, left + size, top + size))  # 2: bilinear


def _part(image: Any, size: int, draws: Tensor, *, mirror: bool) -> Any:
    part = image.resize((size, size), 2, random_box(image.width, image.height, draws))
    return part.transpose(0) if mirror else part  # 0: left to right
