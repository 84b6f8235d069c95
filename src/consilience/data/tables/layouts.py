"""The layouts of tables. Each recognises its own columns and converts them to predictions; the first that fits is used.

- *one class's probability*: of the class that the user names as `positive`
- *one member's probabilities*: a row for each item, a column for each class
- *lists*: cells that hold a row of numbers each
- long tables, with a row for each answer: *rows* of probabilities, *labels and rows* (people's labels beside models'
  probabilities), *tidy* (item, member, class, probability), *labels*
- wide tables, with a row for each item: *rows*, *labels* of one member or with a column for each member
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from consilience.data.axes import Axes, Axis, some
from consilience.data.names import cut, in_order_of_appearance, is_whole, sorted_names
from consilience.data.predictions import Predictions, check_members, of_answers, renamed
from consilience.data.tables import numbers as numeric
from consilience.data.tables.columns import Column, Columns, Rows, are_few, is_absent, pooled_labels, unknown_cells
from consilience.data.tables.numbers import Scale
from consilience.data.tables.roles import Roles, check_no_members, may_name_items, roles_of
from consilience.data.tables.told import ITEM, MEMBER, UNNAMED, Told, may_be_truth, names_of, say_columns
from consilience.data.validation import SUM_TOLERANCE
from consilience.system.arrays import FloatArray, IntArray
from consilience.system.errors import InvalidPredictions, Say
from consilience.system.tables import Table

N_EXAMPLES, MOST_SHOWN, LONGEST = 3, 5, 24
"""How many rows, columns and characters of a table are shown as an example of what was understood."""


class Understood(NamedTuple):
    """The predictions of a table, what was understood in words, some rows under their roles, and what was not read."""

    predictions: Predictions
    words: str
    example: Table | None = None  # None for arrays
    unread: Columns | None = None
    roles: Mapping[str, Sequence[Column]] = {}  # the columns that were read, by their role
    source: str = ""  # the file, or the files of tools together

    @property
    def items(self) -> Column | None:
        """Names the item of each row; None where rows are items, in this order."""
        return next(iter(self.roles.get("item", ())), None)


def read_columns(columns: Columns, told: Told, scale: Scale | None = None, *, is_of_file: bool = False) -> Understood:
    """The predictions in a table. `scale` is what the user says of its numbers, `is_of_file` of this very file's."""
    # --logits is said of all files, among them tables of whole numbers that are labels.
    is_of_numbers = is_of_file or told.normalize
    view = _View(_without_index(columns.flattened()).joined(told.item), told, scale, is_of_numbers=is_of_numbers)
    found = next(found for layout in LAYOUTS if (found := layout(view)) is not None)
    is_dropped = any(own.name not in view.columns and not own.counts_rows for own in columns.all if own.is_unnamed)
    if is_dropped and found.items is None:
        raise InvalidPredictions(
            "a column without a name, or the index, may name the items, and no other column of this table does: name it"
        )
    return found._replace(words=f"{found.words}; the column without a name is not read") if is_dropped else found


def _without_index(columns: Columns) -> Columns:
    """Drop an unnamed index if another column names the items, or if it only numbers the answers of a long table.

    An index without a name is never a class or a member. It names the items, or nothing. A wide table may have lost the
    name of a member whose column repeats, and holds text or what another column holds too.
    """
    roles = {own.role for own in columns.all}
    dropped = []
    for index in [own for own in columns.all if own.is_unnamed]:
        is_extra = columns.usual(ITEM) is not None or (index.counts_rows and not roles.isdisjoint(("item", "member")))
        is_apart = not index.repeats and index.first_missing is None
        is_index = is_apart or "member" in roles or (is_extra and _may_count(index, columns))
        if index.are_measured or not is_index:
            raise InvalidPredictions(
                f"a column without a name must be an index; {index.name!r} holds {some(index.rows())}"
            )
        if is_extra:
            dropped.append(index.name)
    return columns.without(dropped)


def _may_count(index: Column, columns: Columns) -> bool:
    """Whether it holds whole numbers, which no column of labels holds too."""
    if index.numbers is None or index.has_fractions or not np.isfinite(index.numbers).any():
        return False
    values = set(index.coded.values)
    return not any(own is not index and own.repeats and values <= set(own.coded.values) for own in columns.flat)


