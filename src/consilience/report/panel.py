"""The members of a report: one row each, and how much they agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.insight.accuracy.estimates import AccuracyEstimate
from consilience.insight.agreement import coverage_of
from consilience.report.items import ItemAnswers, answers_of_member
from consilience.report.opening import accuracy
from consilience.report.selection import largest_cells, members_to_show, rounded
from consilience.system.arrays import to_numpy

if TYPE_CHECKING:
    from consilience.data.answers import HardAnswers
    from consilience.insight.analysis import Analysis, Diagnosis
    from consilience.report.items import ItemAnswers, Judged
    from consilience.system.arrays import FloatArray, IntArray


def calibration(judged: Judged, members: MemberSection) -> dict[str, Any]:
    """Confidence histograms, and reliability if labels are known."""
    drawn = [(m, members.verdicts.get(m)) for m in members.pictured.tolist()]
    return {
        "panels": [
            {"kind": "fused", **_panel(judged.consensus)},
            {"kind": "average", **_panel(judged.average)},
            *({"kind": "member", "member": m, **_panel(verdicts)} for m, verdicts in drawn if verdicts is not None),
        ],
        "without_confidence": sum(verdicts is None for _, verdicts in drawn),
        "total_members": members.predictions.n_members,
    }


def _panel(verdicts: ItemAnswers) -> dict[str, Any]:
    curve = verdicts.curve()
    return {
        "histogram": verdicts.histogram(),
        "confidence": rounded(verdicts.confidence.mean()),
        "scores": {name: rounded(value) for name, value in (verdicts.scores() or {}).items()} or None,
        "curve": None
        if curve is None
        else {
            "confidence": rounded(curve.confidence),
            "accuracy": rounded(curve.accuracy),
            "items": curve.n_items.astype(int).tolist(),
        },
    }


MOST_IN_MATRIX = 30
"""With more classes, a matrix is unreadable and lists take its place."""

MOST_DRAWN_CELLS = 30_000
"""About how many cells all matrices of a page may have; a dozen matrices always fit."""

MOST_CONFUSIONS, MOST_TOGETHER = 8, 20
"""How many confusions a member's list has, and that of all members together."""


class Confusions:
    """How often each member called class k class j (members, true, predicted)."""

    def __init__(self, diagnosis: Diagnosis) -> None:
        self.is_measured, self.counts = diagnosis.counts_labels, diagnosis.confused
        self.n_classes = len(diagnosis.classes)

    @property
    def has_matrices(self) -> bool:
        """Whether the classes are few enough for matrices."""
        return self.n_classes <= MOST_IN_MATRIX

    def most_drawn(self, fewest: int) -> int:
        """How many members may have a matrix or a list."""
        return max(fewest, MOST_DRAWN_CELLS // self.n_classes**2) if self.has_matrices else 2 * fewest

    def worst(self, member: int, most: int = MOST_CONFUSIONS) -> list[list[Any]]:
        """The most frequent confusions of a member: true class, said, its share of the true class."""
        return _worst(self.counts[member], most)

    def to_dict(self, drawn: IntArray) -> dict[str, Any]:
        """All members together, and each of those drawn."""
        together = self.counts.sum(axis=0)
        return {
            "measured": self.is_measured,
            "matrices": self.has_matrices,
            "together": {"rates": self._rates(together), "pairs": _worst(together, MOST_TOGETHER)},
            "members": [
                {"member": member, "rates": self._rates(self.counts[member]), "pairs": self.worst(member)}
                for member in drawn.tolist()
            ],
        }

    def _rates(self, table: FloatArray) -> list[list[float]] | None:
        if not self.has_matrices:
            return None
        totals = table.sum(axis=1, keepdims=True)
        rates: list[list[float]] = rounded(np.where(totals >= 1, table / np.maximum(totals, 1), np.nan))
        return rates


def _worst(table: FloatArray, most: int) -> list[list[Any]]:
    totals = np.maximum(table.sum(axis=1), 1)
    return [
        [true, said, rounded(table[true, said] / totals[true]), rounded(table[true, said], 1)]
        for true, said in largest_cells(table, most)
    ]


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
        self.confusions = Confusions(analysis.diagnosis)
        values = np.array([found.value for found in self.accuracies])
        self.on_card = members_to_show(self.n_answers, values, MOST_ON_CARD)
        most_drawn = min(self.confusions.most_drawn(MOST_DRAWN), MOST_WITH_MATRIX)
        self.drawn = members_to_show(self.n_answers, values, most_drawn)
        self.pictured = members_to_show(self.n_answers, values, MOST_DRAWN)
        soft = {member.position: member for member in self.predictions.soft}
        self.verdicts: dict[int, ItemAnswers | None] = {
            m: answers_of_member(soft[m], truth) for m in self.on_card.tolist() if m in soft
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
    """The mean probability that the fused answer gives to what each member voted for; NaN without a vote."""
    n_members = analysis.predictions.n_members
    belief = to_numpy(analysis.posterior)[votes.items, votes.labels].astype(np.float64)
    total = np.bincount(votes.members, weights=belief, minlength=n_members)
    n_votes = np.bincount(votes.members, minlength=n_members)
    return np.where(n_votes > 0, total / np.maximum(n_votes, 1), np.nan)
