"""The same fit on a Dask cluster: data stay on the workers, statistics and parameters travel.

Each block of items becomes a `Predictions` on some worker. A pass sends the scores to all workers, lets each summarize
its blocks, and adds the statistics up as a tree; what returns to the client does not depend on the number of items.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
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
from consilience.system.untrusted import reason_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from consilience.maths.statistics import Statistics
    from consilience.passes.agreement import Agreement

Result = TypeVar("Result")

N_ATTEMPTS = 4
"""How often something is tried when workers are lost before the fit gives up."""

PATIENCE = 120.0
"""After so many seconds without a result, it is asked whether the cluster has workers at all."""


def _lost_data() -> tuple[type[BaseException], ...]:
    from concurrent.futures import CancelledError  # noqa: PLC0415 - belongs to what follows

    from distributed import KilledWorker, client  # noqa: PLC0415 - Dask is an extra
    from distributed.comm import CommClosedError  # noqa: PLC0415

    closed = getattr(client, "ClosedClientError", CancelledError)  # which older versions raise instead
    return (CancelledError, client.FutureCancelledError, closed, KilledWorker, CommClosedError, TimeoutError)


@contextmanager
def _told_plainly() -> Iterator[None]:
    """Say in a sentence what a cluster can no longer do; Dask's own errors speak of keys and futures."""
    try:
        yield
    except _lost_data() as error:
        reason = reason_of(error)
        raise RuntimeError(f"the cluster lost its data, or its connection, and cannot go on: {reason}") from error


@final
class ClusterPredictions(AbstractPredictions):
    """Predictions (members, items, classes) whose blocks of items lie on the workers of a cluster.

    Made of a Dask array, or of a list of delayed blocks or futures, each (members, some items, classes). The client is
    the current one of `dask.distributed`.
    """

    def __init__(self, blocks: Any) -> None:
        self.client = _client()
        self._lay_out(blocks)

    @_told_plainly()
    def _lay_out(self, blocks: Any) -> None:
        arrays = self._arrays(blocks)
        shapes = results([self.client.submit(_shape, array) for array in arrays])
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

    @_told_plainly()
    def harden(self) -> ClusterPredictions:
        """The same answers as labels, on the workers."""
        return ClusterPredictions._like(self, [self.client.submit(Predictions.harden, block) for block in self.blocks])

    @_told_plainly()
    def votes(self) -> ClusterPredictions:
        """The same as labels, without undecided answers, on the workers."""
        return ClusterPredictions._like(self, [self.client.submit(Predictions.votes, block) for block in self.blocks])

    @_told_plainly()
    def ballots(self) -> ClusterPredictions:
        """The same as votes, undecided answers split, on the workers."""
        return ClusterPredictions._like(self, [self.client.submit(Predictions.ballots, block) for block in self.blocks])

    def aligned(self, members: Sequence[Any], classes: Sequence[Any]) -> ClusterPredictions:
        """The same answers, for a fit of as many members and classes."""
        if (self.n_members, self.n_classes) != (len(members), len(classes)):
            raise InvalidPredictions(
                f"predictions must have the {len(members)} members and {len(classes)} classes of the fit; "
                f"got {self.n_members} and {self.n_classes}"
            )
        return self

    @_told_plainly()
    def take(self, items: Any) -> Predictions:
        """Some items, brought to this machine."""
        positions = np.arange(self.n_items)[items if isinstance(items, slice) else np.asarray(items)]
        owners = np.searchsorted(self.starts, positions, side="right") - 1
        order = np.argsort(owners, kind="stable")
        rows = [  # one task for each block: one for each item would take a millisecond each
            self.client.submit(_items, self.blocks[owner], (positions[owners == owner] - self.starts[owner]).tolist())
            for owner in np.unique(owners)
        ]
        found = np.concatenate(_persistently(lambda: results(rows)), axis=1)
        return Predictions(found[:, np.argsort(order)], items=positions.tolist())

    def example(self) -> Array:
        """Item-sized results are Dask arrays of NumPy's."""
        return np.empty(0)

    @_told_plainly()
    def answer(self, rule: Callable[[Predictions, Any], Result], known: Any = None) -> Result:
        """The posterior that a rule gives each block, left on the workers."""
        sent = _kept(self.client, rule)
        places = zip(self.blocks, self.starts, self.starts[1:], strict=False)
        rows = [
            self.client.submit(_answered, sent, block, None if known is None else known[first:last])
            for block, first, last in places
        ]
        return cast("Result", _remote_posterior(rows, self))

    @_told_plainly()
    def total(self, find: Callable[[Predictions], Result]) -> Result:
        """What a function finds in each block, added up on the workers."""
        sent = _kept(self.client, find)
        found = [self.client.submit(_found, sent, block) for block in self.blocks]
        return cast("Result", _persistently(lambda: tree_sum(self.client, found)))


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

    @_told_plainly()
    def __post_init__(self) -> None:
        starts = self.predictions.starts
        self.chunks = [
            self.predictions.client.submit(
                _reader, block, self.log_floor, self.chunk_size, None if self.known is None else self.known[first:last]
            )
            for block, first, last in zip(self.predictions.blocks, starts, starts[1:], strict=False)
        ]

    @_told_plainly()
    def statistics(self, responsibilities: Any) -> Statistics:
        """The statistics of responsibilities (items, classes) in a Dask array with the same blocks."""
        client = self.predictions.client
        rows = client.compute(responsibilities.to_delayed().ravel().tolist())
        parts = zip(self.chunks, rows, strict=True)
        sums = [client.submit(Reader.statistics, own, part) for own, part in parts]
        return cast("Statistics", _persistently(lambda: tree_sum(client, sums)))

    @_told_plainly()
    def average_statistics(self, averages: ClusterReader, member_weights: FloatArray | None = None) -> Statistics:
        """The statistics of the (weighted) mean of the answers as another reader of the same items sees them."""
        submit = self.predictions.client.submit
        parts = zip(self.chunks, averages.chunks, strict=True)
        sums = [submit(Reader.average_statistics, own, other, member_weights) for own, other in parts]
        return cast("Statistics", _persistently(lambda: tree_sum(self.predictions.client, sums)))

    @_told_plainly()
    def agreement(self) -> Agreement:
        """How much members agree with each other on these items."""
        client = self.predictions.client
        sums = [client.submit(Reader.agreement, chunk) for chunk in self.chunks]
        return cast("Agreement", _persistently(lambda: tree_sum(client, sums)))

    def expectation(self, *, remembers: bool) -> ClusterExpectation:
        """Passes over these items."""
        return ClusterExpectation(self, remembers=remembers)

    @_told_plainly()
    def scored_posterior(self, scores: Scores, _: Array) -> LazyPosterior:
        """The softmax of the scores."""
        client = self.predictions.client
        sent = _kept(client, scores)
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
        return _persistently(lambda: self._advance(scores, averaging), self._replay)

    def _advance(self, scores: Scores, averaging: float) -> Statistics:
        client = self.reader.predictions.client
        # On one worker, from which the others fetch it: to copy it to all at once (`broadcast`) fails, or never ends,
        # where a worker dies meanwhile. It may be lost, and then the pass is repeated.
        (sent,) = client.scatter([scores], hash=False)
        pairs = [client.submit(_advance, state, sent, averaging, pure=False) for state in self._states]
        total: Statistics = tree_sum(client, [client.submit(itemgetter(1), pair, pure=False) for pair in pairs])
        self._states = [client.submit(itemgetter(0), pair, pure=False) for pair in pairs]
        _finished(self._states)
        for _ in self._states:
            self.reader.on_chunk()
        return total

    def _replay(self) -> None:
        """All passes but the current one again, from the start."""
        self._states = self._start()
        if self.remembers:
            for scores, averaging in self._passes[:-1]:
                self._advance(scores, averaging)

    @_told_plainly()
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
    (total,) = results(parts)
    return total


