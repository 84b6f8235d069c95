"""The answers to a chunk of items, in the form that linear scores need.

Every model of the project scores class k of item i by a sum over the answers to it,
`Σ_m weights[m, k] · x_im + bias[m, k]`, and learns from `Σ_i t_ik x_im`. Only x differs: a member's probabilities,
their logarithms, or its label as a one-hot row, which is never written out.

Scores and responsibilities are (classes, items) here: sums over classes then run along contiguous items, and the
products with `values` need no transposed copies.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import xlogy

from consilience.data.answers import HardAnswers, SoftMember, merged
from consilience.data.predictions import Chunk
from consilience.maths.em import Scores, Statistics
from consilience.system.arrays import (
    Array,
    FloatArray,
    IntArray,
    double_sum,
    is_numpy,
    is_sparse,
    like,
    like_array,
    namespace,
    to_numpy,
    working_dtype,
)

ADDED_AT_ONCE = 512
"""This many numbers are added one after the other, then the partial sums: a plain sum of a million would drift."""

FEW_COLUMNS = 6  # sparse products with so few columns take less time column by column

Responsibilities: TypeAlias = Any
"""(classes, items): an array, or a SciPy sparse array where all but a few entries of each column vanish."""


class Tables(NamedTuple):
    """The scores of some members who give probabilities, in the items' library and precision."""

    weights: Array  # (true, members × predicted)
    bias: Array  # (true, members)
    total: Array  # (true, 1): of an item that all of them have answered

    @classmethod
    def of(cls, scores: Scores, members: IntArray, example: Array) -> Tables:
        """The scores of these members."""
        n_classes = len(scores.log_prior)
        stacked = np.empty((n_classes, len(members), n_classes), dtype=to_numpy(example).dtype)
        for place, position in enumerate(members):
            stacked[:, place] = scores.weights[position]  # one by one: a copy of all in double precision is large
        bias = scores.bias[members]
        weights = like(stacked.reshape(n_classes, -1), example)
        return cls(weights, like(bias.T, example), like(bias.sum(axis=0)[:, None], example))


@final
class Layer:
    """Scores laid out for one pass over the items: each table is made once, in the items' library and precision."""

    def __init__(
        self, scores: Scores, example: Array, dense: IntArray, hard: IntArray, *, few_labels: bool = False
    ) -> None:
        self.scores, self._hard = scores, hard
        self.log_prior = like(scores.log_prior[:, None], example)
        # Made here and not when first needed, because threads share a layer.
        self.dense = Tables.of(scores, dense, example)
        self.hard_table = None
        if len(hard) and not few_labels:
            table = scores.weights[hard] + scores.bias[hard][:, :, None]  # one answer has one label: Σ_j x_j = 1
            self.hard_table = table.transpose(0, 2, 1).reshape(-1, table.shape[1])  # (members × predicted, true)

    def of_labels(self, labels: sparse.csr_array) -> FloatArray:
        """The scores (items, classes) of labels (items, members × predicted)."""
        if self.hard_table is not None:
            return times(labels, self.hard_table)
        columns, places = np.unique(labels.indices, return_inverse=True)
        place, label = np.divmod(columns, len(self.scores.log_prior))
        members = self._hard[place]
        table = self.scores.weights[members, :, label] + self.scores.bias[members]
        used = sparse.csr_array((labels.data, places, labels.indptr), shape=(labels.shape[0], len(columns)))
        return np.asarray(used @ table)


class Sums(NamedTuple):
    """Σ_i t_ik x_imj of some members: `table` is (true, members × predicted), dense or sparse."""

    positions: IntArray
    table: Any
    answer_counts: FloatArray  # (members, true): Σ_i t_ik over the items each member answered


