"""Which columns of numbers are the classes of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consilience.data.axes import some
from consilience.data.tables.numbers import Numbers, check_one_notation, numbers_in
from consilience.data.tables.runs import MOST, runs_of_probabilities
from consilience.data.tables.scales import as_probabilities, check_orientation
from consilience.data.tables.vocabulary import ITEM, MEMBER, UNNAMED, column_named, is_measure, role_of
from consilience.system.errors import InvalidPredictions, Say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consilience.data.tables.columns import Columns
    from consilience.data.tables.scales import Scale
    from consilience.data.tables.told import Told
    from consilience.system.arrays import FloatArray

NOT_FOUND = object()


def item_of_probabilities(columns: Columns) -> Any:
    """The column of items (None if there is none) of a table whose other columns sum to 1 in each row.

    Those columns are classes, whatever their names: a class may be called `image`, `user` or `model`.
    """
    texts = [name for name in columns if isinstance(name, str)]
    usual = column_named(texts, None, (*ITEM, *UNNAMED))
    named = [name for name in texts if role_of(name) == "item"]
    for item in dict.fromkeys((usual, *named, None)):
        if item is not None and columns[item].repeats:
            continue  # a long table, whose members may be called 0
        others = [columns[name] for name in columns if name != item]
        numbers = numbers_in(others) if len(others) > 1 else None
        if numbers is not None and numbers.are_probabilities():
            return item
    return NOT_FOUND


def answers_of_probabilities(columns: Columns, told: Told) -> tuple[str, str] | None:
    """The columns of items and members of a long table whose other columns sum to 1 in each row; None if it is none.

    Those are classes, whatever they are called.
    """
    texts = [name for name in columns.flat if isinstance(name, str)]
    item = told.item if told.item in columns else column_named(texts, None, ITEM)
    member = told.member if told.member in columns else column_named(texts, None, MEMBER)
    others = [columns[name] for name in columns.flat if name not in (item, member)]
    if item is None or member is None or len(others) < 2:
        return None
    numbers = numbers_in(others)
    return (item, member) if numbers is not None and numbers.are_probabilities() else None


def class_columns(columns: Columns, names: Sequence[Any]) -> list[Any]:
    """The columns of numbers that are classes: all, or those whose names say nothing else, whichever sum to 1."""
    numeric = [name for name in names if columns[name].numbers is not None]
    if (found := run_of_probabilities(columns, numeric)) is not None:
        return found
    others = [name for name in numeric if role_of(str(name)) is None or _is_item_of_numbers(columns, name)]
    return others if 1 < len(others) < len(numeric) else numeric


def wanted_classes(columns: Columns, names: Sequence[Any]) -> list[Any]:
    """The same; raises if there are none."""
    found = class_columns(columns, names)
    if len(found) < 2:
        raise InvalidPredictions(
            f"a table needs a column of labels, or one of numbers for each class; it has {some(list(columns))}: name "
            "it with ",
            Say("label"),
            " or ",
            Say("classes"),
            *((", or ", Say("positive", "NAME"), " if its numbers are the probability of one class") if found else ()),
        )
    return found


def have_classes(columns: Columns, names: Sequence[Any]) -> Numbers | None:
    """The numbers of columns of which most rows sum to 1, None if there are none."""
    numbers = numbers_in([columns[name] for name in names]) if len(names) > 1 else None
    return numbers if numbers is not None and numbers.are_classes(MOST) else None


def classes_of_rows(columns: Columns, names: Sequence[Any], *, are_numbers: bool) -> list[Any] | None:
    """The classes of a table with one row per item; None if its columns hold labels."""
    own = [columns[name] for name in names]
    check_one_notation(own)
    numeric = [name for name in names if columns[name].numbers is not None]
    if (run := run_of_probabilities(columns, numeric)) is not None:
        return run
    numbers = numbers_in(own)
    if numbers is not None and (are_numbers or numbers.meaning() not in ("labels", "logits")):
        return list(names)
    classes = class_columns(columns, names)
    numbers = numbers_in([columns[name] for name in classes]) if len(classes) > 1 else None
    is_scale = numbers is not None and (numbers.are_probabilities() or numbers.meaning() in ("logits", "per cent"))
    return classes if is_scale else None


def _is_item_of_numbers(columns: Columns, name: Any) -> bool:
    """Whether a column has a name for items, such as `image`, but holds measurements: it may be a class."""
    return role_of(str(name)) == "item" and columns[name].are_measured


def run_of_probabilities(columns: Columns, names: Sequence[Any]) -> list[Any] | None:
    """The run of columns of which most rows sum to 1, such as those after a column of confidence; the longest."""
    plain = [name for name in names if not is_measure(str(name))]
    return _longest_run(columns, plain) or (_longest_run(columns, names) if len(plain) < len(names) else None)


def _longest_run(columns: Columns, names: Sequence[Any]) -> list[Any] | None:
    numbers = numbers_in([columns[name] for name in names]) if len(names) > 1 else None
    runs = [] if numbers is None else [list(names[run]) for run in runs_of_probabilities(numbers)]
    if len(runs) > 1:
        raise InvalidPredictions(
            f"columns that sum to 1 are classes; {some(runs[0])} do, and {some(runs[1])} do: name the classes with ",
            Say("classes"),
            ", or give each member a table of its own",
        )
    return runs[0] if runs else None


def numbers_of(columns: Columns, names: Sequence[Any]) -> Numbers:
    """The numbers of the columns of classes; raises if one holds others."""
    own = [columns[name] for name in names]
    check_one_notation(own)
    numbers = numbers_in(own)
    if numbers is None:
        bad = next(name for name in names if columns[name].numbers is None)
        held = next((value for value in columns[bad].given if not isinstance(value, int | float)), "others")
        raise InvalidPredictions(
            f"column {bad!r} must hold probabilities, numbers for each item; it holds {str(held)[:40]!r}"
        )
    return numbers


def as_shares(numbers: Numbers, names: Sequence[Any], scale: Scale | None) -> tuple[FloatArray, str]:
    """Numbers as probabilities, and what was understood of how they are written."""
    rows, meaning = numbers.values, scale or numbers.meaning()
    words = ", with decimal commas" if numbers.has_comma else ""
    if meaning == "counts" and scale != "counts":
        raise InvalidPredictions(
            f"numbers must be probabilities or labels; all rows sum to {rows[0].sum():g}, so they may be counts of "
            "votes: say ",
            Say("normalize"),
            " to divide them by their sum",
        )
    if meaning == "unclear":
        raise InvalidPredictions(
            "rows of 0 with one 1 may be labels by several members or one member's probabilities; "
            f"got {len(rows)} such rows: add :labels or :probabilities to the file's name, or a point to each number "
            "(1.0) if they are probabilities"
        )
    if scale is None and numbers.share_of_probabilities() < MOST and numbers.are_independent():
        raise independent(names)
    if meaning == "logits" and scale is None:
        check_orientation(*rows.shape)
    rows = as_probabilities(rows, meaning if meaning in ("logits", "per cent", "counts") else None)
    kind = meaning if meaning in ("logits", "counts") else "probabilities"
    return rows, f"{kind}{', in per cent' if meaning == 'per cent' else ''}{words}"


def independent(names: Sequence[Any]) -> InvalidPredictions:
    """Numbers are the probabilities of several labels, which do not exclude each other."""
    offers: list[str | Say] = []
    for place, name in enumerate(names[:6]):
        offers += [" or " if place else "", Say("positive", str(name))]
    return InvalidPredictions(
        f"probabilities must sum to 1 over classes; those of {some(list(names))} are from 0 to 1 and do not, so they "
        "may be several independent labels, which are several panels: read one, with ",
        *offers,
    )
