"""Read JSON: a list of records, one record on each line, or columns by name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from consilience.data.axes import some
from consilience.data.names import as_written, text_of
from consilience.data.tables.columns import Column, Columns
from consilience.data.tables.lists import are_scored, is_row
from consilience.files.delimited import MOST_COLUMNS
from consilience.files.tools import are_spans, unknown_form
from consilience.system.errors import InvalidPredictions
from consilience.system.untrusted import read_text, reason_of, stem_of, whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SCORES = frozenset(
    ["probabilities", "probs", "probability", "prob", "scores", "logits", "logprobs", "distribution", "confidences"]
)
"""An object of this name in a record holds one number for each class."""


def read_json(path: Path, *, by_line: bool) -> Any:
    """What a file of JSON holds: one value, or a list with the value of each line."""
    text = read_text(path, "JSON")
    try:
        return [_parsed(line) for line in text.split("\n") if line.strip()] if by_line else _parsed(text)
    except (ValueError, RecursionError) as error:
        raise InvalidPredictions(f"{path} must be JSON in UTF-8; {reason_of(error)}") from error


def columns_of_json(given: Any, path: Path) -> Columns:
    """The columns of text, numbers and lists, by name; records inside records are flattened."""
    if are_scored(given) and isinstance(given[0], list):  # what a pipeline gave
        return Columns({stem_of(path): Column.of_list(stem_of(path), given)}, stem=stem_of(path))
    records = records_in(given)
    if not records or not all(isinstance(record, dict) for record in records):
        raise unknown_form(given).within(path)
    columns = _columns([_flat(record) for record in records], path)
    return Columns(
        {name: Column.of_list(name, values, as_written) for name, values in columns.items()}, stem=stem_of(path)
    )


def check_is_flat(given: Any, path: Path) -> None:
    """Raise if records have lists of records inside, where the answers may be, or spans of text."""
    for record in records_in(given):
        if isinstance(record, dict) and any(_is_nested(value) for value in record.values()):
            raise unknown_form(given).within(path)


def _is_nested(value: Any) -> bool:
    """Whether a value holds a list of records, other than classes with their scores, or of spans."""
    if isinstance(value, dict):
        return any(map(_is_nested, value.values()))
    if not isinstance(value, list) or is_row(value):
        return False
    return any(isinstance(own, dict) for own in value) or are_spans(value)


def _parsed(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_without_repeats, parse_int=whole_number)


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


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record without records inside, whose keys are joined by a point. Numbers by class stay together."""
    made: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, dict) and not (key.lower() in SCORES and is_row(value)):
            inside = {f"{key}.{name}": part for name, part in _flat(value).items()}
        else:
            inside = {key: value}
        if both := set(inside) & set(made):
            raise InvalidPredictions(f"a record must name its parts differently; got {both.pop()!r} twice")
        made |= inside
    return made


def _columns(records: list[dict[str, Any]], path: Path) -> dict[str, list[Any]]:
    names = list(dict.fromkeys(name for record in records for name in record))
    if len(names) > MOST_COLUMNS or len(names) * len(records) > 100 * (path.stat().st_size + 1000):
        raise InvalidPredictions(f"{path} must have records alike; it has {len(names):,} different keys")
    return {name: [record.get(name) for record in records] for name in names}
