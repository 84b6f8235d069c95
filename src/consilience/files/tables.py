"""Make predictions of a table: find the roles of its columns, then read the labels or the numbers in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.axes import some
from consilience.data.frames import probabilities_by_row
from consilience.data.names import FLOAT_OF_WHOLE, WHOLE, check_minus_one, check_spellings, sorted_names, text_of
from consilience.data.plausibility import check_labels, check_members, check_shared_labels
from consilience.data.predictions import Predictions
from consilience.data.roles import (
    ITEM,
    MEMBER,
    UNNAMED,
    Layout,
    Roles,
    are_measured,
    column_named,
    joined_items,
    role_of,
    roles_of,
)
from consilience.files.cells import Cells, Numbers, check_one_notation, numbers_in
from consilience.files.lists import as_one_scale, lists_of_predictions
from consilience.files.runs import MOST, runs_of_probabilities
from consilience.files.scales import Scale, as_probabilities, check_orientation
from consilience.system import tables
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from consilience.data.rows import Rows
    from consilience.files.contents import Contents, Table
    from consilience.system.arrays import FloatArray

MEASURES = frozenset(["confidence", "agreement", "entropy", "uncertainty", "margin", "weight", "temperature", "length"])
"""Words in the names of columns whose numbers describe items."""

ID = re.compile(r"(?![-+]?[0-9]*[.,][0-9]*$)\S{1,100}")
"""What an id looks like: one word, and no fraction."""

N_EXAMPLES, MOST_SHOWN, LONGEST = 3, 5, 24
"""How many rows, columns and characters of a table are shown as an example of what was understood."""


class Understood(NamedTuple):
    """The predictions of a table, what was understood in words, and some of its rows under the roles of columns.

    `may_name` is a column that may name the items, of a table whose items have no names otherwise.
    """

    predictions: Predictions
    words: str
    example: tables.Table | None = None  # None for arrays
    may_name: str | None = None


def from_table(contents: Contents, table: Table, told: Layout, scale: Scale | None) -> Understood:
    """The predictions in a file's table. `told` and `scale` are what the user says of its columns and numbers."""
    return _Reading(contents, without_index(table), told, scale).understood()


def without_index(table: Table) -> Table:
    """Drop an unnamed index if another column names the items, or if it only numbers the answers of a long table.

    An index without a name is never a class or a member. It names the items, or nothing.
    """
    roles = {role_of(name) for name in table if name not in UNNAMED}
    has_members = "member" in roles or column_named(table, None, MEMBER) is not None
    dropped = []
    for name in table:
        if name not in UNNAMED:
            continue
        names = table[name].names
        counts = names == [str(row) for row in range(len(names))]
        if None in names or (not has_members and len(set(names)) < len(names)):
            raise InvalidPredictions(f"a column without a name must be an index; {name!r} holds {some(names)}")
        has_items = column_named(table, None, ITEM) is not None or (counts and "item" in roles)
        if has_items or (has_members and counts):
            dropped.append(name)
    return {name: cells for name, cells in table.items() if name not in dropped}


