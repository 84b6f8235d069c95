"""The first screen of a report: the verdict in a sentence, the ranking, three numbers, warnings, what labels gained."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.insight.accuracy.estimates import FUSED
from consilience.insight.ties import is_tie
from consilience.insight.warnings.evidence import Changed
from consilience.insight.warnings.panel import LOST
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

SAY_EVEN = 'class_shares="even" (on the command line, --class-shares even)'

LEAST_VOTED = 0.5
"""A member who voted on a smaller share of the items is not compared with the fused answer: its items may be easy."""


def accuracy(found: Estimate) -> dict[str, Any]:
    """An accuracy with its 90 % interval, for the page; of very few answers there is the interval alone."""
    value, low, high = rounded(found[:3])
    return {"value": value, "low": low, "high": high, "measured": found.is_measured}


class Opening:
    """What the first screen shows."""

    def __init__(self, analysis: Analysis, judged: Judged, members: MemberSection) -> None:
        self.analysis, self.judged, self.members = analysis, judged, members
        self.fused, self.average = (analysis.diagnosis.answers[name] for name in (FUSED, "average"))

    def to_dict(self) -> dict[str, Any]:
        """Everything the first screen shows."""
        return {
            "sentence": self.sentence(),
            "fused": accuracy(self.fused),
            "average": accuracy(self.average),
            "ranking": self._ranked().tolist(),
            "changed": self._changed(),
            "unsure": int(((self.judged.consensus.confidence < UNSURE) & ~self.analysis.is_given).sum()),
            "unsure_below": UNSURE,
            "answered": int((~self.analysis.is_given).sum()),
            "warnings": [_warning(list(alike)) for _, alike in groupby(self.analysis.diagnosis.warned, _advice)],
            "gain": self._gain(),
            "hint": self._hint(),
        }

    def _hint(self) -> str | None:
        """What even class shares would change."""
        hint = self.analysis.diagnosis.hint
        return None if hint is None else f"{hint.sentence(SAY_EVEN)}."

    def sentence(self) -> str:
        """Whom to trust, what fusing changed, what to worry about."""
        return f"{self._trust()}; {self._fusing()}; {self._worry()}."

    def _trust(self) -> str:
        best = self._best()
        if self.average.is_measured and self.fused.is_measured and self._is_average_best(best):
            return self._average_first(best)
        if best is None:
            how = "is right on" if self.fused.is_measured else "is probably right on about"
            return f"The fused answer {how} {_share(self.fused)} of the items"
        name, found = self._name(best), self.members.accuracies[best]
        if self.fused.is_measured and found.is_measured:
            return self._measured(name, found)
        which = "other labels" if self.analysis.is_given.any() else "labels"  # those given taught, and do not measure
        return f"As far as can be told without {which}, {self._estimated(name, found)}"

    def _is_average_best(self, best: int | None) -> bool:
        """Whether the plain average is right more often than the fused answer and the best member."""
        others = [self.fused.value, *([] if best is None else [self.members.accuracies[best].value])]
        return self.average.value > max(others)

    def _average_first(self, best: int | None) -> str:
        fused, average = _share(self.fused), _share(self.average)
        if self.average.low <= self.fused.value:
            return f"The plain average ({average} right) and the fused answer ({fused}) are about equally good"
        member = "" if best is None else f", {self._name(best)} on {_share(self.members.accuracies[best])}"
        return f"Trust the plain average: it is right on {average}, the fused answer on {fused}{member}"

    def _measured(self, name: str, found: Estimate) -> str:
        fused, own = _share(self.fused), _share(found)
        if self.fused.value == found.value:
            return f"The fused answer and the best member, {name}, are each right on {fused}"
        if self.fused.value > found.value:
            return f"Trust the fused answer: it is right on {fused}, the best member, {name}, on {own}"
        if found.low > self.fused.value:
            return f"Trust {name}: it is right on {own}, the fused answer on {fused}"
        return f"The fused answer ({fused} right) and {name} ({own}) are about equally good"

    def _estimated(self, name: str, found: Estimate) -> str:
        fused, own = _share(self.fused), _share(found)
        if self.fused.value >= found.value:
            best = "the best member without a warning" if self._has_better_suspect(found) else "the best member"
            return f"trust the fused answer (about {fused} right) before {best}, {name} (about {own})"
        if found.low > self.fused.value:
            return f"{name} (about {own} right) is better than the fused answer (about {fused})"
        return f"the fused answer (about {fused} right) and {name} (about {own}) are about equally good"

    def _best(self) -> int | None:
        """The best of the members who voted on at least half of the items; None if there is no choice.

        The estimated accuracy of a member whose votes are suspect says little, so others come first.
        """
        is_known = self.members.n_votes >= LEAST_VOTED * self.analysis.predictions.n_items
        is_sound = is_known & ~self.members.is_suspect
        is_known = is_sound if is_sound.any() else is_known
        values = np.where(is_known, [found.value for found in self.members.accuracies], np.nan)
        return None if len(values) == 1 or np.isnan(values).all() else int(np.nanargmax(values))

    def _has_better_suspect(self, best: Estimate) -> bool:
        """Whether a member whose votes are suspect is estimated to be right more often."""
        accuracies = zip(self.members.accuracies, self.members.is_suspect, strict=True)
        return any(is_suspect and found.value > best.value for found, is_suspect in accuracies)

    def _fusing(self) -> str:
        changed = self._changed()
        if not changed["count"]:
            return "fusing answers every item as the plain average does"
        n_items = int((~self.analysis.is_given).sum())
        ties = f" ({changed['ties']:,} of them ties)" if changed["ties"] else ""
        plain = f"fusing changed {changed['count']:,} of the {n_items:,} answers of the plain average{ties}"
        if changed["helped"] is None:
            return plain
        gained = changed["helped"] - changed["hurt"]
        loss = "a loss" if Changed(changed["helped"], changed["hurt"]).is_loss else "hardly a loss"
        balance = "a gain" if gained > 0 else loss if gained < 0 else "a draw"
        return f"{plain}, {balance}: {changed['helped']:,} made right, {changed['hurt']:,} made wrong"

    def _worry(self) -> str:
        warned = self.analysis.diagnosis.warned
        if not warned:
            return "nothing gives cause for a warning"
        more = len(warned) - 1
        others = f" (and {more} more {'warning' if more == 1 else 'warnings'})" if more else ""
        if warned[0].finding == LOST:  # what fusing changed has just been said
            return f"{warned[0].advice[0].lower()}{warned[0].advice[1:]}{others}"
        return f"but {text(warned[0].finding)}{others}"

    def _name(self, member: int) -> str:
        name = text(self.analysis.predictions.axes.members.name(member), most=60)
        return f"member {name}" if name.isdecimal() else name

    def _ranked(self) -> IntArray:
        """The members on the page, the best first; who answered too little to have an accuracy comes last."""
        shown = self.members.on_card
        values = np.array([self.members.accuracies[m].value for m in shown])
        return np.asarray(shown[np.argsort(-values, kind="stable")])

    def _changed(self) -> dict[str, Any]:
        """How many answers differ from the average's, and what became of those with a known label."""
        consensus, average = self.judged.consensus, self.judged.average
        ties = int(is_tie(self.analysis.average, consensus.chosen)[self.judged.is_changed].sum())
        counted = {
            "count": int(self.judged.is_changed.sum()),
            "ties": ties,
            "helped": None,
            "hurt": None,
            "neither": None,
        }
        is_known = self.judged.is_changed & (consensus.truth >= 0)
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
            "changed": self.analysis.n_changed_by_labels,
            "before": None if found is None else rounded(found.before["accuracy"]),
            "after": None if found is None else rounded(found.after["accuracy"]),
            "difference": None if found is None else rounded(found.gain["accuracy"]),
            "outlook": None if found is None else found.outlook(),
        }


def _share(found: Estimate) -> str:
    """A measured share has a digit more: the estimated ones are not worth it."""
    return percent(found.value, 1 if found.is_measured else 0)


def _advice(warned: Warned) -> str:
    return warned.advice


def _warning(alike: list[Warned]) -> dict[str, Any]:
    """Warnings with the same advice, as one."""
    return {
        "advice": alike[0].advice + ".",
        "findings": [[text(warned.finding, most=600), text(warned.because, most=600)] for warned in alike],
    }
