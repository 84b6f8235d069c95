"""Columns whose cells are lists: one label each, rows of numbers, or labels beside their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consilience.data.tables.coding import is_number
from consilience.data.tables.columns import Column, Columns
from consilience.data.tables.rows import Rows, is_row, read_rows
from consilience.data.tables.scales import Scale, as_probabilities, check_orientation, named_scale, scale_of
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from consilience.data.tables.told import Told


def flattened(columns: Columns) -> Columns:
    """Lists of one label as that label, and lists of labels beside lists of their scores as scores by label."""
    texts = [own for own in columns.all if _are_lists(own.cells, lambda value: isinstance(value, str))]
    several = [own for own in texts if max(size or 0 for size in _sizes(own)) > 1]
    made = {own: _alone(own) if own in texts and own not in several else own for own in columns.all}
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
    for name, rows in made.items():
        if rows.values.shape[1] != first.values.shape[1] or rows.classes != first.classes:
            raise InvalidPredictions(f"columns of lists must have the same classes; those of {name!r} are others")
    if first.classes is None and classes is not None and len(classes) == first.values.shape[1]:
        return {name: Rows(rows.values, list(classes)) for name, rows in made.items()}
    return made


def _as_probabilities(name: str, rows: Rows, told: Scale | None) -> Rows:
    said = told or named_scale(name)
    scale = said or scale_of(rows.values)
    if scale == "logits" and said is None:
        check_orientation(*rows.values.shape)
    # Counts are not rescaled unasked.
    return Rows(as_probabilities(rows.values, None if scale == "counts" and told is None else scale), rows.classes)
