"""Where the answers of `aggregate` go: a file of their own, the table that was read, or the form of a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from consilience.data.names import text_of
from consilience.files.back import check_back, write_back
from consilience.files.back.appending import check_appendable, write_appended
from consilience.files.back.folder import TOOL, check_folder, new_folder
from consilience.files.back.outcome import Outcome, facts_of
from consilience.files.writing import check_posterior_path, write_posterior
from consilience.insight.answers import answers_under

if TYPE_CHECKING:
    from pathlib import Path

    from consilience.data.tables.told import Told
    from consilience.insight.analysis import Analysis


class Back(NamedTuple):
    """Where the answers go, and in which form."""

    output: Path | None
    append: bool
    to: str | None
    question: str | None  # of the tool's project
    field: str | None

    def check(self, files: list[str]) -> None:
        """Raise if the answers cannot be written; called before any work is done."""
        if self.output is None:
            if self.append or self.to is not None:
                raise ValueError(f"{'--append' if self.append else '--to'} needs the place to write to: say -o FILE")
        elif self.append and self.to is not None:
            raise ValueError("--append writes the table that was read, and --to the form of a tool; got both")
        elif self.append:
            check_appendable(self.output, files)
        elif self.to == TOOL:
            check_folder(self.output)
        elif self.to is not None:
            check_back(self.output, self.to)
        else:
            check_posterior_path(self.output)

    def write(self, files: list[str], told: Told, analysis: Analysis, posterior: Any, *, logits: bool) -> None:
        """Write the answers, if a place is given."""
        if self.output is None:
            return
        answers, method = answers_under(analysis, posterior), analysis.method
        if self.append:
            write_appended(self.output, files[0], told, answers, logits=logits)
        elif self.to == TOOL:
            with new_folder(self.output) as file:
                write_posterior(file, method, posterior, answers, analysis.is_given)
        elif self.to is not None:
            facts = facts_of(files, told, answers["item"], logits=logits)
            agent = f"consilience {type(method).__name__}"
            classes = [text_of(name) for name in method.classes_]
            write_back(self.output, self.to, Outcome(answers, classes, agent, facts, self.question, self.field))
        else:
            write_posterior(self.output, method, posterior, answers, analysis.is_given)
