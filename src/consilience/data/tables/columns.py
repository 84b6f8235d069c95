"""A table as columns: what each is called and holds, found once, from its different values and never cell by cell."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any, NamedTuple, TypeAlias, TypeVar, final

import numpy as np
import numpy.typing as npt

from consilience.data.axes import Axis, listed, some
from consilience.data.names import (
    FLOAT_OF_WHOLE,
    UNKNOWN,
    WRITTEN_NUMBER,
    as_written,
    check_minus_one,
    check_spellings,
    is_missing,
    sorted_names,
    text_of,
    texts_of,
)
from consilience.data.tables.told import EXACT, MEASURES, UNNAMED, Role, first_named, is_id, is_judged, rank, role_of
from consilience.system.arrays import FloatArray, IntArray
from consilience.system.errors import InvalidPredictions, polars

NUMBER = re.compile(f"{WRITTEN_NUMBER.pattern}|[-+]?inf")
PLAIN = r"^\s*[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,3})?\s*$"
THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}(,[0-9]{3})+")
FIRST, ROWS_AT_ONCE, COUNTED_AT_ONCE = 100, 2**16, 2**18
"""So many cells are looked at before all are, so many are coded at once, and so many are counted."""

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

    @classmethod
    def of(cls, parts: Iterable[Notation]) -> Notation:
        """How several columns are written."""
        own = list(parts)
        *examples, points, _ = zip(*own, strict=True)
        thousands = all(part.thousands for part in own if part.comma is not None)
        comma, point, percent, plain = (min(filter(None, texts), default=None) for texts in examples)
        return cls(comma, point, percent, plain, all(points), thousands)

    @property
    def mixture(self) -> tuple[str, str] | None:
        """Two numbers that are written differently: a decimal comma and a point, or a percent sign and none."""
        pairs = ((self.comma, self.point), (self.percent, self.plain))
        return next(((one, other) for one, other in pairs if one is not None and other is not None), None)


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
        self._codes: list[IntArray] = []
        self._values: list[str] = []

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
        self._codes.append(self._places[numbers].astype(np.min_scalar_type(-len(self._values) - 1)))

    def coded(self) -> Coded:
        """All parts."""
        return Coded(np.concatenate(self._codes or [np.empty(0, dtype=np.int8)]), self._values)


def coded_text(size: int, part: Callable[[int, int], Any]) -> Coded:
    """Of text or categories; `part` gives a polars series of those from a place on, and at most so many."""
    coder = Coder()
    for start in range(0, size, ROWS_AT_ONCE):
        coder.add(part(start, ROWS_AT_ONCE))
    return coder.coded()


Parsed: TypeAlias = tuple[FloatArray, Notation]
"""Cells as numbers, NaN where there is none, and how they are written."""


def parsed_text(series: Any) -> Parsed | None:
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


def parsed_values(coded: Coded) -> Parsed | None:
    """Numbers from the different values, and how they are written; None if some are none."""
    given = {place: value for place, value in enumerate(coded.values) if not is_absent(value)}
    texts = [value.strip() for value in given.values() if isinstance(value, str)]
    if not all(map(NUMBER.fullmatch, texts)) or sum(map(is_number, given.values())) + len(texts) < len(given):
        return None
    numbers = np.full(len(coded.values) + 1, np.nan)
    numbers[list(given)] = [float(str(value).strip().rstrip(" %").replace(",", ".")) for value in given.values()]
    commas, points, signs = ([text for text in texts if mark in text] for mark in ",.%")
    plain = [text for text in texts if "%" not in text and text.strip("0.,")]
    are_thousands = bool(commas) and all(map(THOUSANDS.fullmatch, commas))
    comma, point, sign, other = (min(found, default=None) for found in (commas, points, signs, plain))
    all_points = bool(given) and all("." in str(value) for value in given.values())
    return numbers[coded.codes], Notation(comma, point, sign, other, all_points, are_thousands)


def has_fractions(numbers: FloatArray) -> bool:
    """Whether some number is not whole; infinite ones count as whole."""
    with np.errstate(invalid="ignore"):
        return bool((numbers > np.floor(numbers)).any())


def are_shares(numbers: FloatArray) -> bool:
    """Whether all numbers are from 0 to 1, and not all whole."""
    given = numbers[~np.isnan(numbers)]
    return bool(((given >= 0) & (given <= 1)).all()) and bool((given % 1 > 0).any())


def is_absent(value: Any) -> bool:
    """Whether a value is empty text, or a word for what is missing."""
    return isinstance(value, str) and value in ABSENT


def is_number(value: Any) -> bool:
    """Whether a value is a number."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


