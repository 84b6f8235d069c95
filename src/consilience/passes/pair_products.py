"""How much members agree with each other: sums over items of the products of their answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from scipy import sparse

from consilience.maths.em import SumsOverItems
from consilience.passes.kernels import Features, LabelFeatures, RowFeatures, weighed
from consilience.system.arrays import Array, FloatArray, IntArray, double_sum, is_sparse, namespace, to_numpy

MOST_MEMBERS = 512
"""Beyond so many members they are not compared: the table of pairs would be larger than what it could tell."""

DENSE_FASTER = 64  # how many products a dense matrix product makes in the time of one in a sparse matrix product, about
TABLED_AT_ONCE = 2**20  # labels are compared as a dense table of so many numbers at a time

SPREAD = 0.01
"""The share of a member's answers that is taken to be even over the classes. Otherwise nobody could tell what two
members are worth who name one class only, as labelling functions do."""


SUM_ROUNDING = 1.11
"""Probabilities may sum to 1.05, where many classes are rounded, and the products of two rows to the square of that."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Agreement(SumsOverItems):
    """The agreement of each pair of members: `products`[m, n] = Σ_i x_im · x_in, and the number of terms.

    The rows x are probabilities, or labels as one-hot rows: then a product is 1 if two labels are equal. The confidence
    of each member is summed too. The agreement on two sets of items adds up.
    """

    products: FloatArray  # (members, members); (0, 0) of more than `MOST_MEMBERS`, as are the counts
    counts: FloatArray  # (members, members): how often both answered; who answers an item twice counts twice
    confidences: FloatArray  # (members,): Σ max_j x_imj over its answers
    answers: FloatArray  # (members,): how many there are
    totals: FloatArray  # (members, classes): Σ_i x_im

    @classmethod
    def zero(cls, n_members: int, n_classes: int) -> Agreement:
        """The agreement on zero items."""
        n_compared = n_members if n_members <= MOST_MEMBERS else 0
        pairs, members = (n_compared, n_compared), (n_members,)
        rows = np.zeros((n_members, n_classes))
        return cls(np.zeros(pairs), np.zeros(pairs), np.zeros(members), np.zeros(members), rows)

    def flaw(self) -> str | None:
        """Why these are no sums of products of probabilities; None where they are."""
        is_too_large = (self.products > SUM_ROUNDING * self.counts).any()
        is_too_sure = (self.confidences > SUM_ROUNDING * self.answers).any()
        totals = self.totals.sum(axis=1)
        is_off = ((totals > SUM_ROUNDING * self.answers) | (SUM_ROUNDING * totals < self.answers)).any()
        return "must be of probabilities" if is_too_large or is_too_sure or is_off else None

    def among(self, members: IntArray) -> Agreement:
        """The agreement of some members."""
        pairs = np.ix_(members, members)
        of_each = (self.confidences[members], self.answers[members], self.totals[members])
        return Agreement(self.products[pairs], self.counts[pairs], *of_each)

    @property
    def has_pairs(self) -> bool:
        """Whether members were compared with each other."""
        return len(self.products) == len(self.answers)

    @property
    def mean_confidence(self) -> FloatArray:
        """The mean confidence of each member (members,); 1 for members who give labels, or no answer."""
        has_answered = self.answers > 0
        return np.divide(self.confidences, self.answers, out=np.ones_like(self.answers), where=has_answered)

    @property
    def shares(self) -> FloatArray:
        """How often each member says each class (members, classes), drawn a little to even ones: none is 0 or 1."""
        even = np.full_like(self.totals, 1 / self.totals.shape[1])
        found = np.divide(self.totals, self.answers[:, None], out=even.copy(), where=self.answers[:, None] > 0)
        return np.asarray((1 - SPREAD) * found + SPREAD * even)

    @property
    def chance(self) -> FloatArray:
        """What the mean products (members, members) would be if members answered blindly, each with its own shares."""
        return np.asarray(self.shares @ self.shares.T)

    def beyond_chance(self) -> FloatArray:
        """The mean products (members, members) on a scale where blind answers get 0 and equal labels 1.

        Blind answers agree as often as the members' shares make them: two who always say the frequent class agree,
        and that tells nothing. The diagonal is a member's agreement with itself, 1 if it is always sure.
        Pairs without a common item get 0.
        """
        chance = self.chance
        met = self.counts > 0  # however little is left of it: a stream may forget all but a fraction of an item
        means = np.divide(self.products, self.counts, out=chance.copy(), where=met)
        return (means - chance) / np.maximum(1 - chance, 1e-6)


class Laid(NamedTuple):
    """The answers of some members, one row each: the product of two rows sums over all items."""

    positions: IntArray
    answers: Any  # (members, items × classes), dense or sparse; two answers to an item are added
    n_answers: Any  # (members, items)


