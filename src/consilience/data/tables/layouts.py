"""The layouts of tables. Each recognises its own columns and converts them to predictions; the first that fits is used.

- *one member's probabilities*: a row for each item, a column for each class
- *lists*: cells that hold a row of numbers each
- *one class's probability*: of the class that the user names as `positive`
- long tables, with a row for each answer: *tidy* (item, member, class, probability), *labels and rows* (people's labels
  beside models' probabilities), *labels*, *rows* of probabilities
- wide tables, with a row for each item: *rows*, *one member's labels*, *labels* with a column for each member
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from consilience.data.axes import Axes, Axis, some
from consilience.data.names import in_order_of_appearance, sorted_names
from consilience.data.predictions import Predictions, of_answers
from consilience.data.tables import class_columns as numeric
from consilience.data.tables.labels import coded_labels, pooled_labels, unknown_cells
from consilience.data.tables.lists import as_one_scale, check_no_lists, flattened, lists_of_predictions, rows_in
from consilience.data.tables.plausibility import check_labels, check_members, check_shared_labels
from consilience.data.tables.roles import Roles, check_no_members, roles_of
from consilience.data.tables.tidy import shares_by_row, spread
from consilience.data.tables.vocabulary import (
    ITEM,
    MEMBER,
    UNNAMED,
    column_named,
    is_measure,
    may_be_truth,
    role_of,
)
from consilience.system.errors import InvalidPredictions, Say
from consilience.system.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consilience.data.tables.columns import Columns
    from consilience.data.tables.rows import Rows
    from consilience.data.tables.scales import Scale
    from consilience.data.tables.told import Told
    from consilience.system.arrays import FloatArray

N_EXAMPLES, MOST_SHOWN, LONGEST = 3, 5, 24
"""How many rows, columns and characters of a table are shown as an example of what was understood."""


class Understood(NamedTuple):
    """The predictions of a table, what was understood in words, some rows under their roles, and what was not read."""

    predictions: Predictions
    words: str
    example: Table | None = None  # None for arrays
    unread: Columns | None = None


def read_columns(columns: Columns, told: Told, scale: Scale | None = None, *, is_of_file: bool = False) -> Understood:
    """The predictions in a table. `scale` is what the user says of its numbers, `is_of_file` of this very file's."""
    view = _View(_without_index(flattened(columns)).joined(told.item), told, scale, is_of_numbers=is_of_file)
    for layout in LAYOUTS:
        found = layout(view)
        if found is not None:
            return found
    raise AssertionError("the last layout reads or refuses every table")


def _without_index(columns: Columns) -> Columns:
    """Drop an unnamed index if another column names the items, or if it only numbers the answers of a long table.

    An index without a name is never a class or a member. It names the items, or nothing.
    """
    texts = [name for name in columns if isinstance(name, str)]
    roles = {role_of(name) for name in texts if name not in UNNAMED}
    has_members = "member" in roles or column_named(texts, None, MEMBER) is not None
    dropped = []
    for name in texts:
        if name not in UNNAMED:
            continue
        column = columns[name]
        has_items = column_named(texts, None, ITEM) is not None or (column.counts_rows and "item" in roles)
        if has_items or (has_members and column.counts_rows):
            dropped.append(name)
        elif not has_members and (column.repeats or (column.coded.codes < 0).any()):
            raise InvalidPredictions(f"a column without a name must be an index; {name!r} holds {some(column.rows())}")
    return columns.without(dropped) if dropped else columns