MARK = re.compile(r"\[(PASS|FAIL|ERROR)[^\]]*\]\s*\S")
"""What a tool puts before an answer to say what it thinks of it."""

NESTED_TEXT, NESTED = re.compile(r"""[\[({]\s*['"]"""), (list, tuple, dict, set, np.ndarray)
"""How a list or a record of text begins that is written as text. An answer may be [0, 1] or (3, 4)."""


def pooled_labels(columns: Sequence[Column], classes: Sequence[Any] | None) -> tuple[IntArray, list[Any]]:
    """The labels (columns, rows) as places among the classes, which columns share, -1 for none, and the classes."""
    coded = [_answers(column, classes) for column in columns]
    if classes is None:
        said = [value for own in coded for value in own.values]
        check_minus_one(said)
        names = sorted_names(said)
        # Whole numbers that a library wrote as 1.0, since others were missing, are 1.
        if all(isinstance(name, str) and FLOAT_OF_WHOLE.fullmatch(name) for name in names):
            names = list(map(text_of, names))
    else:
        names = listed("class", classes)
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


def _answers(column: Column, classes: Sequence[Any] | None) -> Coded:
    """Which answer stands in each row: empty text and words such as NA are none, unless a class is called so."""
    column.check_is_flat()
    told = set(map(text_of, classes or ()))
    is_given = [not is_absent(value) or value in told for value in column.coded.values]
    codes, names = column.coded.codes, list(compress(column.names, is_given))
    if len(names) < len(is_given):
        codes = np.append(np.where(is_given, np.cumsum(is_given) - 1, -1), -1)[codes]
    texts = [value for value in names if isinstance(value, str)]
    if marked := next(filter(MARK.match, texts), ""):
        raise InvalidPredictions(
            f"column {column.name!r} must hold labels alone; {marked[:40]!r} has a tool's mark before it"
        )
    others = set(texts) - told
    are_lists = bool(others) and all(text.startswith("[") and text.endswith("]") for text in others)
    if are_lists or any(map(NESTED_TEXT.match, others)):
        names = [value if text_of(value) in told else _unwrapped(value, column.name) for value in names]
    check_spellings(names, column.name)
    return Coded(codes, names)


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


def unknown_cells(columns: Sequence[Column], classes: Sequence[Any]) -> str:
    """How many cells are missing, by a word that is the name of no class or empty, for a message."""
    cells = [(value, int(n)) for own in columns for value, n in zip(own.coded.values, own.counts, strict=True)]
    names = set(map(text_of, classes))
    n_unknown = sum(n for value, n in cells if value in UNKNOWN - names)
    n_empty = sum(own.size - own.n_given for own in columns) - sum(n for value, n in cells if value in UNKNOWN)
    told = {"cells such as NA": n_unknown, "empty cells": n_empty}
    return "".join(f"; {n:,} {what} are missing answers" for what, n in told.items() if n > 0)


ID = re.compile(r"(?![-+]?[0-9]*[.,][0-9]*$)\S{1,100}")
"""What an id looks like: one word, and no fraction."""

FEW, ROWS_PER_VALUE = 20, 10


def are_few(n_values: int, n_rows: int) -> bool:
    """Whether so many different values may be labels: there are at most `FEW`, or one for `ROWS_PER_VALUE` rows."""
    return n_values <= max(FEW, n_rows / ROWS_PER_VALUE)


T = TypeVar("T")


def fact(of: Callable[[Column], T]) -> cached_property[T]:
    """What a column says of itself, found when it is first asked for."""
    return cached_property(of)


