"""The first screen of a report: the verdict in a sentence, the ranking, three numbers, warnings, what labels gained."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.insight.accuracy.estimates import FUSED
from consilience.report.rounding import percent, rounded, text

if TYPE_CHECKING:
    from consilience.insight.accuracy.estimates import Estimate
    from consilience.insight.analysis import Analysis
    from consilience.insight.warnings.evidence import Warned
    from consilience.report.items import Judged
    from consilience.report.members import MemberSection
    from consilience.system.arrays import IntArray

UNSURE = 0.8
"""Answers with a lower probability count as unsure."""

ONE_SIDED = 1.645
"""Standard deviations that a 90 % interval reaches to either side."""

FEWEST_VOTES = 5
"""Of a member with fewer votes only the interval is shown."""

LEAST_VOTED = 0.5
"""A member who voted on a smaller share of the items is not compared with the fused answer: its items may be easy."""


class Accuracy(NamedTuple):
    """How often somebody is right, measured or estimated, with a 90 % interval."""

    value: float
    low: float
    high: float
    is_measured: bool

    @classmethod
    def of(cls, found: Estimate, n_answers: int) -> Accuracy:
        """The same, with an interval also where every answer has a label.

        The share of right answers is then known. The interval says how far it would be off on other items of the kind.
        """
        value, low, high = found[:3]
        if found.is_measured and low == high:
            low, high = wilson(value, n_answers)
        return cls(value, low, high, found.is_measured)

    def to_dict(self) -> dict[str, Any]:
        """For the page."""
        low, high = rounded(self.low), rounded(self.high)
        return {"value": rounded(self.value), "low": low, "high": high, "measured": self.is_measured}

    def __str__(self) -> str:
        return percent(self.value, 1 if self.is_measured else 0)


def wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's 90 % interval of a share of n answers."""
    z = ONE_SIDED**2 / n
    middle, reach = (share + z / 2) / (1 + z), np.sqrt(share * (1 - share) * z + z**2 / 4) / (1 + z)
    return max(0.0, float(middle - reach)), min(1.0, float(middle + reach))


