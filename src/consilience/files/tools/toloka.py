"""Assignments of Toloka, TSV; each field of the output is a question, and control tasks tell the truth."""

from __future__ import annotations

from typing import Any

from consilience.files.tools.export import Export, Given, Reader, asked
from consilience.system.errors import InvalidPredictions

WORKER, STATUS, TASK = "ASSIGNMENT:worker_id", "ASSIGNMENT:status", "ASSIGNMENT:task_id"
INPUT, OUTPUT, GOLDEN = "INPUT:", "OUTPUT:", "GOLDEN:"

COUNTED = ("APPROVED", "ACCEPTED", "SUBMITTED")
"""The statuses of assignments that count; others are rejected, skipped, expired, or not done yet."""


def read(given: Given) -> Export:
    """Outputs of assignments that are done and were not rejected; `GOLDEN` is the truth of a control task."""
    names = list(given.data[0])
    export = Export(asked(given, [name.removeprefix(OUTPUT) for name in names if name.startswith(OUTPUT)]))
    for record in given.data:
        item = _task(record)
        export.rows.append(item)
        if (true := record.get(f"{GOLDEN}{export.question}")) not in (None, ""):
            export.know(item, true)
        said, status = record[f"{OUTPUT}{export.question}"], record.get(STATUS)
        if status is None or status in COUNTED:
            export.add(item, record[WORKER], said or None)
        else:
            export.left_out[f"{status.lower()} assignments"] += 1
    return export


def _task(record: dict[str, Any]) -> str:
    """The id of the task, or what it shows."""
    if record.get(TASK):
        return str(record[TASK])
    shown = [str(value) for name, value in record.items() if name.startswith(INPUT) and value is not None]
    if not shown:
        raise InvalidPredictions(f"a task must have {TASK} or a column {INPUT}…; it has neither")
    return "/".join(shown)


READER = Reader(
    "toloka",
    "Toloka",
    item="`ASSIGNMENT:task_id`, else the `INPUT:…` columns",
    member="`ASSIGNMENT:worker_id`",
    label="`OUTPUT:…`, each a question; `GOLDEN:…` is the truth",
    columns=(f"{WORKER} {OUTPUT}*",),
    read=read,
    verified="Toloka/toloka-kit, src/client/assignment.py and tests",
)
