"""Readers visit all items, chunk by chunk. A pass with the scores of a model is its E step.

Items lie in memory, on disk or on a cluster. Each place has a reader with the same methods, and `open_reader` chooses.

Items with the same votes are fitted and answered once, and count as often as there are of them. With few members and
classes most items have the votes of many others: five members and three classes can vote in 1,023 ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, final

import numpy as np

from consilience.data.answers import HardAnswers
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
    Accumulator,
    ChunkStatistics,
    Features,
    Layer,
    Responsibilities,
    chunk_statistics,
    log_evidence,
    read_features,
)
from consilience.passes.pair_products import Agreement, chunk_agreement
from consilience.passes.responsibilities import (
    SPARSE_FROM,
    Expected,
    LazyPosterior,
    as_rows,
    blended,
    clamp,
    dense,
    expected_from,
    log_joint,
    pool,
    posterior_rows,
    sparse_pool,
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
    _features: tuple[Features, ...] | None = None

    @property
    def n_items(self) -> int:
        """How many items it has."""
        return self.chunk.stop - self.chunk.start

    @property
    def items(self) -> slice:
        """Where its items stand among all."""
        return slice(self.chunk.start, self.chunk.stop)

    @property
    def has_features(self) -> bool:
        """Whether the features have been read, and kept."""
        return self._features is not None

    def features(self) -> tuple[Features, ...]:
        """The features of the chunk, read again at each call unless they are small enough to keep."""
        if self._features is not None:
            return self._features
        features = read_features(
            self.chunk, self.n_classes, self.hard_positions, self.example, log_floor=self.log_floor
        )
        if self.keeps_features:
            self._features = features
        return features


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
        n_numbers = sum(member.rows.shape[0] for member in data.soft) * data.n_classes
        hard_positions = (
            np.empty(0, dtype=np.intp) if data.hard is None else np.flatnonzero(np.bincount(data.hard.members))
        )
        if data.hard is not None and not len(hard_positions):
            hard_positions = np.zeros(1, dtype=np.intp)  # nobody is decided: the first member has no votes, as all
        self.chunks = [
            ReadChunk(
                place,
                chunk,
                data.n_classes,
                hard_positions,
                self._example,
                self.log_floor,
                None if self.known is None else self.known[chunk.start : chunk.stop],
                None if data.counts is None else data.counts[chunk.start : chunk.stop],
                keeps_features=n_numbers <= CACHED_NUMBERS,
            )
            for place, chunk in enumerate(data.chunks(self.chunk_size))
        ]
        self._dense = np.array([member.position for member in data.soft if member.items is None], dtype=np.intp)
        self._hard = hard_positions

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
        total = Accumulator(self.predictions.n_members, self.predictions.n_classes)
        with self._product_threads():
            for part in in_order(visit, self.chunks, self.n_workers):
                total.add(part)
                self.on_chunk()
        return total.statistics()

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
            average = sparse_pool(averages.chunks[chunk.place], weights, example_of(averages.predictions))
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
        return self.gather(lambda chunk: pool(chunk, weights, self._example))

    def posterior(self, scores: Scores) -> Array:
        """The softmax of the scores of each item (items, classes)."""
        layer = self.layer(scores)
        return self.gather(lambda chunk: posterior_rows(chunk, layer, self._example))

    def scored_posterior(self, scores: Scores, example: Array) -> LazyPosterior:
        """The softmax of the scores, in the library and precision of an example."""
        layer = self.layer(scores)
        return self.lazy_posterior(lambda chunk: posterior_rows(chunk, layer, self._example), example)

    def lazy_posterior(self, rows: Callable[[ReadChunk], Array], example: Array) -> LazyPosterior:
        """A posterior of which a function computes the rows of each chunk."""

        def chunks() -> Iterator[tuple[int, int, Array]]:
            for chunk in self.chunks:
                yield chunk.chunk.start, chunk.chunk.stop, like_array(dense(rows(chunk)), example)

        is_large = self.predictions.n_items * self.predictions.n_classes > DENSE_NUMBERS
        return LazyPosterior(partial(self.gather, rows, example), chunks, is_large=is_large)


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
        self._remembers = remembers
        self._screen = Screen([chunk.n_items for chunk in reader.chunks]) if reader.can_screen else None

    def __sizeof__(self) -> int:
        """The bytes of the reader, and of what is kept of the posterior."""
        return object.__sizeof__(self) + self.reader.__sizeof__() + sum(map(n_bytes, self.rests))

    def __call__(self, scores: Scores, *, averaging: float = 1.0) -> Statistics:
        """The statistics of the new responsibilities, which are averaged into the posterior."""
        layer = self.reader.layer(scores)
        expect = self._expect_with(layer)

        def visit(chunk: ReadChunk) -> ChunkStatistics:
            features = chunk.features()
            expected = expect(chunk, features)
            if self._remembers:
                rest = self._zeros(chunk) if self.rests[chunk.place] is None else self.rests[chunk.place]
                self.rests[chunk.place] = blended(rest, expected.values, averaging)
            statistics = chunk_statistics(features, expected.values, chunk.counts)
            evidence = expected.log_evidence
            if evidence is None:
                evidence = log_evidence(statistics, expected.values, layer, chunk.counts)
            return statistics._replace(log_evidence=evidence)

        self.kept *= 1 - averaging
        return self.reader.total(visit)

    def _expect_with(self, layer: Layer) -> Callable[[ReadChunk, tuple[Features, ...]], Expected]:
        """How a pass with this layer finds the responsibilities of a chunk."""
        example = example_of(self.reader.predictions)
        if self._screen is None:
            return lambda chunk, features: expected_from(log_joint(features, chunk.known, layer, example), chunk.counts)
        screened = self._screen.next_pass(layer, self.reader.chunks[0].features)
        return lambda chunk, features: screened.expect(chunk.place, features, chunk.known, chunk.counts)

    def posterior(self, averages: Any) -> LazyPosterior:
        """The posterior after these passes; `averages` reads the same items and gives the average of their answers."""
        weights = np.ones(averages.predictions.n_members)
        example = example_of(averages.predictions)

        def rows(chunk: ReadChunk) -> Array:
            average = self.kept * pool(chunk, weights, example)
            rest = self.rests[chunk.place]
            # Clamped once more, because the weights of a clamped row sum to 1 only up to rounding.
            return clamp(average if rest is None else average + as_rows(rest, example), chunk.known)

        found: LazyPosterior = averages.lazy_posterior(rows, example)
        return found

    def copy(self) -> Expectation:
        """An independent copy, to continue from without changing this one."""
        new = Expectation(self.reader, remembers=self._remembers)
        new.kept = self.kept
        new.rests = [None if rest is None else 1 * rest for rest in self.rests]
        new._screen = None if self._screen is None else self._screen.copy()
        return new

    def _zeros(self, chunk: ReadChunk) -> Responsibilities:
        """Zeros to add to, where a posterior of all items is small enough to be kept as it is."""
        data = self.reader.predictions
        if data.n_items * data.n_classes > DENSE_NUMBERS or not is_numpy(example_of(data)):
            return None
        return np.zeros((data.n_classes, chunk.n_items), dtype=example_of(data).dtype)


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

        def chunks() -> Iterator[tuple[int, int, Array]]:
            for start in range(0, n_items, ANSWERED_AT_ONCE):
                stop = min(start + ANSWERED_AT_ONCE, n_items)
                yield start, stop, rows[self.places[start:stop]]

        is_large = n_items * rows.shape[1] > DENSE_NUMBERS
        return LazyPosterior(lambda: rows[self.places], chunks, is_large=is_large)


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
    if votes is None or base**n_members >= MOST_CODES or not _are_single(votes, n_members):
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


def _are_single(votes: HardAnswers, n_members: int) -> bool:
    """Whether the votes are in the order of items and members, and nobody votes twice on an item."""
    keys = votes.items * n_members + votes.members
    return bool(len(keys)) and bool((keys[1:] > keys[:-1]).all())


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
