"""Check where commands write, and write reports."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING

from consilience.cli import screen
from consilience.files import split_source
from consilience.system.atomic import check_writable

if TYPE_CHECKING:
    from pathlib import Path

    from consilience.insight.analysis import Analysis


def check_places(outputs: list[Path | None], inputs: list[str | Path | None]) -> None:
    """Raise if two outputs are the same file, or an output is also an input, be it FILE or FILE:KEY."""
    taken = {os.path.realpath(split_source(str(path))[0]): str(path) for path in inputs if path is not None}
    for path in outputs:
        if path is None:
            continue
        place = os.path.realpath(path)
        if place in taken:
            raise ValueError(f"each output must be a file of its own; {path} is also {taken[place]}")
        taken[place] = f"{path}, another output"


def check_outputs(save: Path | None, report: Path | None = None) -> None:
    """Raise if a model or a report cannot be written."""
    for path, suffix in ((save, ".npz"), (report, ".html")):
        if path is not None:
            check_writable(path, (suffix,))


def files_in(options: list[str] | None) -> list[str]:
    """What options of a method, such as weights=FILE, may name: their values."""
    return [option.partition("=")[2] for option in options or [] if "=" in option]


def write_page(path: Path, analysis: Analysis, title: str | None = None) -> None:
    """Write the report of an analysis, with the command line in its foot."""
    from consilience.report import write_report  # noqa: PLC0415 - only commands that write a report load it

    with screen.waiting("writing the report"):
        write_report(path, analysis, title=title, command=shlex.join(["consilience", *sys.argv[1:]]))