@final
class _View:
    """A table with what the user says of it, and its roles, found when they are asked for."""

    def __init__(self, columns: Columns, told: Told, scale: Scale | None, *, is_of_numbers: bool) -> None:
        self.columns, self.scale = columns, scale
        # --logits is said of all files, among them tables of whole numbers that are labels.
        self.is_of_numbers = is_of_numbers or told.normalize
        self.told = told
        self.is_named = told.are_named
        self.row_base = 0 if columns.stem is None else 2

    @cached_property
    def lists(self) -> dict[Any, Rows]:
        """The columns whose cells are rows of numbers."""
        return rows_in(self.columns)

    @cached_property
    def told_classes(self) -> list[Any] | None:
        """The columns that the user names as classes.

        Other classes are names for tables without names, or all that labels may be. So are the classes of a saved model
        if members have the same names, whose columns hold labels.
        """
        by_text = {str(name): name for name in self.columns.flat}
        found = [by_text.get(str(name)) for name in self.told.classes or ()]
        if not found or any(name is None or self.columns[name].numbers is None for name in found):
            return None
        return found

    @cached_property
    def roles(self) -> Roles:
        """The columns of items, members and labels."""
        told = self.told if self.told.label not in self.lists else self.told._replace(label=None)
        if self.told.label is None and (found := numeric.answers_of_probabilities(self.columns, told)) is not None:
            return Roles(*found, None)
        classes = None if self.told_classes is None else tuple(map(str, self.told_classes))
        return roles_of(self.columns.without(self.told_classes or ()), told._replace(classes=classes))

    @property
    def others(self) -> list[Any]:
        """The columns of names and numbers that have no role."""
        return [name for name in self.columns.flat if name not in (*self.roles, *UNNAMED)]

    @property
    def is_long(self) -> bool:
        """Whether each row is one answer."""
        return self.roles.member is not None

    @property
    def words(self) -> str:
        """Where items and members are."""
        return f"items in {self.roles.item!r}, members in {self.roles.member!r}"

    # ---- what is made of it -----------------------------------------------------------------------------------

    def answers(self, given: Any, classes: list[Any], rows: Any = None) -> Predictions:
        """Predictions of a long table, from labels or rows of numbers, of all its rows or of some."""
        items, item_names = self.columns[self.roles.item].places(in_order_of_appearance, base=self.row_base)
        members, member_names = self.columns[self.roles.member].places(sorted_names, base=self.row_base)
        if rows is not None:
            items, item_names = _used(items[rows], item_names)
            members, member_names = _used(members[rows], member_names)
        axes = Axes(
            Axis("member", len(member_names), member_names),
            Axis("item", len(item_names), item_names, by_name=True),
            Axis("class", len(classes), classes),
        )
        return of_answers(items, members, given, axes, partial=True)

    def items(self, item: Any) -> list[Any] | None:
        """The names of items, one for each row."""
        if item is None:
            return None
        column = self.columns[item]
        if (column.coded.codes < 0).any():
            row = int(np.argmax(column.coded.codes < 0)) + self.row_base
            raise InvalidPredictions(f"column {item!r} must name every item; row {row} is empty")
        return column.rows()

    def one_member(self, rows: FloatArray, classes: list[Any], item: Any) -> Predictions:
        """The probabilities of one member, who is called like the file."""
        members = None if self.columns.stem is None else [self.columns.stem]
        made = Predictions([rows], members=members, items=self.items(item), classes=classes, partial=True)
        return made.with_items(made.axes.items.matched_by_name())

    def understood(self, made: Predictions, words: str, **columns: Sequence[Any]) -> Understood:
        """What was read, with the first rows of the columns under their roles, and the columns that were not read."""
        shown = [(role, name) for role, names in columns.items() for name in names][:MOST_SHOWN]
        example = {f"{role}: {name or '(no name)'}": self._first(name) for role, name in shown}
        read = {name for names in columns.values() for name in names}
        unread = [name for name in self.columns if name not in read and name not in UNNAMED]
        left_out = f"; not read: {some(unread)}" if unread else ""
        return Understood(made, f"{words}{left_out}", Table(example), self.columns.kept(unread))

    def _first(self, name: Any) -> list[str]:
        if name not in self.lists:
            return [_short("" if value is None else str(value)) for value in self.columns[name].first_rows(N_EXAMPLES)]
        rows = self.lists[name].values[:N_EXAMPLES].tolist()
        return [_short(", ".join(f"{value:.3g}" for value in row)) for row in rows]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _used(places: Any, names: list[Any]) -> tuple[Any, list[Any]]:
    """Places among the names that occur alone, and those names."""
    used, places = np.unique(places, return_inverse=True)
    return places, [names[place] for place in used.tolist()]


# ---- layouts of any shape -------------------------------------------------------------------------------------


def member_probabilities(view: _View) -> Understood | None:
    """A row for each item, and a column for each class, which sum to 1."""
    told = view.told
    is_told = view.is_named or told.classes is not None or told.positive is not None
    if is_told or view.lists or view.scale == "labels":
        return None
    item = numeric.item_of_probabilities(view.columns)
    if item is numeric.NOT_FOUND:
        return None
    return _rows(view, item, [name for name in view.columns.flat if name != item])


