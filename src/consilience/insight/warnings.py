"""Every warning, by name, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from consilience.aggregators.consensus.panel import SURE
from consilience.data.answers import HardAnswers
from consilience.data.predictions import Predictions
from consilience.insight.accuracy.estimates import FUSED_ANSWER, Estimates, by_member
from consilience.insight.agreement import labels_of
from consilience.insight.verdict import Change
from consilience.passes.pair_products import Agreement
from consilience.passes.reader import Reader
from consilience.system.arrays import FloatArray, IntArray

LEAST_RIGHT, AT_BEST = 0.65, 0.95
"""The fused answer is warned of if it is estimated to be right on less than the first share of the items, and the
interval ends below the second; it is then wrong on a quarter or more."""

MOSTLY_RIGHT = 0.75  # where labels measure the fused answer, it is warned of if the interval of its accuracy ends below

FALLEN = 0.1
"""The fused answer has become worse since a reference if its estimated accuracy has fallen by more; the true one has
then fallen by .05 or more (`python -m benchmarks.quality.fallen`, `results/fallen.txt`)."""

TOO_SURE = 0.15  # a member is too sure if it claims so much more than is estimated; it then claims .1 too much or more

CHANCE_LEVEL = 0.1
"""A member is useless if its agreement with the fused answer beyond chance, Cohen's kappa, is less. Its agreement with
the truth is then hardly higher."""

LEAST_RENAMED = 0.3
"""A member has its classes in another order if so many more of its votes would be those of the fused answer under
other names; the same is then true of the truth, by .2 or more."""

LEAST_AGREED, LEAST_AMONG_OTHERS = 0.5, 0.2
"""… if such a share of them then is, and if the other members agree with each other so much beyond chance. Otherwise
nobody knows who is in order."""

SAME_ERRORS, ENOUGH_ERRORS = 0.99, 20
"""Members are copies if such a share of the items on which either contradicts the fused answer, at least so many, has
the same vote of both."""

EQUAL_ROWS, ROOM_TO_DIFFER = 1e-9, 0.01
"""… or if their probabilities are the same, up to this squared distance an item; of members who are always sure that
tells nothing."""

MOST_OF_ONE = 0.9
"""Who says one class in more than this share of its votes is neither a copy of others who do, nor in another order."""

MOST_OFF, NINE_OF_TEN = 0.1, 1.645
"""There are too few items if nine of ten intervals of labelled ones would reach further than this, up and down."""

ENOUGH_VOTES, ENOUGH_MEMBERS = 50, 3  # the fewest votes and members for a warning about single members, or pairs
MOST_OF_A_KIND = 10  # at most so many warnings of a kind


class Warned(NamedTuple):
    """A warning: what was found, what shows it, what to do, and the positions of the members it is about."""

    finding: str
    advice: str
    because: str = ""
    about: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """All of it, in two sentences."""
        return f"{self.finding}{f': {self.because}' if self.because else ''}. {self.advice}"


@final
@dataclass(frozen=True, eq=False)
class PanelEvidence:
    """What is known of a panel without labels."""

    data: Predictions
    chosen: IntArray  # (items,): the fused answer
    estimates: Estimates  # of the members, and of the "fused answer"
    has_settled: bool = True
    change: Change | None = None  # against the average, measured on labels that the fused answer has not seen
    doubts_labels: bool = False  # whether the labels of the fit contradict answers that are sure

    @cached_property
    def answered(self) -> Agreement:
        """How much members agree in their answers."""
        return Reader(self.data).agreement()

    @cached_property
    def said(self) -> Agreement:
        """How often members find the same class most probable."""
        return Reader(self.data.votes()).agreement()

    @property
    def claimed(self) -> FloatArray:
        """How sure each member is of what it says (members,); NaN of those who give labels alone, or nothing."""
        sureness = self.answered.mean_confidence
        return np.where(sureness < SURE, sureness, np.nan)

    @cached_property
    def votes(self) -> HardAnswers:
        """What each member finds most probable, without the answers that find several classes so."""
        return labels_of(self.data.votes())

    @cached_property
    def n_votes(self) -> IntArray:
        """How many votes each member gives (members,)."""
        return np.bincount(self.votes.members, minlength=self.data.n_members)

    @property
    def is_varied(self) -> npt.NDArray[np.bool_]:
        """Which members do not say one and the same class nearly always (members,)."""
        return np.asarray(self.said.shares.max(axis=1) <= MOST_OF_ONE)

    @cached_property
    def odd(self) -> dict[int, IntArray | None]:
        """Members who do not go with the fused answer; what they call each class where names explain it, else None."""
        if self.data.n_members < ENOUGH_MEMBERS:
            return {}
        found, n_classes = {}, self.data.n_classes
        shares = np.bincount(self.chosen, minlength=n_classes) / self.data.n_items
        for member, (items, said) in enumerate(by_member(self.votes, self.data.n_members)):
            if len(said) < ENOUGH_VOTES:
                continue
            counts = np.zeros((n_classes, n_classes))  # how often it says each class of the fused answer's
            np.add.at(counts, (self.chosen[items], said), 1)
            kappa = _kappa(counts, shares)
            names = _other_names(self, member, counts) if kappa < 1 - LEAST_RENAMED else None
            if names is not None or kappa < CHANCE_LEVEL:
                found[member] = names
        return found

    def member(self, position: int) -> str:
        """The name of a member in quotes."""
        return repr(self.data.members[position])


def copied_members(evidence: PanelEvidence) -> list[Warned]:
    """Pairs of members who give equal probabilities, or contradict the fused answer in the same way."""
    said = evidence.said
    if not said.has_pairs:
        return []
    have_met, n_items = said.counts >= ENOUGH_VOTES, evidence.data.n_items
    pairs = np.argwhere(np.triu((_give_equal(evidence) | _err_alike(evidence)) & have_met, k=1))
    found = []
    for a, b in pairs[:MOST_OF_A_KIND].tolist():
        n_met = int(said.counts[a, b])
        same = f"they give the same answer to {said.products[a, b] / n_met:.1%} of {n_met}"
        finding = f"members {evidence.member(a)} and {evidence.member(b)} look like copies"
        advice = "Check whether one of them is a copy of the other, and keep one if so"
        found.append(
            Warned(finding, advice, f"{same} {'common items' if n_met <= n_items else 'pairs of answers'}", (a, b))
        )
    return found


def _give_equal(evidence: PanelEvidence) -> npt.NDArray[np.bool_]:
    """Which pairs (members, members) give equal probabilities, and are unsure enough for that to tell something."""
    answered = evidence.answered
    sums = answered.products
    equal = np.abs(np.diag(sums)[:, None] + np.diag(sums) - 2 * sums) <= EQUAL_ROWS * np.maximum(answered.counts, 1)
    same_items = np.minimum(np.diag(answered.counts)[:, None], np.diag(answered.counts)) == answered.counts
    is_unsure = np.nan_to_num(evidence.claimed, nan=1.0) < 1 - ROOM_TO_DIFFER
    return np.asarray(equal & same_items & same_items.T & is_unsure & is_unsure[:, None])


def _err_alike(evidence: PanelEvidence) -> npt.NDArray[np.bool_]:
    """Which pairs (members, members) contradict the fused answer on the same items, with the same votes.

    Members who hardly ever contradict it may well be right, and right answers are the same without copying. Who gives
    the same answer to an item several times gives it once. Who gives different ones is not looked at there: one of them
    must contradict the fused answer, and if the item is two questions in truth, able members do so alike.
    """
    shape, n_classes = (evidence.data.n_members, evidence.data.n_items), evidence.data.n_classes
    members, items, labels = _given_once(evidence)
    answered = sparse.csr_array((np.ones(len(members)), (members, items)), shape=shape)
    is_against = labels != evidence.chosen[items]
    members, items, labels = members[is_against], items[is_against], labels[is_against]
    places = items * n_classes + labels
    kinds, columns = np.unique(places, return_inverse=True)
    against = sparse.csr_array((np.ones(len(items)), (members, columns)), shape=(shape[0], len(kinds)))
    alike = (against @ against.T).toarray()
    where_met = (sparse.csr_array((np.ones(len(items)), (members, items)), shape=shape) @ answered.T).toarray()
    either = where_met + where_met.T - alike  # on so many common items one of the two contradicts it
    is_varied = evidence.is_varied & evidence.is_varied[:, None]
    return np.asarray(is_varied & (either >= ENOUGH_ERRORS) & (alike >= SAME_ERRORS * either))


def _given_once(evidence: PanelEvidence) -> tuple[IntArray, IntArray, IntArray]:
    """The members, items and labels of all votes, an item's equal ones once and its different ones not at all."""
    votes = evidence.votes
    if not evidence.data.has_repeats():
        return votes.members, votes.items, votes.labels
    given = np.unique(np.stack([votes.members, votes.items, votes.labels]), axis=1)
    _, place, n_given = np.unique(given[0] * evidence.data.n_items + given[1], return_inverse=True, return_counts=True)
    members, items, labels = given[:, n_given[place] == 1]
    return members, items, labels


