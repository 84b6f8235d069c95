"""Check where commands write, and write reports."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from consilience.cli import screen
from consilience.data.names import text_of
from consilience.files import split_source
from consilience.files.back import (
    DATASETS,
    PRODIGY,
    Returned,
    check_appendable,
    check_back,
    facts_of,
    new_folder,
    write_appended,
    write_back,
)
from consilience.files.contents import ARRAY_FORMATS
from consilience.files.writing import check_posterior_path, write_posterior
from consilience.insight.answers import answers_under
from consilience.system.atomic import check_writable

if TYPE_CHECKING:
    from pathlib import Path

    from consilience.data.tables.told import Told
    from consilience.insight.analysis import Analysis
    from consilience.system.tables import Table


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


def write_page(path: Path, analysis: Analysis, title: str | None = None) -> None:
    """Write the report of an analysis, with the command line in its foot."""
    from consilience.report import write_report  # noqa: PLC0415 - only commands that write a report load it

    with screen.waiting("writing the report"):
        write_report(path, analysis, title=title, command=shlex.join(["consilience", *sys.argv[1:]]))


class Back(NamedTuple):
    """Where the answers go, and in which form."""

    output: Path | None
    append: bool
    to: str | None
    question: str | None  # of the tool's project
    field: str | None
    review_share: float | None  # of the items, at most

    @property
    def names_reviews(self) -> bool:
        """Whether what is written names the items to review."""
        has_column = self.output is not None and self.output.suffix.lower() not in ARRAY_FORMATS
        return has_column and self.to in (None, PRODIGY, DATASETS)

    def check(self, files: list[str]) -> None:
        """Raise if the answers cannot be written; called before any work is done."""
        if self.review_share is not None and not self.names_reviews:
            raise ValueError(
                "--review-share needs a place that names the items to review: say -o FILE, of .csv .jsonl .parquet, "
                "or --to prodigy or datasets"
            )
        if self.output is None:
            if self.append or self.to is not None:
                raise ValueError(f"{'--append' if self.append else '--to'} needs the place to write to: say -o FILE")
        elif self.append and self.to is not None:
            raise ValueError("--append writes the table that was read, and --to the form of a tool; got both")
        elif self.append:
            check_appendable(self.output, files)
        elif self.to is not None:
            check_back(self.output, self.to)
        else:
            check_posterior_path(self.output)

    def write(self, files: list[str], told: Told, analysis: Analysis, posterior: Any, *, logits: bool) -> Table | None:
        """Write the answers, if a place is given, and give them if it names the items to review."""
        if self.output is None:
            return None
        share = 1 if self.review_share is None else self.review_share
        answers, method = answers_under(analysis, posterior, share), analysis.method
        if self.append:
            write_appended(self.output, files[0], told, answers, logits=logits)
        elif self.to == DATASETS:
            with new_folder(self.output) as file:
                write_posterior(file, method, posterior, answers, analysis.is_given)
        elif self.to is not None:
            facts = facts_of(files, told, answers["item"], logits=logits)
            agent = f"consilience {type(method).__name__}"
            classes = [text_of(name) for name in method.classes_]
            write_back(self.output, self.to, Returned(answers, classes, agent, facts, self.question, self.field))
        else:
            write_posterior(self.output, method, posterior, answers, analysis.is_given)
        return answers if self.names_reviews else None
