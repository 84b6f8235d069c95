"""Results of a batch of Amazon Mechanical Turk, CSV; each field of the form is a question."""

from __future__ import annotations

import json
from typing import Any

from consilience.files.tools.export import Export, Given, Reader, asked, name_of, no_classification, one_label

TASK_ANSWERS = "Answer.taskAnswers"
"""The column of forms that are submitted as JSON."""


def read(given: Given) -> Export:
    """Answers of assignments that were not rejected."""
    answers = [_answers(record) for record in given.data]
    questions = [name for own in answers for name in own]
    if not questions:
        no_classification("no answers")
    export = Export(asked(given, questions))
    for record, own in zip(given.data, answers, strict=True):
        export.rows.append(name_of(record["HITId"]))
        if record["AssignmentStatus"] == "Rejected":
            export.left_out["rejected assignments"] += 1
        else:
            labels = own.get(export.question or "", [])
            export.add(record["HITId"], record["WorkerId"], one_label(labels, record["HITId"], record["WorkerId"]))
    return export


def _answers(record: dict[str, Any]) -> dict[str, list[str]]:
    """What was answered to each question. A list of options is several fields, each true or false."""
    found: dict[str, list[str]] = {}
    for name, value in _fields(record).items():
        question, dot, option = name.rpartition(".")
        if not dot:
            found.setdefault(name, []).append(value)
        elif option == "label":
            found.setdefault(question, []).append(value)
        elif value.lower() in ("true", "false"):
            found.setdefault(question, []).extend([option] if value.lower() == "true" else [])
        else:
            found.setdefault(name, []).append(value)
    return found


def _fields(record: dict[str, Any]) -> dict[str, str]:
    plain = {name: value for name, value in record.items() if name.startswith("Answer.") and value is not None}
    held = plain.pop(TASK_ANSWERS, None)
    fields = {name.removeprefix("Answer."): str(value) for name, value in plain.items()}
    if held is not None:
        (form,) = json.loads(held)
        fields |= _flat(form)
    return fields


def _flat(form: dict[str, Any]) -> dict[str, str]:
    made: dict[str, str] = {}
    for name, value in form.items():
        if isinstance(value, dict):
            made |= {f"{name}.{inner}": text for inner, text in _flat(value).items()}
        elif isinstance(value, list):
            no_classification(f"lists in the field {name!r}")
        else:
            made[name] = str(value)
    return made


READER = Reader(
    "mturk",
    "Amazon Mechanical Turk",
    item="`HITId`",
    member="`WorkerId`",
    label="`Answer.…`, also as options that are true or false; each field of the form is a question",
    columns=("HITId WorkerId AssignmentStatus Answer.*",),
    read=read,
    # Not verified: Amazon documents no list of columns; these are as eight public scripts of users list theirs.
)
