"""One estimate for each member and for each whole answer, with an interval that means it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np
from scipy import sparse
from scipy.special import stdtrit

from consilience.aggregators.consensus.consensus import panel_sums, plain_rule
from consilience.aggregators.consensus.learned.experts import Reading
from consilience.aggregators.consensus.panel import copies, skills
from consilience.insight.accuracy import intervals
from consilience.metrics.scores import wilson
from consilience.passes.kernels import votes_of
from consilience.passes.reader import Reader
from consilience.system.arrays import to_numpy

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from consilience.aggregators.consensus.consensus import Consensus
    from consilience.aggregators.consensus.learned.experts import Opinions
    from consilience.aggregators.consensus.learned.network import LearnedRule
    from consilience.aggregators.consensus.panel import Standing
    from consilience.data.predictions import Predictions
    from consilience.insight.accuracy.intervals import Intervals
    from consilience.passes.reader import ReadChunk
    from consilience.system.arrays import Array, FloatArray, IntArray


LEAST_LABELS = 10
"""With fewer labelled votes nothing is measured."""

COVERAGE = 0.9


def measured(is_right: FloatArray, believed: FloatArray, believed_of_all: FloatArray) -> tuple[float, float, float]:
    """The accuracy and the ends of its interval.

    `is_right` and `believed` are of the labelled votes, which must be a random sample; `believed_of_all` of all votes.
    Where every vote is labelled, the accuracy is known, and the interval is of other items of the same kind.
    """
    n, n_all = len(is_right), len(believed_of_all)
    if n == n_all:
        value = float(is_right.mean())
        return value, *wilson(value, n, COVERAGE)
    factor = _factor(is_right, believed)
    value = float(np.clip(is_right.mean() + factor * (believed_of_all.mean() - believed.mean()), 0, 1))
    rest = is_right - factor * believed
    # Half a right and half a wrong answer more: where all labels are right, the plain variance would be zero.
    more = 0.5 * ((1 - is_right.mean()) ** 2 + is_right.mean() ** 2)
    variance = (np.sum((rest - rest.mean()) ** 2) + more) / (n * (n + 1))
    variance *= 1 - n / n_all  # it is the accuracy on these items that is asked for, and of some it is known
    reach = float(stdtrit(n - 1, (1 + COVERAGE) / 2) * np.sqrt(variance))
    return value, max(0.0, value - reach), min(1.0, value + reach)


def _factor(is_right: FloatArray, believed: FloatArray) -> float:
    """How far belief is used, from 0 to 1: by the regression of being right on it."""
    spread = believed.var()
    if spread < 1e-12:
        return 0.0
    slope = np.mean((is_right - is_right.mean()) * (believed - believed.mean())) / spread
    return float(np.clip(slope, 0, 1))


FUSED_ANSWER = "fused answer"
"""What the answer that is diagnosed is called among whole answers."""


INDEPENDENT = ("combined", "translated", "multiplied")
"""What takes errors for independent: of votes, of probabilities as they have come to mean, and of their product."""

MOST_POWER = 4.0
"""Nobody's probabilities are taken to a higher power."""


class AccuracyEstimate(NamedTuple):
    """An accuracy, and the interval that holds the true one in nine of ten panels; NaN for members without a vote."""

    value: float
    low: float
    high: float
    is_measured: bool = False

    def __str__(self) -> str:
        if np.isnan(self.value):
            return "unknown"
        return f"{self.value:.0%} ({self.low:.0%} to {self.high:.0%})"


@final
@dataclass(frozen=True)
class Estimates:
    """Of the members, in their order, and of whole answers by name."""

    members: list[AccuracyEstimate]
    answers: dict[str, AccuracyEstimate]

    @property
    def has_labels(self) -> bool:
        """Whether any of them is measured."""
        return any(found.is_measured for found in [*self.members, *self.answers.values()])


class Voters(NamedTuple):
    """What is known of the members, and then of whole answers, without labels."""

    believed: FloatArray  # (voters,): the mean posterior of what each says; NaN without a vote
    features: FloatArray  # (voters, features): what the error depends on
    independent: FloatArray  # (voters,): the accuracy if members erred independently; NaN where that is not known
    posterior: FloatArray  # (items, classes)
    votes: list[tuple[IntArray, IntArray]]  # the items and labels of each voter


def estimate_accuracies(
    data: Predictions, model: Consensus, answers: Mapping[str, IntArray], known: IntArray | None = None
) -> Estimates:
    """How often each member is right on these items, and each of some whole answers (items,).

    The model is fitted to the items, or has at least seen others like them; what labels have taught it is not used.
    Where true classes are known (items,), -1 where not, those with `LEAST_LABELS` labelled votes are measured.
    """
    return named_estimates(voters_of(data, model, answers), answers, known)


