"""Decide which columns of a table hold the items, the members and the answers, by their names and by their values.

A table is *long* if each row is one answer: a column names the item, another the member. It is *wide* if each row is
one item. Where names and values leave two readings open, `roles_of` refuses and says what to name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, final

from consilience.data.axes import some
from consilience.data.tables.refusal import options, unclear
from consilience.data.tables.told import Told
from consilience.data.tables.vocabulary import (
    ITEM,
    UNNAMED,
    Role,
    called,
    column_named,
    is_exact,
    is_id,
    is_judged,
    role_of,
)
from consilience.system.errors import InvalidPredictions, Say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consilience.data.tables.columns import Columns

NEARLY_ALL = 0.9
"""A column of items must tell a member's rows apart at least this well, compared with the column that does it best."""

ANSWERS_PER_ITEM, MUCH_FINER = 1.5, 2
"""A column without a usual name holds items if each has so many answers, unless another column that tells members'
rows apart has not even so many times as many values."""


class Roles(NamedTuple):
    """The columns of items, of members (None in a wide table) and of labels."""

    item: str | None
    member: str | None
    label: str | None


def roles_of(columns: Columns, told: Told | None = None) -> Roles:
    """The roles of a table's columns: as the user says, else by their names and values; raises if that is not clear.

    If the user names classes, they are other columns of the table.
    """
    told, named = told or Told(), [name for name in columns.flat if isinstance(name, str)]
    if told.item is not None and told.item == told.member:
        raise InvalidPredictions(f"item and member must be different columns; got {told.item!r} for both")
    given: dict[Role, str | None] = {"item": told.item, "member": told.member}
    for role, own in given.items():
        if own is None and not called(named, role):
            _check_flat(columns, role)
    return _Decision(columns.kept(named), told).roles()


def _check_flat(columns: Columns, role: Role) -> None:
    """Raise if the column with the usual name of a role holds lists, which are no names."""
    for name in called([name for name in columns if columns[name].cells is not None], role):
        if is_exact(name, role):
            columns[name].check_is_flat()


def check_one_id(columns: Columns, items: Sequence[str]) -> None:
    """Raise if two columns of ids, such as `id` and `question_id`, may name the items and are not the same."""
    first, *others = [name for name in items if is_id(name)] or [""]
    for other in others:
        if (
            columns[other].coded.values != columns[first].coded.values
            or (columns[other].coded.codes != columns[first].coded.codes).any()
        ):
            raise unclear(columns, "item", [first, other], joined=True)


