"""The class shares of `--class-shares`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from consilience.aggregators.consensus.class_shares import EVEN, read_shares
from consilience.cli import screen
from consilience.data.labels import NamedLabels
from consilience.data.names import UNKNOWN, is_missing, text_of
from consilience.files import read_labels, split_source
from consilience.files.contents import ARRAY_FORMATS, TABLE_FORMATS, read_contents
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from consilience.data.tables.told import Told

FORM = (
    "--class-shares must be even; like cat=.2,dog=.8 or, as counted, cat=20,dog=80; like .2,.8 in the order of the "
    "classes; or a file of labels, or of a column class and a column count or share"
)

NUMBERS = frozenset(["count", "counts", "n", "number", "share", "shares", "proportion", "frequency"])
"""Usual names of the column of numbers in a table of classes; pandas' `value_counts` calls it count or proportion."""


def shares_of(text: str | None, told: Told, classes: list[Any] | None, *, quiet: bool = False) -> Any:
    """What `Consensus(class_shares=...)` takes; None where none are given.

    Unless `quiet`, print to standard error how they were understood, as far as the classes are known yet.
    """
    given = None if text is None else _read(text, told, quiet=quiet)
    if classes is None:
        return given
    stated = read_shares(given, classes)
    if stated is not None and not quiet:
        screen.print_found([stated.in_words(classes)], [None])
    return given


def _read(text: str, told: Told, *, quiet: bool) -> Any:
    if text == EVEN:
        return text
    if split_source(text)[0].suffix.lower() in ARRAY_FORMATS | TABLE_FORMATS:
        return _of_file(text, told, quiet=quiet)
    pairs = [part.rpartition("=")[::2] for part in text.split(",")]
    names, numbers = [name.strip() for name, _ in pairs], _floats((number for _, number in pairs), text)
    return _by_name(names, numbers, text) if any(names) else numbers


def _of_file(source: str, told: Told, *, quiet: bool) -> Counter[str]:
    """A table of classes and their numbers, or labels, which are counted."""
    contents = read_contents(source)
    numbers = [name for name in contents.table or () if name.strip().lower() in NUMBERS]
    if contents.table is not None and len(contents.table) == 2 and len(numbers) == 1:
        (column,) = set(contents.table) - {*numbers}
        names, cells = (contents.table[name].rows() for name in (column, *numbers))
        found = f"{source}: {contents.format}, {len(names)} classes in {column!r}, their {numbers[0]}"
        given: Counter[str] = Counter(_by_name([str(name) for name in names], _floats(cells, source), source))
    else:
        labels, found, _ = read_labels(source, told=told, are_optional=True)
        listed = labels.labels if isinstance(labels, NamedLabels) else labels
        texts = (text_of(label) for label in listed if not is_missing(label))
        given = Counter(text for text in texts if text not in ("", "-1", *UNKNOWN))
    if not quiet:
        screen.print_found([found], [None])
    return given


def _by_name(names: list[str], numbers: list[float], source: str) -> dict[str, float]:
    given = dict(zip(names, numbers, strict=True))
    if len(given) < len(names):
        raise InvalidPredictions(f"--class-shares must name each class once; got {source!r}")
    return given


def _floats(numbers: Iterable[Any], source: str) -> list[float]:
    try:
        return [float(number) for number in numbers]
    except (TypeError, ValueError):
        raise InvalidPredictions(f"{FORM}; got {source!r}") from None
