"""A table as columns: what each holds, found once, from its different values and never cell by cell."""

from __future__ import annotations

import math
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from consilience.data.names import NUMBER as PLAIN_NUMBER
from consilience.data.names import UNKNOWN, WHOLE, WRITTEN_NUMBER, check_spellings, is_missing, text_of, texts_of
from consilience.data.tables.coding import coded_list
from consilience.data.tables.vocabulary import UNNAMED
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from consilience.data.tables.coding import Coded, Parsed
    from consilience.system.arrays import FloatArray, IntArray

NUMBER = re.compile(f"{WRITTEN_NUMBER.pattern}|[-+]?inf")
ABSENT = frozenset({"", *UNKNOWN})
"""Text that stands for a missing answer, unless a class is called so."""

ID = re.compile(r"(?![-+]?[0-9]*[.,][0-9]*$)\S{1,100}")
"""What an id looks like: one word, and no fraction."""

MEASURED = re.compile(r"-.*|.*[.,][0-9]{4,}.*|.*[eE].*")
"""How a number is written that is no name, such as -1.5, 0.1234 or 1e-5; versions are called 1.5 or 1.10."""

FEW, ROWS_PER_VALUE = 20, 10
"""A column of labels has at most so many different values, or one for so many rows."""


class Notation(NamedTuple):
    """How the numbers of a column are written: an example of each way, None if there is none."""

    comma: str | None = None
    point: str | None = None
    percent: str | None = None
    plain: str | None = None  # without a percent sign, and not 0
    all_points: bool = False
    thousands: bool = False  # all commas may separate thousands


