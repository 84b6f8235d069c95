"""The E step: written once, for every model, storage and array library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from consilience.arrays import Array, FloatArray, IntArray, in_library_of, like, namespace, to_numpy
from consilience.features import Features, read_features
from consilience.statistics import Statistics

if TYPE_CHECKING:
    from consilience.predictions import Predictions

CACHED_NUMBERS = 2**26
"""Features of up to this many numbers are kept from one pass to the next; larger ones are read anew."""

Mapper = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""What runs a function over the chunks: the built-in `map`, a thread pool's, a cluster's."""


class Scores(NamedTuple):
    """A frozen fit: class k of item i scores `log_prior[k] + Σ_m weights[m, k] · x_im + bias[m, k]`.

    The posterior is the softmax of the scores: a fitted model is a linear layer on log-probabilities or labels.
    """

    log_prior: FloatArray  # (true,)
    weights: FloatArray  # (members, true, predicted)
    bias: FloatArray  # (members, true)


class ReadChunk(NamedTuple):
    """A chunk of items ready for the E step."""

    start: int
    stop: int
    features: tuple[Features, ...]
    known: IntArray | None  # (items,): known classes, -1 where unknown


@final
@dataclass(eq=False)
class Reader:
    """The chunks of some predictions as features, again for every pass; small data is read only once."""

    predictions: Predictions
    log_floor: float | None = None
    chunk_size: int | None = None
    known: IntArray | None = None
    _cache: list[ReadChunk] | None = None

    def __iter__(self) -> Iterator[ReadChunk]:
        if self._cache is not None:
            return iter(self._cache)
        if sum(member.rows.shape[0] for member in self.predictions.soft) * self.n_classes > CACHED_NUMBERS:
            return self._read()
        self._cache = list(self._read())
        return iter(self._cache)

    def _read(self) -> Iterator[ReadChunk]:
        for chunk in self.predictions.chunks(self.chunk_size):
            features = read_features(chunk, self.n_classes, log_floor=self.log_floor)
            known = None if self.known is None else self.known[chunk.start : chunk.stop]
            yield ReadChunk(chunk.start, chunk.stop, features, known)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.predictions.n_classes

    def pool(self, member_weights: FloatArray | None = None) -> Array:
        """The weighted mean of the features of each item (items, classes)."""
        weights = np.ones(self.predictions.n_members) if member_weights is None else member_weights
        return self._gather(lambda chunk, example: _pool(chunk, weights, example))

    def posterior(self, scores: Scores) -> Array:
        """The softmax of the scores of each item (items, classes)."""
        return self._gather(lambda chunk, example: _softmax(_log_joint(scores, chunk, example))[0])

    def _gather(self, compute: Callable[[ReadChunk, Array], Array]) -> Array:
        example = self.predictions.example()
        return namespace(example).concat([compute(chunk, example) for chunk in self], axis=0)

    def statistics(self, responsibilities: Array) -> Statistics:
        """The statistics of given responsibilities (items, classes)."""
        n_members = self.predictions.n_members
        return reduce(
            add,
            (_statistics(chunk, responsibilities[chunk.start : chunk.stop, :], n_members, 0.0) for chunk in self),
        )


@final
@dataclass(eq=False)
class Expectation:
    """A pass over all items: their responsibilities go into `posterior`, their statistics come back.

    `posterior` (items, classes) stays with the data and is the only item-sized thing that a fit keeps.
    """

    reader: Reader
    posterior: Array
    mapper: Mapper = map

    def __call__(self, scores: Scores, *, averaging: float = 1.0) -> Statistics:
        """The statistics of the new responsibilities, which are averaged into the posterior."""

        def visit(chunk: ReadChunk) -> Statistics:
            log_joint = _log_joint(scores, chunk, self.posterior)
            responsibilities, log_evidence = _softmax(log_joint)
            here = slice(chunk.start, chunk.stop)
            # Clamped rows are fixed points of the average, since they start clamped.
            self.posterior[here, :] = (
                responsibilities
                if averaging == 1
                else (1 - averaging) * self.posterior[here, :] + averaging * responsibilities
            )
            return _statistics(chunk, responsibilities, scores.weights.shape[0], log_evidence)

        total: Statistics = reduce(add, self.mapper(visit, self.reader))
        return total


def clamp(probabilities: Array, known: IntArray | None) -> Array:
    """The probabilities with one-hot rows where the class is known."""
    if known is None:
        return probabilities
    xp = namespace(probabilities)
    is_known = like(known >= 0, probabilities, dtype=xp.bool)[:, None]
    one_hot = np.arange(probabilities.shape[1])[None, :] == known[:, None]
    return xp.where(is_known, like(one_hot.astype(np.float64), probabilities), probabilities)


def _log_joint(scores: Scores, chunk: ReadChunk, example: Array) -> Array:
    """Log p(x_i, k), up to a constant of the item (items, true); -inf for the classes a known one rules out."""
    xp = namespace(example)
    total = like(scores.log_prior[None, :], example)
    for features in chunk.features:
        total = total + in_library_of(example, features.score(scores.weights, scores.bias))
    if chunk.known is None:
        return total
    is_out = (chunk.known[:, None] >= 0) & (np.arange(total.shape[1])[None, :] != chunk.known[:, None])
    return xp.where(like(is_out, example, dtype=xp.bool), like(np.full((1, 1), -np.inf), example), total)


def _softmax(log_joint: Array) -> tuple[Array, float]:
    """The rows exponentiated and normalized, and the sum of the logarithms of their sums."""
    xp = namespace(log_joint)
    shift = xp.max(log_joint, axis=1, keepdims=True)
    exponentials = xp.exp(log_joint - shift)
    totals = xp.sum(exponentials, axis=1, keepdims=True)
    log_evidence = xp.sum(xp.astype(shift + xp.log(totals), xp.float64))
    return exponentials / totals, float(log_evidence)


def _statistics(chunk: ReadChunk, responsibilities: Array, n_members: int, log_evidence: float) -> Statistics:
    xp = namespace(responsibilities)
    n_items, n_classes = responsibilities.shape
    sums = np.zeros((n_members, n_classes, n_classes))
    counts = np.zeros((n_members, n_classes))
    for features in chunk.features:
        features.accumulate(responsibilities, sums, counts)
    class_counts = to_numpy(xp.sum(responsibilities, axis=0, dtype=xp.float64))
    return Statistics(float(n_items), class_counts, counts, sums, log_evidence)


def _pool(chunk: ReadChunk, member_weights: FloatArray, example: Array) -> Array:
    total, weight = 0.0, 0.0
    for features in chunk.features:
        part, part_weight = features.pool(member_weights)
        total = total + in_library_of(example, part)
        weight = weight + in_library_of(example, part_weight)
    return total / weight
