"""The items of a report: the most informative ones, each with an explanation of its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.answers import parts_of
from consilience.metrics.scores import METRICS, ItemScores, ReliabilityCurve, curve_of
from consilience.report.selection import items_to_show, rounded, text
from consilience.system.arrays import to_numpy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from consilience.data.answers import HardAnswers, SoftMember
    from consilience.insight.analysis import Analysis
    from consilience.insight.explanation import Explanation
    from consilience.system.arrays import Array, FloatArray, IntArray


class ItemAnswers(NamedTuple):
    """The answers to items. Each array has one entry per item."""

    chosen: IntArray  # the most probable class
    confidence: FloatArray  # its probability
    margin: FloatArray  # by how much it leads
    truth: IntArray  # -1 where unknown
    values: FloatArray  # (items, 3): as `ItemScores` has them; NaN where the truth is unknown

    @property
    def is_right(self) -> FloatArray:
        """1 where the answer is right; 0 where it is wrong or the truth is unknown."""
        return np.asarray(self.chosen == self.truth, dtype=np.float64)

    def scores(self) -> dict[str, float] | None:
        """Accuracy, NLL, Brier score and calibration error on the items with a known truth; None if there are none."""
        is_known = self.truth >= 0
        if not is_known.any():
            return None
        means = ItemScores(self.values[is_known], self.confidence[is_known]).means()
        return {name: means[name] for name in METRICS[:4]}

    def curve(self) -> ReliabilityCurve | None:
        """Confidence against accuracy on the items with a known truth; None if there are none."""
        is_known = self.truth >= 0
        return curve_of(self.confidence[is_known], self.is_right[is_known]) if is_known.any() else None

    def histogram(self) -> list[int]:
        """The number of answers in each confidence bin of the curve."""
        return [int(n_items) for n_items in curve_of(self.confidence, self.is_right).n_items]


def answers_to(parts: Iterable[Array], truth: IntArray) -> ItemAnswers:
    """The verdicts of rows (items, classes) that come in parts; `truth` has one entry per row."""
    read, start = [], 0
    for rows in parts:
        stop = start + len(rows)
        read.append(_read(to_numpy(rows).astype(np.float64, copy=False), truth[start:stop]))
        start = stop
    return ItemAnswers(*(np.concatenate(column) for column in zip(*read, strict=True)))


def _read(rows: FloatArray, truth: IntArray) -> ItemAnswers:
    ordered = np.partition(rows, -2, axis=1)
    first, second = np.minimum(ordered[:, -1], 1), ordered[:, -2]
    is_known = truth >= 0
    values = np.full((len(rows), 3), np.nan)
    values[is_known] = ItemScores.of(rows[is_known], truth[is_known]).values
    return ItemAnswers(rows.argmax(axis=1), first, first - second, truth, values)


def answers_of_member(member: SoftMember, truth: IntArray) -> ItemAnswers | None:
    """The verdicts of a member who gives probabilities; None if it never answers."""
    items = np.arange(len(truth)) if member.items is None else member.items
    is_present = np.isin(items, member.answered())
    if not is_present.any():
        return None
    parts = (to_numpy(rows)[is_present[start : start + len(rows)]] for start, rows in parts_of(member.rows))
    return answers_to(parts, truth[items[is_present]])


ALL_CLASSES_UP_TO, MOST_LISTED_CLASSES = 12, 10
"""Up to the first number of classes, all probabilities are shown; beyond it, at most the second number."""

MOST_WITNESSES = 30
"""How many members are shown per item; the others are summed up."""

MOST_DOUBTFUL = 50
"""How many single answers are listed for a second look."""

DOUBTFUL = 0.5
"""An answer is listed only if the fused answer gives it a smaller probability."""


class Judged(NamedTuple):
    """The answers of consensus and average to all items."""

    consensus: ItemAnswers
    average: ItemAnswers
    n_answers: IntArray
    n_against: IntArray  # answers that contradict the consensus

    @classmethod
    def of(cls, consensus: ItemAnswers, average: ItemAnswers, answers: HardAnswers) -> Judged:
        """Count each item's answers, and those that contradict the consensus."""
        n_items = len(consensus.chosen)
        contradicts = answers.items[answers.labels != consensus.chosen[answers.items]]
        return cls(
            consensus,
            average,
            np.bincount(answers.items, minlength=n_items),
            np.bincount(contradicts, minlength=n_items),
        )


