"""Experts: ways to fuse without labels that the learned rule chooses among, item by item.

Each is an average of what members say, or a linear layer on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np
from scipy import sparse

from consilience.passes.kernels import LabelFeatures, votes_of
from consilience.system.arrays import Array, FloatArray, namespace, to_numpy

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.maths.model import Scores
    from consilience.passes.kernels import Features, Layer
    from consilience.passes.reader import ReadChunk, Reader

VOTE = 0.98
"""What a vote counts as a probability where votes are averaged; the rest is spread over all classes, so that no class
is impossible because nobody votes for it."""


class Opinions(NamedTuple):
    """What the experts say of some items, (items, classes) each, as an array of any library."""

    average: Array
    weighted: Array  # the average by the members' weights
    translation: Array  # the logarithm of what probabilities have come to mean
    combination: Array  # the logarithm of what Bayesian classifier combination makes of the votes
    votes: Array  # shares of the votes, even where nobody votes
    evidence: Array  # (items, networks × classes): the members', as each network weighs it, up to a constant
    n_answers: Array  # (items, 1)
    n_votes: Array  # (items, 1): without the undecided


class ExpertSums(NamedTuple):
    """What the experts add up over the answers to some items, (items, classes) each.

    The sums of several members are the sum of theirs, which is how explanations ask for the answer of some members.
    """

    answers: npt.NDArray[np.floating]
    n_answers: npt.NDArray[np.floating]  # (items, 1)
    weighted: npt.NDArray[np.floating]
    weights: npt.NDArray[np.floating]  # (items, 1)
    translation: npt.NDArray[np.floating]  # the scores without the prior
    combination: npt.NDArray[np.floating]  # likewise
    votes: npt.NDArray[np.floating]
    n_votes: npt.NDArray[np.floating]  # (items, 1)
    evidence: npt.NDArray[np.floating]  # (items, networks × classes)


@final
@dataclass(frozen=True, eq=False)
class Experts:
    """What a fit has found of the members; it suffices to ask all experts about any items."""

    member_weights: FloatArray  # (members,): of the weighted average
    is_hard: npt.NDArray[np.bool_]  # (members,): who gives votes alone, as labels or as one-hot rows
    translation: Scores  # of probabilities
    combination: Scores  # of votes
    powers: FloatArray  # (networks, members, 2): of a member's logarithms and of its vote's, in the evidence

    @cached_property
    def of_votes(self) -> FloatArray:
        """What a vote adds to the scores of the combination (members × predicted, true)."""
        table = self.combination.weights + self.combination.bias[:, :, None]
        return np.asarray(table.transpose(0, 2, 1).reshape(-1, len(self.combination.log_prior)))

    def softened(
        self, features: tuple[Features, ...], weights: FloatArray
    ) -> tuple[npt.NDArray[np.floating], npt.NDArray[np.floating]]:
        """A weighted sum of probabilities (items, classes), a vote counting as `VOTE`, and its weight (items, 1)."""
        total, behind = _pooled(features, weights)
        if self.is_hard.any():
            hard, behind_hard = (total, behind) if self.is_hard.all() else _pooled(features, weights * self.is_hard)
            total = total - (1 - VOTE) * (hard - behind_hard / total.shape[1])
        return total, behind

    def opinions(self, sums: ExpertSums) -> Opinions:
        """What all experts make of such sums."""
        sums = ExpertSums(*(np.asfortranarray(part) for part in sums))  # sums over classes follow
        average, n_votes = sums.answers / sums.n_answers, sums.n_votes
        shares = np.where(n_votes > 0, sums.votes / np.maximum(n_votes, 1), 1 / sums.votes.shape[1])
        return Opinions(
            average=average,
            weighted=sums.weighted / sums.weights,
            translation=_log_posterior(sums.translation, self.translation),
            combination=_log_posterior(sums.combination, self.combination),
            votes=shares.astype(average.dtype, copy=False),  # votes are counted in double precision
            evidence=sums.evidence,
            n_answers=sums.n_answers,
            n_votes=n_votes.astype(average.dtype, copy=False),
        )


@final
class Reading:
    """The experts' opinions of some items, chunk by chunk."""

    def __init__(self, experts: Experts, reader: Reader) -> None:
        self.experts = experts
        self._translation = reader.layer(experts.translation)
        self._of_votes = experts.of_votes  # made here and not when first needed, because threads share it

    def opinions(self, chunk: ReadChunk) -> Opinions:
        """What all experts say of a chunk of the reader, in NumPy."""
        return self.experts.opinions(self.sums(chunk))

    def sums(self, chunk: ReadChunk) -> ExpertSums:
        """What the experts add up over the answers to a chunk of the reader, in NumPy."""
        experts, features, n_members = self.experts, chunk.features(), len(self.experts.member_weights)
        everybody = np.ones(n_members)
        votes = votes_of(features, chunk.n_items, n_members, chunk.n_classes)
        answers, n_answers = experts.softened(features, everybody)
        return ExpertSums(
            *(answers, n_answers),
            *experts.softened(features, experts.member_weights),
            _scores(features, self._translation),
            np.asarray(votes.matrix @ self._of_votes, dtype=answers.dtype),
            *_pooled((votes,), everybody),
            self._evidence(features, votes).astype(answers.dtype, copy=False),
        )

    def product(self, chunk: ReadChunk, powers: FloatArray) -> npt.NDArray[np.floating]:
        """The logarithm of the members' probabilities, each to a power, multiplied (items, classes); not of votes.

        It is what they would mean if members were right as often as they say, and erred independently.
        """
        soft = tuple(part for part in chunk.features() if not isinstance(part, LabelFeatures))
        scores = np.zeros((chunk.n_items, chunk.n_classes))
        if soft:
            logs = tuple(_with_logs(part, chunk.n_classes) for part in soft)
            scores = scores + _pooled_logs(logs, np.where(self.experts.is_hard, 0.0, powers))
        shifted = scores - scores.max(axis=1, keepdims=True)
        return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))

    def _evidence(self, features: tuple[Features, ...], votes: LabelFeatures) -> npt.NDArray[np.floating]:
        """The members' own logarithms and their votes' log-likelihoods, as each network weighs them."""
        powers = self.experts.powers
        if not len(powers):
            return np.empty((votes.matrix.shape[0], 0))
        logs = tuple(_with_logs(part, votes.n_classes) for part in features)
        member = votes.matrix.indices // votes.n_classes
        parts = []
        for of_logs, of_votes in powers.transpose(0, 2, 1):
            weighed = (votes.matrix.data * of_votes[member], votes.matrix.indices, votes.matrix.indptr)
            by_vote = sparse.csr_array(weighed, shape=votes.matrix.shape) @ self._of_votes
            parts.append(_pooled_logs(logs, of_logs) + by_vote)
        return np.concatenate(parts, axis=1)


