"""What the columns of a data set mean: recognised on its first rows, and confirmed on all of its different values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from consilience.data.axes import some
from consilience.data.names import as_written, sorted_names
from consilience.data.tables.columns import Column, Columns, are_few, pooled_labels
from consilience.data.tables.layouts import read_columns
from consilience.data.tables.told import Told, names_of
from consilience.data.validation import MOST_ROUNDING, ROUNDING, SUM_TOLERANCE
from consilience.files.lake.partitions import DataSet, may_skip
from consilience.system.arrays import IntArray
from consilience.system.errors import InvalidPredictions, Say, within

HEADS, HEAD_ROWS = 8, 2000  # the first rows of so many partitions are looked at
WHOLE_ITEMS = 200
"""All rows of so many items are looked at too, where rows may be items: those of each member may stand together."""

MOST_VALUES = 100_000  # labels with more different values than this are none


class Meaning(NamedTuple):
    """Which columns are what."""

    item: str
    member: str | None  # the column that says whose answer a row is; None where columns or data sets are members
    answers: tuple[str, ...]  # one column of labels, or one for each member; numbers of classes; or lists
    kind: Literal["labels", "rows", "lists"]
    classes: tuple[str, ...]  # of numbers
    words: str

    @property
    def names(self) -> list[str]:
        """The columns that name items and members."""
        return [self.item] if self.member is None else [self.item, self.member]

    @property
    def columns(self) -> list[str]:
        """All that is read."""
        return [*self.names, *self.answers]

    def in_order_of(self, other: Meaning) -> Meaning:
        """The same with classes in the order of another meaning, if they are the same classes."""
        if self.kind != "rows" or sorted(self.classes) != sorted(other.classes):
            return self
        columns = dict(zip(self.classes, self.answers, strict=True))
        return self._replace(classes=other.classes, answers=tuple(columns[name] for name in other.classes))

    @property
    def has_member_columns(self) -> bool:
        """Whether each of several columns has the answers of a member."""
        return self.member is None and self.kind != "rows" and len(self.answers) > 1


class Values(NamedTuple):
    """The different values of a column, and what place each has among names."""

    values: pl.Series
    places: IntArray  # -1 where it is no answer

    def place(self, column: pl.Expr) -> pl.Expr:
        """The place of each row's value; null where it is no answer."""
        order = np.argsort(self.places)
        if self.values.dtype == pl.String and np.array_equal(self.places[order], np.arange(len(order))):
            return column.cast(pl.Enum(self.values.gather(order))).to_physical().cast(pl.UInt32)  # faster
        is_answer = pl.Series(self.places >= 0)
        places = self.places[self.places >= 0]
        return column.replace_strict(self.values.filter(is_answer), places, default=None, return_dtype=pl.UInt32)


class Inventory(NamedTuple):
    """What is in all data sets together."""

    meanings: list[Meaning]  # of each data set
    members: list[str]
    classes: list[str]
    member_values: Values | None  # None where columns or data sets are members
    label_values: Values | None  # None of numbers
    n_rows: int

    @property
    def is_soft(self) -> bool:
        """Whether answers are probabilities."""
        return self.label_values is None

    @property
    def n_numbers(self) -> int:
        """How many labels or numbers there may be in all."""
        n_columns = len(self.meanings[0].answers) if self.meanings[0].has_member_columns else 1
        return self.n_rows * n_columns * (len(self.classes) if self.is_soft else 1)


