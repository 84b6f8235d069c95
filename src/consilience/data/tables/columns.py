"""A table as columns: what each is called and holds, found once, from its different values and never cell by cell."""

from __future__ import annotations

import re
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, final

import numpy as np

from consilience.data.names import UNKNOWN, check_spellings, is_missing, text_of, texts_of
from consilience.data.reading import has_fractions
from consilience.data.tables.coding import ABSENT, Coded, Notation, coded_list, is_absent, parsed_values
from consilience.data.tables.told import UNNAMED, called, column_named, is_exact, is_measure, role_of
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from consilience.data.tables.told import Role
    from consilience.system.arrays import FloatArray, IntArray

ID = re.compile(r"(?![-+]?[0-9]*[.,][0-9]*$)\S{1,100}")
"""What an id looks like: one word, and no fraction."""

MEASURED = re.compile(r"-.*|.*[.,][0-9]{4,}.*|.*[eE].*")
"""How a number is written that is no name, such as -1.5, 0.1234 or 1e-5; versions are called 1.5 or 1.10."""

ROWS_AT_ONCE = 2**18
FEW, ROWS_PER_VALUE = 20, 10
"""A column of labels has at most so many different values, or one for so many rows."""

NESTED = (list, tuple, dict, set, np.ndarray)


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
        parse: Callable[[], tuple[FloatArray, Notation] | None] | None = None,
        cells: Sequence[Any] | None = None,
        name_of: Callable[[Any], Any] = lambda value: value,
    ) -> None:
        self.name, self.size, self.cells, self.name_of = name, size, cells, name_of
        self._code, self._numbers, self._is_float, self._parse = code, numbers, is_float, parse

    @classmethod
    def of_list(cls, name: Any, values: Sequence[Any], name_of: Callable[[Any], Any] = lambda value: value) -> Column:
        """A column of Python values, told apart by kind; lists and records among them make it one of cells."""
        if set(map(type, values)) & set(NESTED):
            return cls(name, len(values), lambda: coded_list(list(map(repr, values))), cells=values, name_of=name_of)
        return cls(name, len(values), lambda: coded_list(values), name_of=name_of)

    # ---- what it is called ------------------------------------------------------------------------------------

    @cached_property
    def role(self) -> Role | None:
        """The role that the name suggests."""
        return role_of(str(self.name))

    @property
    def is_unnamed(self) -> bool:
        """Whether this is an index of pandas without a name."""
        return self.name in UNNAMED

    @property
    def is_measure(self) -> bool:
        """Whether the name says that the numbers describe items, and are nobody's answers."""
        return is_measure(str(self.name))

    def is_exact(self, role: Role) -> bool:
        """Whether this is one of the usual names of a role."""
        return is_exact(self.name, role)

    # ---- names ------------------------------------------------------------------------------------------------

    @cached_property
    def coded(self) -> Coded:
        """Which value stands in each row, -1 where there is none, and the values in the order they appear."""
        coded = self._code()
        del self._code  # the text can be forgotten, and so it can if numbers come from the different values
        self._parse = None if len(coded.values) <= self.size / 2 else self._parse
        return coded

    @cached_property
    def names(self) -> list[Any]:
        """Each different value as a name."""
        return list(map(self.name_of, self.coded.values))

    def rows(self, n_rows: int | None = None) -> list[Any]:
        """The name in each row, or in the first ones; None where there is none."""
        names = np.array([*self.names, None], dtype=object)
        return list(names[self.coded.codes[:n_rows]])

    @property
    def first_missing(self) -> int | None:
        """The first row without a name; None if there is none."""
        is_missing = self.coded.codes < 0
        return int(np.argmax(is_missing)) if is_missing.any() else None

    @property
    def tells_rows_apart(self) -> bool:
        """Whether each row has a value of its own."""
        return not self.repeats and self.first_missing is None

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

    def answers(self, classes: Iterable[Any] | None = None) -> Coded:
        """Which answer stands in each row: empty text and words such as NA are none, unless a class is called so."""
        absent = ABSENT.difference(map(text_of, classes or ()))
        is_given = [not (isinstance(value, str) and value in absent) for value in self.coded.values]
        if all(is_given):
            return Coded(self.coded.codes, self.names)
        table = np.where(is_given, np.cumsum(is_given) - 1, -1)
        kept = [name for name, is_kept in zip(self.names, is_given, strict=True) if is_kept]
        return Coded(np.append(table, -1)[self.coded.codes], kept)

    @cached_property
    def counts(self) -> IntArray:
        """How many rows have each different value."""
        codes, n_values = self.coded.codes, len(self.coded.values)
        counts = np.zeros(n_values + 1, dtype=np.intp)
        for start in range(0, len(codes), ROWS_AT_ONCE):  # `bincount` copies what it counts
            counts += np.bincount(codes[start : start + ROWS_AT_ONCE] + 1, minlength=n_values + 1)
        return counts[1:]

    @cached_property
    def _is_given(self) -> npt.NDArray[np.bool_]:
        """Which of the different values are neither empty nor words for what is missing."""
        values = self.coded.values
        if ABSENT.isdisjoint(values):
            return np.ones(len(values), dtype=bool)
        return np.array([not is_absent(value) for value in values])

    @cached_property
    def given(self) -> list[Any]:
        """The different values that are neither empty nor words for what is missing."""
        return list(compress(self.coded.values, self._is_given))

    @cached_property
    def n_given(self) -> int:
        """How many rows have such a value."""
        return int(self.counts[self._is_given].sum())

    @property
    def n_unknown(self) -> int:
        """How many cells are missing by a word such as NA."""
        return int(self.counts[[isinstance(value, str) and value in UNKNOWN for value in self.coded.values]].sum())

    # ---- facts ------------------------------------------------------------------------------------------------

    @property
    def repeats(self) -> bool:
        """Whether some value is given twice."""
        return len(self.given) < self.n_given

    @property
    def varies(self) -> bool:
        """Whether there are several different values."""
        return len(self.given) > 1

    @property
    def is_complete(self) -> bool:
        """Whether every row has a value."""
        return self.n_given == self.size

    @property
    def _has_few(self) -> bool:
        return len(self.given) <= max(FEW, self.n_given / ROWS_PER_VALUE)

    @cached_property
    def are_labels(self) -> bool:
        """Whether there are few different values, and not fractions."""
        return bool(self.given) and self._has_few and not self.has_fractions

    @cached_property
    def is_free(self) -> bool:
        """Whether these are free text or measurements, which nobody gives twice."""
        return not self._has_few and (self.numbers is None or self.has_fractions)

    @property
    def has_plain_numbers(self) -> bool:
        """Whether these are numbers, without decimal commas and percent signs."""
        return self.numbers is not None and self.notation.comma is None and self.notation.percent is None

    @cached_property
    def has_fractions(self) -> bool:
        """Whether these are numbers, and not all whole."""
        return self.has_plain_numbers and has_fractions(self.numbers)

    @property
    def may_be_amounts(self) -> bool:
        """Whether these are several numbers, and do not only number the rows."""
        return self.varies and self.numbers is not None and not (self.has_plain_numbers and self.are_names)

    @cached_property
    def are_shares(self) -> bool:
        """Whether these are numbers from 0 to 1, not all whole."""
        numbers = np.empty(0) if self.numbers is None else self.numbers[~np.isnan(self.numbers)]
        return bool(((numbers >= 0) & (numbers <= 1)).all()) and bool((numbers % 1 > 0).any())

    @cached_property
    def are_measured(self) -> bool:
        """Whether these are fractions that name nothing: stored as numbers, from 0 to 1, negative or of many digits."""
        return self.has_fractions and (
            self.are_shares or any(isinstance(value, float) or MEASURED.fullmatch(str(value)) for value in self.given)
        )

    def _counts_from(self, first: int) -> bool:
        values = self.coded.values
        return len(values) == self.size and all(str(value) == str(first + row) for row, value in enumerate(values))

    @cached_property
    def counts_rows(self) -> bool:
        """Whether the column only counts the rows, 0, 1, 2, …, as the index of a data frame does."""
        return self._counts_from(0)

    @property
    def is_count(self) -> bool:
        """Whether the column is an index that only counts the rows."""
        return (self.is_unnamed or str(self.name).strip().lower() == "index") and self.counts_rows

    @cached_property
    def are_names(self) -> bool:
        """Whether each row has a name of its own, and the names are no measurements."""
        return self.is_complete and not self.repeats and not self.has_fractions and self.cells is None

    @cached_property
    def are_ids(self) -> bool:
        """Whether each row has another word or whole number, unless they count the rows from 0 or 1."""
        is_apart = self.cells is None and self.size > 1 and len(self.given) == self.size
        is_count = is_apart and (self.counts_rows or self._counts_from(1))
        return is_apart and not is_count and all(ID.fullmatch(str(value)) for value in self.given)

    # ---- numbers ----------------------------------------------------------------------------------------------

    @property
    def numbers(self) -> FloatArray | None:
        """The cells as numbers, NaN where there is none; None if some cell is no number."""
        return None if self._parsed is None else self._parsed[0]

    @property
    def notation(self) -> Notation:
        """How the numbers are written."""
        return Notation() if self._parsed is None else self._parsed[1]

    @cached_property
    def _parsed(self) -> tuple[FloatArray, Notation] | None:
        if self._numbers is not None:
            return self._numbers, Notation(all_points=self._is_float)
        fast = None if self._parse is None else self._parse()
        return fast if fast is not None or self.cells is not None else parsed_values(self.coded)


