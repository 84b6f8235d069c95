"""Read a table of text, whose columns are separated by commas or tabs."""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from consilience.data.axes import some
from consilience.data.names import NUMBER as PLAIN_NUMBER
from consilience.data.reading import are_probabilities
from consilience.files.cells import NUMBER, Cells
from consilience.files.spreadsheets import without_quote
from consilience.system.errors import InvalidPredictions
from consilience.system.untrusted import read_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MOST_COLUMNS = 100_000
"""Tables with more columns are refused."""

REASONS = {
    "unexpected end of data": "a quote is opened, and not closed before its end",
    "field larger than field limit": f"a cell has more than {csv.field_size_limit():,} characters",
}
"""What the csv module says, and what it means."""


def read_delimited(path: Path, delimiter: str) -> dict[str, Cells]:
    """The columns of a CSV or TSV file in UTF-8, by name."""
    header, rows = _read(path, delimiter)
    if len(header) == 1 and (found := next((mark for mark in ";|\t," if mark in header[0]), None)):
        raise InvalidPredictions(
            f"{path} must have its columns separated by {delimiter!r}; its header {header[0]!r} has {found!r}"
        )
    if len(header) > MOST_COLUMNS:
        raise InvalidPredictions(f"{path} must have at most {MOST_COLUMNS:,} columns; it has {len(header):,}")
    if "'" in header:
        raise InvalidPredictions(
            f"{path} must have a name above each column; that of column {header.index(chr(39)) + 1} is empty"
        )
    header = [without_quote(name) for name in header]
    if (name := repeated(header)) is not None:
        deep = _is_deep(rows)
        raise InvalidPredictions(
            f"{path} must have one row of names above its columns; it has several, such as {header[-1]!r} above "
            f"{rows[0][-1]!r}: join them, or write one file for each member"
            if deep
            else f"{path} must have columns of different names; got {name!r} twice"
        )
    if _is_of_numbers(header):
        raise InvalidPredictions(
            f"{path} must have the names of its columns in its first row; it has numbers, {some(header)}: add a header"
        )
    for line, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise InvalidPredictions(f"{path} must have {len(header)} values in each row; row {line} has {len(row)}")
    columns = zip(*rows, strict=True) if rows else ([] for _ in header)
    return {name: Cells(column, is_text=True) for name, column in zip(header, columns, strict=True)}


def repeated(names: Sequence[str]) -> str | None:
    """A name that occurs more than once; None if there is none."""
    name, count = Counter(names).most_common(1)[0] if names else ("", 0)
    return name if count > 1 else None


def _read(path: Path, delimiter: str) -> tuple[list[str], list[list[str]]]:
    text = read_text(path, "a table")
    if "\x00" in text:
        raise InvalidPredictions(
            f"{path} must be a table in UTF-8; it holds bytes of 0, as UTF-16 has: save it as UTF-8"
        )
    try:
        header = next((row for row in csv.reader(_lines(text), delimiter=delimiter, strict=True) if row), None)
        if header is None:
            raise InvalidPredictions(f"{path} must have a header and rows; it is empty")
        # `task, worker` is separated by a comma and a space, in the rows too.
        has_spaces = len(header) > 1 and all(name.startswith(" ") and name.strip() for name in header[1:])
        parsed = csv.reader(_lines(text), delimiter=delimiter, strict=True, skipinitialspace=has_spaces)
        header, *rows = [row for row in parsed if row]
    except csv.Error as error:
        reason = next((words for said, words in REASONS.items() if said in str(error)), str(error))
        raise InvalidPredictions(f"{path} must be a table in UTF-8; {reason}") from error
    return ([name.strip() for name in header] if has_spaces else header), rows


def _lines(text: str) -> io.StringIO:
    return io.StringIO(text, newline="")  # a line ends as the csv module expects


def _is_of_numbers(header: list[str]) -> bool:
    """Whether the first row is a row of probabilities, perhaps behind an item. Classes may be called 0.0 and 1.0."""
    for row in (header, header[1:]):
        if len(row) > 1 and all(PLAIN_NUMBER.fullmatch(name) for name in row) and any("." in name for name in row):
            numbers = [float(name) for name in row]
            if numbers != list(range(len(row))) and are_probabilities(np.array(numbers)):
                return True
    return False


def _is_deep(rows: list[list[str]]) -> bool:
    """Whether the first row is another row of names: text above columns of numbers."""
    if len(rows) < 2:
        return False
    first, last = rows[0], rows[-1]
    pairs = list(zip(first, last, strict=False))[1:]
    return bool(pairs) and all(not NUMBER.fullmatch(name) and NUMBER.fullmatch(number) for name, number in pairs)
