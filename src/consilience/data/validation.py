"""Reads and checks the user's input once: arrays of any library, lists, mappings, labels and options."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from consilience.data.answers import FEW_CLASSES, HardAnswers, SoftMember, parts_of
from consilience.data.axes import PLURAL, Axes, Axis, check_size, listed, short, some
from consilience.data.names import is_whole, text_of
from consilience.data.tables.columns import coded_array, coded_list
from consilience.system.arrays import (
    Array,
    FloatArray,
    IntArray,
    check_is_dense,
    is_array,
    is_bfloat16,
    is_sparse,
    namespace,
    plain_numpy,
    to_numpy,
    working_dtype,
)
from consilience.system.errors import Either, InvalidPredictions, Say
from consilience.system.untrusted import UNREADABLE, read_npy

SUM_TOLERANCE, HALF_TOLERANCE, ROUNDING, MOST_ROUNDING = 1e-3, 1e-2, 0.5e-4, 0.05
"""How far from 1 a row of probabilities may sum, and how far in half precision; or by ROUNDING for each class, if that
is more: it is the most that a probability of four digits is off. Beyond MOST_ROUNDING no row is one."""

MOST_CLASSES, MOST_EMPTY = 100_000, 1_000_000
"""A label of at least MOST_CLASSES is a mistake or a name, not a position. So is an item or member of at least
MOST_EMPTY plus a thousand times the number of answers. Arrays of that size would not fit in memory."""


def member_matrices(values: Any) -> list[Array]:
    """One floating-point matrix (items, classes) per member, without copying where possible, all of one shape."""
    values = _opened(values)
    if isinstance(values, list | tuple):
        values = [_opened(part) for part in values]
    parts = values if isinstance(values, Sequence) else []
    # Parts keep their own libraries. A frame gets its own error: NumPy would drop its columns, whose order may differ.
    if any(is_array(part) or is_sparse(part) or hasattr(part, "columns") for part in parts):
        matrices = [floats(part) for part in parts]
    else:
        block = floats(values)
        if block.ndim != 3:
            hint = Either("; one member's (items, classes) goes in as [array], hard labels through from_labels", "")
            got = f"{block.ndim} dimensions{hint if block.ndim == 2 else ''}"
            raise InvalidPredictions(f"probabilities must be (members, items, classes); got {got}")
        matrices = [block[position, :, :] for position in range(block.shape[0])]
    if not matrices:
        raise InvalidPredictions("predictions need at least 1 member; got 0")
    shapes = [tuple(matrix.shape) for matrix in matrices]
    wrong = next((place for place, shape in enumerate(shapes) if len(shape) != 2 or shape != shapes[0]), None)
    if wrong is not None:
        raise InvalidPredictions(
            f"each member must be (items, classes), with the shape of the first, {shapes[0]}; "
            f"member {wrong} has {shapes[wrong]}"
        )
    return matrices


def _opened(value: Any) -> Any:
    """A path to a .npy file as the array in it, which stays on disk, as zarr's does; anything else as it is.

    What a Dask array promises is computed, once: otherwise each look at it would compute all of it again.
    """
    if hasattr(value, "__dask_graph__") and not hasattr(value, "columns"):
        return value.compute()
    if type(value).__module__.partition(".")[0] == "zarr" and hasattr(value, "chunks"):
        return _unpacked(value)
    if not isinstance(value, str | os.PathLike):
        return value
    try:
        return read_npy(value)
    except InvalidPredictions:
        raise
    except UNREADABLE as error:
        raise InvalidPredictions(f"{os.fspath(value)} must be a .npy file of numbers; it is none") from error


def _unpacked(array: Any) -> npt.NDArray[Any]:
    """The numbers of zarr in a temporary file, copied chunk by chunk; it goes with the last use of them."""
    with tempfile.TemporaryFile(prefix="consilience-") as file:  # in the folder that TMPDIR names
        numbers = np.memmap(file, dtype=array.dtype, mode="w+", shape=array.shape)
    steps = getattr(array, "shards", None) or array.chunks
    for starts in product(*map(range, [0] * array.ndim, array.shape, steps)):
        part = tuple(slice(start, start + step) for start, step in zip(starts, steps, strict=True))
        numbers[part] = array[part]
    return numbers


def check_sizes(predictions: Any, n_members: int, n_classes: int) -> None:
    """Raise if arrays have other members or classes than a fit; data with names is matched by name, later.

    This is checked first: otherwise the error would say that the rows, which lack a class, do not sum to 1.
    """
    is_list = isinstance(predictions, list | tuple)
    shapes = [getattr(part, "shape", None) for part in (predictions if is_list else [predictions])]
    shape: Any = shapes[0] if shapes and all(isinstance(own, tuple) and own == shapes[0] for own in shapes) else ()
    if len(shape) == (2 if is_list else 3):  # what is delayed has a delayed shape
        check_size("member", len(predictions) if is_list else shape[0], n_members)
        check_size("class", shape[-1], n_classes)


def floats(values: Any) -> Array:
    """The values as a real floating-point array, in their own library."""
    expected = "probabilities (members, items, classes)"
    if hasattr(values, "columns"):
        raise InvalidPredictions(
            f"{expected} must be an array; got a data frame: give one for each member, as {{'name': frame}}, or a long "
            "one to from_frame"
        )
    check_is_dense(values, expected)
    if isinstance(values, np.ma.MaskedArray) and values.dtype.kind in "fiub":
        values = np.ma.filled(values.astype(np.float64), np.nan)
    array: Any = values if is_array(values) else plain_numpy(values, expected)
    array = array.detach() if hasattr(array, "requires_grad") else array
    if isinstance(array, np.ndarray) and is_bfloat16(array):
        return _widened(array)
    xp, kind = namespace(array), array.dtype
    if not xp.isdtype(kind, ("bool", "integral", "real floating")):
        raise InvalidPredictions(f"probabilities must be real numbers; got {kind} values")
    if xp.isdtype(kind, "real floating") and xp.finfo(kind).bits <= 64:
        return array
    with np.errstate(over="ignore", invalid="ignore"):  # extended precision may overflow; what is infinite is refused
        return xp.astype(array, xp.float64)


def _widened(array: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """The numbers in single precision; rows that only rounding keeps from a sum of 1 are divided by it."""
    wide = array.astype(np.float32)
    if wide.ndim and wide.shape[-1]:
        is_rounded = are_probabilities(wide, is_half=True)[..., None]
        wide /= np.where(is_rounded, wide.sum(axis=-1, keepdims=True), 1)
    return wide


def integers(values: Any, name: str) -> IntArray:
    """The values as NumPy integers; nothing is rounded."""
    array = plain_numpy(values, name)
    if array.dtype.kind not in "iu" and array.size:
        raise InvalidPredictions(f"{name} must be integers; got {array.dtype} values")
    largest = np.iinfo(np.intp).max
    if array.dtype.kind == "u" and array.size and array.max() > largest:
        raise InvalidPredictions(f"{name} must be integers up to {largest}; got {array.max()}")
    return array.astype(np.intp)


def positions_of_labels(labels: Any, classes: list[Any] | None, name: str) -> IntArray:
    """Answers as positions of classes, -1 where missing.

    Integers are positions where classes have no names, or names of which none is a whole number; all else are names.
    """
    if hasattr(labels, "columns"):
        raise InvalidPredictions(f"{name} must be an array; got a data frame: use from_frame")
    array = plain_numpy(labels, name)
    if classes is None:
        return integers(_without_gaps(array), name)
    axis = Axis("class", len(classes), classes)
    if array.dtype.kind in "iu" and (axis.is_counted or not any(map(is_whole, classes))):
        return integers(labels, name)

    def refusal(value: Any, _: int) -> str:
        return f"{name} must be among the classes {some(classes)}, or -1 where missing; got {short(value)}"

    values = array.ravel() if array.dtype.kind in "iufb" else array.ravel().tolist()
    return places_among(axis, values, lambda value: text_of(value) == "-1", refusal).reshape(array.shape)


def places_among(
    axis: Axis, values: Any, is_absent: Callable[[Any], bool], refusal: Callable[[Any, int], str]
) -> IntArray:
    """The place of each value on an axis, -1 where it is absent; each different value is looked up once.

    `refusal` is what to say of a value that is neither, and of the first row that has it.
    """
    is_whole_number = isinstance(values, np.ndarray) and values.dtype.kind in "iu"
    if is_whole_number and not axis.is_named and ((values >= -1) & (values < axis.size)).all():
        return np.asarray(values, dtype=np.intp)
    try:
        coded = coded_array(values) if isinstance(values, np.ndarray) else coded_list(values)
    except TypeError:  # a list, say, names nothing
        row = next(row for row, value in enumerate(values) if not _is_hashable(value))
        raise InvalidPredictions(refusal(values[row], row)) from None
    places = [axis.find(value) for value in coded.values]
    for code, (value, place) in enumerate(zip(coded.values, places, strict=True)):
        if place is None and not is_absent(value):
            raise InvalidPredictions(refusal(value, int(np.argmax(coded.codes == code))))
    table = np.array([-1 if place is None else place for place in (*places, None)], dtype=np.intp)
    return np.asarray(table[coded.codes])


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _without_gaps(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Whole numbers that are floats only since some are NaN, as pandas and cleanlab have them: -1 where missing."""
    if labels.dtype.kind != "f" or not np.isnan(labels).any():
        return labels
    given = np.where(np.isnan(labels), -1, labels)
    return given.astype(np.intp) if (given % 1 == 0).all() and np.isfinite(given).all() else labels


