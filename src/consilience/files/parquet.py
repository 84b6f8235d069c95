"""Read a Parquet table of text, numbers and lists of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consilience.data.rows import Rows, read_rows
from consilience.files import delimited
from consilience.files.cells import Cells
from consilience.system.errors import InvalidPredictions
from consilience.system.extras import extra
from consilience.system.untrusted import check_unpacked, reason_of

if TYPE_CHECKING:
    from pathlib import Path

NUMBERS = ("FLOAT", "DOUBLE", "INT32", "INT64")
MOST_CELLS, CELLS_PER_BYTE = 2**24, 64
"""The most cells a table may claim: the first number, or the second per byte of the file if that is more."""


def read_parquet(path: Path) -> tuple[dict[str, Cells], dict[str, Rows]]:
    """The columns of text and numbers, and those of lists."""
    parquet = extra("pyarrow.parquet", name="parquet", use="reading .parquet files")
    path.open("rb").close()  # raises the usual error if the file is missing
    try:
        with parquet.ParquetFile(path, memory_map=True) as file:
            _check(file, path.stat().st_size)
            texts = [
                column.path
                for column in file.schema
                if column.physical_type == "BYTE_ARRAY" and not column.max_repetition_level
            ]
        with parquet.ParquetFile(path, memory_map=True, read_dictionary=texts) as file:
            # All at once: pyarrow reads `gpt-4.1` as a part of a column `gpt-4`.
            table = file.read()
            columns = dict(zip(table.schema.names, table.columns, strict=True))
            lists = {name for name, column in columns.items() if "list" in str(column.type)}
            cells = {
                name: Cells(_values(column), is_text=False) for name, column in columns.items() if name not in lists
            }
            return cells, {name: read_rows(columns[name].to_pylist(), name) for name in columns if name in lists}
    except InvalidPredictions as error:
        raise InvalidPredictions(f"{path}: {error}") from None
    except Exception as error:  # pyarrow raises many kinds
        raise InvalidPredictions(f"{path} must be a Parquet table of text and numbers; {reason_of(error)}") from error


def _check(file: Any, n_bytes: int) -> None:
    """Raise for records and times, or for more cells than the size allows: run lengths can claim any number."""
    metadata, schema = file.metadata, file.schema
    for column in schema:
        is_list = column.max_repetition_level == 1 and column.physical_type in NUMBERS
        is_flat = column.path == column.name and not column.max_repetition_level
        if not (is_flat or is_list) or column.physical_type == "INT96":
            raise ValueError(f"the column {column.path!r} holds records, times or lists of other than numbers")
    names = file.schema_arrow.names
    if name := delimited.repeated(names):
        raise ValueError(f"the column {name!r} is there twice")
    if metadata.num_columns > delimited.MOST_COLUMNS:
        raise ValueError(f"it has {metadata.num_columns:,} columns, and at most {delimited.MOST_COLUMNS:,} are read")
    groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
    check_unpacked(sum(group.total_byte_size for group in groups), n_bytes)
    n_listed = sum(group.column(place).num_values for group in groups for place in range(metadata.num_columns))
    n_cells, most = max(metadata.num_rows * metadata.num_columns, n_listed), max(MOST_CELLS, CELLS_PER_BYTE * n_bytes)
    if n_cells > most:
        raise ValueError(f"it claims {n_cells:,} cells, and at most {most:,} are read of its size")


def _values(column: Any) -> list[Any]:
    """The values of a column. Equal texts share one string."""
    values: list[Any] = []
    for chunk in column.chunks:
        if hasattr(chunk, "dictionary"):
            texts = [text.decode() if isinstance(text, bytes) else text for text in chunk.dictionary.to_pylist()]
            values += [None if place is None else texts[place] for place in chunk.indices.to_pylist()]
        else:
            values += chunk.to_pylist()
    return values
