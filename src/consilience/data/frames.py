"""Tables from any data-frame library (pandas, polars, pyarrow, …), and long ones as arrays of answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from consilience.data.axes import Axis, listed, some
from consilience.data.names import (
    UNKNOWN,
    check_minus_one,
    check_spellings,
    in_order_of_appearance,
    is_missing,
    sorted_names,
    text_of,
)
from consilience.data.reading import are_probabilities, has_fractions, sum_tolerance
from consilience.data.roles import Layout, Roles, check_no_members, roles_of, unclear
from consilience.system.errors import InvalidPredictions
from consilience.system.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy.typing as npt

    from consilience.system.arrays import IntArray


@final
class Usual(str):
    """The default name of a column, in whose place another may be recognised."""

    __slots__ = ()


TASK, WORKER, LABEL = Usual("task"), Usual("worker"), Usual("label")
"""crowd-kit's names of the columns of items, members and labels."""


class Answers(NamedTuple):
    """A long table: one entry per answer, with either a label or a row of probabilities."""

    items: IntArray
    members: IntArray
    labels: IntArray | None
    rows: npt.NDArray[np.floating[Any]] | None
    item_names: list[Any]
    member_names: list[Any]
    class_names: list[Any]


def read_answers(frame: Any, *, item: Any, member: Any, label: Any, classes: Sequence[Any] | None) -> Answers:
    """The answers of a long frame, coded by position; items come as they appear, members and classes sorted."""
    table = as_table(frame)
    for role, column in (("item", item), ("member", member)):
        if column not in table.columns:
            raise InvalidPredictions(f"frame must have the column {column!r} for the {role}; it has {table.columns}")
    if item == member:
        raise InvalidPredictions(f"item and member must be different columns; got {item!r} for both")
    items, item_names = _code(table[item], item, in_order_of_appearance)
    members, member_names = _code(table[member], member, sorted_names)
    if label is not None and label in table.columns:
        _check_no_probabilities(table, {item, member, label}, label)
        labels, class_names = _code_labels(table[label], label, classes)
        column = probabilities_by_row(table, item, member, label)
        if column is not None:
            places, rows = _spread(items, members, labels, numbers_of(table[column], column), len(class_names))
            return Answers(items[places], members[places], None, rows, item_names, member_names, class_names)
        return Answers(items, members, labels, None, item_names, member_names, class_names)
    columns = _class_columns(table.columns, {item, member}, label, classes)
    rows = np.stack([numbers_of(table[column], column) for column in columns], axis=1)
    return Answers(items, members, None, rows, item_names, member_names, columns)


def _check_no_probabilities(table: Table, taken: set[Any], label: Any) -> None:
    """Raise where probabilities stand beside the labels: these may be the truth, which is nobody's answer."""
    columns = [name for name in table.columns if name not in taken and rows_of(table, [name]) is not None]
    if len(columns) > 1 and sum_to_one(table, columns):
        raise InvalidPredictions(
            f"frame must hold labels or probabilities; it has the labels {label!r} and probabilities in {some(columns)}"
            ": leave out those that are not the members' answers"
        )


def probabilities_by_row(table: Table, item: Any, member: Any, label: Any) -> Any:
    """The column of probabilities in a frame with a row for each item, member and class; None if it holds votes.

    Its numbers sum to 1 over the rows of an item and a member. Raises if each class has a row, but no column does that.
    """
    others = [name for name in table.columns if name not in (item, member, label)]
    columns = {name: rows_of(table, [name]) for name in others}
    numbers = {name: rows for name, rows in columns.items() if rows is not None and has_fractions(rows)}
    is_even = len({*Counter(table[label]).values()}) == 1
    if not numbers and not is_even:  # pairs take long to count
        return None
    pairs = list(zip(table[item], table[member], strict=True))
    place = {pair: number for number, pair in enumerate(dict.fromkeys(pairs))}
    n_rows, n_pairs = len(pairs), len(place)
    if n_pairs == n_rows or len(set(zip(pairs, table[label], strict=True))) < n_rows:
        return None
    places = np.fromiter(map(place.__getitem__, pairs), np.intp, n_rows)
    for name, rows in numbers.items():
        sums = np.bincount(places, weights=rows[:, 0], minlength=n_pairs)
        if rows.min() >= 0 and (np.abs(sums - 1) <= sum_tolerance(rows)).all():
            return name
    if is_even and n_pairs > 1 and n_rows == n_pairs * len(set(table[label])):
        raise InvalidPredictions(
            f"frame must have one label for each item and member; each of them has every label in {label!r} once, and "
            f"none of {some(others)} has the probabilities of these, which sum to 1"
        )
    return None


