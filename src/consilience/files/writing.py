"""Write posteriors and tables to files, which appear whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from consilience.data.names import UNKNOWN, of_one_kind, text_of
from consilience.data.tables.told import UNNAMED
from consilience.system.arrays import to_numpy
from consilience.system.atomic import check_writable, whole_file
from consilience.system.errors import InvalidPredictions, extra, polars
from consilience.system.tables import Table

if TYPE_CHECKING:
    from consilience.aggregators.base import AbstractAggregator

FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
"""The beginning of a cell that some spreadsheet computes, also at full width."""

NEGATIVE = re.compile(r"-[0-9]+(\.[0-9]+)?")


def with_quote(value: object) -> object:
    """Put an apostrophe before a text that reads like a formula or like nothing, so that it stays text.

    >>> with_quote("=1+1"), with_quote("NA"), with_quote(""), with_quote("cat"), with_quote("-1"), with_quote(-1)
    ("'=1+1", "'NA", "'", 'cat', '-1', -1)
    """
    return f"'{value}" if isinstance(value, str) and _needs_quote(value) else value


def without_quote(text: str) -> str:
    """Undo `with_quote`.

    >>> without_quote("'=1+1"), without_quote("'"), without_quote("'cat'")
    ('=1+1', '', "'cat'")
    """
    return text[1:] if text.startswith("'") and _needs_quote(text) else text


def _needs_quote(text: str) -> bool:
    """Quotes in front do not count, so that every name is read back unchanged."""
    bare = text.lstrip("'")
    is_formula = bare.startswith(FORMULA) and not NEGATIVE.fullmatch(bare)
    return is_formula or not bare or bare in UNKNOWN


KNOWN = "known"
"""The column or array that marks the items whose labels the fit was given."""


class Fused(NamedTuple):
    """What is written."""

    aggregator: AbstractAggregator
    rows: Any  # (items, classes)
    answers: Table  # as `cs.answers` gives it
    marks: dict[str, npt.NDArray[np.bool_]]  # the items whose labels were given, by the name of the column, if any was

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The columns of a table, one row per item: answers, marks, and the probability of each class."""
        classes = map(text_of, self.aggregator.classes_)
        return {
            **{name: of_one_kind(self.answers[name], {str, int, float}) for name in self.answers.columns},
            **{name: values.tolist() for name, values in self.marks.items()},
            **dict(zip(classes, self.rows.T.tolist(), strict=True)),
        }


def check_posterior_path(path: str | os.PathLike[str]) -> None:
    """Raise if a posterior cannot be written to this path."""
    check_writable(path, WRITERS)
    if Path(path).suffix.lower() == ".safetensors":
        extra("safetensors", name="safetensors", use="writing .safetensors files")


def write_posterior(
    path: str | os.PathLike[str],
    aggregator: AbstractAggregator,
    posterior: Any,
    answers: Table,
    is_known: npt.NDArray[np.bool_] | None = None,
) -> None:
    """Write the posterior of some items, the table of answers and the names, in the format of the path's suffix.

    An `.npz` file also has the members' confusion matrices. Where the fit was given labels, `is_known` marks their
    items, so that `evaluate` leaves them out. Only `.npy` has no place for that, nor for names. No format holds Python
    objects.
    """
    check_posterior_path(path)
    marks = {} if is_known is None or not is_known.any() else {KNOWN: is_known}
    reserved = ("label", *answers.columns, *UNNAMED, *marks)
    taken = [name for name in aggregator.classes_ if text_of(name) in reserved]
    if taken and Path(path).suffix.lower() in TABLES:
        raise InvalidPredictions(
            f"a table cannot have a column {taken[0]!r} for a class of that name; write it to .npz instead"
        )
    rows = to_numpy(posterior)
    with whole_file(path) as file:
        WRITERS[Path(path).suffix.lower()](file, Fused(aggregator, rows, answers, marks))


