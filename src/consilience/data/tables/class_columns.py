"""Which columns of numbers are the classes of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consilience.data.axes import some
from consilience.data.tables.numbers import Numbers, check_one_notation, numbers_in
from consilience.data.tables.refusal import MOST_LISTED, names_of
from consilience.data.tables.runs import MOST, runs_of_probabilities
from consilience.data.tables.scales import as_probabilities, check_orientation
from consilience.data.tables.vocabulary import ITEM, MEMBER, UNNAMED
from consilience.system.errors import InvalidPredictions, Say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consilience.data.tables.columns import Column, Columns
    from consilience.data.tables.scales import Scale
    from consilience.data.tables.told import Told
    from consilience.system.arrays import FloatArray


def _sum_to_one(columns: Sequence[Column]) -> bool:
    numbers = numbers_in(columns, least=2)
    return numbers is not None and numbers.are_probabilities()


def rows_of_probabilities(columns: Columns) -> tuple[Column | None, list[Column]] | None:
    """The column of items, if there is one, and the other columns, if these sum to 1 in each row; else None.

    Those columns are classes, whatever their names: a class may be called `image`, `user` or `model`.
    """
    named = [column for column in columns.flat if column.role == "item"]
    for item in dict.fromkeys((columns.usual((*ITEM, *UNNAMED)), *named, None)):
        others = [column for column in columns.all if column is not item]
        is_long = item is not None and item.repeats  # a long table, whose members may be called 0
        if not is_long and _sum_to_one(others):
            return item, others
    return None


def answers_of_probabilities(columns: Columns, told: Told) -> tuple[Column, Column] | None:
    """The columns of items and members of a long table whose other columns sum to 1 in each row; None if it is none.

    Those are classes, whatever they are called.
    """
    item, member = (
        columns[name] if name in columns else columns.usual(usual)
        for name, usual in ((told.item, ITEM), (told.member, MEMBER))
    )
    others = [column for column in columns.flat if column not in (item, member)]
    return None if item is None or member is None or not _sum_to_one(others) else (item, member)


def class_columns(columns: Sequence[Column]) -> list[Column]:
    """The columns of numbers that are classes: all, or those whose names say nothing else, whichever sum to 1."""
    numeric = [column for column in columns if column.numbers is not None]
    if (found := run_of_probabilities(numeric)) is not None:
        return found
    # A column with a name for items, such as `image`, that holds measurements may be a class.
    others = [own for own in numeric if own.role is None or (own.role == "item" and own.are_measured)]
    return others if 1 < len(others) < len(numeric) else numeric


def wanted_classes(columns: Columns, names: Sequence[Column]) -> list[Column]:
    """The same; raises if there are none."""
    found = class_columns(names)
    if len(found) < 2:
        offer = f", or {Say('positive', 'NAME')} if its numbers are the probability of one class" if found else ""
        raise InvalidPredictions(
            f"a table needs a column of labels, or one of numbers for each class; it has {some(list(columns))}: name "
            f"it with {Say('label')} or {Say('classes')}{offer}"
        )
    return found


def numbers_of_classes(columns: Sequence[Column]) -> Numbers | None:
    """The numbers of columns of which most rows sum to 1, None if there are none."""
    numbers = numbers_in(columns, least=2)
    return numbers if numbers is not None and numbers.are_classes(MOST) else None


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
    return _longest_run(plain) or (_longest_run(columns) if len(plain) < len(columns) else None)


def _longest_run(columns: Sequence[Column]) -> list[Column] | None:
    numbers = numbers_in(columns, least=2)
    runs = [] if numbers is None else [list(columns[run]) for run in runs_of_probabilities(numbers)]
    if len(runs) > 1:
        one, other = (some(names_of(run)) for run in runs[:2])
        raise InvalidPredictions(
            f"columns that sum to 1 are classes; {one} do, and {other} do: name the classes with {Say('classes')}, or "
            "give each member a table of its own"
        )
    return runs[0] if runs else None


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
    commas = ", with decimal commas" if numbers.has_comma else ""
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
            "such rows: add :labels or :probabilities to the file's name, or a point to each number (1.0) if they are "
            "probabilities"
        )
    if numbers.share_of_probabilities() < MOST and numbers.are_independent():
        names = names_of(columns)
        raise InvalidPredictions(
            f"probabilities must sum to 1 over classes; those of {some(names)} are from 0 to 1 and do not, so they may "
            "be several independent labels, which are several panels: read one, with "
            f"{' or '.join(str(Say('positive', str(name))) for name in names[:MOST_LISTED])}"
        )
    if meaning == "logits":
        check_orientation(*rows.shape)
