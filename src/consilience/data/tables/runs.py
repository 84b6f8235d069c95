"""Find the columns of a table that sum to 1 in most rows, wherever they stand among columns of other numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from consilience.data.reading import MOST_ROUNDING, ROUNDING, SUM_TOLERANCE
from consilience.system.errors import InvalidPredictions, Say

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.data.tables.numbers import Numbers
    from consilience.system.arrays import FloatArray, IntArray

MOST, MOST_SAMPLED, FEWEST_SAMPLED, MOST_SUMS = 0.5, 100_000, 50, 100_000_000
"""Columns are classes if so many rows sum to 1. At most so many cells are looked at, but at least so many rows, and at
most so many sums are made of them."""


class _Found(NamedTuple):
    """What was found of the runs that start at each column (columns,); 0 where no run sums to 1 in most rows."""

    shares: FloatArray  # of rows that sum to 1, in the best of these runs
    stops: IntArray  # where the best ends, the longest of equally good ones
    first_stops: IntArray  # where the shortest ends


def runs_of_probabilities(numbers: Numbers) -> list[slice]:
    """The run of columns in which the most rows sum to 1, the longest of several, then those that may be meant as well.

    These are runs of the same length that are as good, and runs without a column of the first. Whole numbers may be
    labels, and do not count.
    """
    n_columns = numbers.values.shape[1]
    if not (numbers.has_point or numbers.has_fractions()):
        return []
    if numbers.sum_to_one():
        return [slice(0, n_columns)]
    found = _found(numbers)
    starts = np.flatnonzero(found.shares)
    if not len(starts):
        return []
    sizes, is_best = found.stops - np.arange(n_columns), found.shares == found.shares.max()
    best = np.flatnonzero(is_best & (sizes == sizes[is_best].max()))
    first, last = best[0], found.stops[best[0]]
    others = [slice(start, found.stops[start]) for start in (*best[1:], *starts[starts >= last])]
    before = [slice(start, found.first_stops[start]) for start in starts if found.first_stops[start] <= first]
    return [slice(first, last), *others, *before]


def _found(numbers: Numbers) -> _Found:
    """The runs from each start, shortest first: those that end where most rows may sum to 1 are looked at."""
    values = _sampled(numbers)
    n_columns = values.shape[1]
    sums, n_given, n_fractions = _cumulated(values, has_point=numbers.has_point)
    stops, lasts = _possible_stops(sums, np.isnan(values))
    found = _Found(np.zeros(n_columns), np.zeros(n_columns, np.intp), np.zeros(n_columns, np.intp))
    starts, n_sums = np.arange(n_columns), 0
    while len(starts := starts[stops[starts] <= lasts[starts]]):
        ends = stops[starts]
        far = np.abs(sums[ends] - sums[starts] - 1)
        n_ones = np.count_nonzero(far <= _tolerance(ends - starts)[:, None], axis=1)
        shares = n_ones / np.count_nonzero(n_given[ends] > n_given[starts], axis=1)
        is_run = (shares > MOST) & (n_fractions[ends] > n_fractions[starts])
        _remember(found, starts[is_run], ends[is_run], shares[is_run])
        stops[starts] += 1
        if (n_sums := n_sums + far.size) > MOST_SUMS:
            raise InvalidPredictions(
                f"{n_columns:,} columns of numbers are too many to find out which of them are classes: name the "
                f"classes with {Say('classes')}, or add :labels to the file's name if the numbers are labels"
            )
    return found


def _sampled(numbers: Numbers) -> FloatArray:
    n_rows = max(FEWEST_SAMPLED, MOST_SAMPLED // numbers.values.shape[1])
    return numbers.values[:: max(1, len(numbers.values) // n_rows)]


def _cumulated(values: FloatArray, *, has_point: bool) -> tuple[FloatArray, IntArray, IntArray]:
    """The sums of each row up to each column (columns + 1, rows), how many numbers are given, how many have fractions.

    A number that is no probability is counted as 2, so that no row with it sums to 1.
    """
    with np.errstate(invalid="ignore"):  # of infinite numbers
        is_fraction = np.asarray((values % 1 > 0).any(axis=0) | has_point)
    cells = np.where((values >= 0) & (values <= 2), values, 2.0)
    parts = (cells.T, ~np.isnan(values).T, is_fraction)
    sums, n_given, n_fractions = (np.cumsum(np.concatenate([part[:1] * 0, part]), axis=0) for part in parts)
    return sums, n_given, n_fractions


def _possible_stops(sums: FloatArray, is_missing: npt.NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    """The first and the last end (columns,) of a run from each start where most rows that begin there may sum to 1."""
    n_columns = len(sums) - 1
    slack = _tolerance(np.array(n_columns))
    low, high = np.empty((n_columns, sums.shape[1]), np.intp), np.empty((n_columns, sums.shape[1]), np.intp)
    for row, own in enumerate(sums.T):
        low[:, row] = np.searchsorted(own, own[:-1] + 1 - slack, "left")
        high[:, row] = np.searchsorted(own, own[:-1] + 1 + slack, "right") - 1
    low[is_missing.T], high[is_missing.T] = n_columns + 1, 0
    enough = (MOST * np.count_nonzero(~is_missing, axis=0)).astype(np.intp)  # one more than so many rows
    places = np.minimum(enough, sums.shape[1] - 1)[:, None]
    first, last = (np.take_along_axis(np.sort(ends, axis=1), places, axis=1)[:, 0] for ends in (low, -high))
    return np.maximum(first, np.arange(n_columns) + 2), -last


def _remember(found: _Found, starts: IntArray, stops: IntArray, shares: FloatArray) -> None:
    """Note runs that sum to 1 in most rows. The runs from one start come in the order of their lengths."""
    is_first, is_better = found.shares[starts] == 0, shares >= found.shares[starts]
    found.first_stops[starts[is_first]] = stops[is_first]
    found.stops[starts[is_better]] = stops[is_better]
    found.shares[starts[is_better]] = shares[is_better]


def _tolerance(n_classes: IntArray) -> FloatArray:
    """How far from 1 rows of so many classes may sum."""
    return np.asarray(np.maximum(SUM_TOLERANCE, np.minimum(ROUNDING * n_classes, MOST_ROUNDING)))
