"""What `write_posterior` puts beside a posterior: each item's answer, and a mark if the fit was given its label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.tables.numbers import numbers_in
from consilience.data.tables.vocabulary import FUSED, RATED
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.data.predictions import Predictions
    from consilience.data.tables.columns import Columns
    from consilience.files.contents import Contents

KNOWN = "known"
"""The column or array that marks the items whose labels the fit was given."""


class Posterior(NamedTuple):
    """A posterior as predictions of one member, and the items (items,) whose labels its fit was given."""

    predictions: Predictions
    is_known: npt.NDArray[np.bool_]


def known_in(contents: Contents, n_items: int) -> npt.NDArray[np.bool_]:
    """The items that the file marks as known to its fit; none if it marks none."""
    marks: Any = np.zeros(n_items, dtype=bool)
    if contents.arrays is not None and "posterior" in contents.arrays:
        marks = contents.arrays.get(KNOWN, marks)
    if contents.table is not None and KNOWN in _answers_in(contents.table):
        marks = np.array([str(name).lower() == "true" for name in contents.table[KNOWN].rows()])
    if marks.shape != (n_items,) or marks.dtype.kind != "b":
        raise InvalidPredictions(f"{contents.path}: {KNOWN!r} must say of each of the {n_items} items true or false")
    return np.asarray(marks)


def without_answers(contents: Contents) -> Contents:
    """If `write_posterior` wrote the file, keep only the posterior and its names."""
    if contents.arrays is not None and "posterior" in contents.arrays:
        kept = {name: array for name, array in contents.arrays.items() if name in ("posterior", "items", "classes")}
        return contents._replace(arrays=kept)
    table = contents.table
    if table is not None and (answers := _answers_in(table)):
        others = table.without(answers)
        numbers = numbers_in([others[name] for name in list(others)[1:]]) if len(others) > 2 else None
        if numbers is not None and numbers.meaning() == "probabilities" and numbers.sum_to_one():
            return contents._replace(table=others)
    return contents


def _answers_in(table: Columns) -> tuple[str, ...]:
    """The columns that `write_posterior` puts between the items and the classes; none if it did not write the table."""
    names = list(table)
    own = next((own for own in (RATED, FUSED, ("label",)) if names[: 1 + len(own)] == ["item", *own]), ())
    is_marked = bool(own) and names[1 + len(own) :][:1] == [KNOWN]
    # A class may be called so too, and then has probabilities.
    if is_marked and {str(name).lower() for name in table[KNOWN].rows()} <= {"true", "false"}:
        return (*own, KNOWN)
    return own
