"""Give each different value a number, in the order they appear, without a look at each cell in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.names import is_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from consilience.system.arrays import FloatArray


PLAIN = r"^\s*[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,3})?\s*$"


FIRST = 100
"""So many cells are looked at before all are."""


class Coded(NamedTuple):
    """Which value stands in each row, -1 where there is none, and the different values in the order they appear."""

    codes: npt.NDArray[np.integer[Any]]
    values: list[Any]


def coded_list(values: Sequence[Any]) -> Coded:
    """Of Python values. True and 1 are two values, though they are equal."""
    places: dict[tuple[bool, Any], int] = {}
    codes = np.empty(len(values), dtype=np.int32)
    for row, value in enumerate(values):
        key = (value.__class__ is bool, value)
        place = places.get(key)
        if place is None:
            place = -1 if is_missing(value) else len(places)
            if place >= 0:
                places[key] = place
        codes[row] = place
    return Coded(codes, [value for _, value in places])


def coded_array(array: npt.NDArray[Any]) -> Coded:
    """Of an array of numbers or truth values; NaN is none."""
    is_given = ~np.isnan(array) if array.dtype.kind == "f" else np.ones(len(array), dtype=bool)
    given = array if is_given.all() else array[is_given]
    values, first, codes = np.unique(given, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    if given is array:
        return Coded(place[codes], values[order].tolist())
    full = np.full(len(array), -1, dtype=np.int32)
    full[is_given] = place[codes]
    return Coded(full, values[order].tolist())


def coded_text(series: Any) -> Coded:
    """Of a polars series of text."""
    import polars as pl  # noqa: PLC0415 - only tables need it

    codes = series.cast(pl.Categorical).to_physical()
    numbers = codes.fill_null(0).to_numpy()
    if not len(numbers):
        return Coded(numbers.astype(np.int32), [])
    first = np.full(int(numbers.max()) + 1, -1, dtype=np.int32)
    rows = np.arange(len(numbers) - 1, -1, -1, dtype=np.int32)
    is_given = None
    if codes.null_count():
        is_given = codes.is_not_null().to_numpy()
        rows = rows[is_given[::-1]]
    first[numbers[rows]] = rows
    found = np.flatnonzero(first >= 0)
    found = found[np.argsort(first[found], kind="stable")]
    place = np.zeros(len(first), dtype=np.int32)
    place[found] = np.arange(len(found), dtype=np.int32)
    coded = place[numbers]
    if is_given is not None:
        coded[~is_given] = -1
    return Coded(coded, series.gather(first[found]).to_list())


class Parsed(NamedTuple):
    """Numbers that were written plainly, examples with a point and other than 0, and if all have a point."""

    numbers: FloatArray
    point: str | None
    plain: str | None
    all_points: bool


def parsed_text(series: Any) -> Parsed | None:
    """The numbers in a polars series of text; None unless all are written with digits and points."""
    import polars as pl  # noqa: PLC0415 - only tables need it

    given = series.drop_nulls()
    if not given.head(FIRST).str.contains(PLAIN).all() or not len(given) or not given.str.contains(PLAIN).all():
        return None
    numbers = series.str.strip_chars().cast(pl.Float64, strict=False)
    if numbers.null_count() > series.null_count():
        return None
    has_point = given.str.contains(".", literal=True)
    points, plain = given.filter(has_point), given.filter(numbers.drop_nulls() != 0)
    return Parsed(
        numbers.fill_null(float("nan")).to_numpy(),
        points.first() if len(points) else None,
        plain.first() if len(plain) else None,
        bool(has_point.all()),
    )
