"""Give each different value a number, in the order they appear, and read numbers, without a look at each cell."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.axes import Axis, listed, some
from consilience.data.names import (
    FLOAT_OF_WHOLE,
    UNKNOWN,
    WRITTEN_NUMBER,
    check_minus_one,
    check_spellings,
    is_missing,
    sorted_names,
    text_of,
)
from consilience.system.errors import InvalidPredictions, polars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy.typing as npt

    from consilience.data.tables.columns import Column
    from consilience.system.arrays import FloatArray, IntArray


NUMBER = re.compile(f"{WRITTEN_NUMBER.pattern}|[-+]?inf")
PLAIN = r"^\s*[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,3})?\s*$"
THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}(,[0-9]{3})+")
FIRST, ROWS_AT_ONCE = 100, 2**16
"""So many cells are looked at before all are, and so many are coded at once."""

ABSENT = frozenset({"", *UNKNOWN})
"""Text that stands for a missing answer, unless a class is called so."""


class Coded(NamedTuple):
    """Which value stands in each row, -1 where there is none, and the different values in the order they appear."""

    codes: npt.NDArray[np.integer[Any]]
    values: list[Any]


class Notation(NamedTuple):
    """How the numbers of a column are written: an example of each way, None if there is none."""

    comma: str | None = None
    point: str | None = None
    percent: str | None = None
    plain: str | None = None  # without a percent sign, and not 0
    all_points: bool = False
    thousands: bool = False  # all commas may separate thousands


def coded_list(values: Sequence[Any]) -> Coded:
    """Of Python values. True and 1 are two values, though they are equal."""
    places: dict[tuple[bool, Any], int] = {}
    codes = np.empty(len(values), dtype=np.int32)
    for row, value in enumerate(values):
        key = (value.__class__ is bool, value)
        place = places.get(key)
        if place is None:
            place = -1 if is_missing(value) else places.setdefault(key, len(places))
        codes[row] = place
    return Coded(codes, [value for _, value in places])


def coded_array(array: npt.NDArray[Any], is_given: Any = None) -> Coded:
    """Of an array of numbers or truth values; NaN is none, and so is what is not given."""
    is_given = ~np.isnan(array) if is_given is None else is_given
    values, first, codes = np.unique(array[is_given], return_index=True, return_inverse=True)
    order = np.argsort(first)
    full = np.full(len(array), -1, dtype=np.int32)
    full[is_given] = np.argsort(order)[codes]
    return Coded(full, values[order].tolist())


class Coder:
    """Codes text that comes in parts, each a polars series, so that no part is kept."""

    def __init__(self) -> None:
        pl = polars()
        # As long as a series has these categories, polars numbers them on, each new one by the next number.
        self._kept = pl.Series([], dtype=pl.Categorical(pl.Categories.random()))
        self._places = np.full(1, -1, dtype=np.int32)  # of each category, from 1 on; 0 is none
        self._codes, self._size, self._values = np.empty(0, dtype=np.int8), 0, list[str]()

    def add(self, series: Any) -> None:
        """Code another part."""
        numbers = (series.cast(str).cast(self._kept.dtype).to_physical() + 1).fill_null(0).to_numpy()
        n_known = len(self._places)
        unknown = np.flatnonzero(numbers >= n_known)
        new, first = np.unique(numbers[unknown], return_index=True)
        order = np.argsort(first)
        if len(new) and (new[0] != n_known or new[-1] != n_known + len(new) - 1):
            raise AssertionError("polars numbers categories otherwise")
        self._places = np.append(self._places, (np.argsort(order) + n_known - 1).astype(np.int32))
        self._values += series.gather(unknown[first[order]]).cast(str).to_list()
        self._append(self._places[numbers])

    def _append(self, part: IntArray) -> None:
        kind = next(kind for kind in (np.int8, np.int16, np.int32) if len(self._values) <= np.iinfo(kind).max)
        start, self._size = self._size, self._size + len(part)
        if self._codes.dtype != kind or len(self._codes) < self._size:
            codes = self._codes[:start]
            self._codes = np.empty(max(2 * start, self._size), dtype=kind)
            self._codes[:start] = codes
        self._codes[start : self._size] = part

    def coded(self) -> Coded:
        """All parts."""
        return Coded(self._codes[: self._size], self._values)


def coded_text(size: int, part: Callable[[int, int], Any]) -> Coded:
    """Of text or categories; `part` gives a polars series of those from a place on, and at most so many."""
    coder = Coder()
    for start in range(0, size, ROWS_AT_ONCE):
        coder.add(part(start, ROWS_AT_ONCE))
    return coder.coded()


def parsed_text(series: Any) -> tuple[FloatArray, Notation] | None:
    """The numbers in a polars series of text; None unless all are written with digits and points."""
    given = series.drop_nulls()
    if not len(given) or not given.head(FIRST).str.contains(PLAIN).all() or not given.str.contains(PLAIN).all():
        return None
    numbers = series.str.strip_chars().cast(float, strict=False)
    if numbers.null_count() > series.null_count():
        return None
    has_point = given.str.contains(".", literal=True)
    point, plain = (next(iter(given.filter(own).head(1)), None) for own in (has_point, numbers.drop_nulls() != 0))
    notation = Notation(point=point, plain=plain, all_points=bool(has_point.all()))
    return numbers.fill_null(float("nan")).to_numpy(), notation


def parsed_values(coded: Coded) -> tuple[FloatArray, Notation] | None:
    """Numbers from the different values, and how they are written; None if some are none, or written in two ways."""
    if not all(map(_is_written_number, coded.values)):
        return None
    given = {place: value for place, value in enumerate(coded.values) if not is_absent(value)}
    texts = [value.strip() for value in given.values() if isinstance(value, str)]
    numbers = np.full(len(coded.values) + 1, np.nan)
    numbers[list(given)] = [float(str(value).strip(" %").replace(",", ".")) for value in given.values()]
    return numbers[coded.codes], _notation(texts, all_points=bool(given) and all("." in str(v) for v in given.values()))


def _is_written_number(value: Any) -> bool:
    if isinstance(value, str):
        return value in ABSENT or NUMBER.fullmatch(value.strip()) is not None
    return is_number(value)


def is_absent(value: Any) -> bool:
    """Whether a value is empty text, or a word for what is missing."""
    return isinstance(value, str) and value in ABSENT


def is_number(value: Any) -> bool:
    """Whether a value is a number."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _notation(texts: list[str], *, all_points: bool) -> Notation:
    commas, points, signs = ([text for text in texts if mark in text] for mark in ",.%")
    plain = [text for text in texts if "%" not in text and text.strip("0.,")]
    are_thousands = bool(commas) and all(map(THOUSANDS.fullmatch, commas))
    comma, point, sign, other = (min(found, default=None) for found in (commas, points, signs, plain))
    return Notation(comma, point, sign, other, all_points, are_thousands)