# ---- what runs on the workers -----------------------------------------------------------------------------


def _same(value: Result) -> Result:
    return value


def _shape(array: Array) -> tuple[int, ...]:
    return tuple(int(size) for size in array.shape)


def _validated(array: Array, start: int) -> Predictions:
    return Predictions(array, items=range(start, start + array.shape[1]))


def _answered(rule: Callable[[Predictions, Any], LazyPosterior], block: Predictions, known: Any) -> Array:
    return rule(block, known).to_array()


def _found(find: Callable[[Predictions], Result], block: Predictions) -> Result:
    return find(block)


def _items(block: Predictions, places: list[int]) -> Array:
    return block.take(places).to_array()


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


def _kept(client: Any, value: Any) -> Any:
    """A value for all workers as the result of a task, which Dask repeats where the worker that has it dies."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that it is large
        return client.submit(_same, value, pure=False)


def _persistently(work: Callable[[], Result], begin_again: Callable[[], object] = lambda: None) -> Result:
    """What some work on the cluster gives. It is tried again where workers were lost; in vain, that is said."""
    with _told_plainly():
        for attempt in range(N_ATTEMPTS):
            try:
                if attempt:
                    begin_again()
                return work()
            except _lost_data():
                if attempt == N_ATTEMPTS - 1:
                    raise
    raise AssertionError  # never reached: the last attempt returns or raises


def results(futures: list[Any]) -> list[Any]:
    """What all these tasks give, on this machine."""
    return [future.result() for future in _finished(futures)]


def _finished(futures: list[Any]) -> list[Any]:
    """The same tasks once all are done; raises what went wrong, and where no worker is there to do them."""
    from distributed import wait  # noqa: PLC0415 - Dask is an extra
    from distributed.comm import CommClosedError  # noqa: PLC0415

    client = futures[0].client
    while True:
        if client.status != "running":
            raise CommClosedError(f"its client is {client.status}")
        try:
            with client.as_current():
                wait(futures, timeout=PATIENCE)
        except TimeoutError:
            if not client.nthreads():
                raise RuntimeError(
                    f"the cluster has no workers to do the work: none came within {PATIENCE:.0f} seconds"
                ) from None
        else:
            break
    for future in futures:
        if future.status != "finished":
            future.result()  # raises what went wrong
    return futures


def _as_dask(futures: list[Any], predictions: ClusterPredictions) -> Any:
    import dask.array as da  # noqa: PLC0415 - Dask is an extra
    from dask import delayed  # noqa: PLC0415

    (meta,) = _persistently(lambda: results([futures[0].client.submit(_dtype, futures[0])]))
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
            yield int(first), int(last), _persistently(partial(results, [future]))[0]

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
