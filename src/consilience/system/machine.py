"""What work runs on: memory, and a thread pool that changes no sum; and a bar that says how far it has come."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from threadpoolctl import ThreadpoolController

from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from rich.progress import Progress as Bar  # Progress is a class of ours

MOST_SHARE = 0.5  # the share of the machine's memory that one fit may take

LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Where a container's own limit stands."""


def machine_bytes() -> int:
    """The memory of this machine, container or process, whichever is least; no limit where it cannot be told."""
    found = [sys.maxsize]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in LIMITS:
        with suppress(OSError, ValueError):  # not there, or "max"
            found.append(int(path.read_text()))
    with suppress(ImportError):
        import resource  # noqa: PLC0415 - Windows has none

        found.append(resource.getrlimit(resource.RLIMIT_AS)[0])
    return min(n_bytes for n_bytes in found if n_bytes > 0)


def check_fits(n_bytes: int, what: str) -> None:
    """Raise if something would take more than its share of the memory."""
    most = int(MOST_SHARE * machine_bytes())
    if n_bytes > most:
        raise InvalidPredictions(
            f"a fit must take at most {MOST_SHARE:.0%} of the memory, {most / 2**30:,.1f} GiB; {what} would take about "
            f"{n_bytes / 2**30:,.1f} GiB"
        )


Item = TypeVar("Item")
Result = TypeVar("Result")


def n_threads() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(function: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """The results in the order of the items, some being computed ahead on threads.

    So sums over them are the same to the last bit for any number of threads, and few results exist at a time.
    """
    if workers <= 1:
        yield from map(function, items)
        return
    ahead: deque[Future[Result]] = deque()
    try:
        for item in items:
            if len(ahead) == workers:
                yield ahead.popleft().result()
            ahead.append(_pool().submit(function, item))
        while ahead:
            yield ahead.popleft().result()
    finally:
        for future in ahead:  # one failed, or the caller stopped early
            future.cancel()


@contextmanager
def one_thread_per_product() -> Iterator[None]:
    """Inside this block, matrix products run on the calling thread, because chunks already occupy the cores.

    The limit applies to the whole process. If several threads enter, the first sets it and the last removes it.
    """
    with _LIMIT.lock:
        _LIMIT.n_inside += 1
        if _LIMIT.n_inside == 1:
            _LIMIT.end = _controller().limit(limits=1, user_api="blas").restore_original_limits
    try:
        yield
    finally:
        with _LIMIT.lock:
            _LIMIT.n_inside -= 1
            if _LIMIT.n_inside == 0:
                _LIMIT.end()


class _Limit:
    """Who is inside `one_thread_per_product`, and how the limit is lifted."""

    def __init__(self) -> None:
        self.lock, self.n_inside = threading.Lock(), 0
        self.end: Callable[[], object] = lambda: None


_LIMIT = _Limit()


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads(), thread_name_prefix="consilience")  # starting threads costs more than a step


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a forked process has none of its parent's threads


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # looking for the libraries takes milliseconds


# ---- progress ---------------------------------------------------------------------------------------------


class Progress:
    """Takes reports of how far some work has come. They are discarded when no bar is shown."""

    def __init__(self, bar: Bar | None = None, *, after: float = 0.0) -> None:
        self._bar, self._start = bar, monotonic() + after

    def expect(self, n_parts: int) -> None:
        """Add this many parts to the work to do."""
        if bar := self._visible():
            bar.update(bar.task_ids[0], total=(bar.tasks[0].total or 0) + n_parts)

    def begin(self, what: str) -> None:
        """Say what is being done now."""
        if bar := self._visible():
            bar.update(bar.task_ids[0], description=what)

    def finish(self) -> None:
        """Say that one part is done."""
        if bar := self._visible():
            bar.advance(bar.task_ids[0])

    def say(self, sentence: str) -> None:
        """Print a sentence that stays, above the bar."""
        if self._bar is not None:
            self._bar.console.print(sentence, markup=False, highlight=False)

    def _visible(self) -> Bar | None:
        """The bar, which appears when its time has come."""
        if self._bar is not None and not self._bar.live.is_started and monotonic() >= self._start:
            self._bar.start()
        return self._bar


@contextmanager
def show_progress(name: str, n_parts: int | None = None, *, is_shown: bool, after: float = 0.0) -> Iterator[Progress]:
    """Show a bar during some work, if `is_shown`; it appears at the first report after this many seconds.

    If the number of parts is unknown, the bar counts those that are done.
    """
    if not is_shown:
        yield Progress()
        return
    from rich.console import Console  # noqa: PLC0415 - only who wants a bar pays for it
    from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn  # noqa: PLC0415
    from rich.progress import Progress as Bar  # noqa: PLC0415

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Bar(*columns, console=Console(stderr=True))  # not started yet; standard output is for results
    task = bar.add_task(name, total=n_parts)
    try:
        yield Progress(bar, after=after)
        # Work that needs fewer parts than expected, such as a fit that settles early, is complete too.
        bar.update(task, total=bar.tasks[0].completed, description=name)
    finally:
        if bar.live.is_started:
            try:
                with suppress(IndexError):  # rich raises it if Ctrl-C comes while the bar is being started
                    bar.stop()
            finally:
                bar.console.show_cursor()
        bar.disable = True  # a report that comes later must not start it again