def soft_logs(rows: Array, n_classes: int) -> Array:
    """Logarithms of probabilities, all softened as votes are: none is far below the others."""
    return namespace(rows).log(VOTE * rows + (1 - VOTE) / n_classes)


def _with_logs(part: Features, n_classes: int) -> Features:
    """The answers with `soft_logs` of the probabilities, the same for all classes where missing; labels as they are."""
    return part if isinstance(part, LabelFeatures) else replace(part, values=soft_logs(part.values, n_classes))


def _pooled(
    features: tuple[Features, ...], weights: FloatArray
) -> tuple[npt.NDArray[np.floating], npt.NDArray[np.floating]]:
    """The weighted sum of the rows of each item (items, classes), and the weight behind it (items, 1)."""
    parts = [tuple(to_numpy(part) for part in some.pool(weights)) for some in features]
    total, behind = parts[0]
    for more, more_behind in parts[1:]:
        total, behind = total + more, behind + more_behind
    return total, behind


def _pooled_logs(logs: tuple[Features, ...], weights: FloatArray) -> npt.NDArray[np.floating]:
    """The weighted sum of the logarithms of each item (items, classes); those of labels are without a constant."""
    parts = [to_numpy(part.pool(weights)[0]) for part in logs]
    n_classes = parts[0].shape[1]
    of_vote = np.log1p(VOTE * n_classes / (1 - VOTE))  # what a vote adds to the logarithm of its class
    return np.asarray(
        sum(of_vote * rows if isinstance(part, LabelFeatures) else rows for part, rows in zip(logs, parts, strict=True))
    )


def _scores(features: tuple[Features, ...], layer: Layer) -> npt.NDArray[np.floating]:
    """Linear scores without the prior (items, classes)."""
    parts = [to_numpy(some.score(layer)) for some in features]
    return np.asarray(sum(parts[1:], parts[0]).T)


def _log_posterior(scores: npt.NDArray[np.floating], of: Scores) -> npt.NDArray[np.floating]:
    """The logarithm of the softmax of scores (items, classes), the prior added, in their precision."""
    shifted = scores + of.log_prior.astype(scores.dtype, copy=False)
    shifted -= shifted.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))
