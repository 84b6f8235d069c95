"""The members of a report: one row each, their confusion matrices, and how much they agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.report.rounding import rounded, text
from consilience.report.selection import classes_to_show, largest_cells, members_to_show
from consilience.report.verdicts import Verdicts, member_verdicts

if TYPE_CHECKING:
    from consilience.data.answers import HardAnswers
    from consilience.data.predictions import Predictions
    from consilience.insight.diagnostics import Diagnosis
    from consilience.system.arrays import FloatArray, IntArray

MOST_ON_CARD, MOST_DRAWN, MOST_AGREEING, MOST_PAIRS = 60, 12, 30, 6
"""How many members have a row, have figures, and are compared in pairs; how many mistakes each one shows."""


class MemberSection:
    """The members that a report shows."""

    def __init__(self, predictions: Predictions, answers: HardAnswers, diagnosis: Diagnosis, truth: IntArray) -> None:
        self.predictions, self.diagnosis, self.truth = predictions, diagnosis, truth
        self.n_answers = np.bincount(answers.members, minlength=predictions.n_members)
        self.accuracy = _accuracies(answers, truth, predictions.n_members)
        estimated = np.array(diagnosis.members["estimated accuracy"])
        self.on_card = members_to_show(self.n_answers, estimated, MOST_ON_CARD)
        self.drawn = members_to_show(self.n_answers, estimated, MOST_DRAWN)
        soft = {member.position: member for member in predictions.soft}
        self.verdicts: dict[int, Verdicts | None] = {
            m: member_verdicts(soft[m], truth) for m in self.on_card.tolist() if m in soft
        }

    def card(self) -> dict[str, Any]:
        """One row per member shown."""
        return {"total": self.predictions.n_members, "rows": [self._row(m) for m in self.on_card.tolist()]}

    def _row(self, member: int) -> dict[str, Any]:
        report = {column: self.diagnosis.members[column][member] for column in self.diagnosis.members.columns}
        verdicts = self.verdicts.get(member)
        scores = None if verdicts is None else verdicts.scores()
        return {
            "member": member,
            "answers": int(self.n_answers[member]),
            "coverage": rounded(report["coverage"]),
            "estimated": rounded(report["estimated accuracy"]),
            "from": rounded(report["from"]),
            "to": rounded(report["to"]),
            "accuracy": rounded(self.accuracy[member]),
            "confidence": None if verdicts is None else rounded(verdicts.confidence.mean()),
            "ece": None if scores is None else rounded(scores["ece"]),
            "agreement": rounded(report["agreement"]),
            "kappa": rounded(report["kappa"]),
            "dissents": report["dissents"],
            "won": rounded(report["dissents won"]),
            "confuses": text(report["confuses most"]),
        }

    def confusion(self) -> dict[str, Any]:
        """The confusion matrices of the members drawn, of all classes or those confused most.

        They come from the diagnosis, because an aggregator's `confusion_` includes its prior and smoothing.
        """
        counts = self.diagnosis.counts[self.drawn]
        rates = counts / np.maximum(counts.sum(axis=2, keepdims=True), 1)
        classes = classes_to_show(counts.sum(axis=0))
        return {
            "classes": classes.tolist(),
            "total_members": self.predictions.n_members,
            "members": [
                {
                    "member": int(member),
                    "rates": rounded(_submatrix(table, classes)),
                    "pairs": [
                        [true, said, rounded(table[true, said])] for true, said in largest_cells(mistakes, MOST_PAIRS)
                    ],
                }
                for member, table, mistakes in zip(self.drawn, rates, counts, strict=True)
            ],
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


def _submatrix(table: FloatArray, classes: IntArray) -> FloatArray:
    """The rows and columns of some classes. If classes are left out, a last column sums over them."""
    part = table[np.ix_(classes, classes)]
    if len(classes) == len(table):
        return part
    others = np.maximum(table[classes].sum(axis=1) - part.sum(axis=1), 0)
    return np.column_stack([part, others])


def _accuracies(answers: HardAnswers, truth: IntArray, n_members: int) -> FloatArray:
    """Each member's accuracy on the items with a known label; NaN if it answered none of them."""
    is_known = truth[answers.items] >= 0
    members = answers.members[is_known]
    is_right = (answers.labels == truth[answers.items])[is_known].astype(np.float64)
    n_known = np.bincount(members, minlength=n_members)
    right = np.bincount(members, weights=is_right, minlength=n_members)
    return np.where(n_known > 0, right / np.maximum(n_known, 1), np.nan)
