"""Responsibilities of some items: the softmax of their scores, without what vanishes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from consilience.passes.kernels import LabelFeatures
from consilience.system.arrays import Array, FloatArray, IntArray, is_numpy, is_sparse, like, like_array, namespace

if TYPE_CHECKING:
    from consilience.passes.kernels import Features, Layer, Responsibilities
    from consilience.passes.reader import ReadChunk

SPARSE_FROM = 64
"""From so many classes on, responsibilities that vanish are left out."""


class Expected(NamedTuple):
    """The responsibilities (classes, items) of some items, and the logarithm of their evidence."""

    values: Responsibilities
    log_evidence: float | None  # None where not all were scored; it follows from the statistics


def expected_from(scores: Array) -> Expected:
    """The softmax of the scores, sparse where that pays."""
    if is_numpy(scores) and scores.shape[0] >= SPARSE_FROM:
        expected = sparse_softmax(scores)
        if expected is not None:
            return expected
    return softmax(scores)


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

    Labels of -1 and rows of NaN are unknown. Known rows are the answer. Labels are too, unless `noise`, the share of
    labels that are wrong, makes them evidence beside what the members say.
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
    """(1 - averaging) · rest + averaging · new, in the room of a dense rest; sparse where both are."""
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


def softmax(scores: Array) -> Expected:
    """The softmax of the scores (classes, items), which are overwritten."""
    xp = namespace(scores)
    shift = xp.max(scores, axis=0, keepdims=True)
    scores -= shift
    exponentials = xp.exp(scores)
    totals = xp.sum(exponentials, axis=0, keepdims=True)
    exponentials /= totals
    return Expected(exponentials, float(xp.sum(xp.astype(shift + xp.log(totals), xp.float64))))


def sparse_softmax(scores: FloatArray) -> Expected | None:
    """The softmax without the entries that vanish; None where too many are left for that to pay.

    Left out is what is below the rounding error of the largest entry (in double precision, all of it together), so the
    result is that of the full softmax. Responsibilities are peaked where there are many classes, and what follows then
    costs little.
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
    return Expected(responsibilities, float((shift.astype(np.float64) + np.log(totals)).sum()))


def sparse_where_it_pays(responsibilities: Array) -> Responsibilities:
    """Responsibilities without their zeros, where these are many: shares of votes among a thousand classes."""
    if not is_numpy(responsibilities) or responsibilities.shape[0] < SPARSE_FROM:
        return responsibilities
    is_dense = np.count_nonzero(responsibilities) > 0.1 * responsibilities.size
    return responsibilities if is_dense else sparse.csr_array(responsibilities)


# ---- one chunk --------------------------------------------------------------------------------------------


def posterior_rows(chunk: ReadChunk, layer: Layer, example: Array) -> Array:
    """The posterior of a chunk's items as rows (items, classes), sparse where nothing is lost by it."""
    scores = log_joint(chunk.features(), chunk.known, layer, example)
    # What is left out in single precision may be 1e-8, which is worth knowing; in double precision it is 1e-19.
    is_double = is_numpy(scores) and scores.dtype == np.float64
    values = (expected_from(scores) if is_double else softmax(scores)).values
    return values.T if is_sparse(values) else as_rows(values, example)


def pooled(chunk: ReadChunk, member_weights: FloatArray, example: Array) -> Responsibilities:
    """The same as `pool` (classes, items), sparse where that pays: shares of votes among a thousand classes."""
    features = chunk.features()
    votes = features[0]
    are_plain = len(features) == 1 and chunk.known is None and chunk.n_classes >= SPARSE_FROM
    if are_plain and isinstance(votes, LabelFeatures):
        return votes.shares(member_weights)
    rows = pool(chunk, member_weights, example)
    return sparse_where_it_pays(namespace(rows).matrix_transpose(rows))


def pool(chunk: ReadChunk, member_weights: FloatArray, example: Array) -> Array:
    """The weighted mean of the features of each item (items, classes), one-hot where the class is known."""
    pooled = [features.pool(member_weights) for features in chunk.features()]
    total, weight = (like_array(part, example) for part in pooled[0])
    for part, part_weight in pooled[1:]:
        total += like_array(part, example)
        weight = weight + like_array(part_weight, example)
    total /= weight
    return clamp(total, chunk.known)
