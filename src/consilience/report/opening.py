"""The first screen of a report: verdict, change and worry, the ranking, three numbers, warnings, what labels gained."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.insight.accuracy.estimates import FUSED_ANSWER
from consilience.insight.verdict import AVERAGE, as_sentences
from consilience.insight.warnings import LOST
from consilience.report.selection import rounded, text

if TYPE_CHECKING:
    from consilience.insight.accuracy.estimates import AccuracyEstimate
    from consilience.insight.analysis import Analysis
    from consilience.insight.warnings import Warned
    from consilience.report.items import Judged
    from consilience.report.panel import MemberSection
    from consilience.system.arrays import IntArray

UNSURE_BELOW = 0.8
"""Answers with a lower probability count as unsure."""

UNSEEN = "no warning can see errors that all members share"

SAY_EVEN = 'class_shares="even" (on the command line, --class-shares even)'


def accuracy(found: AccuracyEstimate) -> dict[str, Any]:
    """An accuracy with its 90 % interval, for the page; of very few answers there is the interval alone."""
    value, low, high = rounded(found[:3])
    return {"value": value, "low": low, "high": high, "measured": found.is_measured}


def of_answer(found: AccuracyEstimate) -> dict[str, Any]:
    """The same of a whole answer: without labels the number is the fused answer's own belief, and is not shown."""
    return accuracy(found) | ({} if found.is_measured else {"value": None})


class Opening:
    """What the first screen shows."""

    def __init__(self, analysis: Analysis, judged: Judged, members: MemberSection) -> None:
        self.analysis, self.judged, self.members = analysis, judged, members
        self.fused, self.average = (analysis.diagnosis.answers[name] for name in (FUSED_ANSWER, "average"))
        self.verdict = analysis.diagnosis.verdict

    def to_dict(self) -> dict[str, Any]:
        """Everything the first screen shows."""
        return {
            "sentences": self.sentences(),
            "verdict": self._verdict(),
            "fused": of_answer(self.fused),
            "average": of_answer(self.average),
            "ranking": self._ranked().tolist(),
            "changed": self._changed(),
            "unsure": int(((self.judged.consensus.confidence < UNSURE_BELOW) & ~self.analysis.is_given).sum()),
            "unsure_below": UNSURE_BELOW,
            "answered": int((~self.analysis.is_given).sum()),
            "warnings": [
                _warning(list(alike)) for _, alike in groupby(self.analysis.diagnosis.warned, attrgetter("advice"))
            ],
            "gain": self._gain(),
            "hint": self._hint(),
        }

    def _hint(self) -> str | None:
        """What even class shares would change."""
        hint = self.analysis.diagnosis.hint
        return None if hint is None else f"{hint.sentence(SAY_EVEN)}."

    def sentences(self) -> list[str]:
        """Who is right more often as far as can be told, what fusing changed, what to worry about."""
        parts = text(self.verdict.standing()[0], most=600), self._fusing(), self._worry()
        return [f"{part[0].upper()}{part[1:]}." for part in parts]

    def _verdict(self) -> list[str]:
        """What the sentences leave out: how it stands with others, what is known, what would tell more."""
        parts = [*self.verdict.standing()[1:], *self.verdict.known(), self.verdict.advice()]
        return [text(words, most=600) for words in as_sentences(parts)]

    def _fusing(self) -> str:
        changed, told = self._changed(), self.verdict.changed()
        ties = f" ({changed['ties']:,} of them ties)" if changed["ties"] else ""
        if changed["helped"] is None or not changed["count"]:
            return f"{told}{ties}"
        average = next((rival for rival in self.verdict.rivals if rival.name == AVERAGE), None)
        is_told = average is not None and average.is_told_apart
        balance = ("a gain" if changed["helped"] > changed["hurt"] else "a loss") if is_told else "which may be chance"
        return f"{told}{ties}, {balance}: {changed['helped']:,} made right, {changed['hurt']:,} made wrong"

    def _worry(self) -> str:
        warned = self.analysis.diagnosis.warned
        if not warned:
            return "no warning is raised" if self.fused.is_measured else f"no warning is raised, but {UNSEEN}"
        more = len(warned) - 1
        others = f" (and {more} more {'warning' if more == 1 else 'warnings'})" if more else ""
        if warned[0].finding == LOST:  # what fusing changed has just been said
            return f"{warned[0].advice[0].lower()}{warned[0].advice[1:]}{others}"
        return f"{text(warned[0].finding)}{others}"

    def _ranked(self) -> IntArray:
        """The members on the page, the best first; who answered too little to have an accuracy comes last."""
        shown = self.members.on_card
        values = np.array([self.members.accuracies[m].value for m in shown])
        return np.asarray(shown[np.argsort(-values, kind="stable")])

    def _changed(self) -> dict[str, Any]:
        """How many answers differ from the average's, and what became of those with a known label."""
        change, truth = self.analysis.change, self.analysis.measurable
        n_labelled = int((change.is_changed & (truth >= 0)).sum())
        became = (change.made_right, change.made_wrong, n_labelled - change.made_right - change.made_wrong)
        told = became if change.n_labels else (None, None, None)
        return {
            "count": change.n_changed,
            "ties": change.n_ties,
            **dict(zip(("helped", "hurt", "neither"), told, strict=True)),
        }

    def _gain(self) -> dict[str, Any] | None:
        """What known labels gained."""
        n_given, found = int(self.analysis.is_given.sum()), self.analysis.gain
        if not n_given:
            return None
        return {
            "labels": n_given,
            "changed": self.analysis.n_changed_by_labels,
            "before": None if found is None else rounded(found.before["accuracy"]),
            "after": None if found is None else rounded(found.after["accuracy"]),
            "difference": None if found is None else rounded(found.gain["accuracy"]),
            "outlook": None if found is None else found.outlook(),
        }


def _warning(alike: list[Warned]) -> dict[str, Any]:
    """Warnings with the same advice, as one."""
    return {
        "advice": alike[0].advice + ".",
        "findings": [[text(warned.finding, most=600), text(warned.because, most=600)] for warned in alike],
    }
