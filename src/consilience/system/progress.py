"""A progress bar for work that takes a while."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress as Bar  # Progress is a class of ours


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
    with _bar() as bar:
        task = bar.add_task(name, total=n_parts)
        yield Progress(bar, after=after)
        # Work that needs fewer parts than expected, such as a fit that settles early, is complete too.
        bar.update(task, total=bar.tasks[0].completed, description=name)


@contextmanager
def _bar() -> Iterator[Bar]:
    """A bar that is not started yet, on standard error, because standard output is for results."""
    from rich.console import Console  # noqa: PLC0415 - only who wants a bar pays for it
    from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn  # noqa: PLC0415
    from rich.progress import Progress as Bar  # noqa: PLC0415

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Bar(*columns, console=Console(stderr=True))
    try:
        yield bar
    finally:
        if bar.live.is_started:
            try:
                with suppress(IndexError):  # rich raises it if Ctrl-C comes while the bar is being started
                    bar.stop()
            finally:
                bar.console.show_cursor()
        bar.disable = True  # a report that comes later must not start it again
