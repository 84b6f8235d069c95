"""Files of weights: arrays, the names of the features they belong to, a version, and a checksum of all of it."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.system.errors import InvalidPredictions
from consilience.system.untrusted import UNREADABLE, check_is_file, read_npz

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from consilience.system.arrays import FloatArray

REMEDY = "train them again, or install consilience again where they came with it"
"""What to do about weights that cannot be used."""

WHERE = "give their path anew, set_params(weights=...), or train them again"
"""What to do about weights that are not where they were."""


def sealed(arrays: Mapping[str, Any], version: int, features: Sequence[str]) -> dict[str, Any]:
    """What a file holds: these arrays, and what tells that they are whole and meant for this version."""
    everything = {**arrays, "version": np.array(version), "features": np.array("\n".join(features))}
    return {**everything, "checksum": np.array(_checksum(everything))}


def read_weights(
    path: str | os.PathLike[str],
    version: int,
    features: Sequence[str],
    sizes: Callable[[tuple[int, ...]], Mapping[str, tuple[int, ...]]],
) -> dict[str, FloatArray]:
    """The arrays of a file; raises where they are missing, damaged or of another version.

    `sizes` gives the size of each array by name, from that of the first of them.
    """
    try:
        check_is_file(path)
        state = Path(path).stat()
    except InvalidPredictions:
        raise
    except (OSError, ValueError):  # it is not there, or no file could have such a name
        raise InvalidPredictions(f"the weights {path} are missing; {WHERE}") from None
    return _read(str(path), version, tuple(features), sizes, (state.st_mtime_ns, state.st_size))


def damaged(path: str | os.PathLike[str]) -> InvalidPredictions:
    """The error for a file whose contents cannot be used."""
    return InvalidPredictions(f"the weights {path} are damaged; {REMEDY}")


@lru_cache(maxsize=8)
def _read(
    path: str,
    version: int,
    features: tuple[str, ...],
    sizes: Callable[[tuple[int, ...]], Mapping[str, tuple[int, ...]]],
    _: tuple[int, int],
) -> dict[str, FloatArray]:
    """The arrays of a file as it was last written: a fit asks for them several times."""
    names = sizes(())
    try:
        arrays = read_npz(path, wanted={*names, "version", "features", "checksum"}.__contains__)
    except FileNotFoundError:
        raise InvalidPredictions(f"the weights {path} are missing; {WHERE}") from None
    except UNREADABLE as error:
        raise damaged(path) from error
    found = arrays.get("version", "unknown")
    if str(found) != str(version):
        shown = str(found)[:20] if str(found)[:20].isalnum() else "unknown"  # it may be anything
        raise InvalidPredictions(f"the weights {path} are of version {shown}; this consilience needs {version}")
    if str(arrays.get("features")) != "\n".join(features):
        raise InvalidPredictions(f"the weights {path} were trained with other features; {REMEDY}")
    checksum = str(arrays.pop("checksum", ""))
    first = getattr(arrays.get(next(iter(names))), "shape", ())
    if checksum != _checksum(arrays) or not _fit_together(arrays, sizes(first)):
        raise damaged(path)
    return {name: arrays[name].astype(np.float64) for name in names}


def _fit_together(arrays: Mapping[str, Any], sizes: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether all arrays are there, finite and of the right sizes: a checksum finds damage, not forgery."""
    return all(
        name in arrays
        and arrays[name].dtype.kind == "f"
        and arrays[name].shape == size
        and 0 not in size
        and np.isfinite(arrays[name]).all()
        for name, size in sizes.items()
    )


def _checksum(arrays: Mapping[str, Any]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