@final
class Columns:
    """Named columns of equal length. `stem` names a member whose file has no other name for it, or is None."""

    def __init__(self, columns: Mapping[Any, Column], *, stem: str | None = None) -> None:
        self._columns, self.stem = dict(columns), stem
        self.all = list(self._columns.values())
        self.n_rows = self.all[0].size if self.all else 0
        self._keys: dict[frozenset[Any], tuple[IntArray, int]] = {}

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
        return Columns({name: own for name, own in self._columns.items() if name in wanted}, stem=self.stem)

    def without(self, names: Iterable[Any]) -> Columns:
        """All others."""
        left_out = set(names)
        return self.kept(name for name in self if name not in left_out)

    @property
    def flat(self) -> list[Column]:
        """The columns of names and numbers."""
        return [column for column in self.all if column.cells is None]

    def others(self, *taken: Column | None) -> list[Column]:
        """The columns of names and numbers without these, and without an index that has no name."""
        return [column for column in self.flat if column not in taken and not column.is_unnamed]

    def called(self, role: Role) -> list[Column]:
        """The columns of names and numbers whose names suggest a role: usual names first, then those ending in `id`."""
        return [self[name] for name in called([column.name for column in self.flat], role)]

    def told(self, name: Any) -> Column:
        """The column that the user names."""
        return self[column_named(list(self), name)]

    def usual(self, names: Sequence[str]) -> Column | None:
        """The column of names and numbers with the first of some usual names."""
        found = column_named([own.name for own in self.flat if isinstance(own.name, str)], None, names)
        return None if found is None else self[found]

    def n_pairs(self, *columns: Column | None) -> int:
        """How many different rows these columns have."""
        return self.keys(*columns)[1]

    def keys(self, *columns: Column | None) -> tuple[IntArray, int]:
        """A number for each row, the same where these columns are, and how many different ones there are."""
        wanted = frozenset(columns)
        if wanted not in self._keys:
            self._keys[wanted] = self._keys_of([column for column in columns if column is not None])
        return self._keys[wanted]

    def _keys_of(self, columns: list[Column]) -> tuple[IntArray, int]:
        keys, n_keys = np.zeros(self.n_rows, dtype=np.int64), 1
        for column in columns:
            keys *= len(column.coded.values) + 1
            keys += column.coded.codes
            keys += 1
            n_keys *= len(column.coded.values) + 1
            if n_keys > 4 * self.n_rows + 1000:
                different, keys = np.unique(keys, return_inverse=True)
                n_keys = len(different)
        is_seen = np.zeros(n_keys, dtype=bool)
        is_seen[keys] = True
        return (np.cumsum(is_seen) - 1)[keys], int(is_seen.sum())

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
