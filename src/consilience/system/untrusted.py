"""Arrays from files that anybody may have written: no code is run, and memory use is bounded by the file's size."""

from __future__ import annotations

import codecs
import errno
import gzip
import hashlib
import math
import os
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from consilience.system.arrays import FloatArray
from consilience.system.errors import InvalidPredictions

MOST_UNPACKED, MOST_EXPANSION = 2**30, 100
"""An archive may unpack to the larger of this many bytes and this many times its own size."""

MOST_DIGITS = 300  # a longer whole number is larger than any float
LONGEST_REASON = 200  # how many characters of a library's error message are shown; some quote half of the file

HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
"""How the header of an array is read, by the version of its format."""

UNREADABLE = (
    ValueError,
    ArithmeticError,
    EOFError,
    LookupError,
    AttributeError,
    TypeError,
    MemoryError,
    RuntimeError,
    SyntaxError,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What NumPy and its libraries raise for files that are truncated, corrupt, encrypted, or claim absurd sizes."""


def read_npy(path: str | os.PathLike[str]) -> np.ndarray[Any, Any]:
    """The array of a `.npy` file, which stays on disk: a declared shape that the file does not hold is refused."""
    check_is_file(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that it was written by Python 2
        return _as_text(np.asanyarray(np.lib.format.open_memmap(path, mode="r")))


def read_text(path: Path, what: str) -> str:
    """The text of a file in UTF-8; `what` says what it must be."""
    check_is_file(path)
    held = read_unpacked(path)
    check_text(held, path, what)
    return held.decode("utf-8-sig")


def read_unpacked(path: Path) -> bytes:
    """The bytes of a file, unpacked if its name ends in .gz."""
    if path.suffix.lower() != ".gz":
        return path.read_bytes()
    most = max(MOST_UNPACKED, MOST_EXPANSION * path.stat().st_size)
    try:
        with gzip.open(path) as file:
            held = file.read(most + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidPredictions(f"{path} must be packed by gzip; {reason_of(error)}") from error
    if len(held) > most:
        raise InvalidPredictions(f"{path} would unpack to more than the {most:,} bytes that are accepted of its size")
    return held


def stem_of(path: Path) -> str:
    """What a member is called whose file this is: `vit` of `vit.csv.gz`."""
    return Path(path.stem).stem if path.suffix.lower() == ".gz" else path.stem


def check_text(held: bytes, path: Path, what: str) -> None:
    """Raise if bytes are no text in UTF-8."""
    if held.isascii():
        return
    try:
        held.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = held.count(b"\n", 0, error.start) + 1
        found = f"line {line:,} has the byte {held[error.start]:#04x}, which is none"
        if held.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            found = "it is UTF-16"
        raise InvalidPredictions(f"{path} must be {what} in UTF-8; {found}: save it as UTF-8") from error


def whole_number(digits: str) -> int:
    """A whole number of JSON; raises for one that is larger than any float."""
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a whole number must have at most {MOST_DIGITS} digits; got {len(digits):,}")
    return int(digits)


def reason_of(error: BaseException) -> str:
    """Why a file cannot be read: the first line of the library's message, shortened."""
    text = next(iter(str(error).splitlines()), "") or type(error).__name__
    return text if len(text) <= LONGEST_REASON else f"{text[:LONGEST_REASON]}…"


def read_npz(
    path: str | os.PathLike[str], wanted: Callable[[str], bool] = lambda _: True
) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of an archive whose names are wanted. Its declared sizes are checked before anything is unpacked."""
    check_is_file(path)
    with Path(path).open("rb") as file, zipfile.ZipFile(file) as archive:
        entries = [entry for entry in archive.infolist() if entry.filename.endswith(".npy")]
        names = [entry.filename.removesuffix(".npy") for entry in entries]
        if len(set(names)) < len(names):
            raise ValueError(f"it holds {Counter(names).most_common(1)[0][0]!r} more than once")
        chosen = {name: entry for name, entry in zip(names, entries, strict=True) if wanted(name)}
        check_unpacked(sum(entry.file_size for entry in chosen.values()), Path(path).stat().st_size)
        try:
            return {name: _read_entry(archive, name, entry) for name, entry in chosen.items()}
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            raise ValueError("its directory points outside the file") from error


def names_in_npz(path: str | os.PathLike[str]) -> list[str]:
    """The names of an archive's arrays; nothing is unpacked."""
    with Path(path).open("rb") as file, zipfile.ZipFile(file) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]


