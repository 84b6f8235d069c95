"""Refuse what a table cannot mean: numbers or free text read as labels, members and items the wrong way round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.data.axes import some
from consilience.data.names import WRITTEN_NUMBER
from consilience.system.errors import InvalidPredictions, Say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consilience.data.predictions import Predictions
    from consilience.data.tables.columns import Column

MANY_CLASSES, ANSWERS_PER_CLASS = 20, 10
"""More classes than the first number need this many answers each, or they are no classes."""

MANY_ANSWERS = 10
"""If nobody who gives so many answers ever gives one twice, they are no labels."""

MANY_MEMBERS, MEMBERS_PER_ITEM = 30, 10
"""More members than the first number, and than this many per item, are items."""

ADVICE = f". Name the column with {Say('label')} to read it so all the same"


def check_labels(predictions: Predictions, columns: Sequence[Column]) -> None:
    """Raise if labels were read, from these columns, that are more likely numbers or free text."""
    for column in columns:
        check_names(column.name, column.given)
        if column.has_fractions and not column.repeats and column.size > 1:
            raise InvalidPredictions(
                f"labels must be names or whole numbers; column {column.name!r} holds {column.given[0]} and others "
                f"that nobody gives twice{ADVICE}"
            )
    check_repeated(predictions, columns[0].name)


def check_repeated(predictions: Predictions, name: Any) -> None:
    """Raise if there are so many labels, or so few given twice, that they are more likely numbers or free text."""
    hard, where = predictions.hard, f"column {name!r}"
    assert hard is not None  # noqa: S101 - labels are hard
    n_answers, n_classes = len(hard.labels), predictions.n_classes
    if n_classes > max(MANY_CLASSES, n_answers / ANSWERS_PER_CLASS):
        raise InvalidPredictions(
            f"labels must be classes that members give again and again; got {n_classes:,} different ones in "
            f"{n_answers:,} answers: {where} may hold numbers or free text{ADVICE}"
        )
    n_given = np.bincount(hard.members, minlength=predictions.n_members)
    is_said = np.zeros((predictions.n_members, n_classes), dtype=bool)
    is_said[hard.members, hard.labels] = True
    n_different = is_said.sum(axis=1)
    is_busy = n_given >= MANY_ANSWERS
    if is_busy.any() and (n_different == n_given)[is_busy].all():
        raise InvalidPredictions(
            f"labels must be classes that members give again and again; nobody gives one twice, so {where} may "
            f"hold numbers or free text{ADVICE}"
        )


def check_names(column: Any, values: Sequence[Any]) -> None:
    """Raise if all values of a column are shares: per cent, or numbers from 0 to 1 that are not all whole."""
    texts = list(map(str, values))
    if not texts or not all(map(WRITTEN_NUMBER.fullmatch, texts)):
        return
    numbers = {text: float(text.rstrip(" %").replace(",", ".")) for text in texts}
    fractions = {text for text, number in numbers.items() if "%" in text or number % 1}
    if any("%" in text for text in texts) or (fractions and all(0 <= number <= 1 for number in numbers.values())):
        first = next(value for value in values if str(value) in fractions)
        raise InvalidPredictions(
            f"labels must be names or whole numbers; column {column!r} holds {first}: if these are the probabilities "
            f"of one class, say {Say('positive', 'NAME')}{ADVICE}"
        )


def check_shared_labels(predictions: Predictions) -> None:
    """Raise if the labels of some member are never given by any other: its column may hold something else."""
    hard = predictions.hard
    if hard is None or predictions.n_members < 2:
        return
    is_said = np.zeros((predictions.n_members, predictions.n_classes), dtype=bool)
    is_said[hard.members, hard.labels] = True
    is_alone = ~(is_said & (is_said.sum(axis=0) > 1)).any(axis=1)
    n_given = np.bincount(hard.members, minlength=predictions.n_members)
    if (is_alone & (n_given >= MANY_ANSWERS)).any():
        names = [predictions.members[place] for place in np.flatnonzero(is_alone & (n_given >= MANY_ANSWERS))]
        raise InvalidPredictions(
            f"columns of labels must have labels in common; {some(names)} share none with the others: say which "
            f"column is which with {Say('item')}, {Say('member')} and {Say('label')}, or list the members of a wide "
            f"table, such as {Say('member', 'ann,bob')}"
        )


def check_members(predictions: Predictions, order: str, per_item: int = MEMBERS_PER_ITEM) -> None:
    """Raise if members outnumber items by far; `order` says where members and items are expected."""
    n_members, n_items = predictions.n_members, predictions.n_items
    if n_members > max(MANY_MEMBERS, per_item * n_items):
        raise InvalidPredictions(
            f"got {n_members:,} members on {n_items:,} items, so rows and columns may be the wrong way round: {order}. "
            "A long table (item, member, label) says for certain who is who"
        )