def useless_members(evidence: PanelEvidence) -> list[Warned]:
    """Members whose votes have hardly more to do with the fused answer than blind ones."""
    finding = "agrees with the others hardly more than blind guessing would"
    advice = "Look at some of its answers, and leave it out if they make no sense"
    blind = [member for member, names in evidence.odd.items() if names is None][:MOST_OF_A_KIND]
    return [Warned(f"member {evidence.member(member)} {finding}", advice, about=(member,)) for member in blind]


def renamed_members(evidence: PanelEvidence) -> list[Warned]:
    """Members who would agree with the others if their classes had other names: permuted, or the opposite."""
    found, classes = [], evidence.data.classes
    advice = "Check the order of its columns, or the names of its classes, and fuse again"
    for member, names in evidence.odd.items():
        if names is not None:
            moved = [f"{classes[said]} for {classes[meant]}" for meant, said in enumerate(names) if meant != said]
            finding = f"member {evidence.member(member)} seems to have its classes in another order"
            shown = ", ".join(moved[:3]) + (", …" if len(moved) > 3 else "")
            found.append(Warned(finding, advice, f"it says {shown}", (member,)))
    return found[:MOST_OF_A_KIND]


def overconfident_members(evidence: PanelEvidence) -> list[Warned]:
    """Members who are surer of their answers than they are right: what they claim is beyond the interval."""
    accuracy, _, at_most, _ = np.array(evidence.estimates.members).T
    excess = np.nan_to_num(evidence.claimed - accuracy, nan=-1.0)
    order = np.argsort(-excess, kind="stable")
    is_too_sure = (excess > TOO_SURE) & (evidence.claimed > at_most) & (evidence.n_votes >= ENOUGH_VOTES)
    found = []
    for member in order[is_too_sure[order]][:MOST_OF_A_KIND].tolist():
        own = evidence.estimates.members[member]
        right = f"{'is' if own.is_measured else 'is estimated to be'} right on {own}"
        because = f"it claims to be right on {evidence.claimed[member]:.0%} of its answers, and {right}"
        advice = "Use the probabilities of the fused answer, not its own"
        found.append(Warned(f"member {evidence.member(member)} is too sure", advice, because, (member,)))
    return found


