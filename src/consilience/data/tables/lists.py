"""Columns whose cells are lists: one label each, rows of numbers, or labels beside their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consilience.data.tables.columns import Column, Columns
from consilience.data.tables.rows import Rows, is_row, read_rows
from consilience.data.tables.scales import Scale, as_probabilities, check_orientation, named_scale, scale_of
from consilience.data.tables.vocabulary import role_of
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consilience.data.tables.told import Told


def flattened(columns: Columns) -> Columns:
    """Lists of one label as that label, and lists of labels beside lists of their scores as scores by label."""
    made = {name: columns[name] for name in columns}
    texts = [name for name in columns if columns[name].cells is not None and _are_lists(columns[name].cells, str)]
    for name in texts:
        cells = columns[name].cells or []
        if all(cell is None or len(cell) <= 1 for cell in cells):
            held = [cell[0] if cell else None for cell in cells]
            made[name] = Column.of_list(name, held, columns[name].name_of)
    named = [name for name in texts if made[name].cells is not None]
    for name in columns:
        scores = columns[name].cells
        if scores is None or not _are_lists(scores, int | float):
            continue
        beside = [other for other in named if _are_alike(scores, columns[other].cells or [])]
        if len(beside) == 1:
            made[name] = Column.of_list(name, _scored(columns[beside[0]].cells or [], scores))
            made.pop(beside[0], None)
    return Columns(made, stem=columns.stem)


def _are_lists(cells: Sequence[Any] | None, kind: Any) -> bool:
    given = [cell for cell in cells or () if cell is not None]
    return bool(given) and all(
        isinstance(cell, list | tuple) and all(isinstance(x, kind) and not isinstance(x, bool) for x in cell)
        for cell in given
    )


def _are_alike(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return all((a is None) == (b is None) and (a is None or len(a) == len(b)) for a, b in zip(one, other, strict=True))


def _scored(labels: Sequence[Any], scores: Sequence[Any]) -> list[Any]:
    return [
        None if own is None else [{"label": name, "score": x} for name, x in zip(own, row, strict=True)]
        for own, row in zip(labels, scores, strict=True)
    ]


def rows_in(columns: Columns) -> dict[Any, Rows]:
    """The columns whose cells are rows of numbers; raises if a column of labels holds lists of several."""
    found = {}
    for name in columns:
        cells = columns[name].cells
        if cells is None:
            continue
        given = [cell for cell in cells if cell is not None]
        if any(map(is_row, given)) and all(is_row(cell) or cell == [] for cell in given):
            found[name] = read_rows(cells, str(name))
    return found


def check_no_lists(columns: Columns, told: Told) -> None:
    """Raise if the column of labels holds lists."""
    for name in columns:
        if columns[name].cells is not None and (name == told.label or role_of(str(name)) == "label"):
            columns[name].check_is_flat()


def lists_of_predictions(lists: dict[Any, Rows], told: Told, *, has_label: bool) -> dict[Any, Rows]:
    """The columns of lists that are predictions; beside a column of labels, only those that read as probabilities."""
    if told.label is not None:
        return {told.label: lists[told.label]} if told.label in lists else {}
    if not has_label:
        return lists
    return {
        name: rows
        for name, rows in lists.items()
        if named_scale(str(name)) is not None or scale_of(rows.values) in ("probabilities", "per cent")
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
    scale = told or named_scale(name) or scale_of(rows.values)
    if scale == "logits" and told is None and named_scale(name) is None:
        check_orientation(*rows.values.shape)
    # Counts are not rescaled unasked.
    return Rows(as_probabilities(rows.values, None if scale == "counts" and told is None else scale), rows.classes)
