"""One data frame, array or list of scores for each member."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from consilience.data.axes import some
from consilience.data.tables.frames import columns_of, is_frame
from consilience.data.tables.layouts import Understood, read_columns
from consilience.data.tables.lists import are_scored, read_rows
from consilience.data.tables.told import Told, names_of
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from consilience.data.tables.columns import Column
    from consilience.system.arrays import Array


MemberTable: TypeAlias = "tuple[Array, list[Any] | None, list[Any] | None]"


def read_member(part: Any, name: Any, classes: Sequence[Any] | None, *, normalize: bool) -> MemberTable:
    """One member's rows, of an array as they are, and the names of items and classes that frames and scores have."""
    if is_frame(part):
        return _read_frame(part, name, classes, normalize=normalize)
    if not are_scored(part):
        return part, None, None
    if isinstance(part[0], Mapping):
        raise InvalidPredictions(
            f"member {name!r} must have a score for every class; it has only the best one: run the pipeline with "
            "top_k=None, or give the labels to from_labels"
        )
    scores = read_rows(part, str(name))
    return scores.values, None, scores.classes


def _read_frame(frame: Any, name: Any, classes: Sequence[Any] | None, *, normalize: bool) -> MemberTable:
    columns = columns_of(frame)
    told = Told(classes=None if classes is None else tuple(map(str, classes)), normalize=normalize, strict=True)
    try:
        found = read_columns(columns, told, "counts" if normalize else None)
    except InvalidPredictions as error:
        raise error.within(f"member {name!r}") from None
    made, expected = found.predictions, f"member {name!r} must be a frame with a column of probabilities per class"
    if len(made.soft) != 1 or made.n_members != 1:
        raise InvalidPredictions(
            f"{expected}; it has {some(list(columns))}: name the classes with classes=, or give a long frame to "
            "from_frame"
        )
    numbers = [own for own in _unread(found) if own.numbers is not None]
    left_out = [own for own in numbers if own.role is None and not own.is_measure]
    if left_out and classes is None:  # they may be classes too
        raise InvalidPredictions(
            f"{expected}; beside {some(made.classes)} it has numbers in {some(names_of(left_out))}: name the classes "
            "with classes="
        )
    return made.soft[0].rows, _items(found, name), made.classes


def _unread(found: Understood) -> list[Column]:
    return [] if found.unread is None else found.unread.all


def _items(found: Understood, member: Any) -> list[Any] | None:
    """The names of the items; if the frame has none, the only column beside the classes that names each row."""
    axis = found.predictions.axes.items
    own = axis.names if axis.is_named else None
    if own is not None and not axis.is_counted:
        return own
    names = [column for column in _unread(found) if column.are_names and column.role in (None, "item")]
    if len(names) > 1:
        raise InvalidPredictions(
            f"one column of member {member!r} must name the items; {some(names_of(names))} may: call it item, or make "
            "it the index"
        )
    return names[0].rows() if names else own