@final
@dataclass(eq=False, repr=False)
class Column:
    """The cells of a column: different values, and which of them stands in each row.

    `stored` are its numbers if the source stores numbers; `parse` finds them in text. `cells` are given if these are
    lists or records. `name_of` says how a value is a name: files name everything by text.
    """

    name: Any
    size: int
    code: Callable[[], Coded]
    stored: Parsed | None = None
    parse: Callable[[], Parsed | None] = lambda: None
    cells: Sequence[Any] | None = None
    name_of: Callable[[Any], Any] = lambda value: value

    @classmethod
    def of_list(cls, name: Any, values: Sequence[Any], name_of: Callable[[Any], Any] = lambda value: value) -> Column:
        """A column of Python values, told apart by kind; lists and records among them make it one of cells."""
        if set(map(type, values)) & set(NESTED):
            return cls(name, len(values), lambda: coded_list(list(map(repr, values))), cells=values, name_of=name_of)
        return cls(name, len(values), lambda: coded_list(values), name_of=name_of)

    @classmethod
    def of_polars(cls, name: Any, series: Any, name_of: Callable[[Any], Any] = lambda value: value) -> Column:
        """A column of polars, whose values are not copied until somebody asks what they are."""
        pl, kind, size = polars(), series.dtype, len(series)
        if kind.is_numeric() and not kind.is_decimal():
            numbers = series.cast(pl.Float64).fill_null(float("nan")).to_numpy()
            whole = numbers if kind.is_float() else series.fill_null(0).to_numpy()
            is_given = None if kind.is_float() else series.is_not_null().to_numpy()
            stored = (numbers, Notation(all_points=kind.is_float()))
            return cls(name, size, lambda: coded_array(whole, is_given), stored=stored, name_of=name_of)
        if kind in (pl.Categorical, pl.Enum, pl.String):
            parse = (lambda: parsed_text(series)) if kind == pl.String else (lambda: None)
            return cls(name, size, lambda: coded_text(size, series.slice), parse=parse, name_of=name_of)
        return cls.of_list(name, series.to_list(), name_of)

    def is_exact(self, role: Role) -> bool:
        """Whether this is one of the usual names of a role, such as `item` or `question_id`."""
        return rank(self.name, EXACT[role]) < len(EXACT[role])

    # ---- names ------------------------------------------------------------------------------------------------

    @cached_property
    def coded(self) -> Coded:
        """Which value stands in each row, -1 where there is none, and the values in the order they appear."""
        coded = self.code()
        del self.code  # the text can be forgotten, and so it can if numbers come from the different values
        if len(coded.values) <= self.size / 2:
            self.parse = lambda: None
        return coded

    names = fact(lambda own: list(map(own.name_of, own.coded.values)))  # of each value

    def rows(self, n_rows: int | None = None) -> list[Any]:
        """The name in each row, or in the first ones; None where there is none."""
        names = np.array([*self.names, None], dtype=object)
        return list(names[self.coded.codes[:n_rows]])

    def item_rows(self, *, base: int) -> list[Any]:
        """The name of the item in each row; raises if one is missing."""
        if (row := self.first_missing) is not None:
            raise InvalidPredictions(f"column {self.name!r} must name every item; row {row + base} is empty")
        return self.rows()

    @property
    def first_missing(self) -> int | None:
        """The first row without a name; None if there is none."""
        is_missing = self.coded.codes < 0
        return int(np.argmax(is_missing)) if is_missing.any() else None

    def check_is_flat(self) -> None:
        """Raise if cells hold lists or records, which are no names."""
        for row, value in enumerate(self.cells or ()):
            if isinstance(value, NESTED):
                raise InvalidPredictions(
                    f"column {self.name!r} must hold names, text or numbers; row {row} holds {str(value)[:60]}"
                )

    def places(self, in_order: Callable[[Iterable[Any]], list[Any]], *, base: int = 0) -> tuple[Any, list[Any]]:
        """The place of each row's name among all names, and these in their order; raises if one is missing."""
        self.check_is_flat()
        if (row := self.first_missing) is not None:
            raise InvalidPredictions(f"column {self.name!r} must have no missing values; row {row + base} is missing")
        check_spellings(self.names, self.name)
        names = in_order(self.names)
        if names == self.names:
            return self.coded.codes, names
        places = {text: place for place, text in enumerate(texts_of(names))}
        table = np.array([places[text] for text in texts_of(self.names)], dtype=self.coded.codes.dtype)
        return table[self.coded.codes], names

    # ---- answers ----------------------------------------------------------------------------------------------

    @cached_property
    def counts(self) -> IntArray:
        """How many rows have each different value."""
        codes, n_values = self.coded.codes, len(self.coded.values)
        counts = np.zeros(n_values + 1, dtype=np.intp)
        for start in range(0, len(codes), COUNTED_AT_ONCE):  # `bincount` copies what it counts
            counts += np.bincount(codes[start : start + COUNTED_AT_ONCE] + 1, minlength=n_values + 1)
        return counts[1:]

    # Which of the different values are neither empty nor words for what is missing, these values, and how many rows.
    is_given = fact(lambda own: np.array([not is_absent(value) for value in own.coded.values], dtype=bool))
    given = fact(lambda own: list(compress(own.coded.values, own.is_given)))
    n_given = fact(lambda own: int(own.counts[own.is_given].sum()))

    # ---- numbers ----------------------------------------------------------------------------------------------

    # The cells as numbers, NaN where there is none, and how they are written; None if some cell is no number.
    numbers = fact(lambda own: own.parsed[0])
    notation = fact(lambda own: own.parsed[1])

    @cached_property
    def parsed(self) -> Parsed | tuple[None, Notation]:
        """Both together."""
        found = self.stored or self.parse() or (parsed_values(self.coded) if self.cells is None else None)
        return found or (None, Notation())

    # ---- facts ------------------------------------------------------------------------------------------------

    role = fact(lambda own: role_of(str(own.name)))  # that the name suggests
    is_unnamed = fact(lambda own: own.name in UNNAMED)  # an index of pandas
    is_id = fact(lambda own: is_id(str(own.name)))
    is_judged = fact(lambda own: is_judged(str(own.name)))  # names models and nobody who judges them
    # The name says that the numbers describe items, and are nobody's answers.
    is_measure = fact(lambda own: not MEASURES.isdisjoint(re.findall("[a-z]+", str(own.name).lower())))

    repeats = fact(lambda own: len(own.given) < own.n_given)  # some value is given twice
    varies = fact(lambda own: len(own.given) > 1)
    is_complete = fact(lambda own: own.n_given == own.size)  # every row has a value
    has_few = fact(lambda own: are_few(len(own.given), own.n_given))
    counts_rows = fact(lambda own: _counts_from(0, own))  # 0, 1, 2, …, as the index of a data frame
    # An index that only counts the rows.
    is_count = fact(lambda own: (own.is_unnamed or str(own.name).strip().lower() == "index") and own.counts_rows)

    # Numbers without decimal commas and percent signs.
    has_plain_numbers = fact(lambda own: own.numbers is not None and not (own.notation.comma or own.notation.percent))
    has_fractions = fact(lambda own: own.numbers is not None and own.has_plain_numbers and has_fractions(own.numbers))
    are_shares = fact(lambda own: own.numbers is not None and are_shares(own.numbers))
    # Fractions that name nothing: stored as numbers, from 0 to 1, negative or of many digits.
    are_measured = fact(lambda own: own.has_fractions and (own.are_shares or any(map(_is_measured, own.given))))

    # A few different values, and no fractions.
    are_labels = fact(lambda own: bool(own.given) and own.has_few and not own.has_fractions)
    # Free text or measurements, which nobody gives twice.
    is_free = fact(lambda own: not own.has_few and (own.numbers is None or own.has_fractions))
    # A name of its own in each row, and no measurements.
    are_names = fact(lambda own: own.is_complete and not own.repeats and not own.has_fractions and own.cells is None)
    # Another word or whole number in each row, unless they count the rows from 0 or 1.
    are_ids = fact(
        lambda own: (
            own.cells is None
            and len(own.given) == own.size > 1
            and not (own.counts_rows or _counts_from(1, own))
            and all(ID.fullmatch(str(value)) for value in own.given)
        )
    )
    # Several numbers that do not only number the rows.
    may_be_amounts = fact(
        lambda own: own.varies and own.numbers is not None and not (own.has_plain_numbers and own.are_names)
    )


