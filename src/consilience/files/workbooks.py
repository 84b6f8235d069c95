"""Read one table of a file that may hold several: a sheet of a workbook, or a table of a database."""

from __future__ import annotations

import sqlite3
import zipfile
from contextlib import closing
from typing import TYPE_CHECKING, Any

from consilience.data.axes import some
from consilience.data.names import as_written
from consilience.data.tables.columns import Column, Columns
from consilience.data.tables.frames import of_polars
from consilience.files import delimited
from consilience.system.errors import InvalidPredictions, extra, polars
from consilience.system.untrusted import check_unpacked, reason_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


MOST_CELLS, CELLS_PER_BYTE = 2**24, 64
"""The most cells a table may claim: the first number, or the second per byte of the file if that is more."""


def read_parquet(path: Path) -> Columns:
    """The columns of a Parquet file."""
    pl = polars()

    path.open("rb").close()  # raises the usual error if the file is missing
    try:
        lazy = pl.scan_parquet(path, glob=False)
        _check(lazy, pl, path.stat().st_size)
        table = lazy.collect()
    except (Exception, pl.exceptions.PanicException) as error:  # polars raises many kinds
        if isinstance(error, MemoryError):
            raise
        raise InvalidPredictions(f"{path} must be a Parquet table of text and numbers; {reason_of(error)}") from error
    return Columns({name: of_polars(name, table[name], as_written) for name in table.columns}, stem=path.stem)


def _check(lazy: Any, pl: Any, n_bytes: int) -> None:
    """Raise for more cells than the size allows: run lengths can claim any number."""
    schema = lazy.collect_schema()
    if len(schema) > delimited.MOST_COLUMNS:
        raise ValueError(f"it has {len(schema):,} columns, and at most {delimited.MOST_COLUMNS:,} are read")
    records = [name for name, kind in schema.items() if isinstance(kind, pl.Struct)]
    if records:
        raise ValueError(f"the column {records[0]!r} holds records")
    n_cells, most = lazy.select(pl.len()).collect().item() * len(schema), max(MOST_CELLS, CELLS_PER_BYTE * n_bytes)
    if n_cells > most:
        raise ValueError(f"it claims {n_cells:,} cells, and at most {most:,} are read of its size")


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
    return Columns({name: of_polars(name, table[name], as_written) for name in table.columns}, stem=path.stem)


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
