"""Decide which columns of a table hold the items, the members and the answers, by their names and by their values.

A table is *long* if each row is one answer: a column names the item, another the member. It is *wide* if each row is
one item. Where names and values leave two readings open, `roles_of` refuses and says what to name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, final

from consilience.data.axes import some
from consilience.data.tables import items
from consilience.data.tables.told import Told, is_judged, names_of, options, say_members, unclear
from consilience.system.errors import InvalidPredictions, Say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consilience.data.tables.columns import Column, Columns
    from consilience.data.tables.told import Role


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
    given: dict[Role, str | None] = {"item": told.item, "member": told.member}
    for role, own in given.items():
        for column in columns.all if own is None and not columns.called(role) else ():
            if column.role == role and column.is_exact(role):
                column.check_is_flat()
    return _Decision(columns.kept(own.name for own in columns.flat if isinstance(own.name, str)), told).roles()


@final
class _Decision:
    """The steps of `roles_of`."""

    def __init__(self, columns: Columns, told: Told) -> None:
        self.columns, self.told = columns, told

    def roles(self) -> Roles:
        members = self._members()
        item = items.item_of_answers(self.columns, self.told, members) if members else None
        if item is None:
            return self._wide()
        member = items.the_only(self.columns, "member", [own for own in members if own is not item])
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
        found = [own for own in found if not is_judged(own.name)] or found
        return [own for own in found if own.varies] or found

    def _check_judged(self, item: Column, member: Column) -> None:
        """Raise if a judge answers an item several times, once for each model that is judged."""
        judged = [own for own in self.columns.called("member") if own not in (item, member) and is_judged(own.name)]
        if self.told.item is not None or not judged or is_judged(member.name):
            return
        n_apart = self.columns.n_pairs(item, member, judged[0])
        if n_apart > self.columns.n_pairs(item, member):
            labels = [*self.columns.called("label"), *self.columns.called("score")]
            others = self.columns.others(item, member, judged[0], *labels)
            plain = [own for own in others if own.are_labels and own.is_complete]
            finer = [own for own in plain if self.columns.n_pairs(item, member, judged[0], own) > n_apart]
            finer = [item, *judged, *finer]
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
            return items.the_only(self.columns, "label", plausible)
        usual = [own for own in named[:1] if own.is_exact("label")]
        if usual and is_topic:
            raise unclear("label", *usual, scores[0])
        # Whoever reads a usual column says what is wrong with it.
        return usual[0] if usual else self._score(scores, item, member)

    def _score(self, scores: list[Column], *taken: Column | None) -> Column | None:
        """The column of scores, if these are the labels of a long table."""
        n_fractions = sum(own.has_fractions for own in self.columns.flat if own not in taken)
        if not scores or n_fractions > 1:
            return None
        # Columns of a few words that depend on item and member, as labels do, though their names do not say so.
        others = [own for own in self.columns.others(*taken) if own.role is None and own.are_labels and own.varies]
        verdicts = [
            own
            for own in others
            if not own.has_plain_numbers
            and all(self.columns.n_pairs(own, by) > len(by.given) for by in taken if by is not None)
        ]
        if verdicts:
            raise unclear("label", *verdicts, *scores)
        return items.the_only(self.columns, "label", scores)

    def _describe(self, item: Column | None, names: list[Column], scores: list[Column]) -> bool:
        """Whether columns say the same of an item in all rows, as its topic does, while scores differ."""
        if not names or not scores:
            return False
        n_items = self.columns.n_pairs(item)
        fixed, differing = ([self.columns.n_pairs(item, own) == n_items for own in found] for found in (names, scores))
        return all(fixed) and not all(differing)

    # ---- wide tables ----------------------------------------------------------------------------------------

    def _wide(self) -> Roles:
        item = items.item_of_rows(self.columns, self.told)
        label = self._label(item, None) if self._is_of_one_member(item) else None
        if label is not None and (item is None or item.is_count):
            self._check_rows_are_items(label)
        return Roles(item, None, label)

    def _check_rows_are_items(self, label: Column) -> None:
        """Raise if rows without names of items are answers: several members are named, or items again and again."""
        members = [own for own in self.columns.called("member") if own is not label and own.repeats and own.varies]
        if members:
            raise items.without_items(self.columns, members)
        for own in self.columns.called("item"):
            many = items.ANSWERS_PER_ITEM * max(1, len(own.given))
            if own is not label and not own.are_measured and own.n_given >= many:
                raise items.without_members(self.columns, own)

    def _is_of_one_member(self, item: Column | None) -> bool:
        """Whether only one column may hold labels; raises if a column `label` stands beside others like it."""
        if self.told.label is not None or self.told.member is not None or self.told.classes is not None:
            return self.told.member is None and self.told.classes is None
        names = [own for own in self.columns.called("label") if own is not item and own.are_labels]
        others = [own for own in self.columns.others(item, *names[:1]) if own.role not in ("truth", "other")]
        alike = [own for own in others if names and own.are_labels and _share_values(own, names[0])]
        if alike and names[0].is_exact("label"):
            raise one_or_several(names[0], alike)
        return not alike


def _share_values(one: Column, other: Column) -> bool:
    return bool(set(map(str, one.given)) & set(map(str, other.given)))


def check_no_members(columns: Columns, roles: Roles) -> None:
    """Raise if columns beside the one that was taken for labels, such as `category`, have labels in common."""
    if roles.label is None:
        return
    others = [own for own in columns.others(roles.item, roles.label) if isinstance(own.name, str) and own.role is None]
    others = [own for own in others if own.are_labels and own.repeats]
    alike = [own for own in others if any(_share_values(own, other) for other in others if other is not own)]
    if alike:
        raise one_or_several(roles.label, alike)


def one_or_several(label: Column, members: Sequence[Column]) -> InvalidPredictions:
    """A column of labels stands beside others."""
    return InvalidPredictions(
        f"one column of labels is one member's, several are several members'; {label.name!r} stands beside "
        f"{some(names_of(members))}: say {Say('label', label.name)}, or {say_members(members)} for the others"
    )
