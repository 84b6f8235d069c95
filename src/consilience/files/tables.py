"""Make predictions of a table: find the roles of its columns, then read the labels or the numbers in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.axes import some
from consilience.data.names import check_spellings, sorted_names
from consilience.data.plausibility import check_labels, check_members, check_shared_labels
from consilience.data.predictions import Predictions
from consilience.data.roles import (
    ITEM,
    MEMBER,
    UNNAMED,
    Columns,
    Roles,
    column_named,
    role_of,
    roles_of,
    with_joined_items,
)
from consilience.files.cells import Cells, Numbers, check_one_notation, numbers_in
from consilience.files.scales import Scale, as_probabilities, check_orientation, scale_of
from consilience.system import tables
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from consilience.files.contents import Contents, Table
    from consilience.system.arrays import FloatArray

N_EXAMPLES, MOST_SHOWN = 3, 6
"""How many rows and columns of a table are shown as an example of what was understood."""


class Understood(NamedTuple):
    """The predictions of a table, what was understood in words, and some of its rows under the roles of columns."""

    predictions: Predictions
    words: str
    example: tables.Table


def from_table(contents: Contents, table: Table, told: Columns, scale: Scale | None) -> Understood:
    """The predictions in a file's table. `told` and `scale` are what the user says of its columns and numbers."""
    return _Reading(contents, without_index(table), told, scale).understood()


def without_index(table: Table) -> Table:
    """Drop an unnamed index if another column names the items, or if it only numbers the answers of a long table.

    An index without a name is never a class or a member. It names the items, or nothing.
    """
    item, member = column_named(table, None, ITEM), column_named(table, None, MEMBER)
    dropped = []
    for name in table:
        if name not in UNNAMED:
            continue
        names = table[name].names
        counts = names == [str(row) for row in range(len(names))]
        has_items = item is not None or (counts and any(role_of(other) == "item" for other in table))
        if member is None and not has_items and len(set(names)) < len(names):
            raise InvalidPredictions(f"a column without a name must be an index; {name!r} holds {some(names)}")
        if has_items or (member is not None and counts):
            dropped.append(name)
    return {name: cells for name, cells in table.items() if name not in dropped}


