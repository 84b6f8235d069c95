"""Responsibilities of some items: the softmax of their scores, without the entries that vanish; and the posterior."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias, final

import numpy as np
from scipy import sparse

from consilience.passes.kernels import Features, Layer, Responsibilities
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
)

SPARSE_FROM = 64  # from this many classes on, responsibilities that vanish are left out


class Expected(NamedTuple):
    """The responsibilities (classes, items) of some items, and the logarithm of their evidence."""

    values: Responsibilities
    log_evidence: float | None  # None if not all items were scored; it then follows from the statistics


def expected_from(scores: Array, counts: FloatArray | None = None) -> Expected:
    """The softmax of the scores, sparse where that pays; `counts` (items,) says how often each item counts."""
    if is_numpy(scores) and scores.shape[0] >= SPARSE_FROM:
        expected = sparse_softmax(scores, counts)
        if expected is not None:
            return expected
    return dense_softmax(scores, counts)


def clamp(probabilities: Array, known: IntArray | None) -> Array:
    """The probabilities (items, classes) with one-hot rows where the class is known."""
    if known is None:
        return probabilities
    xp = namespace(probabilities)
    is_known = like(known >= 0, probabilities, dtype=xp.bool)[:, None]
    one_hot = np.arange(probabilities.shape[1])[None, :] == known[:, None]
    return xp.where(is_known, like(one_hot.astype(np.float64), probabilities), probabilities)


def settled(probabilities: Array, known: Array | None, noise: float) -> Array:
    """The probabilities (items, classes) given what is known: labels (items,) or rows (items, classes).

    Labels of -1 and rows of NaN are unknown. Known rows replace the probabilities. So do labels, unless `noise`, the
    share of labels that are wrong, is positive: they are then evidence beside the members' answers.
    """
    if known is None or (known.ndim == 1 and noise == 0):
        return clamp(probabilities, known)
    xp = namespace(probabilities)
    if known.ndim == 2:
        is_known = like(~np.isnan(known[:, :1]), probabilities, dtype=xp.bool)
        return xp.where(is_known, like(np.nan_to_num(known), probabilities), probabilities)
    n_classes = probabilities.shape[1]
    is_label = np.arange(n_classes)[None, :] == known[:, None]
    likelihood = np.where(is_label, 1 - noise, noise / (n_classes - 1))
    joint = probabilities * like(np.where(known[:, None] >= 0, likelihood, 1.0), probabilities)
    return joint / xp.sum(joint, axis=1, keepdims=True)


def blended(rest: Responsibilities, new: Responsibilities, averaging: float) -> Responsibilities:
    """(1 - averaging) · rest + averaging · new, written into `rest` where it is dense; sparse where both are."""
    if averaging == 1:
        return new
    if rest is None:
        return averaging * new
    if is_sparse(rest):
        return (1 - averaging) * rest + averaging * new
    rest *= 1 - averaging
    if is_sparse(new):
        rest[np.repeat(np.arange(new.shape[0]), np.diff(new.indptr)), new.indices] += averaging * new.data
    else:
        rest += averaging * new
    return rest


def dense(array: Array) -> Array:
    """The array with its zeros."""
    return array.toarray() if is_sparse(array) else array


def as_rows(responsibilities: Responsibilities, example: Array) -> Array:
    """Responsibilities (classes, items) as rows (items, classes) in the items' library and precision."""
    if is_sparse(responsibilities):
        return responsibilities.T.toarray().astype(example.dtype, copy=False)
    return namespace(responsibilities).matrix_transpose(responsibilities)


def log_joint(features: tuple[Features, ...], known: IntArray | None, layer: Layer, example: Array) -> Array:
    """Log p(x_i, k), up to a constant of the item (classes, items); -inf for the classes a known one rules out."""
    parts = [like_array(part.score(layer), example) for part in features]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    total += layer.log_prior
    if known is None:
        return total
    xp = namespace(total)
    is_out = (known[None, :] >= 0) & (np.arange(total.shape[0])[:, None] != known[None, :])
    return xp.where(like(is_out, total, dtype=xp.bool), like(np.full((1, 1), -np.inf), total), total)


