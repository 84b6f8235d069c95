"""Buckets: all answers to some items, in the same form wherever they came from, on disk until they are needed."""

from __future__ import annotations

import errno
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
import polars as pl

from consilience.data.axes import Axes, Axis
from consilience.data.predictions import Predictions, of_answers
from consilience.data.tables.numbers import as_probabilities
from consilience.files.lake.meaning import Inventory, Meaning
from consilience.files.lake.partitions import Partition, is_full
from consilience.passes.reader import MOST_CODES
from consilience.system.arrays import IntArray
from consilience.system.errors import InvalidPredictions

NUMBERS_IN_BUCKET, MOST_BUCKETS = 2**21, 2048
"""A bucket has about so many labels or numbers; more, if there would be too many buckets."""


class Spooled(NamedTuple):
    """A partition whose answers are in the buckets."""

    partition: Partition
    folder: Path
    place: int  # among all partitions
    data_set: int  # which data set it belongs to


class Bucket(NamedTuple):
    """The items of some buckets, and the answers to them; or for the votes on each a number, as `codes_of` makes it."""

    items: pl.Series
    n_answers: IntArray  # (items,)
    answers: Predictions | IntArray
    n_left_out: int = 0  # answers that an earlier partition has too, and items that nobody answers


@final
class Buckets:
    """The buckets of a run, in a folder. `scale` says what numbers are that are no probabilities."""

    def __init__(self, folder: Path, contents: Inventory, scale: Any, *, skips: bool) -> None:
        self.folder, self.contents, self.scale, self.skips = folder, contents, scale, skips
        self.number = int(np.clip(-(-contents.n_numbers // NUMBERS_IN_BUCKET), 1, MOST_BUCKETS))
        self._spooled: list[Spooled] = []

    def spool(self, partition: Partition, place: int, data_set: int) -> None:
        """Sort a partition into the buckets; all of it is there in the end, or nothing."""
        target, made = self.folder / f"{place:06d}", self.folder / f".{secrets.token_hex(8)}"
        if not target.exists():
            made.mkdir()
            try:
                partition.read(lambda lazy: self._sink(lazy, data_set, made))
                made.replace(target)
            except BaseException as error:
                shutil.rmtree(made, ignore_errors=True)
                if is_full(error):
                    reason = f"no space is left on the disk to sort {partition.path}"
                    raise OSError(errno.ENOSPC, reason, str(self.folder.parent)) from error
                raise
        self._spooled.append(Spooled(partition, target, place, data_set))

    def _sink(self, lazy: pl.LazyFrame, data_set: int, folder: Path) -> None:
        """Write rows of an item, a member's place, and a label's place or a number for each class."""
        meaning, values = self.contents.meanings[data_set], self.contents.member_values
        rows = lazy.select(meaning.columns)
        if meaning.has_member_columns:
            rows = rows.unpivot(meaning.answers, index=meaning.item, variable_name="member", value_name="answer")
            member = pl.col("member").cast(pl.Enum(meaning.answers)).to_physical().cast(pl.UInt32)
        elif meaning.member is None or values is None:
            member = pl.lit(data_set, dtype=pl.UInt32)
        else:
            member = values.place(pl.col(meaning.member))
        item, answers = pl.col(meaning.item).alias("item"), self._answers(meaning)
        bucket = (pl.col("item").hash(0) % self.number).cast(pl.UInt32).alias("bucket")
        rows.select(item, member.alias("member"), *answers).sink_parquet(
            pl.PartitionBy(folder, key=bucket, include_key=False),
            compression="lz4",
            statistics=False,
            maintain_order=False,
            mkdir=True,
        )

    def _answers(self, meaning: Meaning) -> list[pl.Expr]:
        column = pl.col("answer" if meaning.has_member_columns else meaning.answers[0])
        if self.contents.label_values is not None:
            return [self.contents.label_values.place(column).alias("label")]
        if meaning.kind == "rows":
            numbers = [pl.col(name) for name in meaning.answers]
        else:
            numbers = [column.list.get(k, null_on_oob=True) for k in range(len(self.contents.classes))]
        return [number.cast(pl.Float64).fill_nan(None).alias(f"p{k}") for k, number in enumerate(numbers)]

    # ---- back from disk -------------------------------------------------------------------------------------

    def read(self, which: Iterable[int]) -> Bucket | None:
        """The items of some buckets, in their order; None where there are none."""
        files = self._files(which)
        if not files:
            return None
        parts = [pl.scan_parquet(path).with_columns(pl.lit(own.place).alias("source")) for own, path in files]
        every = pl.concat(parts).sort("item", maintain_order=True).collect()
        if not self.skips:
            self._check_same_items(every)
        answered, n_silent = self._answered(every)
        if not len(answered):
            return None
        rows, predictions = answered, self._predictions(answered)
        if predictions.has_repeats():
            rows = self._without_repeats(answered.sort("item", "member", maintain_order=True))  # and so by source
            predictions = self._predictions(rows)
        items, n_answers = rows["item"].rle().struct.unnest().select("value", "len")
        n_left_out = n_silent + len(answered) - len(rows)
        return Bucket(items, n_answers.to_numpy().astype(np.intp), predictions, n_left_out)

    def read_codes(self, bucket: int) -> Bucket | None:
        """The votes of a bucket as numbers, added up in polars; None where some item is not as all should be.

        Such are items without an answer, with two answers of a member, or without a row of some member's data set.
        """
        contents = self.contents
        files, base = self._files([bucket]), len(contents.classes) + 1
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
        return Bucket(found["item"], found["n_answers"].to_numpy(), found["code"].to_numpy())

    def _files(self, which: Iterable[int]) -> list[tuple[Spooled, Path]]:
        folders = [(own, own.folder / f"bucket={bucket}") for own in self._spooled for bucket in which]
        return [(own, path) for own, folder in folders for path in sorted(folder.glob("*.parquet"))]

    def _check_same_items(self, rows: pl.DataFrame) -> None:
        """Raise if each data set has the answers of one member, and one lacks an item that another has."""
        n_sets = len(self.contents.meanings)
        if self.contents.member_values is not None or n_sets == 1:
            return
        lacking = rows.group_by("item").agg("member").filter(pl.col("member").list.len() < n_sets).sort("item").head(1)
        if len(lacking):
            missing = next(place for place in range(n_sets) if place not in lacking["member"][0].to_list())
            where = next(own.partition.path for own in self._spooled if own.data_set == missing)
            raise InvalidPredictions(
                f"{self.contents.members[missing]!r} must have all items that others have; {lacking['item'][0]!r} is "
                f"not in {where} or beside it: --skip-bad takes it as a missing answer"
            )

    def _answered(self, rows: pl.DataFrame) -> tuple[pl.DataFrame, int]:
        """The rows with an answer, and how many items have none; raises if there are such items."""
        numbers = pl.col("^p[0-9]+$") if self.contents.is_soft else pl.col("label")
        is_given = rows.select(pl.any_horizontal(numbers.is_not_null())).to_series()
        if is_given.all():
            return rows, 0
        kept = rows.filter(is_given)
        silent = rows.filter(~is_given).select("item").unique().join(kept, on="item", how="anti")
        if len(silent) and not self.skips:
            raise InvalidPredictions(
                f"each item must have an answer; nobody answers item {silent['item'].min()!r}: --skip-bad leaves such "
                "items out"
            )
        return kept, len(silent)

    def _without_repeats(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows with one answer each; raises if two partitions have an answer of the same member to the same item.

        In a table with a row for each answer a member may answer twice in one partition, but not in one with a row for
        each item.
        """
        has_member_column = self.contents.member_values is not None
        is_again = (rows["item"] == rows["item"].shift()) & (rows["member"] == rows["member"].shift())
        if has_member_column:
            is_again &= rows["source"] != rows["source"].shift()
        is_again = is_again.fill_null(value=False)
        if not is_again.any():
            return rows
        if self.skips:
            is_first = pl.col("source") == pl.col("source").min().over("item", "member")
            return rows.filter(is_first if has_member_column else ~is_again)
        row = int(is_again.arg_max() or 0)
        paths = {own.place: own.partition.path for own in self._spooled}
        before, after = (paths[rows["source"][place]] for place in (row - 1, row))
        who = self.contents.members[rows["member"][row]]
        raise InvalidPredictions(
            f"{after} must have no answers that other rows have; {before} has item {rows['item'][row]!r} of {who!r} "
            "too: --skip-bad leaves the later one out"
        )

    def _predictions(self, rows: pl.DataFrame) -> Predictions:
        """The answers in rows that are sorted by item."""
        place, members = (part.to_numpy().astype(np.intp) for part in (rows["item"].rle_id(), rows["member"]))
        axes = self.axes(int(place[-1]) + 1)
        if not self.contents.is_soft:
            return of_answers(place, members, rows["label"].to_numpy().astype(np.intp), axes)
        numbers = rows.select([f"p{k}" for k in range(axes.classes.size)]).fill_null(float("nan")).to_numpy()
        return of_answers(place, members, as_probabilities(numbers, self.scale), axes)

    def axes(self, n_items: int) -> Axes:
        """The members and classes of all data sets, and so many items without names."""
        members, classes = self.contents.members, self.contents.classes
        return Axes.named(members, Axis("item", n_items), classes)
