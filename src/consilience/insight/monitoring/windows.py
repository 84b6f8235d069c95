"""A stream as windows: batches as they come, or one panel cut in the order of its items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, Any

from consilience.data.labels import known_labels
from consilience.data.predictions import Predictions, as_single_items
from consilience.data.reading import check_number
from consilience.passes.reader import lies_on_cluster, read_anywhere
from consilience.system.arrays import is_array
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consilience.system.arrays import IntArray

LEAST_ITEMS = 10
"""Of fewer items nothing can be said."""

Window = tuple[Predictions, "IntArray | None"]
"""The predictions of a window, and what is known of the truth."""


def windows_of(stream: Any, window: int | None, labels: Any) -> Iterator[Window]:
    """The windows of a stream, all on the axes of the first one."""
    return _batches(stream, labels) if window is None else _cut(stream, window, labels)


def on_axes_of(first: Predictions, other: Any, what: str) -> Predictions:
    """Predictions with members and classes as in others; absent members are missing."""
    data = as_single_items(other)
    try:
        return data.aligned(first.members, first.classes)
    except InvalidPredictions as error:
        raise InvalidPredictions(f"{what} must have the members and classes of the first: {error}") from None


def _cut(stream: Any, window: int, labels: Any) -> Iterator[Window]:
    """Windows of so many items; a rest of less than half a window belongs to the last one."""
    check_number("window", window, least=LEAST_ITEMS, integer=True)
    data = read_anywhere(stream) if lies_on_cluster(stream) else as_single_items(stream)
    if getattr(data, "are_votes", False):
        raise InvalidPredictions("a stream must have an order; votes in a Dask frame have none: give a list of batches")
    if window > data.n_items:
        raise ValueError(f"window must be at most the stream's {data.n_items} items; got {window}")
    known = known_labels(labels, data.axes)
    bounds = [*range(0, data.n_items, window), data.n_items]
    if len(bounds) > 2 and bounds[-1] - bounds[-2] < window / 2:
        del bounds[-2]
    for start, stop in pairwise(bounds):
        yield data.take(slice(start, stop)), None if known is None else known[start:stop]


def _batches(stream: Any, labels: Any) -> Iterator[Window]:
    """Batches as they come; labels come along, one entry for each batch."""
    is_panel = isinstance(stream, Predictions | Mapping | str | PathLike) or is_array(stream)
    if is_panel or not isinstance(stream, Iterable):
        raise ValueError(
            "without a window, the stream must be an iterable of batches, and one panel needs window=, the number of "
            f"items in each window; got a {type(stream).__name__}"
        )
    first: Predictions | None = None
    some_labels = None if labels is None else iter(labels)
    for place, batch in enumerate(stream):
        data = as_single_items(batch) if first is None else on_axes_of(first, batch, f"batch {place}")
        if data.n_items < LEAST_ITEMS:
            raise InvalidPredictions(f"batch {place} must have at least {LEAST_ITEMS} items; got {data.n_items}")
        first = data if first is None else first
        yield data, None if some_labels is None else known_labels(_next_labels(some_labels, place), data.axes)


def _next_labels(labels: Iterator[Any], place: int) -> Any:
    try:
        return next(labels)
    except StopIteration:
        raise InvalidPredictions(f"labels must have an entry for each batch; got {place}") from None
