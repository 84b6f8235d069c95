"""Long tables of answers, from any data-frame library (pandas, polars, pyarrow, …), as arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.axes import is_missing, listed, some
from consilience.system.errors import InvalidPredictions
from consilience.system.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from consilience.system.arrays import IntArray


class Answers(NamedTuple):
    """A long table: one entry per answer, with either a label or a row of probabilities."""

    items: IntArray
    members: IntArray
    labels: IntArray | None
    rows: npt.NDArray[np.floating[Any]] | None
    item_names: list[Any]
    member_names: list[Any]
    class_names: list[Any]


def read_answers(frame: Any, *, item: str, member: str, label: str | None, classes: Sequence[Any] | None) -> Answers:
    """The answers of a long frame, coded by position; names are sorted where they can be."""
    table = frame if isinstance(frame, Table) else _as_table(frame)
    for role, column in (("item", item), ("member", member)):
        if column not in table.columns:
            raise InvalidPredictions(f"frame must have the column {column!r} for the {role}; it has {table.columns}")
    if item == member:
        raise InvalidPredictions(f"item and member must be different columns; got {item!r} for both")
    items, item_names = _code(table[item], item)
    members, member_names = _code(table[member], member)
    if label is not None and label in table.columns:
        labels, class_names = _code_labels(table[label], label, classes)
        return Answers(items, members, labels, None, item_names, member_names, class_names)
    class_names = _class_columns(table.columns, {item, member}, label, classes)
    rows = np.stack([_numbers(table[column], column) for column in class_names], axis=1)
    return Answers(items, members, None, rows, item_names, member_names, class_names)


def _as_table(frame: Any) -> Table:
    import narwhals as nw  # noqa: PLC0415 - only users of frames pay for it

    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise InvalidPredictions(
            f"frame must be a data frame (pandas, polars, pyarrow, …); got {type(frame).__name__}"
        ) from error
    except nw.exceptions.DuplicateError as error:
        names = Counter(map(str, frame.columns)).most_common(1)
        raise InvalidPredictions(f"frame must have columns of different names; got {names[0][0]!r} twice") from error
    return Table({name: table[name].to_list() for name in table.columns})


def _check_names(values: Iterable[Any], column: str) -> None:
    for row, value in enumerate(values):
        if not isinstance(value, Hashable):
            raise InvalidPredictions(f"column {column!r} must hold names, text or numbers; row {row} holds {value!r}")


def _code(values: list[Any], column: str) -> tuple[IntArray, list[Any]]:
    """The place of each value among the sorted names, and the names.

    Sorted, so that truths listed by item number line up with the items whatever the order of the answers.
    """
    for row, value in enumerate(values):
        if is_missing(value):
            raise InvalidPredictions(f"column {column!r} must have no missing values; row {row} is missing")
    _check_names(values, column)
    names = _sorted(set(values))
    numbers = {name: place for place, name in enumerate(names)}
    return np.fromiter((numbers[value] for value in values), np.intp, len(values)), names


def _code_labels(values: list[Any], column: str, classes: Sequence[Any] | None) -> tuple[IntArray, list[Any]]:
    """Each label's class; a missing label is coded -1."""
    _check_names(values, column)
    is_given = [not is_missing(value) for value in values]
    seen = {value for value, given in zip(values, is_given, strict=True) if given}
    names = _sorted(seen) if classes is None else listed("class", classes)
    position = {name: place for place, name in enumerate(names)}
    if unknown := seen - position.keys():
        raise InvalidPredictions(
            f"column {column!r} must hold the classes {some(names)}; got {min(unknown, key=str)!r}"
        )
    codes = (position[value] if given else -1 for value, given in zip(values, is_given, strict=True))
    return np.fromiter(codes, np.intp, len(values)), names


def _sorted(names: set[Any]) -> list[Any]:
    """Names in their own order, or in that of their texts where they cannot be compared."""
    try:
        return sorted(names)
    except TypeError:
        return sorted(names, key=str)


def _class_columns(
    columns: Sequence[str], taken: set[str], label: str | None, classes: Sequence[Any] | None
) -> list[Any]:
    """The columns that hold one probability per class: those named, or all that are left."""
    names = [column for column in columns if column not in taken] if classes is None else list(classes)
    missing = [name for name in names if name not in columns]
    if missing or len(names) < 2:
        wanted = f"the label column {label!r} or " if label is not None else ""
        raise InvalidPredictions(
            f"frame must have {wanted}one probability column per class; "
            f"{f'{missing[0]!r} is missing from' if missing else 'it has'} {some(list(columns))}"
        )
    return names


def _numbers(values: list[Any], column: str) -> npt.NDArray[np.float64]:
    try:
        return np.asarray([np.nan if is_missing(value) else value for value in values], dtype=np.float64)
    except (TypeError, ValueError) as error:
        text = next(value for value in values if not isinstance(value, int | float))
        raise InvalidPredictions(
            f"column {column!r} must hold probabilities, since no label column is named; it holds {text!r}"
        ) from error
