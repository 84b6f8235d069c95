"""The E step: written once, for every model, storage and array library."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from scipy.special import xlogy

from consilience.maths.statistics import Statistics
from consilience.passes.agreement import Agreement, agreement_of
from consilience.passes.belief import Belief
from consilience.passes.kernels import Features, LabelFeatures, Layer, Responsibilities, Scores, Sums, read_features
from consilience.passes.responsibilities import (
    SPARSE_FROM,
    Expected,
    as_rows,
    blended,
    clamp,
    dense,
    expected_from,
    log_joint,
    softmax,
    sparse_where_it_pays,
)
from consilience.passes.screening import Screen
from consilience.system.arrays import Array, FloatArray, IntArray, is_numpy, is_sparse, like_array, namespace, to_numpy
from consilience.system.threads import in_order, n_threads, one_thread_per_product

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scipy import sparse

    from consilience.data.predictions import Chunk, Predictions

CACHED_NUMBERS = 2**23
"""Features of up to this many numbers are kept from one pass to the next; larger ones are read anew."""

LARGE_PRODUCT = 2**24
"""So many multiplications keep several threads busy."""

ADDED_AT_ONCE = 512
"""How many numbers are added one after the other before they join a sum, so that a million of them do not drift."""

DENSE_NUMBERS = 2**24
"""What a posterior of up to this many numbers is made of is kept dense, since the posterior will be."""


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
    keeps_features: bool
    _features: tuple[Features, ...] | None = None

    @property
    def n_items(self) -> int:
        """How many items it has."""
        return self.chunk.stop - self.chunk.start

    def features(self) -> tuple[Features, ...]:
        """What the chunk says, read anew unless it is small enough to keep."""
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
    """The chunks of some predictions, read as probabilities or (with `log_floor`) as their logarithms."""

    predictions: Predictions
    log_floor: float | None = None
    chunk_size: int | None = None
    known: IntArray | None = None
    on_chunk: Callable[[], None] = lambda: None  # called after each chunk of a pass
    chunks: list[ReadChunk] = field(init=False)

    def __post_init__(self) -> None:
        data = self.predictions
        self._example = data.example()
        n_numbers = sum(member.rows.shape[0] for member in data.soft) * data.n_classes
        hard_positions = np.empty(0, dtype=np.intp) if data.hard is None else np.unique(data.hard.members)
        self.chunks = [
            ReadChunk(
                place,
                chunk,
                data.n_classes,
                hard_positions,
                self._example,
                self.log_floor,
                None if self.known is None else self.known[chunk.start : chunk.stop],
                keeps_features=n_numbers <= CACHED_NUMBERS,
            )
            for place, chunk in enumerate(data.chunks(self.chunk_size))
        ]
        self._dense = np.array([member.position for member in data.soft if member.items is None], dtype=np.intp)
        self._hard = hard_positions

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.predictions.n_classes

    @property
    def can_screen(self) -> bool:
        """Whether items may be left out of a pass: in NumPy, of many classes, all answered with probabilities."""
        data = self.predictions
        is_complete = data.hard is None and all(m.items is None and m.is_complete for m in data.soft)
        return is_complete and is_numpy(self._example) and self.n_classes >= SPARSE_FROM

    @property
    def n_workers(self) -> int:
        """Threads that help: NumPy lets go of the interpreter, other libraries have threads of their own."""
        return min(n_threads(), len(self.chunks)) if is_numpy(self._example) else 1

    def _product_threads(self) -> AbstractContextManager[Any]:
        """One thread per product where chunks occupy the cores or products are small; else the library's own choice."""
        is_large = self.predictions.n_items * self.n_classes**2 * len(self._dense) >= LARGE_PRODUCT
        return nullcontext() if self.n_workers == 1 and is_large else one_thread_per_product()

    def layer(self, scores: Scores) -> Layer:
        """The scores laid out for these items."""
        return Layer(scores, self._example, self._dense, self._hard)

    def pool(self, member_weights: FloatArray | None = None) -> Array:
        """The weighted mean of the features of each item (items, classes), one-hot where the class is known."""
        weights = np.ones(self.predictions.n_members) if member_weights is None else member_weights
        return self.gather(lambda chunk: pool(chunk, weights, self._example))

    def posterior(self, scores: Scores) -> Array:
        """The softmax of the scores of each item (items, classes)."""
        layer = self.layer(scores)
        return self.gather(lambda chunk: posterior_rows(chunk, layer, self._example))

    def agreement(self) -> Agreement:
        """How much members agree with each other on these items."""
        n_members = self.predictions.n_members
        total = Agreement.zero(n_members)

        def visit(chunk: ReadChunk) -> Agreement:
            return agreement_of(chunk.features(), n_members, chunk.n_items)

        with self._product_threads():
            for part in in_order(visit, self.chunks, self.n_workers):
                total = total + part
        return total

    def gather(self, compute: Callable[[ReadChunk], Array], example: Array | None = None) -> Array:
        """The rows (items, classes), perhaps sparse, that a function computes of each chunk, as one array."""
        like_these = self._example if example is None else example
        with self._product_threads():
            parts = in_order(compute, self.chunks, self.n_workers)
            if not is_numpy(like_these):
                return namespace(like_these).concat([like_array(dense(part), like_these) for part in parts], axis=0)
            result = np.zeros((self.predictions.n_items, self.n_classes), dtype=like_these.dtype)
            for chunk, part in zip(self.chunks, parts, strict=True):
                _write(part, result[chunk.chunk.start : chunk.chunk.stop])
            return result

    def average_statistics(self, averages: Reader, member_weights: FloatArray | None = None) -> Statistics:
        """The statistics of the (weighted) mean of the answers as another reader of the same items sees them."""
        weights = np.ones(self.predictions.n_members) if member_weights is None else member_weights

        def visit(chunk: ReadChunk) -> ChunkStatistics:
            average = pooled(averages.chunks[chunk.place], weights, averages.predictions.example())
            return summarize(chunk.features(), average)

        return self.total(visit)

    def total(self, visit: Callable[[ReadChunk], ChunkStatistics]) -> Statistics:
        """The sum of what a function computes of each chunk."""
        total = Accumulator(self.predictions.n_members, self.n_classes)
        with self._product_threads():
            for part in in_order(visit, self.chunks, self.n_workers):
                total.add(part)
                self.on_chunk()
        return total.statistics()

    def statistics(self, responsibilities: Array) -> Statistics:
        """The statistics of given responsibilities (items, classes)."""

        def visit(chunk: ReadChunk) -> ChunkStatistics:
            rows = responsibilities[chunk.chunk.start : chunk.chunk.stop, :]
            return summarize(chunk.features(), namespace(rows).matrix_transpose(rows))

        return self.total(visit)

    def expectation(self, *, remembers: bool) -> Expectation:
        """Passes over these items."""
        return Expectation(self, remembers=remembers)

    def scored_belief(self, scores: Scores, example: Array) -> Belief:
        """The softmax of the scores, in the library and precision of an example."""
        layer = self.layer(scores)
        return self.belief(lambda chunk: posterior_rows(chunk, layer, self._example), example)

    def belief(self, rows: Callable[[ReadChunk], Array], example: Array) -> Belief:
        """A posterior of which a function computes the rows of each chunk."""

        def chunks() -> Iterator[tuple[int, int, Array]]:
            for chunk in self.chunks:
                yield chunk.chunk.start, chunk.chunk.stop, like_array(dense(rows(chunk)), example)

        is_large = self.predictions.n_items * self.n_classes > DENSE_NUMBERS
        return Belief(is_large, lambda: self.gather(rows, example), chunks)


