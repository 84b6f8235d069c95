"""Peers in a process of their own, which is ended where one takes too long.

The limit is processor time, so that what a peer is left out of does not depend on what else the machine does.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from multiprocessing.connection import Connection
from time import perf_counter
from types import TracebackType
from typing import Self, final

import numpy as np

from benchmarks.quality.panel import Panel
from benchmarks.quality.peers import PEERS

PATIENCE = 10
"""A process that does not end by itself, in a long call of a library, is ended after so many times the limit."""


@final
@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one peer on one panel."""

    peer: str
    seconds: float  # without imports and the start of the process
    posterior: np.ndarray | None = None  # (items, classes); None where there is none
    reason: str = ""  # why there is none


@final
class Runner:
    """Runs one peer at a time, each for at most `limit` seconds of processor time.

    with Runner(limit=600) as runner:
        outcome = runner.run("GLAD", panel)
    """

    def __init__(self, *, limit: float = 600) -> None:
        self.limit = limit
        self._context = multiprocessing.get_context("spawn")  # a fork may hang in the threads of torch
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection | None = None

    def run(self, name: str, panel: Panel) -> Outcome:
        """What becomes of a peer on a panel, whose truth stays in this process."""
        peer = PEERS[name]
        reason = peer.reason_against(panel) if peer.is_installed else f"{peer.library} is not installed"
        if reason is not None:
            return Outcome(name, 0.0, reason=reason)
        if self._process is None:
            self._start()
        assert self._connection is not None  # noqa: S101 - a started process has one
        self._connection.send((name, replace(panel, truth=np.full(panel.n_items, -1)), self.limit))
        try:
            failed: Outcome | None = self._connection.recv()  # imports are done
            if failed is not None:
                return failed
            if self._connection.poll(PATIENCE * self.limit):
                found: Outcome = self._connection.recv()
                return found
        except (EOFError, ConnectionError):
            self.close()
            return Outcome(name, 0.0, reason="its process died, perhaps for lack of memory")
        self.close()
        return Outcome(name, self.limit, reason=f"takes more than {self.limit:g} s")

    def _start(self) -> None:
        self._connection, theirs = self._context.Pipe()
        self._process = self._context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()  # so that the end of the process is noticed

    def close(self) -> None:
        """End the process; the next run starts another."""
        if self._process is not None and self._connection is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
        self._process = self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _serve(connection: Connection) -> None:
    """Answer requests until the process is ended."""
    while True:
        name, panel, limit = connection.recv()
        try:
            import_module(PEERS[name].library)
        except ImportError as error:
            connection.send(Outcome(name, 0.0, reason=f"{type(error).__name__}: {error}"))
            continue
        connection.send(None)
        start = perf_counter()
        try:
            with _limited(limit):
                posterior = PEERS[name](panel)
        except TimeoutError:
            found = Outcome(name, perf_counter() - start, reason=f"takes more than {limit:g} s")
        except Exception as error:  # noqa: BLE001 - whatever a peer raises is its outcome
            found = Outcome(name, perf_counter() - start, reason=f"{type(error).__name__}: {error}")
        else:
            found = Outcome(name, perf_counter() - start, posterior)
        connection.send(found)


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise TimeoutError after so many seconds of this process's time."""

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, max(seconds, 1e-3))  # 0 would be never
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
