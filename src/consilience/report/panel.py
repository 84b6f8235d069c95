"""What a report says of a panel: the first screen, the members, what they confuse, and how far to trust confidences."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np

from consilience.insight.accuracy.estimates import FUSED_ANSWER, AccuracyEstimate
from consilience.insight.agreement import coverage_of, labels_of, ratio
from consilience.insight.analysis import most_confused, rates_of
from consilience.insight.verdict import AVERAGE, Change, Verdict, as_sentences
from consilience.insight.warnings import LOST, Warned
from consilience.report.items import ItemAnswers, Seen, answers_of_member, members_to_show, text

UNSURE_BELOW = 0.8  # answers with a lower probability count as unsure

UNSEEN = "no warning can see errors that all members share"

SAY_EVEN = 'class_shares="even" (on the command line, --class-shares even)'


def accuracy(found: AccuracyEstimate) -> dict[str, Any]:
    """An accuracy with its 90 % interval, for the page; of very few answers there is the interval alone."""
    return {"value": found.value, "low": found.low, "high": found.high, "measured": found.is_measured}


def of_answer(found: AccuracyEstimate) -> dict[str, Any]:
    """The same of a whole answer: without labels the number is the fused answer's own belief, and is not shown."""
    return accuracy(found) | ({} if found.is_measured else {"value": None})


def opening(seen: Seen, members: MemberSection) -> dict[str, Any]:
    """What the first screen shows.

    Its sentences say who is right more often as far as can be told, what fusing changed, and what to worry about. The
    verdict says what they leave out: how it stands with others, what is known, what would tell more.
    """
    analysis, diagnosis, change = seen.analysis, seen.analysis.diagnosis, seen.analysis.change
    verdict = diagnosis.verdict
    fused, average = (diagnosis.answers[name] for name in (FUSED_ANSWER, "average"))
    first, *others = verdict.standing()
    sentences = [text(first, most=600), _fusing(verdict, change), _worry(diagnosis.warned, fused)]
    n_neither = (change.is_changed & (analysis.measurable >= 0)).sum() - change.made_right - change.made_wrong
    became = {"helped": change.made_right, "hurt": change.made_wrong, "neither": n_neither}
    # Who answered too little to have an accuracy comes last.
    values = np.array([members.accuracies[m].value for m in members.on_card])
    return {
        "sentences": as_sentences(sentences),
        "verdict": [text(words, most=600) for words in as_sentences([*others, *verdict.known(), verdict.advice()])],
        "fused": of_answer(fused),
        "average": of_answer(average),
        "ranking": members.on_card[np.argsort(-values, kind="stable")].tolist(),
        "changed": {
            "count": change.n_changed,
            "ties": change.n_ties,
            **(became if change.n_labels else dict.fromkeys(became)),
        },
        "unsure": ((seen.consensus.confidence < UNSURE_BELOW) & ~analysis.is_given).sum(),
        "unsure_below": UNSURE_BELOW,
        "answered": (~analysis.is_given).sum(),
        "warnings": [
            # Warnings with the same advice, as one.
            {"advice": f"{advice}.", "findings": [[text(own.finding, 600), text(own.because, 600)] for own in alike]}
            for advice, alike in groupby(diagnosis.warned, attrgetter("advice"))
        ],
        "gain": _gain(seen),
        "hint": None if diagnosis.hint is None else f"{diagnosis.hint.sentence(SAY_EVEN)}.",
    }


def _fusing(verdict: Verdict, change: Change) -> str:
    ties = f" ({change.n_ties:,} of them ties)" if change.n_ties else ""
    if not change.n_labels or not change.n_changed:
        return f"{verdict.changed()}{ties}"
    is_told = any(rival.name == AVERAGE and rival.is_told_apart for rival in verdict.rivals)
    balance = ("a gain" if change.made_right > change.made_wrong else "a loss") if is_told else "which may be chance"
    became = f"{change.made_right:,} made right, {change.made_wrong:,} made wrong"
    return f"{verdict.changed()}{ties}, {balance}: {became}"


def _worry(warned: list[Warned], fused: AccuracyEstimate) -> str:
    if not warned:
        return "no warning is raised" if fused.is_measured else f"no warning is raised, but {UNSEEN}"
    more = len(warned) - 1
    others = f" (and {more} more {'warning' if more == 1 else 'warnings'})" if more else ""
    if warned[0].finding == LOST:  # what fusing changed has just been said
        return f"{warned[0].advice[0].lower()}{warned[0].advice[1:]}{others}"
    return f"{text(warned[0].finding)}{others}"


def _gain(seen: Seen) -> dict[str, Any] | None:
    """What known labels gained, as far as it can be estimated."""
    analysis = seen.analysis
    if not analysis.is_given.any():
        return None
    gained: dict[str, Any] = {"labels": analysis.is_given.sum(), "changed": analysis.n_changed_by_labels}
    if found := analysis.gain:
        before, after, difference = (part["accuracy"] for part in (found.before, found.after, found.gain))
        gained |= {"before": before, "after": after, "difference": difference, "outlook": found.outlook()}
    return gained


# ---- calibration ------------------------------------------------------------------------------------------


def calibration(seen: Seen, members: MemberSection) -> dict[str, Any]:
    """Confidence histograms, and reliability if labels are known."""
    drawn = [(m, members.verdicts.get(m)) for m in members.pictured.tolist()]
    return {
        "panels": [
            {"kind": "fused", **_panel(seen.consensus)},
            {"kind": "average", **_panel(seen.average)},
            *({"kind": "member", "member": m, **_panel(verdicts)} for m, verdicts in drawn if verdicts is not None),
        ],
        "without_confidence": sum(verdicts is None for _, verdicts in drawn),
    }


