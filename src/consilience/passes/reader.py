"""Readers visit all items, chunk by chunk. A pass with the scores of a model is its E step.

Items lie in memory, on disk or on a cluster. Each place has a reader with the same methods, and `open_reader` chooses.

Items with the same votes are fitted and answered once, and count as often as there are of them. With few members and
classes most items have the votes of many others: five members and three classes can vote in 1,023 ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import dataclass, field
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, final

import numpy as np

from consilience.data.axes import Axis
from consilience.data.predictions import (
    AbstractPredictions,
    Chunk,
    Predictions,
    as_predictions,
    counted,
    example_of,
    renamed,
)
from consilience.maths.em import Scores, Statistics
from consilience.passes.kernels import (
    ChunkStatistics,
    Features,
    LabelFeatures,
    Layer,
    Responsibilities,
    added_up,
    chunk_statistics,
    log_evidence,
    read_features,
)
from consilience.passes.pair_products import Agreement, chunk_agreement
from consilience.passes.responsibilities import (
    SPARSE_FROM,
    LazyPosterior,
    as_rows,
    blended,
    clamp,
    dense,
    dense_softmax,
    expected_from,
    log_joint,
    sparse_where_it_pays,
)
from consilience.passes.screening import Screen
from consilience.system.arrays import (
    Array,
    FloatArray,
    IntArray,
    is_numpy,
    is_sparse,
    like_array,
    n_bytes,
    namespace,
    sample,
)
from consilience.system.machine import in_order, n_threads, one_thread_per_product

if TYPE_CHECKING:
    from consilience.passes.cluster import ClusterReader

Sum = TypeVar("Sum")

CACHED_NUMBERS = 2**23
"""Features of up to this many numbers are kept from one pass to the next; larger ones are read anew."""

LARGE_PRODUCT = 2**24  # from this many multiplications on, a product keeps several threads busy

FEW_LABELS = 4
"""Where there are so many times more columns of labels than labels, a table of the columns that occur is made."""

DENSE_NUMBERS = 2**24  # a posterior of up to this many numbers is computed at once, from dense responsibilities


def lies_on_cluster(predictions: Any) -> bool:
    """Whether these are Dask's: an array, delayed blocks, futures, a frame of votes, or what was made of them."""
    first = predictions[0] if isinstance(predictions, list | tuple) and predictions else predictions
    return type(first).__module__.startswith(("dask", "distributed", "consilience.passes.cluster"))


def read_anywhere(predictions: Any) -> AbstractPredictions:
    """Predictions as they are, or made from anything that `Predictions` takes, or from what lies on a cluster."""
    if not lies_on_cluster(predictions):
        return as_predictions(predictions)
    from consilience.passes.cluster import ClusterPredictions  # noqa: PLC0415 - Dask is an extra

    return predictions if isinstance(predictions, ClusterPredictions) else ClusterPredictions(predictions)


AnyReader: TypeAlias = "Reader | ClusterReader"
"""Visits all items of some predictions; what its methods return does not depend on where they lie."""


def open_reader(
    predictions: Any, *, log_floor: float | None = None, chunk_size: int | None = None, known: IntArray | None = None
) -> AnyReader:
    """A reader of the predictions, on the machines where they lie."""
    if isinstance(predictions, Predictions):
        return Reader(predictions, log_floor, chunk_size, known)
    from consilience.passes.cluster import ClusterReader  # noqa: PLC0415 - Dask is an extra

    return ClusterReader(predictions, log_floor, chunk_size, known)


