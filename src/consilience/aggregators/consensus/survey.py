"""A survey of the panel: sums over items of what the experts say, from which its traits follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from consilience.aggregators.consensus.learned.experts import Reading
from consilience.aggregators.consensus.learned.features import entropy
from consilience.data.answers import TIE
from consilience.maths.statistics import NEARLY_ONE
from consilience.passes.reader import Reader
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.aggregators.consensus.learned.experts import Experts, Opinions
    from consilience.data.predictions import Predictions
    from consilience.system.arrays import FloatArray

OF_CLASSES = (
    *("average", "votes", "translation", "first choices", "combination"),  # shares of each, summed over items
    "re-estimated",  # shares of the average, weighted by how frequent classes seem to be
    "certainty",  # the average's top where the class is its first choice
    "agreeing",  # pairs of votes for it
    "meeting",  # pairs of a vote for it with any other vote
)
"""What is summed for each class."""

OF_ITEMS = (
    *("items", "answers", "entropy", "top"),
    *("top of votes", "top of translation", "top of combination", "top of re-estimated"),
    *("votes agree", "translation agrees", "combination agrees", "re-estimated agrees"),  # with the average's choice
    "combination agrees with translation",
)
"""What is summed for the panel."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """Sums over items; those of two sets of items add up."""

    by_class: FloatArray  # (len(OF_CLASSES), classes)
    totals: FloatArray  # (len(OF_ITEMS),)

    @classmethod
    def empty(cls, n_classes: int) -> Survey:
        """The survey of no items."""
        return cls(np.zeros((len(OF_CLASSES), n_classes)), np.zeros(len(OF_ITEMS)))

    def __post_init__(self) -> None:
        """Raise where a file holds other sums."""
        if len(self.by_class) != len(OF_CLASSES) or self.totals.shape != (len(OF_ITEMS),):
            raise InvalidPredictions(
                f"a survey must have {len(OF_CLASSES)} sums of each class and {len(OF_ITEMS)} of the panel; "
                f"got {len(self.by_class)} and {self.totals.size}"
            )

    def flaw(self) -> str | None:
        """Why these are no sums over items; None where they are."""
        shares = ("average", "translation", "combination", "re-estimated")
        is_empty = min(self.totals[0], *(self.of_class(name).sum() for name in shares)) < NEARLY_ONE
        return "must be of at least one item" if is_empty else None

    def __add__(self, other: Survey) -> Survey:
        return Survey(self.by_class + other.by_class, self.totals + other.totals)

    def __rmul__(self, factor: float) -> Survey:
        return Survey(factor * self.by_class, factor * self.totals)

    def of_class(self, name: str) -> FloatArray:
        """One of the sums for each class (classes,)."""
        return np.asarray(self.by_class[OF_CLASSES.index(name)])

    def mean(self, name: str) -> float:
        """One of the panel's sums, by item."""
        return float(self.totals[OF_ITEMS.index(name)] / self.totals[0])


def survey(experts: Experts, frequency: FloatArray, chunk_size: int | None, predictions: Predictions) -> Survey:
    """The survey of all these items; `frequency` (classes,) is how frequent classes have seemed to be so far."""
    reader = Reader(predictions, chunk_size=chunk_size)
    reading = Reading(experts, reader)
    return reader.added_up(lambda chunk: survey_of(reading.opinions(chunk), frequency, chunk.counts))


def survey_of(opinions: Opinions, frequency: FloatArray, item_counts: FloatArray | None = None) -> Survey:
    """The survey of the items of some opinions, which count so often each."""

    def total(rows: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        return np.asarray(rows.sum(axis=0) if item_counts is None else item_counts @ rows)

    average, votes, n_votes = opinions.average, opinions.votes, opinions.n_votes
    translation, combination = np.exp(opinions.translation), np.exp(opinions.combination)
    again = weighted_by(average, frequency.astype(average.dtype))
    first, top = first_choices(average), average.max(axis=1)
    others = [votes, translation, combination, again]
    choices = [first_choices(rows) for rows in others]
    counts = votes * n_votes  # where nobody votes, none
    by_class = [
        *(total(rows) for rows in (average, votes, translation, first, combination, again)),
        total(top[:, None] * first),
        total(np.maximum(counts * (counts - 1), 0)),
        total(counts * np.maximum(n_votes - 1, 0)),
    ]
    tops = (total(rows.max(axis=1)) for rows in others)
    agreeing = (total((first * rows).sum(axis=1)) for rows in choices)
    n_items = len(average) if item_counts is None else item_counts.sum()
    totals = [n_items, total(opinions.n_answers[:, 0]), total(entropy(average)), total(top), *tops, *agreeing]
    totals.append(total((choices[2] * choices[1]).sum(axis=1)))
    return Survey(np.stack(by_class).astype(np.float64), np.array(totals, dtype=np.float64))


def weighted_by(rows: npt.NDArray[np.floating], weights: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """The rows (items, classes) multiplied by weights (classes,), and normalized again."""
    weighted = rows * weights
    return np.asarray(weighted / weighted.sum(axis=1, keepdims=True))


def first_choices(rows: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """1 at the largest of each row and 0 elsewhere; equally large ones share the 1."""
    is_largest = rows >= (1 - TIE) * rows.max(axis=1, keepdims=True)
    return np.asarray(is_largest / is_largest.sum(axis=1, keepdims=True))
