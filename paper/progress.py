"""How far an experiment has come: a bar on a terminal, or a line now and then where output goes to a file."""

from __future__ import annotations

from contextlib import contextmanager
from time import monotonic, strftime
from typing import TYPE_CHECKING

from consilience.system.machine import Progress, show_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOG_SECONDS = 30.0


@contextmanager
def shown_or_logged(name: str, *, is_shown: bool, write: Callable[[str], object]) -> Iterator[Progress]:
    """A bar if it `is_shown`; else `write` gets a line every half minute."""
    if not is_shown:
        yield LoggedProgress(write)
        return
    with show_progress(name, is_shown=True) as progress:
        yield progress


class LoggedProgress(Progress):
    """Writes a line now and then, for work whose output goes to a file."""

    def __init__(self, write: Callable[[str], object]) -> None:
        super().__init__()
        self._write, self._next = write, monotonic() + LOG_SECONDS
        self._n_parts, self._n_done, self._what = 0, 0, ""

    def expect(self, n_parts: int) -> None:
        """Add this many parts to the work to do."""
        self._n_parts += n_parts

    def begin(self, what: str) -> None:
        """Say what is being done now."""
        self._what = what
        self._report()

    def finish(self) -> None:
        """Say that one part is done."""
        self._n_done += 1
        self._report()

    def say(self, sentence: str) -> None:
        """Write a sentence at once."""
        self._write(f"{strftime('%H:%M:%S')} {sentence}\n")

    def _report(self) -> None:
        if monotonic() >= self._next:
            self._next = monotonic() + LOG_SECONDS
            self._write(f"{strftime('%H:%M:%S')} {self._n_done}/{self._n_parts} {self._what}\n")
