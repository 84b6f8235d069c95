"""Columns of numbers side by side: how they are written, what they may mean, and which of them are classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from consilience.data.axes import some
from consilience.data.tables.columns import FEW, Column, Notation, has_fractions
from consilience.data.tables.told import MOST_LISTED, names_of, say_columns
from consilience.data.validation import MOST_ROUNDING, ROUNDING, SUM_TOLERANCE, are_probabilities, normalized, softmax
from consilience.system.arrays import FloatArray
from consilience.system.errors import InvalidPredictions, Say

Scale: TypeAlias = Literal["probabilities", "per cent", "logits", "counts", "labels"]

SCALES: dict[str, Scale] = {scale.replace(" ", ""): scale for scale in get_args(Scale)}
"""The words by which a user says the scale of a file, as in `vit.npy:logits`."""

MOST_ROUNDED = 2.0
"""Per cent may sum to 100 within this, since they are rounded."""

MOST_ROWS, MOST = 10_000, 0.5
"""The scale is recognised from about so many rows, evenly spaced. If at least this share of them are probabilities, all
rows are meant to be; if more than this share have a negative number, all rows are logits."""


def scale_of(matrix: Any) -> Scale | None:
    """The scale of rows (items, classes); None if they are on none: the check of probabilities then says what is wrong.

    Negative numbers in most rows are logits or log-probabilities: nothing else that a classifier gives is negative.

    >>> [scale_of(np.array([row])) for row in ([0.2, 0.8], [20.0, 80.0], [-1.5, 2.0], [3.0, 4.0], [0.9, 0.9])]
    ['probabilities', 'per cent', 'logits', 'counts', None]
    """
    with np.errstate(all="ignore"):  # extended precision may overflow; wrong values are refused later
        rows = np.asarray(matrix[:: max(1, len(matrix) // MOST_ROWS)])
        rows = rows if rows.dtype == np.float16 else rows.astype(np.float64)
        rows = rows[~np.isnan(rows).all(axis=1)]
        if not rows.size:
            return None
        if are_probabilities(rows).mean() >= MOST:
            return "probabilities"
        wide = rows.astype(np.float64)
        sums, least = wide.sum(axis=1), wide.min(axis=1)
        if (least >= 0).all():
            slack = min(MOST_ROUNDED, rows.shape[1] / 2)
            are_whole = bool((wide % 1 == 0).all())
            return "per cent" if (np.abs(sums - 100) <= slack).all() else "counts" if are_whole else None
        return "logits" if (least < 0).mean() > MOST else None


def named_scale(name: str) -> Scale | None:
    """The scale that the name of an array or column tells, such as `test_logits`."""
    plain = name.lower()
    return "logits" if "logit" in plain or "logprob" in plain else "probabilities" if "prob" in plain else None


def scale_in(array: Any, name: str, told: Scale | None) -> Scale | None:
    """What the numbers of an array (…, items, classes) are: as the user says, as its name says, or as they look."""
    said = told or named_scale(name)
    if said is not None or not array.size:
        return said
    found = scale_of(array.reshape(-1, array.shape[-1]))
    if found == "logits":
        check_orientation(*array.shape[-2:])
    return found


def as_probabilities(matrix: Any, scale: Scale | None, member: int = 0) -> Any:
    """Rows (items, classes) on a scale as probabilities; rows on none are left as they are."""
    if scale == "logits":
        return softmax(matrix if matrix.dtype.kind == "f" else matrix.astype(np.float64), member)
    if scale == "counts":
        return normalized(np.asarray(matrix, dtype=np.float64))
    if scale != "per cent":
        return matrix
    rows = np.asarray(matrix, dtype=np.float64)
    sums = rows.sum(axis=1, keepdims=True)
    # Rows that miss 100 by rounding are rescaled; others stay wrong, to be refused.
    return rows / np.where(np.abs(sums - 100) <= MOST_ROUNDED, sums, 100)


def check_orientation(n_items: int, n_classes: int) -> None:
    """Raise if recognised logits have more classes than items: nothing in them tells which axis holds the classes."""
    if n_classes > n_items:
        raise InvalidPredictions(
            f"these may be logits of {n_classes:,} classes on {n_items:,} items, or the wrong way round: add :logits "
            "to the file's name if each row is an item"
        )


ENOUGH_ROWS, LABELS_REPEAT = 10, 2
"""Whole numbers are not labels if at least the first number of rows all have the same sum. Fractions may be labels if
each occurs at least as often as the second number, on average, and there are at most `FEW` different ones."""

Meaning: TypeAlias = Scale | Literal["unclear"]


class Numbers(NamedTuple):
    """Columns of numbers side by side, and how they are written."""

    values: FloatArray  # (rows, columns), NaN where missing
    notation: Notation = Notation()

    @property
    def given(self) -> FloatArray:
        """The rows that are not missing."""
        is_missing = np.isnan(self.values).all(axis=1)
        return self.values[~is_missing] if is_missing.any() else self.values

    def meaning(self) -> Meaning:
        """What such a table holds: one member's probabilities of classes, or labels by several members."""
        rows = self.given
        if not len(rows):
            return "labels"
        with np.errstate(over="ignore", invalid="ignore"):
            sums = rows.sum(axis=1)
        slack = min(MOST_ROUNDED, rows.shape[1] / 2)
        if self.notation.percent or ((np.abs(sums - 100) <= slack).all() and rows.min() >= 0):
            return "per cent"
        if not self.has_fractions():
            return self._of_whole_numbers(rows, sums)
        is_share = np.nanmin(rows) >= 0 and np.nanmax(rows) <= 1
        if not is_share and len(np.unique(rows[~np.isnan(rows)])) <= min(FEW, np.isfinite(rows).sum() / LABELS_REPEAT):
            return "labels"
        return "logits" if scale_of(rows) == "logits" else "probabilities"

    def _of_whole_numbers(self, rows: FloatArray, sums: FloatArray) -> Meaning:
        if (sums != sums[0]).any() or rows.min() < 0:
            return "labels"
        is_clear = len(rows) >= ENOUGH_ROWS and bool((rows != rows[0]).any())
        if sums[0] == 1:
            return "probabilities" if self.notation.all_points or is_clear else "unclear"
        return "counts" if is_clear else "labels"

    def are_probabilities(self) -> bool:
        """Whether rows sum to 1. If all numbers are whole they may be labels, and do not count."""
        return self.has_fractions() and self.share_of_probabilities() == 1

    def may_be_labels(self) -> bool:
        """Whether all numbers are whole, and not all are written with a point."""
        return not self.notation.all_points and not self.has_fractions()

    def are_independent(self) -> bool:
        """Whether these are shares whose sums differ from row to row, as those of several labels do."""
        rows = self.given
        if not self.has_fractions() or not len(rows) or not ((rows >= 0) & (rows <= 1)).all():
            return False
        sums = rows.sum(axis=1)
        return bool(np.ptp(sums) > 0.1 * max(1.0, float(np.median(sums))))

    def has_fractions(self) -> bool:
        """Whether some number is not whole."""
        return has_fractions(self.values)

    def share_of_probabilities(self) -> float:
        """Which share of the rows that are not missing are probabilities; 0 if all are missing."""
        rows = self.given
        return float(are_probabilities(rows).mean()) if len(rows) else 0.0


