"""Reads and checks the input of metrics: a posterior and labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from consilience.data.axes import Axes, Axis
from consilience.data.labels import known_labels, known_truths, which_known
from consilience.data.tables.frames import columns_of, is_frame
from consilience.data.validation import are_probabilities
from consilience.system.arrays import FloatArray, IntArray, plain_numpy
from consilience.system.errors import InvalidPredictions


def checked_posterior(posterior: Any) -> FloatArray:
    """A posterior as float64 (items, classes), rows summing to 1."""
    values = _numbers(posterior)
    # The posterior of half-precision predictions comes in single precision, but its rows sum to 1 no better.
    is_good = are_probabilities(values, is_half=True)
    if not is_good.all():
        place = int(np.argmin(is_good))
        row = values[place]
        with np.errstate(over="ignore", invalid="ignore"):
            found = f"has a least value of {row.min():.6g} and sums to {row.sum():.6g}"
        raise InvalidPredictions(f"posterior must be probabilities that sum to 1; item {place} {found}")
    return values


def read_known(posterior: Any, labels: Any, classes: Sequence[Any] | None = None) -> tuple[FloatArray, Any, list[Any]]:
    """The rows of the items whose label is known, their labels (positions of classes, or rows if soft), the classes.

    A frame names items by its index (in other libraries than pandas, by a column `task` or `item`) and classes by its
    columns; labels are matched with these names. A list of labels has no names, so it may be in another order than such
    items and is refused. Classes without names are called 0, 1, 2, ….
    """
    rows, axes = _with_axes(posterior, classes)
    known = known_truths(labels, axes)
    if known is None:
        found = "got None" if labels is None else "all are -1"
        raise InvalidPredictions(f"labels must be known for at least one item; {found}")
    is_known = which_known(known)
    return checked_posterior(rows[np.flatnonzero(is_known)]), known[is_known], axes.classes.names


def read_posterior_and_labels(posterior: Any, labels: Any) -> tuple[FloatArray, IntArray]:
    """Both, where the label of every item is known."""
    rows, axes = _with_axes(posterior)
    values, known = checked_posterior(rows), known_labels(labels, axes)
    if known is None or (known < 0).any():
        first = 0 if known is None else int(np.argmax(known < 0))
        raise InvalidPredictions(f"labels must be known for every item; that of {axes.items.describe(first)} is not")
    return values, known


def _with_axes(posterior: Any, classes: Sequence[Any] | None = None) -> tuple[FloatArray, Axes]:
    """The numbers (items, classes), and the names that they have."""
    items = None
    if is_frame(posterior):
        posterior, items, columns = _of_frame(posterior)
        if classes is not None and not Axis("class", len(columns), columns).is_same_as(list(classes)):
            raise InvalidPredictions(f"classes must be the columns of the posterior, {columns}; got {list(classes)}")
        classes = columns
    # Of rows on a cluster only those that are asked for are brought here.
    is_remote = hasattr(posterior, "__dask_graph__") and getattr(posterior, "ndim", 0) == 2
    rows = posterior if is_remote else _numbers(posterior)
    named = Axis("item", rows.shape[0], items, by_name=items is not None)
    return rows, Axes(Axis("member", 1), named, Axis("class", rows.shape[1], classes))


def _of_frame(frame: Any) -> tuple[npt.NDArray[Any], list[Any] | None, list[Any]]:
    """The numbers of a frame, its items and its classes."""
    if hasattr(frame, "index"):
        return frame.to_numpy(), list(frame.index), list(frame.columns)
    columns = columns_of(frame)
    item = next((name for name in ("task", "item") if name in columns), None)
    classes = [name for name in columns if name != item]
    rows = [own.rows() if own.numbers is None else own.numbers for own in (columns[name] for name in classes)]
    return np.array(rows).T, None if item is None else columns[item].rows(), classes


def _numbers(posterior: Any) -> FloatArray:
    array = plain_numpy(posterior, "posterior")
    if array.dtype.kind not in "fiub" or array.ndim != 2 or 0 in array.shape:
        found = f"{array.dtype} of shape {array.shape}"
        raise InvalidPredictions(f"posterior must be numbers (items, classes); got {found}")
    return array.astype(np.float64, copy=False)
