"""Answers back: into the table that was read, or in the form that a tool imports. One tool, one file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from consilience.files.back import argilla, label_studio, prodigy
from consilience.files.writing import write_records
from consilience.system.atomic import check_writable, whole_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from consilience.files.back.outcome import Outcome


class Form(NamedTuple):
    """How a tool takes answers: the suffix of the file, and its records."""

    suffix: str
    records: Callable[[Outcome], Iterable[dict[str, Any]]]


FORMS = {
    label_studio.TOOL: Form(".json", label_studio.records),
    argilla.TOOL: Form(".json", argilla.records),
    prodigy.TOOL: Form(".jsonl", prodigy.records),
}


def check_back(path: Path, tool: str) -> None:
    """Raise if answers cannot be written to this path in the form of this tool."""
    if tool not in FORMS:
        raise ValueError(f"--to must be one of {', '.join(FORMS)}, datasets; got {tool!r}")
    check_writable(path, (FORMS[tool].suffix,))


def write_back(path: Path, tool: str, outcome: Outcome) -> None:
    """Write the answers in the form of a tool."""
    records = list(FORMS[tool].records(outcome))
    with whole_file(path) as file:
        if FORMS[tool].suffix == ".jsonl":
            write_records(file, records)
        else:
            file.write(json.dumps(records, ensure_ascii=False, indent=1).encode())