def number_of_classes(given: Any, names: list[Any] | None, labels: IntArray) -> int:
    """The number of classes: the given number, else the number of names, else one more than the largest label."""
    if given is not None:
        if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < 2:
            raise InvalidPredictions(f"n_classes must be a whole number of at least 2; got {given!r}")
        return int(given)
    if names is not None:
        return len(names)
    largest = int(labels.max(initial=0))
    if largest >= MOST_CLASSES:
        raise InvalidPredictions(
            f"labels must be positions of classes, 0, 1, 2, …; got {largest}: ",
            Either("say n_classes where there are that many", "name them with --classes where there are that many"),
        )
    return largest + 1


def axis_of_positions(kind: str, positions: IntArray, names: Iterable[Any] | None) -> Axis:
    """The axis that the positions of a list of answers count along."""
    given = None if names is None else listed(kind, names)
    largest = int(positions.max(initial=-1))
    size = largest + 1 if given is None else len(given)
    if positions.size and (positions.min() < 0 or largest >= size):
        wrong, bound = (positions.min(), "on") if positions.min() < 0 else (largest, f"to {size - 1}")
        raise InvalidPredictions(f"{kind} must be positions from 0 {bound}; got {wrong}")
    if given is None and largest >= MOST_EMPTY + 1000 * positions.size:
        raise InvalidPredictions(
            f"{kind} must be positions 0, 1, 2, …; got {largest} in {positions.size} answers: "
            f"number them without gaps, or name them in {PLURAL[kind]}"
        )
    return Axis(kind, size, given)