class _Reading:
    """A table with what the user says of it."""

    def __init__(self, contents: Contents, table: Table, told: Columns, scale: Scale | None) -> None:
        self.lists, self.stem, self.told, self.scale = contents.lists, contents.path.stem, told, scale
        # --logits is said of all files, among them tables of whole numbers that are labels.
        self.is_of_numbers = contents.scale is not None or told.normalize
        values = {name: cells.values for name, cells in table.items()}
        joined = with_joined_items(values, told)
        self.table = table if joined is None else {str(told.item): Cells(joined, is_text=False), **table}

    def understood(self) -> Understood:
        if not self.told.are_named and not self.lists and self.told.classes is None and self.scale != "labels":
            item = self._item_of_probabilities()
            if item is not NOT_FOUND:
                return self._soft(item, [name for name in self.table if name != item])
        if not self.table:
            return self._listed(Roles(None, None, None))
        roles = roles_of({name: cells.values for name, cells in self.table.items()}, self.told)
        if self.lists:
            return self._listed(roles)
        return self._wide(roles) if roles.member is None else self._long(roles.item, roles.member, roles.label)

    def _item_of_probabilities(self) -> Any:
        """The column of items (None if there is none) of a table whose other columns sum to 1 in each row.

        Those columns are classes, whatever their names: a class may be called `image`, `user` or `model`.
        """
        usual = column_named(self.table, None, (*ITEM, *UNNAMED))
        called = [name for name in self.table if role_of(name) == "item"]
        for item in dict.fromkeys((usual, *called, None)):
            others = [cells for name, cells in self.table.items() if name != item]
            numbers = numbers_in(others) if len(others) > 1 else None
            if numbers is not None and numbers.are_probabilities():
                return item
        return NOT_FOUND

    # ---- long tables ----------------------------------------------------------------------------------------

    def _long(self, item: Any, member: str, label: str | None) -> Understood:
        """One answer per row: a label, or one probability per class if there is no label."""
        table, roles = self.table, f"items in {item!r}, members in {member!r}"
        names = {item: table[item].names, member: table[member].names}
        others = [name for name in table if name not in (item, member, label)]
        if label is None:
            classes = self._class_columns(others)
            rows, words = self._shares(self._numbers(classes))
            made = _answers(names, item, member, classes, rows)
            example = self._example(item=[item], member=[member], **{"class": classes})
            return Understood(made, f"{roles}, {words} of {some(classes)}{self._unread(example)}", example)
        answers = table[label].answers
        is_soft = np.array([answer is None for answer in answers])
        classes = self._class_columns(others, is_wanted=False)
        numbers = numbers_in(table[name] for name in classes) if is_soft.any() and len(classes) > 1 else None
        if numbers is not None:
            numbers = numbers._replace(values=numbers.values[is_soft])
        if numbers is None or (self.told.classes is None and numbers.share_of_probabilities() < 0.5):
            said = tables.Table({**names, label: answers})
            made = Predictions.from_frame(
                said, item=item, member=member, label=label, classes=self.told.classes, partial=True
            )
            if not self.told.are_named:
                check_labels(made, {label: table[label].values})
            example = self._example(item=[item], member=[member], label=[label])
            words = f"{roles}, labels in {label!r}: {some(made.classes)}{_unknown([table[label]])}"
            return Understood(made, words + self._unread(example), example)
        hard, soft = ({name: _at(values, is_in) for name, values in names.items()} for is_in in (~is_soft, is_soft))
        said = tables.Table({**hard, label: _at(answers, ~is_soft)})
        people = Predictions.from_frame(said, item=item, member=member, label=label, partial=True)
        rows, words = self._shares(numbers)
        models = _answers(soft, item, member, classes, rows)
        example = self._example(item=[item], member=[member], label=[label], **{"class": classes})
        return Understood(
            Predictions.concatenate([people, models]),
            f"{roles}, labels in {label!r} of {people.n_members}, {words} of {some(classes)} of {models.n_members}"
            f"{self._unread(example)}",
            example,
        )

    # ---- wide tables ----------------------------------------------------------------------------------------

    def _wide(self, roles: Roles) -> Understood:
        """One item per row: a column per class (one member's probabilities), or a column per member (labels)."""
        item, label, table = roles.item, roles.label, self.table
        if self.told.member is not None:
            listed = [name.strip() for name in self.told.member.split(",")]
            return self._labels(item, {str(column_named(table, name, ())): name for name in listed})
        others = [name for name in table if name not in (item, *UNNAMED)]
        if not others:
            raise InvalidPredictions(f"a table must have columns beside that of the items, {item!r}; it has none")
        if len(others) == 1 or self.told.label is not None:
            return self._labels(item, {label or others[0]: self.stem})
        if (classes := self._numeric_classes(others)) is not None:
            return self._soft(item, classes)
        members = {label: self.stem} if label is not None else {name: name for name in self._label_columns(others)}
        return self._labels(item, members)

    def _numeric_classes(self, names: list[str]) -> list[str] | None:
        """The columns of numbers that are classes; None if columns hold labels."""
        if self.scale == "labels":
            return None
        if self.told.classes is not None and all(name in self.table for name in self.told.classes):
            return list(self.told.classes)
        columns = [self.table[name] for name in names]
        check_one_notation(columns)
        numbers = numbers_in(columns)
        if numbers is not None and (self.is_of_numbers or numbers.meaning() not in ("labels", "logits")):
            return names
        classes = self._class_columns(names, is_wanted=False)
        numbers = numbers_in(self.table[name] for name in classes) if len(classes) > 1 else None
        is_scale = numbers is not None and (numbers.are_probabilities() or numbers.meaning() in ("logits", "per cent"))
        return classes if is_scale else None

    def _label_columns(self, names: Sequence[str]) -> list[str]:
        """The columns that may be members' labels: neither true labels nor free text beside them."""
        kept = [name for name in names if role_of(name) != "truth"] or list(names)
        numbers = {name: numbers_in([self.table[name]]) for name in kept}
        plain = [name for name in kept if not _is_free(self.table[name], numbers[name])]
        return plain if len(plain) > 1 else kept

    def _soft(self, item: str | None, classes: list[str]) -> Understood:
        rows, words = self._shares(self._numbers(classes))
        items = None if item is None else all_named(self.table[item], item)
        made = Predictions([rows], members=[self.stem], items=items, classes=classes, partial=True)
        example = self._example(item=[] if item is None else [item], **{"class": classes})
        return Understood(made, f"{words} of {some(classes)}{self._unread(example)}", example)

    def _labels(self, item: str | None, members: dict[str, str]) -> Understood:
        """Hard labels: each column with the name of its member, items in the order of the table."""
        columns = {name: self.table[name] for name in members}
        items = None if item is None else all_named(self.table[item], item)
        for name, cells in columns.items():
            check_spellings(set(cells.answers), name)
        answers = [cells.answers for cells in columns.values()]
        said = sorted_names({answer for column in answers for answer in column if answer is not None})
        classes = said if self.told.classes is None else list(self.told.classes)
        made = Predictions.from_labels(
            np.array(answers, dtype=object), members=list(members.values()), items=items, classes=classes, partial=True
        )
        if not self.told.are_named:
            check_labels(made, {name: cells.values for name, cells in columns.items()})
            check_shared_labels(made)
            check_members(made, "a table has a row for each item")
        example = self._example(item=[] if item is None else [item], member=list(members))
        what = "one member's labels" if len(members) == 1 else f"labels, one column each of {some(list(members))}"
        words = f"{what}: {some(classes)}{_unknown(columns.values())}{self._unread(example)}"
        return Understood(made, words, example)

    # ---- columns of lists -----------------------------------------------------------------------------------

    def _listed(self, roles: Roles) -> Understood:
        """Columns whose cells are rows: one for all members of a long table, or one for each member of a wide one."""
        lists = self.lists
        if self.told.label is not None and self.told.label in lists:
            lists = {self.told.label: lists[self.told.label]}
        if roles.member is not None and len(lists) > 1:
            raise InvalidPredictions(
                f"one column of lists must hold the probabilities; {some(list(lists))} may: name it with --label-column"
            )
        columns = {"item": [] if roles.item is None else [roles.item]}
        soft = {}
        for name, rows in lists.items():
            scale = self.scale or ("logits" if "logit" in name.lower() else scale_of(rows.values))
            if scale == "logits" and self.scale is None:
                check_orientation(*rows.values.shape)
            soft[name] = as_probabilities(rows.values, scale if self.scale or scale != "counts" else None)
        classes = next((rows.classes for rows in lists.values() if rows.classes is not None), None)
        words = f"lists of {len(next(iter(soft.values()))[0])} numbers in {some(list(soft))}"
        if roles.member is not None:
            (rows,) = soft.values()
            names = {role: self.table[role].names for role in (roles.item, roles.member) if role is not None}
            numbered = classes or [str(place) for place in range(rows.shape[1])]
            made = _answers(names, roles.item, roles.member, numbered, rows)
            columns["member"] = [roles.member]
            return Understood(
                made, f"items in {roles.item!r}, members in {roles.member!r}, {words}", self._example(**columns)
            )
        members = [self.stem] if len(soft) == 1 else list(soft)
        items = None if roles.item is None else all_named(self.table[roles.item], roles.item)
        made = Predictions(list(soft.values()), members=members, items=items, classes=classes, partial=True)
        return Understood(made, f"{words} of {some(members)}", self._example(**columns))

    # ---- numbers ----------------------------------------------------------------------------------------------

    def _class_columns(self, names: Sequence[str], *, is_wanted: bool = True) -> list[str]:
        """The columns of numbers that are classes: all, or those whose names say nothing else, whichever sum to 1."""
        if self.told.classes is not None and (is_wanted or all(name in self.table for name in self.told.classes)):
            return [str(column_named(self.table, name, ())) for name in self.told.classes]
        numeric = [name for name in names if numbers_in([self.table[name]]) is not None]
        others = [name for name in numeric if role_of(name) is None]
        for columns in (numeric, others):
            numbers = numbers_in(self.table[name] for name in columns) if len(columns) > 1 else None
            if numbers is not None and numbers.share_of_probabilities() >= 0.5:
                return columns
        if len(numeric) < 2 and is_wanted:
            raise InvalidPredictions(
                f"a table needs a column of labels, or one of numbers for each class; it has {some(list(self.table))}: "
                "name it with --label-column or --classes"
            )
        return others if 1 < len(others) < len(numeric) else numeric

    def _numbers(self, names: Sequence[str]) -> Numbers:
        columns = [self.table[name] for name in names]
        check_one_notation(columns)
        numbers = numbers_in(columns)
        if numbers is None:
            bad = next(name for name in names if numbers_in([self.table[name]]) is None)
            raise InvalidPredictions(f"column {bad!r} must hold numbers, one for each item; it holds others")
        return numbers

    def _shares(self, numbers: Numbers) -> tuple[FloatArray, str]:
        """Numbers as probabilities, and what was understood of how they are written."""
        rows, meaning = numbers.values, self.scale or numbers.meaning()
        words = ", with decimal commas" if numbers.has_comma else ""
        if meaning == "counts" and self.scale != "counts":
            raise InvalidPredictions(
                f"numbers must be probabilities or labels; all rows sum to {rows[0].sum():g}, so they may be counts of "
                "votes: say --normalize to divide them by their sum"
            )
        if meaning == "unclear":
            raise InvalidPredictions(
                "rows of 0 with one 1 may be labels by several members or one member's probabilities; "
                f"got {len(rows)} such rows: add :labels or :probabilities to the file's name"
            )
        if meaning == "logits" and self.scale is None:
            check_orientation(*rows.shape)
        rows = as_probabilities(rows, meaning if meaning in ("logits", "per cent", "counts") else None)
        kind = "logits" if meaning == "logits" else "counts" if meaning == "counts" else "probabilities"
        return rows, f"{kind}{', in per cent' if meaning == 'per cent' else ''}{words}"

    # ---- what was understood ------------------------------------------------------------------------------------

    def _example(self, **columns: list[str]) -> tables.Table:
        """The first rows of the columns that were read, under their roles; the columns of lists are not among them."""
        shown = [(role, name) for role, names in columns.items() for name in names][:MOST_SHOWN]
        made = {f"{role}: {name}": [_text(v) for v in self.table[name].names[:N_EXAMPLES]] for role, name in shown}
        return tables.Table(made)

    def _unread(self, example: tables.Table) -> str:
        read = {column.partition(": ")[2] for column in example.columns}
        if len(read) == MOST_SHOWN:
            return ""
        unread = [name for name in self.table if name not in (*read, *UNNAMED)]
        return f"; not read: {some(unread)}" if unread else ""