MEASURED = re.compile(r"-.*|.*[.,][0-9]{4,}.*|.*[eE].*")
"""How a number is written that is no name, such as -1.5, 0.1234 or 1e-5; versions are called 1.5 or 1.10."""


def _is_measured(value: Any) -> bool:
    return isinstance(value, float) or MEASURED.fullmatch(str(value)) is not None


def _counts_from(first: int, column: Column) -> bool:
    values = column.coded.values
    return len(values) == column.size and all(str(value) == str(first + row) for row, value in enumerate(values))


@final
class Columns(dict[Any, Column]):
    """Columns of equal length by their names. `stem` names a member whose file has no other name for it, or is None."""

    def __init__(self, columns: Mapping[Any, Column], *, stem: str | None = None) -> None:
        super().__init__(columns)
        self.stem = stem
        self.all = list(self.values())
        self.flat = [own for own in self.all if own.cells is None]  # of names and numbers
        self.n_rows = self.all[0].size if self.all else 0
        self._numbered: dict[frozenset[Any], tuple[IntArray, int]] = {}

    def kept(self, names: Iterable[Any]) -> Columns:
        """These columns alone."""
        wanted = set(names)
        return Columns({name: own for name, own in self.items() if name in wanted}, stem=self.stem)

    def without(self, names: Iterable[Any]) -> Columns:
        """All others."""
        return self.kept(self.keys() - set(names))

    @property
    def texts(self) -> Columns:
        """Those whose names are text."""
        return self.kept(name for name in self if isinstance(name, str))

    def others(self, *taken: Column | None) -> list[Column]:
        """The columns of names and numbers without these, and without an index that has no name."""
        return [column for column in self.flat if column not in taken and not column.is_unnamed]

    def called(self, role: Role) -> list[Column]:
        """The columns of names and numbers whose names suggest a role: usual names first, then those ending in `id`."""
        usual = EXACT.get(role, ())
        found = [own for own in self.flat if own.role == role and isinstance(own.name, str) and not own.is_unnamed]
        return sorted(found, key=lambda own: (rank(own.name, usual), own.name != own.name.lower(), not own.is_id))

    def told(self, name: Any) -> Column:
        """The column that the user names."""
        if name not in self:
            wrong = next((own for own in map(str.strip, str(name).split(",")) if own not in self), name)
            raise InvalidPredictions(f"expected the column {wrong!r}; the table has {some(list(self))}")
        return self[name]

    def usual(self, names: Sequence[str]) -> Column | None:
        """The column of names and numbers with the first of some usual names."""
        found = first_named([own.name for own in self.flat if isinstance(own.name, str)], names)
        return None if found is None else self[found]

    def n_pairs(self, *columns: Column | None) -> int:
        """How many different rows these columns have."""
        return self.pairs(*columns)[1]

    def pairs(self, *columns: Column | None) -> tuple[IntArray, int]:
        """A number for each row, the same where these columns are, and how many different ones there are."""
        wanted = frozenset(columns)
        if wanted in self._numbered:
            return self._numbered[wanted]
        keys, n_keys = np.zeros(self.n_rows, dtype=np.int64), 1
        for column in filter(None, columns):
            keys *= len(column.coded.values) + 1
            keys += column.coded.codes
            keys += 1
            n_keys *= len(column.coded.values) + 1
            if n_keys > 4 * self.n_rows + 1000:
                different, keys = np.unique(keys, return_inverse=True)
                n_keys = len(different)
        is_seen = np.zeros(n_keys, dtype=bool)
        is_seen[keys] = True
        self._numbered[wanted] = (np.cumsum(is_seen) - 1)[keys], int(is_seen.sum())
        return self._numbered[wanted]

    def flattened(self) -> Columns:
        """Lists of one label as that label, and lists of labels beside lists of their scores as scores by label."""
        made, labels = {own: own for own in self.all}, list[Column]()
        for own in self.all:
            if _are_lists(own, lambda value: isinstance(value, str)):
                if max(_sizes(own)) > 1:
                    labels.append(own)
                else:
                    made[own] = Column.of_list(own.name, [(cell or [None])[0] for cell in own.cells or ()], own.name_of)
        for own in self.all:
            beside = [other for other in labels if _are_lists(own, is_number) and _sizes(other) == _sizes(own)]
            if len(beside) == 1:
                made[own] = _scored(beside[0], own)
                made.pop(beside[0], None)
        return Columns({own.name: own for own in made.values()}, stem=self.stem)

    @cached_property
    def lists(self) -> dict[Any, Rows]:
        """The columns whose cells are rows of numbers."""
        given = {own: [cell for cell in own.cells or () if cell is not None] for own in self.all}
        rows = [own for own, cells in given.items() if any(map(is_row, cells))]
        rows = [own for own in rows if all(is_row(cell) or cell == [] for cell in given[own])]
        return {own.name: read_rows(own.cells or (), str(own.name)) for own in rows}

    def joined(self, item: Any) -> Columns:
        """With a column for items that the user joined of several, such as `question+model`."""
        parts = [] if not isinstance(item, str) or item in self else [part.strip() for part in item.split("+")]
        if len(parts) < 2 or not all(part in self for part in parts):
            return self
        rows = list(zip(*(self[part].rows() for part in parts), strict=True))
        if any(is_missing(value) or value == "" for row in set(rows) for value in row):
            raise InvalidPredictions(f"the columns {item!r} must name every item; some rows are empty")
        names = {row: "/".join(map(text_of, row)) for row in set(rows)}
        if len(set(names.values())) < len(names):
            raise InvalidPredictions(f"the columns {item!r} must name items differently when joined by '/'")
        made = Column.of_list(item, [names[row] for row in rows])
        return Columns({item: made, **self}, stem=self.stem)


