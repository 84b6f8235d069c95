"""Tables with a row for each item, member and class: the column of their probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from consilience.data.axes import some
from consilience.data.reading import sum_tolerance
from consilience.data.tables.refusal import names_of
from consilience.system.errors import InvalidPredictions, Say

if TYPE_CHECKING:
    from consilience.data.tables.columns import Column, Columns
    from consilience.data.tables.roles import Roles
    from consilience.system.arrays import FloatArray, IntArray


def shares_by_row(columns: Columns, roles: Roles, *, normalize: bool) -> Column | None:
    """The column of probabilities in a table with a row for each item, member and class; None if it holds votes.

    Pairs of item and member that repeat with different labels, beside a column of fractions, are probabilities or
    nothing: votes would be made of a table that lost a row.
    """
    item, member, label = roles
    assert label is not None  # noqa: S101 - the table has labels
    fractions = [own for own in columns.others(*roles) if own.are_shares]
    is_even = len(set(label.counts.tolist())) == 1
    if not fractions and not is_even:  # pairs take long to count
        return None
    pairs, n_pairs = columns.keys(item, member)
    if n_pairs == columns.n_rows or columns.n_pairs(*roles) < columns.n_rows:
        return None
    is_whole = columns.n_rows == n_pairs * len(label.given)
    sums = {own: np.bincount(pairs, weights=own.numbers, minlength=n_pairs) for own in fractions}
    fitting = [own for own in fractions if (np.abs(sums[own] - 1) <= sum_tolerance(np.empty((0, 1)))).all()]
    if fitting or (fractions and normalize and is_whole):
        return (fitting or fractions)[0]
    if fractions:
        raise _incomplete(roles, fractions, pairs)
    if n_pairs > 1 and is_whole:
        raise InvalidPredictions(
            f"a table must have one label for each item and member; each of them has every label in {label.name!r} "
            f"once, and none of {some(names_of(columns.others(*roles)))} has the probabilities of these, which sum to 1"
        )
    return None


def _incomplete(roles: Roles, fractions: list[Column], pairs: IntArray) -> InvalidPredictions:
    sums = np.bincount(pairs, weights=np.nan_to_num(fractions[0].numbers))  # type: ignore[arg-type]
    row = int(np.argmax(np.abs(sums[pairs] - 1)))
    item, member = (own.names[own.coded.codes[row]] for own in roles[:2] if own is not None)
    return InvalidPredictions(
        f"probabilities must sum to 1 over classes; {some(names_of(fractions))} stands beside several labels in "
        f"{getattr(roles.label, 'name', None)!r} of one item and member, and sums to {sums[pairs[row]]:.6g} for item "
        f"{item!r} of member {member!r}: complete its rows, or say {Say('normalize')} if each class has one, or leave "
        f"{fractions[0].name!r} out of the table if the labels are votes"
    )


def spread(
    columns: Columns, roles: Roles, labels: IntArray, shares: Column, n_classes: int, *, normalize: bool
) -> tuple[IntArray, FloatArray]:
    """Where each item and member occur first, and their rows of probabilities; a class without a row has none."""
    if (labels < 0).any():
        raise InvalidPredictions(
            f"column {getattr(roles.label, 'name', None)!r} must name the class of each probability in "
            f"{shares.name!r}; row {int(np.argmax(labels < 0))} names none"
        )
    pairs, n_pairs = columns.keys(roles.item, roles.member)
    _, places = np.unique(pairs, return_index=True)
    rows = np.zeros((n_pairs, n_classes))
    rows[pairs, labels] = shares.numbers
    return places, rows / rows.sum(axis=1, keepdims=True) if normalize else rows