def meaning_of(data: DataSet, told: Told, scale: Any, *, skips: bool) -> Meaning:
    """What some rows tell of the columns."""
    heads = _read(data, lambda lazy: lazy.head(HEAD_ROWS).collect(), skips=skips)
    try:
        meaning = _of_rows(heads, data, told, scale)
    except InvalidPredictions:
        heads = _without_refused(heads, told, scale, skips=skips)
        meaning = _of_rows(heads, data, told, scale)
    if meaning.member is not None:
        return meaning
    items = pl.concat([own[meaning.item] for own in heads.values()]).drop_nulls().unique(maintain_order=True)
    some_items = pl.col(meaning.item).is_in(items.gather_every(-(-len(items) // WHOLE_ITEMS)).implode())
    same = data._replace(partitions=[own for own in data.partitions if own.path in heads])
    try:
        whole = _read(same, lambda lazy: lazy.filter(some_items).head(HEAD_ROWS).collect(), skips=True)
    except InvalidPredictions:  # none can be read any more: each is read again later, and is named or left out then
        return meaning
    return _of_rows(whole, data, told, scale)


def _read(data: DataSet, read: Callable[[pl.LazyFrame], pl.DataFrame], *, skips: bool) -> dict[str, pl.DataFrame]:
    """What is read of some partitions that have the same columns, by their paths."""
    parts: dict[str, pl.DataFrame] = {}
    for partition in data.partitions[:: max(1, len(data.partitions) // HEADS)][:HEADS]:
        try:
            parts[partition.path] = partition.read(read)
        except InvalidPredictions as error:
            if not skips:
                raise may_skip(error) from error
    if not parts:
        raise InvalidPredictions(f"{data.source} has no partition that can be read")
    schema = next(iter(parts.values())).schema
    return {path: own for path, own in parts.items() if own.schema == schema}


def _of_rows(parts: dict[str, pl.DataFrame], of: DataSet, told: Told, scale: Any) -> Meaning:
    """What rows of some partitions tell; raises if they tell nothing."""
    rows = pl.concat(parts.values()).unique(maintain_order=True)  # a partition may be there twice: noticed later
    columns = Columns({name: Column.of_polars(name, rows[name], as_written) for name in rows.columns}, stem=of.name)
    if not len(columns) or not columns.n_rows:
        raise InvalidPredictions(f"{of.source} must have rows of answers; it has none")
    with within(of.source):
        understood = read_columns(columns, told, scale)
        return _meaning({role: names_of(own) for role, own in understood.roles.items()}, understood.words, scale)


def _without_refused(parts: dict[str, pl.DataFrame], told: Told, scale: Any, *, skips: bool) -> dict[str, pl.DataFrame]:
    """The partitions that are not refused alone, if there are some; raises of the first other unless it `skips`."""
    good: dict[str, pl.DataFrame] = {}
    refused: list[InvalidPredictions] = []
    for path, own in parts.items():
        try:
            _of_rows({path: own}, DataSet(path, []), told, scale)
            good[path] = own
        except InvalidPredictions as error:
            refused.append(error)
    if good and refused and not skips:
        raise may_skip(refused[0])
    return good or parts


def _meaning(roles: Mapping[str, Sequence[Any]], words: str, scale: str | None) -> Meaning:
    _check_roles(roles, words, scale)
    item = roles["item"][0]
    member = roles["member"][0] if len(roles) > 2 and "member" in roles else None
    if "numbers" in roles:
        return Meaning(item, member, tuple(roles["numbers"]), "lists", (), words)
    if "class" in roles:
        return Meaning(item, member, tuple(roles["class"]), "rows", tuple(map(as_written, roles["class"])), words)
    answers = roles["label"] if "label" in roles else roles["member"]
    return Meaning(item, member, tuple(answers), "labels", (), words)


def _check_roles(roles: Mapping[str, Sequence[Any]], words: str, scale: str | None) -> None:
    """Raise for tables that are no data set."""
    if not roles.get("item"):
        raise InvalidPredictions(
            "a data set must have a column of items, since its rows come in no order: name it with ", Say("item")
        )
    if "probability" in roles or ("class" in roles and "label" in roles):
        raise InvalidPredictions("a data set must have labels alone, or a number for each class in a row; it has both")
    if scale is None and (" in per cent" in words or words.startswith("logits") or ", logits of" in words):
        raise InvalidPredictions("numbers of a data set must be probabilities, or logits if --logits says so")


# ---- on the whole -----------------------------------------------------------------------------------------


class PartitionFacts(NamedTuple):
    """What a partition holds."""

    n_rows: int
    members: pl.Series | None
    values: pl.Series | None  # the different labels, or lengths of lists
    schema: dict[str, Any]  # of the columns that are read


def facts_of(
    lazy: pl.LazyFrame, path: str, meaning: Meaning, scale: Any, first: PartitionFacts | None
) -> PartitionFacts:
    """The different values of a partition; raises if its columns are not those of the first one, if that is known."""
    schema = _schema(lazy, path, meaning, first)
    found = lazy.select(**_asked(meaning, scale)).collect(engine="streaming")
    if empty := [name for name in meaning.names if found[f"empty {name}"][0]]:
        raise InvalidPredictions(f"{path}: column {empty[0]!r} must have no missing values; some rows are empty")
    values = _pooled([found[name][0] for name in found.columns if name.startswith("values ")])
    if meaning.kind == "lists" and values is not None:
        _check_widths(values.to_list(), path, first)
    if "wrong" in found.columns and (wrong := found["wrong"][0]) is not None:
        raise InvalidPredictions(
            f"{path} must have probabilities, from 0 to 1 and with a sum of 1; those of item {wrong!r} are none. Add "
            "--logits if they are logits, --normalize if they are counts"
        )
    members = found["members"][0] if "members" in found.columns else None
    return PartitionFacts(found["n_rows"][0], members, values, schema)


def _schema(lazy: pl.LazyFrame, path: str, meaning: Meaning, first: PartitionFacts | None) -> dict[str, Any]:
    """The columns that are read, of the same kinds as in the first partition."""
    every = lazy.collect_schema()
    own = {name: every.get(name) for name in meaning.columns}
    for name, kind in (own if first is None else first.schema).items():
        if own[name] is None or own[name] != kind:
            got = "none" if own[name] is None else f"one of {own[name]}"
            as_others = "" if kind is None else f" of {kind}, as others have"
            raise InvalidPredictions(f"{path} must have the column {name!r}{as_others}; it has {got}")
    return own


def _check_widths(widths: list[int], path: str, first: PartitionFacts | None) -> None:
    """Raise unless lists have one length, that of the first partition."""
    wanted = widths if first is None or first.values is None else first.values.to_list() or widths
    if set(widths) - set(wanted[:1]):
        raise InvalidPredictions(f"{path} must have lists of {wanted[0]} numbers, as others; it has {some(widths)}")


def _asked(meaning: Meaning, scale: Any) -> dict[str, pl.Expr]:
    """What is asked of a partition in one pass."""
    asked = {"n_rows": pl.len(), **{f"empty {name}": pl.col(name).null_count() for name in meaning.names}}
    if meaning.member is not None:
        asked["members"] = pl.col(meaning.member).unique().implode()
    if meaning.kind != "labels" and scale is None:
        asked["wrong"] = pl.col(meaning.item).filter(_is_wrong(meaning)).first()
    for name in meaning.answers if meaning.kind != "rows" else ():  # their labels, or the lengths of their lists
        values = pl.col(name) if meaning.kind == "labels" else pl.col(name).list.len()
        asked[f"values {name}"] = values.drop_nulls().unique().implode()
    return asked


def _is_wrong(meaning: Meaning) -> pl.Expr:
    """Whether a row has numbers that are no probabilities; missing ones, null or NaN, are not wrong."""
    if meaning.kind == "rows":
        numbers = [pl.col(name).cast(pl.Float64).fill_nan(None) for name in meaning.answers]
        return _is_off(pl.min_horizontal(numbers), pl.sum_horizontal(numbers), pl.lit(len(numbers)))
    rows = [pl.col(name).cast(pl.List(pl.Float64)).list for name in meaning.answers]
    return pl.any_horizontal([_is_off(row.min(), row.sum(), row.len()) for row in rows])


def _is_off(least: pl.Expr, total: pl.Expr, n_classes: pl.Expr) -> pl.Expr:
    """Whether numbers with this minimum and sum are no probabilities; without a minimum they are missing."""
    tolerance = (n_classes * ROUNDING).clip(SUM_TOLERANCE, MOST_ROUNDING)
    return least.is_not_nan() & ((least < 0) | ((total - 1).abs() > tolerance))


def contents_of(
    data_sets: list[DataSet], meanings: list[Meaning], facts: list[list[PartitionFacts]], told: Told
) -> Inventory:
    """What all facts of the partitions of each data set tell together."""
    every, first = [own for some_facts in facts for own in some_facts], meanings[0]
    kinds = sorted({str(own.schema[first.item]) for own in every})
    if len(kinds) > 1:
        raise InvalidPredictions(f"items must be written in one way in all data sets; they are {some(kinds)}")
    n_rows = sum(own.n_rows for own in every)
    members, member_values = _members(data_sets, first, every)
    values = _pooled([own.values for own in every])
    if values is None or first.kind != "labels":
        classes = _named_numbers(values, told) if first.kind == "lists" else list(first.classes)
        return Inventory(meanings, members, classes, member_values, None, n_rows)
    if len(values) > MOST_VALUES or (not told.are_named and not are_few(len(values), n_rows)):
        raise InvalidPredictions(
            f"labels must be classes that members give again and again; there are {len(values):,} different ones, such "
            f"as {some(values[:3].to_list())}"
        )
    (places,), classes = pooled_labels([Column.of_polars(first.answers[0], values, as_written)], told.classes)
    return Inventory(meanings, members, list(map(as_written, classes)), member_values, Values(values, places), n_rows)


def _members(data_sets: list[DataSet], first: Meaning, every: list[PartitionFacts]) -> tuple[list[str], Values | None]:
    if first.member is None:
        names = list(map(as_written, first.answers)) if first.has_member_columns else [own.name for own in data_sets]
        if len(set(names)) < len(names):
            raise InvalidPredictions(f"the data sets of members must be called differently; got {some(names)}")
        return names, None
    values = _pooled([own.members for own in every])
    if values is None:
        raise InvalidPredictions(f"column {first.member!r} must name members; there are none")
    places, names = Column.of_polars(first.member, values, as_written).places(sorted_names)
    return list(map(as_written, names)), Values(values, np.asarray(places, dtype=np.intp))


def _pooled(parts: list[pl.Series | None]) -> pl.Series | None:
    """The different values of all partitions, sorted, so that their order is always the same."""
    given = [part for part in parts if part is not None]
    return pl.concat(given).unique().sort() if given else None


def _named_numbers(widths: pl.Series | None, told: Told) -> list[str]:
    """The classes that the numbers of lists of these lengths stand for."""
    width = [] if widths is None else widths.to_list()
    if len(width) != 1:
        raise InvalidPredictions(f"lists must have a number for each class; they have {some(width)} numbers")
    if told.classes is not None and len(told.classes) != width[0]:
        raise InvalidPredictions(Say("classes"), f" must name each of the {width[0]} numbers; got {len(told.classes)}")
    return list(told.classes or map(str, range(width[0])))