@final
class _View:
    """A table with what the user says of it, and its roles, found when they are asked for."""

    def __init__(self, columns: Columns, told: Told, scale: Scale | None, *, is_of_numbers: bool) -> None:
        self.columns, self.told, self.scale, self.is_of_numbers = columns, told, scale, is_of_numbers
        self.row_base = 0 if columns.stem is None else 2
        self.member = None if columns.stem is None else [columns.stem]  # of a table of one member

    @cached_property
    def told_classes(self) -> list[Column] | None:
        """The columns that the user names as classes.

        Other classes are names for tables without names, or all that labels may be. So are the classes of a saved model
        if members have the same names, whose columns hold labels.
        """
        told = list(map(str, self.told.classes or ()))
        by_text = {str(own.name): own for own in self.columns.flat if own.numbers is not None}
        return [by_text[name] for name in told] if told and by_text.keys() >= set(told) else None

    @cached_property
    def roles(self) -> Roles:
        """The columns of items, members and labels. Others that sum to 1 are classes, whatever they are called."""
        told = self.told if self.told.label not in self.columns.lists else self.told._replace(label=None)
        item, member = (
            self.columns[name] if name in self.columns else self.columns.usual(usual)
            for name, usual in ((told.item, ITEM), (told.member, MEMBER))
        )
        others = [own for own in self.columns.flat if own not in (item, member)]
        if self.told.label is None and item is not None and member is not None and numeric.sum_to_one(others):
            return Roles(item, member, None)
        names = names_of(self.told_classes or ())
        return roles_of(self.columns.without(names), told._replace(classes=tuple(map(str, names)) or None))

    @property
    def is_long(self) -> bool:
        """Whether each row is one answer."""
        return self.roles.member is not None

    @property
    def others(self) -> list[Column]:
        """The columns of names and numbers that have no role."""
        return self.columns.others(*self.roles)

    # ---- what is made of it -----------------------------------------------------------------------------------

    def answers(self, given: Any, classes: Sequence[Any], rows: Any = None) -> Predictions:
        """Predictions of a long table, from labels or rows of numbers, of all its rows or of some."""
        item, member, _ = self.roles
        assert item is not None and member is not None  # noqa: S101, PT018 - the table is long
        return answers_in(item, member, given, classes, rows, base=self.row_base)

    def items(self) -> list[Any] | None:
        """The names of items, one for each row of a wide table."""
        return None if self.roles.item is None else self.roles.item.item_rows(base=self.row_base)

    def rows(self, values: list[FloatArray], classes: Sequence[Any] | None, names: Sequence[Any] = ()) -> Predictions:
        """Probabilities of a long table, or of a wide one: of one member, or of those with names."""
        if self.is_long:
            return self.answers(values[0], classes or list(map(str, range(values[0].shape[1]))))
        members = self.member if len(values) == 1 else names
        made = Predictions(values, members=members, items=self.items(), classes=classes, partial=True)
        return renamed(made, items=made.axes.items.matched_by_name())

    def understood(self, made: Predictions, words: str, **columns: Sequence[Column]) -> Understood:
        """What was read, with the first rows of the columns under their roles, and the columns that were not read."""
        item, member, _ = self.roles
        own = {"item": [item], "member": [member]} | columns
        roles = {role: kept for role, found in own.items() if (kept := list(filter(None, found)))}
        shown = [(role, column) for role, found in roles.items() for column in found]
        example = {f"{role}: {column.name or '(no name)'}": self._first(column) for role, column in shown[:MOST_SHOWN]}
        read = {column for _, column in shown}
        unread = [column.name for column in self.columns.all if column not in read and not column.is_unnamed]
        left_out = f"; not read: {some(unread)}" if unread else ""
        words = f"{self._said_of_roles()}{words}{left_out}"
        return Understood(made, words, Table(example), self.columns.kept(unread), roles)

    def _said_of_roles(self) -> str:
        item, member, _ = self.roles
        if item is None or (member is None and (item.counts_rows or not item.is_unnamed)):
            return ""
        called = "the column without a name" if item.is_unnamed else repr(item.name)
        return f"items in {called}, {'' if member is None else f'members in {member.name!r}, '}"

    def _first(self, column: Column) -> list[str]:
        if column.name not in self.columns.lists:
            return [cut("" if value is None else str(value), LONGEST) for value in column.rows(N_EXAMPLES)]
        rows = self.columns.lists[column.name].values[:N_EXAMPLES].tolist()
        return [cut(", ".join(f"{value:.3g}" for value in row), LONGEST) for row in rows]


