"""What a name is: the one reading of items, members and classes in arguments, frames and files.

- A name is its text. The integer 1, NumPy's 1 and the text "1" are one name, wherever each comes from.
- 1.0 and "1.0" are the name 1 too: libraries turn whole numbers into floats where some are missing.
- Nothing else is converted: "1.1" and "1.10" are two names, and so are "7" and "007".
- None, NaN and NA name nothing.
- Numbers are names, never positions, wherever the axis has names. Without names, places are called 0, 1, 2, …
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from consilience.system.errors import InvalidPredictions, Say

UNKNOWN = frozenset({"NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL"})
"""What stands for a missing answer or an unknown label in a table, unless a class is called so."""

FLOAT_OF_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)\.0")
WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")
NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,3})?")
WRITTEN_NUMBER = re.compile(r"[-+]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][-+]?[0-9]{1,3})?( ?%)?")
"""A number as tables write it: also with a decimal comma or a percent sign."""

MOST_OFFERED = 24
"""How many classes a message lists, to be copied."""

UNWRITABLE = re.compile("[\x00\ud800-\udfff]")


def text_of(name: Any) -> str:
    """The text that a name is told by.

    >>> text_of(1), text_of("1"), text_of(1.0), text_of("1.0"), text_of("1.10"), text_of(b"cat")
    ('1', '1', '1', '1', '1.10', 'cat')
    """
    if isinstance(name, bytes):
        return name.decode(errors="backslashreplace")
    text = name if type(name) is str else str(name)
    return text[:-2] if text.endswith(".0") and FLOAT_OF_WHOLE.fullmatch(text) else text


def cut(text: str, most: int) -> str:
    """Text of at most so many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def as_written(value: Any) -> str:
    """A value of a file as a name: a number becomes its text; text stays, so that two spellings of a name are noticed.

    >>> as_written(1.0), as_written("1.0")
    ('1', '1.0')
    """
    return value if isinstance(value, str) else text_of(value)


def texts_of(names: list[Any]) -> list[str]:
    """The texts that names are told by; the names themselves where these are texts already."""
    kinds = set(map(type, names))
    if kinds <= {int}:
        return list(map(str, names))
    is_plain = kinds <= {str} and not any(name[-2:] == ".0" for name in names)
    return names if is_plain else [text_of(name) for name in names]


def of_one_kind(names: Sequence[Any], kinds: set[type]) -> list[Any]:
    """Names for a column of one type: as they are if all are of one of these kinds, else their texts."""
    found = set(map(type, names))
    return list(names) if len(found) == 1 and found <= kinds else list(map(text_of, names))


def is_whole(name: Any) -> bool:
    """Whether a name reads as a whole number."""
    return WHOLE.fullmatch(text_of(name)) is not None


