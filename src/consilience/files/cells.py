"""What the cells of a table's columns say: names, answers or numbers."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, final

import numpy as np

from consilience.data.names import UNKNOWN, WRITTEN_NUMBER, is_missing, text_of
from consilience.data.reading import are_probabilities, has_fractions
from consilience.files.scales import MOST_ROUNDED, Scale, scale_of
from consilience.files.spreadsheets import without_quote
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from consilience.system.arrays import FloatArray

NUMBER = re.compile(f"{WRITTEN_NUMBER.pattern}|[-+]?inf")

ENOUGH_ROWS, LABELS_REPEAT, FEW = 10, 2, 20
"""Whole numbers are not labels if at least the first number of rows all have the same sum. Fractions may be labels if
each occurs at least as often as the second number, on average, and there are at most the third number of different
ones."""

Meaning: TypeAlias = Scale | Literal["unclear"]


@final
class Cells:
    """A column: texts as they stand in a CSV file, or values of another format, where None alone is missing."""

    def __init__(self, values: Sequence[Any], *, is_text: bool) -> None:
        self.values = values
        self.is_text = is_text

    @cached_property
    def names(self) -> list[str | None]:
        """Each cell as a name; None where it is empty."""
        if self.is_text:
            return _each(self.values, lambda text: without_quote(text) if text else None)
        return _each(self.values, lambda value: None if is_missing(value) else _name(value))

    @cached_property
    def answers(self) -> list[str | None]:
        """Each cell as a name; None where it is empty or NA."""
        if not self.is_text:
            return self.names
        return _each(self.values, lambda text: without_quote(text) if text and text not in UNKNOWN else None)

    @property
    def n_unknown(self) -> int:
        """How many cells are missing by a word such as NA."""
        return sum(text in UNKNOWN for text in self.values) if self.is_text else 0


def _name(value: Any) -> str:
    return value if isinstance(value, str) else text_of(value)


def _each(values: Sequence[Any], read: Any) -> list[Any]:
    """What each value is read as; equal ones are read once, and share what they are read as."""
    known: dict[Any, Any] = {}
    for value in values:
        if value not in known:
            known[value] = read(value)
    return [known[value] for value in values]


class Numbers(NamedTuple):
    """Columns of numbers side by side, and how they are written."""

    values: FloatArray  # (rows, columns), NaN where missing
    n_different: int  # as they are written
    has_percent: bool = False
    has_comma: bool = False
    has_point: bool = False  # every one of them

    def meaning(self) -> Meaning:
        """What such a table holds: one member's probabilities of classes, or labels by several members."""
        rows = self.values[~np.isnan(self.values).all(axis=1)]
        if not len(rows):
            return "labels"
        with np.errstate(over="ignore", invalid="ignore"):
            sums = rows.sum(axis=1)
        slack = min(MOST_ROUNDED, rows.shape[1] / 2)
        if self.has_percent or ((np.abs(sums - 100) <= slack).all() and rows.min() >= 0):
            return "per cent"
        if self.has_fractions():
            is_share = np.nanmin(rows) >= 0 and np.nanmax(rows) <= 1
            repeats = self.n_different <= min(FEW, np.isfinite(rows).sum() / LABELS_REPEAT)
            if repeats and not is_share:
                return "labels"
            return "logits" if scale_of(rows) == "logits" else "probabilities"
        is_one_sum, is_one_row = (sums == sums[0]).all() and rows.min() >= 0, (rows == rows[0]).all()
        is_clear = len(rows) >= ENOUGH_ROWS and not is_one_row
        if is_one_sum and sums[0] == 1:
            return "probabilities" if self.has_point or is_clear else "unclear"
        return "counts" if is_one_sum and is_clear else "labels"

    def are_probabilities(self) -> bool:
        """Whether rows sum to 1. If all numbers are whole they may be labels, and do not count."""
        return self.has_fractions() and self.sum_to_one()

    def has_fractions(self) -> bool:
        """Whether some number is not whole."""
        return has_fractions(self.values)

    def sum_to_one(self) -> bool:
        """Whether all rows that are not missing are probabilities."""
        return self.share_of_probabilities() == 1

    def share_of_probabilities(self) -> float:
        """Which share of the rows that are not missing are probabilities; 0 if all are missing."""
        rows = self.values[~np.isnan(self.values).all(axis=1)]
        return float(are_probabilities(rows).mean()) if len(rows) else 0.0


def numbers_in(columns: Iterable[Cells]) -> Numbers | None:
    """Columns as numbers; None if some cell is none, or if they are written in several ways."""
    cells = list(columns)
    texts = {value for column in cells for value in column.values if isinstance(value, str) and not _is_empty(value)}
    if not all(NUMBER.fullmatch(text.strip()) for text in texts) or _mixture(texts) is not None:
        return None
    has_percent, has_comma = any("%" in text for text in texts), any("," in text for text in texts)
    parsed = {text: float(text.strip(" %").replace(",", ".")) for text in texts}
    rows = []
    for column in cells:
        row = [_number(value, parsed) for value in column.values]
        if None in row:
            return None
        rows.append(row)
    given = [value for column in cells for value in column.values if not is_missing(value) and not _is_empty(value)]
    has_point = all("." in str(value) for value in given)
    return Numbers(np.array(rows, dtype=np.float64).T, len(set(given)), has_percent, has_comma, has_point)


def _number(value: Any, parsed: dict[str, float]) -> float | None:
    if isinstance(value, str):
        return parsed.get(value, np.nan)
    if is_missing(value):
        return np.nan
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _is_empty(value: Any) -> bool:
    return value == "" or value in UNKNOWN


def check_one_notation(columns: Iterable[Cells]) -> None:
    """Raise if all cells are numbers, but of several notations."""
    texts = {value for column in columns for value in column.values if isinstance(value, str) and not _is_empty(value)}
    if texts and all(map(NUMBER.fullmatch, texts)):
        _check_no_thousands(texts)
        if (found := _mixture(texts)) is not None:
            raise InvalidPredictions(f"numbers must all be written in one way; got {found[0]!r} and {found[1]!r}")


THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}(,[0-9]{3})+")


def _check_no_thousands(texts: Iterable[str]) -> None:
    """Raise if all commas may separate thousands, as in 1,234, instead of decimals."""
    commas = [text for text in texts if "," in text]
    if commas and all(map(THOUSANDS.fullmatch, commas)):
        raise InvalidPredictions(
            f"numbers must have no separators of thousands; {min(commas)!r} may mean {min(commas).replace(',', '')} or "
            f"{min(commas).replace(',', '.', 1)}: write it without the comma"
        )


def _mixture(texts: Iterable[str]) -> tuple[str, str] | None:
    """Two numbers of different notations: decimal commas and points, or with and without a percent sign."""
    commas, points = ([text for text in texts if mark in text] for mark in ",.")
    if commas and points:
        return min(commas), min(points)
    signs = [text for text in texts if "%" in text]
    plain = [text for text in texts if "%" not in text and text.strip("0.,")]
    return (min(signs), min(plain)) if signs and plain else None
