"""Columns whose cells are lists: one label each, rows of numbers, or labels beside their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.axes import some
from consilience.data.names import as_written, is_missing, sorted_names
from consilience.data.tables.columns import Column, Columns, is_number
from consilience.data.tables.numbers import (
    ENOUGH_ROWS,
    Scale,
    as_probabilities,
    check_orientation,
    named_scale,
    scale_of,
)
from consilience.system.errors import InvalidPredictions, Say

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from consilience.data.tables.told import Told
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
    classes = [as_written(label) for label in sorted_names({label for row in rows if row is not None for label in row})]
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
        return {as_written(label): float(score) for label, score in value.items()}
    entries = [value] if isinstance(value, Mapping) else list(value)
    scores = {as_written(entry["label"]): float(entry["score"]) for entry in entries}
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


def flattened(columns: Columns) -> Columns:
    """Lists of one label as that label, and lists of labels beside lists of their scores as scores by label."""
    texts = [own for own in columns.all if _are_lists(own.cells, lambda value: isinstance(value, str))]
    several = [own for own in texts if max(size or 0 for size in _sizes(own)) > 1]
    made = {own: own for own in columns.all} | {own: _alone(own) for own in texts}
    made |= {own: own for own in several}
    for own in [own for own in columns.all if _are_lists(own.cells, is_number)]:
        beside = [other for other in several if _sizes(other) == _sizes(own)]
        if len(beside) == 1:
            made[own] = _scored(beside[0], own)
            made.pop(beside[0], None)
    return Columns({own.name: own for own in made.values()}, stem=columns.stem)


def _alone(column: Column) -> Column:
    return Column.of_list(column.name, [(cell or [None])[0] for cell in column.cells or ()], column.name_of)


def _are_lists(cells: Sequence[Any] | None, is_kind: Callable[[Any], bool]) -> bool:
    given = [cell for cell in cells or () if cell is not None]
    return bool(given) and all(isinstance(cell, list | tuple) and all(map(is_kind, cell)) for cell in given)


def _sizes(column: Column) -> list[int | None]:
    return [None if cell is None else len(cell) for cell in column.cells or ()]


def _scored(labels: Column, scores: Column) -> Column:
    rows = [
        None if own is None else [{"label": name, "score": x} for name, x in zip(own, row, strict=True)]
        for own, row in zip(labels.cells or (), scores.cells or (), strict=True)
    ]
    return Column.of_list(scores.name, rows)


def rows_in(columns: Columns) -> dict[Any, Rows]:
    """The columns whose cells are rows of numbers."""
    given = {own: [cell for cell in own.cells or () if cell is not None] for own in columns.all}
    rows = [own for own, cells in given.items() if any(map(is_row, cells))]
    rows = [own for own in rows if all(is_row(cell) or cell == [] for cell in given[own])]
    return {own.name: read_rows(own.cells or (), str(own.name)) for own in rows}


def check_no_lists(columns: Columns, told: Told) -> None:
    """Raise if the column of labels holds lists."""
    for own in columns.all:
        if own.name == told.label or own.role == "label":
            own.check_is_flat()


def lists_of_predictions(lists: dict[Any, Rows], told: Told, *, has_label: bool) -> dict[Any, Rows]:
    """The columns of lists that are predictions; beside a column of labels, only those that read as probabilities."""
    if told.label is not None:
        return {name: rows for name, rows in lists.items() if name == told.label}
    return {
        name: rows
        for name, rows in lists.items()
        if not has_label or named_scale(str(name)) or scale_of(rows.values) in ("probabilities", "per cent")
    }


def as_one_scale(lists: dict[Any, Rows], told: Scale | None, classes: Sequence[str] | None) -> dict[Any, Rows]:
    """The same columns as probabilities of the same classes."""
    made = {name: _as_probabilities(str(name), rows, told) for name, rows in lists.items()}
    first = next(iter(made.values()))
    if first.classes is None and classes is None:
        _check_not_ranked(lists)
    for name, rows in made.items():
        if rows.values.shape[1] != first.values.shape[1] or rows.classes != first.classes:
            raise InvalidPredictions(f"columns of lists must have the same classes; those of {name!r} are others")
    if first.classes is None and classes is not None and len(classes) == first.values.shape[1]:
        return {name: Rows(rows.values, list(classes)) for name, rows in made.items()}
    return made


def _check_not_ranked(lists: dict[Any, Rows]) -> None:
    """Raise if all rows fall from their first number to their last: their places are ranks, and not classes."""
    for name, rows in lists.items():
        given = rows.values[~np.isnan(rows.values).all(axis=1)]
        if len(given) >= ENOUGH_ROWS and (np.diff(given, axis=1) <= 0).all() and (given != given[0]).any():
            raise InvalidPredictions(
                f"lists must hold a number for each class, in one order; those of {name!r} all fall from the first to "
                f"the last, as scores of the best class to the worst do: say {Say('classes')} if the places are classes"
            )


def _as_probabilities(name: str, rows: Rows, told: Scale | None) -> Rows:
    said = told or named_scale(name)
    scale = said or scale_of(rows.values)
    if scale == "logits" and said is None:
        check_orientation(*rows.values.shape)
    # Counts are not rescaled unasked.
    return Rows(as_probabilities(rows.values, None if scale == "counts" and told is None else scale), rows.classes)
