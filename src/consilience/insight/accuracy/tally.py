"""What is counted of each voter: the members, and whole answers such as the fused one. All are sums over items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np
from scipy import sparse

from consilience.aggregators.consensus.learned.experts import Reading
from consilience.passes.kernels import votes_of
from consilience.passes.reader import Reader
from consilience.system.arrays import to_numpy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consilience.aggregators.consensus.learned.experts import Opinions
    from consilience.aggregators.consensus.learned.rule import LearnedRule
    from consilience.data.predictions import Predictions
    from consilience.passes.reader import ReadChunk
    from consilience.system.arrays import Array, FloatArray, IntArray

SUMS = (
    *("votes", "believed", "averaged", "translated", "combined"),  # of what it says, by the posterior and by experts
    "multiplied",  # … by the product of the probabilities
    "chosen",  # whether the posterior finds the same class most probable
    "top",  # the largest posterior of the items
    *("shared", "met"),  # the share of the other votes that are for the same class, and whether there are any
)
"""What is summed over the votes of each voter."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class VoterSums:
    """Sums of each voter; those of two sets of items add up."""

    sums: FloatArray  # (voters, len(SUMS))
    said: FloatArray  # (voters, classes): how often it says each class

    def __add__(self, other: VoterSums) -> VoterSums:
        return VoterSums(self.sums + other.sums, self.said + other.said)

    def mean(self, name: str) -> FloatArray:
        """One of the sums by vote (voters,); NaN of those who never vote."""
        of = self.sums[:, SUMS.index("met" if name == "shared" else "votes")]
        means = np.divide(self.sums[:, SUMS.index(name)], of, out=np.full(len(of), np.nan), where=of > 0)
        return np.asarray(means)


class Votes(NamedTuple):
    """Votes for some items: who says what of which."""

    voter: IntArray
    item: IntArray
    label: IntArray
    is_counted: bool  # among the votes of the panel, so that the others are one less


class Beliefs(NamedTuple):
    """What is believed of some items, (items, classes) each."""

    opinions: Opinions
    product: FloatArray
    posterior: FloatArray


def tally(
    predictions: Predictions,
    rule: LearnedRule,
    posterior: Array,
    answers: Sequence[IntArray],
    *,
    powers: FloatArray,
    chunk_size: int | None,
) -> VoterSums:
    """Count the members, and then each of some whole answers (items,), under the posterior (items, classes).

    The probabilities of each member are multiplied to a power (members,).
    """
    reader = Reader(predictions, chunk_size=chunk_size)
    reading = Reading(rule.experts, reader)

    def visit(chunk: ReadChunk) -> VoterSums:
        rows = to_numpy(posterior[chunk.items, :]).astype(np.float64)
        parts = [label[chunk.items] for label in answers]
        beliefs = Beliefs(reading.opinions(chunk), np.exp(reading.product(chunk, powers)), rows)
        return _of_chunk(chunk, beliefs, parts, predictions.n_members)

    return reader.added_up(visit)


def _of_chunk(chunk: ReadChunk, beliefs: Beliefs, answers: Sequence[IntArray], n_members: int) -> VoterSums:
    n_classes, n_voters = chunk.n_classes, n_members + len(answers)
    entries = sparse.coo_array(votes_of(chunk.features(), chunk.n_items, n_members, n_classes).matrix)
    member, label = np.divmod(entries.col, n_classes)
    parts = [Votes(member, entries.row.astype(np.intp), label, is_counted=True)]
    every = np.arange(chunk.n_items)
    parts += [
        Votes(np.full(chunk.n_items, n_members + place), every, answer, is_counted=False)
        for place, answer in enumerate(answers)
    ]
    sums, said = np.zeros((n_voters, len(SUMS))), np.zeros((n_voters, n_classes))
    for part in parts:
        for place, values in enumerate(_of_votes(part, beliefs).values()):
            sums[:, place] += np.bincount(part.voter, weights=values, minlength=n_voters)
        cells = np.bincount(part.voter * n_classes + part.label, minlength=n_voters * n_classes)
        said += cells.reshape(n_voters, n_classes)
    return VoterSums(sums, said)


def _of_votes(votes: Votes, beliefs: Beliefs) -> dict[str, FloatArray]:
    """What is summed, of each vote, in the order of `SUMS`."""
    opinions, posterior = beliefs.opinions, beliefs.posterior
    places = votes.item, votes.label
    n_others = opinions.n_votes[votes.item, 0].astype(np.float64) - votes.is_counted
    n_same = opinions.votes[places] * opinions.n_votes[votes.item, 0] - votes.is_counted
    return {
        "votes": np.ones(len(votes.item)),
        "believed": posterior[places],
        "averaged": opinions.average[places].astype(np.float64),
        "translated": np.exp(opinions.translation[places].astype(np.float64)),
        "combined": np.exp(opinions.combination[places].astype(np.float64)),
        "multiplied": beliefs.product[places],
        "chosen": (posterior.argmax(axis=1)[votes.item] == votes.label).astype(np.float64),
        "top": posterior.max(axis=1)[votes.item],
        "shared": np.where(n_others > 0, np.clip(n_same / np.maximum(n_others, 1), 0, 1), 0.0),
        "met": (n_others > 0).astype(np.float64),
    }
