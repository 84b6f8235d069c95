"""The command line: parse, call, print. A command is a file; `app` lists them, the other files are what they share.

It may import from every room.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress


def main() -> None:
    """Run `consilience`."""

    def start() -> None:
        from consilience.cli.app import app  # noqa: PLC0415 - so that a failing import is reported like other errors

        app(prog_name="consilience")

    run_command("consilience", start)


def run_command(name: str, start: Callable[[], None]) -> None:
    """Start a command; bad input ends in one sentence, which begins with its name, and exit code 2."""
    _open_closed_streams()
    try:
        try:
            start()
        finally:
            sys.stdout.flush()  # reports a full disk here instead of in a traceback at exit
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        _drop_output()
        where = f"{error.filename}: " if error.filename else ""
        _fail(name, f"{where}{error.strerror or error}")
    except MemoryError as error:
        _fail(name, f"the predictions must fit in memory; they do not ({error or 'no more is known'})")
    except (ValueError, ImportError) as error:
        _fail(name, error.in_command() if hasattr(error, "in_command") else str(error))


def _open_closed_streams() -> None:
    """Discard what would go to an output that the shell has closed (`>&-`), which Python does not open at all.

    The place of the closed output is taken by this, and not by the next file that is opened.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - open until the end


def _drop_output() -> None:
    """Discard output that cannot be written, or Python would try again at exit and print a traceback."""
    with suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - no path to speak of
        try:
            sys.stdout.flush()
        except OSError:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _fail(name: str, sentence: str) -> None:
    from rich.console import Console  # noqa: PLC0415 - only errors need it

    from consilience.cli.screen import on_command_line, visible  # noqa: PLC0415

    sentence = visible(on_command_line(sentence))
    console = Console(stderr=True, emoji=False)
    console.print(f"{name}: {sentence}", style="red", markup=False, highlight=False, soft_wrap=True)
    sys.exit(2)
