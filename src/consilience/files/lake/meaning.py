"""What the columns of a data set mean: recognised on its first rows, and confirmed on all of its different values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from consilience.data.axes import some
from consilience.data.names import sorted_names, text_of
from consilience.data.tables.coding import pooled_labels
from consilience.data.tables.columns import FEW, ROWS_PER_VALUE, Columns
from consilience.data.tables.frames import of_polars
from consilience.data.tables.layouts import read_columns
from consilience.files.lake.partitions import DataSet, Partition, scan
from consilience.system.errors import InvalidPredictions, Say
from consilience.system.untrusted import reason_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from consilience.data.tables.told import Told
    from consilience.system.arrays import IntArray

HEADS, HEAD_ROWS = 8, 2000
"""The first rows of so many partitions are looked at."""

MOST_VALUES = 100_000
"""Labels with more different values than this are none."""


class Meaning(NamedTuple):
    """Which columns are what."""

    item: str
    member: str | None  # the column that says whose answer a row is; None where columns or data sets are members
    answers: tuple[str, ...]  # one column of labels, or one for each member; numbers of classes; or lists
    kind: Literal["labels", "rows", "lists"]
    classes: tuple[str, ...]  # of numbers
    words: str

    @property
    def columns(self) -> list[str]:
        """All that is read."""
        return [self.item, *([] if self.member is None else [self.member]), *self.answers]

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
        import polars as pl  # noqa: PLC0415 - only tables need it

        order = np.argsort(self.places)
        if self.values.dtype == pl.String and np.array_equal(self.places[order], np.arange(len(order))):
            return column.cast(pl.Enum(self.values.gather(order))).to_physical().cast(pl.UInt32)  # faster
        is_answer = pl.Series(self.places >= 0)
        places = self.places[self.places >= 0]
        return column.replace_strict(self.values.filter(is_answer), places, default=None, return_dtype=pl.UInt32)


class Contents(NamedTuple):
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
    """What the first rows tell of the columns."""
    head = _head(data, skips=skips)
    columns = Columns({name: of_polars(name, head[name], text_of) for name in head.columns}, stem=data.name)
    if not len(columns) or not columns.n_rows:
        raise InvalidPredictions(f"{data.source} must have rows of answers; it has none")
    try:
        understood = read_columns(columns, told, scale)
        return _meaning(understood.roles, understood.words, scale)
    except InvalidPredictions as error:
        raise error.within(data.source) from None


def _head(data: DataSet, *, skips: bool) -> pl.DataFrame:
    """The first rows of some partitions that have the same columns."""
    import polars as pl  # noqa: PLC0415 - only tables need it

    heads: list[pl.DataFrame] = []
    for partition in data.partitions[:: max(1, len(data.partitions) // HEADS)][:HEADS]:
        try:
            heads.append(reading(partition, lambda lazy: lazy.head(HEAD_ROWS).collect()))
        except InvalidPredictions as error:
            if not skips:
                raise InvalidPredictions(f"{error}; --skip-bad leaves such partitions out") from error
    if not heads:
        raise InvalidPredictions(f"{data.source} has no partition that can be read")
    alike = [own for own in heads if own.schema == heads[0].schema]
    return pl.concat(alike).unique(maintain_order=True)  # a partition may be there twice, which is noticed later


def _meaning(roles: Mapping[str, Sequence[Any]], words: str, scale: str | None) -> Meaning:
    _check_roles(roles)
    if scale is None and (" in per cent" in words or words.startswith("logits") or ", logits of" in words):
        raise InvalidPredictions("numbers of a data set must be probabilities, or logits if --logits says so")
    item = roles["item"][0]
    member = roles["member"][0] if len(roles) > 2 and "member" in roles else None
    if "numbers" in roles:
        return Meaning(item, member, tuple(roles["numbers"]), "lists", (), words)
    if "class" in roles:
        return Meaning(item, member, tuple(roles["class"]), "rows", tuple(map(text_of, roles["class"])), words)
    answers = roles["label"] if "label" in roles else roles["member"]
    return Meaning(item, member, tuple(answers), "labels", (), words)


def _check_roles(roles: Mapping[str, Sequence[Any]]) -> None:
    """Raise if items have no column, or answers are given in two ways."""
    if not roles.get("item"):
        raise InvalidPredictions(
            "a data set must have a column of items, since its rows come in no order: name it with ", Say("item")
        )
    if "probability" in roles or ("class" in roles and "label" in roles):
        raise InvalidPredictions("a data set must have labels alone, or a number for each class in a row; it has both")


# ---- on the whole -----------------------------------------------------------------------------------------


class Facts(NamedTuple):
    """What a partition holds."""

    n_rows: int
    members: pl.Series | None
    labels: pl.Series | None
    widths: list[int]  # of lists
    schema: dict[str, Any]  # of the columns that are read


def reading(partition: Partition, read: Callable[[Any], Any]) -> Any:
    """What is read of a partition; raises a sentence with its name."""
    import polars as pl  # noqa: PLC0415 - only tables need it

    try:
        return read(scan(partition))
    except (Exception, pl.exceptions.PanicException) as error:  # polars raises many kinds
        if isinstance(error, MemoryError | InvalidPredictions) or is_full(error):
            raise
        raise InvalidPredictions(f"{partition.path} cannot be read; {reason_of(error)}") from error


def is_full(error: BaseException) -> bool:
    """Whether the disk is full."""
    return getattr(error, "errno", None) in (27, 28, 122) or "No space left" in str(error)


def facts_of(partition: Partition, meaning: Meaning, schema: dict[str, Any] | None) -> Facts:
    """The different values of a partition; raises if its columns are not those of the first one, if that is known."""
    found: Facts = reading(partition, lambda lazy: _facts(lazy, partition.path, meaning, schema))
    return found


def _facts(lazy: pl.LazyFrame, path: str, meaning: Meaning, schema: dict[str, Any] | None) -> Facts:
    import polars as pl  # noqa: PLC0415 - only tables need it

    every = lazy.collect_schema()
    own = {name: every.get(name) for name in meaning.columns}
    _check_schema(own, schema or own, path)
    named = [name for name in (meaning.item, meaning.member) if name is not None]
    asked = {"n_rows": pl.len(), **{f"empty {name}": pl.col(name).null_count() for name in named}}
    if meaning.member is not None:
        asked["members"] = pl.col(meaning.member).unique().implode()
    asked |= _values_asked(meaning)
    found = lazy.select(**asked).collect(engine="streaming")
    if empty := [name for name in named if found[f"empty {name}"][0]]:
        raise InvalidPredictions(f"{path}: column {empty[0]!r} must have no missing values; some rows are empty")
    together = _pooled([found[name][0] for name in found.columns if name.startswith("values ")])
    members = found["members"][0] if "members" in found.columns else None
    labels, widths = (together, None) if meaning.kind == "labels" else (None, together)
    return Facts(found["n_rows"][0], members, labels, [*widths] if widths is not None else [], own)


def _values_asked(meaning: Meaning) -> dict[str, pl.Expr]:
    """The distinct labels of each column, or the lengths of its lists."""
    import polars as pl  # noqa: PLC0415 - only tables need it

    columns = {name: pl.col(name) for name in meaning.answers if meaning.kind != "rows"}
    values = columns if meaning.kind == "labels" else {name: column.list.len() for name, column in columns.items()}
    return {f"values {name}": value.drop_nulls().unique().implode() for name, value in values.items()}


def _check_schema(own: dict[str, Any], schema: dict[str, Any], path: str) -> None:
    """Raise if a partition lacks a column, or has it of another kind than the others."""
    for name, kind in schema.items():
        if own[name] is None or own[name] != kind:
            got = "none" if own[name] is None else f"one of {own[name]}"
            wanted = "" if kind is None else f" of {kind}, as others have"
            raise InvalidPredictions(f"{path} must have the column {name!r}{wanted}; it has {got}")


def contents_of(data_sets: list[DataSet], meanings: list[Meaning], facts: list[list[Facts]], told: Told) -> Contents:
    """What all facts of the partitions of each data set tell together."""
    every = [own for some_facts in facts for own in some_facts]
    kinds = sorted({str(own.schema[meanings[0].item]) for own in every})
    if len(kinds) > 1:
        raise InvalidPredictions(f"items must be written in one way in all data sets; they are {some(kinds)}")
    n_rows = sum(own.n_rows for own in every)
    members, member_values = _members(data_sets, meanings, every)
    labels = _pooled([own.labels for own in every])
    if labels is None:
        return Contents(meanings, members, _class_names(meanings, every, told), member_values, None, n_rows)
    if len(labels) > MOST_VALUES or (not told.are_named and len(labels) > max(FEW, n_rows / ROWS_PER_VALUE)):
        raise InvalidPredictions(
            f"labels must be classes that members give again and again; there are {len(labels):,} different ones, such "
            f"as {some(labels[:3].to_list())}"
        )
    (places,), classes = pooled_labels([of_polars(meanings[0].answers[0], labels, text_of)], told.classes)
    return Contents(meanings, members, list(map(text_of, classes)), member_values, Values(labels, places), n_rows)


def _members(data_sets: list[DataSet], meanings: list[Meaning], every: list[Facts]) -> tuple[list[str], Values | None]:
    first = meanings[0]
    if first.member is None:
        names = list(map(text_of, first.answers)) if first.has_member_columns else [own.name for own in data_sets]
        if len(set(names)) < len(names):
            raise InvalidPredictions(f"the data sets of members must be called differently; got {some(names)}")
        return names, None
    values = _pooled([own.members for own in every])
    if values is None:
        raise InvalidPredictions(f"column {first.member!r} must name members; there are none")
    places, names = of_polars(first.member, values, text_of).places(sorted_names)
    return list(map(text_of, names)), Values(values, np.asarray(places, dtype=np.intp))


def _pooled(parts: list[pl.Series | None]) -> pl.Series | None:
    """The different values of all partitions, sorted, so that their order is always the same."""
    import polars as pl  # noqa: PLC0415 - only tables need it

    given = [part for part in parts if part is not None]
    return pl.concat(given).unique().sort() if given else None


def _class_names(meanings: list[Meaning], every: list[Facts], told: Told) -> list[str]:
    if meanings[0].kind == "rows":
        return list(meanings[0].classes)
    widths = sorted({width for own in every for width in own.widths})
    if len(widths) != 1:
        raise InvalidPredictions(f"lists must have a number for each class; they have {some(widths)} numbers")
    if told.classes is not None and len(told.classes) != widths[0]:
        raise InvalidPredictions(Say("classes"), f" must name each of the {widths[0]} numbers; got {len(told.classes)}")
    return list(told.classes or map(str, range(widths[0])))
