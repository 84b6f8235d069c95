"""How often each member and each fused answer is right: estimated without labels, or measured with some.

The estimate is the mean probability that `Consensus` gives to what the member says. `tally` counts it in one pass, and
what else its error depends on; `Intervals` say how far off it may be, as learned from panels whose truth was known;
`measured` takes over where there are labels; `estimates_of` puts them together.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import expit, logit, stdtrit

from consilience.aggregators.consensus.consensus import Consensus, label_free_fit_of, plain_rule
from consilience.aggregators.consensus.label_free_fit import LabelFreeFit
from consilience.aggregators.consensus.learned.experts import PANEL_TRAITS, VOTE, Opinions, Reading, entropy
from consilience.aggregators.consensus.learned.network import LearnedRule
from consilience.aggregators.consensus.panel import Standing, copies, skills
from consilience.data.answers import HardAnswers
from consilience.data.predictions import Predictions
from consilience.insight.agreement import labels_of, ratio
from consilience.maths.em import SumsOverItems
from consilience.metrics.scores import wilson
from consilience.passes.kernels import votes_of
from consilience.passes.reader import ReadChunk, Reader
from consilience.system.arrays import Array, FloatArray, IntArray, to_numpy
from consilience.system.untrusted import read_weights, sealed

LEAST_LABELS = 10  # with fewer labelled votes nothing is measured

COVERAGE = 0.9

FUSED_ANSWER = "fused answer"  # what the answer that is diagnosed is called among whole answers

INDEPENDENT = ("combined", "translated", "multiplied")
"""What takes errors for independent: of votes, of probabilities as they have come to mean, and of their product."""

MOST_POWER = 4.0  # nobody's probabilities are taken to a higher power


def measured(is_right: FloatArray, believed: FloatArray, believed_of_all: FloatArray) -> tuple[float, float, float]:
    """The accuracy and the ends of its interval.

    `is_right` and `believed` are of the labelled votes, which must be a random sample; `believed_of_all` of all votes.
    Where every vote is labelled, the accuracy is known, and the interval is of other items of the same kind.
    """
    n, n_all = len(is_right), len(believed_of_all)
    if n == n_all:
        value = float(is_right.mean())
        return value, *wilson(value, n, COVERAGE)
    # Belief is used as far as being right follows it, by a regression with a slope from 0 to 1.
    spread, right = believed.var(), is_right - is_right.mean()
    slope = np.mean(right * (believed - believed.mean())) / spread if spread >= 1e-12 else 0.0
    factor = float(np.clip(slope, 0, 1))
    value = float(np.clip(is_right.mean() + factor * (believed_of_all.mean() - believed.mean()), 0, 1))
    rest = is_right - factor * believed
    # Half a right and half a wrong answer more: where all labels are right, the plain variance would be zero.
    more = 0.5 * ((1 - is_right.mean()) ** 2 + is_right.mean() ** 2)
    variance = (np.sum((rest - rest.mean()) ** 2) + more) / (n * (n + 1))
    variance *= 1 - n / n_all  # it is the accuracy on these items that is asked for, and of some it is known
    reach = float(stdtrit(n - 1, (1 + COVERAGE) / 2) * np.sqrt(variance))
    return value, max(0.0, value - reach), min(1.0, value + reach)


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
    voters: Voters, answers: Collection[str], known: IntArray | None, unseen: IntArray | None = None
) -> Estimates:
    """The estimates of these voters, the last of whom are whole answers of these names.

    A fused answer that labels have taught fits these labels better than others. It is measured on labels that it has
    not seen: `unseen` (items,), -1 where unknown or seen.
    """
    n_members = len(voters.votes) - len(answers)
    found = estimates_of(voters, shipped(), known)
    if unseen is not None:
        place = n_members + [*answers].index(FUSED_ANSWER)
        found[place] = estimates_of(voters, shipped(), unseen)[place]
    return Estimates(found[:n_members], dict(zip(answers, found[n_members:], strict=True)))


def voters_of(
    data: Predictions, model: Consensus, answers: Mapping[str, IntArray], posterior: Array | None = None
) -> Voters:
    """Count the votes of the members, and of whole answers; `posterior` is what the model makes of them, if known."""
    rule, labels = plain_rule(model), list(answers.values())
    posterior = to_numpy(rule.posterior(data) if posterior is None else posterior).astype(np.float64, copy=False)
    found = label_free_fit_of(model)
    alone = if_independent(found.standing)
    powers = _powers(alone, found.standing.agreement.mean_confidence, data.n_classes)
    counted = tally(data, rule, posterior, labels, powers=powers, chunk_size=model.chunk_size)
    by_experts = np.max([counted.mean(name) for name in INDEPENDENT], axis=0)[data.n_members :]
    independent = np.concatenate([alone, by_experts])
    features = features_of(counted, found, rule.traits.panel, independent)
    # The first class wins a tie, as in every metric: without ties a member is measured on what it knows.
    votes = by_member(labels_of(data.harden()), data.n_members)
    votes += [(np.arange(data.n_items), answer) for answer in labels]
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
    odds = (log_odds(share) + np.log(max(n_classes - 1, 1)) for share in (accuracy, confidence))
    shown, claimed = (np.maximum(values, 0.1) for values in odds)
    return np.asarray(np.nan_to_num(np.minimum(shown / claimed, MOST_POWER), nan=1.0))


def by_member(answers: HardAnswers, n_members: int) -> list[tuple[IntArray, IntArray]]:
    """The items and labels of each member's answers."""
    order = np.argsort(answers.members, kind="stable")
    places = np.split(order, np.searchsorted(answers.members[order], np.arange(1, n_members)))
    return [(answers.items[own], answers.labels[own]) for own in places]


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
class VoterSums(SumsOverItems):
    """Sums of each voter; those of two sets of items add up."""

    sums: FloatArray  # (voters, len(SUMS))
    said: FloatArray  # (voters, classes): how often it says each class

    def mean(self, name: str) -> FloatArray:
        """One of the sums by vote (voters,); NaN of those who never vote."""
        of = self.sums[:, SUMS.index("met" if name == "shared" else "votes")]
        return ratio(self.sums[:, SUMS.index(name)], of)


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
    n_members, n_classes = predictions.n_members, predictions.n_classes
    n_voters, reader = n_members + len(answers), Reader(predictions, chunk_size=chunk_size)
    reading = Reading(rule.experts, reader)

    def visit(chunk: ReadChunk) -> VoterSums:
        rows = to_numpy(posterior[chunk.items, :]).astype(np.float64)
        opinions, product = reading.opinions(chunk), np.exp(reading.product(chunk, powers))
        entries, n_items = sparse.coo_array(votes_of(chunk.chunk, n_members, n_classes).matrix), chunk.n_items
        voter, label = np.divmod(entries.col, n_classes)
        voter = np.concatenate([voter, np.repeat(np.arange(n_members, n_voters), n_items)])
        item = np.concatenate([entries.row.astype(np.intp), np.tile(np.arange(n_items), len(answers))])
        label = np.concatenate([label, *(answer[chunk.items] for answer in answers)])
        found = _of_votes((item, label), voter < n_members, opinions, product, rows)
        sums: FloatArray = np.stack([np.bincount(voter, found[name], n_voters) for name in SUMS], axis=1)
        said = np.bincount(voter * n_classes + label, minlength=n_voters * n_classes)
        return VoterSums(sums, said.reshape(n_voters, n_classes).astype(np.float64))

    return reader.added_up(visit)