def answers_in(
    item: Column, member: Column, given: Any, classes: Sequence[Any], rows: Any = None, *, base: int = 0
) -> Predictions:
    """Predictions of answers whose items and members stand in two columns; given those in some rows, or in all."""
    found = []
    for column, in_order in ((item, in_order_of_appearance), (member, sorted_names)):
        places, names = column.places(in_order, base=base)
        if rows is not None:  # some names occur in other rows alone
            used, places = np.unique(places[rows], return_inverse=True)
            names = [names[place] for place in used.tolist()]
        found.append((places, names))
    (items, item_names), (members, member_names) = found
    axes = Axes.named(member_names, Axis("item", len(item_names), item_names, by_name=True), classes)
    return of_answers(items, members, given, axes)


# ---- layouts of any shape -------------------------------------------------------------------------------------


def one_class(view: _View) -> Understood | None:
    """The probability of one class: in a column called like it, in the only one of numbers, or by each member."""
    positive = view.told.positive
    if positive is None:
        return None
    columns = _columns_of_class(view, positive)
    numbers, names = [_shares_of_class(own, positive) for own in columns], names_of(columns)
    others = [name for name in view.told.classes or () if name != positive]
    classes = [others[0] if len(others) == 1 else f"not {positive}", positive]
    told = view.told._replace(label=None, classes=None, member=None if len(columns) > 1 else view.told.member)
    view.roles = roles_of(view.columns.without(names), told)._replace(label=None)
    given: list[Any] = [np.stack([1 - own, own], axis=1) for own in numbers]
    are_labels = not any((own % 1 > 0).any() for own in numbers)
    if view.is_long and are_labels:
        given = [np.where(np.isnan(numbers[0]), -1, np.nan_to_num(numbers[0])).astype(np.intp)]
    made = view.rows(given, classes, names)
    words = f"the {'label' if are_labels else 'probability'} {positive!r} in {some(names)}"
    return view.understood(made, words, **{"label" if len(columns) == 1 else "member": columns})


def _columns_of_class(view: _View, positive: str) -> list[Column]:
    """The column of the class, or those of the members that the user lists."""
    listed = [] if view.told.member in view.columns else (view.told.member or "").split(",")
    if len(listed) > 1:
        return [view.columns.told(name.strip()) for name in listed]
    if positive in view.columns:
        return [view.columns[positive]]
    if view.told.label is not None:
        return [view.columns.told(view.told.label)]
    shares = [own for own in view.columns.flat if own.are_shares and not own.is_measure and own.name != view.told.item]
    if len(shares) != 1:
        members = f", or list members, as in {say_columns('member', shares)}" if shares else ""
        raise InvalidPredictions(
            f"one column must hold the probability of {positive!r}; {some(names_of(shares)) if shares else 'none'} "
            f"may: call it so, or name it with {Say('label')}{members}"
        )
    return shares


def _shares_of_class(column: Column, positive: str) -> FloatArray:
    numbers = np.empty(0) if column.numbers is None else column.numbers
    numbers = numbers if column.notation.percent is None else numbers / 100
    given = numbers[~np.isnan(numbers)]
    if not len(given) or given.min() < 0 or given.max() > 1:
        raise InvalidPredictions(
            f"the probabilities of {positive!r} must be from 0 to 1; column {column.name!r} holds others"
        )
    return numbers


def member_probabilities(view: _View) -> Understood | None:
    """A row for each item, and a column for each class, which sum to 1.

    Those columns are classes, whatever their names: a class may be called `image`, `user` or `model`.
    """
    if view.told.are_named or view.told.classes is not None or view.columns.lists or view.scale == "labels":
        return None
    named = [own for own in view.columns.flat if own.role == "item"]
    for item in dict.fromkeys((view.columns.usual((*ITEM, *UNNAMED)), *named, None)):
        others = [own for own in view.columns.all if own is not item]
        is_long = item is not None and item.repeats  # a long table, whose members may be called 0
        if not is_long and numeric.sum_to_one(others):
            view.roles = Roles(item, None, None)
            return _rows(view, others)
    return None


