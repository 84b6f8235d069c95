"""CIFAR's Python version, the one that torchvision keeps: pickles, read without running anything that they name.

A pickle may call any function of any module. These files need three of NumPy. The reader has a stand-in for these
three, which holds what it is given and does nothing, and refuses all others. It then makes the arrays itself, from
bytes whose shape and type it has checked.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np

from paper.errors import CannotReproduce

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

N_PIXELS = 3072


class _Held:
    """Holds what the pickle of an array or of its type says."""

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


KNOWN = {("numpy.core.multiarray", "_reconstruct"), ("numpy", "ndarray"), ("numpy", "dtype")}


class _Reader(pickle.Unpickler):
    """Knows a stand-in for what arrays need, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """The stand-in; whatever else a file names is refused."""
        if (module, name) not in KNOWN:
            raise pickle.UnpicklingError(f"it names {module}.{name}")
        return _Held


def read_batch(path: Path, labels: bytes) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Pixels (items, 3072) and the labels of one name: `labels` in CIFAR-10, `fine_labels` in CIFAR-100."""
    try:
        with path.open("rb") as file:
            found = _Reader(file, encoding="bytes").load()
        return _pixels(found[b"data"]), np.array([int(label) for label in found[labels]], dtype=np.int64)
    except OSError:
        raise
    except Exception as error:  # a damaged pickle raises almost anything
        raise CannotReproduce(f"{path} must be a file of CIFAR's Python version; it is not ({error})") from error


def _pixels(array: _Held) -> npt.NDArray[np.uint8]:
    _, shape, kind, is_fortran, content = array.state
    if kind.arguments[0] != b"u1" or len(shape) != 2 or shape[1] != N_PIXELS:
        raise ValueError(f"its data are {kind.arguments[0]!r} {shape}, not bytes (items, {N_PIXELS})")
    return np.frombuffer(content, np.uint8).reshape(shape, order="F" if is_fortran else "C")