def _kappa(counts: FloatArray, shares: FloatArray) -> float:
    """Cohen's kappa of a table (fused, said), with chance by the shares of the fused answers to all items.

    So a labelling function, which says one class where it applies, is no blind guess; who says one class of every item
    is. Where the fused answer is one class throughout, nothing tells members apart, and all have 1.
    """
    total = counts.sum()
    by_chance = float(shares @ counts.sum(axis=0)) / total
    return float(np.trace(counts) / total - by_chance) / (1 - by_chance) if shares.max() < 1 else 1.0


def _other_names(evidence: PanelEvidence, member: int, counts: FloatArray) -> IntArray | None:
    """What the member calls each class of the fused answer (classes,), if other names explain its votes."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - slow to import

    names = np.asarray(linear_sum_assignment(-counts)[1])
    agreed = counts[np.arange(len(counts)), names].sum() / counts.sum()
    gain = agreed - np.trace(counts) / counts.sum()
    is_clear = gain > LEAST_RENAMED and agreed > LEAST_AGREED and evidence.is_varied[member]
    return names if is_clear and _agreement_of_others(evidence, member) > LEAST_AMONG_OTHERS else None


def _agreement_of_others(evidence: PanelEvidence, member: int) -> float:
    """How much the other members agree with each other beyond chance; 0 of too many members to compare."""
    if not evidence.said.has_pairs:
        return 0.0
    others = evidence.said.among(np.flatnonzero(np.arange(evidence.data.n_members) != member))
    met = np.where(np.eye(len(others.counts), dtype=bool), 0, others.counts)
    return float((met * others.beyond_chance()).sum() / max(met.sum(), 1))


LOST = "fusing made more answers wrong than right"  # what is found where labels show that the plain average is better
TELLING = "50 say: they tell how often it is right, and correct it"


def not_settled(evidence: PanelEvidence) -> list[Warned]:
    """The fit stopped before its objective settled."""
    finding = "the fit had not settled when it stopped, so all numbers may still change"
    return [] if evidence.has_settled else [Warned(finding, "Raise max_iter or tol")]


def contradicting_labels(evidence: PanelEvidence) -> list[Warned]:
    """The labels of the fit contradict the answers that members are sure of."""
    advice = (
        "Check whether classes are swapped, or only mistakes were labelled; until then, do not take what these labels "
        "measure for all items"
    )
    finding = "the known labels contradict most of the answers to their items"
    return [Warned(finding, advice)] if evidence.doubts_labels else []


def wrong_together(evidence: PanelEvidence) -> list[Warned]:
    """Everybody is wrong together: the fused answer is wrong on a quarter of the items or more, or probably so."""
    fused = evidence.estimates.answers[FUSED_ANSWER]
    if fused.is_measured and fused.high < MOSTLY_RIGHT:
        finding = "the fused answer is wrong on more than a quarter of the items"
        advice = "Give labels of some items to the fit, which correct it, and use the others to measure it again"
        return [Warned(finding, advice, f"measured with the labels, it is right on {fused}")]
    if not fused.is_measured and fused.value < LEAST_RIGHT and fused.high < AT_BEST:
        finding = "the fused answer is probably wrong on a quarter of the items or more"
        advice = f"Before you use it, label some items drawn at random, {TELLING}"
        return [Warned(finding, advice, f"it is estimated to be right on {fused}")]
    return []


def lost_by_fusing(evidence: PanelEvidence) -> list[Warned]:
    """Labels show that the plain average is right more often than the fused answer."""
    change = evidence.change
    if change is None or not change.is_loss:
        return []
    became = f"{change.made_right:,} became right and {change.made_wrong:,} became wrong"
    advice = "Use the plain average instead, or give labels of some items to the fit, which correct it"
    return [Warned(LOST, advice, f"of the labelled answers that differ from the plain average, {became}")]


def too_few_items(evidence: PanelEvidence) -> list[Warned]:
    """So few items that even their labels would not tell how good the members are."""
    known = [found.value for found in evidence.estimates.members if not np.isnan(found.value)]
    if not known:
        return []
    usual, n_items = float(np.median(known)), evidence.data.n_items
    usual = (usual * n_items + 1) / (n_items + 2)  # on one item, nobody is known to be always right
    off = NINE_OF_TEN * np.sqrt(usual * (1 - usual) / n_items)
    finding = f"{n_items} {'item is' if n_items == 1 else 'items are'} too few to tell how good the members are"
    advice = "Bring more items of the same kind; they need no labels"
    because = f"even with all labels, an accuracy would be known to {100 * off:.0f} points up or down"
    return [Warned(finding, advice, because)] if off > MOST_OFF else []


WARNINGS: dict[str, Callable[[PanelEvidence], list[Warned]]] = {
    "labels contradict": contradicting_labels,
    "not settled": not_settled,
    "too few items": too_few_items,
    "everybody wrong together": wrong_together,
    "loss by fusing": lost_by_fusing,
    "useless member": useless_members,
    "classes in another order": renamed_members,
    "copies": copied_members,
    "overconfident member": overconfident_members,
}
