"""Rows of probabilities as lists: of numbers, or of `{label, score}` as the pipelines of transformers give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.axes import some
from consilience.data.names import is_missing, sorted_names, text_of
from consilience.data.tables.coding import is_number
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from consilience.system.arrays import FloatArray


class Rows(NamedTuple):
    """One row of numbers (items, classes) for each item, NaN where it is missing, and the classes' names if known."""

    values: FloatArray
    classes: list[str] | None = None


def is_row(value: Any) -> bool:
    """Whether a value is a list of numbers (None where missing) or of `{label, score}`, or numbers by class."""
    if isinstance(value, Mapping):
        return len(value) > 1 and all(map(is_number, value.values()))
    if not isinstance(value, list | tuple | np.ndarray) or not len(value):
        return False
    return all(entry is None or is_number(entry) for entry in value) or all(map(_is_scored, value))


def are_scored(values: Any) -> bool:
    """Whether these are what a pipeline of transformers gives: for each item `{label, score}`, or a list of them."""
    if not isinstance(values, list | tuple) or not values:
        return False
    return all(
        _is_scored(value) or (isinstance(value, list) and value and all(map(_is_scored, value))) for value in values
    )


def read_rows(values: Sequence[Any], name: str) -> Rows:
    """Lists as rows of equal length; None is a missing row."""
    given = [value for value in values if not _is_absent(value)]
    if given and all(isinstance(value, Mapping) or (len(value) and _is_scored(value[0])) for value in given):
        return _by_class([None if _is_absent(value) else _scores(value, name) for value in values], name)
    lengths = {len(value) for value in given}
    if len(lengths) != 1:
        raise InvalidPredictions(f"{name!r} must have lists of one length; got {some(sorted(lengths))} numbers")
    empty = [np.nan] * lengths.pop()
    return Rows(np.array([empty if _is_absent(value) else list(value) for value in values], dtype=np.float64))


def _by_class(rows: list[Mapping[str, float] | None], name: str) -> Rows:
    classes = [text_of(label) for label in sorted_names({label for row in rows if row is not None for label in row})]
    short = next((row for row in rows if row is not None and len(row) < len(classes)), None)
    if short is not None:
        raise InvalidPredictions(
            f"{name!r} must score each of the {len(classes)} classes {some(classes)} for every item; one item has only "
            f"{some(list(short))} (a pipeline of transformers gives all with top_k=None)"
        )
    values = [[np.nan if row is None else row[label] for label in classes] for row in rows]
    return Rows(np.array(values, dtype=np.float64), classes)


def _scores(value: Any, name: str) -> dict[str, float]:
    if isinstance(value, Mapping) and not _is_scored(value):
        return {text_of(label): float(score) for label, score in value.items()}
    entries = [value] if isinstance(value, Mapping) else list(value)
    scores = {text_of(entry["label"]): float(entry["score"]) for entry in entries}
    if len(scores) < len(entries):
        raise InvalidPredictions(f"{name!r} must score each class once; got {some([e['label'] for e in entries])}")
    return scores


def _is_absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and is_missing(value))


def _is_scored(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and set(value) == {"label", "score"}
        and isinstance(value["label"], str | int)
        and is_number(value["score"])
    )
