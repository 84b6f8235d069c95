"""The base of methods that iterate: their shared arguments and the progress bar."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from consilience.aggregators.base import AbstractAggregator
from consilience.data.reading import check_number
from consilience.maths.silence import Silence, keeps_silent
from consilience.system.errors import InvalidPredictions
from consilience.system.progress import show_progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consilience.data.axes import Axes
    from consilience.data.predictions import AbstractPredictions
    from consilience.maths.statistics import Statistics
    from consilience.passes.reader import AbstractReader
    from consilience.system.arrays import FloatArray


class AbstractIterative(AbstractAggregator):
    """EM or something like it: passes over the items until the objective settles."""

    max_iter: int
    tol: float | None
    forgetting: float
    chunk_size: int | None
    verbose: bool

    @contextmanager
    def _progress(self, reader: AbstractReader, n_passes: int) -> Iterator[None]:
        """Show how many chunks of so many passes are done, where the user wants to see it."""
        n_chunks = n_passes * len(reader.chunks)
        with show_progress(type(self).__name__, n_chunks, is_shown=self.verbose) as progress:
            reader.on_chunk = progress.finish
            yield

    def _check_loop(self) -> None:
        """Raise where an argument that all these methods share makes no sense."""
        check_number("max_iter", self.max_iter, least=1, integer=True)
        if self.tol is not None:
            check_number("tol", self.tol)
        check_number("forgetting", self.forgetting, most=1)
        if self.chunk_size is not None:
            check_number("chunk_size", self.chunk_size, least=1, integer=True)


class AbstractLatent(AbstractIterative):
    """A model of how members err, given a truth that is not seen; who keeps silent may tell something too."""

    class_prior: Any
    missing: Literal["auto", "ignored", "informative"]
    silence_: Silence | None = None

    def _check_loop(self) -> None:
        """Raise where an argument that all these methods share makes no sense."""
        super()._check_loop()
        if self.missing not in ("auto", "ignored", "informative"):
            raise ValueError(f"missing must be 'auto', 'ignored' or 'informative'; got {self.missing!r}")

    def _check_order(self, axes: Axes) -> None:
        axes.classes.check_order(self.class_prior, "class_prior")

    def _minds_silence(self, votes: Statistics, predictions: AbstractPredictions) -> bool:
        """Whether it counts who does not answer, by the statistics of the votes."""
        if self.missing == "ignored" or (self.missing == "auto" and not keeps_silent(votes)):
            return False
        has_repeats = predictions.has_repeats()
        if has_repeats and self.missing == "informative":
            raise InvalidPredictions("missing='informative' needs one answer of each member to an item; got more")
        return not has_repeats


def read_class_prior(class_prior: Any, n_classes: int) -> FloatArray | None:
    """A fixed class prior as an array; None where it is to be estimated."""
    if class_prior is None:
        return None
    if isinstance(class_prior, str):
        if class_prior != "uniform":
            raise ValueError(f"class_prior must be None, 'uniform' or one probability per class; got {class_prior!r}")
        return np.full(n_classes, 1 / n_classes)
    try:
        prior = np.asarray(class_prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"class_prior must be None, 'uniform' or one probability per class; got {class_prior!r}"
        ) from None
    if prior.shape != (n_classes,):
        raise ValueError(f"class_prior must have one entry for each of {n_classes} classes; got {prior.shape}")
    if not (prior > 0).all() or abs(prior.sum() - 1) > 1e-6:
        raise ValueError(
            f"class_prior must be positive and sum to 1; it sums to {prior.sum():.6g} from {prior.min():.6g} up"
        )
    return prior
