"""What a report shows of large panels: some members, and the most informative items with why they are answered so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from consilience.data.answers import SoftMember, parts_of
from consilience.data.names import cut
from consilience.insight.agreement import labels_of
from consilience.insight.analysis import Analysis
from consilience.insight.explanation import Explanation
from consilience.metrics.scores import METRICS, ItemScores, ReliabilityCurve, curve_of
from consilience.system.arrays import Array, FloatArray, IntArray, to_numpy

LONGEST_TEXT = 200  # longer names are cut


def as_json(value: Any, digits: int | None = None) -> Any:
    """The same of what JSON has: arrays become lists, numbers that are not finite null, and what it has not text.

    >>> as_json({"rows": np.array([[0.123456, np.nan]])}, digits=4)
    {'rows': [[0.1235, None]]}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): as_json(item, digits) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item, digits) for item in value]
    if not isinstance(value, float):
        return value if isinstance(value, str | int | None) else str(value)
    if not math.isfinite(value):
        return None
    return value if digits is None else round(value, digits) + 0.0  # no -0.0


def text(name: Any, most: int = LONGEST_TEXT) -> str:
    """A name as text, cut if it is too long."""
    return cut(str(name), most)


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

    def histogram(self) -> IntArray:
        """The number of answers in each confidence bin of the curve."""
        return curve_of(self.confidence, self.is_right).n_items


def answers_to(rows: Array, truth: IntArray, is_given: npt.NDArray[np.bool_] | None = None) -> ItemAnswers:
    """The verdicts of rows (items, classes), or of those that are given (items,); `truth` has one entry per row."""
    is_given = np.ones(len(rows), dtype=bool) if is_given is None else is_given
    read = []
    for start, part in parts_of(rows):
        here = slice(start, start + len(part))
        read.append(_read(to_numpy(part).astype(np.float64)[is_given[here]], truth[here][is_given[here]]))
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
    is_given = member.is_given()
    return answers_to(member.rows, truth[member.places], is_given) if is_given.any() else None


class Seen(NamedTuple):
    """What all sections look at: an analysis, and the answers of the consensus and of the plain average."""

    analysis: Analysis
    consensus: ItemAnswers
    average: ItemAnswers
    posterior: FloatArray  # (items, classes): of the consensus

    @classmethod
    def of(cls, analysis: Analysis) -> Seen:
        """Read the answers of an analysis."""
        consensus, average = (answers_to(own, analysis.measurable) for own in (analysis.posterior, analysis.average))
        return cls(analysis, consensus, average, to_numpy(analysis.posterior))

    def counted(self) -> tuple[IntArray, IntArray]:
        """How many answers each item has, and how many of these contradict the consensus."""
        answers, chosen = labels_of(self.analysis.hardened), self.consensus.chosen
        is_against = answers.labels != chosen[answers.items]
        n_answers, n_against = (
            np.bincount(some, minlength=len(chosen)) for some in (answers.items, answers.items[is_against])
        )
        return n_answers, n_against


# ---- of many, the most telling ----------------------------------------------------------------------------

ENOUGH_TO_RANK = 20
"""Members with fewer answers do not count as best or worst, unless all have fewer: three right answers are luck."""

SHARE_OF_CHANGED = 0.6  # the largest share of changed items among those shown, if there are others to show


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


def items_to_show(
    consensus: ItemAnswers, is_changed: npt.NDArray[np.bool_], against: FloatArray, most: int
) -> dict[int, str]:
    """Why items are shown: first the changed ones, by decreasing margin; then the most uncertain and disputed others.

    `against` is the share of an item's answers that contradict the consensus.
    """
    changed, others = np.flatnonzero(is_changed), np.flatnonzero(~is_changed)
    changed = changed[np.argsort(-consensus.margin[changed], kind="stable")]
    n_changed = min(len(changed), max(int(np.ceil(SHARE_OF_CHANGED * most)), most - len(others)))
    uncertain = others[np.argsort(consensus.margin[others], kind="stable")]
    disputed = others[np.lexsort((consensus.margin[others], -against[others]))]
    found = first_of_each([uncertain, disputed], most - n_changed)
    rest = sorted(found, key=lambda position: found[position])
    return dict.fromkeys(changed[:n_changed].tolist(), "changed") | {
        position: ("uncertain", "disputed")[found[position]] for position in rest
    }