@final
@dataclass(frozen=True, slots=True, eq=False)
class RowFeatures:
    """Rows of probabilities: those of all members who may answer every item, side by side, or of one who answered some.

    The rows of the latter are answers, perhaps two to an item, in NumPy, and `incidence` says to which item each is.
    """

    positions: IntArray
    values: Array  # (rows, members × classes), zero where missing
    is_answer: Array | None  # (members, rows) of ones and zeros; None where nothing is missing
    incidence: sparse.csr_array | None = None  # (items, rows); None where each item has a row

    def flags(self) -> Array:
        """Which rows are answers (members, rows), also where nothing is missing."""
        n_rows = self.values.shape[0]
        return like(np.ones((len(self.positions), n_rows)), self.values) if self.is_answer is None else self.is_answer

    def score(self, layer: Layer) -> Array:
        """The members' part of the scores (classes, items)."""
        if self.incidence is not None:
            own = Tables.of(layer.scores, self.positions, self.values)
            rows = self.values @ own.weights.T  # rows are contiguous, as a sparse product wants them
            rows += self.flags().T * own.bias.T
            return (self.incidence @ rows).T
        scores = layer.dense.weights @ namespace(self.values).matrix_transpose(self.values)
        scores += layer.dense.total if self.is_answer is None else layer.dense.bias @ self.is_answer
        return scores

    def accumulate(self, responsibilities: Responsibilities, class_counts: FloatArray) -> Sums:
        """Their sums; a sparse product where responsibilities are sparse."""
        if self.incidence is not None:
            rows = responsibilities.toarray() if is_sparse(responsibilities) else to_numpy(responsibilities)
            by_answer = (self.incidence.T @ rows.T).T * self.is_answer  # (true, answers)
            counts = by_answer.sum(axis=1, dtype=np.float64)  # in single precision, a million are off by a thousandth
            return Sums(self.positions, by_answer @ self.values, counts[None, :])
        if not is_sparse(responsibilities):
            responsibilities = like_array(responsibilities, self.values)
        table = to_numpy(responsibilities @ self.values)
        if self.is_answer is None:
            return Sums(self.positions, table, np.broadcast_to(class_counts, (len(self.positions), len(class_counts))))
        counts = responsibilities @ namespace(self.is_answer).matrix_transpose(self.is_answer)
        return Sums(self.positions, table, to_numpy(counts).T)

    def pool(self, member_weights: FloatArray) -> tuple[Array, Array]:
        """The weighted sum of the rows of each item (items, classes), and the weight behind it (items, 1)."""
        n_members = len(self.positions)
        n_classes = self.values.shape[1] // n_members
        weights = [float(member_weights[position]) for position in self.positions]
        total = weights[0] * self.values[:, :n_classes]
        for place in range(1, n_members):
            total += weights[place] * self.values[:, place * n_classes : (place + 1) * n_classes]
        if self.is_answer is None:
            return total, namespace(total).full_like(self.values[:, :1], sum(weights))
        behind = (like(np.array([weights]), self.values) @ self.is_answer).T
        return (total, behind) if self.incidence is None else (self.incidence @ total, self.incidence @ behind)


