"""Which column names the items.

In a table with a row for each item, whether it holds answers or true labels, the first of these does:

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

from typing import TYPE_CHECKING, Any

from consilience.data.axes import short, some
from consilience.data.names import is_whole
from consilience.data.tables.told import ITEM, LABEL, TRUTH, is_id, names_of, options, unclear
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from consilience.data.axes import Axis
    from consilience.data.tables.columns import Column, Columns
    from consilience.data.tables.told import Role, Told

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
    repeated = named or [own for own in _called(columns) if own.is_exact("item")]
    repeated = [own for own in repeated if own.repeats and not are_truths]
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
    """The columns that are called as items are, the surest first. An item may have several true labels."""
    found = columns.called("item") if are_truths else _called(columns)
    fitting = [own for own in found if not own.repeats and (own.is_complete or own.is_exact("item"))]
    named = [own for own in found if not own.is_count] if are_truths else fitting
    check_one_id(named)
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


def may_name_items(ids: Sequence[Column]) -> InvalidPredictions:
    """A table would be matched by the places of its rows although columns may name its items."""
    return InvalidPredictions(
        f"a column must name the items, or none; {', '.join(map(short, names_of(ids[:6])))}, with another value "
        f"in each row, may: say {options('item', *ids)} if it does, or leave it out if rows are in the same order "
        "everywhere"
    )


def check_one_id(items: Iterable[Column]) -> None:
    """Raise if two columns of ids, such as `id` and `question_id`, may name the items and are not the same."""
    ids = [own for own in items if is_id(own.name)]
    for other in ids[1:]:
        if other.rows() != ids[0].rows():
            raise unclear("item", ids[0], other)


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
    return the_only(columns, "item", [own for own in coarse if is_id(own.name)] or coarse) if coarse else None


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
