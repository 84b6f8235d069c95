"""Write posteriors and tables to files, which appear whole or not at all."""

from __future__ import annotations

import csv
import io
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from consilience.data.names import text_of
from consilience.data.roles import UNNAMED
from consilience.files.spreadsheets import with_quote
from consilience.system.arrays import to_numpy
from consilience.system.atomic import check_writable, whole_file
from consilience.system.errors import InvalidPredictions
from consilience.system.extras import extra
from consilience.system.tables import Table

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from consilience.aggregators.base import AbstractAggregator


def check_posterior_path(path: str | os.PathLike[str]) -> None:
    """Raise if a posterior cannot be written to this path."""
    check_writable(path, WRITERS)
    for suffix, library in ((".parquet", "pyarrow"), (".safetensors", "safetensors")):
        if Path(path).suffix.lower() == suffix:
            extra(library, name=suffix[1:], use=f"writing {suffix} files")


def write_posterior(
    path: str | os.PathLike[str], aggregator: AbstractAggregator, posterior: Any, items: list[Any]
) -> None:
    """Write the posterior of some items, the answers and the names, in the format of the path's suffix.

    An `.npz` file also has the members' confusion matrices. No format holds Python objects.
    """
    check_posterior_path(path)
    taken = [name for name in aggregator.classes_ if text_of(name) in ("item", "label", *UNNAMED)]
    if taken and Path(path).suffix.lower() in (".csv", ".parquet"):
        raise InvalidPredictions(
            f"a table cannot have a column {taken[0]!r} for a class of that name; write it to .npz instead"
        )
    rows = to_numpy(posterior)
    with whole_file(path) as file:
        WRITERS[Path(path).suffix.lower()](file, aggregator, rows, items)


def write_table(path: str | os.PathLike[str], table: Table) -> None:
    """Write a table as CSV. None becomes an empty cell."""
    check_writable(path, (".csv",))
    with whole_file(path) as file:
        _write_rows(file, [table.columns, *(row.values() for row in table.rows())])


def _write_rows(file: IO[bytes], rows: Iterable[Iterable[Any]]) -> None:
    """Write CSV. No cell of any table is a formula, and every name is read back as it is."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    csv.writer(text).writerows(map(with_quote, row) for row in rows)
    text.flush()
    text.detach()


def _answers(aggregator: AbstractAggregator, rows: Any) -> list[Any]:
    return [aggregator.classes_[place] for place in rows.argmax(axis=1)]


def _names(values: list[Any]) -> np.ndarray[Any, Any]:
    """Names as an array without Python objects."""
    array = np.asarray(values)
    return array if array.dtype.kind in "iufUb" and array.ndim == 1 else np.asarray([text_of(name) for name in values])


def _write_npz(file: IO[bytes], aggregator: AbstractAggregator, rows: Any, items: list[Any]) -> None:
    np.savez_compressed(
        file,
        posterior=rows,
        label=_names(_answers(aggregator, rows)),
        items=_names(items),
        classes=_names(aggregator.classes_),
        members=_names(aggregator.members_),
        confusion=aggregator.confusion_,
        class_prior=aggregator.class_prior_,
        method=np.asarray(type(aggregator).__name__),
    )


def _write_npy(file: IO[bytes], _: AbstractAggregator, rows: Any, __: list[Any]) -> None:
    np.save(file, rows, allow_pickle=False)


def _write_csv(file: IO[bytes], aggregator: AbstractAggregator, rows: Any, items: list[Any]) -> None:
    answers = zip(items, _answers(aggregator, rows), rows.tolist(), strict=True)
    header = ["item", "label", *aggregator.classes_]
    _write_rows(file, chain([header], ([item, label, *row] for item, label, row in answers)))


def _write_parquet(file: IO[bytes], aggregator: AbstractAggregator, rows: Any, items: list[Any]) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    columns = {"item": _names(items).tolist(), "label": _names(_answers(aggregator, rows)).tolist()}
    columns |= {text_of(name): rows[:, place].tolist() for place, name in enumerate(aggregator.classes_)}
    pq.write_table(Table(columns).to_frame("pyarrow"), file)


def _write_safetensors(file: IO[bytes], aggregator: AbstractAggregator, rows: Any, _: list[Any]) -> None:
    from safetensors.numpy import save  # noqa: PLC0415 - an extra

    file.write(
        save({"posterior": np.ascontiguousarray(rows), "confusion": np.ascontiguousarray(aggregator.confusion_)})
    )


WRITERS: dict[str, Callable[[IO[bytes], AbstractAggregator, Any, list[Any]], None]] = {
    ".npz": _write_npz,
    ".npy": _write_npy,
    ".csv": _write_csv,
    ".parquet": _write_parquet,
    ".safetensors": _write_safetensors,
}
