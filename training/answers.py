"""What the members of a panel say, as arrays of one form for probabilities and votes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.quality.methods import VOTE
from benchmarks.quality.panel import Panel

LEAST = 1e-6
"""No probability is smaller, so that all logarithms are finite."""

TIE = 1e-6
"""Probabilities that differ by less are equal: sums depend on the order of the members in their last digits."""


class Answers(NamedTuple):
    """Of the members who answer anything; rows of missing answers are zero."""

    probabilities: np.ndarray  # (members, items, classes); a vote counts as `VOTE`, as in the bench's average
    votes: np.ndarray  # (members, items, classes): one-hot rows, ties shared evenly
    is_answer: np.ndarray  # (members, items)
    is_hard: np.ndarray  # (members,): who gives votes alone

    @classmethod
    def of(cls, panel: Panel) -> Answers:
        """Members who never answer are left out."""
        is_answer = panel.votes >= 0
        is_heard = is_answer.any(axis=1)
        if not is_heard.any():
            raise ValueError(f"some member must answer some item; nobody does in panel {panel.name!r}")
        is_answer = is_answer[is_heard]
        rows = _rows(panel, is_heard)
        is_hard = ((rows.max(axis=2) > 1 - TIE) | ~is_answer).all(axis=1)
        rows[is_hard] = VOTE * rows[is_hard] + (1 - VOTE) / panel.n_classes
        rows = np.maximum(rows, LEAST)
        rows /= rows.sum(axis=2, keepdims=True)
        answered = is_answer[:, :, None]
        return cls(rows * answered, first_choices(rows) * answered, is_answer, is_hard)

    @property
    def n_answers(self) -> np.ndarray:
        """How many members answer each item; 1 where nobody does, to divide by."""
        return np.maximum(self.is_answer.sum(axis=0), 1)

    @property
    def average(self) -> np.ndarray:
        """The mean of the probabilities (items, classes); even where nobody answers."""
        rows = self.probabilities.sum(axis=0) / self.n_answers[:, None]
        return np.where(self.is_answer.any(axis=0)[:, None], rows, 1 / rows.shape[1])

    @property
    def vote_shares(self) -> np.ndarray:
        """The share of the votes for each class (items, classes); zero where nobody answers."""
        return self.votes.sum(axis=0) / self.n_answers[:, None]


def first_choices(rows: np.ndarray) -> np.ndarray:
    """1 at the largest of each row, over the last axis, and 0 elsewhere; equally large ones share the 1."""
    is_largest = rows >= rows.max(axis=-1, keepdims=True) - TIE
    return is_largest / is_largest.sum(axis=-1, keepdims=True)


def _rows(panel: Panel, is_heard: np.ndarray) -> np.ndarray:
    """The members' rows, summing to 1, votes as one-hot rows; anything where they say nothing."""
    if panel.labels is not None:
        return np.eye(panel.n_classes)[np.maximum(panel.labels[is_heard], 0)]
    assert panel.probabilities is not None  # noqa: S101 - one of the two is given
    rows = np.nan_to_num(panel.probabilities[is_heard].astype(np.float64))
    return rows / np.maximum(rows.sum(axis=2, keepdims=True), LEAST)