def softmax(logits: Array, member: int) -> Array:
    """The softmax of each row; a row of NaN stays one."""
    xp = namespace(logits)
    wide = xp.astype(logits, working_dtype(logits), copy=False)
    if not wide.shape[1]:
        return wide  # `validated` counts the classes
    n_missing = to_numpy(xp.sum(xp.astype(xp.isnan(wide), xp.int32), axis=1))
    is_partial = (n_missing > 0) & (n_missing < wide.shape[1])
    if is_partial.any():
        row = int(np.argmax(is_partial))
        _refuse_row(to_numpy(wide[row, :]), f"item {row} of member {member}", 0, ())
    is_row = n_missing == 0
    if is_row.any() and to_numpy(are_probabilities(logits, is_half=True))[is_row].all():
        raise InvalidPredictions(
            f"logits must not be probabilities already; every row of member {member} sums to 1: ",
            Either("use Predictions(…)", "do not say --logits, or add :probabilities to the name of that file"),
        )
    largest = xp.max(wide, axis=1, keepdims=True)
    if bool(xp.any(xp.isinf(largest))):
        row = int(np.argmax(to_numpy(xp.isinf(largest))[:, 0]))
        raise InvalidPredictions(
            f"logits must have a finite largest value; item {row} of member {member} has {float(largest[row, 0])}"
        )
    # Differences may overflow to -inf, whose probability is 0. A row of NaN stays one.
    with np.errstate(over="ignore", invalid="ignore"):
        exponentials = xp.exp(wide - largest)
    return exponentials / xp.sum(exponentials, axis=1, keepdims=True)


