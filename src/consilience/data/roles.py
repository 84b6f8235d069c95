"""Decide which columns of a table hold the items, the members and the answers, by their names and by their values.

A table is *long* if each row is one answer: a column names the item, another the member. It is *wide* if each row is
one item. Where names and values leave two readings open, `roles_of` refuses and says what to name.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, final

from consilience.data.axes import some
from consilience.data.names import NUMBER, UNKNOWN, is_missing
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

Role: TypeAlias = Literal["item", "member", "label", "score", "truth"]

ITEM = ("item", "task", "item_id", "task_id", "id", "example", "question", "document", "image", "index")
MEMBER = ("member", "worker", "annotator", "model", "judge", "rater", "labeler", "user", "worker_id", "annotator_id")
LABEL = ("label", "answer", "vote", "response", "annotation", "prediction", "class", "verdict")
TRUTH = ("labels", "gold", "truth", "true", "target", "targets", "y", *LABEL)
"""Usual names of columns and arrays with these meanings, in order of preference."""

UNNAMED = ("", "Unnamed: 0", "__index_level_0__", "level_0")
"""The names pandas gives an index without a name: in CSV, in CSV read and written again, in Parquet, as a column."""

EXACT: dict[Role, tuple[str, ...]] = {"item": ITEM, "member": MEMBER, "label": LABEL}
LAST_WORDS: dict[Role, frozenset[str]] = {
    "item": frozenset(
        [
            "item",
            "task",
            "example",
            "question",
            "document",
            "doc",
            "image",
            "sample",
            "instance",
            "record",
            "file",
            "filename",
            "filepath",
            "prompt",
            "query",
            "sentence",
            "text",
            "hit",
            "unit",
            "passage",
            "utterance",
            "tweet",
            "article",
            "comment",
            "review",
            "instruction",
            "input",
            "conversation",
            "dialogue",
            "observation",
            "trace",
            "case",
            "row",
            "qid",
            "docid",
            "itemid",
            "taskid",
            "questionid",
            "exampleid",
            "sampleid",
        ]
    ),
    "member": frozenset(
        [
            "member",
            "worker",
            "annotator",
            "model",
            "judge",
            "rater",
            "labeler",
            "labeller",
            "user",
            "coder",
            "reviewer",
            "expert",
            "performer",
            "classifier",
            "network",
            "llm",
            "assessor",
            "evaluator",
            "grader",
            "contributor",
        ]
    ),
    "label": frozenset(
        [
            "label",
            "answer",
            "vote",
            "response",
            "annotation",
            "prediction",
            "class",
            "verdict",
            "judgment",
            "judgement",
            "decision",
            "choice",
            "category",
            "preference",
            "winner",
            "predicted",
            "pred",
            "sentiment",
        ]
    ),
    "score": frozenset(["score", "rating", "grade", "stars", "points", "correct"]),
}
"""The last word of a column's name that tells its role, as in `judge_model`."""

TRUTH_WORDS = frozenset(["gold", "truth", "true", "target", "expected", "reference"])
"""A column with one of these words in its name holds true labels."""

NOT_LAST = frozenset(
    [
        "id",
        "ids",
        "name",
        "key",
        "no",
        "nr",
        "num",
        "number",
        "idx",
        "index",
        "code",
        "uid",
        "uuid",
        "hash",
        "path",
        "email",
    ]
)
"""Words after the one that tells the role, as in `question_id`."""

WORD = re.compile("[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")

FEW, ROWS_PER_VALUE = 20, 10
"""A column of labels has at most so many different values, or one for so many rows."""

MEASURED = re.compile(r"-.*|.*[.,][0-9]{4,}.*|.*[eE].*")
"""How a number is written that is no name, such as -1.5, 0.1234 or 1e-5; versions are called 1.5 or 1.10."""

NEARLY_ALL = 0.9
"""A column of items must tell a member's rows apart at least this well, compared with the column that does it best."""

ANSWERS_PER_ITEM, MUCH_FINER = 1.5, 2
"""A column without a usual name holds items if each has so many answers, unless another column that tells members'
rows apart has not even so many times as many values."""


