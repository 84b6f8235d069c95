"""Experts: ways to fuse without labels that the learned rule chooses among, item by item.

Each is an average of what members say, or a linear layer on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import NamedTuple, TypeAlias, final

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import log_softmax

from consilience.maths.em import Scores
from consilience.passes.kernels import Features, LabelFeatures, times, votes_of
from consilience.passes.reader import ReadChunk, Reader
from consilience.system.arrays import Array, FloatArray, namespace, to_numpy

Rows: TypeAlias = npt.NDArray[np.floating]  # of items, in any precision

LOWEST_LOG = -12.0  # logarithms are no lower: classes this improbable are all the same
# With more classes, the network looks at so many of each item: those that an average, the translation or the votes
# find most probable.
MOST_CANDIDATES = 24
LEAST_OPINION = 1e-30  # classes that no expert finds more probable than this are all the same
# How much translation counts in the ranking of candidates: enough to tell equals apart, and no more.
AMONG_EQUALS = 1e-3
EQUAL_RANKS = 1e-7  # classes whose rankings differ by less are tied

PAIR_FEATURES = (
    *("log average", "log weighted average", "log translation", "log combination"),
    *("average", "translation", "combination", "share of votes"),
)
"""Of an item and a class, the logarithms first."""

ITEM_FEATURES = ("top", "margin", "entropy", "largest share of votes", "log answers")

CLASS_TRAITS = (
    *("share in average", "share of votes", "share in translation", "share of first choices", "share in combination"),
    *("share re-estimated", "least share of a member", "largest share of a member"),
    *("stated share", "stated against average"),
    *("agreement on it", "average's confidence in it", "members who say it"),
)
"""Of a class, the logarithms of its shares first. Those stated by the user are 0 where none are."""

PANEL_TRAITS = (
    *("agreement", "spread of agreement", "raw agreement", "mean skill", "spread of skill", "best skill", "copies"),
    *("agreement beyond skill", "most agreement beyond skill"),
    *("chance", "log classes", "log members", "log items", "log answers an item", "log effective members", "missing"),
    *("votes among members", "mean confidence", "mean entropy", "evenness of average", "claimed over shown errors"),
    *("credibility", "classes said", "spread of classes said", "translation against average"),
    *("votes against average", "top of translation", "evenness of translation", "top of average", "top of votes"),
    *("combination against average", "combination against translation", "top of combination"),
    *("evenness of combination", "re-estimated against average", "top of re-estimated", "evenness of re-estimated"),
    *("excess agreement", "size of excess agreement", "most excess agreement", "likeness of members"),
    *("translation outside of members", "combination outside of members", "re-estimated outside of members"),
    *("mean accuracy", "best accuracy", "least accuracy", "accuracy beyond confidence", "belief in stated shares"),
)
"""Of the panel. Accuracy is the members', and agreement is in excess of what it explains, as the combination has it."""

MEMBER_TRAITS = (
    *("accuracy", "confidence", "accuracy beyond confidence", "excess agreement", "most excess agreement"),
    *("agreement with others", "accuracy beyond agreement", "distance from average shares", "evenness of its votes"),
    *("least rate of being right", "mean rate of being right", "gives votes", "coverage"),
)
"""Of a member; accuracies are as the combination has them."""

N_LOGS = 4  # the first of `PAIR_FEATURES` are logarithms, and mixed as they are
N_SHARES = 10  # so are the first of `CLASS_TRAITS`

FEATURE_NAMES = (
    *(f"item and class: {name}" for name in PAIR_FEATURES),
    *(f"class: {name}" for name in CLASS_TRAITS),
    *(f"item: {name}" for name in ITEM_FEATURES),
    *(f"panel: {name}" for name in PANEL_TRAITS),
)
"""All features of items and classes, in the order of the network's weights."""


class Traits(NamedTuple):
    """What is known of the classes, of the panel and of its members."""

    classes: FloatArray  # (classes, len(CLASS_TRAITS))
    panel: FloatArray  # (len(PANEL_TRAITS),)
    members: FloatArray  # (members, len(MEMBER_TRAITS))


def candidates(opinions: Opinions) -> Array | None:
    """The classes that the network looks at (items, candidates), in rising order; None where it looks at all."""
    xp = namespace(opinions.average)
    if opinions.average.shape[1] <= MOST_CANDIDATES:
        return None
    ranked = ranking(opinions)
    if hasattr(xp, "topk"):  # torch
        return xp.sort(xp.topk(ranked, MOST_CANDIDATES, dim=1).indices, axis=1)
    places = xp.argpartition(-ranked, MOST_CANDIDATES, axis=1)[:, :MOST_CANDIDATES]
    return xp.sort(places, axis=1)


