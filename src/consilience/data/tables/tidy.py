"""Tables with a row for each item, member and class: the column of their probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.data.axes import some
from consilience.data.reading import sum_tolerance
from consilience.data.tables.vocabulary import UNNAMED
from consilience.system.errors import InvalidPredictions, Say

if TYPE_CHECKING:
    from consilience.data.tables.columns import Columns
    from consilience.data.tables.roles import Roles
    from consilience.system.arrays import FloatArray, IntArray


def shares_by_row(columns: Columns, roles: Roles, *, normalize: bool) -> Any:
    """The column of probabilities in a table with a row for each item, member and class; None if it holds votes.

    Pairs of item and member that repeat with different labels, beside a column of fractions, are probabilities or
    nothing: votes would be made of a table that lost a row.
    """
    item, member, label = roles
    n_rows = columns.n_rows
    others = [name for name in columns.flat if name not in (*roles, *UNNAMED)]
    fractions = [name for name in others if columns[name].are_shares]
    is_even = len(set(np.bincount(columns[label].coded.codes + 1)[1:].tolist())) == 1
    if not fractions and not is_even:  # pairs take long to count
        return None
    if columns.n_pairs(item, member) == n_rows or columns.n_pairs(item, member, label) < n_rows:
        return None
    pairs, n_pairs = columns.keys(item, member)
    for name in fractions:
        numbers = columns[name].numbers
        assert numbers is not None  # noqa: S101 - shares are numbers
        sums = np.bincount(pairs, weights=numbers, minlength=n_pairs)
        if (np.abs(sums - 1) <= sum_tolerance(numbers[:, None])).all():
            return name
    n_labels = len(columns[label].given)
    if fractions and normalize and n_rows == n_pairs * n_labels:
        return fractions[0]
    if fractions:
        raise _incomplete(columns, roles, fractions, pairs)
    if is_even and n_pairs > 1 and n_rows == n_pairs * n_labels:
        raise InvalidPredictions(
            f"a table must have one label for each item and member; each of them has every label in {label!r} once, "
            f"and none of {some(others)} has the probabilities of these, which sum to 1"
        )
    return None


def _incomplete(columns: Columns, roles: Roles, fractions: list[Any], pairs: IntArray) -> InvalidPredictions:
    numbers = columns[fractions[0]].numbers
    assert numbers is not None  # noqa: S101 - shares are numbers
    sums = np.bincount(pairs, weights=np.nan_to_num(numbers))
    row = int(np.argmax(np.abs(sums[pairs] - 1)))
    item, member = (columns[name].names[int(columns[name].coded.codes[row])] for name in (roles.item, roles.member))
    total = sums[pairs[row]]
    return InvalidPredictions(
        f"probabilities must sum to 1 over classes; {some(fractions)} stands beside several labels in {roles.label!r} "
        f"of one item and member, and sums to {total:.6g} for item {item!r} of member {member!r}: complete its rows, ",
        "or say ",
        Say("normalize"),
        f" if each class has one, or leave {fractions[0]!r} out of the table if the labels are votes",
    )


def spread(
    columns: Columns, roles: Roles, labels: IntArray, shares: Any, n_classes: int, *, normalize: bool
) -> tuple[IntArray, FloatArray]:
    """Where each item and member occur first, and their rows of probabilities; a class without a row has none."""
    if (labels < 0).any():
        raise InvalidPredictions(
            f"column {roles.label!r} must name the class of each probability in {shares!r}; "
            f"row {int(np.argmax(labels < 0))} names none"
        )
    pairs, n_pairs = columns.keys(roles.item, roles.member)
    _, places = np.unique(pairs, return_index=True)
    rows = np.zeros((n_pairs, n_classes))
    rows[pairs, labels] = columns[shares].numbers
    return places, rows / rows.sum(axis=1, keepdims=True) if normalize else rows
