"""The same fit on a Dask cluster: data stay on the workers, statistics and parameters travel.

Each block of items becomes a `Predictions` on some worker. A pass sends the scores to all workers, lets each summarize
its blocks, and adds the statistics up as a tree; what returns to the client does not depend on the number of items.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import add, itemgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast, final

import numpy as np

from consilience.data.axes import Axes, Axis
from consilience.data.predictions import AbstractPredictions, Predictions
from consilience.maths.model import Scores
from consilience.passes.lazy_posterior import LazyPosterior
from consilience.passes.reader import AbstractExpectation, AbstractReader, Expectation, Reader, open_reader
from consilience.system.arrays import Array, FloatArray, IntArray, to_numpy
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from consilience.maths.statistics import Statistics
    from consilience.passes.agreement import Agreement

Result = TypeVar("Result")

N_ATTEMPTS = 4
"""How often a pass is tried when workers are lost before the fit gives up."""


@final
class ClusterPredictions(AbstractPredictions):
    """Predictions (members, items, classes) whose blocks of items lie on the workers of a cluster.

    Made of a Dask array, or of a list of delayed blocks or futures, each (members, some items, classes). The client is
    the current one of `dask.distributed`.
    """

    def __init__(self, blocks: Any) -> None:
        self.client = _client()
        arrays = self._arrays(blocks)
        shapes = self.client.gather([self.client.submit(_shape, array) for array in arrays])
        is_empty = [shape[1:2] == (0,) for shape in shapes]
        if not all(is_empty):  # a filter may have emptied some blocks
            arrays, shapes = (
                [v for v, e in zip(values, is_empty, strict=True) if not e] for values in (arrays, shapes)
            )
        _check_shapes(shapes)
        self.starts = np.cumsum([0, *(shape[1] for shape in shapes)])
        n_members, _, n_classes = shapes[0]
        self.axes = Axes(Axis("member", n_members), Axis("item", int(self.starts[-1])), Axis("class", n_classes))
        self.blocks = [
            self.client.submit(_validated, array, int(start)) for array, start in zip(arrays, self.starts, strict=False)
        ]

    def _arrays(self, blocks: Any) -> list[Any]:
        if isinstance(blocks, list | tuple):
            return [self.client.compute(block) if hasattr(block, "dask") else block for block in blocks]
        if blocks.ndim != 3:
            raise InvalidPredictions(f"probabilities must be (members, items, classes); got {blocks.ndim} dimensions")
        whole = blocks.rechunk({0: -1, 2: -1})
        return list(self.client.compute(whole.to_delayed().ravel().tolist()))

    @classmethod
    def _like(cls, other: ClusterPredictions, blocks: list[Any]) -> ClusterPredictions:
        self = cls.__new__(cls)
        self.client, self.starts, self.axes, self.blocks = other.client, other.starts, other.axes, blocks
        return self

    @property
    def is_soft(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Every member gives probabilities."""
        return np.ones(self.n_members, dtype=bool)

    def answering(self) -> tuple[list[int], list[int]]:
        """Every member gives probabilities."""
        return list(range(self.n_members)), []

    def has_repeats(self) -> bool:
        """Every member answers every item once."""
        return False

    def harden(self) -> ClusterPredictions:
        """The same answers as labels, on the workers."""
        return ClusterPredictions._like(self, [self.client.submit(Predictions.harden, block) for block in self.blocks])

    def votes(self) -> ClusterPredictions:
        """The same as labels, without undecided answers, on the workers."""
        return ClusterPredictions._like(self, [self.client.submit(Predictions.votes, block) for block in self.blocks])

    def aligned(self, members: Sequence[Any], classes: Sequence[Any]) -> ClusterPredictions:
        """The same answers, for a fit of as many members and classes."""
        if (self.n_members, self.n_classes) != (len(members), len(classes)):
            raise InvalidPredictions(
                f"predictions must have the {len(members)} members and {len(classes)} classes of the fit; "
                f"got {self.n_members} and {self.n_classes}"
            )
        return self

    def take(self, items: Any) -> Predictions:
        """Some items, brought to this machine."""
        positions = np.arange(self.n_items)[items if isinstance(items, slice) else np.asarray(items)]
        owners = np.searchsorted(self.starts, positions, side="right") - 1
        rows = [
            self.client.submit(_item, self.blocks[owner], int(position - self.starts[owner]))
            for owner, position in zip(owners, positions, strict=True)
        ]
        return Predictions(np.concatenate(self.client.gather(rows), axis=1), items=positions.tolist())

    def example(self) -> Array:
        """Item-sized results are Dask arrays of NumPy's."""
        return np.empty(0)

    def answer(self, rule: Callable[[Predictions, Any], Result], known: Any = None) -> Result:
        """The posterior that a rule gives each block, left on the workers."""
        (sent,) = self.client.scatter([rule], broadcast=True, hash=False)
        places = zip(self.blocks, self.starts, self.starts[1:], strict=False)
        rows = [
            self.client.submit(_answered, sent, block, None if known is None else known[first:last])
            for block, first, last in places
        ]
        return cast("Result", _remote_posterior(rows, self))

    def total(self, find: Callable[[Predictions], Result]) -> Result:
        """What a function finds in each block, added up on the workers."""
        (sent,) = self.client.scatter([find], broadcast=True, hash=False)
        found = [self.client.submit(_found, sent, block) for block in self.blocks]
        return cast("Result", tree_sum(self.client, found))