@final
@dataclass(frozen=True, eq=False)
class LabelFeatures:
    """The hard answers as one sparse matrix (items, members × classes) of ones."""

    positions: IntArray
    n_classes: int
    matrix: sparse.csr_array

    @cached_property
    def transposed(self) -> sparse.csr_array:
        """(members × classes, items), for sums of dense responsibilities."""
        return sparse.csr_array(self.matrix.T)

    def score(self, layer: Layer) -> FloatArray:
        """The answers' part of the scores (classes, items)."""
        scores = layer.of_labels(self.matrix).T
        # Few classes: the copy is cheap, and what follows runs along contiguous items.
        return np.ascontiguousarray(scores) if self.n_classes < 64 else scores

    def accumulate(self, responsibilities: Responsibilities, _: FloatArray) -> Sums:
        """The expected number of times that each member called class k class j."""
        n_members = len(self.positions)
        if is_sparse(responsibilities):
            table = responsibilities @ self.matrix
            member = table.indices // self.n_classes
            row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
            counts = np.bincount(
                member * table.shape[0] + row, weights=table.data, minlength=n_members * table.shape[0]
            )
            return Sums(self.positions, table, np.asarray(counts, dtype=np.float64).reshape(n_members, -1))
        dense = to_numpy(responsibilities).astype(np.float64, copy=False)
        table = times(self.transposed, dense.T).T
        return Sums(self.positions, table, table.reshape(-1, n_members, self.n_classes).sum(axis=2).T)

    def pool(self, member_weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The weighted votes of each item (items, classes), and the weight behind them (items, 1)."""
        if self.n_classes > FEW_COLUMNS:
            votes = self._votes(member_weights).toarray()
        else:
            votes = times(self.matrix, np.kron(member_weights[self.positions][:, None], np.eye(self.n_classes)))
        return votes, votes.sum(axis=1, keepdims=True)

    def shares(self, member_weights: FloatArray) -> sparse.csr_array:
        """The share of the weighted votes that each class gets (classes, items), without zeros."""
        votes = self._votes(member_weights)
        votes.sum_duplicates()
        votes.data /= np.repeat(np.asarray(votes.sum(axis=1)), np.diff(votes.indptr))
        return sparse.csr_array(votes.T)

    @cached_property
    def _answers(self) -> tuple[IntArray, IntArray]:
        """The place of the member and the label of each answer."""
        return np.divmod(self.matrix.indices, self.n_classes)

    def _votes(self, member_weights: FloatArray) -> sparse.csr_array:
        member, label = self._answers
        return sparse.csr_array(
            (member_weights[self.positions][member], label, self.matrix.indptr.copy()),
            shape=(self.matrix.shape[0], self.n_classes),
        )


Features: TypeAlias = RowFeatures | LabelFeatures


def times(matrix: sparse.csr_array, table: npt.NDArray[np.floating]) -> npt.NDArray[Any]:
    """`matrix` @ `table`, laid out column by column where these are few."""
    if table.shape[1] > FEW_COLUMNS:
        return np.asarray(matrix @ table)
    return np.stack([matrix @ column for column in np.ascontiguousarray(table.T)]).T


def read_features(
    chunk: Chunk, n_classes: int, hard_positions: IntArray, example: Array, *, log_floor: float | None
) -> tuple[Features, ...]:
    """The features of a chunk: probabilities as they are, or the logarithms of max(probability, log_floor)."""
    n_items = chunk.stop - chunk.start
    features: list[Features] = []
    if dense := [member for member in chunk.soft if member.items is None]:
        positions = np.array([member.position for member in dense])
        features.append(RowFeatures(positions, *_side_by_side(dense, example, log_floor)))
    features += [_answered_features(m, n_items, log_floor) for m in chunk.soft if m.items is not None and len(m.items)]
    if chunk.hard is not None and (len(chunk.hard.items) or not features):  # of undecided members nothing is left
        features.append(_label_features(chunk.hard, n_items, n_classes, hard_positions))
    return tuple(features)


def _side_by_side(members: list[SoftMember], example: Array, log_floor: float | None) -> tuple[Array, Array | None]:
    """The rows of members in working precision (rows, members × classes), zero where missing, and which are there."""
    if is_numpy(example) and all(is_numpy(member.rows) for member in members):
        return _numpy_side_by_side(members, example.dtype, log_floor)
    xp, is_complete = namespace(example), all(member.is_complete for member in members)
    values, is_answer = xp.concat([like_array(member.rows, example) for member in members], axis=1), None
    if not is_complete:
        is_missing = xp.isnan(values)
        is_answer = xp.astype(~is_missing[:, :: values.shape[1] // len(members)], values.dtype)
        # The logarithm of 1 is 0.
        values = xp.where(is_missing, like(np.full((1, 1), 0 if log_floor is None else 1), example), values)
    if log_floor is not None:
        values = xp.clip(values, log_floor, None)  # in two steps, so that two arrays of this size are there, not three
        values = xp.log(values)
    return values, None if is_answer is None else xp.matrix_transpose(is_answer)


def _numpy_side_by_side(members: list[SoftMember], dtype: Any, log_floor: float | None) -> tuple[Array, Array | None]:
    """The same with few temporary arrays, to save time."""
    n_rows, n_classes = members[0].rows.shape
    values = np.empty((n_rows, len(members) * n_classes), dtype=dtype)
    is_answer = np.ones((len(members), n_rows), dtype=dtype)
    for place, member in enumerate(members):
        part = values[:, place * n_classes : (place + 1) * n_classes]
        # In the working precision: the floor is 0 in half precision.
        np.maximum(member.rows, 0 if log_floor is None else log_floor, out=part, dtype=dtype)
        if not member.is_complete:
            is_missing = np.isnan(part[:, 0])
            is_answer[place, is_missing] = 0
            part[is_missing] = 0 if log_floor is None else 1  # whose logarithm is 0
        if log_floor is not None:
            np.log(part, out=part)
    return values, None if all(member.is_complete for member in members) else is_answer


def _answered_features(member: SoftMember, n_items: int, log_floor: float | None) -> RowFeatures:
    values, is_answer = to_numpy(member.rows), None
    dtype = working_dtype(values)
    if log_floor is not None or not member.is_complete or values.dtype != dtype:  # else there is no copy
        values, is_answer = _numpy_side_by_side([replace(member, rows=values)], dtype, log_floor)
    ones = np.ones(len(values), dtype=values.dtype)
    incidence = sparse.csr_array((ones, (member.items, np.arange(len(values)))), shape=(n_items, len(values)))
    flags = ones[None, :] if is_answer is None else is_answer
    return RowFeatures(np.array([member.position]), values, flags, incidence)


def _label_features(hard: HardAnswers, n_items: int, n_classes: int, positions: IntArray) -> LabelFeatures:
    indptr = np.searchsorted(hard.items, np.arange(n_items + 1))
    places = np.zeros(positions[-1] + 1, dtype=np.intp)
    places[positions] = np.arange(len(positions))
    columns = places[hard.members] * n_classes + hard.labels
    shape = (n_items, len(positions) * n_classes)
    return LabelFeatures(positions, n_classes, sparse.csr_array((np.ones(len(columns)), columns, indptr), shape=shape))


def weighed(part: Features, counts: FloatArray | None) -> Features:
    """The features, each item's multiplied by how often it counts, for sums that are linear in them."""
    if counts is None:
        return part
    if isinstance(part, LabelFeatures):
        return replace(part, matrix=sparse.csr_array(sparse.diags_array(counts) @ part.matrix))
    by_row = like(counts if part.incidence is None else part.incidence.T @ counts, part.values)
    return replace(part, values=part.values * by_row[:, None], is_answer=part.flags() * by_row[None, :])


def votes_of(chunk: Chunk, n_members: int, n_classes: int) -> LabelFeatures:
    """The votes of all members on the items of a chunk: the most probable class of each answer that has one."""
    votes = merged([*(votes for votes, _ in map(SoftMember.ballots, chunk.soft)), chunk.hard])
    return _label_features(cast("HardAnswers", votes), chunk.stop - chunk.start, n_classes, np.arange(n_members))


# ---- statistics of a chunk, and their sum -----------------------------------------------------------------


class ChunkStatistics(NamedTuple):
    """A chunk's part of the statistics, not yet added up."""

    n_items: float
    class_counts: FloatArray
    sums: list[Sums]
    log_evidence: float


def added_up(parts: Iterable[ChunkStatistics], n_members: int, n_classes: int) -> Statistics:
    """The statistics of all chunks, added up in double precision, in place."""
    n_items = log_evidence = 0.0
    class_counts, answer_counts = np.zeros(n_classes), np.zeros((n_members, n_classes))
    total = np.zeros((n_members, n_classes, n_classes))
    for part in parts:
        n_items += part.n_items
        log_evidence += part.log_evidence
        class_counts += part.class_counts
        for sums in part.sums:
            answer_counts[sums.positions] += sums.answer_counts
            _add_table(total, sums)
    return Statistics(n_items, class_counts, answer_counts, total, log_evidence)


def _add_table(total: FloatArray, sums: Sums) -> None:
    """Add the sums of some members to those of all (members, true, predicted)."""
    n_members, n_classes = len(sums.positions), total.shape[1]
    if is_sparse(sums.table):
        true = np.repeat(np.arange(n_classes), np.diff(sums.table.indptr))
        member, predicted = np.divmod(sums.table.indices, n_classes)
        # A sparse product has each cell once, so adding by index is safe.
        total[sums.positions[member], true, predicted] += sums.table.data
        return
    table = sums.table.reshape(n_classes, n_members, n_classes)
    if n_members > n_classes:
        total[sums.positions] += table.transpose(1, 0, 2)  # positions may be in any order
        return
    for place, position in enumerate(sums.positions):  # large tables, one after the other: no copy of all
        total[position] += table[:, place]


def chunk_statistics(
    features: tuple[Features, ...], responsibilities: Responsibilities, counts: FloatArray | None = None
) -> ChunkStatistics:
    """The statistics of a chunk given its responsibilities (classes, items), without its evidence.

    `counts` (items,) says how often each item counts; None, once.
    """
    n_items = responsibilities.shape[1] if counts is None else float(counts.sum())
    if counts is not None and is_sparse(responsibilities):
        responsibilities = sparse.csr_array(responsibilities @ sparse.diags_array(counts))
    elif counts is not None:
        responsibilities = responsibilities * like(counts, responsibilities)[None, :]
    if is_sparse(responsibilities):
        class_counts = np.asarray(responsibilities.sum(axis=1, dtype=np.float64))
    else:
        class_counts = _sums_over_items(responsibilities)
    sums = [part.accumulate(responsibilities, class_counts) for part in features]
    return ChunkStatistics(n_items, class_counts, sums, 0.0)


def _sums_over_items(responsibilities: Array) -> FloatArray:
    """Σ_i t_ik (classes,). NumPy adds pairwise only along contiguous items; other layouts are added in blocks."""
    if is_numpy(responsibilities) and not responsibilities.flags.c_contiguous:
        rows = responsibilities.T
        n_whole = len(rows) // ADDED_AT_ONCE * ADDED_AT_ONCE
        blocks = rows[:n_whole].reshape(-1, ADDED_AT_ONCE, rows.shape[1]).sum(axis=1, dtype=np.float64)
        return np.asarray(blocks.sum(axis=0) + rows[n_whole:].sum(axis=0, dtype=np.float64))
    return double_sum(responsibilities, axis=1)


def log_evidence(
    statistics: ChunkStatistics, responsibilities: sparse.csr_array, layer: Layer, counts: FloatArray | None = None
) -> float:
    """Σ_i log Σ_k p(x_i, k) = Σ_ik t_ik (log p(x_i, k) - log t_ik), whose first part is linear in the statistics."""
    constant = to_numpy(layer.dense.total + layer.log_prior)[:, 0]
    (sums,) = statistics.sums
    surprise = xlogy(responsibilities.data, responsibilities.data)
    if counts is not None:
        surprise = surprise * counts[responsibilities.indices]
    entropy = -float(np.sum(surprise, dtype=np.float64))
    return entropy + float(np.vdot(sums.table, layer.dense.weights)) + float(statistics.class_counts @ constant)