class _Reading:
    """A table with what the user says of it."""

    def __init__(self, contents: Contents, table: Table, told: Layout, scale: Scale | None) -> None:
        self.lists, self.stem, self.told, self.scale = contents.lists, contents.path.stem, told, scale
        # --logits is said of all files, among them tables of whole numbers that are labels.
        self.is_of_numbers = contents.scale is not None or told.normalize
        # Other classes are names for files without names, or all that labels may be. So are the classes of a saved
        # model if members have the same names, whose columns hold labels.
        classes = [table.get(name) for name in told.classes or ()]
        are_columns = all(cells is not None and numbers_in([cells]) is not None for cells in classes)
        self.told_classes = list(told.classes or ()) if classes and are_columns else None
        values = {name: cells.values for name, cells in table.items()}
        joined = joined_items(values, told.item)
        self.table = table if joined is None else {str(told.item): Cells(joined, is_text=False), **table}

    def understood(self) -> Understood:
        """The predictions, read by the first of these rules that applies."""
        if not self.told.are_named and not self.lists and self.told.classes is None and self.scale != "labels":
            item = self._item_of_probabilities()
            if item is not NOT_FOUND:
                return self._soft(item, [name for name in self.table if name != item])
        told = self.told if self.told.label not in self.lists else self.told._replace(label=None)
        classes = self.told_classes or ()
        roles = roles_of({name: cells.values for name, cells in self.table.items() if name not in classes}, told)
        lists = lists_of_predictions(self.lists, self.told, has_label=roles.label is not None)
        if lists:
            return self._listed(roles, lists)
        return self._wide(roles) if roles.member is None else self._long(roles.item, roles.member, roles.label)

    def _item_of_probabilities(self) -> Any:
        """The column of items (None if there is none) of a table whose other columns sum to 1 in each row.

        Those columns are classes, whatever their names: a class may be called `image`, `user` or `model`.
        """
        usual = column_named(self.table, None, (*ITEM, *UNNAMED))
        called = [name for name in self.table if role_of(name) == "item"]
        for item in dict.fromkeys((usual, *called, None)):
            if item is not None and len(set(self.table[item].names)) < len(self.table[item].names):
                continue  # a long table, whose members may be called 0
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
            columns = {"item": [item], "member": [member], "class": classes}
            return self._understood(made, f"{roles}, {words} of {some(classes)}", **columns)
        answers = table[label].answers
        is_hard = np.array([answer is not None for answer in answers])
        # Probabilities say more than the label beside them, which may be the best class or the true one.
        is_soft = self._has_probabilities(others) & (~is_hard | (self.told.label is None))
        if not is_soft.any():
            said = tables.Table({**names, label: answers, **self._measured(others)})
            shares = probabilities_by_row(said, item, member, label)
            said = tables.Table({name: said[name] for name in (item, member, label, shares) if name is not None})
            made = Predictions.from_frame(
                said, item=item, member=member, label=label, classes=self.told.classes, partial=True
            )
            columns = {"item": [item], "member": [member], "label": [label]}
            if shares is not None:
                words = f"{roles}, classes in {label!r} and their probabilities in {shares!r}: {some(made.classes)}"
                return self._understood(made, words, **columns, probability=[shares])
            if not self.told.are_named:
                check_labels(made, {label: table[label].values})
            words = f"{roles}, labels in {label!r}: {some(made.classes)}{_unknown([table[label]])}"
            return self._understood(made, words, **columns)
        classes = self._class_columns(others)
        numbers = self._numbers(classes)
        rows, words = self._shares(numbers._replace(values=numbers.values[is_soft]))
        models = _answers({name: _at(values, is_soft) for name, values in names.items()}, item, member, classes, rows)
        columns = {"item": [item], "member": [member], "class": classes}
        is_hard &= ~is_soft
        if not is_hard.any():
            return self._understood(models, f"{roles}, {words} of {some(classes)}", **columns)
        said = tables.Table(
            {name: _at(values, is_hard) for name, values in names.items()} | {label: _at(answers, is_hard)}
        )
        people = Predictions.from_frame(said, item=item, member=member, label=label, partial=True)
        both = Predictions.concatenate([people, models])
        numbers_of = f"{words} of {some(classes)} of {models.n_members}"
        words = f"{roles}, labels in {label!r} of {people.n_members}, {numbers_of}"
        return self._understood(both, words, **columns, label=[label])

    def _measured(self, names: Sequence[str]) -> dict[str, list[float]]:
        """The columns of numbers with fractions."""
        found = {name: numbers_in([self.table[name]]) for name in names}
        return {name: x.values[:, 0].tolist() for name, x in found.items() if x is not None and x.has_fractions()}

    def _has_probabilities(self, names: Sequence[str]) -> Any:
        """Which rows (rows,) have numbers for the classes: none if the table has no columns that sum to 1."""
        classes = self._class_columns(names, is_wanted=False)
        numbers = numbers_in(self.table[name] for name in classes) if len(classes) > 1 else None
        if numbers is None or (classes != self.told_classes and not self._are_classes(numbers)):
            return np.zeros(len(next(iter(self.table.values())).values), dtype=bool)
        return ~np.isnan(numbers.values).all(axis=1)

    @staticmethod
    def _are_classes(numbers: Numbers) -> bool:
        is_share = numbers.has_fractions() or numbers.has_point
        return (is_share and numbers.share_of_probabilities() >= MOST) or numbers.meaning() == "per cent"

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
        if label is not None:
            self._check_no_class_columns(label)
            return self._labels(item, {label: self.stem})
        return self._labels(item, {name: name for name in self._label_columns(others)})

    def _check_no_class_columns(self, label: str) -> None:
        """Raise if columns are named like the labels: they may be the scores of which the label is the best."""
        named = [name for name in self.table if name in set(self.table[label].answers)]
        if len(named) > 1:
            raise InvalidPredictions(
                f"columns {some(named)} have the names of labels in {label!r}, so they may hold one member's scores: "
                f"say --classes {','.join(named)} to read those, or --label-column {label} to read the labels alone"
            )

    def _numeric_classes(self, names: list[str]) -> list[str] | None:
        """The columns of numbers that are classes; None if columns hold labels."""
        if self.scale == "labels":
            return None
        if self.told_classes is not None:
            return self.told_classes
        columns = [self.table[name] for name in names]
        check_one_notation(columns)
        numeric = [name for name in names if numbers_in([self.table[name]]) is not None]
        if (run := self._run_of_probabilities(numeric)) is not None:
            return run
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
        if len(plain) < 2:
            return kept
        for name in kept:
            if (
                name not in plain
                and role_of(name) in (None, "member")
                and _are_shares(numbers[name])
                and not _is_measure(name)
            ):
                raise InvalidPredictions(
                    f"columns of labels must hold labels; {name!r} holds numbers from 0 to 1, and may be a member's "
                    f"probabilities: give those in a file of their own, with a column for each class, or leave it out "
                    f"with --member-column {','.join(plain)}"
                )
        return plain

    def _soft(self, item: str | None, classes: list[str]) -> Understood:
        rows, words = self._shares(self._numbers(classes))
        items = None if item is None else all_named(self.table[item], item)
        made = Predictions([rows], members=[self.stem], items=items, classes=classes, partial=True)
        columns = {"item": [] if item is None else [item], "class": classes}
        return self._understood(made, f"{words} of {some(classes)}", **columns)

    def _labels(self, item: str | None, members: dict[str, str]) -> Understood:
        """Hard labels: each column with the name of its member, items in the order of the table."""
        columns = {name: self.table[name] for name in members}
        items = None if item is None else all_named(self.table[item], item)
        for name, cells in columns.items():
            check_spellings(set(cells.answers), name)
        answers = [cells.answers for cells in columns.values()]
        said = sorted_names({answer for column in answers for answer in column if answer is not None})
        if self.told.classes is None:
            check_minus_one(said)
        classes = _plain(said) if self.told.classes is None else list(self.told.classes)
        made = Predictions.from_labels(
            np.array(answers, dtype=object), members=list(members.values()), items=items, classes=classes, partial=True
        )
        if not self.told.are_named:
            check_labels(made, {name: cells.values for name, cells in columns.items()})
            check_shared_labels(made)
            check_members(made, "a table has a row for each item")
        what = "one member's labels" if len(members) == 1 else f"labels, one column each of {some(list(members))}"
        words = f"{what}: {some(classes)}{_unknown(columns.values())}"
        role = "label" if len(members) == 1 else "member"
        return self._understood(made, words, **{"item": [] if item is None else [item], role: list(members)})

    # ---- columns of lists -----------------------------------------------------------------------------------

    def _listed(self, roles: Roles, lists: dict[str, Rows]) -> Understood:
        """Columns whose cells are rows: one for all members of a long table, or one for each member of a wide one."""
        if roles.member is not None and len(lists) > 1:
            raise InvalidPredictions(
                f"one column of lists must hold the probabilities; {some(list(lists))} may: name it with --label-column"
            )
        soft = as_one_scale(lists, self.scale, self.told.classes)
        rows, classes = next(iter(soft.values()))
        columns = {"item": [] if roles.item is None else [roles.item], "member": [], "numbers": list(lists)}
        words = f"lists of {rows.shape[1]} numbers in {some(list(lists))}"
        if roles.member is not None:
            names = {role: self.table[role].names for role in (roles.item, roles.member) if role is not None}
            numbered = classes or [str(place) for place in range(rows.shape[1])]
            made = _answers(names, roles.item, roles.member, numbered, rows)
            words = f"items in {roles.item!r}, members in {roles.member!r}, {words}"
            return self._understood(made, words, **columns | {"member": [roles.member]})
        members = [self.stem] if len(soft) == 1 else list(soft)
        items = None if roles.item is None else all_named(self.table[roles.item], roles.item)
        values = [own.values for own in soft.values()]
        made = Predictions(values, members=members, items=items, classes=classes, partial=True)
        return self._understood(made, f"{words} of {some(members)}", **columns)

    # ---- numbers ----------------------------------------------------------------------------------------------

    def _class_columns(self, names: Sequence[str], *, is_wanted: bool = True) -> list[str]:
        """The columns of numbers that are classes: all, or those whose names say nothing else, whichever sum to 1."""
        if self.told_classes is not None:
            return self.told_classes
        numeric = [name for name in names if numbers_in([self.table[name]]) is not None]
        if (found := self._run_of_probabilities(numeric)) is not None:
            return found
        if len(numeric) < 2 and is_wanted:
            raise InvalidPredictions(
                f"a table needs a column of labels, or one of numbers for each class; it has {some(list(self.table))}: "
                "name it with --label-column or --classes"
            )
        others = [name for name in numeric if role_of(name) is None or self._is_item_of_numbers(name)]
        return others if 1 < len(others) < len(numeric) else numeric

    def _is_item_of_numbers(self, name: str) -> bool:
        """Whether a column has a name for items, such as `image`, but holds measurements: it may be a class."""
        return role_of(name) == "item" and are_measured(self.table[name].values)

    def _run_of_probabilities(self, names: Sequence[str]) -> list[str] | None:
        """The run of columns of which most rows sum to 1, such as those after a column of confidence; the longest."""
        plain = [name for name in names if not _is_measure(name)]
        return self._longest_run(plain) or (self._longest_run(names) if len(plain) < len(names) else None)

    def _longest_run(self, names: Sequence[str]) -> list[str] | None:
        numbers = numbers_in(self.table[name] for name in names) if len(names) > 1 else None
        runs = [] if numbers is None else [list(names[run]) for run in runs_of_probabilities(numbers)]
        if len(runs) > 1:
            raise InvalidPredictions(
                f"columns that sum to 1 are classes; {some(runs[0])} do, and {some(runs[1])} do: name the classes "
                "with --classes, or give each member a file of its own"
            )
        return runs[0] if runs else None

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

    def _understood(self, made: Predictions, words: str, **columns: Sequence[str]) -> Understood:
        """What was read, with the first rows of the columns under their roles, and the columns that were not read."""
        shown = [(role, name) for role, names in columns.items() for name in names][:MOST_SHOWN]
        example = {f"{role}: {name or '(no name)'}": self._first(name) for role, name in shown}
        read = {name for names in columns.values() for name in names}
        unread = [name for name in (*self.table, *self.lists) if name not in read and name not in UNNAMED]
        left_out = f"; not read: {some(unread)}" if unread else ""
        may_name = None if made.axes.items.is_named else column_like_ids(self.table, unread)
        return Understood(made, f"{words}{left_out}", tables.Table(example), may_name)

    def _first(self, name: str) -> list[str]:
        if name in self.table:
            return [_short("" if value is None else value) for value in self.table[name].names[:N_EXAMPLES]]
        rows = self.lists[name].values[:N_EXAMPLES].tolist()
        return [_short(", ".join(f"{value:.3g}" for value in row)) for row in rows]


