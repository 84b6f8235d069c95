"""Read a file of any format as arrays or as a table. Nothing in a file is ever executed."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.axes import some
from consilience.files.cells import Cells
from consilience.files.spreadsheets import without_quote
from consilience.system.errors import InvalidPredictions
from consilience.system.extras import extra
from consilience.system.untrusted import (
    UNREADABLE,
    check_is_file,
    check_unpacked,
    names_in_npz,
    read_npy,
    read_npz,
    reason_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

Arrays = dict[str, np.ndarray[Any, Any]]
Table = dict[str, Cells]

ARRAY_FORMATS = {".npy": "NumPy array", ".npz": "NumPy archive", ".safetensors": "safetensors file"}
TABLE_FORMATS = {".csv": "CSV table", ".tsv": "TSV table", ".parquet": "Parquet table"}

MOST_COLUMNS = 100_000
"""Tables with more columns are refused."""

MOST_CELLS, CELLS_PER_BYTE = 2**24, 64
"""The most cells a Parquet table may claim: the first number, or the second per byte of the file if that is more."""


class Contents(NamedTuple):
    """A file's arrays by name, or its table. The array of a `.npy` file is named after the file."""

    path: Path
    key: str | None  # the entry asked for
    format: str  # in words
    arrays: Arrays | None
    table: Table | None


def read_contents(source: str) -> Contents:
    """Read FILE, or the part of FILE:KEY: the array KEY, or all arrays whose names start with KEY/."""
    path, key = split_source(source)
    suffix = path.suffix.lower()
    if suffix not in ARRAY_FORMATS | TABLE_FORMATS:
        known = " ".join(ARRAY_FORMATS | TABLE_FORMATS)
        raise InvalidPredictions(f"a file of predictions must end in one of {known}; got {path.name!r}")
    check_is_file(path)
    if suffix in TABLE_FORMATS:
        if key is not None:
            raise InvalidPredictions(f"a table has no entries to pick one of; got {source!r}")
        return Contents(path, None, TABLE_FORMATS[suffix], None, _read_table(path, suffix))
    arrays = _read_arrays(path, suffix, key)
    return Contents(path, key, ARRAY_FORMATS[suffix], arrays if key is None else _picked(arrays, key, path), None)


def split_source(source: str) -> tuple[Path, str | None]:
    """Split FILE:KEY. Any other colon is part of the file's name."""
    for suffix in ARRAY_FORMATS | TABLE_FORMATS:
        head, colon, key = source.rpartition(f"{suffix}:")
        if colon and key and not Path(source).exists():
            return Path(head + suffix), key
    return Path(source), None


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
            return {name: np.asarray(file.get_tensor(name)) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except (safetensors.SafetensorError, TypeError) as error:
        raise InvalidPredictions(
            f"{path} must be a safetensors file of numbers NumPy knows; {reason_of(error)}"
        ) from error


# ---- tables -----------------------------------------------------------------------------------------------


def _read_table(path: Path, suffix: str) -> Table:
    table = _read_parquet(path) if suffix == ".parquet" else _read_csv(path, "\t" if suffix == ".tsv" else ",")
    if not any(len(cells.values) for cells in table.values()):
        raise InvalidPredictions(f"{path} must have at least one row under its header; it has none")
    return table


def _read_parquet(path: Path) -> Table:
    parquet = extra("pyarrow.parquet", name="parquet", use="reading .parquet files")
    path.open("rb").close()  # raises the usual error if the file is missing
    try:
        with parquet.ParquetFile(path, memory_map=True) as file:
            _check_parquet(file, path.stat().st_size)
            texts = [column.path for column in file.schema if column.physical_type == "BYTE_ARRAY"]
        with parquet.ParquetFile(path, memory_map=True, read_dictionary=texts) as file:
            # All at once: pyarrow reads `gpt-4.1` as a part of a column `gpt-4`.
            columns = file.read().columns
            return {
                name: Cells(_parquet_column(column), is_text=False)
                for name, column in zip(file.schema.names, columns, strict=True)
            }
    except Exception as error:  # pyarrow raises many kinds
        raise InvalidPredictions(f"{path} must be a Parquet table of text and numbers; {reason_of(error)}") from error


def _check_parquet(file: Any, n_bytes: int) -> None:
    """Raise if a table is not flat, or claims far more cells than its size allows: run lengths can claim any number."""
    metadata = file.metadata
    for column in file.schema:
        if column.path != column.name or column.max_repetition_level or column.physical_type == "INT96":
            raise ValueError(f"the column {column.path!r} holds lists, records or times")
    if repeated := _repeated(file.schema.names):
        raise ValueError(f"the column {repeated!r} is there twice")
    if metadata.num_columns > MOST_COLUMNS:
        raise ValueError(f"it has {metadata.num_columns:,} columns, and at most {MOST_COLUMNS:,} are read")
    check_unpacked(sum(metadata.row_group(place).total_byte_size for place in range(metadata.num_row_groups)), n_bytes)
    n_cells, most = metadata.num_rows * metadata.num_columns, max(MOST_CELLS, CELLS_PER_BYTE * n_bytes)
    if n_cells > most:
        raise ValueError(f"it claims {n_cells:,} cells, and at most {most:,} are read of its size")


def _parquet_column(column: Any) -> list[Any]:
    """The values of a column. Equal texts share one string."""
    values: list[Any] = []
    for chunk in column.chunks:
        if hasattr(chunk, "dictionary"):
            texts = [text.decode() if isinstance(text, bytes) else text for text in chunk.dictionary.to_pylist()]
            values += [None if place is None else texts[place] for place in chunk.indices.to_pylist()]
        else:
            values += chunk.to_pylist()
    return values


def _repeated(names: Sequence[str]) -> str | None:
    name, count = Counter(names).most_common(1)[0] if names else ("", 0)
    return name if count > 1 else None


def _read_csv(path: Path, delimiter: str) -> Table:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, *rows = [row for row in csv.reader(file, delimiter=delimiter, strict=True) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidPredictions(f"{path} must be a table in UTF-8; {error}") from error
    except ValueError:
        raise InvalidPredictions(f"{path} must have a header and rows; it is empty") from None
    if len(header) == 1 and "\x00" in "".join(header):
        raise InvalidPredictions(f"{path} must be a table in UTF-8; it holds bytes that are no text")
    if len(header) == 1 and (found := next((mark for mark in ";|\t," if mark in header[0]), None)):
        raise InvalidPredictions(
            f"{path} must have its columns separated by {delimiter!r}; its header {header[0]!r} has {found!r}"
        )
    if len(header) > MOST_COLUMNS:
        raise InvalidPredictions(f"{path} must have at most {MOST_COLUMNS:,} columns; it has {len(header):,}")
    header = [without_quote(name) or name for name in header]
    if (repeated := _repeated(header)) is not None:
        raise InvalidPredictions(f"{path} must have columns of different names; got {repeated!r} twice")
    for line, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise InvalidPredictions(f"{path} must have {len(header)} values in each row; row {line} has {len(row)}")
    columns = zip(*rows, strict=True) if rows else ([] for _ in header)
    return {name: Cells(column, is_text=True) for name, column in zip(header, columns, strict=True)}
