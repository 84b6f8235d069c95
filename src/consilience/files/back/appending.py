"""The table that was read, written again with the answers as further columns; its own cells stay as they are."""

from __future__ import annotations

import csv
import io
import json
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from consilience.data.names import text_of
from consilience.data.tables.told import FUSED
from consilience.files.contents import read_contents, read_json, split_source, suffix_of
from consilience.files.delimited import raw_rows
from consilience.files.recognition import understood_table
from consilience.files.writing import with_quote, write_frame, write_records
from consilience.system.atomic import check_writable, whole_file
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from consilience.data.tables.layouts import Understood
    from consilience.data.tables.told import Told
    from consilience.system.arrays import IntArray
    from consilience.system.tables import Table

PREFIX = "fused_"  # stands before the names of the new columns where the table has one of them already
New = dict[str, list[Any]]  # the new columns, with a value for each row of the table


def check_appendable(path: Path, sources: Sequence[str]) -> None:
    """Raise if the files are not one table, or the path is of another format; called before any work is done."""
    if len(sources) != 1 or (suffix := suffix_of(split_source(sources[0])[0])) not in WRITERS:
        raise InvalidPredictions(f"--append takes one table of {' '.join(WRITERS)}; got {', '.join(sources)}")
    check_writable(path, (suffix,))


def write_appended(path: Path, source: str, told: Told, answers: Table, *, logits: bool = False) -> None:
    """Write the table in `source` again, with the answer to its item in each row."""
    understood = understood_table(source, told, logits=logits)
    items, table = answers["item"], split_source(source)[0]
    places = _places_of_tool(source, told, items) if understood is None else item_places(understood, items)
    values = {name: [None if place < 0 else answers[name][place] for place in places.tolist()] for name in FUSED}
    with whole_file(path) as file:
        WRITERS[suffix_of(table)](file, table, values)


def _places_of_tool(source: str, told: Told, items: Sequence[Any]) -> IntArray:
    """The same of a tool's own table; raises if its rows are not about one item each."""
    export = read_contents(source, told).export
    if export is None or not export.rows:
        raise InvalidPredictions(
            f"--append takes a table with an item in each row; {source} is a tool's own: write a table of answers "
            "with -o, or what a tool takes with --to"
        )
    return _places(export.rows, items)


def item_places(understood: Understood, items: Sequence[Any]) -> IntArray:
    """The place of each row's item among all items; -1 where nothing was read of a row."""
    if understood.items is None:
        return np.arange(understood.predictions.n_items)
    return _places(understood.items.rows(), items)


def _places(names: Sequence[Any], items: Sequence[Any]) -> IntArray:
    by_name = {text_of(item): place for place, item in enumerate(items)}
    return np.array([-1 if name is None else by_name.get(text_of(name), -1) for name in names], dtype=np.intp)


def _named(new: New, taken: Sequence[str], n_rows: int, path: Path) -> New:
    """The new columns, as long as the table, under names that it does not have."""
    if any(len(values) != n_rows for values in new.values()):
        raise InvalidPredictions(f"--append takes a table with an item in each row; {path} has several in one")
    prefix = PREFIX if set(new) & set(taken) else ""
    if clash := {f"{prefix}{name}" for name in new} & set(taken):
        raise InvalidPredictions(f"--append must add new columns; {path} has {min(clash)!r} already")
    return {f"{prefix}{name}": values for name, values in new.items()}


def _append_text(file: IO[bytes], path: Path, new: New) -> None:
    delimiter = "\t" if suffix_of(path) == ".tsv" else ","
    header, *rows = raw_rows(path, delimiter)
    added = _named(new, header, len(rows), path)
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow([*header, *added])
    for row, cells in zip(rows, zip(*added.values(), strict=True), strict=True):
        missing = [""] * (len(header) - len(row))  # a row may end early
        writer.writerow([*row, *missing, *(with_quote(cell) if cell != "" else None for cell in cells)])
    text.flush()
    text.detach()


def _append_parquet(file: IO[bytes], path: Path, new: New) -> None:
    import polars as pl  # noqa: PLC0415 - only tables need it

    frame = pl.read_parquet(path, glob=False)
    write_frame(file, frame.with_columns(pl.DataFrame(_named(new, frame.columns, frame.height, path), strict=False)))


def _append_records(file: IO[bytes], path: Path, new: New) -> None:
    by_line = suffix_of(path) != ".json"
    given = read_json(path, by_line=by_line)
    if not isinstance(given, list) or not all(isinstance(record, dict) for record in given):
        raise InvalidPredictions(f"--append takes a list of records; {path} has another form")
    added = _named(new, [key for record in given for key in record], len(given), path)
    rows = zip(*added.values(), strict=True)
    records = [record | dict(zip(added, row, strict=True)) for record, row in zip(given, rows, strict=True)]
    write_json(file, records, by_line=by_line)


def write_json(file: IO[bytes], records: list[dict[str, Any]], *, by_line: bool) -> None:
    """Write JSON records, one on each line or as one list."""
    if by_line:
        write_records(file, records)
    else:
        file.write(json.dumps(records, ensure_ascii=False, indent=1).encode())


WRITERS: dict[str, Callable[[IO[bytes], Path, New], None]] = {
    ".csv": _append_text,
    ".tsv": _append_text,
    ".parquet": _append_parquet,
    ".jsonl": _append_records,
    ".ndjson": _append_records,
    ".json": _append_records,
}
