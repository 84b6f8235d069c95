"""The best and the median member, as rows beside the methods of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from consilience.metrics.scores import METRICS, score
from consilience.system.arrays import to_numpy

if TYPE_CHECKING:
    from consilience.data.answers import HardAnswers
    from consilience.data.predictions import Predictions
    from consilience.system.arrays import FloatArray, IntArray

LEAST_VOTED = 0.5
"""A member who voted on a smaller share of the labelled items than others is not compared: its items may be easy."""

ENOUGH = 10
"""Members with fewer votes that count are not ranked, unless all have fewer: whether one vote is right is chance."""

NOTHING = float("nan")


class Ranked(NamedTuple):
    """Members by how often they are right."""

    accuracy: FloatArray  # (members,); NaN of those without a vote that counts
    n_votes: IntArray  # (members,): those that count

    @classmethod
    def measured(cls, predictions: Predictions, truth: IntArray) -> Ranked:
        """By the answers to items whose true class is known (-1 where not); the first class wins a tie."""
        votes, n_members = predictions.harden().hard, predictions.n_members
        if votes is None:
            return cls(np.full(n_members, np.nan), np.zeros(n_members, dtype=np.intp))
        is_known = truth[votes.items] >= 0
        n_votes = np.bincount(votes.members[is_known], minlength=n_members)
        is_right = is_known & (votes.labels == truth[votes.items])
        n_right = np.bincount(votes.members[is_right], minlength=n_members)
        return cls(np.where(n_votes > 0, n_right / np.maximum(n_votes, 1), np.nan), n_votes)

    def best_and_median(self) -> dict[str, int]:
        """The positions of the two by the names of their rows; of one member alone, only the best."""
        order = np.argsort(-np.nan_to_num(self.accuracy, nan=-1), kind="stable")
        most = int(self.n_votes.max())
        ranked = order[self.n_votes[order] >= max(1, min(ENOUGH, most), LEAST_VOTED * most)].tolist()
        if not ranked:
            return {}
        best, middle = ranked[0], ranked[len(ranked) // 2]
        return {"best member": best, **({} if middle == best else {"median member": middle})}


class SingleMember:
    """One of the members, on the items that it answers."""

    def __init__(self, predictions: Predictions, votes: HardAnswers, place: int) -> None:
        self.name = str(predictions.members[place])
        self.n_items = predictions.n_items
        self.is_own = votes.members == place
        self.votes = votes
        soft = next((member for member in predictions.soft if member.position == place), None)
        rows = None if soft is None else to_numpy(soft.rows).astype(np.float64)
        self.items = None if soft is None else soft.answered()
        self.rows = None if rows is None else rows[~np.isnan(rows[:, 0])]  # None of a member who gives labels

    def scores(self, accuracy: float, truth: IntArray, n_bins: int) -> dict[str, float]:
        """All metrics, given the accuracy of its votes. Labels have no probabilities to score."""
        if self.rows is None or self.items is None:
            return {**dict.fromkeys(METRICS, NOTHING), "accuracy": accuracy}
        is_known = truth[self.items] >= 0
        found = score(self.rows[is_known], truth[self.items[is_known]], n_bins=n_bins)
        return {**found, "accuracy": accuracy}

    def facts(self, average: IntArray) -> dict[str, float]:
        """What is known of it without labels, as of a method."""
        items, said = self.votes.items[self.is_own], self.votes.labels[self.is_own]
        chosen = np.full(self.n_items, -1)
        chosen[items] = said
        others = ~self.is_own & (chosen[self.votes.items] >= 0)
        agrees = self.votes.labels[others] == chosen[self.votes.items[others]]
        sure = {"confidence": NOTHING, "entropy": NOTHING} if self.rows is None else sureness(self.rows)
        changed = float((said != average[items]).mean())
        return {**sure, "changed": changed, "agreement": float(agrees.mean()) if len(agrees) else NOTHING}


def sureness(rows: FloatArray) -> dict[str, float]:
    """The mean probability of the answers (items, classes), and their mean entropy in nats."""
    logs = np.log(np.where(rows > 0, rows, 1))
    entropy = float((rows * -logs).sum(axis=1).mean()) + 0.0
    return {"confidence": float(rows.max(axis=1).mean()), "entropy": entropy}