def numbers_in(columns: Sequence[Column], *, least: int = 1) -> Numbers | None:
    """Columns as numbers; None if some cell is none, if they are written in several ways, or if they are too few."""
    found = [column.numbers for column in columns if column.numbers is not None]
    if len(columns) < least or len(found) < len(columns):
        return None
    notation = Notation.of(column.notation for column in columns)
    return Numbers(np.stack(found, axis=1), notation) if notation.mixture is None else None


def check_one_notation(columns: Sequence[Column]) -> None:
    """Raise if all cells are numbers, but of several notations."""
    if not columns or any(column.numbers is None for column in columns):
        return
    notation = Notation.of(column.notation for column in columns)
    if (first := notation.comma) is not None and notation.thousands:
        raise InvalidPredictions(
            f"numbers must have no separators of thousands; {first!r} may mean {first.replace(',', '')} or "
            f"{first.replace(',', '.', 1)}: write it without the comma"
        )
    if (found := notation.mixture) is not None:
        raise InvalidPredictions(f"numbers must all be written in one way; got {found[0]!r} and {found[1]!r}")


# ---- which columns are classes --------------------------------------------------------------------------------

MOST_SAMPLED, FEWEST_SAMPLED, MOST_SUMS = 100_000, 50, 100_000_000
"""Columns are classes if the share MOST of their rows sum to 1. At most so many cells are looked at, but at least so
many rows, and at most so many sums are made of them."""