def _spread(
    items: IntArray, members: IntArray, labels: IntArray, shares: npt.NDArray[np.float64], n_classes: int
) -> tuple[IntArray, npt.NDArray[np.float64]]:
    """Where each item and member occur first, and their rows of probabilities; a class without a row has none."""
    pairs, places, inverse = np.unique(np.stack([items, members]), axis=1, return_index=True, return_inverse=True)
    rows = np.zeros((pairs.shape[1], n_classes))
    rows[inverse.ravel(), labels] = shares
    return places, rows


def rows_of(table: Table, names: Sequence[Any]) -> npt.NDArray[np.float64] | None:
    """Columns of numbers side by side, NaN where one is missing; None if some value is not a number."""
    columns = [[np.nan if is_missing(value) else value for value in table[name]] for name in names]
    if not columns or not all(isinstance(v, int | float) and not isinstance(v, bool) for c in columns for v in c):
        return None
    return np.array(columns, dtype=np.float64).T


def sum_to_one(table: Table, names: Sequence[Any]) -> bool:
    """Whether these columns are numbers, and all rows without a gap are probabilities."""
    rows = rows_of(table, names)
    if rows is None:
        return False
    rows = rows[~np.isnan(rows).any(axis=1)]
    return bool(len(rows) and are_probabilities(rows, is_half=True).all())


def is_frame(value: Any) -> bool:
    """Whether this is a data frame of any library, or a `datasets.Dataset`."""
    kind = type(value)  # a lazy frame warns if it is asked for its columns
    return hasattr(kind, "columns") or hasattr(kind, "column_names")


def as_table(frame: Any) -> Table:
    """The columns of a data frame of any library, lazy or not, of a `datasets.Dataset`, or of a list of records."""
    if isinstance(frame, Table):
        return frame
    if hasattr(frame, "column_names") and hasattr(frame, "features"):
        return _of_data_set(frame)
    if isinstance(frame, list) and frame and all(isinstance(record, dict) for record in frame):
        keys = dict.fromkeys(name for record in frame for name in record)
        return Table({name: [record.get(name) for record in frame] for name in keys})
    import narwhals as nw  # noqa: PLC0415 - only users of frames pay for it

    try:
        table = nw.from_native(frame)
        if isinstance(table, nw.LazyFrame):
            table = table.collect()
        values = [column.to_list() for column in table.iter_columns()]
    except TypeError as error:
        raise InvalidPredictions(
            f"frame must be a data frame (pandas, polars, pyarrow, …); got {type(frame).__name__}"
        ) from error
    except nw.exceptions.DuplicateError as error:
        names = Counter(map(str, getattr(frame, "column_names", frame.columns))).most_common(1)
        raise InvalidPredictions(f"frame must have columns of different names; got {names[0][0]!r} twice") from error
    return Table(dict(zip(table.columns, values, strict=True)))


def levels_as_columns(frame: Any) -> Any:
    """A pandas frame whose index has several levels, such as items and members, with a column for each level."""
    index: Any = getattr(frame, "index", None)
    if getattr(index, "nlevels", 1) == 1:
        return frame
    levels = list(index.names)
    if None in levels or set(levels) & set(frame.columns):
        raise InvalidPredictions(
            f"frame must have items and members in columns; its index has the levels {some(levels)}: give the levels "
            "names that no column has, or make columns of them with reset_index()"
        )
    return frame.reset_index()


def _of_data_set(data: Any) -> Table:
    """The columns of a `datasets.Dataset`. Labels that it stores as numbers have the names it gives them."""
    columns = data.with_format(None).to_dict() if hasattr(data, "with_format") else data.to_dict()
    for name, feature in data.features.items():
        if type(feature).__name__ == "ClassLabel":
            columns[name] = [None if k is None or k < 0 else feature.names[k] for k in columns[name]]
    return Table(columns)


def found_columns(table: Table, item: Any, member: Any, label: Any, classes: Sequence[Any] | None = None) -> Roles:
    """The columns of items, members and labels: as given; those that are not there are recognised.

    So is the label by default, since `label` may also be the truth beside the members' answers.
    """
    columns, told_label = table.columns, None if isinstance(label, Usual) else label
    is_long = item in columns and member in columns
    values = {name: table[name] for name in columns if isinstance(name, str) and _are_plain(table[name])}
    if is_long and (label is None or told_label is not None or item == member or not {item, member} <= values.keys()):
        return Roles(item, member, label)
    if is_long and sum_to_one(table, [name for name in columns if name not in (item, member)]):
        return Roles(item, member, None)  # whatever classes are called
    given = {"item": (item, TASK), "member": (member, WORKER), "label": (told_label, LABEL)}
    for role, (column, default) in given.items():
        if column not in columns and column not in (default, None) and not _is_several(column, table):
            raise InvalidPredictions(f"frame must have the column {column!r} for the {role}; it has {columns}")
    told: Any = [None if name == default and name not in columns else name for name, default in given.values()]
    found = roles_of({name: values[name] for name in values if name not in _columns_of(classes, table)}, Layout(*told))
    if label is None:
        return found._replace(label=None)
    if told_label is None:
        if found.label not in (None, label) and label in columns:
            raise InvalidPredictions(unclear("label", [label, str(found.label)]))
        if found.member is None:
            check_no_members(values, found)
    return found._replace(label=label) if is_long and found.label is None else found