class ChunkStatistics(NamedTuple):
    """A chunk's part of the statistics, not yet added up."""

    n_items: int
    class_counts: FloatArray
    sums: list[Sums]
    log_evidence: float


@final
class Accumulator:
    """Adds up the statistics of chunks in double precision, in place."""

    def __init__(self, n_members: int, n_classes: int) -> None:
        self.n_items, self.log_evidence = 0.0, 0.0
        self.class_counts = np.zeros(n_classes)
        self.answer_counts = np.zeros((n_members, n_classes))
        self.sums = np.zeros((n_members, n_classes, n_classes))

    def add(self, part: ChunkStatistics) -> None:
        """Add one chunk."""
        self.n_items += part.n_items
        self.log_evidence += part.log_evidence
        self.class_counts += part.class_counts
        for sums in part.sums:
            self.answer_counts[sums.positions] += sums.answer_counts
            if is_sparse(sums.table):
                self._add_sparse(sums)
                continue
            n_classes = len(self.class_counts)
            table = sums.table.reshape(n_classes, len(sums.positions), n_classes)
            if len(sums.positions) == len(self.sums) > n_classes:
                self.sums += table.transpose(1, 0, 2)
                continue
            for place, position in enumerate(sums.positions):  # large tables, one after the other: no copy of all
                self.sums[position] += table[:, place]

    def _add_sparse(self, sums: Sums) -> None:
        n_classes = len(self.class_counts)
        true = np.repeat(np.arange(n_classes), np.diff(sums.table.indptr))
        member, predicted = np.divmod(sums.table.indices, n_classes)
        # A sparse product has each cell once, so adding by index is safe.
        self.sums[sums.positions[member], true, predicted] += sums.table.data

    def statistics(self) -> Statistics:
        """The total."""
        return Statistics(self.n_items, self.class_counts, self.answer_counts, self.sums, self.log_evidence)


