"""The members of a report: one row each, and how much they agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.insight.accuracy.estimates import AccuracyEstimate
from consilience.insight.coverage import coverage_of
from consilience.report.confusions import Confusions
from consilience.report.opening import accuracy
from consilience.report.rounding import rounded
from consilience.report.selection import members_to_show
from consilience.report.verdicts import Verdicts, member_verdicts
from consilience.system.arrays import to_numpy

if TYPE_CHECKING:
    from consilience.data.answers import HardAnswers
    from consilience.insight.analysis import Analysis
    from consilience.system.arrays import FloatArray

MOST_ON_CARD, MOST_DRAWN, MOST_AGREEING = 500, 12, 30
"""How many members have a row, have figures at least, and are compared in pairs."""

MOST_WITH_MATRIX = 100
"""How many members have figures of their confusions at most."""


class MemberSection:
    """The members that a report shows."""

    def __init__(self, analysis: Analysis, answers: HardAnswers, votes: HardAnswers) -> None:
        self.predictions, self.diagnosis = analysis.predictions, analysis.diagnosis
        truth, n_members = analysis.measurable, analysis.predictions.n_members
        self.n_answers = np.bincount(answers.members, minlength=n_members)
        self.n_votes = np.bincount(votes.members, minlength=n_members)
        self.accuracies = _estimates(analysis)
        self.coverage = coverage_of(answers, n_members, analysis.predictions.n_items)
        self.quality = _quality(analysis, votes)
        self.confusions = Confusions(analysis.predictions, analysis.diagnosis, votes, truth)
        values = np.array([found.value for found in self.accuracies])
        self.on_card = members_to_show(self.n_answers, values, MOST_ON_CARD)
        most_drawn = min(self.confusions.most_drawn(MOST_DRAWN), MOST_WITH_MATRIX)
        self.drawn = members_to_show(self.n_answers, values, most_drawn)
        self.pictured = members_to_show(self.n_answers, values, MOST_DRAWN)
        soft = {member.position: member for member in self.predictions.soft}
        self.verdicts: dict[int, Verdicts | None] = {
            m: member_verdicts(soft[m], truth) for m in self.on_card.tolist() if m in soft
        }

    def card(self) -> dict[str, Any]:
        """One row per member shown."""
        warned = {member for warning in self.diagnosis.warned for member in warning.about}
        return {
            "total": self.predictions.n_members,
            "agreement": self.diagnosis.beyond_chance.sentence(),
            "rows": [self._row(m) | {"warned": m in warned} for m in self.on_card.tolist()],
        }

    def _row(self, member: int) -> dict[str, Any]:
        report = {column: self.diagnosis.members[column][member] for column in self.diagnosis.members.columns}
        verdicts = self.verdicts.get(member)
        scores = None if verdicts is None else verdicts.scores()
        return {
            "member": member,
            "answers": int(self.n_answers[member]),
            **accuracy(self.accuracies[member]),
            **{name: rounded(shares[member]) for name, shares in self.coverage._asdict().items()},
            "quality": rounded(self.quality[member]),
            "confidence": None if verdicts is None else rounded(verdicts.confidence.mean()),
            "ece": None if scores is None else rounded(scores["ece"]),
            "influence": rounded(report["influence"]),
            "agreement": rounded(report["agreement"]),
            "kappa": rounded(report["kappa"]),
            "dissents": report["dissents"],
            "upheld": rounded(report["dissents won"]),
            **({"consistency": rounded(report["consistency"]), "pairs": report["pairs"]} if "pairs" in report else {}),
            **({name: rounded(report[name]) for name in ("first", "first from", "first to") if name in report}),
            "confuses": self.confusions.worst(member, 2),
        }

    def agreement(self) -> dict[str, Any]:
        """Agreement, Cohen's kappa and dependence of the members with the most answers."""
        places = {name: place for place, name in enumerate(self.predictions.members)}
        compared = np.array([places[name] for name in self.diagnosis.compared], dtype=np.intp)
        most = np.sort(np.argsort(-self.n_answers[compared], kind="stable")[:MOST_AGREEING])
        cells = np.ix_(most, most)
        return {
            "total": self.predictions.n_members,
            "members": compared[most].tolist(),
            "agreement": rounded(self.diagnosis.agreement[cells]),
            "kappa": rounded(self.diagnosis.beyond_chance.kappa[cells]),
            "dependence": rounded(self.diagnosis.dependence[cells]),
        }


def _estimates(analysis: Analysis) -> list[AccuracyEstimate]:
    """The accuracy of each member as the diagnosis has it."""
    table = analysis.diagnosis.members
    measured = table["measured"] if "measured" in table.columns else [False] * analysis.predictions.n_members
    columns = (table["estimated accuracy"], table["from"], table["to"], measured)
    return [AccuracyEstimate(*row) for row in zip(*columns, strict=True)]


def _quality(analysis: Analysis, votes: HardAnswers) -> FloatArray:
    """The mean probability that the fused answer gives to what each member voted for; NaN of who did not vote."""
    n_members = analysis.predictions.n_members
    belief = to_numpy(analysis.posterior)[votes.items, votes.labels].astype(np.float64)
    total = np.bincount(votes.members, weights=belief, minlength=n_members)
    n_votes = np.bincount(votes.members, minlength=n_members)
    return np.where(n_votes > 0, total / np.maximum(n_votes, 1), np.nan)
