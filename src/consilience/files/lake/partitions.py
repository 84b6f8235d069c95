"""The partitions of a data set: a file, a folder, a pattern, or an address in an object store."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from glob import glob, has_magic
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import polars as pl

from consilience.data.axes import some
from consilience.files.lake import REMOTE
from consilience.system.errors import InvalidPredictions
from consilience.system.untrusted import reason_of

HIVE = re.compile(r"[^/\\=]+=[^/\\]*[/\\]")  # a folder that is called by a column and its value, such as judge=ann/
PATH = "consilience: path"  # a column of our own
FULL = re.compile(r"No space left|os error (27|28|122)\b")  # how polars says that the disk is full, without its number

Read = TypeVar("Read")


class Partition(NamedTuple):
    """A file of a data set, with what tells whether it has changed; unknown of an object store."""

    path: str
    size: int | None = None
    changed: int | None = None  # in nanoseconds

    def read(self, read: Callable[[pl.LazyFrame], Read]) -> Read:
        """What a function reads of it, not loaded yet; raises a sentence with its name."""
        try:
            lazy = SCANS[Path(self.path).suffix.lower()](self.path)
            fixed = [name for name, kind in lazy.collect_schema().items() if isinstance(kind, pl.Array)]
            return read(lazy.with_columns(pl.col(fixed).arr.to_list()) if fixed else lazy)
        except (Exception, pl.exceptions.PanicException) as error:  # polars raises many kinds
            if isinstance(error, MemoryError | InvalidPredictions) or is_full(error):
                raise
            raise InvalidPredictions(f"{self.path} cannot be read; {reason_of(error)}") from error


def is_full(error: BaseException) -> bool:
    """Whether the disk is full, or a file or a user may take no more of it."""
    return getattr(error, "errno", None) in (27, 28, 122) or FULL.search(str(error)) is not None


def may_skip(error: InvalidPredictions) -> InvalidPredictions:
    """The same, with how to leave the partition out."""
    return InvalidPredictions(error.marked, "; --skip-bad leaves such partitions out")


class DataSet(NamedTuple):
    """What one argument names."""

    source: str
    partitions: list[Partition]

    @property
    def name(self) -> str:
        """What its member is called, if it has the answers of one: the last folder or file that is no pattern."""
        parts = [part for part in re.split(r"[/\\]", self.source) if part and not has_magic(part)]
        return Path(parts[-1]).stem if parts else self.source


def data_set(source: str) -> DataSet:
    """The partitions that an argument names, in the order of their names."""
    is_remote = REMOTE.match(source)
    paths = sorted(_remote(source) if is_remote else _local(source))
    kinds = sorted({Path(path).suffix.lower() for path in paths})
    if len(kinds) != 1 or kinds[0] not in SCANS:
        got = some(kinds) if kinds else "none"
        raise InvalidPredictions(f"{source} must have files of one of {' '.join(SCANS)}; it has {got}")
    if is_remote:
        return DataSet(source, [Partition(path) for path in paths])
    about = ((path, Path(path).stat()) for path in paths)
    return DataSet(source, [Partition(path, own.st_size, own.st_mtime_ns) for path, own in about])


def _local(source: str) -> list[str]:
    place = Path(source)
    if place.is_file():
        return [source]
    if place.is_dir():
        inside = (path for path in place.rglob("*") if path.is_file() and path.suffix in SCANS)
        return [str(path) for path in inside if not _is_hidden(path.relative_to(place))]
    if not has_magic(source):
        raise FileNotFoundError(2, "no such file or folder", source)
    found = glob(source, recursive=True)  # noqa: PTH207 - a Path has no patterns that begin at the root
    return [path for path in found if Path(path).is_file() and not _is_hidden(Path(Path(path).name))]


def _is_hidden(path: Path) -> bool:
    """Whether a file is a tool's own, such as _SUCCESS and .crc."""
    return any(part.startswith(("_", ".")) and part not in (".", "..") for part in path.parts)


def _remote(source: str) -> list[str]:
    """The files at an address, as polars lists them."""
    kind = Path(source).suffix.lower() or ".parquet"
    if kind not in SCANS:
        return [source]
    try:
        paths = SCANS[kind](source, include_file_paths=PATH).select(pl.col(PATH).unique()).collect(engine="streaming")
    except Exception as error:
        raise InvalidPredictions(f"{source} cannot be listed; {reason_of(error)}") from error
    return list(paths.to_series().to_list())


def _scan_parquet(path: str, **options: Any) -> pl.LazyFrame:
    return pl.scan_parquet(path, hive_partitioning=bool(HIVE.search(path)), **options)


SCANS: dict[str, Callable[..., pl.LazyFrame]] = {
    ".parquet": _scan_parquet,
    ".csv": partial(pl.scan_csv, separator=",", infer_schema=False),
    ".tsv": partial(pl.scan_csv, separator="\t", infer_schema=False),
    ".jsonl": pl.scan_ndjson,
    ".ndjson": pl.scan_ndjson,
}
"""How polars reads files by their suffix; a CSV file is text, as everywhere."""
