"""A reader for predictions wherever they lie: on this machine or on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consilience.expectation import Reader
from consilience.predictions import Predictions, as_predictions

if TYPE_CHECKING:
    from consilience.arrays import IntArray


def read_anywhere(predictions: Any) -> Any:
    """Predictions as they are, or made from whatever `Predictions` takes, a Dask array among it."""
    first = predictions[0] if isinstance(predictions, list | tuple) and predictions else predictions
    if not type(first).__module__.startswith(("dask", "distributed", "consilience.distributed")):
        return as_predictions(predictions)
    from consilience.distributed import ClusterPredictions  # noqa: PLC0415 - Dask is an extra

    return predictions if isinstance(predictions, ClusterPredictions) else ClusterPredictions(predictions)


def open_reader(
    predictions: Any, *, log_floor: float | None = None, chunk_size: int | None = None, known: IntArray | None = None
) -> Any:
    """A reader of the predictions, on the machines where they lie."""
    if isinstance(predictions, Predictions):
        return Reader(predictions, log_floor=log_floor, chunk_size=chunk_size, known=known)
    from consilience.distributed import ClusterReader  # noqa: PLC0415 - Dask is an extra

    return ClusterReader(predictions, log_floor=log_floor, chunk_size=chunk_size, known=known)
