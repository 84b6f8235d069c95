"""Commands that a page runs when it is built, so that what it shows is what they print."""

from __future__ import annotations

import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def run(
    folder: str | Path,
    command: str,
    *,
    lines: int = 99,
    expected: str = "",
    code: int = 0,
) -> str:
    """A block with a command and the first lines of what it prints, as it runs in a folder.

    It must end with the exit code `code`, and say `expected`.
    """
    program, *words = shlex.split(command)
    done = subprocess.run(  # noqa: S603 - the page's own command
        [sys.executable, "-m", program, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    said = (done.stderr + done.stdout).rstrip()
    if done.returncode != code:
        raise ValueError(
            f"{command} must end with {code}; it ends with {done.returncode}: {said}"
        )
    if expected not in " ".join(said.split()):
        raise ValueError(f"{command} must say {expected!r}; it says {said}")
    shown = said.splitlines()[:lines]
    shown += ["…"] * (len(said.splitlines()) > lines)
    return "\n".join(["```console", f"$ {command}", *shown, "```"])