@final
class _Decision:
    """The steps of `roles_of`."""

    def __init__(self, columns: Columns, told: Told) -> None:
        self.columns, self.told = columns, told

    def roles(self) -> Roles:
        members = self._members()
        item = None if not members else self._item_of_answers(members)
        if item is None:
            return self._wide()
        member = self._the_only("member", [name for name in members if name != item])
        self._check_judged(item, member)
        return Roles(item, member, self._label(item, member))

    # ---- long tables ----------------------------------------------------------------------------------------

    def _members(self) -> list[str]:
        """The columns that may name the members of a long table. Who judges comes before what is judged."""
        told = self.told.member
        if told is not None:
            if told not in self.columns and all(name.strip() in self.columns for name in told.split(",")):
                return []  # the columns of a wide table
            return [str(column_named(list(self.columns), told))]
        found = [name for name in self._called("member") if is_exact(name, "member") or self.columns[name].repeats]
        found = [name for name in found if not is_judged(name)] or found
        return [name for name in found if len(self.columns[name].given) > 1] or found

    def _check_judged(self, item: str, member: str) -> None:
        """Raise if a judge answers an item several times, once for each model that is judged."""
        judged = [name for name in self._called("member") if name not in (item, member) and is_judged(name)]
        if self.told.item is not None or not judged or is_judged(member):
            return
        if self.columns.n_pairs(item, member, judged[0]) > self.columns.n_pairs(item, member):
            finer = [*judged, *self._telling_apart(item, member, judged[0])]
            names = [item, *("+".join([item, *finer[: place + 1]]) for place in range(len(finer)))]
            raise InvalidPredictions(
                f"one item must have one answer of a member; {member!r} answers {item!r} once for each {judged[0]!r}: "
                "say ",
                *options(self.columns, "item", names),
                ", or ",
                Say("member", judged[0]),
                f" and {item!r} if those are the members",
            )

    def _telling_apart(self, *names: str) -> list[str]:
        """The columns of few values that tell rows apart which have the same values in these columns."""
        labels = [*self._called("label"), *self._called("score")]
        others = [name for name in self.columns if name not in (*names, *labels, *UNNAMED)]
        plain = [name for name in others if self.columns[name].are_labels and self.columns[name].is_complete]
        apart = self.columns.n_pairs(*names)
        return [name for name in plain if self.columns.n_pairs(*names, name) > apart]

    def _item_of_answers(self, members: list[str]) -> str | None:
        """The column of items of a long table; None if the table may be wide."""
        if self.told.item is not None:
            item = str(column_named(list(self.columns), self.told.item))
            is_long = self.told.member is not None or self.columns[item].repeats or self._has_usual_members(members)
            return item if is_long else None
        names = [name for name in self._called("item") if name not in members]
        repeating = [name for name in names if self.columns[name].repeats]
        if repeating:
            return self._finest(repeating, members[0])
        is_certain, has_label = self.told.member is not None, bool(self._called("label"))
        if (is_certain or has_label) and (found := self._items_by_content(members)) is not None:
            return found
        is_usual = self._has_usual_members(members) or (not names and (is_exact(members[0], "member") or has_label))
        if not (is_certain or is_usual):
            return None
        index = [name for name in self.columns if name in UNNAMED and not self.columns[name].counts_rows]
        if not names and not index:
            raise self._without_items(members)
        return (names or index)[0]

    def _without_items(self, members: list[str]) -> InvalidPredictions:
        guesses = [name for name in self.columns if self.columns[name].repeats and name not in members]
        return InvalidPredictions(
            f"a table with the members in {members[0]!r} needs a column of items, such as {some(ITEM[:3])}; "
            f"it has {some(list(self.columns))}: name it",
            *([", as ", *options(self.columns, "item", guesses)] if guesses else []),
        )

    def _has_usual_members(self, members: list[str]) -> bool:
        """Whether a column such as `worker` stands beside answers: a column of labels, or two of numbers."""
        if not is_exact(members[0], "member"):
            return False
        others = [name for name in self.columns if role_of(name) not in ("item", "member") and name not in UNNAMED]
        return bool(self._called("label")) or sum(self.columns[name].is_number for name in others) > 1

    def _items_by_content(self, members: list[str]) -> str | None:
        """The column whose values several members share, while hardly any member has one twice; None if none does."""
        member, n_rows = members[0], self.columns.n_rows
        possible = [name for name in self.columns if name not in members and role_of(name) in (None, "item")]
        possible = [
            name
            for name in possible
            if self.columns[name].is_complete and not self.columns[name].has_fractions
            if ANSWERS_PER_ITEM * len(self.columns[name].given) <= n_rows
            if NEARLY_ALL * n_rows <= self.columns.n_pairs(name, member)
        ]
        if not possible:
            return None
        sizes = {name: len(self.columns[name].given) for name in possible}
        coarse = [name for name in possible if sizes[name] < MUCH_FINER * min(sizes.values())]
        return self._the_only("item", [name for name in coarse if is_id(name)] or coarse)

    def _finest(self, items: list[str], member: str) -> str:
        """The first column of items that tells the rows of a member apart as well as any other."""
        if len(items) == 1:
            return items[0]
        n_apart = {name: self.columns.n_pairs(name, member) for name in items}
        most = NEARLY_ALL * max(n_apart.values())
        first, *others = [name for name in items if n_apart[name] >= most]
        for other in others:
            is_finer = self.columns.n_pairs(first, other) not in (
                self.columns.n_pairs(first),
                self.columns.n_pairs(other),
            )
            if is_finer and is_exact(first, "item") == is_exact(other, "item"):
                raise unclear(self.columns, "item", [first, other], joined=True)
        return first

    # ---- labels -----------------------------------------------------------------------------------------------

    def _label(self, item: str | None, member: str | None) -> str | None:
        if self.told.label is not None:
            return column_named(list(self.columns), self.told.label)
        taken = {item, member}
        names = [name for name in self._called("label") if name not in taken]
        plausible = [name for name in names if self.columns[name].are_labels]
        scores = [name for name in self._called("score") if name not in taken and self.columns[name].are_labels]
        is_topic = bool(plausible) and member is not None and self._describe(item, plausible, scores)
        if plausible and not is_topic:
            return self._the_only("label", plausible)
        if names and is_exact(names[0], "label"):
            if is_topic:
                raise unclear(self.columns, "label", [names[0], scores[0]])
            return names[0]  # whoever reads it says what is wrong with it
        return None if member is None else self._score(scores, taken)

    def _score(self, scores: list[str], taken: set[str | None]) -> str | None:
        """The column of scores, if these are the labels of a long table."""
        n_fractions = sum(self.columns[name].has_fractions for name in self.columns if name not in taken)
        if not scores or n_fractions > 1:
            return None
        if verdicts := self._verdicts(taken):
            raise unclear(self.columns, "label", [*verdicts, *scores])
        return self._the_only("label", scores)

    def _describe(self, item: str | None, names: list[str], scores: list[str]) -> bool:
        """Whether columns say the same of an item in all rows, as its topic does, while scores differ."""
        n_items = self.columns.n_pairs(item)
        is_fixed = {name: self.columns.n_pairs(item, name) == n_items for name in (*names, *scores)}
        return all(is_fixed[name] for name in names) and not all(is_fixed[name] for name in scores)

    def _verdicts(self, taken: set[str | None]) -> list[str]:
        """Columns of a few words that depend on item and member, as labels do, though their names do not say so."""
        others = [name for name in self.columns if name not in taken and role_of(name) is None and name not in UNNAMED]
        return [
            name
            for name in others
            if self.columns[name].are_labels and len(self.columns[name].given) > 1 and not self.columns[name].is_number
            if all(self.columns.n_pairs(name, own) > len(self.columns[own].given) for own in taken if own is not None)
        ]

    def _the_only(self, role: Role, names: list[str]) -> str:
        """The first of several columns that say the same; raises if they do not."""
        first, *others = names
        differing = [
            other
            for other in others
            if {self.columns.n_pairs(first), self.columns.n_pairs(other)} != {self.columns.n_pairs(first, other)}
        ]
        if differing:
            raise unclear(self.columns, role, [first, *differing], joined=role == "item")
        return first

    # ---- wide tables ----------------------------------------------------------------------------------------

    def _wide(self) -> Roles:
        item = self._told_item_of_rows() if self.told.item is not None else self._item_of_rows()
        label = self._label(item, None) if self._is_of_one_member(item) else None
        if label is not None and (item is None or self.columns[item].is_count):
            self._check_rows_are_items(label)
        return Roles(item, None, label)

    def _check_rows_are_items(self, label: str) -> None:
        """Raise if rows without names of items are answers: several members are named, or items again and again."""
        members = [name for name in self._called("member") if name != label and self.columns[name].repeats]
        members = [name for name in members if len(self.columns[name].given) > 1]
        if members:
            raise self._without_items(members)
        items = [name for name in self._called("item") if name != label]
        for name in items:
            if self.columns[name].n_given >= ANSWERS_PER_ITEM * max(1, len(self.columns[name].given)):
                raise self._without_members(name)

    def _told_item_of_rows(self) -> str | None:
        item = column_named(list(self.columns), self.told.item)
        if item is not None and self.columns[item].repeats and self.told.member is None:
            raise self._without_members(item)
        return item

    def _item_of_rows(self) -> str | None:
        names = self._called("item")
        alone = [
            name
            for name in names
            if not self.columns[name].repeats and (self.columns[name].is_complete or is_exact(name, "item"))
        ]
        repeated = [name for name in names if is_exact(name, "item") and self.columns[name].repeats]
        if not alone and repeated and self.told.member is None:
            raise self._without_members(repeated[0])
        index = [name for name in self.columns if name in UNNAMED]
        names_items = [name for name in index if not self.columns[name].counts_rows]
        exact = [name for name in alone if is_exact(name, "item")]
        check_one_id(self.columns, alone)
        return next(iter((*exact, *names_items, *alone, *repeated, *index)), None)

    def _is_of_one_member(self, item: str | None) -> bool:
        """Whether only one column may hold labels; raises if a column `label` stands beside others like it."""
        if self.told.label is not None or self.told.member is not None or self.told.classes is not None:
            return self.told.member is None and self.told.classes is None
        names = [name for name in self._called("label") if name != item and self.columns[name].are_labels]
        others = [
            name for name in self.columns if name not in (item, *UNNAMED) and role_of(name) not in ("truth", "other")
        ]
        alike = [
            name
            for name in others
            if names and name != names[0] and self.columns[name].are_labels
            if set(map(str, self.columns[name].given)) & set(map(str, self.columns[names[0]].given))
        ]
        if names and alike and is_exact(names[0], "label"):
            raise one_or_several(names[0], alike)
        return not alike

    def _without_members(self, item: str) -> InvalidPredictions:
        others = [name for name in self.columns if name != item]
        guesses = [
            name
            for name in others
            if self.columns[name].repeats and not self.columns[name].has_fractions and len(self.columns[name].given) > 1
        ]
        return InvalidPredictions(
            f"column {item!r} names items more than once, so each row is one answer, and a column must say whose; "
            f"none of {some(others)} has a usual name: name it",
            *([", as ", *options(self.columns, "member", guesses)] if guesses else []),
        )

    def _called(self, role: Role) -> list[str]:
        found = called(list(self.columns), role)
        return [name for name in found if not self.columns[name].are_measured] if role == "item" else found


def check_no_members(columns: Columns, roles: Roles) -> None:
    """Raise if columns beside the one that was taken for labels, such as `category`, have labels in common."""
    if roles.label is None:
        return
    others = [name for name in columns.flat if name not in (roles.item, roles.label, *UNNAMED)]
    others = [name for name in others if isinstance(name, str) and role_of(name) is None]
    said = {
        name: set(map(str, columns[name].given))
        for name in others
        if columns[name].are_labels and columns[name].repeats
    }
    alike = [name for name in said if any(said[name] & said[other] for other in said if other != name)]
    if alike:
        raise one_or_several(roles.label, alike)


def one_or_several(label: str, members: list[str]) -> InvalidPredictions:
    """A column of labels stands beside others."""
    return InvalidPredictions(
        f"one column of labels is one member's, several are several members'; {label!r} stands beside "
        f"{some(members)}: say ",
        Say("label", label),
        ", or ",
        Say("member", ",".join(members)),
        " for the others",
    )