class ItemSection:
    """The items that a report shows."""

    def __init__(self, analysis: Analysis, judged: Judged, votes: HardAnswers, most: int) -> None:
        against = judged.n_against / np.maximum(judged.n_answers, 1)
        self.shown = items_to_show(judged.consensus, analysis.change.is_changed, against, most)
        self.analysis, self.judged, self.votes = analysis, judged, votes
        self.posterior = to_numpy(analysis.posterior)

    def to_dict(self) -> dict[str, Any]:
        """The items shown, with their explanations, and how many there are of each kind."""
        positions, reasons, _ = self.shown
        classes = self.analysis.predictions.classes
        chosen, averaged = (rows.chosen[positions] for rows in self.judged[:2])
        # An answer other than the average's is explained against that one, the others against the second class.
        against = [classes[k] if k != own else None for k, own in zip(averaged, chosen, strict=True)]
        explanations = self.analysis.explanations(positions, against)
        return {
            "total": self.analysis.predictions.n_items,
            "changed": self.shown.n_changed,
            "reasons": {reason: reasons.count(reason) for reason in ("changed", "uncertain", "disputed")},
            "rows": [self._row(*row) for row in zip(positions.tolist(), reasons, explanations, strict=True)],
            "doubtful": self._doubtful(),
        }

    def _doubtful(self) -> list[dict[str, Any]]:
        """The single answers that the fused answer finds least probable, the least probable first."""
        votes, consensus = self.votes, self.judged.consensus
        belief = self.posterior[votes.items, votes.labels]
        order = np.lexsort((-consensus.confidence[votes.items], belief))[:MOST_DOUBTFUL]
        return [
            {
                "member": int(votes.members[place]),
                "item": text(self.analysis.predictions.axes.items.name(item)),
                "said": int(votes.labels[place]),
                "belief": rounded(belief[place]),
                "chosen": int(consensus.chosen[item]),
                "confidence": rounded(consensus.confidence[item]),
                "truth": int(consensus.truth[item]),
            }
            for place, item in zip(order.tolist(), votes.items[order].tolist(), strict=True)
            if belief[place] < DOUBTFUL
        ]

    def _row(self, position: int, reason: str, explanation: Explanation) -> dict[str, Any]:
        consensus, average, n_answers, n_against = self.judged
        return {
            "name": text(explanation.item),
            "reason": reason,
            "chosen": int(consensus.chosen[position]),
            "confidence": rounded(consensus.confidence[position]),
            "average": int(average.chosen[position]),
            "average_confidence": rounded(average.confidence[position]),
            "truth": int(consensus.truth[position]),
            "given": bool(self.analysis.is_given[position]),
            "answers": int(n_answers[position]),
            "against": int(n_against[position]),
            "why": self._why(position, explanation),
        }

    def _why(self, position: int, explanation: Explanation) -> dict[str, Any]:
        """The evidence for the winner over its rival, and the probabilities of the classes that matter."""
        average, truth = self.analysis.average[position], int(self.judged.consensus.truth[position])
        places = {name: k for k, name in enumerate(explanation.classes)}
        winner, rival = places[explanation.winner], places[explanation.runner_up]
        classes = _classes_to_show(explanation, average, [winner, rival, truth])
        if self.analysis.predictions.ordered:
            classes = np.sort(classes)
        order = _most_telling(explanation)
        return {
            "winner": winner,
            "rival": rival,
            "log_odds": rounded(explanation.log_odds, 3),
            "prior": rounded(explanation.prior, 3),
            "shares": rounded(explanation.shares, 3),
            "classes": classes.tolist(),
            "consensus": rounded(self.posterior[position, classes]),
            "average": rounded(average[classes]),
            "members": [_evidence(explanation, m, classes) for m in order[:MOST_WITNESSES].tolist()],
            "silent": int(np.isnan(explanation.said[:, 0]).sum()),
            "others": len(order[MOST_WITNESSES:]),
            "others_weight": rounded(explanation.by_member[order[MOST_WITNESSES:]].sum(), 3),
        }


def _most_telling(explanation: Explanation) -> IntArray:
    """The members who answered, ordered by how much they moved the answer."""
    order = np.argsort(-np.abs(explanation.by_member), kind="stable")
    return np.asarray(order[~np.isnan(explanation.said[order, 0])])


def _classes_to_show(explanation: Explanation, average: FloatArray, always: list[int]) -> IntArray:
    """All classes if they are few; else those in `always` and the most probable ones, to the methods or a member."""
    n_classes = len(explanation.classes)
    if n_classes <= ALL_CLASSES_UP_TO:
        return np.arange(n_classes)
    said = np.nan_to_num(explanation.said).max(axis=0)
    weight = explanation.posterior + average + said
    weight[[k for k in always if k >= 0]] = np.inf
    chosen = np.argsort(-weight, kind="stable")[:MOST_LISTED_CLASSES]
    return chosen[np.argsort(-explanation.posterior[chosen], kind="stable")]


def _evidence(explanation: Explanation, member: int, classes: IntArray) -> dict[str, Any]:
    """One member's probabilities, by how much it moves the log-odds, and how probable its answer is to all."""
    vote = int(explanation.said[member].argmax())
    return {
        "member": member,
        "weight": rounded(explanation.by_member[member], 3),
        "vote": vote,
        "sure": rounded(explanation.said[member, vote]),
        "belief": rounded(explanation.posterior[vote]),
        "said": rounded(explanation.said[member, classes]),
    }
