"""Read a file of any format as arrays or as a table. Nothing in a file is ever executed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from consilience.data.axes import some
from consilience.data.rows import Rows
from consilience.files.cells import Cells
from consilience.files.delimited import read_delimited
from consilience.files.parquet import read_parquet
from consilience.files.records import read_records
from consilience.files.scales import SCALES, Scale
from consilience.system.errors import InvalidPredictions
from consilience.system.extras import extra
from consilience.system.untrusted import (
    UNREADABLE,
    check_is_file,
    names_in_npz,
    read_npy,
    read_npz,
    reason_of,
)

Arrays = dict[str, np.ndarray[Any, Any]]
Table = dict[str, Cells]

ARRAY_FORMATS = {".npy": "NumPy array", ".npz": "NumPy archive", ".safetensors": "safetensors file"}
TABLE_FORMATS = {
    ".csv": "CSV table",
    ".tsv": "TSV table",
    ".parquet": "Parquet table",
    ".jsonl": "JSON records, one on each line",
    ".ndjson": "JSON records, one on each line",
    ".json": "JSON records",
}


class Contents(NamedTuple):
    """A file's arrays by name, or its table. The array of a `.npy` file is named after the file."""

    path: Path
    key: str | None  # the entry asked for
    format: str  # in words
    arrays: Arrays | None
    table: Table | None
    lists: dict[str, Rows] = {}  # noqa: RUF012 - never changed; the table's columns whose cells are rows of numbers
    scale: Scale | None = None  # as the user says


def read_contents(source: str) -> Contents:
    """Read FILE, or the part of FILE:KEY: the array KEY, or all arrays whose names start with KEY/.

    A last word such as :logits says on which scale the numbers are, unless an archive has an entry of that name.
    """
    path, key = split_source(source)
    suffix = path.suffix.lower()
    if suffix not in ARRAY_FORMATS | TABLE_FORMATS:
        known = " ".join(ARRAY_FORMATS | TABLE_FORMATS)
        raise InvalidPredictions(f"a file of predictions must end in one of {known}; got {path.name!r}")
    check_is_file(path)
    key, scale = _split_scale(path, suffix, key)
    if suffix in TABLE_FORMATS:
        if key is not None:
            raise InvalidPredictions(f"a table has no entries to pick one of; got {source!r}")
        table, lists = _read_table(path, suffix)
        return Contents(path, None, TABLE_FORMATS[suffix], None, table, lists, scale)
    arrays = _read_arrays(path, suffix, key)
    picked = arrays if key is None else _picked(arrays, key, path)
    return Contents(path, key, ARRAY_FORMATS[suffix], picked, None, scale=scale)


def split_source(source: str) -> tuple[Path, str | None]:
    """Split FILE:KEY. Any other colon is part of the file's name."""
    for suffix in ARRAY_FORMATS | TABLE_FORMATS:
        head, colon, key = source.rpartition(f"{suffix}:")
        if colon and key and not Path(source).exists():
            return Path(head + suffix), key
    return Path(source), None


def _split_scale(path: Path, suffix: str, key: str | None) -> tuple[str | None, Scale | None]:
    """The key without the scale at its end, and the scale."""
    head, _, last = (key or "").rpartition(":")
    if last not in SCALES or (last == key and last in _names_in(path, suffix)):
        return key, None
    return head or None, SCALES[last]


def _names_in(path: Path, suffix: str) -> list[str]:
    """The entries of an archive; none of a file that cannot be read, which reading will say."""
    try:
        if suffix == ".npz":
            return names_in_npz(path)
        return list(_read_safetensors(path)) if suffix == ".safetensors" else []
    except UNREADABLE:
        return []


def _read_table(path: Path, suffix: str) -> tuple[Table, dict[str, Rows]]:
    if suffix in (".csv", ".tsv"):
        table, lists = read_delimited(path, "\t" if suffix == ".tsv" else ","), dict[str, Rows]()
    else:
        table, lists = read_parquet(path) if suffix == ".parquet" else read_records(path, by_line=suffix != ".json")
    if not any(len(cells.values) for cells in table.values()) and not lists:
        raise InvalidPredictions(f"{path} must have at least one row under its header; it has none")
    return table, lists


def _picked(arrays: Arrays, key: str, path: Path) -> Arrays:
    inside = {name.removeprefix(f"{key}/"): array for name, array in arrays.items() if name.startswith(f"{key}/")}
    if key in arrays:
        return {key: arrays[key]} | {name: array for name, array in arrays.items() if name in AXIS_NAMES}
    if not inside:
        raise InvalidPredictions(f"{path} must hold {key!r}; it holds {some(list(arrays))}")
    return inside


AXIS_NAMES = ("members", "items", "classes")
"""Arrays of these names in an archive name the axes."""


# ---- arrays -----------------------------------------------------------------------------------------------


def _read_arrays(path: Path, suffix: str, key: str | None) -> Arrays:
    try:
        if suffix == ".safetensors":
            return _read_safetensors(path)
        if suffix == ".npy":
            return {path.stem: read_npy(path)}
        _check_archive(names_in_npz(path), path, key)
        return read_npz(path, lambda name: _is_wanted(name, key))
    except UNREADABLE as error:
        if isinstance(error, InvalidPredictions):
            raise
        has_objects = any(word in str(error).lower() for word in ("pickle", "python object"))
        reason = "it holds Python objects, which are never loaded" if has_objects else reason_of(error)
        raise InvalidPredictions(f"{path} must be a {ARRAY_FORMATS[suffix]} of numbers; {reason}") from error


def _check_archive(names: list[str], path: Path, key: str | None) -> None:
    if {"header", "class_prior_"} <= set(names):
        raise InvalidPredictions(
            f"{path} must hold predictions; it is a saved model: name it after --model, beside files of predictions"
        )
    if key is not None and {name for name in names if _is_wanted(name, key)} <= set(AXIS_NAMES) - {key}:
        raise InvalidPredictions(f"{path} must hold {key!r}; it holds {some(names)}")


def _is_wanted(name: str, key: str | None) -> bool:
    """Whether to read an entry of an archive. The others are never unpacked."""
    return key is None or name == key or name.startswith(f"{key}/") or name in AXIS_NAMES


def _read_safetensors(path: Path) -> Arrays:
    safetensors = extra("safetensors", name="safetensors", use="reading .safetensors files")
    try:
        with safetensors.safe_open(path, framework="np") as file:
            tensors = {name: np.asarray(file.get_tensor(name)) for name in file.keys()}  # noqa: SIM118 - not a mapping
            return _names_in_metadata(file.metadata() or {}) | tensors
    except (safetensors.SafetensorError, TypeError) as error:
        raise InvalidPredictions(
            f"{path} must be a safetensors file of numbers NumPy knows; {reason_of(error)}"
        ) from error


def _names_in_metadata(metadata: dict[str, str]) -> Arrays:
    """The names of axes that `write_posterior` puts beside the tensors; other metadata is not ours."""
    found = {}
    for axis in AXIS_NAMES:
        try:
            names = json.loads(metadata.get(axis, "null"))
        except (ValueError, RecursionError):
            continue
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            found[axis] = np.array(names, dtype=str)
    return found
