"""Reading what the user gave: arrays of any library, lists, mappings; one matrix (items, classes) per member."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.arrays import Array, IntArray, is_array, namespace, to_numpy, working_dtype
from consilience.axes import Axis
from consilience.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Iterable


def member_matrices(values: Any) -> list[Array]:
    """One floating-point matrix (items, classes) per member, without copying where possible."""
    values = _opened(values)
    if isinstance(values, list | tuple):
        values = [_opened(part) for part in values]
    if not is_array(values) and isinstance(values, Sequence) and any(is_array(part) for part in values):
        return [floats(part) for part in values]
    if values is None or (isinstance(values, Sequence) and not values):
        raise InvalidPredictions(f"probabilities must be an array (members, items, classes); got {values!r}")
    block = floats(values)
    if block.ndim != 3:
        hint = ""
        if block.ndim == 2:
            hint = "; one member's (items, classes) goes in as [array], hard labels through from_labels"
        raise InvalidPredictions(f"probabilities must be (members, items, classes); got {block.ndim} dimensions{hint}")
    return [block[position, :, :] for position in range(block.shape[0])]


def _opened(value: Any) -> Any:
    """A path to a .npy file as the array in it, which stays on disk; anything else as it is."""
    if not isinstance(value, str | os.PathLike):
        return value
    try:
        return np.load(value, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise InvalidPredictions(
            f"{os.fspath(value)} must be a .npy file of numbers; it cannot be read as one"
        ) from error


def check_shapes(matrices: Sequence[Array]) -> None:
    """Raise unless all members have the same items and classes."""
    if not matrices:
        raise InvalidPredictions("predictions need at least 1 member; got 0")
    for position, matrix in enumerate(matrices):
        if matrix.ndim != 2:
            raise InvalidPredictions(
                f"each member must be (items, classes); member {position} has {matrix.ndim} dimensions"
            )
        if tuple(matrix.shape) != tuple(matrices[0].shape):
            raise InvalidPredictions(
                f"each member must have the shape of the first, {tuple(matrices[0].shape)}; "
                f"member {position} has {tuple(matrix.shape)}"
            )


def floats(values: Any) -> Array:
    """The values as a real floating-point array, in their own library."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    if not is_array(values):
        if hasattr(values, "columns"):
            raise InvalidPredictions(
                "probabilities must be an array (members, items, classes); got a data frame: use from_frame"
            )
        try:
            values = np.asarray(values)
        except ValueError as error:
            raise InvalidPredictions(
                f"probabilities must be an array (members, items, classes); got ragged lists ({error})"
            ) from None
    elif hasattr(values, "requires_grad"):
        values = values.detach()
    xp = namespace(values)
    if isinstance(values, np.ndarray) and values.dtype.kind not in "fiub":
        raise InvalidPredictions(f"probabilities must be real numbers; got {values.dtype} values")
    if xp.isdtype(values.dtype, "complex floating"):
        raise InvalidPredictions(f"probabilities must be real numbers; got {values.dtype} values")
    return values if xp.isdtype(values.dtype, "real floating") else xp.astype(values, xp.float64)


def integers(values: Any, name: str) -> IntArray:
    """The values as NumPy integers; nothing is rounded."""
    try:
        array = to_numpy(values)
    except ValueError as error:
        raise InvalidPredictions(f"{name} must be an array of integers; got ragged lists") from error
    if array.dtype.kind not in "iu" and array.size:
        raise InvalidPredictions(f"{name} must be integers; got {array.dtype} values")
    return array.astype(np.intp)


def check_length(values: Any, length: int, name: str) -> None:
    """Raise unless there is one entry per answer."""
    if values.shape[:1] != (length,):
        raise InvalidPredictions(f"{name} must have one entry for each of the {length} answers; got {values.shape}")


def axis_of_positions(kind: str, positions: IntArray, names: Iterable[Any] | None) -> Axis:
    """The axis that the positions of a list of answers count along."""
    given = None if names is None else list(names)
    size = int(positions.max(initial=-1)) + 1 if given is None else len(given)
    if positions.size and (positions.min() < 0 or positions.max() >= size):
        wrong = positions.min() if positions.min() < 0 else positions.max()
        raise InvalidPredictions(f"{kind} must be positions from 0 to {size - 1}; got {wrong}")
    return Axis(kind, size, given)


def softmax(logits: Array, member: int) -> Array:
    """The softmax of each row; a row of NaN stays one."""
    xp = namespace(logits)
    wide = xp.astype(logits, working_dtype(logits), copy=False)
    n_missing = to_numpy(xp.sum(xp.astype(xp.isnan(wide), xp.int32), axis=1))
    is_partial = (n_missing > 0) & (n_missing < wide.shape[1])
    if is_partial.any():
        row = int(np.argmax(is_partial))
        raise InvalidPredictions(
            f"a missing prediction must be NaN for every class; item {row} of member {member} is NaN for "
            f"{n_missing[row]} of {wide.shape[1]}"
        )
    if are_probabilities(wide):
        raise InvalidPredictions(
            f"logits must not be probabilities already; every row of member {member} sums to 1: use Predictions(…)"
        )
    largest = xp.max(wide, axis=1, keepdims=True)
    if bool(xp.any(xp.isinf(largest))):
        row = int(np.argmax(to_numpy(xp.isinf(largest))[:, 0]))
        raise InvalidPredictions(
            f"logits must have a finite largest value; item {row} of member {member} has {float(largest[row, 0])}"
        )
    exponentials = xp.exp(wide - largest)
    return exponentials / xp.sum(exponentials, axis=1, keepdims=True)


def are_probabilities(matrix: Array) -> bool:
    """Whether there are rows, and all of them are probabilities: what nobody's logits are by chance."""
    xp = namespace(matrix)
    is_row = (xp.min(matrix, axis=1) >= 0) & (xp.abs(xp.sum(matrix, axis=1) - 1) < 1e-6)
    return bool(matrix.shape[0]) and bool(xp.all(is_row))


def normalized(matrix: Array) -> Array:
    """Each row divided by its sum."""
    xp = namespace(matrix)
    wide = xp.astype(matrix, working_dtype(matrix), copy=False)
    sums = xp.sum(wide, axis=1, keepdims=True)
    # A row that sums to nothing cannot be rescaled; left as it is, validation names it.
    return wide / xp.where(sums > 0, sums, xp.ones_like(sums))