def _of_votes(
    places: tuple[IntArray, IntArray],
    is_member: npt.NDArray[np.bool_],
    opinions: Opinions,
    product: FloatArray,
    posterior: FloatArray,
) -> dict[str, FloatArray]:
    """What is summed, of each vote, given its item and label; members are among the votes of the panel themselves."""
    items, labels = places
    n_votes = opinions.n_votes[items, 0]
    n_others = n_votes.astype(np.float64) - is_member
    n_same = opinions.votes[places] * n_votes - is_member
    return {
        "votes": np.ones(len(items)),
        "believed": posterior[places],
        "averaged": opinions.average[places].astype(np.float64),
        "translated": np.exp(opinions.translation[places].astype(np.float64)),
        "combined": np.exp(opinions.combination[places].astype(np.float64)),
        "multiplied": product[places],
        "chosen": (posterior.argmax(axis=1)[items] == labels).astype(np.float64),
        "top": posterior.max(axis=1)[items],
        "shared": np.where(n_others > 0, np.clip(n_same / np.maximum(n_others, 1), 0, 1), 0.0),
        "met": (n_others > 0).astype(np.float64),
    }


# ---- how far off an estimate may be ---------------------------------------------------------------------

INTERVALS_VERSION, INTERVALS_FILE = 2, "weights.npz"

MOST_STANDARD = 4.0  # features are clamped to so many standard deviations: beyond, nothing was learned
MOST_SURE = 0.99  # log-odds are of probabilities no nearer to 1 or to 0
NEVER = 0.02  # an interval that ends so near to 0 or 1 ends there: some members are never wrong on some items

MEANS = ("averaged", "translated", "combined", "chosen", "top", "shared")
"""Means by vote; the log-odds of each are compared with those of the estimate."""

OF_PANEL = (
    *("agreement", "agreement beyond skill", "most agreement beyond skill", "raw agreement", "chance"),
    *("log classes", "log members", "log items", "log answers an item", "mean confidence"),
    *("claimed over shown errors", "translation against average", "evenness of average", "votes among members"),
)
"""Traits of the panel that the error depends on."""

