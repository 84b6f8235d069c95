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
    others = columns.others(*roles)
    fractions = [own for own in others if own.are_shares]
    if not fractions and len(set(label.counts.tolist())) > 1:  # pairs take long to count
        return None
    pairs, n_pairs = columns.keys(item, member)
    if not n_pairs < columns.n_rows == columns.n_pairs(*roles):
        return None
    fitting = [own for own in fractions if _sum_to_one(own, pairs)]
    is_whole = columns.n_rows == n_pairs * len(label.given)
    if fractions:
        return (fitting or _rescaled(roles, fractions, pairs, is_allowed=normalize and is_whole))[0]
    if is_whole and n_pairs > 1:
        raise InvalidPredictions(
            f"a table must have one label for each item and member; each of them has every label in {label.name!r} "
            f"once, and none of {some(names_of(others))} has the probabilities of these, which sum to 1"
        )
    return None


def _sum_to_one(column: Column, pairs: IntArray) -> bool:
    sums = np.bincount(pairs, weights=column.numbers)
    return bool((np.abs(sums - 1) <= sum_tolerance(sums[:, None])).all())


def _rescaled(roles: Roles, fractions: list[Column], pairs: IntArray, *, is_allowed: bool) -> list[Column]:
    """The columns, if their numbers may be divided by their sums; raises if not."""
    if is_allowed:
        return fractions
    sums = np.bincount(pairs, weights=np.nan_to_num(fractions[0].numbers))  # type: ignore[arg-type]
    row = int(np.argmax(np.abs(sums[pairs] - 1)))
    item, member = (own.names[own.coded.codes[row]] for own in roles[:2] if own is not None)
    raise InvalidPredictions(
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
