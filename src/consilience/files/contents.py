"""Read a file of any format as arrays or as a table. Nothing in a file is ever executed."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from consilience.data.axes import some
from consilience.data.names import as_written, text_of
from consilience.data.tables.columns import Column, Columns, are_scored, is_row
from consilience.data.tables.numbers import SCALES, Scale
from consilience.data.tables.told import Told
from consilience.files.delimited import MOST_COLUMNS, read_delimited
from consilience.files.stored import read_database, read_parquet, read_sheet
from consilience.files.tools import are_spans, export_of, is_of_tool, reader_of, unknown_form
from consilience.files.tools.export import Export, flattened
from consilience.files.tools.harnesses import unpacked
from consilience.system.errors import InvalidPredictions, extra, within
from consilience.system.untrusted import (
    UNREADABLE,
    check_is_file,
    names_in_npz,
    read_npy,
    read_npz,
    read_text,
    reason_of,
    stem_of,
    whole_number,
)

Arrays = dict[str, np.ndarray[Any, Any]]


class Format(NamedTuple):
    """What files of a suffix are called, and how FILE:KEY is read."""

    words: str
    read: Callable[[Path, str | None], Any]
    is_text: bool = False  # and may be packed: `votes.csv.gz`
    holds_several: bool = False  # tables, of which `votes.xlsx:NAME` picks one


ARRAY_FORMATS = {
    ".npy": Format("NumPy array", lambda path, key: _chosen({path.stem: read_npy(path)}, key, path)),
    ".npz": Format("NumPy archive", lambda path, key: _read_npz(path, key)),  # noqa: PLW0108 - it stands below
    ".safetensors": Format("safetensors file", lambda path, key: _chosen(_read_safetensors(path), key, path)),
}
TABLE_FORMATS = {
    ".csv": Format("CSV table", lambda path, _: read_delimited(path, ","), is_text=True),
    ".tsv": Format("TSV table", lambda path, _: read_delimited(path, "\t"), is_text=True),
    ".parquet": Format("Parquet table", lambda path, _: read_parquet(path)),
    ".jsonl": Format("JSON records, one on each line", lambda path, _: _read_records(path), is_text=True),
    ".ndjson": Format("JSON records, one on each line", lambda path, _: _read_records(path), is_text=True),
    ".json": Format("JSON records", lambda path, _: _read_records(path), is_text=True),
    ".eval": Format("packed log", lambda path, _: _read_records(path)),
    ".xlsx": Format("Excel sheet", read_sheet, holds_several=True),
    ".sqlite": Format("SQLite table", read_database, holds_several=True),
    ".db": Format("SQLite table", read_database, holds_several=True),
}
FORMATS = ARRAY_FORMATS | TABLE_FORMATS
PACKED = tuple(suffix for suffix, own in FORMATS.items() if own.is_text)

ORDERS = ("members-first", "items-first")
"""The words by which a user says which axis of an array comes first, as in `votes.npy:items-first`."""

AXIS_NAMES = ("members", "items", "classes")
"""Arrays of these names in an archive name the axes."""

Entry = TypeVar("Entry")


class Contents(NamedTuple):
    """A file's arrays by name, its table, or a tool's export. The array of a `.npy` file is named after the file."""

    path: Path
    format: str  # in words
    arrays: Arrays | None = None
    table: Columns | None = None
    export: Export | None = None
    tool: str | None = None  # that wrote it
    given: Any = None  # what the tool wrote, as JSON
    scale: Scale | None = None  # as the user says
    order: str | None = None  # of the axes, as the user says


def read_contents(source: str, told: Told | None = None) -> Contents:
    """Read FILE, or the part of FILE:KEY: the array KEY, or all arrays whose names start with KEY/.

    A last word such as :logits says on which scale the numbers are, and :items-first that items come before members,
    unless an archive has an entry of that name.
    """
    path, key = split_source(source)
    suffix = suffix_of(path)
    if suffix not in FORMATS:
        raise InvalidPredictions(f"a file of predictions must end in one of {' '.join(FORMATS)}; got {path.name!r}")
    check_is_file(path)
    key, order = _split_word(path, suffix, key, ORDERS)
    key, word = _split_word(path, suffix, key, SCALES)
    scale = None if word is None else SCALES[word]
    if suffix in TABLE_FORMATS:
        if key is not None and not FORMATS[suffix].holds_several:
            raise InvalidPredictions(f"a table has no entries to pick one of; got {source!r}")
        return _read_table(path, suffix, key, told or Told())._replace(scale=scale)
    return Contents(path, FORMATS[suffix].words, _read_arrays(path, suffix, key), scale=scale, order=order)


def suffix_of(path: Path) -> str:
    """The end of a file's name that tells its format: that of `votes.csv.gz` is .csv."""
    inner = Path(path.stem).suffix.lower()
    return inner if path.suffix.lower() == ".gz" and inner in PACKED else path.suffix.lower()


