"""Answers of many people, or of functions that label: Amazon Mechanical Turk, Toloka, Zooniverse, WRENCH."""

from __future__ import annotations

import json
from typing import Any

from consilience.data.axes import some
from consilience.files.tools.export import Export, Given, Reader, asked, flattened, name_of, not_classes
from consilience.system.errors import InvalidPredictions

TASK_ANSWERS = "Answer.taskAnswers"  # the column of Mechanical Turk for forms that are submitted as JSON
WORKER, STATUS, TASK = "ASSIGNMENT:worker_id", "ASSIGNMENT:status", "ASSIGNMENT:task_id"
INPUT, OUTPUT, GOLDEN = "INPUT:", "OUTPUT:", "GOLDEN:"
COUNTED = ("APPROVED", "ACCEPTED", "SUBMITTED")  # other assignments are rejected, skipped, expired, or not done yet
ABSTAIN = -1  # what a labelling function of WRENCH says of an item that it does not label


@Reader(
    "mturk",
    "Amazon Mechanical Turk",
    item="`HITId`",
    member="`WorkerId`",
    label="`Answer.…`, also as options that are true or false; each field of the form is a question",
    columns=("HITId WorkerId AssignmentStatus Answer.*",),
    # Not verified: Amazon documents no list of columns; these are as eight public scripts of users list theirs.
)
def mturk(given: Given) -> Export:
    """Answers of assignments that were not rejected, in the results of a batch."""
    answers = [_answers_of_form(record) for record in given.data]
    question = asked(given, [name for own in answers for name in own])
    export = Export(question)
    for record, own in zip(given.data, answers, strict=True):
        export.rows.append(name_of(record["HITId"]))
        unless = "rejected assignments" if record["AssignmentStatus"] == "Rejected" else ""
        export.add(record["HITId"], record["WorkerId"], own.get(question, []), unless=unless)
    return export


def _answers_of_form(record: dict[str, Any]) -> dict[str, list[str]]:
    """What was answered to each question. A list of options is several fields, each true or false."""
    fields = {name: str(own) for name, own in record.items() if name.startswith("Answer.") and own is not None}
    held = fields.pop(TASK_ANSWERS, None)
    fields = {name.removeprefix("Answer."): value for name, value in fields.items()}
    if held is not None:
        (form,) = json.loads(held)
        for name, value in flattened(form).items():
            if isinstance(value, list):
                raise not_classes(f"lists in the field {name!r}")
            fields[name] = str(value)
    found: dict[str, list[str]] = {}
    for name, value in fields.items():
        question, dot, option = name.rpartition(".")
        if dot and option == "label":
            found.setdefault(question, []).append(value)
        elif dot and value.lower() in ("true", "false"):
            found.setdefault(question, []).extend([option] * (value.lower() == "true"))
        else:
            found.setdefault(name, []).append(value)
    return found


@Reader(
    "toloka",
    "Toloka",
    item="`ASSIGNMENT:task_id`, else the `INPUT:…` columns",
    member="`ASSIGNMENT:worker_id`",
    label="`OUTPUT:…`, each a question; `GOLDEN:…` is the truth",
    columns=(f"{WORKER} {OUTPUT}*",),
    verified="Toloka/toloka-kit, src/client/assignment.py and tests",
)
def toloka(given: Given) -> Export:
    """Outputs of assignments that are done and were not rejected; `GOLDEN` is the truth of a control task."""
    names = list(given.data[0])
    export = Export(asked(given, [name.removeprefix(OUTPUT) for name in names if name.startswith(OUTPUT)]))
    for record in given.data:
        item = _task(record)
        export.rows.append(item)
        if (true := record.get(f"{GOLDEN}{export.question}")) not in (None, ""):
            export.know(item, true)
        said, status = record[f"{OUTPUT}{export.question}"], record.get(STATUS)
        is_left_out = status is not None and status not in COUNTED
        export.add(item, record[WORKER], said, unless=f"{status.lower()} assignments" if is_left_out else "")
    return export


def _task(record: dict[str, Any]) -> str:
    """The id of the task, or what it shows."""
    if record.get(TASK):
        return str(record[TASK])
    shown = [str(value) for name, value in record.items() if name.startswith(INPUT) and value is not None]
    if not shown:
        raise InvalidPredictions(f"a task must have {TASK} or a column {INPUT}…; it has neither")
    return "/".join(shown)


@Reader(
    "zooniverse",
    "Zooniverse",
    item="`subject_ids`",
    member="`user_name`",
    label="`value` in `annotations`; each task is a question; gold-standard classifications are the truth",
    columns=("classification_id user_name workflow_id annotations subject_ids",),
    verified="zooniverse/aggregation-for-caesar, docs/source/_static/cat-project-classifications.csv",
)
def zooniverse(given: Given) -> Export:
    """Answers to one task; classifications by experts, in gold-standard mode, are the truth."""
    is_one = len({record["workflow_id"] for record in given.data}) == 1
    found = [_tasks(record, is_one=is_one) for record in given.data]
    said: dict[str, list[dict[str, Any]]] = {}
    for name, task in (pair for tasks in found for pair in tasks.items()):
        said.setdefault(name, []).append(task)
    questions = [name for name, tasks in said.items() if all(_is_class(task.get("value")) for task in tasks)]
    question = asked(given, questions, f"drawings, transcriptions or several tasks in one, in {', '.join(said)}")
    export = Export(question)
    # A later version of a workflow may ask something else under the same name.
    wordings = list(dict.fromkeys(own["task_label"] for own in said[question] if own.get("task_label") is not None))
    if len(wordings) > 1:
        export.note = f"the task was asked in {len(wordings)} wordings, {some(wordings)}"
    for record, own in zip(given.data, found, strict=True):
        export.rows.append(name_of(record["subject_ids"]))
        label = own.get(question, {}).get("value")
        unless = "" if question in own else "classifications without this task"
        is_true = str(record.get("gold_standard")).lower() == "true"
        export.add(record["subject_ids"], record["user_name"], label, unless=unless, is_true=is_true)
    return export


def _tasks(record: dict[str, Any], *, is_one: bool) -> dict[str, dict[str, Any]]:
    """What a user was asked in each task, and said; tasks of several workflows are told apart by these."""
    prefix = "" if is_one else f"{record['workflow_id']}/"
    return {f"{prefix}{own['task']}": own for own in json.loads(record["annotations"])}


def _is_class(value: Any) -> bool:
    """Whether a value is an answer, or a list of chosen ones."""
    values = value if isinstance(value, list) else [value]
    return all(own is None or isinstance(own, str | int | float) for own in values)


@Reader(
    "wrench",
    "WRENCH",
    item="the key of an example",
    member="the labelling function, by its place",
    label="`weak_labels`, without -1; `label` is the truth",
    whole=("*/label */data */weak_labels",),
    verified="JieyuZ2/wrench, wrench/dataset/basedataset.py",
)
def wrench(given: Given) -> Export:
    """Weak labels by the place of their function; `label` is the truth."""
    export = Export()
    for item, example in given.data.items():
        for function, label in enumerate(example["weak_labels"]):
            export.add(item, f"function {function}", label, unless="abstentions" if label == ABSTAIN else "")
        if example["label"] != ABSTAIN:
            export.know(item, example["label"])
    return export
