"""A bar for fits that take a while."""

from __future__ import annotations

from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def progress_bar(name: str, n_steps: int | None, *, is_shown: bool, after: float = 0.0) -> Iterator[Callable[[], None]]:
    """A function to call at each of the steps; it draws a bar on the terminal where that is wanted.

    The bar appears once so many seconds have passed. Where nobody knows the number of steps, it counts them.
    """
    if not is_shown:
        yield lambda: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn  # noqa: PLC0415

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar, start = Progress(*columns), monotonic()
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