NOT_FOUND = object()


def column_like_ids(table: Table, names: Iterable[str]) -> str | None:
    """The first column with another word or whole number in each row, unless they only count the rows; None if none."""
    for name in names:
        ids = table[name].names if name in table else []
        are_ids = all(text is not None and ID.fullmatch(text) for text in ids) and len(set(ids)) == len(ids) > 1
        if are_ids and not _count_up([text for text in ids if text is not None]):
            return name
    return None


def _count_up(texts: list[str]) -> bool:
    """Whether names are whole numbers in a row, in their order, as that of the rows."""
    if not all(map(WHOLE.fullmatch, texts)):
        return False
    first = int(texts[0])
    return texts == [str(first + place) for place in range(len(texts))]


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


def _are_shares(numbers: Numbers | None) -> bool:
    if numbers is None:
        return False
    given = numbers.values[~np.isnan(numbers.values)]
    return bool(len(given)) and bool(((given >= 0) & (given <= 1)).all())


def _is_measure(name: str) -> bool:
    """Whether a column's name says that its numbers describe the item, and are nobody's answer."""
    return any(word in MEASURES for word in re.findall("[a-z]+", name.lower()))


def _unknown(columns: Iterable[Cells]) -> str:
    n_unknown = sum(cells.n_unknown for cells in columns)
    return f"; {n_unknown:,} cells such as NA are missing answers" if n_unknown else ""


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _plain(names: list[Any]) -> list[Any]:
    """Whole numbers that a library wrote as 1.0, since others were missing, as 1."""
    are_floats = all(isinstance(name, str) and FLOAT_OF_WHOLE.fullmatch(name) for name in names)
    return [text_of(name) for name in names] if are_floats else names


def all_named(cells: Cells, item: str) -> list[str]:
    """The names of items in a column; raises if one is missing."""
    names = [name for name in cells.names if name is not None]
    if len(names) < len(cells.names):
        row = cells.names.index(None) + 2
        raise InvalidPredictions(f"column {item!r} must name every item; row {row} is empty")
    return names