@final
class Column:
    """The cells of a column: different values, and which of them stands in each row.

    `numbers` are given if the source stores numbers; `cells` if these are lists or records. `name_of` says how a value
    is a name: files name everything by text.
    """

    def __init__(
        self,
        name: Any,
        size: int,
        code: Callable[[], Coded],
        *,
        numbers: FloatArray | None = None,
        is_float: bool = False,
        parse: Callable[[], Parsed | None] | None = None,
        cells: Sequence[Any] | None = None,
        name_of: Callable[[Any], Any] = lambda value: value,
    ) -> None:
        self.name, self.size, self.cells = name, size, cells
        self._code, self._numbers, self._is_float, self._parse = code, numbers, is_float, parse
        self.name_of = name_of

    @classmethod
    def of_list(cls, name: Any, values: Sequence[Any], name_of: Callable[[Any], Any] = lambda value: value) -> Column:
        """A column of Python values, told apart by kind; lists and records among them make it one of cells."""
        kinds = set(map(type, values))
        if kinds & {list, tuple, dict, set, np.ndarray}:
            return cls(name, len(values), lambda: coded_list(list(map(repr, values))), cells=values, name_of=name_of)
        return cls(name, len(values), lambda: coded_list(values), name_of=name_of)

    # ---- names ------------------------------------------------------------------------------------------------

    @cached_property
    def coded(self) -> Coded:
        """Which value stands in each row, -1 where there is none, and the values in the order they appear."""
        coded, self._code = self._code(), _forgotten
        if len(coded.values) <= self.size / 2:
            self._parse = None  # numbers come from the different values, and the text can be forgotten
        return coded

    @cached_property
    def names(self) -> list[Any]:
        """Each different value as a name."""
        return [self.name_of(value) for value in self.coded.values]

    def rows(self) -> list[Any]:
        """The name in each row, None where there is none."""
        names = np.empty(len(self.names) + 1, dtype=object)
        names[:-1] = self.names
        return list(names[self.coded.codes])

    def first_rows(self, n_rows: int) -> list[Any]:
        """The names in the first rows."""
        return [None if code < 0 else self.names[code] for code in self.coded.codes[:n_rows].tolist()]

    def check_is_flat(self) -> None:
        """Raise if cells hold lists or records, which are no names."""
        for row, value in enumerate(self.cells or ()):
            if isinstance(value, list | tuple | dict | set | np.ndarray):
                raise InvalidPredictions(
                    f"column {self.name!r} must hold names, text or numbers; row {row} holds {str(value)[:60]}"
                )

    def places(self, in_order: Callable[[Iterable[Any]], list[Any]], *, base: int = 0) -> tuple[Any, list[Any]]:
        """The place of each row's name among all names, and these in their order; raises if one is missing."""
        self.check_is_flat()
        codes = self.coded.codes
        if len(codes) and codes.min() < 0:
            row = int(np.argmax(codes < 0)) + base
            raise InvalidPredictions(f"column {self.name!r} must have no missing values; row {row} is missing")
        check_spellings(self.names, self.name)
        names = in_order(self.names)
        if names == self.names:
            return codes, names
        places = {text: place for place, text in enumerate(texts_of(names))}
        table = np.array([places[text] for text in texts_of(self.names)], dtype=np.int32)
        return table[codes], names

    # ---- answers ----------------------------------------------------------------------------------------------

    def answers(self, classes: Iterable[Any] | None = None) -> Coded:
        """Which answer stands in each row: empty text and words such as NA are none, unless a class is called so."""
        absent = ABSENT.difference(map(text_of, classes or ()))
        is_given = [not (isinstance(value, str) and value in absent) for value in self.coded.values]
        if all(is_given):
            return type(self.coded)(self.coded.codes, self.names)
        table = np.where(is_given, np.cumsum(is_given) - 1, -1)
        kept = [name for name, is_kept in zip(self.names, is_given, strict=True) if is_kept]
        return type(self.coded)(np.append(table, -1)[self.coded.codes], kept)

    @property
    def n_unknown(self) -> int:
        """How many cells are missing by a word such as NA."""
        words = [place for place, value in enumerate(self.coded.values) if isinstance(value, str) and value in UNKNOWN]
        return int(np.isin(self.coded.codes, words).sum()) if words else 0

    @cached_property
    def given(self) -> list[Any]:
        """The different values that are neither empty nor words for what is missing."""
        return [value for value in self.coded.values if not (isinstance(value, str) and value in ABSENT)]

    @cached_property
    def n_given(self) -> int:
        """How many rows have such a value."""
        absent = [p for p, value in enumerate(self.coded.values) if isinstance(value, str) and value in ABSENT]
        n_coded = int((self.coded.codes >= 0).sum())
        return n_coded - (int(np.isin(self.coded.codes, absent).sum()) if absent else 0)

    # ---- facts ------------------------------------------------------------------------------------------------

    @property
    def repeats(self) -> bool:
        """Whether some value is given twice."""
        return len(self.given) < self.n_given

    @property
    def is_complete(self) -> bool:
        """Whether every row has a value."""
        return self.n_given == self.size

    @cached_property
    def are_labels(self) -> bool:
        """Whether there are few different values, and not fractions."""
        return 0 < len(self.given) <= max(FEW, self.n_given / ROWS_PER_VALUE) and not self.has_fractions

    @cached_property
    def is_free(self) -> bool:
        """Whether these are free text or measurements, which nobody gives twice."""
        return len(self.given) > max(FEW, self.n_given / ROWS_PER_VALUE) and (
            self.numbers is None or self.has_fractions
        )

    @cached_property
    def is_number(self) -> bool:
        """Whether all values are numbers, or plain text of numbers."""
        if self._numbers is not None or self.size == 0:
            return self.cells is None
        return self.cells is None and all(
            (isinstance(value, int | float) and not isinstance(value, bool)) or PLAIN_NUMBER.fullmatch(str(value))
            for value in self.given
        )

    @cached_property
    def has_fractions(self) -> bool:
        """Whether these are numbers, and not all whole."""
        numbers = self.numbers
        if numbers is None or self.notation.comma is not None or self.notation.percent is not None:
            return False
        with np.errstate(invalid="ignore"):
            return bool((numbers % 1 > 0).any())

    @cached_property
    def are_shares(self) -> bool:
        """Whether these are numbers from 0 to 1, not all whole."""
        numbers = self.numbers
        given = np.empty(0) if numbers is None else numbers[~np.isnan(numbers)]
        return bool(len(given)) and bool(((given >= 0) & (given <= 1)).all()) and bool((given % 1 > 0).any())

    @cached_property
    def are_measured(self) -> bool:
        """Whether these are fractions that name nothing: stored as numbers, from 0 to 1, negative or of many digits."""
        if not self.has_fractions:
            return False
        return self.are_shares or any(isinstance(v, float) or MEASURED.fullmatch(str(v)) for v in self.given)

    @cached_property
    def counts_rows(self) -> bool:
        """Whether the column only counts the rows, 0, 1, 2, …, as the index of a data frame does."""
        texts = map(str, self.coded.values)
        return len(self.coded.values) == self.size and all(text == str(row) for row, text in enumerate(texts))

    @property
    def is_count(self) -> bool:
        """Whether the column is an index that only counts the rows."""
        return (self.name in UNNAMED or str(self.name).strip().lower() == "index") and self.counts_rows

    @cached_property
    def are_names(self) -> bool:
        """Whether each row has a name of its own, and the names are no measurements."""
        return self.is_complete and not self.repeats and not self.has_fractions and self.cells is None

    @cached_property
    def are_ids(self) -> bool:
        """Whether each row has another word or whole number, unless they count the rows from 0 or 1."""
        if self.size < 2 or len(self.given) < self.size or self.cells is not None:
            return False
        texts = list(map(str, self.given))
        return all(map(ID.fullmatch, texts)) and not self._counts_from(texts, 0) and not self._counts_from(texts, 1)

    @staticmethod
    def _counts_from(texts: list[str], first: int) -> bool:
        return all(WHOLE.fullmatch(text) for text in texts) and texts == [str(first + row) for row in range(len(texts))]

    # ---- numbers ----------------------------------------------------------------------------------------------

    @cached_property
    def numbers(self) -> FloatArray | None:
        """The cells as numbers, NaN where there is none; None if some cell is no number."""
        if self._numbers is not None or self.cells is not None:
            return self._numbers
        return None if self._parsed is None else self._parsed[0]

    @cached_property
    def notation(self) -> Notation:
        """How the numbers are written."""
        if self._numbers is not None:
            return Notation(all_points=self._is_float)
        return Notation() if self._parsed is None else self._parsed[1]

    @cached_property
    def _parsed(self) -> tuple[FloatArray, Notation] | None:
        if self._parse is not None and (fast := self._parse()) is not None:
            return fast.numbers, Notation(point=fast.point, plain=fast.plain, all_points=fast.all_points)
        return _parsed_values(self.coded)


