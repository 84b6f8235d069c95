"""A reader for predictions wherever they lie: on this machine or on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consilience.data.alignment import check_classes_fit, check_members_fit
from consilience.data.predictions import Predictions, as_predictions
from consilience.passes.reader import Reader

if TYPE_CHECKING:
    from consilience.system.arrays import IntArray


def read_anywhere(predictions: Any) -> Any:
    """Predictions as they are, or made from whatever `Predictions` takes, a Dask array among it."""
    first = predictions[0] if isinstance(predictions, list | tuple) and predictions else predictions
    if not type(first).__module__.startswith(("dask", "distributed", "consilience.passes.cluster")):
        return as_predictions(predictions)
    from consilience.passes.cluster import ClusterPredictions  # noqa: PLC0415 - Dask is an extra

    return predictions if isinstance(predictions, ClusterPredictions) else ClusterPredictions(predictions)


def check_sizes(predictions: Any, n_members: int, n_classes: int) -> None:
    """Raise where arrays have other members or classes than a fit; what has names is matched by name, later.

    It is said first, since rows with a class too few do not sum to 1, which would be true but no help.
    """
    sizes = _sizes(predictions)
    if sizes is not None:
        check_members_fit(sizes[0], n_members)
        check_classes_fit(sizes[1], n_classes)


def _sizes(predictions: Any) -> tuple[int, int] | None:
    """The members and classes of arrays, where they can be counted before they are read."""
    if isinstance(predictions, list | tuple):
        shapes = {_shape(part) for part in predictions}
        shape = shapes.pop() if len(shapes) == 1 else ()
        return (len(predictions), shape[1]) if len(shape) == 2 else None
    shape = _shape(predictions)
    return (shape[0], shape[2]) if len(shape) == 3 else None


def _shape(array: Any) -> tuple[int, ...]:
    shape = getattr(array, "shape", ())
    return tuple(shape) if isinstance(shape, tuple) else ()  # what is delayed has a delayed shape


def open_reader(
    predictions: Any, *, log_floor: float | None = None, chunk_size: int | None = None, known: IntArray | None = None
) -> Any:
    """A reader of the predictions, on the machines where they lie."""
    if isinstance(predictions, Predictions):
        return Reader(predictions, log_floor=log_floor, chunk_size=chunk_size, known=known)
    from consilience.passes.cluster import ClusterReader  # noqa: PLC0415 - Dask is an extra

    return ClusterReader(predictions, log_floor=log_floor, chunk_size=chunk_size, known=known)