def ranking(opinions: Opinions) -> Array:
    """What the candidates have most of (items, classes): the logarithm of what the most convinced expert says.

    Hard members find most classes equally improbable. Among those, translation decides, so that only classes of which
    all the same is known are tied.
    """
    xp = namespace(opinions.average)
    best = opinions.average
    for other in (opinions.weighted, xp.exp(opinions.translation), opinions.votes):
        best = xp.maximum(best, other)
    return xp.log(best.clip(LEAST_OPINION, None)) + AMONG_EQUALS * opinions.translation


def chosen(rows: Array, places: Array | None) -> Array:
    """The columns of the candidates (items, candidates)."""
    if places is None:
        return rows
    xp = namespace(rows)
    return xp.gather(rows, 1, places) if hasattr(xp, "gather") else xp.take_along_axis(rows, places, axis=1)


def pair_features(opinions: Opinions, places: Array | None) -> Array:
    """(items, candidates, len(PAIR_FEATURES))."""
    xp = namespace(opinions.average)
    average, weighted, translation, combination, votes = (
        xp.matrix_transpose(chosen(rows, places)) for rows in opinions[:5]
    )
    logs = [_clipped(xp.log(rows.clip(1e-9, None))) for rows in (average, weighted)]
    logs += [_clipped(translation), _clipped(combination)]
    # Class by class in memory, because sums over classes are fast then.
    by_class = xp.stack([*logs, average, xp.exp(logs[2]), xp.exp(logs[3]), votes], axis=2)
    return xp.permute_dims(by_class, (1, 0, 2))


def item_features(opinions: Opinions) -> Array:
    """(items, len(ITEM_FEATURES))."""
    average, xp = opinions.average, namespace(opinions.average)
    ordered = xp.sort(average, axis=1)
    top = ordered[:, -1:]
    parts = [top, top - ordered[:, -2:-1], entropy(average)[:, None], xp.max(opinions.votes, axis=1, keepdims=True)]
    return xp.concat([*parts, xp.log(opinions.n_answers) / 3], axis=1)


def entropy(shares: Array) -> Array:
    """Over the last axis, 1 where all are the same."""
    xp = namespace(shares)
    return -xp.sum(shares * xp.log(shares.clip(1e-12, None)), axis=-1) / math.log(shares.shape[-1])


def _clipped(logs: Array) -> Array:
    # As a method, which NumPy and torch have: the array API's function takes ten times as long for a single item.
    return logs.clip(LOWEST_LOG, 0.0)


# What a vote counts as a probability where votes are averaged; the rest is spread over all classes, so that no class
# is impossible because nobody votes for it.
VOTE = 0.98


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

    answers: Rows
    n_answers: Rows  # (items, 1)
    weighted: Rows
    weights: Rows  # (items, 1)
    translation: Rows  # the scores without the prior
    combination: Rows  # likewise
    votes: Rows
    n_votes: Rows  # (items, 1)
    evidence: Rows  # (items, networks × classes)

    def of_some(self, is_in: FloatArray) -> ExpertSums:
        """The sums of some items, as of one (coalitions, …), given which (coalitions, items)."""
        return ExpertSums(*(is_in @ part for part in self))