def lists(view: _View) -> Understood | None:
    """Columns whose cells are rows: one for all members of a long table, or one for each member of a wide one.

    Beside a column of labels, only those are predictions that read as probabilities.
    """
    found = {name: rows for name, rows in view.columns.lists.items() if view.told.label in (None, name)}
    if view.told.label is None and found and view.roles.label is not None:
        found = {
            name: rows
            for name, rows in found.items()
            if numeric.named_scale(str(name)) or numeric.scale_of(rows.values) in ("probabilities", "per cent")
        }
    if not found:
        return None
    if view.is_long and len(found) > 1:
        raise InvalidPredictions(
            f"one column of lists must hold the probabilities; {some(list(found))} may: name it with {Say('label')}"
        )
    values, classes = _on_one_scale(found, view)
    made = view.rows(values, classes, list(found))
    members = "" if view.is_long else f" of {some(made.members)}"
    words = f"lists of {values[0].shape[1]} numbers in {some(list(found))}{members}"
    return view.understood(made, words, numbers=[view.columns[name] for name in found])


def _on_one_scale(lists: dict[Any, Rows], view: _View) -> tuple[list[FloatArray], Sequence[str] | None]:
    """Columns of lists as probabilities of the same classes, and the names of these, if there are any."""
    made, told, (first, classes) = list[FloatArray](), view.told.classes, next(iter(lists.values()))
    for name, rows in lists.items():
        scale = numeric.scale_in(rows.values, str(name), view.scale)
        scale = None if scale == "counts" and view.scale is None else scale  # counts are not rescaled unasked
        made.append(numeric.as_probabilities(rows.values, scale))
    if classes is None and told is None:
        _check_not_ranked(lists)
    for name, rows in lists.items():
        if rows.values.shape[1] != first.shape[1] or rows.classes != classes:
            raise InvalidPredictions(f"columns of lists must have the same classes; those of {name!r} are others")
    is_told = classes is None and told is not None and len(told) == first.shape[1]
    return made, told if is_told else classes


def _check_not_ranked(lists: dict[Any, Rows]) -> None:
    """Raise if all rows fall from their first number to their last: their places are ranks, and not classes."""
    for name, rows in lists.items():
        given = rows.values[~np.isnan(rows.values).all(axis=1)]
        if len(given) >= numeric.ENOUGH_ROWS and (np.diff(given, axis=1) <= 0).all() and (given != given[0]).any():
            raise InvalidPredictions(
                f"lists must hold a number for each class, in one order; those of {name!r} all fall from the first to "
                f"the last, as scores of the best class to the worst do: say {Say('classes')} if the places are classes"
            )


# ---- long tables --------------------------------------------------------------------------------------------


def _check_no_lists(view: _View) -> None:
    """Raise if the column of labels holds lists."""
    for own in view.columns.all:
        if own.name == view.told.label or own.role == "label":
            own.check_is_flat()


def long_rows(view: _View) -> Understood | None:
    """A row for each item and member, with a column of numbers for each class."""
    if not view.is_long or view.roles.label is not None:
        return None
    _check_no_lists(view)
    told, names = view.told.classes or (), set(map(str, view.columns))
    missing = [name for name in told if str(name) not in names]
    if 0 < len(missing) < len(told):
        raise InvalidPredictions(
            f"each class must have a column of numbers; {missing[0]!r} is missing from {some(list(view.columns))}"
        )
    classes = view.told_classes or numeric.class_columns(view.others)
    if len(classes) < 2 and view.told_classes is None:
        offer = f", or {Say('positive', 'NAME')} if its numbers are the probability of one class" if classes else ""
        raise InvalidPredictions(
            f"a table needs a column of labels, or one of numbers for each class; it has {some(list(view.columns))}: "
            f"name it with {Say('label')} or {Say('classes')}{offer}"
        )
    return _rows(view, classes)