class _Run(NamedTuple):
    """Columns of which most rows sum to 1. The largest is the best."""

    share: float  # of rows
    size: int
    start: int


def runs_of_probabilities(numbers: Numbers) -> list[_Run]:
    """The run of columns in which the most rows sum to 1, the longest of several, then those that may be meant as well.

    These are runs of the same length that are as good, and runs without a column of the first. Whole numbers may be
    labels, and do not count.
    """
    if numbers.may_be_labels():
        return []
    if numbers.share_of_probabilities() == 1:
        return [_Run(1.0, numbers.values.shape[1], 0)]
    runs = _runs(numbers)
    if not runs:
        return []
    best = max(runs, key=lambda run: (run.share, run.size, -run.start))
    alike = [run for run in runs if run[:2] == best[:2] and run != best]
    apart = [run for run in runs if run.start >= best.start + best.size or run.start + run.size <= best.start]
    return [best, *alike, *sorted(apart, reverse=True)]


def _runs(numbers: Numbers) -> list[_Run]:
    """All runs of which most rows sum to 1. Ends where most rows may do so are looked at."""
    n_columns = numbers.values.shape[1]
    n_rows = max(FEWEST_SAMPLED, MOST_SAMPLED // n_columns)
    values = numbers.values[:: max(1, len(numbers.values) // n_rows)]
    with np.errstate(invalid="ignore"):  # of infinite numbers
        is_fraction = np.asarray((values % 1 > 0).any(axis=0) | numbers.notation.all_points)
    # No row sums to 1 with a number that is no probability, which counts as 2.
    cells = np.where((values >= 0) & (values <= 2), values, 2.0)
    # Before each column: the sum of each row (columns + 1, rows), how many numbers, and how many columns of fractions.
    parts = (cells.T, ~np.isnan(values).T, is_fraction)
    sums, n_given, n_fractions = (np.cumsum(np.concatenate([part[:1] * 0, part]), axis=0) for part in parts)
    tolerances = (ROUNDING * np.arange(n_columns + 1)).clip(SUM_TOLERANCE, MOST_ROUNDING)  # of so many classes
    slack, runs, n_sums = tolerances[-1], list[_Run](), 0
    low = np.array([np.searchsorted(own, own[:-1] + 1 - slack, "left") for own in sums.T])
    high = np.array([np.searchsorted(own, own[:-1] + 1 + slack, "right") for own in sums.T])
    for start in range(n_columns - 1):
        is_given = ~np.isnan(values[:, start])
        begin, end = (np.bincount(own[is_given, start], minlength=n_columns + 2) for own in (low, high))
        stops = np.flatnonzero(np.cumsum(begin - end)[: n_columns + 1] > MOST * is_given.sum())
        stops = stops[(stops > start + 1) & (n_fractions[stops] > n_fractions[start])]
        is_one = np.abs(sums[stops] - sums[start] - 1) <= tolerances[stops - start, None]
        shares = is_one.sum(axis=1) / (n_given[stops] > n_given[start]).sum(axis=1)
        runs += [_Run(own, n, start) for own, n in zip(shares.tolist(), (stops - start).tolist(), strict=True)]
        if (n_sums := n_sums + is_one.size) > MOST_SUMS:
            raise InvalidPredictions(
                f"{n_columns:,} columns of numbers are too many to find out which of them are classes: name the "
                f"classes with {Say('classes')}, or add :labels to the file's name if the numbers are labels"
            )
    return [run for run in runs if run.share > MOST]


def sum_to_one(columns: Sequence[Column]) -> bool:
    """Whether columns are numbers, not all whole, that sum to 1 in every row."""
    numbers = numbers_in(columns, least=2)
    return numbers is not None and numbers.are_probabilities()


def class_columns(columns: Sequence[Column]) -> list[Column]:
    """The columns of numbers that are classes: all, or those whose names say nothing else, whichever sum to 1."""
    numeric = [column for column in columns if column.numbers is not None]
    if (found := run_of_probabilities(numeric)) is not None:
        return found
    # A column with a name for items, such as `image`, that holds measurements may be a class.
    others = [own for own in numeric if own.role is None or (own.role == "item" and own.are_measured)]
    return others if 1 < len(others) < len(numeric) else numeric


def numbers_of_classes(columns: Sequence[Column]) -> Numbers | None:
    """The numbers of columns of which most rows sum to 1, or all to 100; None if they do not."""
    numbers = numbers_in(columns, least=2)
    if numbers is None:
        return None
    is_share = not numbers.may_be_labels() and numbers.share_of_probabilities() >= MOST
    return numbers if is_share or numbers.meaning() == "per cent" else None


def classes_of_rows(columns: Sequence[Column], *, are_numbers: bool) -> list[Column] | None:
    """The classes of a table with one row per item; None if its columns hold labels."""
    check_one_notation(columns)
    if (run := run_of_probabilities([column for column in columns if column.numbers is not None])) is not None:
        return run
    numbers = numbers_in(columns)
    if numbers is not None and (are_numbers or numbers.meaning() not in ("labels", "logits")):
        return list(columns)
    classes = class_columns(columns)
    numbers = numbers_in(classes, least=2)
    is_scale = numbers is not None and (numbers.are_probabilities() or numbers.meaning() in ("logits", "per cent"))
    return classes if is_scale else None


def run_of_probabilities(columns: Sequence[Column]) -> list[Column] | None:
    """The run of columns of which most rows sum to 1, such as those after a column of confidence; the longest."""
    plain = [column for column in columns if not column.is_measure]
    for part in (plain, columns) if len(plain) < len(columns) else (plain,):
        numbers = numbers_in(part, least=2)
        found = [] if numbers is None else runs_of_probabilities(numbers)
        runs = [list(part[run.start : run.start + run.size]) for run in found]
        if len(runs) > 1:
            one, other = (some(names_of(run)) for run in runs[:2])
            raise InvalidPredictions(
                f"columns that sum to 1 are classes; {one} do, and {other} do: name the classes with {Say('classes')}, "
                "or give each member a table of its own"
            )
        if runs:
            return runs[0]
    return None


def numbers_of(columns: Sequence[Column]) -> Numbers:
    """The numbers of the columns of classes; raises if one holds others."""
    check_one_notation(columns)
    numbers = numbers_in(columns)
    if numbers is None:
        bad = next(column for column in columns if column.numbers is None)
        held = next((value for value in bad.given if not isinstance(value, int | float)), "others")
        raise InvalidPredictions(
            f"column {bad.name!r} must hold probabilities, numbers for each item; it holds {str(held)[:40]!r}"
        )
    return numbers


def as_shares(numbers: Numbers, columns: Sequence[Column], scale: Scale | None) -> tuple[FloatArray, str]:
    """Numbers as probabilities, and what was understood of how they are written."""
    rows, meaning = numbers.values, scale or numbers.meaning()
    if scale is None:
        _check_clear(numbers, meaning, columns)
    rows = as_probabilities(rows, meaning if meaning in ("logits", "per cent", "counts") else None)
    kind = meaning if meaning in ("logits", "counts") else "probabilities"
    commas = ", with decimal commas" if numbers.notation.comma else ""
    return rows, f"{kind}{', in per cent' if meaning == 'per cent' else ''}{commas}"


def _check_clear(numbers: Numbers, meaning: str, columns: Sequence[Column]) -> None:
    """Raise if numbers may be something else than the probabilities of classes, and nobody says what they are."""
    rows = numbers.values
    if meaning == "counts":
        raise InvalidPredictions(
            f"numbers must be probabilities or labels; all rows sum to {rows[0].sum():g}, so they may be counts of "
            f"votes: say {Say('normalize')} to divide them by their sum"
        )
    if meaning == "unclear":
        raise InvalidPredictions(
            f"rows of 0 with one 1 may be labels by several members or one member's probabilities; got {len(rows)} "
            "such rows: add :labels or :probabilities to the file's name, or points to probabilities (1.0)"
        )
    if numbers.share_of_probabilities() < MOST and numbers.are_independent():
        names = names_of(columns)
        raise InvalidPredictions(
            f"probabilities must sum to 1 over classes; those of {some(names)} are from 0 to 1 and do not, so they may "
            "be several independent labels, which are several panels: read one, with "
            f"{' or '.join(str(Say('positive', str(name))) for name in names[:MOST_LISTED])}; or what several members "
            f"say of one class: say {say_columns('member', columns)} and {Say('positive', 'NAME')}"
        )
    if meaning == "logits":
        check_orientation(*rows.shape)
