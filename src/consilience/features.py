"""What a chunk of items says, in the two forms that linear scores need.

Every model of the project scores class k of item i by a sum over the answers to it,
`Σ_m weights[m, k] · x_im + bias[m, k]`, and learns from `Σ_i t_ik x_im`. Only x differs: the logarithms of a
member's probabilities, or its label as a one-hot row, which is never written out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from scipy import sparse

from consilience.arrays import Array, FloatArray, IntArray, in_library_of, like, namespace, to_numpy, working_dtype

if TYPE_CHECKING:
    from consilience.predictions import Chunk
    from consilience.storage import HardAnswers, SoftMember


@final
@dataclass(frozen=True, slots=True, eq=False)
class SoftFeatures:
    """One member's rows: log-probabilities or probabilities, zero where missing."""

    position: int
    n_items: int
    rows: Array  # (answers, classes)
    is_answer: Array | None  # (answers, 1) of ones and zeros; None where no row is missing
    incidence: Any | None  # (items, answers) sparse; None where row i answers item i

    def score(self, weights: FloatArray, bias: FloatArray) -> Array:
        """The member's part of the scores (items, true)."""
        scores = self.rows @ like(weights[self.position].T, self.rows)
        offset = like(bias[self.position][None, :], self.rows)
        scores = scores + (offset if self.is_answer is None else self.is_answer * offset)
        return scores if self.incidence is None else self.incidence @ scores

    def accumulate(self, responsibilities: Array, sums: FloatArray, counts: FloatArray) -> None:
        """Add Σ_i t_ik x_ij and the member's share of Σ_i t_ik."""
        xp = namespace(self.rows)
        responsibilities = in_library_of(self.rows, responsibilities)
        if self.incidence is not None:
            responsibilities = self.incidence.T @ responsibilities
        if self.is_answer is not None:
            responsibilities = responsibilities * self.is_answer
        sums[self.position] += to_numpy(xp.matrix_transpose(responsibilities) @ self.rows)
        counts[self.position] += to_numpy(xp.sum(responsibilities, axis=0))

    def pool(self, member_weights: FloatArray) -> tuple[Array, Array]:
        """The weighted sum of the rows of each item (items, classes), and the weight behind it (items, 1)."""
        xp = namespace(self.rows)
        weight = float(member_weights[self.position])
        is_answer = xp.ones_like(self.rows[:, :1]) if self.is_answer is None else self.is_answer
        total, behind = weight * self.rows, weight * is_answer
        return (total, behind) if self.incidence is None else (self.incidence @ total, self.incidence @ behind)


@final
@dataclass(frozen=True, slots=True, eq=False)
class LabelFeatures:
    """The hard answers as one sparse matrix (items, members × classes) of ones."""

    positions: IntArray
    n_classes: int
    matrix: sparse.csr_array

    def score(self, weights: FloatArray, bias: FloatArray) -> FloatArray:
        """The answers' part of the scores (items, true)."""
        table = weights[self.positions] + bias[self.positions][:, :, None]  # one answer has one label: Σ_j x_j = 1
        columns = table.transpose(0, 2, 1).reshape(-1, table.shape[1])
        return np.asarray(self.matrix @ columns)

    def accumulate(self, responsibilities: Array, sums: FloatArray, counts: FloatArray) -> None:
        """Add the expected number of times that each member called class k class j."""
        columns = np.asarray(self.matrix.T @ to_numpy(responsibilities).astype(np.float64, copy=False))
        table = columns.reshape(len(self.positions), self.n_classes, -1).transpose(0, 2, 1)
        sums[self.positions] += table
        counts[self.positions] += table.sum(axis=2)

    def pool(self, member_weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The weighted votes of each item (items, classes), and the weight behind them (items, 1)."""
        member, label = np.divmod(self.matrix.indices, self.n_classes)
        votes = sparse.csr_array(
            (member_weights[self.positions][member], label, self.matrix.indptr),
            shape=(self.matrix.shape[0], self.n_classes),
        ).toarray()
        return votes, votes.sum(axis=1, keepdims=True)


Features = SoftFeatures | LabelFeatures


def read_features(chunk: Chunk, n_classes: int, *, log_floor: float | None) -> tuple[Features, ...]:
    """The features of a chunk: probabilities as they are, or the logarithms of max(probability, log_floor)."""
    n_items = chunk.stop - chunk.start
    soft = tuple(_soft_features(member, n_items, log_floor) for member in chunk.soft)
    if chunk.hard is None or not len(chunk.hard.items):
        return soft
    return (*soft, _label_features(chunk.hard, n_items, n_classes))


def _soft_features(member: SoftMember, n_items: int, log_floor: float | None) -> SoftFeatures:
    stored = member.rows if member.items is None else to_numpy(member.rows)  # SciPy sums answers to one item
    xp = namespace(stored)
    rows = xp.astype(stored, working_dtype(stored), copy=False)
    is_answer = None
    if not member.is_complete:
        is_missing = xp.isnan(rows)
        is_answer = xp.astype(~is_missing[:, :1], rows.dtype)
        # 1 is harmless under the logarithm; the product with is_answer makes it zero in both readings.
        rows = xp.where(is_missing, xp.ones_like(rows), rows)
    if log_floor is not None:
        rows = xp.log(xp.clip(rows, log_floor, None))
    if is_answer is not None:
        rows = rows * is_answer
    incidence = None
    if member.items is not None:
        n_answers = len(member.items)
        entries = (np.ones(n_answers, dtype=rows.dtype), (member.items, np.arange(n_answers)))
        incidence = sparse.csr_array(entries, shape=(n_items, n_answers))
    return SoftFeatures(member.position, n_items, rows, is_answer, incidence)


def _label_features(hard: HardAnswers, n_items: int, n_classes: int) -> LabelFeatures:
    positions, member = np.unique(hard.members, return_inverse=True)
    indptr = np.searchsorted(hard.items, np.arange(n_items + 1))
    columns = member * n_classes + hard.labels
    matrix = sparse.csr_array((np.ones(len(columns)), columns, indptr), shape=(n_items, len(positions) * n_classes))
    return LabelFeatures(positions, n_classes, matrix)
