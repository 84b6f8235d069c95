"""What an aggregator declares that it learns, and the check of a file against that declaration.

A file may come from anybody, so only what a fit could have learned gets into an aggregator: declared attributes, of the
declared shapes, with the numbers that they can have. What the numbers of a record have to do with each other is said
where the record is defined, by its method `flaw`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, final

import numpy as np

from consilience.data.validation import sum_tolerance
from consilience.maths.em import Silence, Statistics
from consilience.system.arrays import is_array

TOO_LARGE = 1e50  # numbers must be smaller, so that sums and products do not overflow. NaN fails this comparison too
LEARNED_ROUNDING = 1e-6  # how far from 1 the sum of a row of learned probabilities may be

# The same of rows that came from the user, perhaps in half precision; of many rounded classes `sum_tolerance`.
COARSE = 0.01


@final
@dataclass(frozen=True, slots=True)
class Shape:
    """An array, by the letters of its axes.

    They are m members, i items, k classes, l labelled items, and g members, or 0 where they were too many to compare.
    """

    axes: str
    is_signed: bool = False
    is_positive: bool = False  # whether 0 is too small
    least: float = 0.0  # of numbers without a sign
    most: float = TOO_LARGE
    sums_to_one: float | None = None  # within how much, over the last axis
    may_miss: bool = False  # whether rows of NaN, or numbers that are, may stand where nothing was said
    dtypes: tuple[str, ...] = ("float64",)


@final
@dataclass(frozen=True, slots=True)
class Number:
    """A number, and the most that it may be."""

    most: float = TOO_LARGE
    is_signed: bool = False


@final
@dataclass(frozen=True, slots=True)
class Record:
    """A data class of arrays and numbers; None, or absent from a file, where it is optional."""

    kind: type[Any]
    fields: Mapping[str, str | Shape | Number]
    is_optional: bool = False
    may_be_silent: bool = False  # whether statistics may be of no answer, as those of votes are where nobody decides


# What is learned, by attribute. A text stands for the shape of an array without negative numbers.
Learned: TypeAlias = Mapping[str, str | Shape | Number | Record]

CLASS_PRIOR = Shape("k", sums_to_one=LEARNED_ROUNDING)
CONFUSION = Shape("mkk", sums_to_one=LEARNED_ROUNDING)
POSTERIOR = Shape("ik", sums_to_one=COARSE, dtypes=("float64", "float32", "float16"))
BY_MEMBER_FLAGS = Shape("m", dtypes=("bool",))


def _statistics(sums: Shape) -> Record:
    counts: dict[str, str | Shape | Number] = {"n_items": Number(), "class_counts": "k", "answer_counts": "mk"}
    return Record(Statistics, {**counts, "sums": sums, "log_evidence": Number(is_signed=True)})


# Statistics of probabilities and labels, and those of logarithms.
STATISTICS, LOG_STATISTICS = _statistics(Shape("mkk")), _statistics(Shape("mkk", is_signed=True))
# Statistics of votes: answers that find several classes equally probable are none.
VOTE_STATISTICS = replace(STATISTICS, may_be_silent=True)


SILENCE = Record(Silence, {"answering": Shape("mk", most=1), "usual": Shape("m", most=1)}, is_optional=True)

ITERATIONS: Learned = {"n_iter_": Number(), "converged_": Number(most=1)}
LEAST_NAMES = {"members_": 1, "items_": 0, "classes_": 2}  # the least number of each

ALWAYS = ("history_", *ITERATIONS, "members_", "classes_")
OPTIONAL = ("items_", "posterior_", "ordered_")


def nested(values: Mapping[str, Any], declared: Learned) -> dict[str, Any]:
    """The values of a file, with the fields of each record (dotted names) put together; None if it is not there."""
    result = {name: None for name, kind in declared.items() if isinstance(kind, Record) and kind.is_optional}
    result |= {key: value for key, value in values.items() if "." not in key}
    for name, record in declared.items():
        parts = {key.removeprefix(f"{name}."): value for key, value in values.items() if key.startswith(f"{name}.")}
        if parts and isinstance(record, Record):
            result[name] = record.kind(**{key: value[()] if is_array(value) else value for key, value in parts.items()})
    return result


def reason_to_refuse(aggregator: str, declared: Learned, learned: Mapping[str, Any]) -> str | None:
    """The reason why an aggregator cannot have learned these values; None where it can."""
    optional = {name for name, kind in declared.items() if isinstance(kind, Record) and kind.is_optional}
    learned = {name: value for name, value in learned.items() if name not in optional or value is not None}
    absent = optional - {name.split(".")[0] for name in learned}
    needed = _flat({name: kind for name, kind in {**declared, **ITERATIONS}.items() if name not in absent})
    kinds = {"posterior_": POSTERIOR, "ordered_": Number(most=1), **needed}
    if unknown := learned.keys() - {*kinds, *LEAST_NAMES, "history_"}:
        return f"{aggregator} does not learn {min(unknown)!r}"
    if missing := {*needed, *ALWAYS} - learned.keys():
        return f"it lacks {min(missing)!r}, which an earlier version did not keep; fit it again"
    return _wrong_names(learned) or _wrong_values(learned, kinds) or _wrong_records(learned, declared)


def _flat(declared: Learned) -> dict[str, Shape | Number]:
    """The arrays and the numbers, the fields of a record under dotted names."""
    flat: dict[str, str | Shape | Number] = {}
    for name, kind in declared.items():
        if isinstance(kind, Record):
            flat |= {f"{name}.{field}": value for field, value in kind.fields.items()}
        else:
            flat[name] = kind
    return {name: Shape(kind) if isinstance(kind, str) else kind for name, kind in flat.items()}


def _wrong_names(learned: Mapping[str, Any]) -> str | None:
    for name, least in LEAST_NAMES.items():
        values = learned.get(name, [] if name == "items_" else None)
        if not isinstance(values, list) or len(values) < least:
            return f"{name!r} is no list of names"
        if not all(isinstance(value, str | int | float | None) for value in values) or len({*values}) < len(values):
            return f"{name!r} are no distinct names"
    return None


def _wrong_values(learned: Mapping[str, Any], kinds: Mapping[str, Shape | Number]) -> str | None:
    history = learned["history_"]
    if not isinstance(history, list) or not all(_is_number(value) for value in history):
        return "'history_' is no list of numbers"
    sizes = {"m": len(learned["members_"]), "k": len(learned["classes_"])}
    if "items_" in learned:
        sizes["i"] = len(learned["items_"])
    for name, kind in kinds.items():
        if name not in learned:
            continue
        value = learned[name]
        if isinstance(kind, Number):
            if not _is_number(value) or value > kind.most or (value < 0 and not kind.is_signed):
                return f"{name!r} is no number that it can be, {value!r}"
        elif reason := _wrong_form(value, kind, sizes) or _wrong_numbers(value, kind):
            return f"{name!r} {reason}"
        elif kind.axes.startswith("l"):  # all others are of as many labelled items
            sizes["l"] = len(value)
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) < TOO_LARGE


def _wrong_form(array: Any, shape: Shape, sizes: Mapping[str, int]) -> str | None:
    if not is_array(array) or array.dtype.name not in shape.dtypes or not array.dtype.isnative:
        got = f"an array of {array.dtype}" if is_array(array) else type(array).__name__
        return f"must be an array of {' or '.join(shape.dtypes)}; got {got}"
    if array.ndim == len(shape.axes):
        known = {**sizes, "g": sizes["m"] if len(array) else 0}
        if all(known.get(letter, size) == size for letter, size in zip(shape.axes, array.shape, strict=True)):
            return None
    return f"has the shape {array.shape}, which its members and classes do not have"


def _wrong_numbers(array: Any, shape: Shape) -> str | None:
    """What no number of such an array can be; None where all can."""
    is_missing = np.isnan(array) if shape.may_miss else np.zeros(array.shape, dtype=bool)
    is_left = ~(is_missing.all(axis=-1) if array.ndim > 1 else is_missing)
    rows = array[is_left].astype(np.float64)  # in half precision, the largest number would be none
    wrong = {
        "is no array of finite numbers": ~(np.abs(rows) < TOO_LARGE),
        "has negative numbers": (rows < 0) & (not shape.is_signed),
        "has zeros": (rows == 0) & shape.is_positive,
        f"has numbers below {shape.least:g}": (rows < shape.least) & (not shape.is_signed),
        f"has numbers above {shape.most:g}": np.abs(rows) > shape.most,
    }
    for reason, is_wrong in wrong.items():
        if is_wrong.any():
            return reason
    if shape.sums_to_one is not None:
        off = np.abs(rows.sum(axis=-1, dtype=np.float64) - 1)
        is_coarse = shape.sums_to_one >= COARSE
        if (off > (sum_tolerance(rows, is_half=True) + LEARNED_ROUNDING if is_coarse else shape.sums_to_one)).any():
            return f"must have rows that sum to 1; one is off by {off.max():.3g}"
    return None


def _wrong_records(learned: Mapping[str, Any], declared: Learned) -> str | None:
    """What the fields of a record cannot be together."""
    for name, value in nested(learned, declared).items():
        record, flaw = declared.get(name), getattr(value, "flaw", None)
        if not isinstance(record, Record) or flaw is None:
            continue
        if reason := flaw(may_be_silent=True) if record.may_be_silent else flaw():
            return f"{name!r} {reason}"
    return None