def split_source(source: str) -> tuple[Path, str | None]:
    """Split FILE:KEY. Any other colon is part of the file's name."""
    for suffix in (*FORMATS, *(f"{suffix}.gz" for suffix in PACKED)):
        head, colon, key = source.rpartition(f"{suffix}:")
        if colon and key and not Path(source).exists():
            return Path(head + suffix), key
    return Path(source), None


def _split_word(path: Path, suffix: str, key: str | None, words: Collection[str]) -> tuple[str | None, str | None]:
    """The key without the word at its end, and that word."""
    head, _, last = (key or "").rpartition(":")
    is_key = last not in words or (last == key and last in _names_in(path, suffix))
    return (key, None) if is_key else (head or None, last)


def _names_in(path: Path, suffix: str) -> list[str]:
    """The entries of an archive; none of a file that cannot be read, which reading will say."""
    try:
        if suffix == ".npz":
            return names_in_npz(path)
        return list(_read_safetensors(path)) if suffix == ".safetensors" else []
    except UNREADABLE:
        return []


def _read_table(path: Path, suffix: str, key: str | None, told: Told) -> Contents:
    """A table, or what the reader of a tool makes of it."""
    try:
        given = FORMATS[suffix].read(path, key)
        if (reader := reader_of(given, told)) is not None:
            with within(path):
                export, form = export_of(reader, path, given, told), f"as {reader.title} writes it"
            return Contents(path, form, export=export, tool=reader.name, given=given)
        is_table = isinstance(given, Columns)
        table = given if is_table else columns_of_json(given, path, may_be_nested=told.are_named)
    except RecursionError as error:
        raise InvalidPredictions(f"{path} must be JSON of few levels; it has hundreds") from error
    if not table.n_rows:
        raise InvalidPredictions(f"{path} must have at least one row under its header; it has none")
    return Contents(path, FORMATS[suffix].words, table=table)


def _read_records(path: Path) -> Any:
    """The records of a tool that were kept as columns, as pandas and Argilla's `to_dict` do; other JSON as it is."""
    given = read_json(path)
    if not isinstance(given, dict) or is_of_tool(given):
        return given
    records = records_in(given)
    return records if is_of_tool(records) else given


# ---- arrays -----------------------------------------------------------------------------------------------


def _read_arrays(path: Path, suffix: str, key: str | None) -> Arrays:
    try:
        return dict(FORMATS[suffix].read(path, key))
    except InvalidPredictions:
        raise
    except UNREADABLE as error:
        has_objects = any(word in str(error).lower() for word in ("pickle", "python object"))
        reason = "it holds Python objects, which are never loaded" if has_objects else reason_of(error)
        raise InvalidPredictions(f"{path} must be a {FORMATS[suffix].words} of numbers; {reason}") from error


def _read_npz(path: Path, key: str | None) -> Arrays:
    names = names_in_npz(path)
    if {"header", "class_prior_"} <= set(names):
        raise InvalidPredictions(
            f"{path} must hold predictions; it is a saved model: name it after --model, beside files of predictions"
        )
    wanted = set(_chosen({name: name for name in names}, key, path).values())
    return _chosen(read_npz(path, wanted.__contains__), key, path)  # the others are never unpacked


def _chosen(entries: dict[str, Entry], key: str | None, path: Path) -> dict[str, Entry]:
    """All entries of an archive, or the one called KEY beside the names of axes, or all whose names start with KEY/."""
    if key is None:
        return entries
    if key in entries:
        return {name: entry for name, entry in entries.items() if name in (key, *AXIS_NAMES)}
    inside = {name.removeprefix(f"{key}/"): entry for name, entry in entries.items() if name.startswith(f"{key}/")}
    if not inside:
        raise InvalidPredictions(f"{path} must hold {key!r}; it holds {some(list(entries))}")
    return inside


def _read_safetensors(path: Path) -> Arrays:
    safetensors = extra("safetensors", name="safetensors", use="reading .safetensors files")
    try:
        with safetensors.safe_open(path, framework="np") as file:
            tensors = {name: np.asarray(file.get_tensor(name)) for name in file.keys()}  # noqa: SIM118 - not a mapping
            return _names_in_metadata(file.metadata() or {}) | tensors
    except safetensors.SafetensorError as error:
        raise ValueError(reason_of(error)) from error