def chunk_agreement(
    features: tuple[Features, ...], n_members: int, n_items: int, n_classes: int, counts: FloatArray | None = None
) -> Agreement:
    """The agreement of the members on the items of a chunk, which count so often each."""
    total = Agreement.zero(n_members, n_classes)
    weighed_features = tuple(weighed(part, counts) for part in features)
    for part in weighed_features:
        where = part.positions
        total.confidences[where], total.answers[where], total.totals[where] = _tally(part)
    if total.has_pairs:
        parts = _laid_out(features, n_items)
        _compare(total, parts if counts is None else _laid_out(weighed_features, n_items), parts)
    return total


def _compare(total: Agreement, ones: list[Laid], others: list[Laid]) -> None:
    """Fill in the products and counts of all pairs; one factor of each is weighed."""
    for first, one in enumerate(ones):
        for other in others[first:]:
            products, counts = _products(one.answers, other.answers), _products(one.n_answers, other.n_answers)
            place, mirrored = np.ix_(one.positions, other.positions), np.ix_(other.positions, one.positions)
            total.products[place], total.counts[place] = products, counts
            total.products[mirrored], total.counts[mirrored] = products.T, counts.T


def _tally(features: Features) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The confidences, answers and totals of the members of some features; missing rows are zero."""
    if isinstance(features, LabelFeatures):
        totals = np.asarray(features.matrix.sum(axis=0), dtype=np.float64).reshape(-1, features.n_classes)
        return totals.sum(axis=1), totals.sum(axis=1), totals
    rows = _rows(features)
    confidences = double_sum(namespace(rows).max(rows, axis=2), axis=1)
    return confidences, double_sum(features.flags(), axis=1), double_sum(rows, axis=1)


def _laid_out(features: tuple[Features, ...], n_items: int) -> list[Laid]:
    """The answers of each kind of features; all members who answered some items are put together."""
    rows = [part for part in features if isinstance(part, RowFeatures)]
    some = [part for part in rows if part.incidence is not None]
    parts = [_of_some(some)] if some else []
    parts += [_of_all(part) for part in rows if part.incidence is None]
    return parts + [_of_labels(part, n_items) for part in features if isinstance(part, LabelFeatures)]


def _of_all(features: RowFeatures) -> Laid:
    rows = _rows(features)
    return Laid(features.positions, namespace(rows).reshape(rows, (rows.shape[0], -1)), features.flags())


def _rows(features: RowFeatures) -> Array:
    """(members, rows, classes)."""
    values, xp = features.values, namespace(features.values)
    return xp.permute_dims(xp.reshape(values, (values.shape[0], len(features.positions), -1)), (1, 0, 2))


def _of_some(features: list[RowFeatures]) -> Laid:
    answers = np.stack([(part.incidence @ part.values).ravel() for part in features])
    n_answers = np.concatenate([(part.incidence @ part.flags().T).T for part in features])
    return Laid(np.concatenate([part.positions for part in features]), answers, n_answers)


def _of_labels(features: LabelFeatures, n_items: int) -> Laid:
    n_members, n_classes = len(features.positions), features.n_classes
    entries = sparse.coo_array(features.matrix)
    member, label = np.divmod(entries.col, n_classes)
    answers = (entries.data, (member, entries.row * n_classes + label))
    return Laid(
        features.positions,
        sparse.csc_array(answers, shape=(n_members, n_items * n_classes)),
        sparse.csc_array((entries.data, (member, entries.row)), shape=(n_members, n_items)),
    )


def _products(first: Any, second: Any) -> FloatArray:
    """`first` @ `second`.T as NumPy's, computed in their own library where they share one."""
    if is_sparse(first) and is_sparse(second):
        # How many products most of which are zero a dense product makes, and how many a sparse one has to make.
        n_dense = first.shape[0] * second.shape[0] * first.shape[1]
        n_sparse = np.diff(first.indptr).astype(np.float64) @ np.diff(second.indptr)
        if n_dense < DENSE_FASTER * n_sparse:
            return _dense_products(first, second)
    if is_sparse(first) or is_sparse(second) or type(first) is not type(second):
        first, second = (part if is_sparse(part) else to_numpy(part) for part in (first, second))
        product: Array = first @ second.T
        return np.asarray(product.toarray() if is_sparse(product) else product, dtype=np.float64)
    return to_numpy(first @ namespace(second).matrix_transpose(second)).astype(np.float64)


def _dense_products(first: sparse.csc_array, second: sparse.csc_array) -> FloatArray:
    """`first` @ `second`.T, some columns at a time. Single precision is exact for sums of up to 2²⁴ ones."""
    total = np.zeros((first.shape[0], second.shape[0]))
    dtype: Any = np.float32 if (first.data == 1).all() and (second.data == 1).all() else np.float64
    step = max(1, TABLED_AT_ONCE // max(total.shape))
    for start in range(0, first.shape[1], step):
        one = first[:, start : start + step].toarray().astype(dtype)
        other = one if second is first else second[:, start : start + step].toarray().astype(dtype)
        total += one @ other.T
    return total
