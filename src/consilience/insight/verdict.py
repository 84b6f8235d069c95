"""What can be said of a fused answer: without labels what is known, and with labels who is right more often.

Without labels, how often the fused answer is right is only believed, and by the fused answer itself. So nobody is
ranked by it. With labels the fused answer is compared with others on the same items.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import NamedTuple, final

import numpy as np
import numpy.typing as npt

from consilience.aggregators.base import AbstractAggregator
from consilience.aggregators.consensus.class_shares import EVEN
from consilience.aggregators.consensus.consensus import Consensus, rule_given
from consilience.data.answers import is_largest
from consilience.data.predictions import Predictions
from consilience.insight.accuracy.estimates import FUSED_ANSWER, LEAST_LABELS, AccuracyEstimate, Estimates
from consilience.insight.agreement import PanelAgreement
from consilience.metrics.scores import Estimate, paired_difference
from consilience.system.arrays import Array, FloatArray, IntArray, sample, take, to_numpy

LEAST_VOTED = 0.5
"""A member who voted on a smaller share of the labelled items than others is not compared: its items may be easy."""

DIFFERENCE_LEVEL = 0.9  # how often an interval of a difference holds
MOSTLY = 0.5  # an answer rests on the members who have this share of the influence together
MOST_NAMED = 3  # how many members are named in a sentence
WIDEST = 100  # no line of a representation is longer

AVERAGE = "the plain average"


def is_tie(rows: FloatArray, chosen: IntArray) -> npt.NDArray[np.bool_]:
    """Where no class is more probable than the chosen one (items,), so that another answer is only one of several.

    >>> is_tie(np.array([[0.5, 0.5], [0.6, 0.4]]), np.array([1, 1])).tolist()
    [True, False]
    """
    return np.asarray(is_largest(rows)[np.arange(len(rows)), chosen])


class Change(NamedTuple):
    """What fusing changed against the plain average, on the items whose label the fit was not given."""

    is_changed: npt.NDArray[np.bool_]  # (items,): whether the answers differ
    n_items: int
    n_ties: int  # answers that differ, and are one of several that the average finds most probable
    n_labels: int
    made_right: int  # of those with a label
    made_wrong: int
    is_loss: bool  # whether the fused answer is right less often, by the 90 % interval of the paired difference

    @classmethod
    def of(
        cls, fused: IntArray, average: FloatArray, truth: IntArray, is_given: npt.NDArray[np.bool_] | None = None
    ) -> Change:
        """Compare the fused answer (items,) with the average (items, classes); the truth is -1 where unknown.

        The fit was given the labels of some items (items,); their truth is not looked at.
        """
        plain, is_own = average.argmax(axis=1), np.ones(len(fused), bool) if is_given is None else ~is_given
        is_changed, is_known = (fused != plain) & is_own, (truth >= 0) & is_own
        ours, theirs = (fused == truth)[is_known], (plain == truth)[is_known]
        return cls(
            is_changed,
            int(is_own.sum()),
            int(is_tie(average, fused)[is_changed].sum()),
            int(is_known.sum()),
            int((ours & ~theirs).sum()),
            int((theirs & ~ours).sum()),
            paired_difference(ours, theirs).high < 0,
        )

    @property
    def n_changed(self) -> int:
        """How many answers differ."""
        return int(self.is_changed.sum())


class Rival(NamedTuple):
    """Somebody who is compared with the fused answer on the labelled items that both answer."""

    name: str
    accuracy: float
    fused: float  # the accuracy of the fused answer, on the same items
    lead: Estimate  # of the fused answer, with an interval that allows for who was chosen
    n_items: int

    @property
    def is_told_apart(self) -> bool:
        """Whether the labels tell who of the two is better."""
        return self.lead.low > 0 or self.lead.high < 0

    def sentence(self) -> str:
        """Who is right more often, and by how much."""
        value, low, high = (f"{100 * number:+.1f}" for number in self.lead)
        shares = f"the fused answer on {self.fused:.1%}, {self.name} on {self.accuracy:.1%} of {self.n_items:,} items"
        points = f"{shares} with a label, a difference of {value} points ({low} to {high})"
        if not self.is_told_apart:
            return f"these labels do not tell whether the fused answer or {self.name} is right more often: {points}"
        return f"the fused answer is right {'more' if self.lead.low > 0 else 'less'} often than {self.name}: {points}"


@final
@dataclass(frozen=True, eq=False)
class Verdict:
    """What is known of the fused answer, the plain average and the members."""

    names: Sequence[str]  # of the members
    estimates: Estimates
    influence: FloatArray  # (members,)
    agreement: PanelAgreement
    change: Change
    rivals: Sequence[Rival] = ()  # the plain average and the best member; none without labels that nobody was taught
    knows_shares: bool = False

    @property
    def fused(self) -> AccuracyEstimate:
        """How often the fused answer is right."""
        return self.estimates.answers[FUSED_ANSWER]

    def standing(self) -> list[str]:
        """Who is right more often than whom, as far as it can be told; what matters most first."""
        if self.rivals:
            return [rival.sentence() for rival in sorted(self.rivals, key=lambda rival: rival.lead.value)]
        if len(self.names) < 2:
            return [f"there is one member and nobody to compare it with: {_right(self.fused)}"]
        how = "by these labels" if self.fused.is_measured else "without labels"
        both = (
            f"the fused answer ({_right(self.fused)}), the plain average ({_right(self.estimates.answers['average'])})"
        )
        return [f"{both} and the members cannot be told apart {how}{self._exceptions()}"]

    def known(self) -> list[str]:
        """What is known without labels: how far members agree, who agrees least, and what the answers rest on."""
        return [self.agreement.sentence().removesuffix("."), *self._least_agreeing(), self._rests_on()]

    def changed(self) -> str:
        """What fusing changed, where it was not told the label."""
        if not self.change.n_items:
            return "every item has a known label, so fusing answers none"
        if not self.change.n_changed:
            return "fusing answers every item as the plain average does"
        return f"fusing changed {self.change.n_changed:,} of the {self.change.n_items:,} answers of the plain average"

    def advice(self) -> str:
        """What would tell more; empty where labels have told, or every item has one."""
        is_told = all(rival.is_told_apart or rival.n_items == self.change.n_items for rival in self.rivals)
        if self.rivals and is_told:
            return ""
        which = "more labels" if self.fused.is_measured else "30 labels"
        shares = "" if self.knows_shares else "; if you know how frequent the classes are, say so (class_shares)"
        return (
            f"{which} would tell more: of items drawn at random they measure everybody, though members who are about "
            "equally good need hundreds; of those that `suggest` names, given to the fit, they correct the answers"
            f"{shares}"
        )

    def sentences(self) -> list[str]:
        """The whole verdict."""
        return as_sentences([*self.standing(), self.changed(), *self.known(), self.advice()])

    def __repr__(self) -> str:
        """The whole verdict, a sentence a paragraph."""
        return "\n".join(fill(sentence, WIDEST) for sentence in self.sentences())

    # ---- parts ------------------------------------------------------------------------------------------------

    def _exceptions(self) -> str:
        """The members whose whole interval is below that of the fused answer, or above it."""
        pairs = list(zip(self.names, self.estimates.members, strict=True))
        worse = [name for name, found in pairs if found.high < self.fused.low]
        better = [name for name, found in pairs if found.low > self.fused.high]
        parts = [
            f"{listed(names, MOST_NAMED)} {'is' if len(names) == 1 else 'are'} {how}"
            for names, how in ((worse, "worse"), (better, "better"))
            if names
        ]
        return f", except that {' and '.join(parts)}" if parts else ""

    def _least_agreeing(self) -> list[str]:
        kappa = self.agreement.by_member
        if np.isfinite(kappa).sum() < 3:
            return []
        least = int(np.nanargmin(kappa))
        own = f"kappa {kappa[least]:z.2f}; the median member {np.nanmedian(kappa):z.2f}"
        return [f"of the members, {self.names[least]} agrees least with the others ({own})"]

    def _rests_on(self) -> str:
        if not self.influence.any():
            return "no member moves the answers"
        order = np.argsort(-self.influence, kind="stable")
        n_needed = int(np.searchsorted(np.cumsum(self.influence[order]), MOSTLY)) + 1
        named = [f"{self.names[m]} ({self.influence[m]:.0%})" for m in order[:n_needed]]
        return f"at least half of what moves the answers comes from {listed(named, MOST_NAMED)}"


def rivals_of(
    fused: IntArray, average: IntArray, members: Mapping[str, tuple[IntArray, IntArray]], truth: IntArray
) -> list[Rival]:
    """The plain average and the best member, each compared with the fused answer (items,); none of too few labels.

    Members have items and labels of their votes, by name; the truth (items,) is -1 where unknown.
    """
    n_labels = int((truth >= 0).sum())
    if n_labels < LEAST_LABELS:
        return []
    voters = {name: votes for name, votes in members.items() if (truth[votes[0]] >= 0).sum() >= LEAST_VOTED * n_labels}
    found = [_rival(name, fused, votes, truth, one_of(len(voters))) for name, votes in voters.items()]
    best = sorted(found, key=lambda rival: -rival.accuracy)[:1] if len(members) > 1 else []
    return [_rival(AVERAGE, fused, (np.arange(len(truth)), average), truth, one_of(1)), *best]


def one_of(n_candidates: int) -> float:
    """The level of an interval of the best of some, who was chosen by the same labels: it must hold for each of them.

    >>> one_of(1), one_of(5)
    (0.9, 0.98)
    """
    return 1 - (1 - DIFFERENCE_LEVEL) / n_candidates


def _rival(name: str, fused: IntArray, votes: tuple[IntArray, IntArray], truth: IntArray, level: float) -> Rival:
    items, labels = votes
    is_known = truth[items] >= 0
    items, labels = items[is_known], labels[is_known]
    own, ours = labels == truth[items], fused[items] == truth[items]
    return Rival(name, float(own.mean()), float(ours.mean()), paired_difference(ours, own, level), len(items))


def _right(found: AccuracyEstimate) -> str:
    """How often one is right: an interval, after a number if that was measured."""
    ends = f"{100 * found.low:.0f} to {found.high:.0%}"
    return f"{found.value:.1%} right, {ends}" if found.is_measured else f"{ends} right"


def listed(names: Sequence[str], most: int) -> str:
    """The first of some names, and how many there are more.

    >>> listed(["a", "b"], 3), listed(["a", "b", "c", "d", "e"], 3)
    ('a and b', 'a, b, c and 2 more')
    """
    shown = [*names[:most], *([f"{len(names) - most} more"] if len(names) > most else [])]
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def as_sentences(parts: Iterable[str]) -> list[str]:
    """Each part that is not empty, from a capital letter to a full stop."""
    return [f"{words[0].upper()}{words[1:]}." for words in parts if words]


LEAST_CHANGED, LEAST_HINTED = 3, 0.01
"""Fewer answers that would change, or a smaller share of them, are not worth a hint."""

MOST_HINTED = 2**18  # changes are counted on all items, or on so many numbers


class Hint(NamedTuple):
    """How many answers would change if the classes were known to be about equally frequent."""

    n_changed: int
    n_items: int
    is_exact: bool

    def sentence(self, say: str = f'class_shares="{EVEN}"') -> str:
        """The hint in words, given how to say it."""
        about = "" if self.is_exact else "about "
        return (
            f"If the classes are about equally frequent, say {say}: "
            f"{about}{self.n_changed:,} of {self.n_items:,} answers would change"
        )

    def __repr__(self) -> str:
        """The hint in words."""
        return fill(self.sentence(), WIDEST)


def hint_of(method: AbstractAggregator, predictions: Predictions, posterior: Array) -> Hint | None:
    """What even class shares would change in a method's answers (items, classes).

    None where little would change, where shares or labels were given, and where the method is not `Consensus`.
    """
    if not isinstance(method, Consensus) or method.stated_ is not None or method.labelled_ is not None:
        return None
    n_items, most = predictions.n_items, max(1, MOST_HINTED // predictions.n_classes)
    if n_items > most:
        places = sample(n_items, most)
        predictions, posterior = predictions.take(places), take(posterior, places, axis=0)
    chosen = to_numpy(rule_given(method, predictions, EVEN).posterior(predictions)).argmax(axis=1)
    is_changed = ~is_tie(to_numpy(posterior).astype(np.float64), chosen)
    if is_changed.sum() < LEAST_CHANGED or is_changed.mean() < LEAST_HINTED:
        return None
    return Hint(round(is_changed.mean() * n_items), n_items, is_exact=n_items <= most)