@final
class Expectation:
    """A pass over all items: statistics come back; of responsibilities, what the posterior will need is kept.

    The posterior T ← (1 - α) T + α P starts as the average of the members. So it is always `kept` · average + rest, and
    only the rest is stored: few numbers an item where there are many classes.
    """

    def __init__(self, reader: Reader, *, remembers: bool) -> None:
        self.reader = reader
        self.kept = 1.0
        self.rests: list[Responsibilities] = [None] * len(reader.chunks)
        self._remembers = remembers
        self._screen = Screen([chunk.n_items for chunk in reader.chunks]) if reader.can_screen else None

    def __call__(self, scores: Scores, *, averaging: float = 1.0) -> Statistics:
        """The statistics of the new responsibilities, which are averaged into the posterior."""
        layer = self.reader.layer(scores)
        expect = self._expect_with(layer)

        def visit(chunk: ReadChunk) -> ChunkStatistics:
            features = chunk.features()
            expected = expect(chunk, features)
            if self._remembers:
                rest = self._room(chunk) if self.rests[chunk.place] is None else self.rests[chunk.place]
                self.rests[chunk.place] = blended(rest, expected.values, averaging)
            statistics = summarize(features, expected.values)
            evidence = expected.log_evidence
            return statistics._replace(
                log_evidence=_log_evidence(statistics, expected.values, layer) if evidence is None else evidence
            )

        self.kept *= 1 - averaging
        return self.reader.total(visit)

    def _expect_with(self, layer: Layer) -> Callable[[ReadChunk, tuple[Features, ...]], Expected]:
        """How a pass with this layer finds the responsibilities of a chunk."""
        example = self.reader.predictions.example()
        if self._screen is None:
            return lambda chunk, features: expected_from(log_joint(features, chunk.known, layer, example))
        screened = self._screen.next_pass(layer, self.reader.chunks[0].features)
        return lambda chunk, features: screened.expect(chunk.place, features, chunk.known)

    def belief(self, averages: Reader) -> Belief:
        """What the passes have made of the average of the answers, which another reader of the same items sees."""
        weights = np.ones(averages.predictions.n_members)
        example = averages.predictions.example()

        def rows(chunk: ReadChunk) -> Array:
            average = self.kept * pool(chunk, weights, example)
            rest = self.rests[chunk.place]
            # Clamped once more, because the weights of a clamped row sum to 1 only up to rounding.
            return clamp(average if rest is None else average + as_rows(rest, example), chunk.known)

        return averages.belief(rows, example)

    def copy(self) -> Expectation:
        """The same passes so far, to go on from without changing this one."""
        new = Expectation(self.reader, remembers=self._remembers)
        new.kept = self.kept
        new.rests = [None if rest is None else 1 * rest for rest in self.rests]
        new._screen = None if self._screen is None else self._screen.copy()
        return new

    def _room(self, chunk: ReadChunk) -> Responsibilities:
        """Zeros to add to, where a posterior of all items is small enough to be kept as it is."""
        data = self.reader.predictions
        if data.n_items * data.n_classes > DENSE_NUMBERS or not is_numpy(data.example()):
            return None
        return np.zeros((data.n_classes, chunk.n_items), dtype=data.example().dtype)


