"""Fuse data sets: sort answers into buckets, learn from all of them, answer bucket by bucket."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
import polars as pl

from consilience.aggregators import load
from consilience.aggregators.base import AbstractAggregator
from consilience.data.predictions import Predictions, of_answers
from consilience.data.tables.told import FUSED, Told
from consilience.files.lake.buckets import Bucket, Buckets
from consilience.files.lake.meaning import Inventory, Meaning, PartitionFacts, contents_of, facts_of, meaning_of
from consilience.files.lake.partitions import DataSet, Partition, data_set, may_skip
from consilience.files.lake.resuming import Places
from consilience.files.writing import write_frame
from consilience.passes.reader import codes_of, votes_of_codes
from consilience.system.arrays import FloatArray, IntArray, position_of_largest, to_numpy
from consilience.system.atomic import whole_file
from consilience.system.errors import InvalidPredictions
from consilience.system.machine import Progress

MOST_PATTERNS = 2**21  # votes of up to so many patterns are learned from by their counts; of more, a sample is
SAMPLED_NUMBERS = 2**23  # a sample has about so many labels or numbers
OWN_COLUMNS = ("item", *FUSED)
"""What classes must not be called that have a column: beside items, what every table of answers may have."""


class LakeResult(NamedTuple):
    """What a run has done."""

    words: list[str]  # how each data set was understood
    members: list[str]
    classes: list[str]
    items: int
    answers: int
    parts: int
    learned_from: str
    skipped: list[str]  # why partitions were left out
    left_out: int  # answers that were given before, and items without an answer
    shares: dict[str, float]  # of the answers, by class
    is_old: bool = False  # an earlier run has done all of it


@final
class LakeRun:
    """A run that fuses data sets into a folder of parts. One that was killed goes on where it was.

    `settings` are all options that change the output; a run goes on only with the same. With `skips` it leaves out, and
    counts, partitions that cannot be read or have other columns, answers that were given before, and items that nobody
    answers.
    """

    def __init__(
        self,
        sources: list[str],
        output: str,
        told: Told,
        *,
        settings: dict[str, Any],
        logits: bool = False,
        skips: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self.data_sets = [data_set(source) for source in sources]
        self.places = Places(Path(output))
        self.told, self.settings, self.skips, self.progress = told, settings, skips, progress or Progress()
        self.scale = "logits" if logits else "counts" if told.normalize else None
        self.skipped: dict[str, str] = {}
        self.contents: Inventory
        self.buckets: Buckets

    def run(
        self,
        fit: Callable[[Predictions], AbstractAggregator],
        *,
        with_posterior: bool = False,
        save: Path | None = None,
    ) -> LakeResult:
        """Fuse, with a fitted model that `fit` makes of predictions, and `save` it."""
        if (before := self.places.begin(self.data_sets, self.settings)) is not None:
            return LakeResult(**before)._replace(is_old=True)
        try:
            self._understand(with_posterior=with_posterior)
            self._spool()
            model, learned_from = self._model(fit)
            for place in range(self.buckets.number):
                self._answer(place, model, with_posterior=with_posterior)
                self.progress.finish()
            if save is not None:
                model.save(save, posterior=False)
            fused = self._fused(learned_from)
        except ValueError:
            self.places.forget()  # with the same input and options it would never go on
            raise
        self.places.finish({"fused": fused._asdict()})
        return fused

    # ---- in ---------------------------------------------------------------------------------------------------

    def _understand(self, *, with_posterior: bool) -> None:
        self.progress.begin("looking at partitions")
        meanings = [meaning_of(data, self.told, self.scale, skips=self.skips) for data in self.data_sets]
        meanings = [own.in_order_of(meanings[0]) for own in meanings]
        _check_fit_together(self.data_sets, meanings)
        facts = [self._facts(data, meaning) for data, meaning in zip(self.data_sets, meanings, strict=True)]
        self.contents = contents_of(self.data_sets, meanings, facts, self.told)
        if with_posterior and (taken := [name for name in self.contents.classes if name in OWN_COLUMNS]):
            raise InvalidPredictions(f"a table cannot have a column {taken[0]!r} for a class of that name")
        self.buckets = Buckets(self.places.spool, self.contents, self.scale, skips=self.skips)
        n_partitions = sum(len(data.partitions) for data in self.data_sets)
        self.progress.expect(n_partitions + self.buckets.number * (1 if self.contents.is_soft else 2))

    def _facts(self, data: DataSet, meaning: Meaning) -> list[PartitionFacts]:
        found: list[PartitionFacts] = []
        for partition in data.partitions:
            first = found[0] if found else None
            with self._skipping(partition):
                read = partial(facts_of, path=partition.path, meaning=meaning, scale=self.scale, first=first)
                found.append(partition.read(read))
        if not found:
            raise InvalidPredictions(f"{data.source} has no partition that can be read")
        return found

    @contextmanager
    def _skipping(self, partition: Partition) -> Iterator[None]:
        """Leave the partition out where it is refused, or say how to."""
        try:
            yield
        except InvalidPredictions as error:
            if not self.skips:
                raise may_skip(error) from error
            self.skipped[partition.path] = str(error)

    def _spool(self) -> None:
        self.progress.begin("sorting answers by item")
        every = [(which, part) for which, data in enumerate(self.data_sets) for part in data.partitions]
        for place, (which, partition) in enumerate(every):
            if partition.path not in self.skipped:
                with self._skipping(partition):
                    self.buckets.spool(partition, place, which)
            self.progress.finish()

    def _bucket(self, place: int) -> Bucket | None:
        """The items of a bucket; None where there are none."""
        return self.buckets.read_codes(place) or self.buckets.read([place])

    # ---- the fit ----------------------------------------------------------------------------------------------

    def _model(self, fit: Callable[[Predictions], AbstractAggregator]) -> tuple[AbstractAggregator, str]:
        """The model, and what it has learned from: those of an earlier run, or new ones."""
        note = self.places.work / "learned-from.txt"
        if self.places.model.is_file():
            return load(self.places.model), note.read_text(encoding="utf-8")
        predictions, words = self._patterns() or self._sample()
        self.progress.begin("fitting")
        model = fit(predictions)
        with whole_file(note) as file:
            file.write(words.encode())
        model.save(self.places.model, posterior=False)
        return model, words

    def _patterns(self) -> tuple[Predictions, str] | None:
        """All votes by pattern; None of probabilities, or where patterns are too many."""
        if self.contents.is_soft:
            return None
        self.progress.begin("counting patterns of votes")
        codes, counts = np.empty(0, dtype=np.int64), np.empty(0)
        for place in range(self.buckets.number):
            found = self._bucket(place)
            self.progress.finish()
            if found is None:
                continue
            # Of a bucket with some unusual items there are predictions.
            new = codes_of(found.answers) if isinstance(found.answers, Predictions) else found.answers
            if new is None:
                return None
            codes, counts = _merged(codes, counts, new)
            if len(codes) > MOST_PATTERNS:
                return None
        if not len(codes):
            return None
        made = self._of_codes(codes)
        made.counts = counts
        return made, f"all {counts.sum():,.0f} items, which have {len(codes):,} patterns of votes"

    def _of_codes(self, codes: IntArray) -> Predictions:
        """An item for each pattern."""
        axes = self.buckets.axes(len(codes))
        votes = votes_of_codes(codes, axes.members.size, axes.classes.size)
        item, member = np.nonzero(votes >= 0)
        return of_answers(item, member, votes[item, member], axes)

    def _sample(self) -> tuple[Predictions, str]:
        """The items of some buckets: a hash has drawn them."""
        n_sampled = -(-self.buckets.number * SAMPLED_NUMBERS // max(self.contents.n_numbers, 1))
        n_sampled = min(max(n_sampled, 1), self.buckets.number)
        found = self.buckets.read(range(n_sampled))
        if found is None or not isinstance(found.answers, Predictions):
            raise InvalidPredictions("no item has an answer")
        what = "all" if n_sampled == self.buckets.number else "a sample of"
        return found.answers, f"{what} {len(found.items):,} items"

    # ---- out --------------------------------------------------------------------------------------------------

    def _answer(self, place: int, model: AbstractAggregator, *, with_posterior: bool) -> None:
        """Write the part of a bucket, whole, unless an earlier run has."""
        target = self.places.parts / f"part-{place:05d}.parquet"
        self.progress.begin("answering")
        if target.is_file() or (bucket := self._bucket(place)) is None:
            return
        posterior = self._posterior(bucket, model)
        best, names = position_of_largest(posterior), pl.Series(self.contents.classes)
        columns = {
            "item": bucket.items,
            "answer": names.gather(best),
            "confidence": posterior[np.arange(len(best)), best],
            "n_answers": bucket.n_answers.astype(np.uint32),
        }
        if with_posterior:
            columns |= {name: posterior[:, k] for k, name in enumerate(self.contents.classes)}
        with whole_file(target) as file:
            write_frame(file, pl.DataFrame(columns), {"left_out": str(bucket.n_left_out)})

    def _posterior(self, bucket: Bucket, model: AbstractAggregator) -> FloatArray:
        if isinstance(bucket.answers, Predictions):
            return to_numpy(model.predict_proba(bucket.answers))
        patterns, place = np.unique(bucket.answers, return_inverse=True)
        return np.asarray(to_numpy(model.predict_proba(self._of_codes(patterns)))[place])

    def _fused(self, learned_from: str) -> LakeResult:
        parts = sorted(self.places.parts.glob("*.parquet"))
        counted = pl.scan_parquet(parts).group_by("answer").agg(pl.len().alias("items"), pl.col("n_answers").sum())
        counts = {answer: (n, n_answers) for answer, n, n_answers in counted.collect(engine="streaming").iter_rows()}
        n_items = sum(n for n, _ in counts.values())
        return LakeResult(
            words=[f"{data.source}: {m.words}" for data, m in zip(self.data_sets, self.contents.meanings, strict=True)],
            members=self.contents.members,
            classes=self.contents.classes,
            items=n_items,
            answers=sum(n for _, n in counts.values()),
            parts=len(parts),
            learned_from=learned_from,
            skipped=list(self.skipped.values()),
            left_out=sum(int(pl.read_parquet_metadata(path)["left_out"]) for path in parts),
            shares={name: counts.get(name, (0, 0))[0] / n_items for name in self.contents.classes},
        )


def _merged(codes: IntArray, counts: FloatArray, new: IntArray) -> tuple[IntArray, FloatArray]:
    """The counts of patterns with those of one more bucket."""
    own, n_own = np.unique(new, return_counts=True)
    merged, place = np.unique(np.concatenate([codes, own]), return_inverse=True)
    return merged, np.asarray(np.bincount(place, weights=np.concatenate([counts, n_own])), dtype=np.float64)


def _check_fit_together(data_sets: list[DataSet], meanings: list[Meaning]) -> None:
    """Raise if data sets have not the same kind of answers, or are several without saying whose their answers are."""
    first = meanings[0]
    for data, own in zip(data_sets, meanings, strict=True):
        if own._replace(words="", answers=()) != first._replace(words="", answers=()):
            raise InvalidPredictions(
                f"data sets must have the same columns; {data_sets[0].source} has {first.words}, and {data.source} "
                f"{own.words}"
            )
    if len(data_sets) > 1 and first.has_member_columns:
        raise InvalidPredictions(
            f"a table with a column for each member must be one data set; got {len(data_sets)}: put its files in a "
            "folder, or give a pattern in quotes"
        )
