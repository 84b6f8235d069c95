"""Buckets: all answers to some items, in the same form wherever they came from, on disk until they are needed."""

from __future__ import annotations

import secrets
import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from consilience.data.axes import Axes, Axis
from consilience.data.predictions import Predictions, of_answers
from consilience.data.tables.numbers import as_probabilities
from consilience.files.lake.meaning import Inventory, Meaning, reading
from consilience.passes.reader import MOST_CODES
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from consilience.files.lake.partitions import Partition
    from consilience.system.arrays import IntArray

NUMBERS_IN_BUCKET, MOST_BUCKETS = 2**21, 2048
"""A bucket has about so many labels or numbers; more, if there would be too many buckets."""


class Spooled(NamedTuple):
    """A partition on its way into the buckets."""

    partition: Partition
    place: int  # among all partitions
    data_set: int  # which data set it belongs to


def n_buckets(contents: Inventory) -> int:
    """How many buckets the answers are sorted into."""
    return int(np.clip(-(-contents.n_numbers // NUMBERS_IN_BUCKET), 1, MOST_BUCKETS))


def spool(own: Spooled, contents: Inventory, folder: Path, size: int) -> None:
    """Sort a partition into so many buckets; all of it is there in the end, or nothing."""
    target = folder / f"{own.place:06d}"
    if target.exists():
        return
    made = folder / f".{secrets.token_hex(8)}"
    made.mkdir()
    try:

        def sink(lazy: pl.LazyFrame) -> None:
            rows = _long(lazy, own.data_set, contents)
            bucket = (pl.col("item").hash(0) % size).cast(pl.UInt32).alias("bucket")
            by_bucket = pl.PartitionBy(made, key=bucket, include_key=False)
            rows.sink_parquet(by_bucket, compression="lz4", statistics=False, maintain_order=False, mkdir=True)

        reading(own.partition, sink)
        made.replace(target)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _long(lazy: pl.LazyFrame, data_set: int, contents: Inventory) -> pl.LazyFrame:
    """Rows of an item, a member's place, and a label's place or a number for each class."""
    meaning = contents.meanings[data_set]
    rows = lazy.select(meaning.columns)
    if meaning.has_member_columns:
        rows = rows.unpivot(meaning.answers, index=meaning.item, variable_name="member", value_name="answer")
        member = pl.col("member").cast(pl.Enum(meaning.answers)).to_physical().cast(pl.UInt32)
    elif meaning.member is None or contents.member_values is None:
        member = pl.lit(data_set, dtype=pl.UInt32)
    else:
        member = contents.member_values.place(pl.col(meaning.member))
    return rows.select(pl.col(meaning.item).alias("item"), member.alias("member"), *_answers(meaning, contents))


def _answers(meaning: Meaning, contents: Inventory) -> list[pl.Expr]:
    column = pl.col("answer" if meaning.has_member_columns else meaning.answers[0])
    if contents.label_values is not None:
        return [contents.label_values.place(column).alias("label")]
    if meaning.kind == "rows":
        numbers = [pl.col(name) for name in meaning.answers]
    else:
        numbers = [column.list.get(k, null_on_oob=True) for k in range(len(contents.classes))]
    return [number.cast(pl.Float64).fill_nan(None).alias(f"p{k}") for k, number in enumerate(numbers)]


# ---- back from disk -----------------------------------------------------------------------------------------


class CodedBucket(NamedTuple):
    """The items of a bucket, and a number for the votes on each, as `codes_of` makes it."""

    items: pl.Series
    codes: IntArray
    n_answers: IntArray
    n_left_out: int = 0  # of items that are as all should be


def read_codes(folder: Path, bucket: int, contents: Inventory, spooled: Sequence[Spooled]) -> CodedBucket | None:
    """The votes of a bucket as numbers, added up in polars; None where some item is not as all should be.

    Such are items without an answer, with two answers of a member, or without a row of some member's data set.
    """
    files, base = _files(folder, [bucket], spooled), len(contents.classes) + 1
    if contents.is_soft or not files or base ** len(contents.members) >= MOST_CODES:
        return None
    member, given = pl.col("member"), pl.col("label").is_not_null()
    digits, bits = pl.lit(base, dtype=pl.Int64).pow(member), pl.lit(2, dtype=pl.Int64).pow(member)
    rows = pl.scan_parquet([path for _, path in files]).group_by("item")
    found = rows.agg(
        code=((pl.col("label").cast(pl.Int64) + 1) * digits).sum(),
        n_answers=given.sum(),
        n_rows=pl.len(),
        is_single=bits.sum() == bits.bitwise_or(),
    ).collect(engine="streaming")
    least = len(contents.meanings) if contents.member_values is None else 1
    is_usual = pl.col("is_single") & (pl.col("n_answers") > 0) & (pl.col("n_rows") >= least)
    if not found.select(is_usual.all()).item():
        return None
    found = found.sort("item")
    return CodedBucket(found["item"], found["code"].to_numpy(), found["n_answers"].to_numpy())


def _files(folder: Path, which: Sequence[int], spooled: Sequence[Spooled]) -> list[tuple[Spooled, Path]]:
    return [
        (own, path)
        for own in spooled
        for bucket in which
        for path in sorted((folder / f"{own.place:06d}" / f"bucket={bucket}").glob("*.parquet"))
    ]


class Bucket(NamedTuple):
    """The items of some buckets and the answers to them."""

    items: pl.Series
    predictions: Predictions
    n_answers: IntArray  # (items,)
    n_left_out: int  # answers that an earlier partition has too, and items that nobody answers


def read_buckets(
    folder: Path, which: Sequence[int], contents: Inventory, spooled: Sequence[Spooled], scale: Any, *, skips: bool
) -> Bucket | None:
    """The items of these buckets, in their order; None where there are none."""
    files = _files(folder, which, spooled)
    if not files:
        return None
    parts = [pl.scan_parquet(path).with_columns(pl.lit(own.place).alias("source")) for own, path in files]
    every = pl.concat(parts).sort("item", maintain_order=True).collect()
    if not skips:
        _check_same_items(every, contents, spooled)
    rows, n_silent = _answered(every, contents, skips=skips)
    found = _bucket(rows, contents, scale)
    if found is None or not found.predictions.has_repeats():
        return None if found is None else found._replace(n_left_out=n_silent)
    single = _without_repeats(rows, contents, spooled, skips=skips)
    found = _bucket(single, contents, scale)
    return None if found is None else found._replace(n_left_out=n_silent + len(rows) - len(single))


def _bucket(rows: pl.DataFrame, contents: Inventory, scale: Any) -> Bucket | None:
    """The answers in rows that are sorted by item."""
    if not len(rows):
        return None
    is_first = (rows["item"] != rows["item"].shift()).fill_null(value=True)
    place = np.cumsum(is_first.to_numpy(), dtype=np.intp) - 1
    predictions = _predictions(rows, place, contents, scale)
    return Bucket(rows["item"].filter(is_first), predictions, np.bincount(place), 0)


def _without_repeats(
    rows: pl.DataFrame, contents: Inventory, spooled: Sequence[Spooled], *, skips: bool
) -> pl.DataFrame:
    """Rows with one answer each; raises if two partitions have an answer of the same member to the same item.

    In a table with a row for each answer a member may answer twice in one partition, but not in one with a row for each
    item.
    """
    rows = rows.sort("item", "member", "source", maintain_order=True)
    is_again = (rows["item"] == rows["item"].shift()) & (rows["member"] == rows["member"].shift())
    if contents.member_values is not None:
        is_again &= rows["source"] != rows["source"].shift()
    is_again = is_again.fill_null(value=False)
    if not is_again.any():
        return rows
    if skips:
        first = pl.col("source").min().over("item", "member")
        kept = rows.filter(pl.col("source") == first)
        if contents.member_values is None:
            kept = kept.unique(["item", "member"], keep="first").sort("item", "member")
        return kept
    row = int(is_again.arg_max() or 0)
    paths = {own.place: own.partition.path for own in spooled}
    before, after = (paths[rows["source"][place]] for place in (row - 1, row))
    who = contents.members[rows["member"][row]]
    raise InvalidPredictions(
        f"{after} must have no answers that other rows have; {before} has item {rows['item'][row]!r} of {who!r} too: "
        "--skip-bad leaves the later one out"
    )


def _check_same_items(rows: pl.DataFrame, contents: Inventory, spooled: Sequence[Spooled]) -> None:
    """Raise if each data set has the answers of one member, and one lacks an item that another has."""
    n_sets = len(contents.meanings)
    if contents.member_values is not None or n_sets == 1:
        return
    lacking = rows.group_by("item").agg("member").filter(pl.col("member").list.len() < n_sets).sort("item").head(1)
    if len(lacking):
        missing = next(place for place in range(n_sets) if place not in lacking["member"][0].to_list())
        where = next(own.partition.path for own in spooled if own.data_set == missing)
        raise InvalidPredictions(
            f"{contents.members[missing]!r} must have all items that others have; {lacking['item'][0]!r} is not in "
            f"{where} or beside it: --skip-bad takes it as a missing answer"
        )


def _answered(rows: pl.DataFrame, contents: Inventory, *, skips: bool) -> tuple[pl.DataFrame, int]:
    """The rows with an answer, and how many items have none; raises if there are such items."""
    if contents.is_soft:
        is_given = rows.select(~pl.all_horizontal(pl.col("^p[0-9]+$").is_null())).to_series()
    else:
        is_given = rows["label"].is_not_null()
    if is_given.all():
        return rows, 0
    kept = rows.filter(is_given)
    silent = rows.filter(~is_given).select("item").unique().join(kept, on="item", how="anti")
    if len(silent) and not skips:
        raise InvalidPredictions(
            f"each item must have an answer; nobody answers item {silent['item'].min()!r}: --skip-bad leaves such "
            "items out"
        )
    return kept, len(silent)


def _predictions(rows: pl.DataFrame, place: IntArray, contents: Inventory, scale: Any) -> Predictions:
    axes = axes_of(contents, int(place[-1]) + 1)
    members = rows["member"].to_numpy().astype(np.intp)
    if not contents.is_soft:
        return of_answers(place, members, rows["label"].to_numpy().astype(np.intp), axes, partial=False)
    numbers = rows.select([f"p{k}" for k in range(len(contents.classes))]).fill_null(float("nan")).to_numpy()
    return of_answers(place, members, as_probabilities(numbers, scale), axes, partial=False)


def axes_of(contents: Inventory, n_items: int) -> Axes:
    """The members and classes of all data sets, and so many items without names."""
    return Axes(
        Axis("member", len(contents.members), contents.members),
        Axis("item", n_items),
        Axis("class", len(contents.classes), contents.classes),
    )