def one_class(view: _View) -> Understood | None:
    """The probability of one class, in a column that is called like it, or in the only column of numbers."""
    positive = view.told.positive
    if positive is None:
        return None
    if positive in view.columns:
        column = positive
    else:
        shares = [
            name
            for name in view.columns.flat
            if view.columns[name].are_shares and not is_measure(str(name)) and name != view.told.item
        ]
        if view.told.label is not None:
            shares = [column_named(list(view.columns), view.told.label)]
        if len(shares) != 1:
            raise InvalidPredictions(
                f"one column must hold the probability of {positive!r}; {some(shares) if shares else 'none'} may: "
                "call it so, or name it with ",
                Say("label"),
            )
        column = shares[0]
    numbers = view.columns[column].numbers
    given = np.empty(0) if numbers is None else numbers[~np.isnan(numbers)]
    if view.columns[column].notation.percent is not None and numbers is not None:
        numbers, given = numbers / 100, given / 100
    if numbers is None or not len(given) or given.min() < 0 or given.max() > 1:
        raise InvalidPredictions(
            f"the probabilities of {positive!r} must be from 0 to 1; column {column!r} holds others"
        )
    others = [name for name in view.told.classes or () if name != positive]
    classes = [others[0] if len(others) == 1 else f"not {positive}", positive]
    rows = np.stack([1 - numbers, numbers], axis=1)
    labels = np.where(np.isnan(numbers), -1, np.nan_to_num(numbers)).astype(np.intp)
    are_labels = bool((given % 1 == 0).all())
    roles = roles_of(view.columns.without([column]), view.told._replace(label=None, classes=None))
    view.roles = roles._replace(label=None)
    words = f"the {'label' if are_labels else 'probability'} {positive!r} in {column!r}"
    if view.is_long:
        made = view.answers(labels if are_labels else rows, classes)
        return view.understood(made, f"{view.words}, {words}", item=[roles.item], member=[roles.member], label=[column])
    made = view.one_member(rows, classes, roles.item)
    return view.understood(made, words, item=[] if roles.item is None else [roles.item], label=[column])


def lists(view: _View) -> Understood | None:
    """Columns whose cells are rows: one for all members of a long table, or one for each member of a wide one."""
    if not view.lists:
        return None
    roles = view.roles
    found = lists_of_predictions(view.lists, view.told, has_label=roles.label is not None)
    if not found:
        return None
    if view.is_long and len(found) > 1:
        raise InvalidPredictions(
            f"one column of lists must hold the probabilities; {some(list(found))} may: name it with ", Say("label")
        )
    soft = as_one_scale(found, view.scale, view.told.classes)
    rows, classes = next(iter(soft.values()))
    item = [] if roles.item is None else [roles.item]
    words = f"lists of {rows.shape[1]} numbers in {some(list(found))}"
    if view.is_long:
        made = view.answers(rows, classes or [str(place) for place in range(rows.shape[1])])
        return view.understood(made, f"{view.words}, {words}", item=item, member=[roles.member], numbers=list(found))
    members = list(soft) if len(soft) > 1 else None if view.columns.stem is None else [view.columns.stem]
    values = [own.values for own in soft.values()]
    made = Predictions(values, members=members, items=view.items(roles.item), classes=classes, partial=True)
    made = made.with_items(made.axes.items.matched_by_name())
    return view.understood(made, f"{words} of {some(made.members)}", item=item, numbers=list(found))


# ---- long tables --------------------------------------------------------------------------------------------


def long_rows(view: _View) -> Understood | None:
    """A row for each item and member, with a column of numbers for each class."""
    if not view.is_long or view.roles.label is not None:
        return None
    check_no_lists(view.columns, view.told)
    _check_told_classes(view)
    classes = view.told_classes or numeric.wanted_classes(view.columns, view.others)
    rows, words = numeric.as_shares(numeric.numbers_of(view.columns, classes), classes, view.scale)
    made = view.answers(rows, classes)
    words = f"{view.words}, {words} of {some(classes)}"
    return view.understood(made, words, item=[view.roles.item], member=[view.roles.member], **{"class": classes})


def _check_told_classes(view: _View) -> None:
    """Raise if some of the classes that the user names are columns, and others are not."""
    names = set(map(str, view.columns))
    missing = [name for name in view.told.classes or () if str(name) not in names]
    if missing and len(missing) < len(view.told.classes or ()):
        raise InvalidPredictions(
            f"a table must have a column of numbers for each class; {missing[0]!r} is missing from "
            f"{some(list(view.columns))}"
        )