INTERVAL_FEATURES = (
    *(f"{name} against believed" for name in (*MEANS, "confidence", "independent")),
    *("log votes", "breadth", "largest share", "gives votes", "is no member"),
    *(f"panel: {name}" for name in OF_PANEL),
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """How far off an estimate may be: two linear functions of standardized features, and the least that they reach.

    The interval starts from two beliefs: that of `Consensus`, which has learned that members share errors, and what
    independent errors would mean. From the higher one it reaches up and from the lower one down, on the scale of
    log-odds, by what the functions say. But however much members agree, they may all be wrong together, or all be
    better than believed, and no feature shows it: no interval is narrower than two constants allow. `training.accuracy`
    in the project's repository fits all of it; the weights come with the package.
    """

    table: FloatArray  # (features, 2): down and up
    bias: FloatArray  # (2,)
    mean: FloatArray  # (features,)
    deviation: FloatArray  # (features,)
    least: FloatArray  # (2,): down, as a factor of what is believed; up, in log-odds of the higher belief

    def around(
        self, believed: FloatArray, features: FloatArray, independent: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The ends of the interval of each estimate (voters,), given the features (voters, features).

        `independent` is the accuracy if members erred independently, NaN where that is not known.
        """
        scaled = np.clip((features - self.mean) / self.deviation, -MOST_STANDARD, MOST_STANDARD)
        down, up = np.logaddexp(0, scaled @ self.table + self.bias).T
        lower, higher = bases(believed, independent)
        low = np.minimum(expit(log_odds(lower) - down), self.least[0] * believed)
        high = np.maximum(expit(log_odds(higher) + np.maximum(up, self.least[1])), higher)
        return np.where(low < NEVER, 0.0, low), np.where(high > 1 - NEVER, 1.0, high)


def bases(believed: FloatArray, independent: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Where intervals start from: the lower and the higher belief (voters,); NaN without a vote."""
    other = np.where(np.isnan(independent), believed, independent)
    return np.minimum(believed, other), np.maximum(believed, other)


def log_odds(shares: FloatArray) -> FloatArray:
    """Log-odds of probabilities, bounded."""
    return np.asarray(logit(np.clip(shares, 1 - MOST_SURE, MOST_SURE)))


def features_of(tally: VoterSums, found: LabelFreeFit, panel: FloatArray, independent: FloatArray) -> FloatArray:
    """The features of each voter (voters, len(INTERVAL_FEATURES)), given the traits of the panel."""
    n_members, n_voters, n_classes = len(found.standing.is_hard), *tally.said.shape
    believed = log_odds(tally.mean("believed"))
    n_votes = tally.said.sum(axis=1)
    shares = np.where(n_votes[:, None] > 0, tally.said / np.maximum(n_votes, 1)[:, None], 1 / n_classes)
    confidence = tally.mean("averaged")  # how sure of itself: of whole answers, the average of what they say
    stated = np.where(found.standing.is_hard, VOTE + (1 - VOTE) / n_classes, found.standing.agreement.mean_confidence)
    confidence[:n_members] = stated
    means = [*(tally.mean(name) for name in MEANS), confidence, independent]
    columns = [log_odds(mean) - believed for mean in means]
    is_hard = np.concatenate([found.standing.is_hard, np.zeros(n_voters - n_members)])
    columns += [np.log(np.maximum(n_votes, 1)), entropy(shares), shares.max(axis=1), is_hard]
    columns += [(np.arange(n_voters) >= n_members).astype(np.float64)]
    columns += [np.full(n_voters, panel[PANEL_TRAITS.index(name)]) for name in OF_PANEL]
    return np.nan_to_num(np.stack(columns, axis=1).astype(np.float64))


@cache
def shipped() -> Intervals:
    """The weights that come with the package."""
    with as_file(files("consilience.insight.accuracy") / INTERVALS_FILE) as path:
        return read(path)


def contents(intervals: Intervals) -> dict[str, Any]:
    """What a file of weights holds."""
    arrays = {name: np.asarray(getattr(intervals, name)) for name in _sizes(())}
    return sealed(arrays, INTERVALS_VERSION, INTERVAL_FEATURES)


def read(path: str | os.PathLike[str]) -> Intervals:
    """The weights of a file; raises where they are missing, damaged or of another version."""
    return Intervals(**read_weights(path, INTERVALS_VERSION, INTERVAL_FEATURES, _sizes))


def _sizes(_: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    n = len(INTERVAL_FEATURES)
    return {"table": (n, 2), "bias": (2,), "mean": (n,), "deviation": (n,), "least": (2,)}
