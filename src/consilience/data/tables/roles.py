"""Decide which columns of a table hold the items, the members and the answers, by their names and by their values.

A table is *long* if each row is one answer: a column names the item, another the member. It is *wide* if each row is
one item. Where names and values leave two readings open, `roles_of` refuses and says what to name.

In a table with a row for each item, whether it holds answers or true labels, the first of these names the items:

1. the column that the user names with `item`, perhaps joined of several;
2. one with a usual name, such as `item`, `task` or `question_id`;
3. an index of pandas, unless it only counts the rows;
4. one with another name for items, such as `text` or `filename`;
5. for true labels, the only column with another name in each row;
6. an index that only counts the rows, 0, 1, 2, …

If nothing does, the places of the rows are the items. In a table with a row for each answer, the column must also tell
the answers of a member apart. Two columns that may be meant and differ are asked for, never guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, final

from consilience.data.axes import Axis, short, some
from consilience.data.names import is_whole
from consilience.data.tables.columns import Column, Columns
from consilience.data.tables.told import ITEM, LABEL, TRUTH, Role, Told, names_of, options, say_columns, unclear
from consilience.system.errors import InvalidPredictions, Say

NEARLY_ALL = 0.9
"""A column of items must tell a member's rows apart at least this well, compared with the column that does it best."""

ANSWERS_PER_ITEM, MUCH_FINER = 1.5, 2
"""A column without a usual name holds items if each has so many answers, unless another column that tells members'
rows apart has not even so many times as many values."""


# ---- tables with a row for each item --------------------------------------------------------------------------


def item_of_rows(columns: Columns, told: Told, *, are_truths: bool = False) -> Column | None:
    """The column that names the items, by the order above; None if the places of the rows do."""
    named = [] if told.item is None else [columns.told(told.item)]
    found = named or usual_items(columns, are_truths=are_truths)
    exact = [] if are_truths else named or [own for own in _called(columns) if own.is_exact("item")]
    repeated = [own for own in exact if own.repeats]
    if repeated and told.member is None and (named or all(own.is_unnamed for own in found)):
        raise without_members(columns, repeated[0])
    return next(iter((*found, *repeated)), None) or _counting(columns, are_truths=are_truths)


def _counting(columns: Columns, *, are_truths: bool) -> Column | None:
    """An index that only counts the rows. It would match labels by the number of the row: any names go before it."""
    counting = [own for own in columns.flat if (own.is_count if are_truths else own.is_unnamed)]
    others = unusual(columns) if are_truths and counting else []
    if len(others) > 1:
        raise InvalidPredictions(
            f"one column must name the items; {some(names_of(others))} may: say {options('item', *others)}"
        )
    return next(iter((*others, *counting)), None)


def usual_items(columns: Columns, *, are_truths: bool) -> list[Column]:
    """The columns that are called as items are, the surest first. An item may have several true labels.

    Raises if two columns of ids, such as `id` and `question_id`, may name the items and are not the same.
    """
    if are_truths:
        named = [own for own in columns.called("item") if not own.is_count]
    else:
        named = [own for own in _called(columns) if not own.repeats and (own.is_complete or own.is_exact("item"))]
    ids = [own for own in named if own.is_id]
    for other in ids[1:]:
        if other.rows() != ids[0].rows():
            raise unclear("item", ids[0], other)
    usual = [own for own in named if own.is_exact("item")]
    index = [own for own in _index(columns) if not own.repeats]
    return list(dict.fromkeys((*usual, *index, *named, *_index(columns))))


def unusual(columns: Columns) -> list[Column]:
    """The columns beside that of labels that have a name for each row, although they are not called so."""
    return [own for own in _beside_labels(columns) if own.role is None and own.are_names]


def columns_naming(items: Axis, columns: Columns) -> list[Column]:
    """The columns beside that of labels with the name of an item in each row.

    Numbers must also tell the rows apart: a grade from 1 to 5 names none of 30 items.
    """
    named = [own for own in _beside_labels(columns) if own.first_missing is None and items.has_all(own.coded.values)]
    return [own for own in named if own.are_names or not all(map(is_whole, own.coded.values))]


def _beside_labels(columns: Columns) -> list[Column]:
    label = label_of_truths(columns)
    return [own for own in columns.flat if own is not label and not own.is_count]


def label_of_truths(columns: Columns, item: Column | None = None) -> Column | None:
    """The column of true labels: the only one beside the items, or one with a usual name, those for truths first."""
    others = columns.kept(own.name for own in columns.all if own is not item and not own.is_unnamed)
    true, said = ([own for own in others.all if own.role == role] for role in ("truth", "label"))
    usual_true, usual = others.usual([name for name in TRUTH if name not in LABEL]), others.usual(LABEL)
    only = others.all if len(others) == 1 else []
    return next((own for own in (*only, usual_true, *true, usual, *said) if own is not None), None)


