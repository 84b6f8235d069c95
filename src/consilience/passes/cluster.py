"""The same fit on a Dask cluster: data stay on the workers, statistics and parameters travel.

Each block of items becomes a `Predictions` on some worker. A pass sends the scores to all workers, lets each summarize
its blocks, and adds the statistics up as a tree; what returns to the client does not depend on the number of items.

A task takes some milliseconds, whatever it does. So small blocks of one worker are visited together, by one task.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from functools import partial, reduce
from operator import add, attrgetter
from typing import Any, NamedTuple, TypeVar, final

import numpy as np

from consilience.data.axes import Axes, Axis, short
from consilience.data.labels import NamedLabels
from consilience.data.predictions import AbstractPredictions, Predictions, place_of, placed, stacked, total_of
from consilience.maths.em import Scores, Statistics
from consilience.passes.pair_products import Agreement
from consilience.passes.reader import Expectation, Reader
from consilience.passes.remote_votes import read_votes
from consilience.passes.responsibilities import LazyPosterior
from consilience.system.arrays import Array, FloatArray, IntArray, to_numpy
from consilience.system.errors import InvalidPredictions
from consilience.system.untrusted import reason_of

Result = TypeVar("Result")

SUMS_AT_ONCE = 8  # so many statistics are added up by one task

BYTES_AT_ONCE, MOST_TASKS = 2**27, 8
"""The blocks that one task visits have up to so many bytes together, or there is one of them. They have more where a
thread of a worker would have more tasks than this: the scheduler takes milliseconds for each."""

N_ATTEMPTS = 4  # how often something is tried when workers are lost before the fit gives up
PATIENCE = 120.0  # after so many seconds without a result, it is asked whether the cluster has workers at all


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

    Made of a Dask array; of a list of delayed blocks or futures, each (members, some items, classes); or of a Dask
    frame with a row for each vote. The client is the current one of `dask.distributed`.
    """

    def __init__(self, blocks: Any) -> None:
        self.client = _client()
        self.are_votes = hasattr(blocks, "columns")
        with _told_plainly():
            self.blocks, members, classes = (self._read_votes if self.are_votes else self._read_arrays)(blocks)
            facts = results([self.client.submit(_facts, block) for block in self.blocks])
            found = self.client.who_has(_finished(self.blocks))
        n_items, n_bytes, has_repeats = zip(*facts, strict=True)
        self.starts = np.cumsum([0, *n_items])
        self._repeats = any(has_repeats)
        self.axes = Axes(members, Axis("item", int(self.starts[-1])), classes)
        # The worker that has each block, once it is made; None where it has just been lost.
        self.owners = [min(found.get(block.key, ()), default=None) for block in self.blocks]
        self.groups = _together(self.client, self.owners, np.array(n_bytes))

    def _read_votes(self, frame: Any) -> tuple[list[Any], Axis, Axis]:
        """The blocks of a frame, its members and its classes."""
        votes, columns = read_votes(frame)
        parts = self.client.compute(list(votes.to_delayed()))
        sizes = results([self.client.submit(len, part) for part in parts])
        blocks = [self.client.submit(columns.block, part) for part, size in zip(parts, sizes, strict=True) if size]
        return blocks, columns.members.axis, columns.labels.axis

    def _read_arrays(self, blocks: Any) -> tuple[list[Any], Axis, Axis]:
        """The blocks of an array or of a list, its members and its classes."""
        if isinstance(blocks, list | tuple):
            arrays = [self.client.compute(block) if hasattr(block, "dask") else block for block in blocks]
        elif blocks.ndim == 3:
            arrays = list(self.client.compute(blocks.rechunk({0: -1, 2: -1}).to_delayed().ravel().tolist()))
        else:
            raise InvalidPredictions(f"probabilities must be (members, items, classes); got {blocks.ndim} dimensions")
        shapes = results([self.client.submit(lambda own: tuple(map(int, own.shape)), array) for array in arrays])
        every = list(zip(arrays, shapes, strict=True))
        filled = [(array, shape) for array, shape in every if shape[1:2] != (0,)] or every  # a filter may empty some
        shapes = [shape for _, shape in filled]
        for place, shape in enumerate(shapes):
            if len(shape) != 3 or (shape[0], shape[2]) != (shapes[0][0], shapes[0][-1]):
                raise InvalidPredictions(
                    f"each block must be (members, items, classes) with the same members and classes; "
                    f"block 0 has shape {shapes[0]}, block {place} {shape}"
                )
        n_members, _, n_classes = shapes[0]
        starts = np.cumsum([0, *(shape[1] for shape in shapes)]).tolist()
        made = [self.client.submit(_validated, array, start) for (array, _), start in zip(filled, starts, strict=False)]
        return made, Axis("member", n_members), Axis("class", n_classes)

    def _with(self, work: Callable[[Predictions], Predictions]) -> ClusterPredictions:
        """The same with other blocks, which some work makes of these."""
        made = copy(self)
        made.blocks = self.each(work, self.blocks)
        return made

    def _each(self, work: Callable[[Predictions], Predictions]) -> ClusterPredictions:
        # Each block does the work by itself, since some may have labels alone by now.
        return self if self.are_votes else self._with(partial(Predictions._each, work=work))  # noqa: SLF001 - a block of these

    @property
    def items(self) -> Any:
        """The items' names, not as a list, which would grow with the number of items. Those of an array count them."""
        return RemoteNames(self) if self.are_votes else range(self.n_items)

    @_told_plainly()
    def each(self, work: Callable[..., Any], *lists: Sequence[Any]) -> list[Any]:
        """Do some work for each block, given its entries of these lists; where the block lies, if that lives."""
        return [
            self.client.submit(work, *entries, workers=owner, allow_other_workers=True)
            for owner, *entries in zip(self.owners, *lists, strict=True)
        ]

    def parts_of(self, values: Any) -> list[Any]:
        """Values of all items, or None, as those of each block."""
        bounds = zip(self.starts, self.starts[1:], strict=False)
        return [None if values is None else values[first:last] for first, last in bounds]

    @_told_plainly()
    def added_up(self, find: Callable[..., Result], *lists: Sequence[Any]) -> Result:
        """The sum of what a function, or its future, finds in each block, given its entries of these lists."""
        sums = [
            self.client.submit(_sum_over, find, *([own[place] for place in group] for own in lists), pure=False)
            for group in self.groups
        ]
        total: Result = _persistently(lambda: tree_sum(self.client, sums))
        return total

    @property
    def is_soft(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Every member gives probabilities, or votes."""
        return np.full(self.n_members, not self.are_votes)

    def answering(self) -> tuple[list[int], list[int]]:
        """Every member gives probabilities, or votes."""
        everybody = list(range(self.n_members))
        return ([], everybody) if self.are_votes else (everybody, [])

    def has_repeats(self) -> bool:
        """Whether a member votes twice on an item; in an array everybody answers once."""
        return self._repeats

    def aligned(self, members: Sequence[Any], classes: Sequence[Any]) -> ClusterPredictions:
        """The same answers on the axes of a fit: of an array, as many members and classes; of votes, by their names."""
        if self.are_votes:
            axes = Axes.named(list(members), self.axes.items, list(classes))
            made = self._with(partial(Predictions.aligned, members=axes.members.names, classes=axes.classes.names))
            made.axes = axes
            return made
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
            self.client.submit(
                Predictions.take, self.blocks[owner], (positions[owners == owner] - self.starts[owner]).tolist()
            )
            for owner in np.unique(owners)
        ]
        parts = _persistently(lambda: results(rows))
        names = [name for part in parts for name in part.items] if self.are_votes else positions[order].tolist()
        found = stacked(parts, names)
        return found if np.array_equal(order, np.arange(len(order))) else found.take(np.argsort(order))


@placed.register(ClusterPredictions)
def _(predictions: ClusterPredictions, labels: Any) -> Any:
    """Labels by the positions of items, whose names lie on the workers."""
    if not predictions.are_votes or labels is None:
        return labels
    named = labels.to_dict() if hasattr(labels, "to_dict") and hasattr(labels, "index") else labels
    if not isinstance(named, Mapping):
        raise InvalidPredictions(
            "labels must name their items, as a mapping or a Series: votes in a Dask frame come in no order"
        )
    names = list(named)
    found: dict[int, int] = {}  # which name each position has
    places = predictions.each(_places, predictions.blocks, [names] * len(predictions.blocks))
    for own, start in zip(results(places), predictions.starts, strict=False):
        found |= {int(start) + place: name for name, place in own}
    if missing := set(range(len(names))) - set(found.values()):
        raise InvalidPredictions(f"each item must have votes on the cluster; {short(names[min(missing)])} has none")
    return NamedLabels(list(found), [named[names[place]] for place in found.values()])


@place_of.register(ClusterPredictions)
def _(predictions: ClusterPredictions, item: Any) -> int:
    if predictions.are_votes:
        return int(placed(predictions, {item: None}).items[0])
    return predictions.axes.items.position_of(item)


def answered_by(predictions: Any, rule: Callable[[Predictions, Any], LazyPosterior], known: Any) -> LazyPosterior:
    """The posterior that a rule gives each block, left on the workers."""
    sent = [_kept(predictions.client, rule)] * len(predictions.blocks)
    rows = predictions.each(_answered, sent, predictions.blocks, predictions.parts_of(known))
    return _remote_posterior(rows, predictions)


@total_of.register(ClusterPredictions)
def _(predictions: ClusterPredictions, find: Callable[[Predictions], Result]) -> Result:
    """What a function finds in each block, added up on the workers."""
    total: Result = predictions.added_up(_kept(predictions.client, find), predictions.blocks)
    return total


@final
class RemoteNames(Sequence[Any]):
    """The names of items on a cluster, brought here when somebody asks for them."""

    def __init__(self, predictions: ClusterPredictions) -> None:
        self._predictions = predictions

    def __len__(self) -> int:
        """How many items there are."""
        return self._predictions.n_items

    def __getitem__(self, place: Any) -> Any:
        """The name at a position, or the names of a slice."""
        if isinstance(place, slice):
            return self._predictions.take(place).items
        return self._predictions.take([range(len(self))[place]]).items[0]

    def __iter__(self) -> Iterator[Any]:
        """All names, block by block."""
        for names in self._predictions.each(attrgetter("items"), self._predictions.blocks):
            yield from _persistently(partial(results, [names]))[0]


@final
@dataclass(eq=False)
class ClusterReader:
    """Reads each block on the worker that has it; the statistics are added up there."""

    predictions: ClusterPredictions
    log_floor: float | None = None
    chunk_size: int | None = None
    known: IntArray | None = None
    on_chunk: Callable[[], None] = lambda: None
    chunks: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        read = partial(_reader, self.log_floor, self.chunk_size)
        self.chunks = self.predictions.each(read, self.predictions.blocks, self.predictions.parts_of(self.known))

    @_told_plainly()
    def statistics(self, responsibilities: Any) -> Statistics:
        """The statistics of responsibilities (items, classes) in a Dask array with the same blocks."""
        rows = self.predictions.client.compute(responsibilities.to_delayed().ravel().tolist())
        return self.predictions.added_up(Reader.statistics, self.chunks, rows)

    def average_statistics(self, averages: Any, member_weights: FloatArray | None = None) -> Statistics:
        """The statistics of the (weighted) mean of the answers as another reader of the same items sees them."""
        find = partial(Reader.average_statistics, member_weights=member_weights)
        return self.predictions.added_up(find, self.chunks, averages.chunks)

    def agreement(self) -> Agreement:
        """How much members agree with each other on these items."""
        return self.predictions.added_up(Reader.agreement, self.chunks)

    def expectation(self, *, remembers: bool) -> ClusterExpectation:
        """Passes over these items."""
        return ClusterExpectation(self, remembers=remembers)

    def scored_posterior(self, scores: Scores, _: Array) -> LazyPosterior:
        """The softmax of the scores."""
        sent = _kept(self.predictions.client, scores)
        rows = self.predictions.each(Reader.posterior, self.chunks, [sent] * len(self.chunks))
        return _remote_posterior(rows, self.predictions)


@final
class ClusterExpectation:
    """Passes over all blocks; each block's share of the posterior stays on its worker.

    A worker that dies takes blocks and their shares with it. Dask computes the blocks anew; the shares are brought
    up to date by repeating the passes so far for them, whose scores are kept for that on the client.
    """

    def __init__(self, reader: ClusterReader, *, remembers: bool) -> None:
        self.reader = reader
        self.remembers = remembers
        self._passes: list[tuple[Scores, float]] = []
        self._states = self._start()

    def _start(self) -> list[Any]:
        submit, chunks = self.reader.predictions.client.submit, self.reader.chunks
        return [
            submit(_expectations, [chunks[place] for place in group], self.remembers, pure=False)
            for group in self.reader.predictions.groups
        ]

    def __call__(self, scores: Scores, *, averaging: float = 1.0) -> Statistics:
        """The statistics of the new responsibilities, which are averaged into the posterior."""
        scores = Scores(*(table.copy() for table in scores))  # the fit will overwrite its own
        if self.remembers:
            self._passes.append((scores, averaging))
        return _persistently(lambda: self._advance(scores, averaging), self._replay)

    def _advance(self, scores: Scores, averaging: float) -> Statistics:
        client = self.reader.predictions.client
        sent = _sent(client, scores)
        self._states = [client.submit(_advance, state, sent, averaging, pure=False) for state in self._states]
        sums = [client.submit(attrgetter("statistics"), state, pure=False) for state in self._states]
        total: Statistics = tree_sum(client, sums)
        for _ in self.reader.chunks:
            self.reader.on_chunk()
        return total

    def _replay(self) -> None:
        """All passes but the current one again, from the start."""
        self._states = self._start()
        if self.remembers:
            for scores, averaging in self._passes[:-1]:
                self._advance(scores, averaging)

    @_told_plainly()
    def posterior(self, averages: Any) -> LazyPosterior:
        """The posterior after these passes."""
        predictions, rows = self.reader.predictions, {}
        for group, state in zip(predictions.groups, self._states, strict=True):
            for within, place in enumerate(group):
                rows[place] = predictions.client.submit(_averaged_rows, averages.chunks[place], state, within)
        return _remote_posterior([rows[place] for place in range(len(rows))], predictions)


def tree_sum(client: Any, parts: list[Any]) -> Any:
    """The sum of statistics on the workers: a few are added there, then a few of these sums; one comes back."""
    while len(parts) > 1:
        some = [parts[place : place + SUMS_AT_ONCE] for place in range(0, len(parts), SUMS_AT_ONCE)]
        parts = [client.submit(reduce, add, own, pure=False) if len(own) > 1 else own[0] for own in some]
    (total,) = results(parts)
    return total


def _together(client: Any, owners: list[str | None], n_bytes: IntArray) -> list[list[int]]:
    """Which blocks are visited by one task: those on the same worker, as many groups as it has threads, or more."""
    n_threads, groups = client.nthreads(), []
    for worker in dict.fromkeys(owners):
        places = [place for place, owner in enumerate(owners) if owner == worker]
        of_thread = -(-int(n_bytes[places].sum()) // n_threads.get(worker, 1))
        most = min(max(BYTES_AT_ONCE, -(-of_thread // MOST_TASKS)), of_thread)
        number = (np.cumsum(n_bytes[places]) - 1) // most
        groups += [own.tolist() for own in np.split(places, np.flatnonzero(np.diff(number)) + 1)]
    return groups


# ---- what runs on the workers -----------------------------------------------------------------------------


def _validated(array: Array, start: int) -> Predictions:
    try:
        return Predictions(array)
    except InvalidPredictions:
        return Predictions(array, items=range(start, start + array.shape[1]))  # raises again, and names the item


def _answered(rule: Callable[[Predictions, Any], LazyPosterior], block: Predictions, known: Any) -> Array:
    return rule(block, known).to_array()


def _facts(block: Predictions) -> tuple[int, int, bool]:
    """How many items and bytes it has, and whether some member answers an item twice."""
    return block.n_items, block.__sizeof__(), block.has_repeats()


def _places(block: Predictions, names: list[Any]) -> list[tuple[int, int]]:
    """Which of these names are items of the block, and where."""
    found = ((number, block.axes.items.find(name)) for number, name in enumerate(names))
    return [(number, place) for number, place in found if place is not None]


def _sum_over(find: Callable[..., Any], *lists: list[Any]) -> Any:
    return reduce(add, map(find, *lists))


def _reader(log_floor: float | None, chunk_size: int | None, block: Predictions, known: IntArray | None) -> Reader:
    has_labels = known is not None and bool((known >= 0).any())
    return Reader(block, log_floor=log_floor, chunk_size=chunk_size, known=known if has_labels else None)


class _Pass(NamedTuple):
    """What a pass over some blocks leaves on their worker."""

    states: list[Expectation]
    statistics: Statistics | None


def _expectations(readers: list[Reader], remembers: bool) -> _Pass:
    return _Pass([Expectation(reader, remembers=remembers) for reader in readers], None)


def _advance(before: _Pass, scores: Scores, averaging: float) -> _Pass:
    states = [state.copy() for state in before.states]  # a task may run twice, so it must not change what it is given
    return _Pass(states, reduce(add, [state(scores, averaging=averaging) for state in states]))


def _averaged_rows(averages: Reader, done: _Pass, place: int) -> Array:
    return done.states[place].posterior(averages).to_array()


# ---- Dask's own ways --------------------------------------------------------------------------------------


def _client() -> Any:
    from distributed import default_client  # noqa: PLC0415 - Dask is an extra

    try:
        return default_client()
    except ValueError:
        raise InvalidPredictions(
            "a Dask array needs a cluster: start a dask.distributed.Client first (Client() makes a local one)"
        ) from None


@_told_plainly()
def _kept(client: Any, value: Any) -> Any:
    """A value for all workers as the result of a task, which Dask repeats where the worker that has it dies."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that it is large
        return client.submit(lambda same: same, value, pure=False)


def _sent(client: Any, value: Any) -> Any:
    """A value on one worker, from which the others fetch it. It may be lost, and then a pass is repeated.

    To copy it to all at once (`broadcast`) fails, or never ends, where a worker dies meanwhile. As a task, the scores
    of all passes would stay with the scheduler.
    """
    from distributed.comm import CommClosedError  # noqa: PLC0415 - Dask is an extra

    try:
        (sent,) = client.scatter([value], hash=False)
    except KeyError as error:  # Dask's scheduler looks for a worker that has just left
        raise CommClosedError(f"worker {error} is gone") from error
    return sent


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


def _remote_posterior(futures: list[Any], predictions: ClusterPredictions) -> LazyPosterior:
    """The rows of all blocks as a Dask array."""
    import dask.array as da  # noqa: PLC0415 - Dask is an extra
    from dask import delayed  # noqa: PLC0415

    kind = futures[0].client.submit(lambda rows: to_numpy(rows[:0]).dtype, futures[0])
    (dtype,) = _persistently(lambda: results([kind]))
    shapes = [(size, predictions.n_classes) for size in np.diff(predictions.starts).tolist()]
    blocks = [da.from_delayed(delayed(own), shape, dtype) for own, shape in zip(futures, shapes, strict=True)]
    rows = da.concatenate(blocks)

    def chunks() -> Iterator[tuple[int, int, Array]]:
        for future, first, last in zip(futures, predictions.starts, predictions.starts[1:], strict=False):
            yield int(first), int(last), _persistently(partial(results, [future]))[0]

    return LazyPosterior(rows, chunks=chunks)
