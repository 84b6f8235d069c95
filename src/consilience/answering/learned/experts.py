"""Experts: ways to fuse without labels that the learned rule chooses among, item by item.

Each is an average of what members say, or a linear layer on it: on their probabilities or on their votes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np
from scipy.special import log_softmax

from consilience.passes.reader import Reader
from consilience.system.arrays import Array, FloatArray, to_numpy

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.data.predictions import Predictions
    from consilience.maths.model import Scores
    from consilience.passes.kernels import Layer
    from consilience.passes.reader import ReadChunk

VOTE = 0.98
"""What a vote counts as a probability where votes are averaged; the rest is spread over all classes, so that no class
is impossible because nobody votes for it."""

LEAST = 1e-6
"""No expert finds a class less probable."""


class Opinions(NamedTuple):
    """What the experts say of some items, (items, classes) each, as an array of any library."""

    average: Array
    weighted: Array  # the average by the members' weights
    translation: Array  # the logarithm of what probabilities have come to mean
    voting: Array  # the logarithm of Dawid-Skene's posterior
    votes: Array  # shares of the votes, even where nobody votes
    n_answers: Array  # (items, 1)
    n_votes: Array  # (items, 1): without the undecided


@final
@dataclass(frozen=True, slots=True, eq=False)
class Experts:
    """What a fit has found of the members; it suffices to ask all experts about any items."""

    member_weights: FloatArray  # (members,): of the weighted average
    is_hard: npt.NDArray[np.bool_]  # (members,): who gives votes alone, as labels or as one-hot rows
    translation: Scores
    voting: Scores

    def average(self, chunk: ReadChunk) -> npt.NDArray[np.floating]:
        """The mean of the probabilities of each item (items, classes)."""
        return self.softened(chunk, np.ones(len(self.member_weights)))

    def softened(self, chunk: ReadChunk, weights: FloatArray) -> npt.NDArray[np.floating]:
        """A weighted mean of probabilities (items, classes), where a vote counts as `VOTE`."""
        total, behind = _pooled(chunk, weights)
        if self.is_hard.any():
            hard, behind_hard = _pooled(chunk, weights * self.is_hard)
            total = total - (1 - VOTE) * (hard - behind_hard / chunk.n_classes)
        return np.asarray(total / behind)

    def read(self, predictions: Predictions, chunk_size: int | None = None) -> Reading:
        """All experts on these items."""
        return Reading(self, predictions, chunk_size)


@final
class Reading:
    """The experts' opinions of some items, chunk by chunk."""

    def __init__(self, experts: Experts, predictions: Predictions, chunk_size: int | None) -> None:
        self.experts = experts
        self.reader = Reader(predictions, chunk_size=chunk_size)
        self._votes = Reader(predictions.votes(), chunk_size=self.reader.chunks[0].n_items)
        self._translation = self.reader.layer(experts.translation)
        self._voting = self._votes.layer(experts.voting)

    def opinions(self, chunk: ReadChunk) -> Opinions:
        """What all experts say of a chunk of the reader, in NumPy."""
        experts, votes = self.experts, self._votes.chunks[chunk.place]
        n_classes = chunk.n_classes
        everybody = np.ones(len(experts.member_weights))
        _, n_answers = _pooled(chunk, everybody)
        voted, n_votes = _pooled(votes, everybody)
        return Opinions(
            average=experts.average(chunk),
            weighted=experts.softened(chunk, experts.member_weights),
            translation=log_softmax(_scores(chunk, self._translation), axis=1),
            voting=log_softmax(_scores(votes, self._voting), axis=1),
            votes=np.where(n_votes > 0, voted / np.maximum(n_votes, 1), 1 / n_classes),
            n_answers=n_answers,
            n_votes=n_votes,
        )


def _pooled(chunk: ReadChunk, weights: FloatArray) -> tuple[npt.NDArray[np.floating], npt.NDArray[np.floating]]:
    """The weighted sum of the rows of each item (items, classes), and the weight behind it (items, 1)."""
    parts = [tuple(to_numpy(part) for part in features.pool(weights)) for features in chunk.features()]
    total, behind = parts[0]
    for more, more_behind in parts[1:]:
        total, behind = total + more, behind + more_behind
    return total, behind


def _scores(chunk: ReadChunk, layer: Layer) -> npt.NDArray[np.floating]:
    """Linear scores (items, classes)."""
    parts = [to_numpy(features.score(layer)) for features in chunk.features()]
    return np.asarray((sum(parts[1:], parts[0]) + to_numpy(layer.log_prior)).T)