@final
@dataclass(eq=False)
class ReadChunk:
    """A chunk of items that is read when it is visited, on the thread that visits it."""

    place: int  # among the chunks
    chunk: Chunk
    n_classes: int
    hard_positions: IntArray
    example: Array  # of the library and precision that scores are computed in
    log_floor: float | None
    known: IntArray | None  # (items,): known classes, -1 where unknown
    counts: FloatArray | None  # (items,): how often each counts; None, once
    keeps_features: bool
    kept_features: tuple[Features, ...] | None = None

    @property
    def n_items(self) -> int:
        """How many items it has."""
        return self.chunk.stop - self.chunk.start

    @property
    def items(self) -> slice:
        """Where its items stand among all."""
        return slice(self.chunk.start, self.chunk.stop)

    def features(self) -> tuple[Features, ...]:
        """The features of the chunk, read again at each call unless they are small enough to keep."""
        if self.kept_features is not None:
            return self.kept_features
        features = read_features(
            self.chunk, self.n_classes, self.hard_positions, self.example, log_floor=self.log_floor
        )
        if self.keeps_features:
            self.kept_features = features
        return features

    def posterior(self, layer: Layer) -> Array:
        """The posterior of its items as rows (items, classes), which may be sparse in double precision."""
        scores = log_joint(self.features(), self.known, layer, self.example)
        # In single precision entries of 1e-8 would be left out, which users may need; in double precision 1e-19.
        is_double = is_numpy(scores) and scores.dtype == np.float64
        values = (expected_from(scores) if is_double else dense_softmax(scores)).values
        return values.T if is_sparse(values) else as_rows(values, self.example)

    def pool(self, member_weights: FloatArray) -> Array:
        """The weighted mean of the features of each item (items, classes), one-hot where the class is known.

        An item without any, because everybody is undecided, gets the same for all classes.
        """
        plain = self._plain_pool(member_weights)
        if plain is not None:
            return clamp(plain, self.known)
        pooled = [features.pool(member_weights) for features in self.features()]
        total, weight = (like_array(part, self.example) for part in pooled[0])
        for part, part_weight in pooled[1:]:
            total += like_array(part, self.example)
            weight = weight + like_array(part_weight, self.example)
        xp = namespace(total)
        if xp.any(weight == 0):
            is_silent = xp.astype(weight == 0, total.dtype)
            total, weight = total + is_silent, weight + self.n_classes * is_silent
        total /= weight
        return clamp(total, self.known)

    def sparse_pool(self, member_weights: FloatArray) -> Responsibilities:
        """The same (classes, items), sparse where that pays: shares of votes among a thousand classes."""
        votes, *others = self.features()
        are_plain = not others and self.known is None and self.n_classes >= SPARSE_FROM
        if are_plain and isinstance(votes, LabelFeatures) and np.diff(votes.matrix.indptr).all():
            return votes.shares(member_weights)
        rows = self.pool(member_weights)
        return sparse_where_it_pays(namespace(rows).matrix_transpose(rows))

    def _plain_pool(self, member_weights: FloatArray) -> Array | None:
        """The same, faster, straight from the rows of members who gave all of them, in NumPy.

        None if it is not so simple, or if the rows have been read already.
        """
        members, dtype = self.chunk.soft, self.example.dtype
        if self.log_floor is not None or self.kept_features is not None or self.chunk.hard is not None or not members:
            return None
        if not all(m.is_complete and m.items is None and is_numpy(m.rows) and m.rows.dtype == dtype for m in members):
            return None
        weights = [float(member_weights[own.position]) for own in members]
        total = weights[0] * members[0].rows
        for weight, own in zip(weights[1:], members[1:], strict=True):
            total += own.rows if weight == 1 else weight * own.rows
        total /= sum(weights)
        return total


