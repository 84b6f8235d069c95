"""The labels in columns, as places among the classes."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.data.axes import Axis, listed, some
from consilience.data.names import FLOAT_OF_WHOLE, check_minus_one, check_spellings, sorted_names, text_of
from consilience.data.tables.coding import Coded
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from consilience.data.tables.columns import Column
    from consilience.system.arrays import IntArray

MARK = re.compile(r"\[(PASS|FAIL|ERROR)[^\]]*\]\s*\S")
"""What a tool puts before an answer to say what it thinks of it."""


def pooled_labels(columns: Sequence[Column], classes: Sequence[Any] | None) -> tuple[IntArray, list[Any]]:
    """The labels (columns, rows) as places among the classes, which columns share, -1 for none, and the classes."""
    coded = [_answers(column, classes) for column in columns]
    names = _classes([value for own in coded for value in own.values]) if classes is None else listed("class", classes)
    axis = Axis("class", len(names), names)
    places = np.empty((len(columns), columns[0].size), dtype=np.int16 if len(names) < 2**15 else np.int32)
    for row, (own, column) in enumerate(zip(coded, columns, strict=True)):
        found = [axis.find(value) for value in own.values]
        unknown = [value for value, place in zip(own.values, found, strict=True) if place is None]
        if bad := [value for value in unknown if text_of(value) != "-1"]:
            raise InvalidPredictions(f"column {column.name!r} must hold the classes {some(names)}; got {bad[0]!r}")
        table = np.array([-1 if place is None else place for place in (*found, None)], dtype=places.dtype)
        places[row] = table[own.codes]
    return places, names


def _classes(said: list[Any]) -> list[Any]:
    """The classes that labels name. Whole numbers that a library wrote as 1.0, since others were missing, are 1."""
    check_minus_one(said)
    names = sorted_names(said)
    are_floats = all(isinstance(name, str) and FLOAT_OF_WHOLE.fullmatch(name) for name in names)
    return [text_of(name) for name in names] if are_floats else names


def _answers(column: Column, classes: Sequence[Any] | None) -> Coded:
    column.check_is_flat()
    coded = column.answers(classes)
    texts = [value for value in coded.values if isinstance(value, str)]
    if texts and all(map(MARK.match, texts)):
        raise InvalidPredictions(
            f"column {column.name!r} must hold labels alone; {texts[0][:40]!r} has a tool's mark before it"
        )
    if texts and all(text.startswith("[") and text.endswith("]") for text in texts):
        coded = Coded(coded.codes, [_unwrapped(value, column.name) for value in coded.values])
    check_spellings(coded.values, column.name)
    return coded


def _unwrapped(text: Any, column: Any) -> Any:
    """The label in a list of one, written as text; raises if there are more."""
    try:
        held = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    if not isinstance(held, list) or len(held) != 1 or isinstance(held[0], list | dict | tuple | set):
        raise InvalidPredictions(
            f"column {column!r} must hold one label for each answer; it holds lists, such as {text[:60]}"
        )
    return held[0]


def unknown_cells(columns: Iterable[Column]) -> str:
    """How many cells are missing, by a word or empty, for a message."""
    found = list(columns)
    n_unknown = sum(column.n_unknown for column in found)
    n_empty = sum(len(column.coded.codes) - column.n_given for column in found) - n_unknown
    told = {"cells such as NA": n_unknown, "empty cells": n_empty}
    return "".join(f"; {n:,} {what} are missing answers" for what, n in told.items() if n > 0)