def long_labels_and_rows(view: _View) -> Understood | None:
    """People's labels beside models' probabilities: each row has one or the other.

    Probabilities say more than the label beside them, which may be the best class or the true one.
    """
    label = view.roles.label
    if not view.is_long or label is None:
        return None
    classes = view.told_classes or numeric.class_columns(view.columns, view.others)
    numbers = numeric.have_classes(view.columns, classes)
    if numbers is None and view.told_classes is not None:
        numbers = numeric.numbers_of(view.columns, classes)
    if numbers is None:
        return None
    labels, names = coded_labels(view.columns[label], None)
    is_hard = labels >= 0
    is_soft = ~np.isnan(numbers.values).all(axis=1) & (~is_hard | (view.told.label is None))
    if not is_soft.any():
        return None
    if view.told.strict and view.told_classes is None and (is_soft & is_hard).any():
        raise InvalidPredictions(
            f"a table must hold labels or probabilities; it has the labels {label!r} and probabilities in "
            f"{some(classes)}: say ",
            Say("label", label),
            " or ",
            Say("classes", tuple(map(str, classes))),
        )
    rows, words = numeric.as_shares(numbers._replace(values=numbers.values[is_soft]), classes, view.scale)
    models = view.answers(rows, classes, np.flatnonzero(is_soft))
    columns = {"item": [view.roles.item], "member": [view.roles.member], "class": classes}
    is_hard &= ~is_soft
    if not is_hard.any():
        return view.understood(models, f"{view.words}, {words} of {some(classes)}", **columns)
    people = view.answers(labels[is_hard], names, np.flatnonzero(is_hard))
    both = Predictions.concatenate([people, models])
    words = f"labels in {label!r} of {people.n_members}, {words} of {some(classes)} of {models.n_members}"
    return view.understood(both, f"{view.words}, {words}", **columns, label=[label])


def tidy(view: _View) -> Understood | None:
    """A row for each item, member and class, with its probability."""
    roles = view.roles
    if not view.is_long or roles.label is None or view.scale == "labels":
        return None
    shares = shares_by_row(view.columns, roles, normalize=view.told.normalize)
    if shares is None:
        return None
    labels, classes = coded_labels(view.columns[roles.label], view.told.classes)
    places, rows = spread(view.columns, roles, labels, shares, len(classes), normalize=view.told.normalize)
    made = view.answers(rows, classes, places)
    words = f"{view.words}, classes in {roles.label!r} and their probabilities in {shares!r}: {some(classes)}"
    columns: dict[str, list[Any]] = {"item": [roles.item], "member": [roles.member]}
    columns |= {"label": [roles.label], "probability": [shares]}
    return view.understood(made, words, **columns)


def long_labels(view: _View) -> Understood | None:
    """A row for each answer: item, member and label."""
    roles = view.roles
    if not view.is_long or roles.label is None:
        return None
    column = view.columns[roles.label]
    labels, classes = coded_labels(column, view.told.classes)
    made = view.answers(labels, classes)
    if not view.is_named:
        check_labels(made, [column])
    words = f"{view.words}, labels in {roles.label!r}: {some(classes)}{unknown_cells([column])}"
    return view.understood(made, words, item=[roles.item], member=[roles.member], label=[roles.label])


# ---- wide tables --------------------------------------------------------------------------------------------


def wide_rows(view: _View) -> Understood | None:
    """A row for each item with a column of numbers for each class, beside others."""
    if view.told.member is not None or view.told.label is not None or view.scale == "labels":
        return None
    others = [name for name in view.columns.flat if name not in (view.roles.item, *UNNAMED)]
    if not others:
        check_no_lists(view.columns, view.told)
        raise InvalidPredictions(
            f"a table must have columns of answers beside that of the items, {view.roles.item!r}; it has none"
        )
    if len(others) == 1:
        return None
    classes = view.told_classes or numeric.classes_of_rows(view.columns, others, are_numbers=view.is_of_numbers)
    return None if classes is None else _rows(view, view.roles.item, classes)


def _rows(view: _View, item: Any, classes: list[Any]) -> Understood:
    rows, words = numeric.as_shares(numeric.numbers_of(view.columns, classes), classes, view.scale)
    made = view.one_member(rows, classes, item)
    return view.understood(
        made, f"{words} of {some(classes)}", item=[] if item is None else [item], **{"class": classes}
    )