def normalized(matrix: Array) -> Array:
    """Each row divided by its sum."""
    xp = namespace(matrix)
    wide = xp.astype(matrix, working_dtype(matrix), copy=False)
    if not wide.shape[1]:
        return wide
    # Only rows of counts can be rescaled. The others stay as they are, and `validated` reports them.
    largest, least = xp.max(wide, axis=1, keepdims=True), xp.min(wide, axis=1, keepdims=True)
    is_count = xp.isfinite(largest) & (largest > 0) & (least >= 0)
    # Divided by the largest first, since the sum of huge counts overflows.
    scaled = wide / xp.where(is_count, largest, xp.ones_like(largest))
    with np.errstate(over="ignore", invalid="ignore"):
        sums = xp.sum(scaled, axis=1, keepdims=True)
    return scaled / xp.where(is_count, sums, xp.ones_like(sums))


# ---- checks ------------------------------------------------------------------------------------------------


def are_probabilities(rows: Array, *, is_half: bool | None = None) -> Array:
    """Which rows (…, classes) are probabilities: not negative, with a sum of 1 within the tolerance of their precision.

    Rows that were widened since may be of half precision although their type is not: `is_half`. A row with a NaN is
    not one.
    """
    xp = namespace(rows)
    wide = xp.astype(rows, working_dtype(rows), copy=False)
    if isinstance(wide, np.ndarray) and wide.shape[-1] < FEW_CLASSES:
        wide = np.asfortranarray(wide)  # sums over few classes run along rows then, several times as fast
    with np.errstate(over="ignore", invalid="ignore"):
        distance = xp.abs(xp.sum(wide, axis=-1) - 1)
        return (xp.min(wide, axis=-1) >= 0) & (distance <= sum_tolerance(rows, is_half=is_half))


def sum_tolerance(rows: Array, *, is_half: bool | None = None) -> float:
    """How far from 1 rows of this precision and as many classes may sum."""
    if is_half is None:
        xp = namespace(rows)
        is_half = bool(xp.isdtype(rows.dtype, "real floating") and xp.finfo(rows.dtype).bits == 16)
    n_classes = int(rows.shape[-1])
    return max(HALF_TOLERANCE if is_half else SUM_TOLERANCE, min(ROUNDING * n_classes, MOST_ROUNDING))


def validated(soft: tuple[SoftMember, ...], hard: HardAnswers | None, axes: Axes) -> tuple[SoftMember, ...]:
    """The soft members, marked as complete where no row is missing; raises if an answer is wrong."""
    for axis, least in zip(axes, (1, 1, 2), strict=True):
        if axis.size < least:
            noun = axis.kind if least == 1 else PLURAL[axis.kind]
            raise InvalidPredictions(f"predictions need at least {least} {noun}; got {axis.size}")
    checked = tuple(
        member if member.is_complete else replace(member, is_complete=_check_rows(member, soft, axes))
        for member in soft
    )
    is_wrong = np.zeros(0, dtype=bool) if hard is None else (hard.labels < 0) | (hard.labels >= axes.classes.size)
    if hard is not None and is_wrong.any():
        first = int(np.argmax(is_wrong))
        item, member = axes.items.describe(int(hard.items[first])), axes.members.describe(int(hard.members[first]))
        raise InvalidPredictions(
            f"labels must be from 0 to {axes.classes.size - 1}, or -1 where missing; "
            f"{item} of {member} has {hard.labels[first]}"
        )
    return checked