MARK = re.compile(r"\[(PASS|FAIL|ERROR)[^\]]*\]\s*\S")
"""What a tool puts before an answer to say what it thinks of it."""

NESTED_TEXT, NESTED = re.compile(r"""[\[({]\s*['"]"""), (list, tuple, dict, set)
"""How a list or a record of text begins that is written as text. An answer may be [0, 1] or (3, 4)."""


def pooled_labels(columns: Sequence[Column], classes: Sequence[Any] | None) -> tuple[IntArray, list[Any]]:
    """The labels (columns, rows) as places among the classes, which columns share, -1 for none, and the classes."""
    coded = [_answers(column, classes) for column in columns]
    names = _classes([value for own in coded for value in own.values]) if classes is None else listed("class", classes)
    axis = Axis("class", len(names), names)
    places = np.empty((len(columns), columns[0].size), dtype=np.min_scalar_type(-len(names) - 1))
    for row, (own, column) in enumerate(zip(coded, columns, strict=True)):
        found = [axis.find(value) for value in own.values]
        unknown = [value for value, place in zip(own.values, found, strict=True) if place is None]
        if bad := [value for value in unknown if text_of(value) != "-1"]:
            raise InvalidPredictions(f"column {column.name!r} must hold the classes {some(names)}; got {bad[0]!r}")
        table = np.array([-1 if place is None else place for place in (*found, None)], dtype=places.dtype)
        places[row] = table[own.codes]
    return places, names


def _classes(said: list[Any]) -> list[Any]:
    """The classes that labels name. Whole numbers that a library wrote as 1.0, since others were missing, are 1."""
    check_minus_one(said)
    names = sorted_names(said)
    are_floats = all(isinstance(name, str) and FLOAT_OF_WHOLE.fullmatch(name) for name in names)
    return [text_of(name) for name in names] if are_floats else names


def _answers(column: Column, classes: Sequence[Any] | None) -> Coded:
    column.check_is_flat()
    coded = column.answers(classes)
    texts = [value for value in coded.values if isinstance(value, str)]
    if (marked := next(filter(MARK.match, texts), None)) is not None:
        raise InvalidPredictions(
            f"column {column.name!r} must hold labels alone; {marked[:40]!r} has a tool's mark before it"
        )
    told = set(map(text_of, classes or ()))
    others = [text for text in texts if text not in told]
    are_lists = bool(others) and all(text.startswith("[") and text.endswith("]") for text in others)
    if are_lists or any(map(NESTED_TEXT.match, others)):
        names = [value if text_of(value) in told else _unwrapped(value, column.name) for value in coded.values]
        coded = Coded(coded.codes, names)
    check_spellings(coded.values, column.name)
    return coded


def _unwrapped(text: Any, column: Any) -> Any:
    """The label in a list of one that is written as text; other text as it is. Raises for more, and for records."""
    try:
        held = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    if not isinstance(held, NESTED):
        return text
    if not isinstance(held, list | tuple) or len(held) != 1 or isinstance(held[0], NESTED):
        raise InvalidPredictions(
            f"column {column!r} must hold one label for each answer; it holds lists or records, such as {text[:60]}"
        )
    return held[0]


def unknown_cells(columns: Iterable[Column]) -> str:
    """How many cells are missing, by a word or empty, for a message."""
    found = list(columns)
    n_unknown = sum(column.n_unknown for column in found)
    n_empty = sum(len(column.coded.codes) - column.n_given for column in found) - n_unknown
    told = {"cells such as NA": n_unknown, "empty cells": n_empty}
    return "".join(f"; {n:,} {what} are missing answers" for what, n in told.items() if n > 0)
