"""Read tables that programs store: a sheet of a workbook, a table of a database, or a Parquet file."""

from __future__ import annotations

import mmap
import os
import sqlite3
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from consilience.data.axes import some
from consilience.data.names import as_written
from consilience.data.tables.columns import Column, Columns
from consilience.files import delimited
from consilience.system.errors import InvalidPredictions, extra, polars
from consilience.system.untrusted import check_unpacked, reason_of

TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND sql LIKE 'CREATE TABLE%'"
"""Views and virtual tables would run what the file says."""


def read_sheet(path: Path, key: str | None) -> Columns:
    """The columns of a sheet of an Excel workbook: the only one, or the one of this name."""
    pl = polars()
    extra("fastexcel", name="excel", use="reading .xlsx files")
    try:
        with zipfile.ZipFile(path) as archive:
            check_unpacked(sum(entry.file_size for entry in archive.infolist()), path.stat().st_size)
        sheets = pl.read_excel(path, sheet_id=0, engine="calamine", raise_if_empty=False)
    except (ValueError, zipfile.BadZipFile, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise InvalidPredictions(f"{path} must be an Excel workbook; {reason_of(error)}") from error
    table = sheets[_picked([name for name, own in sheets.items() if own.width], key, path)]
    return Columns({name: Column.of_polars(name, table[name], as_written) for name in table.columns}, stem=path.stem)


def read_database(path: Path, key: str | None) -> Columns:
    """The columns of a table of a SQLite database: the only one, or the one of this name. Nothing in it is run."""
    path.open("rb").close()  # raises the usual error if the file is missing
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            found = database.execute(TABLES)
            name = _picked([own for (own,) in found], key, path).replace('"', '""')
            cursor = database.execute(f'SELECT * FROM "{name}"')  # noqa: S608 - its own name, quoted
            names, rows = [own[0] for own in cursor.description], cursor.fetchall()
    except sqlite3.Error as error:
        raise InvalidPredictions(f"{path} must be a SQLite database; {reason_of(error)}") from error
    columns = {own: [row[place] for row in rows] for place, own in enumerate(names)}
    return Columns({own: Column.of_list(own, held, as_written) for own, held in columns.items()}, stem=path.stem)


def _picked(names: Sequence[str], key: str | None, path: Path) -> str:
    if key is None and len(names) == 1:
        return names[0]
    if key is None or key not in names:
        wanted, hint = ("one table", ": add :NAME to the file's name to say which") if key is None else (repr(key), "")
        raise InvalidPredictions(f"{path} must hold {wanted}; it holds {some(names)}{hint}")
    return key


MOST_CELLS, CELLS_PER_BYTE = 2**24, 64
"""The most cells a table may claim: the first number, or the second per byte of the file if that is more."""

DAMAGED = "its header is damaged"


def read_parquet(path: Path) -> Columns:
    """The columns of a Parquet file."""
    pl = polars()
    path.open("rb").close()  # raises the usual error if the file is missing
    try:
        _check_schema(pl.scan_parquet(path, glob=False).collect_schema(), pl)
        _check_sizes(path)
        table = pl.read_parquet(path, glob=False)
        columns = {name: Column.of_polars(name, table[name], as_written) for name in table.columns}
    except (Exception, pl.exceptions.PanicException) as error:  # polars raises many kinds
        if isinstance(error, MemoryError):
            raise
        raise InvalidPredictions(f"{path} must be a Parquet table of text and numbers; {reason_of(error)}") from error
    return Columns(columns, stem=path.stem)


def _check_schema(schema: Any, pl: Any) -> None:
    """Raise for too many columns, and for columns of records."""
    if len(schema) > delimited.MOST_COLUMNS:
        raise ValueError(f"it has {len(schema):,} columns, and at most {delimited.MOST_COLUMNS:,} are read")
    if records := [name for name, kind in schema.items() if isinstance(kind, pl.Struct)]:
        raise ValueError(f"the column {records[0]!r} holds records")


def _check_sizes(path: Path) -> None:
    """Raise where the columns together, or one page, claim more cells than the file's size allows, or less than none.

    Run lengths can claim any number of cells in a few bytes, and polars makes room for them before it counts.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        most = max(MOST_CELLS, CELLS_PER_BYTE * len(data))
        try:
            wrong = next((sum(own) for own in _claims(data) if min(own, default=0) < 0 or sum(own) > most), None)
        except (ValueError, LookupError, TypeError, OverflowError, RecursionError) as error:
            raise ValueError(DAMAGED) from error
    if wrong is not None:
        raise ValueError(f"it claims {wrong:,} cells, and at most {most:,} are read of its size")


# ---- Thrift's compact protocol, in which Parquet writes what it says of its data ------------------------------

ROW_GROUPS, CHUNKS, COLUMN = 4, 1, 3
N_CELLS, PACKED_BYTES, DATA_START, DICTIONARY_START = 5, 7, 9, 11
UNPACKED, PACKED, PAGE_KINDS, PAGE_CELLS = 2, 3, (5, 7, 8), 1
"""The numbers of the fields of a footer, of a column's part in a group of rows, and of a page, in `parquet.thrift`."""

LONGEST = 63
"""How many bits a whole number has before its last group."""

TRUE, FALSE, BYTE, DOUBLE, TEXT, LIST, SET, MAP, RECORD, UUID = 1, 2, 3, 7, 8, 9, 10, 11, 12, 13
SIZES = {TRUE: 1, FALSE: 1, BYTE: 1, DOUBLE: 8, UUID: 16}  # in bytes; in a record, true and false have none


def _claims(data: mmap.mmap) -> Iterator[list[int]]:
    """How many cells the parts of all columns have, and each page; raises where the file says what cannot be."""
    data.seek(len(data) - 8 - int.from_bytes(data[-8:-4], "little"))
    chunks = [chunk[COLUMN] for group in _record(data)[ROW_GROUPS] for chunk in group[CHUNKS]]
    yield [chunk[N_CELLS] for chunk in chunks]
    for chunk in chunks:
        start = chunk.get(DICTIONARY_START, chunk[DATA_START])
        data.seek(start)
        while data.tell() < start + chunk[PACKED_BYTES]:
            page = _record(data)
            yield [page[kind][PAGE_CELLS] for kind in PAGE_KINDS if kind in page]
            if page[PACKED] < 0 or page[UNPACKED] < 0:
                raise ValueError(DAMAGED)
            data.seek(page[PACKED], os.SEEK_CUR)


def _record(data: mmap.mmap) -> dict[int, Any]:
    """The fields by their numbers of the record that is next."""
    fields: dict[int, Any] = {}
    number = 0
    while head := data.read_byte():
        number = number + (head >> 4) if head >> 4 else _whole(data)
        fields[number] = None if head & 15 in {TRUE, FALSE} else _value(data, head & 15)
    return fields


def _value(data: mmap.mmap, kind: int) -> Any:
    """The value of a kind that is next: a record, a list or a whole number. Others are skipped: no size is one."""
    if kind == RECORD:
        return _record(data)
    if kind in {LIST, SET}:
        head = data.read_byte()
        size = _unsigned(data) if head >> 4 == 15 else head >> 4
        return [_value(data, head & 15) for _ in range(size)]
    if kind == MAP:
        raise ValueError(DAMAGED)  # Parquet has none
    if kind == TEXT or kind in SIZES:
        return data.seek(SIZES.get(kind) or _unsigned(data), os.SEEK_CUR)
    return _whole(data)


def _whole(data: mmap.mmap) -> int:
    """A whole number, written with its sign in the last bit."""
    number = _unsigned(data)
    return (number >> 1) ^ -(number & 1)


def _unsigned(data: mmap.mmap) -> int:
    """A whole number in groups of seven bits."""
    number = shift = 0
    while (part := data.read_byte()) >= 128:
        if shift > LONGEST:
            raise ValueError(DAMAGED)
        number, shift = number | (part & 127) << shift, shift + 7
    return number | part << shift