def _names_in_metadata(metadata: dict[str, str]) -> Arrays:
    """The names of axes that `write_posterior` puts beside the tensors; other metadata is not ours."""
    found = {}
    for axis in AXIS_NAMES:
        try:
            names = json.loads(metadata.get(axis, "null"))
        except (ValueError, RecursionError):
            continue
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            found[axis] = np.array(names, dtype=str)
    return found


# ---- JSON: a list of records, one record on each line, or columns by name -------------------------------------

SCORES = frozenset(
    ["probabilities", "probs", "probability", "prob", "scores", "logits", "logprobs", "distribution", "confidences"]
)
"""An object of this name in a record holds one number for each class."""


def read_json(path: Path) -> Any:
    """What a file of JSON or a packed log holds: one value, or a list with the value of each line."""
    suffix = suffix_of(path)
    if suffix == ".eval":
        return unpacked(path)
    parsed = partial(json.loads, object_pairs_hook=_without_repeats, parse_int=whole_number)
    text = read_text(path, "JSON")
    try:
        return parsed(text) if suffix == ".json" else [parsed(line) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError) as error:
        raise InvalidPredictions(f"{path} must be JSON in UTF-8; {reason_of(error)}") from error


def columns_of_json(given: Any, path: Path, *, may_be_nested: bool = True) -> Columns:
    """The columns of text, numbers and lists, by name; records inside records are flattened.

    Lists of records inside, where the answers may be, and spans of text are refused unless records `may_be_nested`.
    """
    stem = stem_of(path)
    if are_scored(given) and isinstance(given[0], list):  # what a pipeline gave
        return Columns({stem: Column.of_list(stem, given)}, stem=stem)
    records = records_in(given)
    are_records = bool(records) and all(isinstance(record, dict) for record in records)
    if not are_records or (not may_be_nested and any(map(_is_nested, records))):
        raise unknown_form(given).within(path)
    flat = [flattened(record, lambda key, value: key.lower() in SCORES and is_row(value)) for record in records]
    names = list(dict.fromkeys(name for record in flat for name in record))
    if len(names) > MOST_COLUMNS or len(names) * len(flat) > 100 * (path.stat().st_size + 1000):
        raise InvalidPredictions(f"{path} must have records alike; it has {len(names):,} different keys")
    columns = {name: [record.get(name) for record in flat] for name in names}
    return Columns({name: Column.of_list(name, cells, as_written) for name, cells in columns.items()}, stem=stem)


def _is_nested(value: Any) -> bool:
    """Whether a value holds a list of records, other than classes with their scores, or of spans."""
    if isinstance(value, dict):
        return any(map(_is_nested, value.values()))
    if not isinstance(value, list) or is_row(value):
        return False
    return any(isinstance(own, dict) for own in value) or are_spans(value)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError(f"a record has a key twice, among {some([key for key, _ in pairs])}")
    return made


def records_in(given: Any) -> Any:
    """A list of records; columns are turned into records, whether lists or mappings from an index as pandas writes."""
    if isinstance(given, list):
        return given
    if not isinstance(given, dict) or not given:
        return []
    if {"columns", "data"} <= given.keys() <= {"columns", "index", "data"}:
        return _split(**given)
    columns = list(given.values())
    if all(isinstance(column, list) for column in columns) and len({len(column) for column in columns}) == 1:
        return [dict(zip(given, row, strict=True)) for row in zip(*columns, strict=True)]
    if all(isinstance(column, dict) and list(column) == list(columns[0]) for column in columns):
        return [{"index": key} | {name: column[key] for name, column in given.items()} for key in columns[0]]
    return []


def _split(columns: Any, data: Any, index: Any = None) -> list[Any]:
    """The records that pandas writes with orient="split": names of columns, and a list of values for each row."""
    names = [text_of(name) for name in columns if isinstance(name, str | int)] if isinstance(columns, list) else []
    rows = data if isinstance(data, list) and all(isinstance(row, list) for row in data) else []
    if index is not None and "index" not in names:
        if not isinstance(index, list) or len(index) != len(rows):
            return []
        names, rows = ["index", *names], [[key, *row] for key, row in zip(index, rows, strict=True)]
    is_whole = len(set(names)) == len(names) and all(len(row) == len(names) for row in rows)
    return [dict(zip(names, row, strict=True)) for row in rows] if is_whole else []