# ---- cells that are lists: one label each, rows of numbers, or labels beside their scores --------------------


class Rows(NamedTuple):
    """One row of numbers (items, classes) for each item, NaN where it is missing, and the classes' names if known."""

    values: FloatArray
    classes: list[str] | None = None


def is_row(value: Any) -> bool:
    """Whether a value is a list of numbers (None where missing) or of `{label, score}`, or numbers by class."""
    if isinstance(value, Mapping):
        return len(value) > 1 and all(map(is_number, value.values()))
    if not isinstance(value, list | tuple | np.ndarray) or not len(value):
        return False
    return all(entry is None or is_number(entry) for entry in value) or all(map(_is_scored, value))


def are_scored(values: Any) -> bool:
    """Whether these are what a pipeline of transformers gives: for each item `{label, score}`, or a list of them."""
    if not isinstance(values, list | tuple) or not values:
        return False
    return all(
        _is_scored(value) or (isinstance(value, list) and value and all(map(_is_scored, value))) for value in values
    )


def read_rows(values: Sequence[Any], name: str) -> Rows:
    """Lists as rows of equal length; None is a missing row."""
    given = [value for value in values if not _is_absent(value)]
    by_class = [isinstance(value, Mapping) or bool(len(value) and _is_scored(value[0])) for value in given]
    if any(by_class) and not all(by_class):
        raise InvalidPredictions(f"{name!r} must have lists of numbers, or numbers by class; it has some of each")
    if any(by_class):
        return _by_class([None if _is_absent(value) else _scores(value, name) for value in values], name)
    lengths = {len(value) for value in given}
    if len(lengths) != 1:
        raise InvalidPredictions(f"{name!r} must have lists of one length; got {some(sorted(lengths))} numbers")
    empty = [np.nan] * lengths.pop()
    return Rows(np.array([empty if _is_absent(value) else list(value) for value in values], dtype=np.float64))