class Layout(NamedTuple):
    """What the user says about how files are laid out; whatever is None is found out.

    `item`, `member` and `label` name columns of tables. `item` may join several, as in `question+model`; `member` may
    list the columns of a wide table that are members, as in `ann,bob`. `classes` picks the columns of classes in
    tables, and names the classes of arrays. `items` names the items of files without names. `normalize` says that rows
    of numbers are to be divided by their sum. `sources` are the files that names were read from.
    """

    item: str | None = None
    member: str | None = None
    label: str | None = None
    classes: tuple[str, ...] | None = None
    items: tuple[str, ...] | None = None
    normalize: bool = False
    sources: tuple[str, ...] = ()

    @property
    def are_named(self) -> bool:
        """Whether the user named a column of items, members or labels."""
        return (self.item, self.member, self.label) != (None, None, None)


class Roles(NamedTuple):
    """The columns of items, of members (None in a wide table) and of labels."""

    item: str | None
    member: str | None
    label: str | None


def role_of(name: str) -> Role | None:
    """The role that a column's name suggests.

    >>> [role_of(name) for name in ("question_id", "judge_model", "predictedLabel", "gold_label", "annotator_1")]
    ['item', 'member', 'label', 'truth', None]
    """
    words = [word.lower() for word in WORD.findall(name)]
    if not words:
        return None
    if TRUTH_WORDS & set(words) and words != ["true"]:  # somebody may be called so
        return "truth"
    while words and words[-1] in NOT_LAST:
        words.pop()
    if not words:
        return "item"
    return next((role for role, last in LAST_WORDS.items() if words[-1] in last), None)


def is_called_truth(name: str) -> bool:
    """Whether all words of a column's name say that it holds true labels, as in `gold_label` and `true_class_id`."""
    words = [word.lower() for word in WORD.findall(name)]
    return all(word in TRUTH_WORDS | LAST_WORDS["label"] | NOT_LAST for word in words)


def column_named(table: Collection[str], wanted: str | None, names: Sequence[str]) -> str | None:
    """The column the user named, or the one with the first of the usual names."""
    if wanted is not None:
        if wanted not in table:
            raise InvalidPredictions(f"expected the column {wanted!r}; the table has {some(list(table))}")
        return wanted
    by_name = {column.strip().lower(): column for column in reversed(list(table))}  # the first of two
    by_name |= {column: column for column in table}  # an exact match comes before another case
    return next((by_name[name] for name in names if name in by_name), None)


def called(table: Collection[str], role: Role) -> list[str]:
    """The columns whose names suggest a role: usual names first, then those that end in `id`."""
    usual = EXACT.get(role, ())
    found = [name for name in table if role_of(name) == role and name not in UNNAMED]
    return sorted(found, key=lambda name: (_rank(name, usual), name != name.lower(), not _is_id(name)))


def counts_rows(values: Sequence[Any]) -> bool:
    """Whether a column only counts the rows, 0, 1, 2, …, as the index of a data frame does."""
    return [str(value) for value in values] == [str(row) for row in range(len(values))]


def names_items(name: str) -> bool:
    """Whether a column has a usual name for items, such as `item` or `question_id`."""
    return _rank(name, ITEM) < len(ITEM)


def are_measured(values: Sequence[Any]) -> bool:
    """Whether a column holds numbers that name nothing: fractions of which some are negative or have many digits."""
    return _Values(values).are_measured


def check_one_id(table: Mapping[str, Sequence[Any]], items: Sequence[str]) -> None:
    """Raise if two columns of ids, such as `id` and `question_id`, may name the items and are not the same."""
    first, *others = [name for name in items if _is_id(name)] or [""]
    for other in others:
        if list(map(str, table[other])) != list(map(str, table[first])):
            raise InvalidPredictions(unclear("item", [first, other]))


def roles_of(table: Mapping[str, Sequence[Any]], told: Layout | None = None) -> Roles:
    """The roles of a table's columns: as the user says, else by their names and values; raises if that is not clear."""
    return _Decision(table, told or Layout()).roles()


