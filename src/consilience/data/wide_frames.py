"""Frames with one row per item: one member's probabilities, or labels with a column per member."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.axes import Axis, some
from consilience.data.frames import answers_in, as_table, is_frame, rows_of, sum_to_one
from consilience.data.label_roles import are_names, is_count
from consilience.data.names import check_minus_one, check_spellings, sorted_names
from consilience.data.reading import are_probabilities, has_fractions
from consilience.data.roles import column_named, is_called_truth, role_of, roles_of
from consilience.data.rows import are_scored, read_rows
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.data.roles import Roles
    from consilience.system.arrays import Array
    from consilience.system.tables import Table


class WideLabels(NamedTuple):
    """Labels (members, items) as names, None where missing, with the names along the axes."""

    labels: npt.NDArray[np.object_]
    members: list[Any]
    items: list[Any] | None
    classes: list[Any]
    columns: dict[Any, list[Any]]  # the labels by the frame's column
    are_listed: bool  # whether the user listed the members


class MemberTable(NamedTuple):
    """One member's rows (items, classes), with names where it has any."""

    values: Array
    items: list[Any] | None
    classes: list[Any] | None


# ---- labels -----------------------------------------------------------------------------------------------


def read_wide_labels(frame: Any, table: Table, roles: Roles, member: Any, classes: Sequence[Any] | None) -> WideLabels:
    """The labels of a frame with a column per member. Its items are a column, or an index that does not only count."""
    others = [name for name in table.columns if name != roles.item]
    are_listed = isinstance(member, str) and "," in member
    if roles.label is not None:
        members = [roles.label]
    elif are_listed:
        members = [str(column_named(others, name.strip(), ())) for name in member.split(",")]
    else:
        members = [name for name in others if role_of(str(name)) != "truth"]
        _check_truths([name for name in others if name not in members], members)
        _check_no_probabilities(table, others)
    columns = {name: answers_in(table[name], classes) for name in members}
    for name, values in columns.items():
        check_spellings(set(values), name)
    if classes is None:
        check_minus_one({value for values in columns.values() for value in values if value is not None})
    said = sorted_names({value for values in columns.values() for value in values if value is not None})
    return WideLabels(
        np.array(list(columns.values()), dtype=object).reshape(len(members), -1),
        members,
        index_names(frame) if roles.item is None else table[roles.item],
        said if classes is None else list(classes),
        columns,
        are_listed,
    )


def _check_truths(names: list[Any], members: list[Any]) -> None:
    """Raise if a column may be called after a member, as `reference-model`, instead of the truth, as `reference`."""
    if doubtful := [name for name in names if not is_called_truth(str(name))]:
        raise InvalidPredictions(
            f"columns of labels must be members or the truth; {some(doubtful)} may be either: list the members, as in "
            f"member={','.join(map(str, [*members, *doubtful]))!r}"
        )


def _check_no_probabilities(table: Table, names: list[Any]) -> None:
    rows = rows_of(table, names)
    if rows is None or len(names) < 2:
        return
    is_share = are_probabilities(rows)
    if is_share.all() or (is_share.any() and has_fractions(rows)):
        raise InvalidPredictions(
            f"a frame of answers must have a column of members; {some(names)} sum to 1 and may be one member's "
            "probabilities, which go in as Predictions({'name': frame}) beside those of the other members"
        )


# ---- probabilities ----------------------------------------------------------------------------------------


def are_member_tables(parts: Any) -> bool:
    """Whether some member is a data frame, or a list of scores by class."""
    return isinstance(parts, list | tuple) and any(is_frame(part) or are_scored(part) for part in parts)


def read_member(part: Any, name: Any, classes: Sequence[Any] | None) -> MemberTable:
    """One member's probabilities: of an array as they are, of a frame or a list of scores with their names."""
    if are_scored(part):
        if isinstance(part[0], Mapping):
            raise InvalidPredictions(
                f"member {name!r} must have a score for every class; it has only the best one: run the pipeline with "
                "top_k=None, or give the labels to from_labels"
            )
        scores = read_rows(part, str(name))
        return MemberTable(scores.values, None, scores.classes)
    if not is_frame(part):
        return MemberTable(part, None, None)
    table = as_table(part)
    chosen = None if classes is None else _columns_called(classes, table.columns)
    item = None if chosen is None and sum_to_one(table, table.columns) else _item(part, table, name, chosen or [])
    others = [column for column in table.columns if column != item] if chosen is None else chosen
    rows = rows_of(table, others)
    if rows is None:
        raise InvalidPredictions(
            f"member {name!r} must be a frame with a column of probabilities per class; it has {some(table.columns)}: "
            "name the classes with classes=, or give a long frame to from_frame"
        )
    return MemberTable(rows, index_names(part) if item is None else table[item], others)


def _columns_called(classes: Sequence[Any], columns: Sequence[Any]) -> list[Any]:
    """The columns with the names of these classes."""
    axis = Axis("class", len(columns), columns)
    return [columns[axis.position_of(wanted)] for wanted in classes]


def _item(part: Any, table: Table, member: Any, classes: Sequence[Any]) -> Any:
    """The column of items: one with a usual name, else the only one beside the classes that names each row."""
    others = [name for name in table.columns if isinstance(name, str) and name not in classes]
    texts = {name: table[name] for name in others if not _are_fractions(table, name)}
    if not classes:
        return roles_of(texts).item
    left = {name: values for name, values in texts.items() if role_of(name) in (None, "item")}
    item = roles_of(left).item
    if index_names(part) is not None or (item is not None and not is_count(item, left[item])):
        return item
    names = [name for name, values in left.items() if name != item and are_names(values)]
    if len(names) > 1:
        raise InvalidPredictions(
            f"one column of member {member!r} must name the items; {some(names)} may: call it item, or make it the "
            "index"
        )
    return names[0] if names else item


def _are_fractions(table: Table, name: str) -> bool:
    """Whether a column holds numbers that are not all whole: a class may be called `image`, but 59.3 names none."""
    numbers = rows_of(table, [name])
    return numbers is not None and has_fractions(numbers)


def shared_index(labels: Any) -> list[Any] | None:
    """The items that a list of pandas Series names by their index; raises if not all members name the same ones."""
    parts = labels if isinstance(labels, list | tuple) else []
    indexes = [index_names(part) for part in parts if not isinstance(part, list | tuple)]
    for member, index in enumerate(indexes):
        if index != indexes[0]:
            places = ["none" if names is None else some(names) for names in (indexes[0], index)]
            raise InvalidPredictions(
                f"labels must have the same index for every member; member 0 has {places[0]} and member {member} "
                f"{places[1]}: from_frame(pd.DataFrame({{'name': series, …}})) matches them by index"
            )
    return indexes[0] if indexes else None


def index_names(frame: Any) -> list[Any] | None:
    """The names in a pandas index that does not only count the rows."""
    index = getattr(frame, "index", None)
    if index is None or callable(index):
        return None
    names = list(index)
    return None if names == list(range(len(names))) else names