def long_labels_and_rows(view: _View) -> Understood | None:
    """People's labels beside models' probabilities: each row has one or the other.

    Probabilities say more than the label beside them, which may be the best class or the true one.
    """
    label, told = view.roles.label, view.told
    if not view.is_long or label is None:
        return None
    classes = view.told_classes or numeric.class_columns(view.others)
    numbers = numeric.numbers_of(classes) if view.told_classes else numeric.numbers_of_classes(classes)
    if numbers is None:
        return None
    called = names_of(classes)  # NA may be one of them
    (labels,), names = pooled_labels([label], called if any(map(is_absent, called)) else None)
    is_soft = ~np.isnan(numbers.values).all(axis=1) & ((labels < 0) | (told.label is None))
    is_hard = (labels >= 0) & ~is_soft
    if not is_soft.any():
        return None
    if told.strict and view.told_classes is None and (is_soft & (labels >= 0)).any():
        raise InvalidPredictions(
            f"a table must hold labels or probabilities; it has the labels {label.name!r} and probabilities in "
            f"{some(names_of(classes))}: say {Say('label', label.name)} or {say_columns('classes', classes)}"
        )
    rows, words = numeric.as_shares(numbers._replace(values=numbers.values[is_soft]), classes, view.scale)
    made = view.answers(rows, names_of(classes), np.flatnonzero(is_soft))
    words = f"{words} of {some(names_of(classes))}"
    if not is_hard.any():
        return view.understood(made, words, **{"class": classes})
    people = view.answers(labels[is_hard], names, np.flatnonzero(is_hard))
    words = f"labels in {label.name!r} of {people.n_members}, {words} of {made.n_members}"
    return view.understood(Predictions.concatenate([people, made]), words, **{"class": classes, "label": [label]})


def tidy(view: _View) -> Understood | None:
    """A row for each item, member and class, with its probability."""
    (item, member, label), told = view.roles, view.told
    if item is None or member is None or label is None or view.scale == "labels":
        return None
    shares = _shares_by_row(view, item, member, label)
    if shares is None:
        return None
    (labels,), classes = pooled_labels([label], told.classes)
    if (labels < 0).any():
        raise InvalidPredictions(
            f"column {label.name!r} must name the class of each probability in {shares.name!r}; row "
            f"{int(np.argmax(labels < 0))} names none"
        )
    pairs, n_pairs = view.columns.pairs(item, member)
    _, places = np.unique(pairs, return_index=True)  # where each item and member occur first
    rows = np.zeros((n_pairs, len(classes)))  # a class without a row has none
    rows[pairs, labels] = shares.numbers
    rows = rows / rows.sum(axis=1, keepdims=True) if told.normalize else rows
    words = f"classes in {label.name!r} and their probabilities in {shares.name!r}: {some(classes)}"
    return view.understood(view.answers(rows, classes, places), words, label=[label], probability=[shares])


def _shares_by_row(view: _View, item: Column, member: Column, label: Column) -> Column | None:
    """The column of probabilities in a table with a row for each item, member and class; None if it holds votes.

    Pairs of item and member that repeat with different labels, beside a column of fractions, are probabilities or
    nothing: votes would be made of a table that lost a row. So are most pairs beside other numbers, such as logits.
    """
    fractions = [own for own in view.others if own.are_shares]
    numbers = [own for own in view.others if own.may_be_amounts]
    if not numbers and len(set(label.counts.tolist())) > 1:  # pairs take long to count
        return None
    pairs, n_pairs = view.columns.pairs(item, member)
    if not n_pairs < view.columns.n_rows == view.columns.n_pairs(item, member, label):
        return None
    if not fractions:
        _check_are_votes(view, label, numbers, n_pairs)
        return None
    fitting = [own for own in fractions if (np.abs(np.bincount(pairs, own.numbers) - 1) <= SUM_TOLERANCE).all()]
    if fitting or (view.told.normalize and view.columns.n_rows == n_pairs * len(label.given)):
        return (*fitting, *fractions)[0]
    sums = np.bincount(pairs, weights=np.nan_to_num(fractions[0].numbers))[pairs]  # type: ignore[arg-type]
    row = int(np.argmax(np.abs(sums - 1)))
    raise InvalidPredictions(
        f"probabilities must sum to 1 over classes; {some(names_of(fractions))} stands beside several labels in "
        f"{label.name!r} of one item and member, and sums to {sums[row]:.6g} for item {item.rows()[row]!r} of member "
        f"{member.rows()[row]!r}: complete its rows, or say {Say('normalize')} if each class has one, or leave "
        f"{fractions[0].name!r} out of the table if the labels are votes"
    )


SEVERAL = 1.5
"""If each item and member have so many different labels, these are no votes."""