def joined_items(table: Mapping[str, Sequence[Any]], item: str | None) -> list[str] | None:
    """The names of items if the user joined several columns for them, such as `question+model`; else None."""
    parts = [] if item is None or item in table else [part.strip() for part in item.split("+")]
    if len(parts) < 2 or not all(part in table for part in parts):
        return None
    rows = list(zip(*(table[part] for part in parts), strict=True))
    if any(is_missing(value) or value == "" for row in rows for value in row):
        raise InvalidPredictions(f"the columns {item!r} must name every item; some rows are empty")
    names = ["/".join(map(str, row)) for row in rows]
    if len(set(names)) < len(set(rows)):
        raise InvalidPredictions(f"the columns {item!r} must name items differently when joined by '/'")
    return names


@final
class _Values:
    """What a column holds, as far as its role depends on it."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values

    @cached_property
    def different(self) -> set[Any]:
        return {value for value in self.values if not (is_missing(value) or value == "" or value in UNKNOWN)}

    @cached_property
    def n_given(self) -> int:
        return sum(value in self.different for value in self.values)

    @property
    def repeats(self) -> bool:
        return len(self.different) < self.n_given

    @property
    def is_complete(self) -> bool:
        return self.n_given == len(self.values)

    @property
    def are_labels(self) -> bool:
        """Whether there are few different values, and not fractions."""
        few = max(FEW, self.n_given / ROWS_PER_VALUE)
        return 0 < len(self.different) <= few and not self.has_fractions

    @property
    def is_number(self) -> bool:
        return all(isinstance(value, int | float) or NUMBER.fullmatch(str(value)) for value in self.different)

    @property
    def has_fractions(self) -> bool:
        return self.is_number and any(float(value) % 1 > 0 for value in self.different)

    @property
    def are_measured(self) -> bool:
        return self.has_fractions and any(MEASURED.fullmatch(str(value)) for value in self.different)


@final
class _Decision:
    """The steps of `roles_of`."""

    def __init__(self, table: Mapping[str, Sequence[Any]], told: Layout) -> None:
        self.table, self.told = table, told
        self.held = {name: _Values(values) for name, values in table.items()}

    def roles(self) -> Roles:
        members = self._members()
        item = None if not members else self._item_of_answers(members)
        if item is None:
            return self._wide()
        member = self._the_only("member", [name for name in members if name != item])
        return Roles(item, member, self._label(item, member))

    # ---- long tables ----------------------------------------------------------------------------------------

    def _members(self) -> list[str]:
        """The columns that may name the members of a long table."""
        if self.told.member is not None:
            if self.told.member not in self.table and all(n.strip() in self.table for n in self.told.member.split(",")):
                return []  # the columns of a wide table
            return [str(column_named(self.table, self.told.member, ()))]
        found = [name for name in self._called("member") if self._is_exact(name, "member") or self.held[name].repeats]
        return [name for name in found if len(self.held[name].different) > 1] or found

    def _item_of_answers(self, members: list[str]) -> str | None:
        """The column of items of a long table; None if the table may be wide."""
        if self.told.item is not None:
            item = str(column_named(self.table, self.told.item, ()))
            is_long = self.told.member is not None or self.held[item].repeats or self._has_usual_members(members)
            return item if is_long else None
        names = [name for name in self._called("item") if name not in members]
        repeating = [name for name in names if self.held[name].repeats]
        if repeating:
            return self._finest(repeating, members[0])
        is_certain = self.told.member is not None
        if (is_certain or self._called("label")) and (found := self._items_by_content(members)) is not None:
            return found
        is_usual = self._has_usual_members(members) or (not names and self._is_exact(members[0], "member"))
        is_usual = is_usual or (not names and bool(self._called("label")))
        if not (is_certain or is_usual):
            return None
        index = [name for name in self.table if name in UNNAMED and not self._counts_rows(name)]
        if not names and not index:
            guess = next((name for name in self.table if self.held[name].repeats and name not in members), None)
            perhaps = "" if guess is None else f", such as item={guess!r}"
            raise InvalidPredictions(
                f"a table with the members in {members[0]!r} needs a column of items, such as {some(ITEM[:3])}; "
                f"it has {some(list(self.table))}: name it{perhaps}"
            )
        return (names or index)[0]

    def _has_usual_members(self, members: list[str]) -> bool:
        """Whether a column such as `worker` stands beside answers."""
        return self._is_exact(members[0], "member") and self._has_answers()

    def _items_by_content(self, members: list[str]) -> str | None:
        """The column whose values several members share, while hardly any member has one twice; None if none does."""
        member, n_rows = members[0], len(self.table[members[0]])
        possible = [
            name
            for name, held in self.held.items()
            if name not in members and role_of(name) in (None, "item") and held.is_complete and not held.has_fractions
            if ANSWERS_PER_ITEM * len(held.different) <= n_rows and NEARLY_ALL * n_rows <= self._n_pairs(name, member)
        ]
        if not possible:
            return None
        sizes = {name: len(self.held[name].different) for name in possible}
        least = min(sizes.values())
        coarse = [name for name in possible if sizes[name] < MUCH_FINER * least]
        return self._the_only("item", [name for name in coarse if _is_id(name)] or coarse)

    def _has_answers(self) -> bool:
        """Whether there is a column of labels, or at least two of numbers."""
        others = [name for name in self.table if role_of(name) not in ("item", "member") and name not in UNNAMED]
        return bool(self._called("label")) or sum(self.held[name].is_number for name in others) > 1

    def _finest(self, items: list[str], member: str) -> str:
        """The first column of items that tells the rows of a member apart as well as any other."""
        n_apart = {name: self._n_pairs(name, member) for name in items}
        most = NEARLY_ALL * max(n_apart.values())
        first, *others = [name for name in items if n_apart[name] >= most]
        for other in others:
            n_both, sizes = self._n_pairs(first, other), {len(set(self.table[name])) for name in (first, other)}
            if n_both not in sizes and self._is_exact(first, "item") == self._is_exact(other, "item"):
                raise InvalidPredictions(unclear("item", [first, other]))
        return first

    def _n_pairs(self, one: str, other: str) -> int:
        return len(set(zip(self.table[one], self.table[other], strict=True)))

    def _label(self, item: str | None, member: str | None) -> str | None:
        if self.told.label is not None:
            return column_named(self.table, self.told.label, ())
        taken = {item, member}
        names = [name for name in self._called("label") if name not in taken]
        plausible = [name for name in names if self.held[name].are_labels]
        scores = [name for name in self._called("score") if name not in taken and self.held[name].are_labels]
        is_topic = bool(plausible) and member is not None and self._describe(item, plausible, scores)
        if plausible and not is_topic:
            return self._the_only("label", plausible)
        if names and self._is_exact(names[0], "label"):
            if is_topic:
                raise InvalidPredictions(unclear("label", [names[0], scores[0]]))
            return names[0]  # whoever reads it says what is wrong with it
        n_fractions = sum(held.has_fractions for name, held in self.held.items() if name not in taken)
        if not scores or member is None or n_fractions > 1:
            return None
        if verdicts := self._verdicts(taken):
            raise InvalidPredictions(unclear("label", [verdicts[0], scores[0]]))
        return self._the_only("label", scores)

    def _describe(self, item: str | None, names: list[str], scores: list[str]) -> bool:
        """Whether columns say the same of an item in all rows, as its topic does, while scores differ."""
        assert item is not None  # noqa: S101 - a table with members is long, and has items
        n_items = len(set(self.table[item]))
        is_fixed = {name: self._n_pairs(item, name) == n_items for name in (*names, *scores)}
        return all(is_fixed[name] for name in names) and not all(is_fixed[name] for name in scores)

    def _verdicts(self, taken: set[str | None]) -> list[str]:
        """Columns of a few words that depend on item and member, as labels do, though their names do not say so."""
        return [
            name
            for name, held in self.held.items()
            if name not in taken and role_of(name) is None and name not in UNNAMED
            if held.are_labels and len(held.different) > 1 and not held.is_number
            if all(self._n_pairs(name, own) > len(self.held[own].different) for own in taken if own is not None)
        ]

    def _the_only(self, role: Role, names: list[str]) -> str:
        """The first of several columns that say the same; raises if they do not."""
        first, *others = names
        for other in others:
            sizes = {len(set(self.table[name])) for name in (first, other)}
            if sizes != {self._n_pairs(first, other)}:
                raise InvalidPredictions(unclear(role, [first, other]))
        return first

    # ---- wide tables ----------------------------------------------------------------------------------------

    def _wide(self) -> Roles:
        if self.told.item is not None:
            item = column_named(self.table, self.told.item, ())
            if item is not None and self.held[item].repeats and self.told.member is None:
                raise InvalidPredictions(self._without_members(item))
        else:
            names = self._called("item")
            alone = [
                name
                for name in names
                if not self.held[name].repeats and (self.held[name].is_complete or self._is_exact(name, "item"))
            ]
            repeated = [name for name in names if self._is_exact(name, "item") and self.held[name].repeats]
            if not alone and repeated and self.told.member is None:
                raise InvalidPredictions(self._without_members(repeated[0]))
            index = [name for name in self.table if name in UNNAMED]
            names_items = [name for name in index if not self._counts_rows(name)]
            exact = [name for name in alone if self._is_exact(name, "item")]
            check_one_id(self.table, alone)
            item = next(iter((*exact, *names_items, *alone, *repeated, *index)), None)
        return Roles(item, None, self._label(item, None) if self._is_of_one_member(item) else None)

    def _is_of_one_member(self, item: str | None) -> bool:
        """Whether only one column may hold labels; raises if a column `label` stands beside others like it."""
        if self.told.label is not None or self.told.member is not None:
            return self.told.member is None
        names = [name for name in self._called("label") if name != item and self.held[name].are_labels]
        others = [name for name in self.table if name not in (item, *UNNAMED) and role_of(name) != "truth"]
        alike = [
            name
            for name in others
            if names and name != names[0] and self.held[name].are_labels
            if self.held[name].different & self.held[names[0]].different
        ]
        if names and alike and self._is_exact(names[0], "label"):
            raise InvalidPredictions(_several(names[0], alike))
        return not alike

    def _without_members(self, item: str) -> str:
        guesses = [
            name
            for name, held in self.held.items()
            if name != item and held.repeats and not held.has_fractions and len(held.different) > 1
        ]
        guess = max(guesses, key=lambda name: self._n_pairs(item, name), default=None)
        perhaps = "name it" if guess is None else f"name it, such as member={guess!r}"
        return (
            f"column {item!r} names items more than once, so each row is one answer, and a column must say whose; "
            f"none of {some([name for name in self.table if name != item])} has a usual name: {perhaps}"
        )

    # ---- names ------------------------------------------------------------------------------------------------

    def _called(self, role: Role) -> list[str]:
        found = called(self.table, role)
        return [name for name in found if not self.held[name].are_measured] if role == "item" else found

    def _is_exact(self, name: str, role: Role) -> bool:
        return _rank(name, EXACT[role]) < len(EXACT[role])

    def _counts_rows(self, name: str) -> bool:
        return counts_rows(self.table[name])


def check_no_members(table: Mapping[str, Sequence[Any]], roles: Roles) -> None:
    """Raise if columns beside the one that was taken for labels, such as `category`, have labels in common."""
    others = [name for name in table if name not in (roles.item, *UNNAMED) and role_of(name) is None]
    held = {name: _Values(table[name]) for name in others if name != roles.label}
    said = {name: values.different for name, values in held.items() if values.are_labels and values.repeats}
    alike = [name for name in said if any(said[name] & said[other] for other in said if other != name)]
    if roles.label is not None and alike:
        raise InvalidPredictions(_several(roles.label, alike))


def _several(label: str, members: list[str]) -> str:
    return (
        f"one column of labels is one member's, several are several members'; {label!r} stands beside "
        f"{some(members)}: say label={label!r}, or member={','.join(members)!r} for the others"
    )


def unclear(role: Role, names: list[str]) -> str:
    """What to say where each of two columns may have a role."""
    joined = "+".join(names)
    both = f", or {role}={joined!r} for both together" if role == "item" else ""
    return f"one column must hold the {role}; {' and '.join(map(repr, names))} may: say {role}={names[0]!r}{both}"


def _rank(name: str, usual: Sequence[str]) -> int:
    """The place among usual names; that of `question_id` is the place of `question`."""
    plain = name.strip().lower()
    if plain not in usual and _is_id(name):
        plain = plain.removesuffix("id").rstrip("_ -")
    return usual.index(plain) if plain in usual else len(usual)


def _is_id(name: str) -> bool:
    return name.strip().lower().endswith("id")
