"""The few things every array library does a little differently.

Item-sized arrays stay in the library and on the device they came in (NumPy, torch, anything that speaks the
array API); parameters and statistics are NumPy float64 on the host. These functions convert between the two.
"""

from __future__ import annotations

import sys
from typing import Any, TypeAlias

import array_api_compat.numpy
import numpy as np
import numpy.typing as npt
from scipy import sparse

from consilience.system.errors import InvalidPredictions

Array: TypeAlias = Any  # an array of any library
FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]


def is_array(value: Any) -> bool:
    """Whether the value is an array of a library that speaks the array API."""
    return bool(array_api_compat.is_array_api_obj(value))


def namespace(array: Array) -> Any:
    """The array-API namespace of an array."""
    # Asking takes microseconds, which add up where arrays are small.
    return array_api_compat.numpy if type(array) is np.ndarray else array_api_compat.array_namespace(array)


def to_numpy(array: Array) -> npt.NDArray[Any]:
    """The array as NumPy, copied to the host where it has to be."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        host = array.detach().cpu()
        return np.asarray((host.float() if host.dtype == torch.bfloat16 else host).numpy())
    if isinstance(array, np.ndarray) or not hasattr(array, "__dlpack__"):
        return np.asarray(array)
    if is_bfloat16(array):
        array = namespace(array).astype(array, namespace(array).float32)
    return np.asarray(np.from_dlpack(array, device="cpu"))


def is_bfloat16(array: Array) -> bool:
    """Whether the numbers have a precision that NumPy does not know."""
    return str(array.dtype).endswith("bfloat16")


def double_sum(array: Array, axis: int | None = None) -> FloatArray:
    """The sum along an axis in double precision, as NumPy's. JAX has none unless it is told to, so NumPy adds there."""
    if is_numpy(array) or array_api_compat.is_jax_array(array):
        return np.asarray(to_numpy(array).sum(axis=axis, dtype=np.float64))
    xp = namespace(array)
    return to_numpy(xp.sum(array, axis=axis, dtype=xp.float64))


def plain_numpy(values: Any, name: str) -> npt.NDArray[Any]:
    """The user's values as NumPy, with NaN (-1 among integers) where they are masked; raises if they are no array."""
    check_is_dense(values, name)
    try:
        array = to_numpy(unmasked(values))
    except ValueError as error:
        raise InvalidPredictions(f"{name} must be an array; got ragged lists") from error
    if array.dtype == object and array.ndim == 0:
        got = type(values).__name__
        raise InvalidPredictions(f"{name} must be an array; got {'an' if got[:1].lower() in 'aeiou' else 'a'} {got}")
    return array


def unmasked(values: Any) -> Any:
    """The same values with masked arrays, also those in lists, as plain ones: NumPy would drop the masks of the latter.

    What is masked becomes -1 among integers, NaN among other numbers, and None among all else.
    """
    if isinstance(values, np.ma.MaskedArray):
        if values.dtype.kind == "i":
            return np.asarray(np.ma.filled(values, -1))
        if values.dtype.kind in "fub":
            return np.asarray(np.ma.filled(values.astype(np.result_type(values.dtype, np.float32)), np.nan))
        return np.array(values.tolist(), dtype=object)
    nested = (list, tuple, np.ma.MaskedArray)
    if isinstance(values, list | tuple) and any(isinstance(part, nested) for part in values):
        return [unmasked(part) for part in values]
    return values


def check_is_dense(values: Any, name: str) -> None:
    """Raise for sparse arrays and for tensors without values: neither can be read row by row."""
    layout = str(getattr(values, "layout", "torch.strided"))
    if is_sparse(values) or layout != "torch.strided":
        raise InvalidPredictions(f"{name} must be a dense array; got a sparse {type(values).__name__}: make it dense")
    if getattr(values, "is_meta", False):
        raise InvalidPredictions(f"{name} must be an array with values; got a tensor on the device 'meta'")


def like(values: npt.NDArray[Any], example: Array, *, dtype: Any = None) -> Array:
    """NumPy values as an array of the library, device and (unless given) dtype of the example."""
    if type(example) is np.ndarray:
        return np.asarray(values, dtype=example.dtype if dtype is None else dtype)
    xp = namespace(example)
    return xp.asarray(values, dtype=example.dtype if dtype is None else dtype, device=array_api_compat.device(example))


def like_array(array: Array, example: Array) -> Array:
    """The array in the library, precision and device of the example; not copied where it is there already."""
    if type(array) is type(example) is np.ndarray:
        return array.astype(example.dtype, copy=False)
    if namespace(array) is not namespace(example):
        return like(to_numpy(array), example)
    device = array_api_compat.device(example)
    if array_api_compat.device(array) != device:
        array = array_api_compat.to_device(array, device)
    return namespace(array).astype(array, example.dtype, copy=False)


def take(array: Array, positions: IntArray, *, axis: int) -> Array:
    """The rows or columns at these positions, on the array's own device."""
    xp = namespace(array)
    return xp.take(array, xp.asarray(positions, device=array_api_compat.device(array)), axis=axis)


def sample(n_items: int, most: int) -> IntArray:
    """The positions of all items, or of so many at random, in their order and always the same.

    Evenly spaced ones might all be of one class, where classes come in turn.
    """
    if n_items <= most:
        return np.arange(n_items)
    return np.sort(np.random.default_rng(0).choice(n_items, most, replace=False, shuffle=False))


def working_dtype(array: Array) -> Any:
    """The precision to compute in: float64 for float64, float32 for everything narrower."""
    xp = namespace(array)
    # By bits, because big-endian float64 is another dtype.
    return xp.float64 if xp.finfo(array.dtype).bits >= 64 else xp.float32


def position_of_largest(rows: Array) -> IntArray:
    """The column of the largest value of each row; the lowest column wins a tie."""
    return to_numpy(namespace(rows).argmax(rows, axis=-1)).astype(np.intp)


def is_sparse(array: Array) -> bool:
    """Whether the array is one of SciPy's sparse arrays."""
    return bool(sparse.issparse(array))


def n_bytes(array: Array) -> int:
    """The bytes of an array of any library, sparse or dense; 0 of None."""
    if is_sparse(array):
        return sum(map(n_bytes, (array.data, getattr(array, "indices", None), getattr(array, "indptr", None))))
    return int(getattr(array, "nbytes", 0))


def is_numpy(array: Array) -> bool:
    """Whether the array is NumPy's."""
    return isinstance(array, np.ndarray)