def _check_are_votes(view: _View, label: Column, numbers: list[Column], n_pairs: int) -> None:
    """Raise if most items and members have several labels beside numbers, or all have every label."""
    is_whole = view.columns.n_rows == n_pairs * len(label.given)
    if n_pairs < 2 or not (is_whole or (numbers and view.columns.n_rows > SEVERAL * n_pairs)):
        return
    many = f"each of them has every label in {label.name!r} once"
    many = many if is_whole else f"most have several in {label.name!r}"
    advice = f": leave {some(names_of(numbers))} out of the table if the labels are votes" if numbers else ""
    raise InvalidPredictions(
        f"a table must have one label for each item and member; {many}, and none of {some(names_of(view.others))} has "
        f"the probabilities of these, which sum to 1{advice}"
    )


def long_labels(view: _View) -> Understood | None:
    """A row for each answer: item, member and label."""
    label = view.roles.label
    if not view.is_long or label is None:
        return None
    (labels,), classes = pooled_labels([label], view.told.classes)
    made = view.answers(labels, classes)
    if not view.told.are_named:
        check_labels(made, [label])
    return view.understood(
        made, f"labels in {label.name!r}: {some(classes)}{unknown_cells([label], classes)}", label=[label]
    )


# ---- wide tables --------------------------------------------------------------------------------------------


def wide_rows(view: _View) -> Understood | None:
    """A row for each item with a column of numbers for each class, beside others."""
    if view.told.member is not None or view.told.label is not None or view.scale == "labels":
        return None
    item = view.roles.item
    others = view.columns.others(item)
    if not others:
        _check_no_lists(view)
        raise InvalidPredictions(
            f"a table must have columns of answers beside its items, {item and item.name!r}; it has none"
        )
    if len(others) == 1:
        return None
    classes = view.told_classes or numeric.classes_of_rows(others, are_numbers=view.is_of_numbers)
    return None if classes is None else _rows(view, classes)


def _rows(view: _View, classes: list[Column]) -> Understood:
    """Rows of numbers, with a column for each class."""
    rows, words = numeric.as_shares(numeric.numbers_of(classes), classes, view.scale)
    names = names_of(classes)
    return view.understood(view.rows([rows], names), f"{words} of {some(names)}", **{"class": classes})


def wide_labels(view: _View) -> Understood:
    """A row for each item with a column of labels: one member's, or one for each member."""
    item, label, told = view.roles.item, view.roles.label, view.told
    others = view.columns.kept(names_of(view.columns.others(item)))
    if told.member is not None:
        return _labels(view, [others.told(name.strip()) for name in told.member.split(",")])
    if len(others) == 1 or told.label is not None:
        return _labels(view, [label or others.all[0]], is_one=True)
    if label is None:
        return _labels(view, _label_columns(view, others.all))
    check_no_members(view.columns, item, label)
    return _labels(view, [label], is_one=True)


def _labels(view: _View, columns: list[Column], *, is_one: bool = False) -> Understood:
    """Hard labels: each column with the name of its member, items in the order of the table."""
    labels, classes = pooled_labels(columns, view.told.classes)
    members, items = (view.member if is_one else None) or names_of(columns), view.items()
    place, row = np.nonzero(labels >= 0)
    axes = Axes.named(members, Axis("item", view.columns.n_rows, items, by_name=items is not None), classes)
    made = of_answers(row, place, labels[place, row], axes)
    if not view.told.are_named:
        check_labels(made, columns)
    if view.told.member is None:
        check_members(made, "a table has a row for each item")
    what = "one member's labels" if len(columns) == 1 else f"labels, one column each of {some(members)}"
    words = f"{what}: {some(classes)}{unknown_cells(columns, classes)}"
    return view.understood(made, words, **{"label" if len(columns) == 1 else "member": columns})


def _label_columns(view: _View, columns: list[Column]) -> list[Column]:
    """The columns that may be members' labels: neither true labels nor free text beside them."""
    ids = [own for own in columns if own.is_id and own.are_names]
    if ids and view.told.item is None:  # nobody answers each item differently
        raise may_name_items(ids)
    kept = [own for own in columns if own.role not in ("truth", "other")] or columns
    _check_no_truth(columns, kept)
    plain = [own for own in kept if not own.is_free]
    if len(plain) < 2:
        return kept
    for own in kept:
        _check_left_out(own, plain, is_strict=view.told.strict)
    return plain


