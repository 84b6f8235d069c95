"""Which items to label first.

Labels of only the most disputed items teach little, because what holds for them need not hold for the others. A few of
these labels are worse than as many random ones. So all items are put on a line, similar ones together. Each item takes
some space, and uncertain items take more. The line is cut into as many equal cells as labels are wanted or known, and
each cell without a label gives one item.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from consilience.aggregators.base import AbstractAggregator
from consilience.data.answers import parts_of
from consilience.data.predictions import Predictions
from consilience.data.validation import check_number
from consilience.insight.agreement import labels_of
from consilience.insight.analysis import Analysis
from consilience.insight.arguments import by_predictions
from consilience.insight.verdict import listed
from consilience.system.arrays import Array, FloatArray, IntArray, to_numpy
from consilience.system.tables import Table

EVEN_SHARE = 0.25
"""The part of an item's chance that is the same for all; the rest grows with the entropy of its answer."""

GOLDEN_RATIO = (5**0.5 - 1) / 2  # the fractional parts of its multiples are spread evenly, however many are taken

MOST_VOTERS, MOST_ANSWERS = 6, 3
"""Up to the first number of voters are named; at most the second number of answers is listed."""

LEAST_RIVAL = 0.2  # a second class with at least this probability is named


class Suggestion(NamedTuple):
    """An item to label, its answer so far, and why a label would help."""

    item: Any
    position: int
    answer: Any
    probability: float
    why: str


@final
class Suggestions(list[Suggestion]):
    """Items to label, in order; prints as a table."""

    @property
    def items(self) -> list[Any]:
        """The items' names."""
        return [row.item for row in self]

    @property
    def positions(self) -> IntArray:
        """The items' positions among the predictions."""
        return np.array([row.position for row in self], dtype=np.intp)

    def to_table(self) -> Table:
        """One row per item."""
        names = ("item", "answer", "probability", "why")
        return Table({name: [getattr(row, name) for row in self] for name in names})

    def __repr__(self) -> str:
        return repr(self.to_table()) if self else "no item is left to label"


@by_predictions
def suggest(
    predictions: Any,
    labels: Any = None,
    *,
    n: int = 10,
    aggregator: AbstractAggregator | None = None,
    class_shares: Any = None,
    seed: int = 0,
) -> Suggestions:
    """Suggest `n` items to label: mostly uncertain ones, but some of every kind.

    The kind of an item is its answer, its second class, and how uncertain the answer is. The first items of the list
    are as mixed as the whole list. Compared with a random choice this gains little, and with ten labels almost nothing
    (the guide has figures).

    Parameters
    ----------
    predictions
        Whatever `Predictions` takes.
    labels
        Known labels, as `fit` takes them. Those items are not suggested, nor others much like them.
    n
        How many items. If fewer are left, all of them are suggested.
    aggregator
        `Consensus(class_shares=class_shares)` by default. If it is not fitted, a copy is, with the labels.
    class_shares
        How frequent the classes are, where you know it.
    seed
        Another seed gives other items.

    Examples
    --------
    >>> rows = [[[0.9, 0.1], [0.3, 0.7], [0.1, 0.9]], [[0.8, 0.2], [0.6, 0.4], [0.2, 0.8]]]
    >>> p = Predictions(rows, members=["vit", "cnn"], classes=["cat", "dog"])
    >>> suggest(p, {2: "dog"}, n=2)
    item  answer  probability  why
       0  cat          0.8444  all say cat: tells whether that can be relied on
       1  dog          0.5539  members disagree: cnn says cat, vit says dog
    """
    if isinstance(labels, int):
        raise TypeError(f"suggest takes labels second, and how many items by name: suggest(predictions, n={labels})")
    check_number("n", n, least=1, integer=True)
    check_number("seed", seed, integer=True)
    if aggregator is not None and class_shares is not None:
        raise ValueError("class_shares go with the default aggregator, or into Consensus(class_shares=...); got both")
    analysis = Analysis.of(predictions, known=labels, aggregator=aggregator, class_shares=class_shares)
    return suggestions_under(analysis, int(n), analysis.is_given, seed)


def suggestions_under(analysis: Analysis, n: int, is_known: npt.NDArray[np.bool_], seed: int = 0) -> Suggestions:
    """Suggest items given an analysis, and which items are known."""
    predictions, outlook = analysis.predictions, _Outlook.of(analysis.posterior)
    chosen = _chosen(outlook, n, is_known, np.random.default_rng(seed))
    if not len(chosen):
        return Suggestions()
    voters: list[dict[int, list[int]]] = [defaultdict(list) for _ in chosen]
    answers = labels_of(predictions.take(chosen).harden())
    for item, member, label in zip(answers.items, answers.members, answers.labels, strict=True):
        voters[item][int(label)].append(int(member))
    classes, name = predictions.classes, predictions.axes.items.name
    return Suggestions(
        Suggestion(
            name(place),
            place,
            classes[outlook.answer[place]],
            float(outlook.probability[place]),
            _reason(votes, place, predictions, outlook),
        )
        for place, votes in zip(chosen.tolist(), voters, strict=True)
    )