@final
@dataclass(frozen=True, eq=False)
class Experts:
    """What a fit has found of the members; it suffices to ask all experts about any items."""

    member_weights: FloatArray  # (members,): of the weighted average
    is_hard: npt.NDArray[np.bool_]  # (members,): who gives votes alone, as labels or as one-hot rows
    translation: Scores  # of probabilities
    combination: Scores  # of votes

    @cached_property
    def of_votes(self) -> FloatArray:
        """What a vote adds to the scores of the combination (members × predicted, true)."""
        table = self.combination.weights + self.combination.bias[:, :, None]
        return np.asarray(table.transpose(0, 2, 1).reshape(-1, len(self.combination.log_prior)))

    def softened(self, features: tuple[Features, ...], weights: FloatArray) -> tuple[Rows, Rows]:
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
    """The experts' opinions of some items, chunk by chunk.

    `powers` (networks, members, 2) are those of a member's logarithms and of its vote's, in the evidence for a network.
    """

    def __init__(self, experts: Experts, reader: Reader, powers: FloatArray | None = None) -> None:
        self.experts, self._powers = experts, powers
        self._translation = reader.layer(experts.translation)
        self._of_votes = experts.of_votes  # made here and not when first needed, because threads share it

    def opinions(self, chunk: ReadChunk) -> Opinions:
        """What all experts say of a chunk of the reader, in NumPy."""
        return self.experts.opinions(self.sums(chunk))

    def sums(self, chunk: ReadChunk) -> ExpertSums:
        """What the experts add up over the answers to a chunk of the reader, in NumPy."""
        experts, features, n_members = self.experts, chunk.features(), len(self.experts.member_weights)
        everybody = np.ones(n_members)
        votes = votes_of(chunk.chunk, n_members, chunk.n_classes)
        answers, n_answers = experts.softened(features, everybody)
        return ExpertSums(
            *(answers, n_answers),
            *experts.softened(features, experts.member_weights),
            np.asarray(reduce(add, [to_numpy(part.score(self._translation)) for part in features]).T),
            times(votes.matrix, self._of_votes).astype(answers.dtype, copy=False),
            *_pooled((votes,), everybody),
            self._evidence(features, votes).astype(answers.dtype, copy=False),
        )

    def product(self, chunk: ReadChunk, powers: FloatArray) -> Rows:
        """The logarithm of the members' probabilities, each to a power, multiplied (items, classes); not of votes.

        It is what they would mean if members were right as often as they say, and erred independently.
        """
        logs = [_with_logs(part, chunk.n_classes) for part in chunk.features() if not isinstance(part, LabelFeatures)]
        scores = np.zeros((chunk.n_items, chunk.n_classes))
        if logs:
            scores = scores + _pooled_logs(logs, np.where(self.experts.is_hard, 0.0, powers))
        return np.asarray(log_softmax(scores, axis=1))

    def _evidence(self, features: tuple[Features, ...], votes: LabelFeatures) -> Rows:
        """The members' own logarithms and their votes' log-likelihoods, as each network weighs them."""
        if self._powers is None:
            return np.empty((votes.matrix.shape[0], 0))
        logs = [_with_logs(part, votes.n_classes) for part in features]
        member = votes.matrix.indices // votes.n_classes
        parts = []
        for of_logs, of_votes in self._powers.transpose(0, 2, 1):
            weighed = (votes.matrix.data * of_votes[member], votes.matrix.indices, votes.matrix.indptr)
            by_vote = times(sparse.csr_array(weighed, shape=votes.matrix.shape), self._of_votes)
            parts.append(_pooled_logs(logs, of_logs) + by_vote)
        return np.concatenate(parts, axis=1)


def soft_logs(rows: Array, n_classes: int) -> Array:
    """Logarithms of probabilities, all softened as votes are: none is far below the others."""
    return namespace(rows).log(VOTE * rows + (1 - VOTE) / n_classes)


def _with_logs(part: Features, n_classes: int) -> Features:
    """The answers with `soft_logs` of the probabilities, the same for all classes where missing; labels as they are."""
    return part if isinstance(part, LabelFeatures) else replace(part, values=soft_logs(part.values, n_classes))


def _pooled(features: tuple[Features, ...], weights: FloatArray) -> tuple[Rows, Rows]:
    """The weighted sum of the rows of each item (items, classes), and the weight behind it (items, 1)."""
    parts = [[to_numpy(part) for part in some.pool(weights)] for some in features]
    total, behind = (reduce(add, part) for part in zip(*parts, strict=True))
    return total, behind


def _pooled_logs(logs: Sequence[Features], weights: FloatArray) -> Rows:
    """The weighted sum of the logarithms of each item (items, classes); those of labels are without a constant."""
    parts = []
    for part in logs:
        rows = to_numpy(part.pool(weights)[0])
        of_vote = np.log1p(VOTE * rows.shape[1] / (1 - VOTE))  # what a vote adds to the logarithm of its class
        parts.append(of_vote * rows if isinstance(part, LabelFeatures) else rows)
    return np.asarray(sum(parts))


def _log_posterior(scores: Rows, of: Scores) -> Rows:
    """The logarithm of the softmax of scores (items, classes), the prior added, in their precision."""
    return np.asarray(log_softmax(scores + of.log_prior.astype(scores.dtype, copy=False), axis=1))
