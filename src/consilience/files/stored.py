"""Read tables that programs store: a sheet of a workbook, a table of a database, or a Parquet file."""

from __future__ import annotations

import mmap
import sqlite3
import zipfile
from contextlib import closing
from typing import TYPE_CHECKING, Any

from consilience.data.axes import some
from consilience.data.names import as_written
from consilience.data.tables.columns import Column, Columns
from consilience.files import delimited
from consilience.system.errors import InvalidPredictions, extra, polars
from consilience.system.untrusted import check_unpacked, reason_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


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
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)) if rows else {own: [] for own in names}
    return Columns({own: Column.of_list(own, held, as_written) for own, held in columns.items()}, stem=path.stem)


def _picked(names: Sequence[str], key: str | None, path: Path) -> str:
    if key in names:
        return str(key)
    if key is None and len(names) == 1:
        return names[0]
    if key is None:
        raise InvalidPredictions(
            f"{path} must hold one table, or say which: it holds {some(names)}: add :NAME to the file's name"
        )
    raise InvalidPredictions(f"{path} must hold {key!r}; it holds {some(names)}")


MOST_CELLS, CELLS_PER_BYTE = 2**24, 64
"""The most cells a table may claim: the first number, or the second per byte of the file if that is more."""


def read_parquet(path: Path) -> Columns:
    """The columns of a Parquet file."""
    pl = polars()

    path.open("rb").close()  # raises the usual error if the file is missing
    try:
        _check_schema(pl.scan_parquet(path, glob=False).collect_schema(), pl)
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            _check_sizes(data)
        table = pl.read_parquet(path, glob=False)
        columns = {name: Column.of_polars(name, table[name], as_written) for name in table.columns}
    except (Exception, pl.exceptions.PanicException) as error:  # polars raises many kinds
        if isinstance(error, MemoryError):
            raise
        reason = DAMAGED if isinstance(error, RecursionError) else reason_of(error)
        raise InvalidPredictions(f"{path} must be a Parquet table of text and numbers; {reason}") from error
    return Columns(columns, stem=path.stem)


def _check_schema(schema: Any, pl: Any) -> None:
    """Raise for too many columns, and for columns of records."""
    if len(schema) > delimited.MOST_COLUMNS:
        raise ValueError(f"it has {len(schema):,} columns, and at most {delimited.MOST_COLUMNS:,} are read")
    if records := [name for name, kind in schema.items() if isinstance(kind, pl.Struct)]:
        raise ValueError(f"the column {records[0]!r} holds records")


def _check_sizes(data: mmap.mmap) -> None:
    """Raise where the columns together, or one page, claim more cells than the file's size allows, or less than none.

    Run lengths can claim any number of cells in a few bytes, and polars makes room for them before it counts.
    """
    length, most = int.from_bytes(data[-8:-4], "little"), max(MOST_CELLS, CELLS_PER_BYTE * len(data))
    footer, _ = _record(data, len(data) - 8 - length)
    chunks = [chunk[COLUMN] for group in footer[ROW_GROUPS] for chunk in group[CHUNKS]]
    _check_claim([chunk[N_CELLS] for chunk in chunks], most)
    for chunk in chunks:
        place = chunk.get(DICTIONARY_START, chunk[DATA_START])
        end = place + chunk[PACKED_BYTES]
        while place < end:
            page, place = _record(data, place)
            _check_claim([page[kind][PAGE_CELLS] for kind in PAGE_KINDS if kind in page], most)
            if page[PACKED] < 0 or page[UNPACKED] < 0:
                raise ValueError(DAMAGED)
            place += page[PACKED]


def _check_claim(n_cells: list[int], most: int) -> None:
    if min(n_cells, default=0) < 0 or sum(n_cells) > most:
        raise ValueError(f"it claims {sum(n_cells):,} cells, and at most {most:,} are read of its size")


# ---- Thrift's compact protocol, in which Parquet writes what it says of its data ------------------------------

ROW_GROUPS, CHUNKS, COLUMN = 4, 1, 3
N_CELLS, PACKED_BYTES, DATA_START, DICTIONARY_START = 5, 7, 9, 11
UNPACKED, PACKED, PAGE_KINDS, PAGE_CELLS = 2, 3, (5, 7, 8), 1
"""The numbers of the fields of a footer, of a column's part in a group of rows, and of a page, in `parquet.thrift`."""

DAMAGED = "its header is damaged"

LONGEST = 63
"""How many bits a whole number has before its last group."""

TRUE, FALSE, BYTE, DOUBLE, TEXT, LIST, SET, MAP, RECORD, UUID = 1, 2, 3, 7, 8, 9, 10, 11, 12, 13


def _record(data: mmap.mmap, place: int) -> tuple[dict[int, Any], int]:
    """The fields of a record by their numbers, and the place after it."""
    fields: dict[int, Any] = {}
    number = 0
    while head := _byte(data, place):
        place += 1
        if head >> 4:
            number += head >> 4
        else:
            number, place = _whole(data, place)
        kind = head & 15
        fields[number], place = (kind == TRUE, place) if kind in {TRUE, FALSE} else _value(data, place, kind)
    return fields, place + 1


def _value(data: mmap.mmap, place: int, kind: int) -> tuple[Any, int]:
    """A value of a kind, and the place after it. What is text is skipped: no size is."""
    if kind == RECORD:
        return _record(data, place)
    if kind in {LIST, SET}:
        size, kind, place = _byte(data, place) >> 4, _byte(data, place) & 15, place + 1
        if size == 15:
            size, place = _unsigned(data, place)
        values = []
        for _ in range(size):
            value, place = _value(data, place, kind)
            values.append(value)
        return values, place
    if kind == TEXT:
        size, place = _unsigned(data, place)
        return None, place + size
    if kind in {TRUE, FALSE, BYTE, DOUBLE, UUID}:
        end = place + {DOUBLE: 8, UUID: 16}.get(kind, 1)
        _byte(data, end - 1)  # however many a list claims, they end with the file
        return None, end
    if kind == MAP:
        raise ValueError(DAMAGED)  # Parquet has none
    return _whole(data, place)


def _whole(data: mmap.mmap, place: int) -> tuple[int, int]:
    """A whole number, written with its sign in the last bit, and the place after it."""
    number, place = _unsigned(data, place)
    return (number >> 1) ^ -(number & 1), place


def _unsigned(data: mmap.mmap, place: int) -> tuple[int, int]:
    """A whole number in groups of seven bits, and the place after it."""
    number = shift = 0
    while (part := _byte(data, place)) >= 128:
        if shift > LONGEST:
            raise ValueError(DAMAGED)
        number |= (part & 127) << shift
        shift, place = shift + 7, place + 1
    return number | part << shift, place + 1


def _byte(data: mmap.mmap, place: int) -> int:
    if not 0 <= place < len(data):
        raise ValueError(DAMAGED)
    return data[place]