def as_cluster_predictions(predictions: Any) -> ClusterPredictions:
    """Predictions on a cluster as they are, or made of a Dask array or of a list of blocks."""
    return predictions if isinstance(predictions, ClusterPredictions) else ClusterPredictions(predictions)


@final
@dataclass(eq=False)
class ClusterReader(AbstractReader):
    """Reads each block on the worker that has it; the statistics are added up there."""

    predictions: ClusterPredictions
    log_floor: float | None = None
    chunk_size: int | None = None
    known: IntArray | None = None
    on_chunk: Callable[[], None] = lambda: None
    chunks: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        starts = self.predictions.starts
        self.chunks = [
            self.predictions.client.submit(
                _reader, block, self.log_floor, self.chunk_size, None if self.known is None else self.known[first:last]
            )
            for block, first, last in zip(self.predictions.blocks, starts, starts[1:], strict=False)
        ]

    def statistics(self, responsibilities: Any) -> Statistics:
        """The statistics of responsibilities (items, classes) in a Dask array with the same blocks."""
        client = self.predictions.client
        rows = client.compute(responsibilities.to_delayed().ravel().tolist())
        parts = zip(self.chunks, rows, strict=True)
        total: Statistics = tree_sum(client, [client.submit(Reader.statistics, own, part) for own, part in parts])
        return total

    def average_statistics(self, averages: ClusterReader, member_weights: FloatArray | None = None) -> Statistics:
        """The statistics of the (weighted) mean of the answers as another reader of the same items sees them."""
        submit = self.predictions.client.submit
        parts = zip(self.chunks, averages.chunks, strict=True)
        sums = [submit(Reader.average_statistics, own, other, member_weights) for own, other in parts]
        total: Statistics = tree_sum(self.predictions.client, sums)
        return total

    def agreement(self) -> Agreement:
        """How much members agree with each other on these items."""
        client = self.predictions.client
        total: Agreement = tree_sum(client, [client.submit(Reader.agreement, chunk) for chunk in self.chunks])
        return total

    def expectation(self, *, remembers: bool) -> ClusterExpectation:
        """Passes over these items."""
        return ClusterExpectation(self, remembers=remembers)

    def scored_posterior(self, scores: Scores, _: Array) -> LazyPosterior:
        """The softmax of the scores."""
        client = self.predictions.client
        (sent,) = client.scatter([scores], broadcast=True, hash=False)
        rows = [client.submit(Reader.posterior, chunk, sent) for chunk in self.chunks]
        return _remote_posterior(rows, self.predictions)


@open_reader.register(ClusterPredictions)
def _(
    predictions: ClusterPredictions,
    *,
    log_floor: float | None = None,
    chunk_size: int | None = None,
    known: IntArray | None = None,
) -> ClusterReader:
    return ClusterReader(predictions, log_floor=log_floor, chunk_size=chunk_size, known=known)


@final
class ClusterExpectation(AbstractExpectation):
    """Passes over all blocks; each block's share of the posterior stays on its worker.

    A worker that dies takes blocks and their shares with it. Dask computes the blocks anew; the shares are brought
    up to date by repeating the passes so far for them, whose scores are kept for that on the client.
    """

    def __init__(self, reader: ClusterReader, *, remembers: bool) -> None:
        self.reader = reader
        self.remembers = remembers
        self.kept = 1.0
        self._passes: list[tuple[Scores, float]] = []
        self._states = self._start()

    def _start(self) -> list[Any]:
        submit = self.reader.predictions.client.submit
        return [submit(_expectation, chunk, self.remembers, pure=False) for chunk in self.reader.chunks]

    def __call__(self, scores: Scores, *, averaging: float = 1.0) -> Statistics:
        """The statistics of the new responsibilities, which are averaged into the posterior."""
        scores = Scores(*(table.copy() for table in scores))  # the fit will overwrite its own
        if self.remembers:
            self._passes.append((scores, averaging))
        self.kept *= 1 - averaging
        for attempt in range(N_ATTEMPTS):
            try:
                if attempt:
                    self._replay()
                return self._advance(scores, averaging)
            except _lost_data() as error:
                lost = error
        raise RuntimeError(f"workers were lost {N_ATTEMPTS} times in one pass of the fit: {lost}") from lost

    def _advance(self, scores: Scores, averaging: float) -> Statistics:
        client = self.reader.predictions.client
        (sent,) = client.scatter([scores], broadcast=True, hash=False)
        pairs = [client.submit(_advance, state, sent, averaging, pure=False) for state in self._states]
        total: Statistics = tree_sum(client, [client.submit(itemgetter(1), pair, pure=False) for pair in pairs])
        self._states = [client.submit(itemgetter(0), pair, pure=False) for pair in pairs]
        _wait(self._states)
        for _ in self._states:
            self.reader.on_chunk()
        return total

    def _replay(self) -> None:
        """All passes but the current one again, from the start."""
        self._states = self._start()
        if self.remembers:
            for scores, averaging in self._passes[:-1]:
                self._advance(scores, averaging)

    def posterior(self, averages: ClusterReader) -> LazyPosterior:
        """The posterior after these passes."""
        submit = self.reader.predictions.client.submit
        parts = zip(averages.chunks, self._states, strict=True)
        rows = [submit(_averaged_rows, own, state) for own, state in parts]
        return _remote_posterior(rows, self.reader.predictions)


