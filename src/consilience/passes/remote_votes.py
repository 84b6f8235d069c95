"""A Dask frame of votes as blocks of items on the workers: what its columns mean, and all votes on an item together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from consilience.data.axes import Axes, Axis
from consilience.data.names import sorted_names
from consilience.data.predictions import Predictions, check_every_item_is_answered, of_answers
from consilience.data.tables.columns import Column, pooled_labels
from consilience.data.tables.frames import columns_of
from consilience.data.tables.layouts import read_columns
from consilience.data.tables.told import Told
from consilience.system.errors import InvalidPredictions

FIRST_ROWS = 2000  # the columns are recognised by so many rows


class ColumnValues(NamedTuple):
    """The names that a column holds, and the place of each of its values among them."""

    column: Any
    axis: Axis
    places: dict[Any, int]  # -1 of a value that is no vote

    def of(self, part: Any) -> Any:
        """The places of the rows of a part; -1 where a value is missing."""
        return part[self.column].astype(object).map(self.places).fillna(-1).to_numpy(dtype=np.intp)


class VoteColumns(NamedTuple):
    """The columns of a table with a row for each vote."""

    item: Any
    members: ColumnValues
    labels: ColumnValues

    def block(self, part: Any) -> Predictions:
        """The votes in a part of the table that has all votes on its items."""
        import pandas as pd  # noqa: PLC0415 - it is there, since this is its frame

        items, names = pd.factorize(part[self.item])
        axis = Axis("item", len(names), names.tolist(), by_name=True)
        axes = Axes(self.members.axis, axis, self.labels.axis)
        made = of_answers(items, self.members.of(part), self.labels.of(part), axes)
        check_every_item_is_answered(made)
        return made


def read_votes(frame: Any) -> tuple[Any, VoteColumns]:
    """A Dask frame with all votes on an item in one part, and what its columns are.

    They are recognised on the first rows, and their values are found on the workers. Votes are sorted to their items
    between the workers, unless the frame is sorted by an index of items.
    """
    index = frame.index.name
    is_sorted = index is not None and frame.known_divisions
    frame = frame if index is None else frame.reset_index()
    head = frame.head(FIRST_ROWS, npartitions=-1)
    if not len(head):
        raise InvalidPredictions("a frame of votes must have rows; got none")
    roles = read_columns(columns_of(head.reset_index(drop=True)), Told()).roles
    if set(roles) != {"item", "member", "label"}:
        raise InvalidPredictions(
            "a Dask frame must have a row for each vote, with columns such as task, worker and label; got "
            f"{list(frame.columns)}: probabilities go in as a Dask array"
        )
    item, member, label = (roles[role][0].name for role in ("item", "member", "label"))
    if bool(frame[item].isna().any().compute()):
        raise InvalidPredictions(f"column {item!r} must have no missing values; some rows are empty")
    member_values, said = _different(frame, member)
    places, members = said.places(sorted_names)
    label_values, labels = _different(frame, label)
    (found,), classes = pooled_labels([labels], None)
    votes = frame[[item, member, label]]
    columns = VoteColumns(
        item,
        ColumnValues(member, Axis("member", len(members), members), dict(zip(member_values, places, strict=True))),
        ColumnValues(label, Axis("class", len(classes), classes), dict(zip(label_values, found, strict=True))),
    )
    return votes if is_sorted and index == item else votes.shuffle(on=item), columns


def _different(frame: Any, name: Any) -> tuple[list[Any], Column]:
    """The different values of a column."""
    found = frame[[name]].drop_duplicates().compute().reset_index(drop=True)
    return found[name].tolist(), columns_of(found)[name]
