"""Columns of a table whose cells are rows of numbers: which of them are predictions, and their probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consilience.data.rows import Rows
from consilience.files.scales import Scale, as_probabilities, check_orientation, named_scale, scale_of
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from consilience.data.roles import Layout


def lists_of_predictions(lists: dict[str, Rows], told: Layout, *, has_label: bool) -> dict[str, Rows]:
    """The columns of lists that are predictions; beside a column of labels, only those that read as probabilities."""
    if told.label is not None:
        return {told.label: lists[told.label]} if told.label in lists else {}
    if not has_label:
        return lists
    return {
        name: rows
        for name, rows in lists.items()
        if named_scale(name) is not None or scale_of(rows.values) in ("probabilities", "per cent")
    }


def as_one_scale(lists: dict[str, Rows], told: Scale | None, classes: tuple[str, ...] | None) -> dict[str, Rows]:
    """The same columns as probabilities of the same classes."""
    made = {name: _as_probabilities(name, rows, told) for name, rows in lists.items()}
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