@final
@dataclass(eq=False)
class Reader:
    """Reads predictions in memory or on disk, as probabilities or (with `log_floor`) as their logarithms."""

    predictions: Predictions
    log_floor: float | None = None
    chunk_size: int | None = None
    known: IntArray | None = None
    on_chunk: Callable[[], None] = lambda: None  # called after each chunk of a pass
    chunks: list[ReadChunk] = field(init=False)

    def __post_init__(self) -> None:
        data = self.predictions
        self._example = example_of(data)
        self._dense = np.array([member.position for member in data.soft if member.items is None], dtype=np.intp)
        self._hard = np.empty(0, dtype=np.intp)
        if data.hard is not None:
            self._hard = np.flatnonzero(np.bincount(data.hard.members))
            if not len(self._hard):  # nobody is decided: the first member has no votes, as all
                self._hard = np.zeros(1, dtype=np.intp)
        n_numbers = sum(member.rows.shape[0] for member in data.soft) * data.n_classes
        self.chunks = [
            ReadChunk(
                place,
                chunk,
                data.n_classes,
                self._hard,
                self._example,
                self.log_floor,
                None if self.known is None else self.known[chunk.start : chunk.stop],
                None if data.counts is None else data.counts[chunk.start : chunk.stop],
                keeps_features=n_numbers <= CACHED_NUMBERS,
            )
            for place, chunk in enumerate(data.chunks(self.chunk_size))
        ]

    def __sizeof__(self) -> int:
        """The bytes of the predictions, which a reader holds."""
        return object.__sizeof__(self) + self.predictions.__sizeof__()

    @property
    def can_screen(self) -> bool:
        """Whether items may be left out of a pass: in NumPy, of many classes, all answered with probabilities."""
        data = self.predictions
        is_complete = data.hard is None and all(m.items is None and m.is_complete for m in data.soft)
        return is_complete and is_numpy(self._example) and data.n_classes >= SPARSE_FROM

    @property
    def n_workers(self) -> int:
        """Threads that help: NumPy releases the interpreter's lock, other libraries have threads of their own."""
        return min(n_threads(), len(self.chunks)) if is_numpy(self._example) else 1

    def _product_threads(self) -> AbstractContextManager[Any]:
        """One thread per product where chunks occupy the cores or products are small; else the library's own choice."""
        data = self.predictions
        is_large = data.n_items * data.n_classes**2 * len(self._dense) >= LARGE_PRODUCT
        return nullcontext() if self.n_workers == 1 and is_large else one_thread_per_product()

    def layer(self, scores: Scores) -> Layer:
        """The scores laid out for these items."""
        hard, n_columns = self.predictions.hard, len(self._hard) * self.predictions.n_classes
        few_labels = hard is not None and FEW_LABELS * len(hard.labels) < n_columns
        return Layer(scores, self._example, self._dense, self._hard, few_labels=few_labels)

    # ---- sums over items ----------------------------------------------------------------------------------

    def total(self, visit: Callable[[ReadChunk], ChunkStatistics]) -> Statistics:
        """The sum of what a function computes of each chunk."""

        def parts() -> Iterator[ChunkStatistics]:
            for part in in_order(visit, self.chunks, self.n_workers):
                yield part
                self.on_chunk()

        with self._product_threads():
            return added_up(parts(), self.predictions.n_members, self.predictions.n_classes)

    def statistics(self, responsibilities: Array) -> Statistics:
        """The statistics of given responsibilities (items, classes)."""

        def visit(chunk: ReadChunk) -> ChunkStatistics:
            rows = responsibilities[chunk.items, :]
            return chunk_statistics(chunk.features(), namespace(rows).matrix_transpose(rows), chunk.counts)

        return self.total(visit)

    def average_statistics(self, averages: Any, member_weights: FloatArray | None = None) -> Statistics:
        """The statistics of the (weighted) mean of the answers as another reader of the same items sees them."""
        weights = np.ones(self.predictions.n_members) if member_weights is None else member_weights

        def visit(chunk: ReadChunk) -> ChunkStatistics:
            average = averages.chunks[chunk.place].sparse_pool(weights)
            return chunk_statistics(chunk.features(), average, chunk.counts)

        return self.total(visit)

    def agreement(self) -> Agreement:
        """How much members agree with each other on these items."""
        n_members, n_classes = self.predictions.n_members, self.predictions.n_classes
        return self.added_up(
            lambda chunk: chunk_agreement(chunk.features(), n_members, chunk.n_items, n_classes, chunk.counts)
        )

    def added_up(self, visit: Callable[[ReadChunk], Sum]) -> Sum:
        """The sum of what a function finds in each chunk, of anything that can be added."""
        with self._product_threads():
            return reduce(add, in_order(visit, self.chunks, self.n_workers))

    def expectation(self, *, remembers: bool) -> Expectation:
        """Passes over these items."""
        return Expectation(self, remembers=remembers)

    # ---- rows for each item -------------------------------------------------------------------------------

    def gather(self, compute: Callable[[ReadChunk], Array], example: Array | None = None) -> Array:
        """The rows (items, classes), perhaps sparse, that a function computes of each chunk, as one array."""
        like_these = self._example if example is None else example
        with self._product_threads():
            parts = in_order(compute, self.chunks, self.n_workers)
            if not is_numpy(like_these):
                return namespace(like_these).concat([like_array(dense(part), like_these) for part in parts], axis=0)
            result = np.zeros((self.predictions.n_items, self.predictions.n_classes), dtype=like_these.dtype)
            for chunk, part in zip(self.chunks, parts, strict=True):
                if is_sparse(part):
                    entries = part.tocoo()
                    result[chunk.items][entries.row, entries.col] = entries.data
                else:
                    result[chunk.items] = part
            return result

    def pool(self, member_weights: FloatArray | None = None) -> Array:
        """The weighted mean of the features of each item (items, classes), one-hot where the class is known."""
        weights = np.ones(self.predictions.n_members) if member_weights is None else member_weights
        return self.gather(lambda chunk: chunk.pool(weights))

    def posterior(self, scores: Scores) -> Array:
        """The softmax of the scores of each item (items, classes)."""
        layer = self.layer(scores)
        return self.gather(lambda chunk: chunk.posterior(layer))

    def scored_posterior(self, scores: Scores, example: Array) -> LazyPosterior:
        """The softmax of the scores, in the library and precision of an example."""
        layer = self.layer(scores)
        return self.lazy_posterior(lambda chunk: chunk.posterior(layer), example)

    def lazy_posterior(self, rows: Callable[[ReadChunk], Array], example: Array) -> LazyPosterior:
        """A posterior of which a function computes the rows of each chunk."""
        if self.predictions.n_items * self.predictions.n_classes <= DENSE_NUMBERS:
            return LazyPosterior(self.gather(rows, example))

        def chunks() -> Iterator[tuple[int, int, Array]]:
            for chunk in self.chunks:
                yield chunk.chunk.start, chunk.chunk.stop, like_array(dense(rows(chunk)), example)

        return LazyPosterior(None, partial(self.gather, rows, example), chunks)