def _panel(verdicts: ItemAnswers) -> dict[str, Any]:
    curve = verdicts.curve()
    return {
        "histogram": verdicts.histogram(),
        "confidence": verdicts.confidence.mean(),
        "scores": verdicts.scores(),
        "curve": curve and {"confidence": curve.confidence, "accuracy": curve.accuracy, "items": curve.n_items},
    }


MOST_IN_MATRIX = 30  # with more classes, a matrix is unreadable and lists take its place
MOST_DRAWN_CELLS = 30_000  # about how many cells all matrices of a page may have; a dozen matrices always fit
MOST_CONFUSIONS, MOST_TOGETHER = 8, 20  # how many confusions a member's list has, and that of all members together


MOST_ON_CARD, MOST_DRAWN, MOST_AGREEING = 500, 12, 30
"""How many members have a row, have figures at least, and are compared in pairs."""

MOST_WITH_MATRIX = 100  # how many members have figures of their confusions at most


OF_MEMBER = (
    *("influence", "agreement", "kappa", "dissents", "dissents won"),
    *("consistency", "pairs", "first", "first from", "first to"),  # of members who answer items several times
)
"""What is said of a member as the diagnosis has it."""


class MemberSection:
    """The members that a report shows."""

    def __init__(self, seen: Seen) -> None:
        answers, votes = labels_of(seen.analysis.hardened), labels_of(seen.analysis.voted)
        self.predictions, self.diagnosis = seen.analysis.predictions, seen.analysis.diagnosis
        n_members = self.predictions.n_members
        self.n_answers = np.bincount(answers.members, minlength=n_members)
        of_members = zip(
            self.diagnosis.members["estimated accuracy"], self.diagnosis.verdict.estimates.members, strict=True
        )
        self.accuracies = [found._replace(value=value) for value, found in of_members]  # none of very few answers
        self.coverage = coverage_of(answers, n_members, self.predictions.n_items)
        belief = seen.posterior[votes.items, votes.labels].astype(np.float64)  # in what each voted for
        counted = (np.bincount(votes.members, weights=own, minlength=n_members) for own in (belief, None))
        self.quality = ratio(*counted)
        self.has_matrices = self.predictions.n_classes <= MOST_IN_MATRIX
        values = np.array([found.value for found in self.accuracies])
        self.on_card = members_to_show(self.n_answers, values, MOST_ON_CARD)
        n_matrices = max(MOST_DRAWN, MOST_DRAWN_CELLS // self.predictions.n_classes**2)
        most_drawn = min(n_matrices if self.has_matrices else 2 * MOST_DRAWN, MOST_WITH_MATRIX)
        self.drawn = members_to_show(self.n_answers, values, most_drawn)
        self.pictured = members_to_show(self.n_answers, values, MOST_DRAWN)
        soft = {member.position: member for member in self.predictions.soft}
        self.verdicts: dict[int, ItemAnswers | None] = {
            m: answers_of_member(soft[m], seen.analysis.measurable) for m in self.on_card.tolist() if m in soft
        }

    def card(self) -> dict[str, Any]:
        """One row per member shown."""
        warned = {member for warning in self.diagnosis.warned for member in warning.about}
        return {
            "agreement": self.diagnosis.beyond_chance.sentence(),
            "rows": [self._row(m) | {"warned": m in warned} for m in self.on_card.tolist()],
        }

    def _row(self, member: int) -> dict[str, Any]:
        report, verdicts = self.diagnosis.members, self.verdicts.get(member)
        scores = verdicts and verdicts.scores()
        return {
            "member": member,
            "answers": self.n_answers[member],
            **accuracy(self.accuracies[member]),
            **{name: shares[member] for name, shares in self.coverage.items()},
            "quality": self.quality[member],
            "confidence": verdicts and verdicts.confidence.mean(),
            "ece": scores and scores["ece"],
            **{name: report[name][member] for name in OF_MEMBER if name in report.columns},
            "confuses": most_confused(self.diagnosis.confused[member], 2),
        }

    def agreement(self) -> dict[str, Any]:
        """Agreement, Cohen's kappa and dependence of the members with the most answers."""
        places = {name: place for place, name in enumerate(self.predictions.members)}
        compared = np.array([places[name] for name in self.diagnosis.compared], dtype=np.intp)
        most = np.sort(np.argsort(-self.n_answers[compared], kind="stable")[:MOST_AGREEING])
        cells = np.ix_(most, most)
        return {
            "members": compared[most].tolist(),
            "agreement": self.diagnosis.agreement[cells],
            "kappa": self.diagnosis.beyond_chance.kappa[cells],
            "dependence": self.diagnosis.dependence[cells],
        }

    def confusions(self) -> dict[str, Any]:
        """How often classes are called others: by all members together, and by each of those drawn."""
        together = self.diagnosis.confused.sum(axis=0)
        return {
            "measured": self.diagnosis.counts_labels,
            "matrices": self.has_matrices,
            "together": {
                "rates": rates_of(together) if self.has_matrices else None,
                "pairs": most_confused(together, MOST_TOGETHER),
            },
            "members": [
                {
                    "member": member,
                    "rates": rates_of(table) if self.has_matrices else None,
                    "pairs": most_confused(table, MOST_CONFUSIONS),
                }
                for member, table in zip(self.drawn.tolist(), self.diagnosis.confused[self.drawn], strict=True)
            ],
        }
