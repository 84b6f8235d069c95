"""Read a Parquet table of text, numbers and lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consilience.data.names import text_of
from consilience.data.tables.columns import Columns
from consilience.data.tables.frames import of_polars
from consilience.files import delimited
from consilience.system.errors import InvalidPredictions
from consilience.system.extras import polars
from consilience.system.untrusted import reason_of

if TYPE_CHECKING:
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
    return Columns({name: of_polars(name, table[name], _name) for name in table.columns}, stem=path.stem)


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


def _name(value: Any) -> str:
    return value if isinstance(value, str) else text_of(value)