def _check_no_truth(columns: list[Column], kept: list[Column]) -> None:
    """Raise if some columns may be true labels, or members who are called so."""
    doubtful = [own for own in columns if may_be_truth(str(own.name)) and own.are_labels]
    if 0 < len(doubtful) < len(columns):
        members = [own for own in kept if own not in doubtful]
        raise InvalidPredictions(
            f"columns of labels must be members or the truth; {some(names_of(doubtful))} may be either: list the "
            f"members, as in {say_columns('member', members)} or {say_columns('member', [*members, *doubtful])}"
        )


def _check_left_out(column: Column, plain: list[Column], *, is_strict: bool) -> None:
    """Raise if a column of numbers or free text beside labels may hold answers all the same."""
    may_answer = column.is_free and column.role in (None, "member") and not column.is_measure
    if may_answer and (column.are_shares or is_strict):
        held = "holds numbers from 0 to 1, and may be a member's probabilities, which need a table of their own"
        held = held if column.are_shares else "may hold numbers or free text"
        raise InvalidPredictions(
            f"columns of labels must hold classes that members give again and again; {column.name!r} {held}: leave it "
            f"out with {say_columns('member', plain)}"
        )


# ---- labels that may be none ----------------------------------------------------------------------------------

MANY_ANSWERS = 10
"""If nobody who gives so many answers ever gives one twice, they are no labels."""

ADVICE = f". Name the column with {Say('label')} to read it so all the same"


def check_labels(predictions: Predictions, columns: Sequence[Column]) -> None:
    """Raise if labels were read that are more likely numbers or free text, or from columns that have none in common."""
    for column in columns:
        check_names(column)
        if column.has_fractions and not column.repeats and column.size > 1:
            raise InvalidPredictions(
                f"labels must be names or whole numbers; column {column.name!r} holds {column.given[0]} and others "
                f"that nobody gives twice{ADVICE}"
            )
    check_repeated(predictions, columns[0].name)
    is_said, n_given = _said(predictions)
    is_alone = ~(is_said & (is_said.sum(axis=0) > 1)).any(axis=1) & (n_given >= MANY_ANSWERS)
    if is_alone.any() and len(columns) > 1:
        names = [predictions.members[place] for place in np.flatnonzero(is_alone)]
        raise InvalidPredictions(
            f"columns of labels must have labels in common; {some(names)} share none with the others: say which "
            f"column is which with {Say('item')}, {Say('member')} and {Say('label')}, or list the members of a wide "
            f"table, such as {Say('member', 'ann,bob')}"
        )


def check_repeated(predictions: Predictions, name: Any) -> None:
    """Raise if there are so many labels, or so few given twice, that they are more likely numbers or free text."""
    is_said, n_given = _said(predictions)
    n_answers, is_busy = int(n_given.sum()), n_given >= MANY_ANSWERS
    if not are_few(predictions.n_classes, n_answers):
        found = f"got {predictions.n_classes:,} different ones in {n_answers:,} answers"
    elif is_busy.any() and (is_said.sum(axis=1) == n_given)[is_busy].all():
        found = "nobody gives one twice"
    else:
        return
    raise InvalidPredictions(
        f"labels must be classes that members give again and again; {found}, so column {name!r} may hold numbers or "
        f"free text{ADVICE}"
    )


def _said(predictions: Predictions) -> tuple[npt.NDArray[np.bool_], IntArray]:
    """Which labels each member gives (members, classes), and how many in all (members,)."""
    hard = predictions.hard
    assert hard is not None  # noqa: S101 - labels are hard
    is_said = np.zeros((predictions.n_members, predictions.n_classes), dtype=bool)
    is_said[hard.members, hard.labels] = True
    return is_said, np.bincount(hard.members, minlength=predictions.n_members)


def check_names(column: Column) -> None:
    """Raise if all values of a column are shares: per cent, or numbers from 0 to 1 that are not all whole."""
    if column.are_shares or column.notation.percent is not None:
        first = next(value for value in map(str, column.given) if not is_whole(value))
        raise InvalidPredictions(
            f"labels must be names or whole numbers; column {column.name!r} holds {first}: if these are the "
            f"probabilities of one class, say {Say('positive', 'NAME')}{ADVICE}"
        )


OF_ANY_SHAPE = (one_class, member_probabilities, lists)
LONG = (long_rows, long_labels_and_rows, tidy, long_labels)
LAYOUTS = (*OF_ANY_SHAPE, *LONG, wide_rows, wide_labels)
"""In the order in which they are tried."""
