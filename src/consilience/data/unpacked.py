"""Compressed arrays that are too large for memory: zarr's, unpacked once onto the disk.

A fit visits all items dozens of times. Unpacking them at each visit would take longer than all the rest.
"""

from __future__ import annotations

import tempfile
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt


def is_packed(value: Any) -> bool:
    """Whether the value is an array of zarr."""
    return type(value).__module__.partition(".")[0] == "zarr" and hasattr(value, "chunks")


def unpacked(array: Any) -> npt.NDArray[Any]:
    """The numbers in a temporary file, to which they are copied chunk by chunk; it goes with the last use of them."""
    with tempfile.TemporaryFile(prefix="consilience-") as file:  # in the folder that TMPDIR names
        numbers = np.memmap(file, dtype=array.dtype, mode="w+", shape=array.shape)
    steps = getattr(array, "shards", None) or array.chunks
    for starts in product(*map(range, [0] * array.ndim, array.shape, steps)):
        part = tuple(slice(start, start + step) for start, step in zip(starts, steps, strict=True))
        numbers[part] = array[part]
    return numbers
