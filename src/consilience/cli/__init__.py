"""The command line: parse, call, print."""

from __future__ import annotations

import sys


def main() -> None:
    """Run `consilience`; bad input ends in one sentence and exit code 2."""
    from consilience.cli.app import app  # noqa: PLC0415 - so that a failing import is reported like the rest
    from consilience.errors import InvalidPredictions  # noqa: PLC0415

    try:
        app(prog_name="consilience")
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _fail(f"{where}{error.strerror or error}")
    except (InvalidPredictions, ValueError, ImportError) as error:
        _fail(str(error))


def _fail(sentence: str) -> None:
    from rich.console import Console  # noqa: PLC0415 - only where something is to be said

    Console(stderr=True).print(f"consilience: {sentence}", style="red", markup=False, highlight=False, soft_wrap=True)
    sys.exit(2)