class _Outlook(NamedTuple):
    """The answers so far. Each array has one entry per item."""

    answer: IntArray
    second: IntArray
    probability: FloatArray  # of the answer
    second_probability: FloatArray
    entropy: FloatArray

    @classmethod
    def of(cls, posterior: Array) -> _Outlook:
        """Read some rows at a time, so that temporary arrays stay small."""
        parts = (_Outlook._of_rows(to_numpy(rows).astype(np.float64)) for _, rows in parts_of(posterior))
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    @classmethod
    def _of_rows(cls, rows: FloatArray) -> _Outlook:
        places = np.arange(len(rows))
        entropy = -(rows * np.log(np.maximum(rows, 1e-12))).sum(axis=1)
        answer, probability = rows.argmax(axis=1), rows.max(axis=1)
        rows[places, answer] = -1  # rows are a copy; the second is the best of the others
        second = rows.argmax(axis=1)
        return cls(answer, second, probability, rows[places, second], entropy)


def _chosen(outlook: _Outlook, n: int, is_known: npt.NDArray[np.bool_], rng: np.random.Generator) -> IntArray:
    """Positions of the items to label, in order: one from each cell without a label, then others."""
    n_items, n_known = len(is_known), int(is_known.sum())
    n = min(n, n_items - n_known)
    width = EVEN_SHARE + (1 - EVEN_SHARE) * outlook.entropy / max(outlook.entropy.mean(), 1e-12)
    line = np.lexsort((rng.random(n_items), width, outlook.second, outlook.answer))
    ends = np.cumsum(width[line])
    n_cells = n + n_known  # enough cells without a label, wherever the known items are
    size = ends[-1] / n_cells
    cell = np.minimum(((ends - width[line] / 2) / size).astype(np.intp), n_cells - 1)
    is_free = np.ones(n_cells, dtype=bool)
    is_free[cell[is_known[line]]] = False
    points = (np.arange(n_cells) + rng.random()) * size  # evenly spaced
    found = line[np.minimum(np.searchsorted(ends, points[is_free]), n_items - 1)]
    found = found[~is_known[found]]
    found = found[np.sort(np.unique(found, return_index=True)[1])]  # an item may span several cells
    found = found[np.argsort(np.arange(len(found)) * GOLDEN_RATIO % 1, kind="stable")][:n]
    is_left = ~is_known
    is_left[found] = False
    left, n_more = np.flatnonzero(is_left), n - len(found)
    chances = width[left] / width[left].sum()
    return np.concatenate([found, rng.choice(left, n_more, replace=False, p=chances) if n_more else left[:0]])


# ---- why --------------------------------------------------------------------------------------------------


def _reason(votes: dict[int, list[int]], place: int, predictions: Predictions, outlook: _Outlook) -> str:
    """Say in a few words why an item is worth a label, given who says each class."""
    name = predictions.axes.classes.name
    answer, second = int(outlook.answer[place]), int(outlook.second[place])
    if len(votes) > 1:
        return f"members disagree: {_told(votes, predictions)}"
    said = next(iter(votes))
    who = "all say" if len(votes[said]) > 1 else "only one member answers:"
    if said != answer:
        return f"{who} {name(said)}, yet the answer is {name(answer)}"
    if outlook.second_probability[place] >= LEAST_RIVAL:
        return f"{who} {name(said)}, but {name(second)} may be: {outlook.second_probability[place]:.2f}"
    return f"{who} {name(said)}: tells whether that can be relied on"


def _told(votes: dict[int, list[int]], predictions: Predictions) -> str:
    """Who says what, the most frequent answer first."""
    ranked = sorted(votes.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    n_voters = sum(len(members) for members in votes.values())
    parts = []
    for label, members in ranked[:MOST_ANSWERS]:
        names = [str(predictions.axes.members.name(member)) for member in members]
        who = listed(names, MOST_VOTERS) if n_voters <= MOST_VOTERS else len(names)
        parts.append(f"{who} {'says' if len(names) == 1 else 'say'} {predictions.axes.classes.name(label)}")
    if len(ranked) > MOST_ANSWERS:
        parts.append("others something else")
    return ", ".join(parts)