def _forgotten() -> Coded:
    raise AssertionError("a column is coded once")


def _parsed_values(coded: Coded) -> tuple[FloatArray, Notation] | None:
    """Numbers from the different values, and how they are written; None if some are none, or written in two ways."""
    numbers = np.full(len(coded.values) + 1, np.nan)
    texts, has_point = [], []
    for place, value in enumerate(coded.values):
        if isinstance(value, str):
            if value in ABSENT:
                continue
            plain = value.strip()
            if not NUMBER.fullmatch(plain):
                return None
            texts.append(plain)
            numbers[place] = float(plain.strip(" %").replace(",", "."))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            numbers[place] = value
        else:
            return None
        has_point.append("." in str(value))
    notation = _notation(texts, all_points=bool(has_point) and all(has_point))
    return numbers[coded.codes], notation


THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}(,[0-9]{3})+")


def _notation(texts: list[str], *, all_points: bool) -> Notation:
    commas, points, signs = ([text for text in texts if mark in text] for mark in ",.%")
    plain = [text for text in texts if "%" not in text and text.strip("0.,")]
    are_thousands = bool(commas) and all(map(THOUSANDS.fullmatch, commas))
    comma, point, sign, other = (min(found, default=None) for found in (commas, points, signs, plain))
    return Notation(comma, point, sign, other, all_points, are_thousands)


@final
class Columns:
    """Named columns of equal length. `stem` names a member whose file has no other name for it, or is None."""

    def __init__(self, columns: Mapping[Any, Column], *, stem: str | None = None) -> None:
        self._columns, self.stem = dict(columns), stem
        self.n_rows = next(iter(self._columns.values())).size if self._columns else 0
        self._n_pairs: dict[tuple[str, ...], int] = {}

    def __getitem__(self, name: Any) -> Column:
        column: Column = self._columns[name]
        return column

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[Any]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def kept(self, names: Iterable[Any]) -> Columns:
        """These columns alone."""
        wanted = set(names)
        return Columns({n: column for n, column in self._columns.items() if n in wanted}, stem=self.stem)

    def without(self, names: Iterable[Any]) -> Columns:
        """All others."""
        left_out = set(names)
        return self.kept([name for name in self if name not in left_out])

    @property
    def flat(self) -> list[Any]:
        """The columns of names and numbers."""
        return [name for name, column in self._columns.items() if column.cells is None]

    def n_pairs(self, *names: Any) -> int:
        """How many different rows these columns have."""
        key = tuple(sorted(map(str, names)))
        if key not in self._n_pairs:
            self._n_pairs[key] = self._count(names)
        return self._n_pairs[key]

    def _count(self, names: tuple[Any, ...]) -> int:
        sizes = [len(self[name].coded.values) + 1 for name in names]
        if math.prod(sizes) >= 2**62:
            return self.keys(*names)[1]
        keys = np.zeros(self.n_rows, dtype=np.int64)
        for name, size in zip(names, sizes, strict=True):
            keys *= size
            keys += self[name].coded.codes + 1
        keys.sort()
        return int((np.diff(keys) > 0).sum()) + bool(len(keys))

    def keys(self, *names: Any) -> tuple[IntArray, int]:
        """A number for each row, the same where these columns are, and how many different ones there are."""
        keys = np.zeros(self.n_rows, dtype=np.int64)
        n_keys = 1
        for name in names:
            coded = self[name].coded
            keys = keys * (len(coded.values) + 1) + coded.codes + 1
            n_keys *= len(coded.values) + 1
            if n_keys > 4 * self.n_rows + 1000:
                different, keys = np.unique(keys, return_inverse=True)
                n_keys = len(different)
        seen = np.zeros(n_keys, dtype=bool)
        seen[keys] = True
        if not seen.all():
            keys = (np.cumsum(seen) - 1)[keys]
        return keys, int(seen.sum())

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
        return Columns({item: made, **self._columns}, stem=self.stem)