def tree_sum(client: Any, parts: list[Any]) -> Any:
    """The sum of statistics on the workers: pairs are added there, then pairs of pairs; one comes back."""
    while len(parts) > 1:
        pairs = [parts[place : place + 2] for place in range(0, len(parts), 2)]
        parts = [client.submit(add, *pair, pure=False) if len(pair) == 2 else pair[0] for pair in pairs]
    return parts[0].result()


# ---- what runs on the workers -----------------------------------------------------------------------------


def _shape(array: Array) -> tuple[int, ...]:
    return tuple(int(size) for size in array.shape)


def _validated(array: Array, start: int) -> Predictions:
    return Predictions(array, items=range(start, start + array.shape[1]))


def _answered(rule: Callable[[Predictions, Any], LazyPosterior], block: Predictions, known: Any) -> Array:
    return rule(block, known).to_array()


def _found(find: Callable[[Predictions], Result], block: Predictions) -> Result:
    return find(block)


def _item(block: Predictions, place: int) -> Array:
    return block.take([place]).to_array()


def _reader(block: Predictions, log_floor: float | None, chunk_size: int | None, known: IntArray | None) -> Reader:
    has_labels = known is not None and bool((known >= 0).any())
    return Reader(block, log_floor=log_floor, chunk_size=chunk_size, known=known if has_labels else None)


def _expectation(reader: Reader, remembers: bool) -> Expectation:
    return Expectation(reader, remembers=remembers)


def _advance(state: Expectation, scores: Scores, averaging: float) -> tuple[Expectation, Statistics]:
    new = state.copy()  # a task may run twice, so it must not change what it is given
    return new, new(scores, averaging=averaging)


def _averaged_rows(averages: Reader, state: Expectation) -> Array:
    return state.posterior(averages).to_array()


# ---- Dask's own ways --------------------------------------------------------------------------------------


def _client() -> Any:
    from distributed import default_client  # noqa: PLC0415 - Dask is an extra

    try:
        return default_client()
    except ValueError:
        raise InvalidPredictions(
            "a Dask array needs a cluster: start a dask.distributed.Client first (Client() makes a local one)"
        ) from None


def _lost_data() -> tuple[type[BaseException], ...]:
    from concurrent.futures import CancelledError  # noqa: PLC0415 - belongs to what follows

    from distributed import KilledWorker  # noqa: PLC0415 - Dask is an extra
    from distributed.client import FutureCancelledError  # noqa: PLC0415
    from distributed.comm import CommClosedError  # noqa: PLC0415

    return (CancelledError, FutureCancelledError, KilledWorker, CommClosedError, TimeoutError)


def _wait(futures: list[Any]) -> None:
    from distributed import wait  # noqa: PLC0415 - Dask is an extra

    for future in wait(futures).done:
        if future.status != "finished":
            future.result()  # raises what went wrong


def _as_dask(futures: list[Any], predictions: ClusterPredictions) -> Any:
    import dask.array as da  # noqa: PLC0415 - Dask is an extra
    from dask import delayed  # noqa: PLC0415

    meta = futures[0].client.submit(_dtype, futures[0]).result()
    sizes = np.diff(predictions.starts).tolist()
    return da.concatenate(
        [
            da.from_delayed(delayed(future), (size, predictions.n_classes), dtype=meta)
            for future, size in zip(futures, sizes, strict=True)
        ]
    )


def _remote_posterior(futures: list[Any], predictions: ClusterPredictions) -> LazyPosterior:
    rows = _as_dask(futures, predictions)

    def chunks() -> Iterator[tuple[int, int, Array]]:
        for future, first, last in zip(futures, predictions.starts, predictions.starts[1:], strict=False):
            yield int(first), int(last), future.result()

    return LazyPosterior(lambda: rows, chunks, is_large=False, is_remote=True)


def _dtype(rows: Array) -> Any:
    return to_numpy(rows[:0]).dtype


def _check_shapes(shapes: Sequence[tuple[int, ...]]) -> None:
    for place, shape in enumerate(shapes):
        if len(shape) != 3 or (shape[0], shape[2]) != (shapes[0][0], shapes[0][-1]):
            raise InvalidPredictions(
                f"each block must be (members, items, classes) with the same members and classes; "
                f"block 0 has shape {shapes[0]}, block {place} {shape}"
            )