def _by_class(rows: list[Mapping[str, float] | None], name: str) -> Rows:
    classes = [as_written(label) for label in sorted_names({label for row in rows if row is not None for label in row})]
    for row in rows:
        if row is not None and len(row) < len(classes):
            raise InvalidPredictions(
                f"{name!r} must score each of the {len(classes)} classes {some(classes)} for every item; one item has "
                f"only {some(list(row))} (a pipeline of transformers gives all with top_k=None)"
            )
    values = [[np.nan if row is None else row[label] for label in classes] for row in rows]
    return Rows(np.array(values, dtype=np.float64), classes)


def _scores(value: Any, name: str) -> dict[str, float]:
    if isinstance(value, Mapping) and not _is_scored(value):
        return {as_written(label): float(score) for label, score in value.items()}
    entries = [value] if isinstance(value, Mapping) else list(value)
    scores = {as_written(entry["label"]): float(entry["score"]) for entry in entries}
    if len(scores) < len(entries):
        raise InvalidPredictions(f"{name!r} must score each class once; got {some([e['label'] for e in entries])}")
    return scores


def _is_absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and is_missing(value))


def _is_scored(value: Any) -> bool:
    match value:
        case {"label": str() | int(), "score": score, **others}:
            return not others and is_number(score)
    return False


def _are_lists(column: Column, is_kind: Callable[[Any], bool]) -> bool:
    given = [cell for cell in column.cells or () if cell is not None]
    return bool(given) and all(isinstance(cell, list | tuple) and all(map(is_kind, cell)) for cell in given)


def _sizes(column: Column) -> list[int]:
    return [-1 if cell is None else len(cell) for cell in column.cells or ()]


def _scored(labels: Column, scores: Column) -> Column:
    rows = [
        None if own is None else [{"label": name, "score": x} for name, x in zip(own, row, strict=True)]
        for own, row in zip(labels.cells or (), scores.cells or (), strict=True)
    ]
    return Column.of_list(scores.name, rows)