def _check_rows(member: SoftMember, soft: tuple[SoftMember, ...], axes: Axes) -> bool:
    """Whether no row is missing; raises where a row is neither probabilities nor missing."""
    is_complete = True
    for start, part in parts_of(member.rows):
        suspects = np.flatnonzero(~to_numpy(are_probabilities(part)))
        if not len(suspects):
            continue
        rows = to_numpy(part)[suspects]
        rows = rows.astype(np.result_type(rows, np.float32))
        is_empty = np.isnan(rows).all(axis=1)
        is_complete = is_complete and not is_empty.any()
        if not is_empty.all():
            first = int(np.argmin(is_empty))
            place = start + int(suspects[first])
            item = place if member.items is None else int(member.items[place])
            where = f"{axes.items.describe(item)} of {axes.members.describe(member.position)}"
            _refuse_row(rows[first], where, int((~is_empty).sum()) - 1, soft)
    return is_complete


def _refuse_row(row: np.ndarray[Any, Any], where: str, n_more: int, soft: tuple[SoftMember, ...]) -> NoReturn:
    more = f" ({n_more} more such rows follow)" if n_more else ""
    if np.isnan(row).any():
        n_missing = int(np.isnan(row).sum())
        raise InvalidPredictions(
            f"a missing prediction must be NaN for every class; {where} is NaN for {n_missing} of {len(row)}{more}"
        )
    if row.min() < 0 or row.max() > 1 + SUM_TOLERANCE:
        worst = row.min() if row.min() < 0 else row.max()
        raise InvalidPredictions(
            f"probabilities must be from 0 to 1; {where} has {worst:.6g}{more}. ",
            Either(
                "Logits go through Predictions.from_logits, counts through normalize=True",
                "Add :logits to the file's name if these are logits, or say --normalize if they are counts",
            ),
        )
    sums = f"{where} sums to {row.sum():.6g}{more}{_hint_at_axes(soft)}"
    raise InvalidPredictions(f"probabilities must sum to 1 over classes; {sums}")


def _hint_at_axes(soft: tuple[SoftMember, ...]) -> str:
    """The end of the message when rows do not sum to 1: another axis may, or the rows need rescaling."""
    if all(member.items is None for member in soft):
        block = np.stack([to_numpy(next(parts_of(member.rows))[1]) for member in soft])
        for axis, name in ((0, "first"), (1, "second")):
            if are_probabilities(np.moveaxis(block, axis, -1)).all():
                return f". The {name} axis does: the order of axes is (members, items, classes)"
        return f". Say {Say('normalize')} to rescale on purpose"
    return ""


def check_number(name: str, value: Any, *, least: float = 0.0, most: float = np.inf, integer: bool = False) -> None:
    """Raise where the value is not a number of the range (ends included).

    >>> check_number("max_iter", 0, least=1, integer=True)
    Traceback (most recent call last):
    ValueError: max_iter must be an integer of at least 1; got 0
    """
    kinds = (int, np.integer) if integer else (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, kinds) or not (np.isfinite(value) and least <= value <= most):
        noun = "an integer" if integer else "a number"
        bounds = f"of at least {least:g}" if most == np.inf else f"from {least:g} to {most:g}"
        raise ValueError(f"{name} must be {noun} {bounds}; got {value!r}")


def read_counts(counts: Any, n_items: int) -> FloatArray | None:
    """How often each item counts; None, once."""
    if counts is None:
        return None
    try:
        values = plain_numpy(counts, "counts").astype(np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != (n_items,) or not ((values > 0) & np.isfinite(values)).all() or values.sum() < 1:
        got = short(counts) if values.shape != (n_items,) else f"numbers from {values.min():g} to {values.max():g}"
        raise InvalidPredictions(
            f"counts must be a positive number for each of the {n_items:,} items, and sum to 1 or more; got {got}"
        )
    return values
