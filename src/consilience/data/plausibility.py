"""Refuse what a table cannot mean: numbers or free text read as labels, members and items the wrong way round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.data.axes import some
from consilience.data.names import UNKNOWN, WRITTEN_NUMBER, is_missing
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from consilience.data.predictions import Predictions

MANY_CLASSES, ANSWERS_PER_CLASS = 20, 10
"""More classes than the first number need this many answers each, or they are no classes."""

MANY_ANSWERS = 10
"""If nobody who gives so many answers ever gives one twice, they are no labels."""

MANY_MEMBERS, MEMBERS_PER_ITEM = 30, 10
"""More members than the first number, and than this many per item, are items."""

ADVICE = "Name the column with label= to read it so all the same"


def check_labels(predictions: Predictions, columns: Mapping[str, Sequence[Any]]) -> None:
    """Raise if labels were read, from these columns, that are more likely numbers or free text."""
    for column, values in columns.items():
        _check_names(column, values)
    hard, where = predictions.hard, f"column {next(iter(columns))!r}"
    assert hard is not None  # noqa: S101 - labels are hard
    n_answers, n_classes = len(hard.labels), predictions.n_classes
    if n_classes > max(MANY_CLASSES, n_answers / ANSWERS_PER_CLASS):
        raise InvalidPredictions(
            f"labels must be classes that members give again and again; got {n_classes:,} different ones in "
            f"{n_answers:,} answers: {where} may hold numbers or free text. {ADVICE}"
        )
    n_given = np.bincount(hard.members, minlength=predictions.n_members)
    n_different = np.bincount(np.unique(hard.members * n_classes + hard.labels) // n_classes, minlength=len(n_given))
    is_busy = n_given >= MANY_ANSWERS
    if is_busy.any() and (n_different == n_given)[is_busy].all():
        raise InvalidPredictions(
            f"labels must be classes that members give again and again; nobody gives one twice, so {where} may "
            f"hold numbers or free text. {ADVICE}"
        )


def _check_names(column: str, values: Sequence[Any]) -> None:
    """Raise if all values of a column are shares: per cent, or numbers from 0 to 1 that are not all whole."""
    texts = {str(value) for value in values if not (is_missing(value) or value == "" or value in UNKNOWN)}
    if not texts or not all(map(WRITTEN_NUMBER.fullmatch, texts)):
        return
    numbers = {text: float(text.rstrip(" %").replace(",", ".")) for text in texts}
    fractions = {text for text, number in numbers.items() if "%" in text or number % 1}
    if any("%" in text for text in texts) or (fractions and all(0 <= number <= 1 for number in numbers.values())):
        first = next(value for value in values if str(value) in fractions)
        raise InvalidPredictions(f"labels must be names or whole numbers; column {column!r} holds {first!r}. {ADVICE}")


def check_shared_labels(predictions: Predictions) -> None:
    """Raise if the labels of some member are never given by any other: its column may hold something else."""
    hard = predictions.hard
    if hard is None or predictions.n_members < 2:
        return
    pairs = np.unique(np.stack([hard.members, hard.labels]), axis=1)
    n_givers = np.bincount(pairs[1], minlength=predictions.n_classes)
    is_alone = np.ones(predictions.n_members, dtype=bool)
    is_alone[pairs[0][n_givers[pairs[1]] > 1]] = False
    n_given = np.bincount(hard.members, minlength=predictions.n_members)
    if (is_alone & (n_given >= MANY_ANSWERS)).any():
        names = [predictions.members[place] for place in np.flatnonzero(is_alone & (n_given >= MANY_ANSWERS))]
        raise InvalidPredictions(
            f"columns of labels must have labels in common; {some(names)} share none with the others: say which "
            "column is which with item=, member= and label=, or list the members of a wide table, such as "
            "member='ann,bob'"
        )


def check_members(predictions: Predictions, order: str) -> None:
    """Raise if members outnumber items by far; `order` says where members and items are expected."""
    n_members, n_items = predictions.n_members, predictions.n_items
    if n_members > max(MANY_MEMBERS, MEMBERS_PER_ITEM * n_items):
        raise InvalidPredictions(
            f"got {n_members:,} members on {n_items:,} items, so rows and columns may be the wrong way round: {order}. "
            "A long table (item, member, label) says for certain who is who"
        )
