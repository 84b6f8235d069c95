"""What warnings look at: sums over items of what members say, and the estimated accuracies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np

from consilience.aggregators.consensus.credibility import SURE
from consilience.data.answers import HardAnswers
from consilience.insight.warnings.thresholds import MOST_OF_ONE
from consilience.metrics.paired import paired_difference
from consilience.passes.reader import Reader

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.data.predictions import Predictions
    from consilience.insight.accuracy.estimates import Estimates
    from consilience.passes.agreement import Agreement
    from consilience.system.arrays import FloatArray, IntArray


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


class Changed(NamedTuple):
    """The labelled items that the average answers otherwise: how many the fused answer made right, and wrong."""

    made_right: int
    made_wrong: int
    is_loss: bool  # whether the fused answer is right less often, by the 90 % interval of the paired difference

    @classmethod
    def of(cls, fused: IntArray, average: IntArray, known: IntArray) -> Changed:
        """Count them, given the two answers and the true classes (items,), -1 where unknown."""
        is_known = known >= 0
        ours, plain = (fused == known)[is_known], (average == known)[is_known]
        is_loss = paired_difference(ours, plain).high < 0
        return cls(int((ours & ~plain).sum()), int((plain & ~ours).sum()), is_loss)


@final
@dataclass(frozen=True, eq=False)
class PanelEvidence:
    """What is known of a panel without labels."""

    data: Predictions
    chosen: IntArray  # (items,): the fused answer
    estimates: Estimates  # of the members, and of the "fused answer"
    has_settled: bool = True
    changed: Changed | None = None  # None without labels that the fused answer has not seen
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

    @property
    def accuracies(self) -> FloatArray:
        """The estimated accuracy of each member (members,)."""
        return np.array([found.value for found in self.estimates.members])

    @cached_property
    def votes(self) -> HardAnswers:
        """What each member finds most probable, without the answers that find several classes so."""
        nothing = np.empty(0, dtype=np.intp)
        return self.data.votes().hard or HardAnswers(nothing, nothing, nothing)

    @cached_property
    def n_votes(self) -> IntArray:
        """How many votes each member gives (members,)."""
        return np.bincount(self.votes.members, minlength=self.data.n_members)

    @property
    def is_varied(self) -> npt.NDArray[np.bool_]:
        """Which members do not say one and the same class nearly always (members,)."""
        return np.asarray(self.said.shares.max(axis=1) <= MOST_OF_ONE)

    @cached_property
    def _by_member(self) -> tuple[IntArray, IntArray]:
        """The places of the votes, sorted by member, and where each member's begin and the last one's end."""
        order = np.argsort(self.votes.members, kind="stable")
        return order, np.concatenate([[0], np.cumsum(self.n_votes)])

    def confusion(self, member: int) -> FloatArray:
        """How often a member says each class of the fused answer's (fused answer, said)."""
        order, ends = self._by_member
        own, n_classes = order[ends[member] : ends[member + 1]], self.data.n_classes
        cells = self.chosen[self.votes.items[own]] * n_classes + self.votes.labels[own]
        return np.bincount(cells, minlength=n_classes**2).reshape(n_classes, n_classes).astype(np.float64)

    def member(self, position: int) -> str:
        """The name of a member in quotes."""
        return repr(self.data.members[position])
