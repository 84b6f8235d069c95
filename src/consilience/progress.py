"""A bar for fits that take a while."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def progress_bar(name: str, n_steps: int, *, is_shown: bool) -> Iterator[Callable[[], None]]:
    """A function to call at each of the steps; it draws a bar on the terminal where that is wanted."""
    if not is_shown:
        yield lambda: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn  # noqa: PLC0415

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns) as bar:
        task = bar.add_task(name, total=n_steps)
        yield lambda: bar.advance(task)
        bar.update(task, total=bar.tasks[0].completed)  # a fit that settled early is complete
