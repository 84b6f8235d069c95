"""What a report shows of large panels: some members, and the most informative items with why they are answered so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from consilience.data.answers import HardAnswers, SoftMember, parts_of
from consilience.insight.analysis import Analysis
from consilience.insight.explanation import Explanation
from consilience.metrics.scores import METRICS, ItemScores, ReliabilityCurve, curve_of
from consilience.system.arrays import Array, FloatArray, IntArray, to_numpy

LONGEST_TEXT = 200  # longer names are cut


def rounded(values: Any, digits: int = 4) -> Any:
    """Round a number or an array to plain numbers in nested lists. What is not finite becomes None.

    >>> rounded([[0.123456, float("nan")]])
    [[0.1235, None]]
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim:
        return [rounded(value, digits) for value in array]
    return round(float(array), digits) + 0.0 if np.isfinite(array) else None


def text(name: Any, most: int = LONGEST_TEXT) -> str:
    """A name as text, cut if it is too long."""
    words = str(name)
    return words if len(words) <= most else words[: most - 1] + "…"


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


ENOUGH_TO_RANK = 20
"""Members with fewer answers do not count as best or worst, unless all have fewer: three right answers are luck."""

SHARE_OF_CHANGED = 0.6  # the largest share of changed items among those shown, if there are others to show


class ShownItems(NamedTuple):
    """The items shown, in order, why each is shown, and how many items changed in all."""

    positions: IntArray
    reasons: list[str]
    n_changed: int


def members_to_show(n_answers: IntArray, accuracy: FloatArray, most: int) -> IntArray:
    """All members if they are few; else a third each: most answers, best and worst estimated accuracy."""
    if len(n_answers) <= most:
        return np.arange(len(n_answers))
    is_known = (n_answers >= min(ENOUGH_TO_RANK, n_answers.max())) & ~np.isnan(accuracy)
    known = np.flatnonzero(is_known)
    by_accuracy = known[np.argsort(-accuracy[known], kind="stable")]
    rankings = [np.argsort(-n_answers, kind="stable"), by_accuracy, by_accuracy[::-1]]
    return np.sort(np.array(list(first_of_each(rankings, most)), dtype=np.intp))


def first_of_each(rankings: Sequence[IntArray], most: int) -> dict[int, int]:
    """Take from each ranking in turn until `most` positions are found; map each to the number of its ranking."""
    found: dict[int, int] = {}
    for turn in zip_longest(*(ranking[:most] for ranking in rankings)):
        for number, position in enumerate(turn):
            if position is not None and len(found) < most:
                found.setdefault(int(position), number)
    return found


def largest_cells(table: FloatArray, most: int) -> list[tuple[int, int]]:
    """The positive cells off the diagonal of a square table, the largest first, at most so many."""
    values = np.where(np.eye(len(table), dtype=bool), 0, table).ravel()
    most = min(most, values.size)
    candidates = np.argpartition(-values, most - 1)[:most]
    ordered = candidates[np.lexsort((candidates, -values[candidates]))]
    return [(int(cell // len(table)), int(cell % len(table))) for cell in ordered if values[cell] > 0]


def items_to_show(
    consensus: ItemAnswers, is_changed: npt.NDArray[np.bool_], against: FloatArray, most: int
) -> ShownItems:
    """First the changed items, by decreasing margin; then the most uncertain and the most disputed others.

    `against` is the share of an item's answers that contradict the consensus.
    """
    changed = np.flatnonzero(is_changed)
    changed = changed[np.argsort(-consensus.margin[changed], kind="stable")]
    others = np.flatnonzero(~is_changed)
    n_changed = min(len(changed), max(int(np.ceil(SHARE_OF_CHANGED * most)), most - len(others)))
    uncertain = others[np.argsort(consensus.margin[others], kind="stable")]
    disputed = others[np.lexsort((consensus.margin[others], -against[others]))]
    found = first_of_each([uncertain, disputed], most - n_changed)
    rest = sorted(found, key=lambda position: found[position])
    reasons = ["changed"] * n_changed + [("uncertain", "disputed")[found[position]] for position in rest]
    return ShownItems(np.array([*changed[:n_changed], *rest], dtype=np.intp), reasons, len(changed))


ALL_CLASSES_UP_TO, MOST_LISTED_CLASSES = 12, 10
"""Up to the first number of classes, all probabilities are shown; beyond it, at most the second number."""

MOST_WITNESSES = 30  # how many members are shown per item; the others are summed up
MOST_DOUBTFUL = 50  # how many single answers are listed for a second look
DOUBTFUL = 0.5  # an answer is listed only if the fused answer gives it a smaller probability


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