def dense_softmax(scores: Array, counts: FloatArray | None = None) -> Expected:
    """The softmax of the scores (classes, items), which are overwritten."""
    xp = namespace(scores)
    shift = xp.max(scores, axis=0, keepdims=True)
    scores -= shift
    exponentials = xp.exp(scores)
    totals = xp.sum(exponentials, axis=0, keepdims=True)
    exponentials /= totals
    evidence = shift + xp.log(totals)
    of_items = double_sum(evidence) if counts is None else to_numpy(evidence)[0].astype(np.float64) @ counts
    return Expected(exponentials, float(of_items))


def sparse_softmax(scores: FloatArray, counts: FloatArray | None = None) -> Expected | None:
    """The softmax without the entries that vanish; None if too many entries are left to save time.

    Entries below the rounding error of the largest are left out (in double precision, even their sum is below it), so
    the result equals the full softmax. With many classes responsibilities are peaked, and later steps then cost
    little.
    """
    n_classes, n_items = scores.shape
    shift = scores.max(axis=0)
    least = np.finfo(scores.dtype).eps / (n_classes if scores.dtype == np.float64 else 8)
    is_left = scores > shift + np.log(least, dtype=scores.dtype)
    if np.count_nonzero(is_left) > 0.1 * is_left.size:
        return None
    # Along whichever axis is contiguous: products give (classes, items), sums over labels its transpose.
    by_item = not is_left.flags.c_contiguous
    n_major, n_minor = (n_items, n_classes) if by_item else (n_classes, n_items)
    place = np.flatnonzero(is_left.T if by_item else is_left)
    indptr = np.searchsorted(place, n_minor * np.arange(n_major + 1)).astype(np.int32)
    major = np.repeat(np.arange(n_major, dtype=np.int32), np.diff(indptr))
    minor = (place - n_minor * major.astype(np.intp)).astype(np.int32)
    item = major if by_item else minor
    values = np.exp((scores.T if by_item else scores).ravel()[place] - shift[item])
    totals = np.bincount(item, weights=values, minlength=n_items)
    values = (values / totals[item]).astype(scores.dtype)
    kind = sparse.csc_array if by_item else sparse.csr_array
    responsibilities = kind((values, minor, indptr), shape=scores.shape).tocsr()
    evidence = shift.astype(np.float64) + np.log(totals)
    return Expected(responsibilities, float(evidence.sum() if counts is None else evidence @ counts))


def sparse_where_it_pays(responsibilities: Array) -> Responsibilities:
    """Responsibilities without their zeros, where these are many: shares of votes among a thousand classes."""
    if not is_numpy(responsibilities) or responsibilities.shape[0] < SPARSE_FROM:
        return responsibilities
    is_dense = np.count_nonzero(responsibilities) > 0.1 * responsibilities.size
    return responsibilities if is_dense else sparse.csr_array(responsibilities)


# ---- the items of a fit -----------------------------------------------------------------------------------


Chunks: TypeAlias = "Iterator[tuple[int, int, Array]]"  # first item, item after the last, and their rows


@final
class LazyPosterior:
    """A posterior (items, classes). One that is computed when it is asked for holds on to the arrays that were fitted.

    `chunks` brings it here some items at a time: while it is not computed, or always if it lies on a cluster.
    """

    def __init__(
        self,
        values: Array | None,
        compute: Callable[[], Array] | None = None,
        chunks: Callable[[], Chunks] | None = None,
    ) -> None:
        self._values, self._compute, self._chunks = values, compute, chunks

    def to_array(self) -> Array:
        """All of it."""
        if self._compute is not None:
            self._values = self._compute()
            self._compute = self._chunks = None  # and with them the arrays that were fitted
        return self._values

    def chunks(self) -> Chunks:
        """Some items at a time, so that a large posterior never has to be in memory."""
        if self._chunks is not None:
            yield from self._chunks()
        else:
            yield 0, len(self.to_array()), self.to_array()

    def __getstate__(self) -> dict[str, Any]:
        """A pickle or a deep copy holds the numbers, not how to compute them."""
        return {"_values": self.to_array(), "_compute": None, "_chunks": None}