def check_is_file(path: str | os.PathLike[str]) -> None:
    """Raise for a directory, and for a pipe or device, which might never end. Opening reports a missing file."""
    try:
        place = Path(path)
    except TypeError:
        raise TypeError(f"path must be text or a path; got {path!r}") from None
    if place.exists() and not place.is_file():
        what = "a directory" if place.is_dir() else "a pipe or a device"
        raise InvalidPredictions(f"{place} is {what}; expected a file")


def check_unpacked(n_bytes: int, n_packed: int) -> None:
    """Raise if a file would unpack to far more than an honest file of its size."""
    most = max(MOST_UNPACKED, MOST_EXPANSION * n_packed)
    if n_bytes > most:
        raise ValueError(f"it would unpack to {n_bytes:,} bytes, and at most {most:,} are accepted of its size")


def _read_entry(archive: zipfile.ZipFile, name: str, entry: zipfile.ZipInfo) -> np.ndarray[Any, Any]:
    """One array. A declared shape that does not match the number of bytes is refused."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name!r} is compressed in a way that NumPy does not write")
    with archive.open(entry) as stream:
        version = np.lib.format.read_magic(stream)
        if version not in HEADERS:
            raise ValueError(f"arrays of format version {version} are not read")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that it was written by Python 2
            shape, is_fortran, dtype = HEADERS[version](stream)
        if dtype.hasobject:
            raise ValueError(f"{name!r} holds Python objects")
        n_bytes = math.prod(shape) * dtype.itemsize
        n_held = entry.file_size - stream.tell()
        if n_bytes != n_held:
            raise ValueError(f"{name!r} declares the shape {shape} of {dtype}, {n_bytes:,} bytes; it holds {n_held:,}")
        data = bytearray(stream.read())  # to the end, where the checksum is compared
    array = np.ndarray(shape, dtype, buffer=data, order="F" if is_fortran else "C")
    return _as_text(array)


def _as_text(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array with bytes decoded as text; raises for characters that do not exist, which no writer accepts."""
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8")
    if array.dtype.kind == "U" and array.size:
        points = np.ascontiguousarray(array).view(array.dtype.byteorder.replace("|", "=") + "u4")
        if points.max() > 0x10FFFF or ((points >= 0xD800) & (points <= 0xDFFF)).any():
            raise ValueError("it holds text with characters that do not exist")
    for name in array.dtype.names or ():
        _as_text(array[name])
    return array


# ---- files of weights: arrays, the names of their features, a version, and a checksum of all of it --------

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
    return _read_weights(str(path), version, tuple(features), sizes, (state.st_mtime_ns, state.st_size))


def damaged(path: str | os.PathLike[str]) -> InvalidPredictions:
    """The error for a file whose contents cannot be used."""
    return InvalidPredictions(f"the weights {path} are damaged; {REMEDY}")


@lru_cache(maxsize=8)
def _read_weights(
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
    fit_together = all(  # a checksum finds damage, not forgery
        name in arrays
        and arrays[name].dtype.kind == "f"
        and arrays[name].shape == size
        and 0 not in size
        and np.isfinite(arrays[name]).all()
        and (arrays[name].min() > 0 or not name.endswith("deviation"))  # features are divided by these
        for name, size in sizes(first).items()
    )
    if checksum != _checksum(arrays) or not fit_together:
        raise damaged(path)
    return {name: arrays[name].astype(np.float64) for name in names}


def _checksum(arrays: Mapping[str, Any]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