def named_estimates(
    voters: Voters, answers: Collection[str], known: IntArray | None, unseen: Mapping[str, IntArray] | None = None
) -> Estimates:
    """The estimates of these voters, the last of whom are whole answers of these names.

    An answer that labels have taught fits these labels better than others. It is measured on labels that it has not
    seen: `unseen`, by name, (items,), -1 where unknown or seen.
    """
    weights, n_members = intervals.shipped(), len(voters.votes) - len(answers)
    found = estimates_of(voters, weights, known)
    of_answers = dict(zip(answers, found[n_members:], strict=True))
    for name, others in (unseen or {}).items():
        place = n_members + list(answers).index(name)
        of_answers[name] = estimates_of(voters, weights, others)[place]
    return Estimates(found[:n_members], of_answers)


def voters_of(
    data: Predictions, model: Consensus, answers: Mapping[str, IntArray], posterior: Array | None = None
) -> Voters:
    """Count the votes of the members, and of whole answers; `posterior` is what the model makes of them, if known."""
    rule, labels, every = plain_rule(model), list(answers.values()), np.arange(data.n_items)
    posterior = to_numpy(rule.posterior(data) if posterior is None else posterior).astype(np.float64, copy=False)
    found = panel_sums(model)
    alone = if_independent(found.standing)
    powers = _powers(alone, found.standing.agreement.mean_confidence, data.n_classes)
    counted = tally(data, rule, posterior, labels, powers=powers, chunk_size=model.chunk_size)
    by_experts = np.max([counted.mean(name) for name in INDEPENDENT], axis=0)[data.n_members :]
    independent = np.concatenate([alone, by_experts])
    features = intervals.features_of(counted, found, rule.traits.panel, independent)
    votes = [*_labels_by_member(data), *((every, answer) for answer in labels)]
    return Voters(counted.mean("believed"), features, independent, posterior, votes)


def estimates_of(voters: Voters, weights: Intervals, known: IntArray | None = None) -> list[AccuracyEstimate]:
    """The estimate of each voter, measured where enough true classes are known."""
    low, high = weights.around(voters.believed, voters.features, voters.independent)
    found = [AccuracyEstimate(*numbers) for numbers in np.stack([voters.believed, low, high], axis=1).tolist()]
    if known is None:
        return found
    for voter, (items, labels) in enumerate(voters.votes):
        is_labelled = known[items] >= 0
        if is_labelled.sum() >= LEAST_LABELS:
            believed = voters.posterior[items, labels]
            is_right = (labels == known[items])[is_labelled].astype(np.float64)
            found[voter] = AccuracyEstimate(*measured(is_right, believed[is_labelled], believed), is_measured=True)
    return found


def if_independent(standing: Standing) -> FloatArray:
    """How often each member would be right if members erred independently (members,); NaN of too many to compare.

    Their agreement beyond chance is the product of their skills then; blind votes are right by chance.
    """
    votes = standing.votes
    has_voted = votes.answers > 0
    if not votes.has_pairs or not has_voted.any():
        return np.full(len(votes.answers), np.nan)
    skill = skills(votes, copies(standing.agreement))
    by_chance = votes.shares @ votes.shares[has_voted].mean(axis=0)
    return np.where(has_voted, skill + (1 - skill) * by_chance, np.nan)


def _powers(accuracy: FloatArray, confidence: FloatArray, n_classes: int) -> FloatArray:
    """The power of each member's probabilities (members,) at which it would claim this accuracy; 1 where unknown.

    A modest member tells more by its probabilities than it claims, and a boastful one less.
    """
    odds = (intervals.log_odds(share) + np.log(max(n_classes - 1, 1)) for share in (accuracy, confidence))
    shown, claimed = (np.maximum(values, 0.1) for values in odds)
    return np.asarray(np.nan_to_num(np.minimum(shown / claimed, MOST_POWER), nan=1.0))


def _labels_by_member(data: Predictions) -> list[tuple[IntArray, IntArray]]:
    """The items and labels of each member's answers; the first class wins a tie, as in every metric.

    Leaving ties out would leave out the items that a member does not know, and measure the others.
    """
    hard = data.harden().hard
    if hard is None:
        return [(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))] * data.n_members
    order = np.argsort(hard.members, kind="stable")
    ends = np.searchsorted(hard.members[order], np.arange(data.n_members + 1))
    return [(hard.items[order[start:stop]], hard.labels[order[start:stop]]) for start, stop in itertools.pairwise(ends)]


# ---- what is counted of each voter ----------------------------------------------------------------------

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