@final
class Expectation:
    """A sequence of E steps. Each returns statistics and keeps what the posterior needs of the responsibilities.

    The posterior T ← (1 - α) T + α P starts as the average of the members. So it is always `kept` · average + rest, and
    only the rest is stored, which takes few numbers per item when there are many classes.
    """

    def __init__(self, reader: Reader, *, remembers: bool) -> None:
        self.reader = reader
        self.kept = 1.0
        self.rests: list[Responsibilities] = [None] * len(reader.chunks)
        data, example = reader.predictions, example_of(reader.predictions)
        if remembers and data.n_items * data.n_classes <= DENSE_NUMBERS and is_numpy(example):
            # Small enough to be kept as it is: zeros to add to.
            self.rests = [np.zeros((data.n_classes, chunk.n_items), dtype=example.dtype) for chunk in reader.chunks]
        self._remembers = remembers
        self._screen = Screen([chunk.n_items for chunk in reader.chunks]) if reader.can_screen else None

    def __sizeof__(self) -> int:
        """The bytes of the reader, and of what is kept of the posterior."""
        return object.__sizeof__(self) + self.reader.__sizeof__() + sum(map(n_bytes, self.rests))

    def __call__(self, scores: Scores, *, averaging: float = 1.0) -> Statistics:
        """The statistics of the new responsibilities, which are averaged into the posterior."""
        layer, chunks = self.reader.layer(scores), self.reader.chunks
        screened = None if self._screen is None else self._screen.next_pass(layer, chunks[0].features)

        def visit(chunk: ReadChunk) -> ChunkStatistics:
            features = chunk.features()
            if screened is None:
                expected = expected_from(log_joint(features, chunk.known, layer, chunk.example), chunk.counts)
            else:
                expected = screened.expect(chunk.place, features, chunk.known, chunk.counts)
            if self._remembers:
                self.rests[chunk.place] = blended(self.rests[chunk.place], expected.values, averaging)
            statistics = chunk_statistics(features, expected.values, chunk.counts)
            evidence = expected.log_evidence
            if evidence is None:
                evidence = log_evidence(statistics, expected.values, layer, chunk.counts)
            return statistics._replace(log_evidence=evidence)

        self.kept *= 1 - averaging
        return self.reader.total(visit)

    def posterior(self, averages: Any) -> LazyPosterior:
        """The posterior after these passes; `averages` reads the same items and gives the average of their answers."""
        weights = np.ones(averages.predictions.n_members)
        example = example_of(averages.predictions)

        def rows(chunk: ReadChunk) -> Array:
            average = self.kept * chunk.pool(weights)
            rest = self.rests[chunk.place]
            # Clamped once more, because the weights of a clamped row sum to 1 only up to rounding.
            return clamp(average if rest is None else average + as_rows(rest, example), chunk.known)

        found: LazyPosterior = averages.lazy_posterior(rows, example)
        return found

    def copy(self) -> Expectation:
        """An independent copy, to continue from without changing this one."""
        new = copy(self)
        new.rests = [None if rest is None else 1 * rest for rest in self.rests]
        new._screen = copy(self._screen)  # noqa: SLF001 - the reference, which never changes, is shared
        return new