def wide_labels(view: _View) -> Understood:
    """A row for each item with a column of labels: one member's, or one for each member."""
    item, label, told = view.roles.item, view.roles.label, view.told
    others = [name for name in view.columns.flat if name not in (item, *UNNAMED)]
    if told.member is not None:
        return _labels(view, item, [column_named(others, name.strip()) for name in told.member.split(",")])
    if len(others) == 1 or told.label is not None:
        return _labels(view, item, [label or others[0]], is_one=True)
    if label is not None:
        _check_no_class_columns(view, label)
        check_no_members(view.columns, view.roles)
        return _labels(view, item, [label], is_one=True)
    return _labels(view, item, _label_columns(view, others))


def _labels(view: _View, item: Any, names: list[Any], *, is_one: bool = False) -> Understood:
    """Hard labels: each column with the name of its member, items in the order of the table."""
    columns = [view.columns[name] for name in names]
    labels, classes = pooled_labels(columns, view.told.classes)
    members = [view.columns.stem] if is_one and view.columns.stem is not None else names
    items = view.items(item)
    place, row = np.nonzero(labels >= 0)
    axes = Axes(
        Axis("member", len(members), members),
        Axis("item", view.columns.n_rows, items, by_name=items is not None),
        Axis("class", len(classes), classes),
    )
    made = of_answers(row, place, labels[place, row], axes, partial=True)
    if not view.is_named:
        check_labels(made, columns)
        check_shared_labels(made)
    if view.told.member is None:
        check_members(made, "a table has a row for each item")
    what = "one member's labels" if len(names) == 1 else f"labels, one column each of {some(members)}"
    role = "label" if len(names) == 1 else "member"
    words = f"{what}: {some(classes)}{unknown_cells(columns)}"
    return view.understood(made, words, **{"item": [] if item is None else [item], role: names})


def _check_no_class_columns(view: _View, label: Any) -> None:
    """Raise if columns are named like the labels: they may be the scores of which the label is the best."""
    said = set(map(str, view.columns[label].given))
    named = [str(name) for name in view.columns if str(name) in said]
    if len(named) > 1:
        raise InvalidPredictions(
            f"columns {some(named)} have the names of labels in {label!r}, so they may hold one member's scores: say ",
            Say("classes", tuple(named)),
            " to read those, or ",
            Say("label", str(label)),
            " to read the labels alone",
        )


def _label_columns(view: _View, names: Sequence[Any]) -> list[Any]:
    """The columns that may be members' labels: neither true labels nor free text beside them."""
    texts = {name: str(name) for name in names}
    kept = [name for name in names if role_of(texts[name]) not in ("truth", "other")] or list(names)
    doubtful = [name for name in names if may_be_truth(texts[name]) and view.columns[name].are_labels]
    if doubtful and len(names) > len(doubtful):
        members = [texts[name] for name in names if name in kept and name not in doubtful]
        raise InvalidPredictions(
            f"columns of labels must be members or the truth; {some(doubtful)} may be either: list the members, as in ",
            Say("member", ",".join(members)),
            " or ",
            Say("member", ",".join([*members, *(texts[name] for name in doubtful)])),
        )
    plain = [name for name in kept if not view.columns[name].is_free]
    if len(plain) < 2:
        return kept
    left_out = [name for name in kept if name not in plain and role_of(texts[name]) in (None, "member")]
    for name in left_out:
        if view.columns[name].are_shares and not is_measure(texts[name]):
            raise InvalidPredictions(
                f"columns of labels must hold labels; {name!r} holds numbers from 0 to 1, and may be a member's "
                "probabilities: give those in a table of their own, a column for each class, or leave it out with ",
                Say("member", ",".join(texts[other] for other in plain)),
            )
        if view.told.strict and not is_measure(texts[name]):
            raise InvalidPredictions(
                f"labels must be classes that members give again and again; column {name!r} may hold numbers or free "
                "text: leave it out with ",
                Say("member", ",".join(texts[other] for other in plain)),
            )
    return plain


LAYOUTS = (
    one_class,
    member_probabilities,
    lists,
    long_rows,
    long_labels_and_rows,
    tidy,
    long_labels,
    wide_rows,
    wide_labels,
)
"""In the order in which they are tried."""