def columns_of_labels(columns: Columns, told: Told) -> tuple[Column | None, Column]:
    """The column of items, if there is one, and that of labels."""
    item = item_of_rows(columns, told, are_truths=True)
    label = label_of_truths(columns, item) if told.label is None else columns.told(told.label)
    if label is None:
        raise InvalidPredictions(f"it must have a column of labels, one of {some(TRUTH)}; it has {some(list(columns))}")
    ids = [own for own in columns.all if own is not label and not own.is_unnamed and own.are_ids]
    if item is None and ids:
        raise may_name_items(ids)
    if len(columns) == 1 and label.name in label.names:
        raise InvalidPredictions(
            f"a table of labels must have a header; its first line, {label.name!r}, is a label itself: put one first"
        )
    return item, label


def may_name_items(ids: Sequence[Column]) -> InvalidPredictions:
    """A table would be matched by the places of its rows although columns may name its items."""
    return InvalidPredictions(
        f"a column must name the items, or none; {', '.join(map(short, names_of(ids[:6])))}, with another value "
        f"in each row, may: say {options('item', *ids)} if it does, or leave it out if rows are in the same order "
        "everywhere"
    )


def _index(columns: Columns) -> list[Column]:
    return [own for own in columns.flat if own.is_unnamed and not own.counts_rows]


def _called(columns: Columns) -> list[Column]:
    return [own for own in columns.called("item") if not own.are_measured]


# ---- tables with a row for each answer ------------------------------------------------------------------------


def item_of_answers(columns: Columns, told: Told, members: list[Column]) -> Column | None:
    """The column of items beside one of these members; None if the table may have a row for each item."""
    names = [own for own in _called(columns) if own not in members]
    if told.item is not None:
        item = columns.told(told.item)
        return item if item.repeats or _is_long(columns, told, members[0], is_nameless=False) else None
    repeating = [own for own in names if own.repeats]
    if repeating:
        return _finest(columns, repeating, members[0])
    found = _by_content(columns, members) if told.member is not None or columns.called("label") else None
    is_long = _is_long(columns, told, members[0], is_nameless=not names)
    return found if found is not None or not is_long else _first_named(columns, names, members)


def _is_long(columns: Columns, told: Told, member: Column, *, is_nameless: bool) -> bool:
    """Whether rows are answers: a column such as `worker` stands beside labels, or beside two columns of numbers."""
    is_exact, has_label = member.is_exact("member"), bool(columns.called("label"))
    numbers = [own for own in columns.others() if own.role not in ("item", "member") and own.has_plain_numbers]
    is_usual = is_exact and (has_label or len(numbers) > 1)
    return told.member is not None or is_usual or (is_nameless and (is_exact or has_label))


def _first_named(columns: Columns, names: list[Column], members: list[Column]) -> Column:
    """The first column that is called as items are, else an index of names that repeat."""
    named = names or [own for own in _index(columns) if own not in members and own.repeats]
    if not named:
        raise without_items(columns, members)
    return named[0]


def _by_content(columns: Columns, members: list[Column]) -> Column | None:
    """The column whose values several members share, while hardly any member has one twice; None if none does."""
    n_rows = columns.n_rows
    possible = [
        own
        for own in columns.flat
        if own not in members and own.role in (None, "item") and own.is_complete and not own.has_fractions
        if ANSWERS_PER_ITEM * len(own.given) <= n_rows and NEARLY_ALL * n_rows <= columns.n_pairs(own, members[0])
    ]
    fewest = min((len(own.given) for own in possible), default=0)
    coarse = [own for own in possible if len(own.given) < MUCH_FINER * fewest]
    return the_only(columns, "item", [own for own in coarse if own.is_id] or coarse) if coarse else None


def _finest(columns: Columns, items: list[Column], member: Column) -> Column:
    """The first column of items that tells the rows of a member apart as well as any other."""
    n_apart = {own: columns.n_pairs(own, member) if len(items) > 1 else 0 for own in items}
    most = NEARLY_ALL * max(n_apart.values())
    first, *others = [own for own in items if n_apart[own] >= most]
    for other in others:
        is_finer = columns.n_pairs(first, other) not in (columns.n_pairs(first), columns.n_pairs(other))
        if is_finer and first.is_exact("item") == other.is_exact("item"):
            raise unclear("item", first, other)
    return first