# ---- items with the same votes ----------------------------------------------------------------------------

FEWEST_ITEMS, MOST_DISTINCT = 1000, 0.25  # it pays for at least so many items, of which at most this share are distinct
FIRST_LOOK = 4096  # so many items are looked at first: of a crowd nearly all are distinct
MOST_TABLED = 2**22  # up to so many possible patterns are counted in a table; more are sorted
MOST_CODES = 2**62  # votes with more possible patterns have no number
ANSWERED_AT_ONCE = 2**18  # so many items at a time are given their answers


class Patterns(NamedTuple):
    """The distinct items of some predictions, with their counts."""

    predictions: Predictions
    places: IntArray  # (items,): which of them each item is

    def posterior(self, found: LazyPosterior | Array) -> LazyPosterior:
        """The posterior of all items, from that of the distinct ones."""
        rows: FloatArray = found.to_array() if isinstance(found, LazyPosterior) else found
        n_items = len(self.places)
        if n_items * rows.shape[1] <= DENSE_NUMBERS:
            return LazyPosterior(rows[self.places])

        def chunks() -> Iterator[tuple[int, int, Array]]:
            for start in range(0, n_items, ANSWERED_AT_ONCE):
                stop = min(start + ANSWERED_AT_ONCE, n_items)
                yield start, stop, rows[self.places[start:stop]]

        return LazyPosterior(None, lambda: rows[self.places], chunks)


def patterns_of(predictions: Any) -> Patterns | None:
    """The distinct items; None where they are too many, or not votes of each member at most once."""
    if not isinstance(predictions, Predictions) or predictions.soft or predictions.counts is not None:
        return None
    codes = None if predictions.n_items < FEWEST_ITEMS else codes_of(predictions)
    if codes is None:
        return None
    some = codes[sample(len(codes), FIRST_LOOK)]
    if len(np.unique(some)) > len(some) / 2:
        return None
    first, places, counts = _distinct(codes, (predictions.n_classes + 1) ** predictions.n_members)
    if len(first) > MOST_DISTINCT * len(codes):
        return None
    distinct = renamed(predictions.take(first), items=Axis("item", len(first)))
    return Patterns(counted(distinct, counts.astype(np.float64), places), places)


def codes_of(predictions: Predictions) -> IntArray | None:
    """A number for each item, the same for the same votes; None where a number is too small to hold them."""
    votes, n_members, base = predictions.hard, predictions.n_members, predictions.n_classes + 1
    if votes is None or not len(votes.items) or base**n_members >= MOST_CODES:
        return None
    keys = votes.items * n_members + votes.members
    if (keys[1:] <= keys[:-1]).any():  # somebody votes twice on an item
        return None
    digits = base ** np.arange(n_members, dtype=np.int64)
    if len(votes.items) == predictions.n_items * n_members:
        return np.asarray((votes.labels + 1).reshape(-1, n_members) @ digits)
    starts = np.searchsorted(votes.items, np.arange(predictions.n_items))
    if not np.array_equal(votes.items[np.minimum(starts, len(votes.items) - 1)], np.arange(predictions.n_items)):
        return None  # somebody's vote was undecided, and an item has none
    return np.add.reduceat((votes.labels + 1) * digits[votes.members], starts)


def votes_of_codes(codes: IntArray, n_members: int, n_classes: int) -> IntArray:
    """The votes (items, members) of such numbers, -1 where missing."""
    digits = (n_classes + 1) ** np.arange(n_members, dtype=np.int64)
    return np.asarray(codes[:, None] // digits % (n_classes + 1) - 1)


def _distinct(codes: IntArray, n_possible: int) -> tuple[IntArray, IntArray, IntArray]:
    """The first item of each pattern, which pattern each item has, and how many items have each pattern."""
    if n_possible > MOST_TABLED:
        _, first, places, counts = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
        return first, places, counts
    counted = np.bincount(codes, minlength=n_possible)
    present = np.flatnonzero(counted)
    number, first = np.zeros(n_possible, dtype=np.intp), np.zeros(n_possible, dtype=np.intp)
    number[present] = np.arange(len(present))
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # the last one written is the first item
    return first[present], number[codes], counted[present]
