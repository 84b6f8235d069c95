"""Read one table of a file that may hold several: a sheet of a workbook, or a table of a database."""

from __future__ import annotations

import sqlite3
import zipfile
from contextlib import closing
from typing import TYPE_CHECKING

from consilience.data.axes import some
from consilience.data.names import as_written
from consilience.data.tables.columns import Column, Columns
from consilience.data.tables.frames import of_polars
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