def the_only(columns: Columns, role: Role, found: list[Column]) -> Column:
    """The first of several columns that say the same; raises if they do not."""
    first = found[0]
    n_apart = {own: {columns.n_pairs(first), columns.n_pairs(own), columns.n_pairs(first, own)} for own in found[1:]}
    differing = [own for own, counts in n_apart.items() if len(counts) > 1]
    if differing:
        raise unclear(role, first, *differing)
    return first


def without_items(columns: Columns, members: list[Column]) -> InvalidPredictions:
    """Members are named, and no column of items is found."""
    taken = (*members, *columns.called("label"), *columns.called("score"))
    guesses = [own for own in columns.flat if own.repeats and own not in taken]
    return InvalidPredictions(
        f"a table with the members in {members[0].name!r} needs a column of items, such as {some(ITEM[:3])}; it has "
        f"{some(list(columns))}: name it{options('item', *guesses, before=', as ')}"
    )


def without_members(columns: Columns, item: Any) -> InvalidPredictions:
    """Items are named again and again, and no column of members is found."""
    others, labels = [own for own in columns.flat if own is not item], columns.called("label")
    guesses = [own for own in others if own.repeats and not own.has_fractions and own.varies and own not in labels]
    return InvalidPredictions(
        f"column {item.name!r} names items more than once, so each row is one answer, and a column must say whose; "
        f"none of {some(names_of(others))} has a usual name: name it{options('member', *guesses, before=', as ')}"
    )


# ---- all roles ------------------------------------------------------------------------------------------------


class Roles(NamedTuple):
    """The columns of items, of members (None in a wide table) and of labels."""

    item: Column | None
    member: Column | None
    label: Column | None


def roles_of(columns: Columns, told: Told | None = None) -> Roles:
    """The roles of a table's columns: as the user says, else by their names and values; raises if that is not clear.

    If the user names classes, they are other columns of the table.
    """
    told = told or Told()
    if told.item is not None and told.item == told.member:
        raise InvalidPredictions(f"item and member must be different columns; got {told.item!r} for both")
    for own in columns.all:
        role = own.role if own.role in ("item", "member") else None
        if role and own.is_exact(role) and getattr(told, role) is None and not columns.called(role):
            own.check_is_flat()
    return _Decision(columns.kept(own.name for own in columns.flat if isinstance(own.name, str)), told).roles()