class Opening:
    """What the first screen shows."""

    def __init__(self, analysis: Analysis, judged: Judged, members: MemberSection) -> None:
        self.analysis, self.judged, self.members = analysis, judged, members
        # The n answers behind an exact share are those with a label.
        n_labelled = max(1, int((analysis.measurable >= 0).sum()))
        answers = analysis.diagnosis.answers
        self.fused, self.average = (Accuracy.of(answers[name], n_labelled) for name in (FUSED, "average"))
        self.is_changed = (judged.consensus.chosen != judged.average.chosen) & ~analysis.is_given

    def to_dict(self) -> dict[str, Any]:
        """Everything the first screen shows."""
        return {
            "sentence": self.sentence(),
            "fused": self.fused.to_dict(),
            "average": self.average.to_dict(),
            "ranking": self._ranked().tolist(),
            "changed": self._changed(),
            "unsure": int(((self.judged.consensus.confidence < UNSURE) & ~self.analysis.is_given).sum()),
            "unsure_below": UNSURE,
            "answered": int((~self.analysis.is_given).sum()),
            "warnings": [_warning(list(alike)) for _, alike in groupby(self.analysis.diagnosis.warned, _advice)],
            "gain": self._gain(),
        }

    def sentence(self) -> str:
        """Whom to trust, what fusing changed, what to worry about."""
        return f"{self._trust()}; {self._fusing()}; {self._worry()}."

    def _trust(self) -> str:
        best = self._best()
        if best is None:
            how = "is right on" if self.fused.is_measured else "is probably right on about"
            return f"The fused answer {how} {self.fused} of the items"
        name, found = self._name(best), self.members.accuracies[best]
        if not (self.fused.is_measured and found.is_measured):
            return f"As far as can be told without labels, {self._estimated(name, found)}"
        if self.fused.value >= found.value:
            return f"Trust the fused answer: it is right on {self.fused}, the best member, {name}, on {found}"
        if found.low > self.fused.value:
            return f"Trust {name}: it is right on {found}, the fused answer on {self.fused}"
        return f"The fused answer ({self.fused} right) and {name} ({found}) are about equally good"

    def _estimated(self, name: str, found: Accuracy) -> str:
        if self.fused.value >= found.value:
            return f"trust the fused answer (about {self.fused} right) before the best member, {name} (about {found})"
        if found.low > self.fused.value:
            return f"{name} (about {found} right) is better than the fused answer (about {self.fused})"
        return f"the fused answer (about {self.fused} right) and {name} (about {found}) are about equally good"

    def _best(self) -> int | None:
        """The best of the members who voted on at least half of the items; None if there is no choice."""
        is_known = self.members.n_votes >= LEAST_VOTED * self.analysis.predictions.n_items
        values = np.where(is_known, [found.value for found in self.members.accuracies], np.nan)
        return None if len(values) == 1 or np.isnan(values).all() else int(np.nanargmax(values))

    def _fusing(self) -> str:
        changed = self._changed()
        if not changed["count"]:
            return "fusing answers every item as the plain average does"
        n_items = int((~self.analysis.is_given).sum())
        plain = f"fusing changed {changed['count']:,} of the {n_items:,} answers of the plain average"
        if changed["helped"] is None:
            return plain
        gained = changed["helped"] - changed["hurt"]
        balance = "a gain" if gained > 0 else "a loss" if gained < 0 else "a draw"
        return f"{plain}, {balance}: {changed['helped']:,} made right, {changed['hurt']:,} made wrong"

    def _worry(self) -> str:
        warned = self.analysis.diagnosis.warned
        if not warned:
            return "nothing gives cause for a warning"
        more = len(warned) - 1
        others = f" (and {more} more {'warning' if more == 1 else 'warnings'})" if more else ""
        return f"but {text(warned[0].finding)}{others}"

    def _name(self, member: int) -> str:
        name = text(self.analysis.predictions.axes.members.name(member), most=60)
        return f"member {name}" if name.isdecimal() else name

    def _ranked(self) -> IntArray:
        """The members on the page, the best first; who has not voted, or hardly, comes last."""
        shown = self.members.on_card
        values = np.array([self.members.accuracies[m].value for m in shown])
        is_known = ~np.isnan(values) & (self.members.n_votes[shown] >= FEWEST_VOTES)
        return np.asarray(shown[np.lexsort((np.where(is_known, -values, 0), ~is_known))])

    def _changed(self) -> dict[str, Any]:
        """How many answers differ from the average's, and what became of those with a known label."""
        consensus, average = self.judged.consensus, self.judged.average
        counted = {"count": int(self.is_changed.sum()), "helped": None, "hurt": None, "neither": None}
        is_known = self.is_changed & (consensus.truth >= 0)
        if not (consensus.truth >= 0).any():
            return counted
        is_right, was_right = consensus.is_right.astype(bool), average.is_right.astype(bool)
        return counted | {
            "helped": int((is_known & is_right).sum()),
            "hurt": int((is_known & was_right).sum()),
            "neither": int((is_known & ~is_right & ~was_right).sum()),
        }

    def _gain(self) -> dict[str, Any] | None:
        """What known labels gained."""
        n_given, found = int(self.analysis.is_given.sum()), self.analysis.gain
        if not n_given:
            return None
        return {
            "labels": n_given,
            "changed": self.analysis.taught,
            "before": None if found is None else rounded(found.before["accuracy"]),
            "after": None if found is None else rounded(found.after["accuracy"]),
            "difference": None if found is None else rounded(found.gain["accuracy"]),
            "outlook": None if found is None else found.outlook(),
        }


def _advice(warned: Warned) -> str:
    return warned.advice


def _warning(alike: list[Warned]) -> dict[str, Any]:
    """Warnings with the same advice, as one."""
    return {
        "advice": alike[0].advice + ".",
        "findings": [[text(warned.finding, most=600), text(warned.because, most=600)] for warned in alike],
    }