# ---- the items, and why they are answered so ----------------------------------------------------------------

ALL_CLASSES_UP_TO, MOST_LISTED_CLASSES = 12, 10
"""Up to the first number of classes, all probabilities are shown; beyond it, at most the second number."""

MOST_WITNESSES = 30  # how many members are shown per item; the others are summed up
MOST_DOUBTFUL = 50  # how many single answers are listed for a second look
DOUBTFUL = 0.5  # an answer is listed only if the fused answer gives it a smaller probability


def items(seen: Seen, most: int) -> dict[str, Any]:
    """The items shown, with their explanations, and how many there are of each kind."""
    analysis, consensus, average = seen.analysis, seen.consensus, seen.average
    n_answers, n_against = seen.counted()
    reasons = items_to_show(consensus, analysis.change.is_changed, n_against / np.maximum(n_answers, 1), most)
    positions = np.array([*reasons], dtype=np.intp)
    # An answer other than the average's is explained against that one, the others against the second class.
    against = [
        analysis.predictions.classes[k] if k != own else None
        for k, own in zip(average.chosen[positions], consensus.chosen[positions], strict=True)
    ]
    rows = [
        {
            "name": text(explanation.item),
            "reason": reasons[item],
            **_answer(consensus, item),
            "average": average.chosen[item],
            "average_confidence": average.confidence[item],
            "given": analysis.is_given[item],
            "answers": n_answers[item],
            "against": n_against[item],
            "why": _why(seen, item, explanation),
        }
        for item, explanation in zip(reasons, analysis.explanations(positions, against), strict=True)
    ]
    return {
        "changed": analysis.change.n_changed,
        "reasons": {reason: [*reasons.values()].count(reason) for reason in ("changed", "uncertain", "disputed")},
        "rows": rows,
        "doubtful": _doubtful(seen),
    }


def _answer(answers: ItemAnswers, item: int) -> dict[str, Any]:
    return {"chosen": answers.chosen[item], "confidence": answers.confidence[item], "truth": answers.truth[item]}


def _doubtful(seen: Seen) -> list[dict[str, Any]]:
    """The single answers that the fused answer finds least probable, the least probable first."""
    votes, consensus = labels_of(seen.analysis.voted), seen.consensus
    belief = seen.posterior[votes.items, votes.labels]
    order = np.lexsort((-consensus.confidence[votes.items], belief))[:MOST_DOUBTFUL]
    return [
        {
            "member": votes.members[place],
            "item": text(seen.analysis.predictions.axes.items.name(item)),
            "said": votes.labels[place],
            "belief": belief[place],
            **_answer(consensus, item),
        }
        for place, item in zip(order.tolist(), votes.items[order].tolist(), strict=True)
        if belief[place] < DOUBTFUL
    ]


def _why(seen: Seen, item: int, explanation: Explanation) -> dict[str, Any]:
    """The evidence for the winner over its rival, and the probabilities of the classes that matter."""
    average = seen.analysis.average[item]
    places = {name: k for k, name in enumerate(explanation.classes)}
    winner, rival = places[explanation.winner], places[explanation.runner_up]
    classes = _classes_to_show(explanation, average, [winner, rival, int(seen.consensus.truth[item])])
    if seen.analysis.predictions.ordered:
        classes = np.sort(classes)
    heard, unlisted = np.split(explanation.heard, [MOST_WITNESSES])
    return {
        "winner": winner,
        "rival": rival,
        "log_odds": explanation.log_odds,
        "prior": explanation.prior,
        "shares": explanation.shares,
        "classes": classes,
        "consensus": seen.posterior[item, classes],
        "average": average[classes],
        "members": [_evidence(explanation, m, classes) for m in heard.tolist()],
        "silent": len(explanation.members) - len(explanation.heard),
        "others": len(unlisted),
        "others_weight": explanation.by_member[unlisted].sum(),
    }


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
        "weight": explanation.by_member[member],
        "vote": vote,
        "sure": explanation.said[member, vote],
        "belief": explanation.posterior[vote],
        "said": explanation.said[member, classes],
    }