@final
class _Decision:
    """The steps of `roles_of`."""

    def __init__(self, columns: Columns, told: Told) -> None:
        self.columns, self.told = columns, told

    def roles(self) -> Roles:
        members = self._members()
        item = item_of_answers(self.columns, self.told, members) if members else None
        if item is None:
            return self._wide()
        member = the_only(self.columns, "member", [own for own in members if own is not item])
        self._check_judged(item, member)
        return Roles(item, member, self._label(item, member))

    # ---- long tables ----------------------------------------------------------------------------------------

    def _members(self) -> list[Column]:
        """The columns that may name the members of a long table. Who judges comes before what is judged."""
        told = self.told.member
        if told is not None:
            is_list = told not in self.columns and all(name.strip() in self.columns for name in told.split(","))
            return [] if is_list else [self.columns.told(told)]  # a list names the columns of a wide table
        found = [own for own in self.columns.called("member") if own.is_exact("member") or own.repeats]
        found = [own for own in found if own.name != self.told.item]
        found = [own for own in found if not own.is_judged] or found
        return [own for own in found if own.varies] or found

    def _check_judged(self, item: Column, member: Column) -> None:
        """Raise if a judge answers an item several times, once for each model that is judged."""
        columns, n_pairs = self.columns, self.columns.n_pairs
        judged = [own for own in columns.called("member") if own not in (item, member) and own.is_judged]
        if self.told.item is not None or not judged or member.is_judged:
            return
        n_apart = n_pairs(item, member, judged[0])
        if n_apart > n_pairs(item, member):
            others = columns.others(item, member, judged[0], *columns.called("label"), *columns.called("score"))
            plain = [own for own in others if own.are_labels and own.is_complete]
            finer = [item, *judged, *(own for own in plain if n_pairs(item, member, judged[0], own) > n_apart)]
            joined = [finer[: place + 1] for place in range(len(finer))]
            usual = [*joined[1:], joined[0]]  # the plain item is answered several times: possible, and hardly meant
            raise InvalidPredictions(
                f"one item must have one answer of a member; {member.name!r} answers {item.name!r} once for each "
                f"{judged[0].name!r}: say {options('item', *usual)}; if those who are judged are the members, say "
                f"{Say('member', judged[0].name)} as well as {Say('item', item.name)}"
            )

    # ---- labels -----------------------------------------------------------------------------------------------

    def _label(self, item: Column | None, member: Column | None) -> Column | None:
        if self.told.label is not None:
            return self.columns.told(self.told.label)
        others = self.columns.kept(names_of(self.columns.others(item, member)))
        named, plausible = others.called("label"), [own for own in others.called("label") if own.are_labels]
        scores = [] if member is None else [own for own in others.called("score") if own.are_labels]
        is_topic = self._describe(item, plausible, scores)
        if plausible and not is_topic:
            return the_only(self.columns, "label", plausible)
        usual = [own for own in named[:1] if own.is_exact("label")]
        if usual and is_topic:
            raise unclear("label", *usual, scores[0])
        # Whoever reads a usual column says what is wrong with it.
        return usual[0] if usual else self._score(scores, item, member)

    def _describe(self, item: Column | None, names: list[Column], scores: list[Column]) -> bool:
        """Whether columns say the same of an item in all rows, as its topic does, while scores differ."""
        n_items = self.columns.n_pairs(item) if names and scores else 0
        fixed, differing = ([self.columns.n_pairs(item, own) == n_items for own in found] for found in (names, scores))
        return bool(n_items) and all(fixed) and not all(differing)

    def _score(self, scores: list[Column], *taken: Column | None) -> Column | None:
        """The column of scores, if these are the labels of a long table."""
        n_fractions = sum(own.has_fractions for own in self.columns.flat if own not in taken)
        if not scores or n_fractions > 1:
            return None
        # Columns of a few words that depend on item and member, as labels do, though their names do not say so.
        others = [own for own in self.columns.others(*taken) if own.role is None and own.are_labels and own.varies]
        words = [own for own in others if not own.has_plain_numbers]
        verdicts = [
            own for own in words if all(self.columns.n_pairs(own, by) > len(by.given) for by in filter(None, taken))
        ]
        if verdicts:
            raise unclear("label", *verdicts, *scores)
        return the_only(self.columns, "label", scores)

    # ---- wide tables ----------------------------------------------------------------------------------------

    def _wide(self) -> Roles:
        item = item_of_rows(self.columns, self.told)
        label = self._label(item, None) if self._is_of_one_member(item) else None
        if label is not None and (item is None or item.is_count):
            self._check_rows_are_items(label)
        return Roles(item, None, label)

    def _check_rows_are_items(self, label: Column) -> None:
        """Raise if rows without names of items are answers: several members are named, or items again and again."""
        members = [own for own in self.columns.called("member") if own is not label and own.repeats and own.varies]
        if members:
            raise without_items(self.columns, members)
        for own in self.columns.called("item"):
            many = ANSWERS_PER_ITEM * max(1, len(own.given))
            if own is not label and not own.are_measured and own.n_given >= many:
                raise without_members(self.columns, own)

    def _is_of_one_member(self, item: Column | None) -> bool:
        """Whether only one column may hold labels; raises if a column `label` stands beside others like it."""
        if self.told.member is not None or self.told.classes is not None:
            return False
        names = [own for own in self.columns.called("label") if own is not item and own.are_labels]
        if self.told.label is not None or not names:
            return True
        others = [own for own in self.columns.others(item, names[0]) if own.role not in ("truth", "other")]
        alike = [own for own in others if _share_labels(own, names[0])]
        if alike and names[0].is_exact("label"):
            raise one_or_several(names[0], alike)
        return not alike


def _share_labels(one: Column, other: Column) -> bool:
    return one.are_labels and bool(set(map(str, one.given)) & set(map(str, other.given)))


def check_no_members(columns: Columns, item: Column | None, label: Column) -> None:
    """Raise if columns beside that of labels may hold the scores of which it is the best, or other members' labels."""
    said = set(map(str, label.given))
    named = [own for own in columns.all if str(own.name) in said]
    if len(named) > 1:
        raise InvalidPredictions(
            f"columns {some(list(map(str, names_of(named))))} have the names of labels in {label.name!r}, so they may "
            f"hold one member's scores: say {say_columns('classes', named)} to read those, or "
            f"{Say('label', str(label.name))} to read the labels alone"
        )
    others = [own for own in columns.others(item, label) if isinstance(own.name, str) and own.role is None]
    others = [own for own in others if own.are_labels and own.repeats]
    alike = [own for own in others if any(_share_labels(own, other) for other in others if other is not own)]
    if alike:
        raise one_or_several(label, alike)


def one_or_several(label: Column, members: Sequence[Column]) -> InvalidPredictions:
    """A column of labels stands beside others."""
    return InvalidPredictions(
        f"one column of labels is one member's, several are several members'; {label.name!r} stands beside "
        f"{some(names_of(members))}: say {Say('label', label.name)}, or {say_columns('member', members)} for the others"
    )