def is_missing(value: Any) -> bool:
    """Whether a value of a frame or a list is None, NaN or pandas' NA."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124 - NaN is what differs from itself
    except (TypeError, ValueError):
        return True  # NA refuses to be compared


def is_unknown(label: Any) -> bool:
    """Whether a label says that the truth is not known, unless a class is called so."""
    return is_missing(label) or text_of(label) in ("", "-1", *UNKNOWN)


def sorted_names(names: Iterable[Any]) -> list[Any]:
    """Each name once, numbers in front by size, the others by their text; all as text where their kinds differ.

    The place of two names to each other does not depend on which others there are.

    >>> sorted_names(["b", "10", "9", "1.10", "1.1"]), sorted_names([2, 1, 2.0]), sorted_names([1, "3+"])
    (['1.1', '1.10', '9', '10', 'b'], [1, 2], ['1', '3+'])
    """
    by_text: dict[str, Any] = {}
    for name in sorted(names, key=lambda name: len(str(name))):  # of "1" and "1.0" the shorter
        by_text.setdefault(text_of(name), name)
    values = {text: int(text) if isinstance(name, float) and is_whole(text) else name for text, name in by_text.items()}
    is_uniform = len({type(value) for value in values.values()}) < 2
    return [values[text] if is_uniform else text for text in sorted(values, key=_order)]


def in_order_of_appearance(names: Iterable[Any]) -> list[Any]:
    """Each name once, as they first appear, which may be the order of time; the numbers 0, 1, 2, … without gaps sorted.

    Names that count places say themselves where they stand, and a list of truths without names lines up with them.

    >>> in_order_of_appearance(["q9", "q10", "q9"]), in_order_of_appearance([2, 0, 1, 2.0])
    (['q9', 'q10'], [0, 1, 2])
    """
    appeared = list(names)
    chosen = dict(zip(texts_of(appeared), appeared, strict=True))
    kinds = set(map(type, appeared))
    if len(chosen) < len(appeared) or kinds - {str, int}:
        one_of_each = {text_of(name): name for name in sorted_names(appeared)}  # one spelling, and one kind
        chosen = {text: one_of_each[text] for text in chosen}
    elif len(kinds) > 1:
        chosen = {text: text for text in chosen}
    if "0" not in chosen:
        return list(chosen.values())
    counted = [str(place) for place in range(len(chosen))]
    return [chosen[text] for text in (counted if chosen.keys() == set(counted) else chosen)]


def nearly_same(names: Iterable[Any]) -> list[list[Any]]:
    """Groups of names that differ only in case, in spaces around them, or in zeros before a number.

    >>> nearly_same(["Pass", "fail", "pass", "pass ", 7, "007"])
    [['Pass', 'pass', 'pass '], [7, '007']]
    """
    groups: dict[str, list[Any]] = {}
    for name in names:
        plain = text_of(name).strip().casefold()
        groups.setdefault(plain.lstrip("0") or "0" if plain.isdigit() else plain, []).append(name)
    return [group for group in groups.values() if len(group) > 1]


FULL_WIDTH = {place: place - 0xFEE0 for place in range(0xFF01, 0xFF5F)}


def look_alike(texts: Iterable[str]) -> tuple[str, str] | None:
    """Two texts that nobody can tell apart by eye; None if there are none.

    They are written in composed or decomposed characters, with characters of no width, or in full width.

    >>> look_alike(["caf\u00e9", "tea", "cafe\u0301"]) == ("caf\u00e9", "cafe\u0301"), look_alike(["a", "b"])
    (True, None)
    """
    given = list(texts)
    if "".join(given).isascii():
        return None
    seen: dict[str, str] = {}
    for text in given:
        plain = text
        if not text.isascii():
            composed = unicodedata.normalize("NFC", text.translate(FULL_WIDTH))
            plain = "".join(character for character in composed if unicodedata.category(character) != "Cf")
        if seen.setdefault(plain, text) != text:
            return seen[plain], text
    return None


def unwritable(names: Iterable[Any]) -> str | None:
    """The first name that files cannot hold: one with a byte of 0, or with half of a character; None if all can be."""
    texts = list(map(text_of, names))
    is_found = UNWRITABLE.search("\n".join(texts)) is not None  # one search is faster than one for each name
    return next(text for text in texts if UNWRITABLE.search(text)) if is_found else None


def check_spellings(names: Iterable[Any], column: Any) -> None:
    """Raise if one column spells a name in two ways: somebody who writes both "2" and "2.0" may mean two names."""
    given = list(names)
    written = [name for name in given if isinstance(name, str)] if set(map(type, given)) - {int} else []
    texts = texts_of(written)
    if texts is written:
        return
    spelled: dict[str, str] = {}
    for text, name in zip(texts, written, strict=True):
        if spelled.setdefault(text, name) != name:
            both = sorted([spelled[text], name])
            raise InvalidPredictions(
                f"column {column!r} must spell a name in one way; got {both[0][:60]!r} and {both[1][:60]!r}"
            )


def check_minus_one(names: Iterable[Any]) -> None:
    """Raise if -1 stands among other whole numbers that are labels: some programs write it where there is no answer."""
    texts = {text_of(name) for name in names}
    others = texts - {"-1"}
    if "-1" in texts and len(others) > 1 and all(WHOLE.fullmatch(text) and not text.startswith("-") for text in others):
        listed = sorted(others, key=_order)
        shown = ", ".join(listed[:8]) + (", …" if len(listed) > 8 else "")
        advice = f"name all classes with {Say('classes')}, with -1 among them if it is one"
        if len(listed) <= MOST_OFFERED:
            given, more = Say("classes", tuple(listed)), Say("classes", ("-1", *listed))
            advice = f"say {given} if it is none, {more} if it is one"
        raise InvalidPredictions(f"labels must say what -1 is; beside {shown} it may be no answer or a class: {advice}")


def _order(text: str) -> tuple[bool, float, str]:
    is_number = NUMBER.fullmatch(text) is not None
    return not is_number, float(text) if is_number else 0.0, text
