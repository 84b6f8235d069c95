"""How much members agree with each other: sums over items of the products of their answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from scipy import sparse

from consilience.arrays import FloatArray, is_sparse, namespace, to_numpy
from consilience.features import AnsweredFeatures, DenseFeatures, Features

if TYPE_CHECKING:
    from consilience.arrays import Array, IntArray


@final
@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """Of each pair of members, over the items: `products`[m, n] = Σ_i x_im · x_in, and in how many terms that is.

    The rows x are probabilities, or labels as one-hot rows: then a product is 1 where two labels are the same. Sums of
    two sets of items add up.
    """

    products: FloatArray  # (members, members)
    counts: FloatArray  # (members, members): how often both answered

    @classmethod
    def zero(cls, n_members: int) -> Agreement:
        """Of no items."""
        return cls(np.zeros((n_members, n_members)), np.zeros((n_members, n_members)))

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(self.products + other.products, self.counts + other.counts)

    def __rmul__(self, factor: float) -> Agreement:
        return Agreement(factor * self.products, factor * self.counts)

    def beyond_chance(self, n_classes: int) -> FloatArray:
        """The mean products (members, members) on a scale where blind guesses get 0 and equal labels 1.

        The diagonal is what members claim of themselves: that of a member who is sure is 1. Pairs who never met get 0.
        """
        means = (n_classes * self.products / np.maximum(self.counts, 1) - 1) / (n_classes - 1)
        return np.where(self.counts > 0, means, 0.0)


def agreement_of(features: tuple[Features, ...], n_members: int, n_items: int) -> Agreement:
    """The agreement of the members on the items of a chunk."""
    total = Agreement.zero(n_members)
    parts = [_laid_out(part, n_items) for part in features]
    for first, (positions, answers, is_answer) in enumerate(parts):
        for others, other_answers, is_other in parts[first:]:
            place = np.ix_(positions, others)
            products, counts = _product(answers, other_answers), _product(is_answer, is_other)
            total.products[place] += products
            total.counts[place] += counts
            if positions is not others:
                total.products[place[1].T, place[0].T] += products.T
                total.counts[place[1].T, place[0].T] += counts.T
    return total


def _laid_out(features: Features, n_items: int) -> tuple[IntArray, Any, Any]:
    """Positions of members, their answers (members, items × classes), and how often they answered (members, items)."""
    if isinstance(features, DenseFeatures):
        xp, n_members = namespace(features.values), len(features.positions)
        rows = xp.permute_dims(xp.reshape(features.values, (n_items, n_members, -1)), (1, 0, 2))
        ones = features.is_answer
        return (
            features.positions,
            xp.reshape(rows, (n_members, -1)),
            np.ones((n_members, n_items)) if ones is None else ones,
        )
    if isinstance(features, AnsweredFeatures):
        rows, n_answers = (features.incidence @ part for part in (features.values, features.is_answer))
        return np.array([features.position]), rows.reshape(1, -1), n_answers.reshape(1, -1)
    entries = sparse.coo_array(features.matrix)
    member, label = np.divmod(entries.col, features.n_classes)
    shape = (len(features.positions), n_items)
    answers = (entries.data, (member, entries.row * features.n_classes + label))
    return (
        features.positions,
        sparse.csr_array(answers, shape=(shape[0], n_items * features.n_classes)),
        sparse.csr_array((entries.data, (member, entries.row)), shape=shape),
    )


def _product(first: Any, second: Any) -> FloatArray:
    """`first` @ `second`.T in double precision, where both are dense in their own library."""
    if is_sparse(first) or is_sparse(second) or type(first) is not type(second):
        first, second = (part if is_sparse(part) else to_numpy(part) for part in (first, second))
        product: Array = first @ second.T
        return np.asarray(product.toarray() if is_sparse(product) else product, dtype=np.float64)
    return to_numpy(first @ namespace(second).matrix_transpose(second)).astype(np.float64)
