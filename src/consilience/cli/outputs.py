"""Check where commands write, and write reports and answers."""

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from typer import Option

from consilience.cli import screen
from consilience.cli.inputs import Given
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
from consilience.files.writing import check_posterior_path, with_quote, write_posterior
from consilience.insight.analysis import Analysis
from consilience.insight.answers import answers_under
from consilience.system.atomic import check_writable
from consilience.system.tables import Table

QUOTING = (".csv", ".tsv")  # formats that a spreadsheet opens

Share = Annotated[float | None, Option(min=0, max=1)]


def check_outputs(outputs: Sequence[tuple[Path | None, str | None]], inputs: Sequence[str | Path | None] = ()) -> None:
    """Raise if an output cannot be written with its suffix, or is the file of another one or of an input.

    An input may be FILE:KEY. None as suffix means that the format has been checked.
    """
    taken = {os.path.realpath(split_source(str(path))[0]): str(path) for path in inputs if path is not None}
    for path, suffix in outputs:
        if path is None:
            continue
        if suffix is not None:
            check_writable(path, (suffix,))
        place = os.path.realpath(path)
        if place in taken:
            raise ValueError(f"each output must be a file of its own; {path} is also {taken[place]}")
        taken[place] = f"{path}, another output"


def write_page(path: Path, analysis: Analysis, title: str | None = None) -> None:
    """Write the report of an analysis, with the command line in its foot."""
    from consilience.report import write_report  # noqa: PLC0415 - only commands that write a report load it

    with screen.waiting("writing the report"):
        write_report(path, analysis, title=title, command=shlex.join(["consilience", *sys.argv[1:]]))


class Back(NamedTuple):
    """Where the answers go, and in which form.

    Options:
    output, -o: Where the answers go: .csv .jsonl .parquet .npz .npy .safetensors; or a folder, for data sets.
    append: Write the table that was read again, with the columns answer, confidence, n_answers, agreement and review
        in each row.
    to: Write what a tool imports: **label-studio** (predictions, .json), **argilla** (suggestions, .json), **prodigy**
        (a queue of the items to review, .jsonl), **datasets** (a folder for load_dataset).
    to_question: The tool's question that is answered, if not that of the tool's file.
    to_field: The tool's field that shows an item: its column of that name, else its name.
    review_share: Name at most this share of the items for review, the least sure ones.
    """

    output: Path | None = None
    append: bool = False
    to: str | None = None
    to_question: str | None = None
    to_field: str | None = None
    review_share: Share = None

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

    def write(self, given: Given, analysis: Analysis, posterior: Any) -> Table | None:
        """Write the answers, if a place is given, and give them if it names the items to review."""
        if self.output is None:
            return None
        share = 1 if self.review_share is None else self.review_share
        answers, method = answers_under(analysis, posterior, share), analysis.method
        if self.append:
            write_appended(self.output, given.files[0], given.told, answers, logits=given.logits)
        elif self.to == DATASETS:
            with new_folder(self.output) as file:
                write_posterior(file, method, posterior, answers, analysis.is_given)
        elif self.to is not None:
            facts = facts_of(given.files, given.told, answers["item"], logits=given.logits)
            agent = f"consilience {type(method).__name__}"
            classes = [text_of(name) for name in method.classes_]
            write_back(self.output, self.to, Returned(answers, classes, agent, facts, self.to_question, self.to_field))
        else:
            write_posterior(self.output, method, posterior, answers, analysis.is_given)
        names = [*([] if self.append else answers["item"]), *map(text_of, method.classes_)]
        if self.output.suffix.lower() in QUOTING and (quoted := [name for name in names if with_quote(name) != name]):
            screen.print_remark(
                f"{self.output} has an apostrophe before names such as {quoted[0]!r}, so that no spreadsheet computes "
                "them; write .parquet or .jsonl for the bare names"
            )
        return answers if self.names_reviews else None