def _columns_of(classes: Sequence[Any] | None, table: Table) -> list[Any]:
    """These classes if all of them are columns, which then hold their probabilities; else none."""
    names = [] if classes is None else listed("class", classes)
    return names if all(name in table.columns for name in names) else []


def _is_several(column: Any, table: Table) -> bool:
    """Whether these are columns listed with commas."""
    parts = column.split(",") if isinstance(column, str) else []
    return len(parts) > 1 and all(part.strip() in table.columns for part in parts)


def _are_plain(values: Iterable[Any]) -> bool:
    return all(issubclass(kind, Hashable) for kind in set(map(type, values)))  # there are many values, and few kinds


def _check_names(values: Sequence[Any], column: Any) -> None:
    if _are_plain(values):
        return
    for row, value in enumerate(values):
        if not isinstance(value, Hashable):
            raise InvalidPredictions(f"column {column!r} must hold names, text or numbers; row {row} holds {value!r}")


def _code(values: list[Any], column: Any, in_order: Callable[[Iterable[Any]], list[Any]]) -> tuple[IntArray, list[Any]]:
    """The place of each value among the names, and the names in their order."""
    for row, value in enumerate(values):
        if is_missing(value):
            raise InvalidPredictions(f"column {column!r} must have no missing values; row {row} is missing")
    _check_names(values, column)
    check_spellings(set(values), column)
    names = in_order(values)
    return _places(values, Axis("item", len(names), names)), names


def _code_labels(values: list[Any], column: Any, classes: Sequence[Any] | None) -> tuple[IntArray, list[Any]]:
    """Each label's class; a missing label is coded -1."""
    _check_names(values, column)
    seen = {value for value in values if not is_missing(value)}
    check_spellings(seen, column)
    if classes is None:
        check_minus_one(seen)
    names = sorted_names(seen) if classes is None else listed("class", classes)
    axis = Axis("class", len(names), names)
    if unknown := [value for value in seen if axis.find(value) is None and text_of(value) != "-1"]:
        raise InvalidPredictions(
            f"column {column!r} must hold the classes {some(names)}; got {min(unknown, key=str)!r}"
        )
    return _places(values, axis), names


def _places(values: list[Any], axis: Axis) -> IntArray:
    """Where each value stands; -1 where it is missing."""
    found = {value: axis.find(value) for value in set(values) if not is_missing(value)}
    places = (-1 if is_missing(value) or found[value] is None else found[value] for value in values)
    return np.fromiter(places, np.intp, len(values))


def _class_columns(columns: Sequence[Any], taken: set[Any], label: Any, classes: Sequence[Any] | None) -> list[Any]:
    """The columns that hold one probability per class: those named, or all that are left."""
    left = [column for column in columns if column not in taken]
    axis = Axis("class", len(left), left)
    names = left if classes is None else listed("class", classes)
    missing = [name for name in names if axis.find(name) is None]
    if missing or len(names) < 2:
        wanted = f"the label column {label!r} or " if label is not None else ""
        raise InvalidPredictions(
            f"frame must have {wanted}one probability column per class; "
            f"{f'{missing[0]!r} is missing from' if missing else 'it has'} {some(list(columns))}"
        )
    return [left[axis.position_of(name)] for name in names]


def answers_in(values: Sequence[Any], classes: Sequence[Any] | None) -> list[Any]:
    """The labels in a column; None where one is missing, which empty text and words such as NA say if no class does."""
    unknown = {"", *UNKNOWN}.difference(map(text_of, classes or ()))
    return [None if is_missing(value) or (isinstance(value, str) and value in unknown) else value for value in values]


def numbers_of(values: list[Any], column: Any) -> npt.NDArray[np.float64]:
    """The probabilities in a column; NaN where one is missing."""
    try:
        return np.asarray([np.nan if is_missing(value) else value for value in values], dtype=np.float64)
    except (TypeError, ValueError) as error:
        text = next(value for value in values if not isinstance(value, int | float))
        raise InvalidPredictions(
            f"column {column!r} must hold probabilities, since no label column is named; it holds {text!r}"
        ) from error
