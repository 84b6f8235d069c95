"""A bar for fits that take a while."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress, TaskID


@contextmanager
def progress_bar(name: str, n_steps: int | None, *, is_shown: bool, after: float = 0.0) -> Iterator[Callable[[], None]]:
    """A function to call after each of the steps; it draws a bar on the terminal where that is wanted.

    The bar appears once so many seconds have passed. Where nobody knows the number of steps, it counts them.
    """
    if not is_shown:
        yield lambda: None
        return
    with _bar() as bar:
        start, task = monotonic(), bar.add_task(name, total=n_steps)

        def advance() -> None:
            if not bar.live.is_started and monotonic() - start >= after:
                bar.start()
            bar.advance(task)

        yield advance
        bar.update(task, total=bar.tasks[0].completed)  # a fit that settled early is complete


@contextmanager
def steps(name: str, n_steps: int, *, is_shown: bool) -> Iterator[Callable[[str], None]]:
    """A function to call before each of the steps with what it is about."""
    if not is_shown:
        yield lambda _: None
        return
    with _bar() as bar:
        bar.start()
        task = bar.add_task(name, total=n_steps, completed=-1)
        yield lambda what: bar.update(task, advance=1, description=what)
        bar.update(task, completed=n_steps, description=name)


class Counter:
    """What a long run tells of itself: how much there is to do, what is being done, and that a part of it is done.

    Told to nobody, unless it has a bar to tell it to.
    """

    def __init__(self, bar: Progress | None = None, task: TaskID | None = None) -> None:
        self._bar, self._task = bar, task

    def expect(self, n_parts: int) -> None:
        """So many more parts."""
        self._update(lambda bar, task: {"total": (bar.tasks[task].total or 0) + n_parts})

    def begin(self, what: str) -> None:
        """Now this is being done."""
        self._update(lambda _, __: {"description": what})

    def finish(self) -> None:
        """One part is done."""
        self._update(lambda _, __: {"advance": 1})

    def _update(self, change: Callable[[Progress, TaskID], dict[str, Any]]) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, **change(self._bar, self._task))


@contextmanager
def counter(name: str, *, is_shown: bool) -> Iterator[Counter]:
    """A counter, with a bar on the terminal where that is wanted."""
    if not is_shown:
        yield Counter()
        return
    with _bar() as bar:
        bar.start()
        yield Counter(bar, bar.add_task(name, total=None))


@contextmanager
def _bar() -> Iterator[Progress]:
    """A bar to be started, on standard error, for standard output is for results; it stops when all is over."""
    from rich.console import Console  # noqa: PLC0415 - only who wants a bar pays for it
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn  # noqa: PLC0415

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True))
    try:
        yield bar
    finally:
        if bar.live.is_started:
            try:
                with suppress(IndexError):  # of rich, where Ctrl-C came while the bar was being started
                    bar.stop()
            finally:
                bar.console.show_cursor()