NOT_FOUND = object()


def _answers(names: dict[str, Any], item: Any, member: str, classes: list[str], rows: FloatArray) -> Predictions:
    """Rows of probabilities in a long table."""
    columns = dict(zip(classes, rows.T, strict=True))
    return Predictions.from_frame(
        tables.Table({**names, **columns}), item=item, member=member, label=None, classes=classes, partial=True
    )


def _at(values: list[Any], is_in: Any) -> list[Any]:
    return [values[place] for place in np.flatnonzero(is_in)]


def _is_free(cells: Cells, numbers: Numbers | None) -> bool:
    """Whether a column holds free text or measurements, which nobody gives twice."""
    given = [answer for answer in cells.answers if answer is not None]
    return len(set(given)) > max(20, len(given) / 10) and (numbers is None or numbers.has_fractions())


def _unknown(columns: Iterable[Cells]) -> str:
    n_unknown = sum(cells.n_unknown for cells in columns)
    return f"; {n_unknown:,} cells such as NA are missing answers" if n_unknown else ""


def _text(name: str | None) -> str:
    text = "" if name is None else name
    return text if len(text) <= 24 else f"{text[:23]}…"


def all_named(cells: Cells, item: str) -> list[str]:
    """The names of items in a column; raises if one is missing."""
    names = [name for name in cells.names if name is not None]
    if len(names) < len(cells.names):
        row = cells.names.index(None) + 2
        raise InvalidPredictions(f"column {item!r} must name every item; row {row} is empty")
    return names
