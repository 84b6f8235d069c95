"""A bar for fits that take a while."""

from __future__ import annotations

from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress


@contextmanager
def progress_bar(name: str, n_steps: int | None, *, is_shown: bool, after: float = 0.0) -> Iterator[Callable[[], None]]:
    """A function to call after each of the steps; it draws a bar on the terminal where that is wanted.

    The bar appears once so many seconds have passed. Where nobody knows the number of steps, it counts them.
    """
    if not is_shown:
        yield lambda: None
        return
    bar, start = _bar(), monotonic()
    task = bar.add_task(name, total=n_steps)

    def advance() -> None:
        if not bar.live.is_started and monotonic() - start >= after:
            bar.start()
        bar.advance(task)

    try:
        yield advance
        bar.update(task, total=bar.tasks[0].completed)  # a fit that settled early is complete
    finally:
        if bar.live.is_started:
            bar.stop()


@contextmanager
def steps(name: str, n_steps: int, *, is_shown: bool) -> Iterator[Callable[[str], None]]:
    """A function to call before each of the steps with what it is about."""
    if not is_shown:
        yield lambda _: None
        return
    with _bar() as bar:
        task = bar.add_task(name, total=n_steps, completed=-1)
        yield lambda what: bar.update(task, advance=1, description=what)
        bar.update(task, completed=n_steps, description=name)


def _bar() -> Progress:
    """On standard error: standard output is for results."""
    from rich.console import Console  # noqa: PLC0415 - only who wants a bar pays for it
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn  # noqa: PLC0415

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True))