def write_table(path: str | os.PathLike[str], table: Table) -> None:
    """Write a table as CSV. None becomes an empty cell."""
    check_writable(path, (".csv",))
    with whole_file(path) as file:
        _write_rows(file, [table.columns, *(row.values() for row in table.rows())])


def write_text(file: IO[bytes], rows: Iterable[Iterable[Any]], delimiter: str = ",") -> None:
    """Write CSV or TSV, of cells as they are."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    csv.writer(text, delimiter=delimiter).writerows(rows)
    text.flush()
    text.detach()


def _write_rows(file: IO[bytes], rows: Iterable[Iterable[Any]]) -> None:
    """Write CSV. No cell of any table is a formula, and every name is read back as it is."""
    write_text(file, (map(with_quote, row) for row in rows))


def _names(values: list[Any]) -> np.ndarray[Any, Any]:
    """Names as an array without Python objects."""
    array = np.asarray(values)
    return array if array.dtype.kind in "iufUb" and array.ndim == 1 else np.asarray([text_of(name) for name in values])


def _write_npz(file: IO[bytes], fused: Fused) -> None:
    aggregator = fused.aggregator
    arrays: dict[str, Any] = {
        "posterior": fused.rows,
        **{name: _names(fused.answers[name]) for name in fused.answers.columns if name != "item"},
        "items": _names(fused.answers["item"]),
        "classes": _names(aggregator.classes_),
        "members": _names(aggregator.members_),
        "confusion": aggregator.confusion_,
        "class_prior": aggregator.class_prior_,
        "method": np.asarray(type(aggregator).__name__),
        **fused.marks,
    }
    np.savez_compressed(file, **arrays)


def _write_csv(file: IO[bytes], fused: Fused) -> None:
    columns = fused.columns
    columns["review"] = [reason or None for reason in columns["review"]]  # an empty name would be quoted
    _write_rows(file, chain([columns], zip(*columns.values(), strict=True)))


def _write_jsonl(file: IO[bytes], fused: Fused) -> None:
    columns = fused.columns
    records = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    write_json(file, records, by_line=True)


def write_json(file: IO[bytes], records: Iterable[Any], *, by_line: bool) -> None:
    """Write JSON records, one on each line or as one list."""
    if by_line:
        file.writelines(f"{json.dumps(record, ensure_ascii=False)}\n".encode() for record in records)
    else:
        file.write(json.dumps(list(records), ensure_ascii=False, indent=1).encode())


def write_frame(file: IO[bytes], frame: Any, metadata: dict[str, str] | None = None) -> None:
    """Write a frame of polars as Parquet."""
    made = io.BytesIO()  # polars would call a full disk an error of the format
    frame.write_parquet(made, metadata=metadata)
    file.write(made.getbuffer())


def _write_safetensors(file: IO[bytes], fused: Fused) -> None:
    from safetensors.numpy import save  # noqa: PLC0415 - an extra

    arrays = {"posterior": fused.rows, "confusion": fused.aggregator.confusion_, **fused.marks}
    # A tensor holds no text.
    names = {"items": fused.answers["item"], "classes": fused.aggregator.classes_}
    texts = {axis: json.dumps([text_of(name) for name in values]) for axis, values in names.items()}
    file.write(save({name: np.ascontiguousarray(array) for name, array in arrays.items()}, texts))


WRITERS: dict[str, Callable[[IO[bytes], Fused], None]] = {
    ".npz": _write_npz,
    ".npy": lambda file, fused: np.save(file, fused.rows, allow_pickle=False),
    ".csv": _write_csv,
    ".jsonl": _write_jsonl,
    ".parquet": lambda file, fused: write_frame(file, polars().DataFrame(fused.columns, strict=False)),
    ".safetensors": _write_safetensors,
}

TABLES = (".csv", ".jsonl", ".parquet")
"""The formats in which each class is a column beside those of the answers."""
