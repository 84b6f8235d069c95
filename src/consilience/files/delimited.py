"""Read a table of text, whose columns are separated by commas or tabs. All cells stay text."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

import numpy as np

from consilience.data.axes import some
from consilience.data.names import NUMBER
from consilience.data.tables.columns import Coder, Column, Columns
from consilience.data.validation import are_probabilities
from consilience.files.tools import told_apart
from consilience.files.writing import without_quote
from consilience.system.errors import InvalidPredictions, polars
from consilience.system.untrusted import check_is_file, check_text, read_unpacked, reason_of, stem_of

MOST_COLUMNS = 100_000
"""Tables with more columns are refused."""

BLOCK, TAIL = 2**18, 2**16
"""How many bytes of a file are read at once, and looked at to see whether it was cut short."""

VALUES_OCCUR = 4
"""A column is coded while it is read if the first block says that each of its values occurs more often, on average."""

REASONS = {
    "unexpected end of data": "a quote is opened, and not closed before its end",
    "field larger than field limit": f"a cell has more than {csv.field_size_limit():,} characters",
}
"""What the csv module says, and what it means."""


def read_delimited(path: Path, delimiter: str) -> Columns:
    """The columns of a CSV or TSV file in UTF-8, by name."""
    check_is_file(path)
    held = read_unpacked(path)
    check_text(held, path, "a table")
    if b"\x00" in held:
        raise InvalidPredictions(
            f"{path} must be a table in UTF-8; it holds bytes of 0, as UTF-16 has: save it as UTF-8"
        )
    header = next(_rows(held, path, delimiter), None)
    if header is None:
        raise InvalidPredictions(f"{path} must have a header and rows; it is empty")
    is_odd = _is_odd(held, delimiter)
    if is_odd:
        held = _rewritten(held, path, delimiter)
    names = _names(header, path, delimiter)
    # An ordinary file is read from where it lies, a block at a time. Quoted cells may have lines inside.
    is_ordinary = path.suffix.lower() != ".gz" and not is_odd
    tail, source = held[-TAIL:], path if is_ordinary else held
    size = len(held) if is_odd else BLOCK
    n_blocks = max(1.0, len(held) / size)
    del held
    parts: list[_Text] = []
    for block in _blocks(source, size):
        table = _parsed(block, source, path, delimiter, len(names))
        _check_is_header(names, table, path)
        parts = parts or [_Text(own, n_blocks) for own in table]
        for part, own in zip(parts, table, strict=True):
            part.add(own)
    columns = {name: part.column(name) for name, part in zip(names, parts, strict=True)}
    if not tail.endswith((b"\n", b"\r")):
        _check_not_cut(columns[names[-1]], tail, path, delimiter, len(names))
    return Columns(columns, stem=stem_of(path))


def _is_odd(held: bytes, delimiter: str) -> bool:
    """Whether only the csv module reads this strictly: polars reads quotes more freely than they can be meant."""
    has_spaces = f"{delimiter} ".encode() in held[: held.find(b"\n")]
    has_blank = b"\n\n" in held or b"\n\r\n" in held or held.startswith((b"\n", b"\r"))
    return has_spaces or has_blank or b'"' in held or held.count(b"\r") != held.count(b"\r\n")


def _blocks(source: Path | bytes, size: int) -> Iterator[bytes]:
    """The header with some lines after it, again and again; the header alone if there are none."""
    with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
        header, block = file.readline(), file.read(size) + file.readline()
        yield header + block
        while block := file.read(size) + file.readline():
            yield header + block


@final
class _Text:
    """A column that comes in parts: coded as they come if its values occur again and again, else kept as text."""

    def __init__(self, first: Any, n_parts: float) -> None:
        # Of a column with k different values, n rows have about n² / 2k repeats.
        n_rows, repeats = len(first), len(first) - first.n_unique()
        self.coder = Coder() if VALUES_OCCUR * n_rows**2 < 2 * n_parts * n_rows * repeats else None
        self.texts: list[Any] = []
        self.size = 0

    def add(self, series: Any) -> None:
        """Take another part; empty text is a missing cell."""
        plain = series.set(series == "", None) if (series == "").any() else series
        self.size += len(plain)
        if self.coder is None:
            self.texts.append(plain)
        else:
            self.coder.add(plain)

    def column(self, name: str) -> Column:
        """All parts."""
        if self.coder is not None:
            return Column(name, self.size, self.coder.coded, name_of=without_quote)
        return Column.of_polars(name, polars().concat(self.texts), without_quote)


def _rows(held: bytes, path: Path, delimiter: str) -> Iterator[list[str]]:
    """The rows that are not blank, by the csv module; without spaces behind commas if the header is `task, worker`."""

    def rows(*, has_spaces: bool) -> Iterator[list[str]]:
        text = io.TextIOWrapper(io.BytesIO(held), encoding="utf-8-sig", newline="")
        return filter(None, csv.reader(text, delimiter=delimiter, strict=True, skipinitialspace=has_spaces))

    try:
        header = next(rows(has_spaces=False), [])
        has_spaces = len(header) > 1 and all(name.startswith(" ") and name.strip() for name in header[1:])
        found = rows(has_spaces=has_spaces)
        if has_spaces:
            yield [name.strip() for name in next(found)]
        yield from found
    except csv.Error as error:
        reason = next((words for said, words in REASONS.items() if said in str(error)), str(error))
        raise InvalidPredictions(f"{path} must be a table in UTF-8; {reason}") from error


def raw_rows(path: Path, delimiter: str) -> list[list[str]]:
    """The cells of a table as they are written, those of the header first; without blank lines."""
    return list(_rows(read_unpacked(path), path, delimiter))


def _rewritten(held: bytes, path: Path, delimiter: str) -> bytes:
    """The same table with quotes, ends of lines and commas as they usually are, and without blank lines."""
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(_rows(held, path, delimiter))
    made = out.getvalue().encode()
    return made if held.endswith((b"\n", b"\r")) else made[:-1]


def _names(header: list[str], path: Path, delimiter: str) -> list[str]:
    """The names of the columns; raises if the header is none."""
    names = told_apart([without_quote(name) for name in header])
    name, n_times = Counter(names).most_common(1)[0]
    if len(header) == 1 and (found := next((mark for mark in ";|\t," if mark in header[0]), None)):
        wanted = f"have its columns separated by {delimiter!r}"
        expected = f"{wanted}; its header {header[0]!r} has {found!r}: save it so, or as .xlsx"
    elif len(header) > MOST_COLUMNS:
        expected = f"have at most {MOST_COLUMNS:,} columns; it has {len(header):,}"
    elif "'" in header:
        expected = f"have a name above each column; that of column {header.index(chr(39)) + 1} is empty"
    elif n_times > 1:
        expected = (
            f"have columns of different names; got {name!r} twice: if it has more than one row of names, join them, or "
            "write one file for each member"
        )
    elif _is_of_numbers(names):
        expected = f"have the names of its columns in its first row; it has numbers, {some(names)}: add a header"
    else:
        return names
    raise InvalidPredictions(f"{path} must {expected}")


def _parsed(block: bytes, source: Path | bytes, path: Path, delimiter: str, n_columns: int) -> Any:
    """The rows as a frame of text; raises as the csv module would, with the number of the row."""
    pl = polars()

    try:
        table = pl.read_csv(block, separator=delimiter, infer_schema=False)
        if table.width == n_columns:
            return table
        reason = f"its header has {n_columns:,} names and its rows {table.width:,}"
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        held = source if isinstance(source, bytes) else source.read_bytes()
        for line, row in enumerate(_rows(held, path, delimiter), start=1):
            if len(row) > n_columns:
                raise InvalidPredictions(
                    f"{path} must have {n_columns} values in each row; row {line} has {len(row)}"
                ) from None
        reason = f"a quote stands inside a cell without quotes around it ({reason_of(error)})"
    raise InvalidPredictions(f"{path} must be a table in UTF-8; {reason}")


def _check_is_header(names: list[str], table: Any, path: Path) -> None:
    """Raise if every name stands in its own column again, as the first of several answers does."""
    are_numbers = all(map(NUMBER.fullmatch, names))  # classes 0 and 1 may be so called, and hold 0 and 1
    if len(names) > 1 and not are_numbers and all((own == name).any() for name, own in zip(names, table, strict=True)):
        raise InvalidPredictions(
            f"{path} must have the names of its columns in its first row; each of {some(names)} is a value in its own "
            "column too: add a header"
        )


def _check_not_cut(column: Column, tail: bytes, path: Path, delimiter: str, n_columns: int) -> None:
    """Raise if the last row has no last cell, or one that is the beginning of others: `ow` in a column of `owl`s."""
    codes, values = column.coded
    line = tail[tail.rfind(b"\n") + 1 :].decode(errors="replace")
    if len(codes) and codes[-1] >= 0:
        last = values[codes[-1]]
        n_begun = sum(int(column.counts[place]) for place, value in enumerate(values) if value.startswith(last))
        if column.counts[codes[-1]] == 1 and len(values) < len(codes) / 2 and n_begun > 1:
            raise InvalidPredictions(
                f"{path} must end with a whole word; {last!r} stands there alone, and begins others: the file may "
                "have been cut short; end its last line if it has not"
            )
    elif len(codes) and '"' not in line and len(next(csv.reader([line], delimiter=delimiter), [""])) < n_columns:
        raise InvalidPredictions(
            f"{path} must have {n_columns} values in each row; the last has fewer, so the file may have been cut short"
        )


def _is_of_numbers(header: list[str]) -> bool:
    """Whether the first row is a row of probabilities, perhaps behind an item. Classes may be called 0.0 and 1.0."""
    for row in (header, header[1:]):
        if len(row) > 1 and all(NUMBER.fullmatch(name) for name in row) and any("." in name for name in row):
            numbers = [float(name) for name in row]
            if numbers != list(range(len(row))) and are_probabilities(np.array(numbers)):
                return True
    return False
