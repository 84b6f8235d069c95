"""One data frame, array or list of scores for each member."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from consilience.data.axes import some
from consilience.data.tables.frames import columns_of, is_frame
from consilience.data.tables.layouts import Understood, read_columns
from consilience.data.tables.rows import are_scored, read_rows
from consilience.data.tables.told import Told
from consilience.data.tables.vocabulary import is_measure, role_of
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from consilience.system.arrays import Array


class MemberTable(NamedTuple):
    """One member's rows (items, classes), with names where it has any."""

    values: Array
    items: list[Any] | None
    classes: list[Any] | None


def read_member(part: Any, name: Any, classes: Sequence[Any] | None, *, normalize: bool) -> MemberTable:
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
    columns = columns_of(part)
    told = Told(classes=None if classes is None else tuple(map(str, classes)), normalize=normalize, strict=True)
    try:
        found = read_columns(columns, told, "counts" if normalize else None)
    except InvalidPredictions as error:
        raise error.within(f"member {name!r}") from None
    made = found.predictions
    if len(made.soft) != 1 or made.n_members != 1:
        raise InvalidPredictions(
            f"member {name!r} must be a frame with a column of probabilities per class; it has {some(list(columns))}: "
            "name the classes with classes=, or give a long frame to from_frame"
        )
    _check_all_numbers_read(found, name, classes)
    return MemberTable(made.soft[0].rows, _items(found, name), made.classes)


def _check_all_numbers_read(found: Understood, name: Any, classes: Sequence[Any] | None) -> None:
    """Raise if columns of numbers were left out, which may be classes too, unless the user named the classes."""
    unread = found.unread
    left_out = [] if unread is None or classes is not None else [n for n in unread if unread[n].numbers is not None]
    left_out = [column for column in left_out if role_of(str(column)) is None and not is_measure(str(column))]
    if left_out:
        raise InvalidPredictions(
            f"member {name!r} must be a frame with a column of probabilities per class; beside "
            f"{some(found.predictions.classes)} it has numbers in {some(left_out)}: name the classes with classes="
        )


def _items(found: Understood, member: Any) -> list[Any] | None:
    """The names of the items; if the frame has none, the only column beside the classes that names each row."""
    axis, unread = found.predictions.axes.items, found.unread
    if (axis.is_named and not axis.is_counted) or unread is None:
        return axis.names if axis.is_named else None
    names = [name for name in unread if unread[name].are_names and role_of(str(name)) in (None, "item")]
    if len(names) > 1:
        raise InvalidPredictions(
            f"one column of member {member!r} must name the items; {some(names)} may: call it item, or make it the "
            "index"
        )
    return unread[names[0]].rows() if names else axis.names if axis.is_named else None