# ---- one chunk --------------------------------------------------------------------------------------------


def posterior_rows(chunk: ReadChunk, layer: Layer, example: Array) -> Array:
    """The posterior of a chunk's items as rows (items, classes), sparse where nothing is lost by it."""
    scores = log_joint(chunk.features(), chunk.known, layer, example)
    # What is left out in single precision may be 1e-8, which is worth knowing; in double precision it is 1e-19.
    is_double = is_numpy(scores) and scores.dtype == np.float64
    values = (expected_from(scores) if is_double else softmax(scores)).values
    return values.T if is_sparse(values) else as_rows(values, example)


def summarize(features: tuple[Features, ...], responsibilities: Responsibilities) -> ChunkStatistics:
    """The statistics of a chunk given its responsibilities (classes, items), without its evidence."""
    if is_sparse(responsibilities):
        class_counts = np.asarray(responsibilities.sum(axis=1, dtype=np.float64))
    else:
        class_counts = _sums_over_items(responsibilities)
    sums = [part.accumulate(responsibilities, class_counts) for part in features]
    return ChunkStatistics(responsibilities.shape[1], class_counts, sums, 0.0)


def _sums_over_items(responsibilities: Array) -> FloatArray:
    """Σ_i t_ik (classes,). NumPy adds in pairs along contiguous items alone; elsewhere, some hundreds at a time."""
    if is_numpy(responsibilities) and not responsibilities.flags.c_contiguous:
        rows = responsibilities.T
        n_whole = len(rows) // ADDED_AT_ONCE * ADDED_AT_ONCE
        blocks = rows[:n_whole].reshape(-1, ADDED_AT_ONCE, rows.shape[1]).sum(axis=1, dtype=np.float64)
        return np.asarray(blocks.sum(axis=0) + rows[n_whole:].sum(axis=0, dtype=np.float64))
    xp = namespace(responsibilities)
    return np.asarray(to_numpy(xp.sum(responsibilities, axis=1, dtype=xp.float64)))


def _log_evidence(statistics: ChunkStatistics, responsibilities: sparse.csr_array, layer: Layer) -> float:
    """Σ_i log Σ_k p(x_i, k) = Σ_ik t_ik (log p(x_i, k) - log t_ik), whose first part is linear in the statistics."""
    constant = to_numpy(layer.dense_total + layer.log_prior)[:, 0]
    (sums,) = statistics.sums
    entropy = -float(np.sum(xlogy(responsibilities.data, responsibilities.data), dtype=np.float64))
    return entropy + float(np.vdot(sums.table, layer.dense_weights)) + float(statistics.class_counts @ constant)


def pooled(chunk: ReadChunk, member_weights: FloatArray, example: Array) -> Responsibilities:
    """The same as `pool` (classes, items), sparse where that pays: shares of votes among a thousand classes."""
    features = chunk.features()
    votes = features[0]
    are_plain = len(features) == 1 and chunk.known is None and chunk.n_classes >= SPARSE_FROM
    if are_plain and isinstance(votes, LabelFeatures):
        return votes.shares(member_weights)
    rows = pool(chunk, member_weights, example)
    return sparse_where_it_pays(namespace(rows).matrix_transpose(rows))


def _write(part: Array, rows: FloatArray) -> None:
    """Rows that were computed to where they belong, which is zero so far."""
    if is_sparse(part):
        entries = part.tocoo()
        rows[entries.row, entries.col] = entries.data
    else:
        rows[:] = part


def pool(chunk: ReadChunk, member_weights: FloatArray, example: Array) -> Array:
    """The weighted mean of the features of each item (items, classes), one-hot where the class is known."""
    pooled = [features.pool(member_weights) for features in chunk.features()]
    total, weight = (like_array(part, example) for part in pooled[0])
    for part, part_weight in pooled[1:]:
        total += like_array(part, example)
        weight = weight + like_array(part_weight, example)
    total /= weight
    return clamp(total, chunk.known)
