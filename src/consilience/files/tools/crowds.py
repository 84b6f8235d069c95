"""Answers of many people, or of functions that label: Amazon Mechanical Turk, Toloka, Zooniverse, WRENCH."""

from __future__ import annotations

import json
from typing import Any

from consilience.data.axes import some
from consilience.files.tools.export import Export, Given, Reader, asked, name_of, not_classes, one_label
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
    questions = [name for own in answers for name in own]
    if not questions:
        raise not_classes("no answers")
    export = Export(asked(given, questions))
    for record, own in zip(given.data, answers, strict=True):
        item, member = record["HITId"], record["WorkerId"]
        export.rows.append(name_of(item))
        if record["AssignmentStatus"] == "Rejected":
            export.left_out["rejected assignments"] += 1
        else:
            export.add(item, member, one_label(own.get(export.question or "", []), item, member))
    return export


def _answers_of_form(record: dict[str, Any]) -> dict[str, list[str]]:
    """What was answered to each question. A list of options is several fields, each true or false."""
    fields = {name: str(own) for name, own in record.items() if name.startswith("Answer.") and own is not None}
    held = fields.pop(TASK_ANSWERS, None)
    fields = {name.removeprefix("Answer."): value for name, value in fields.items()}
    if held is not None:
        (form,) = json.loads(held)
        fields |= _flat(form)
    found: dict[str, list[str]] = {}
    for name, value in fields.items():
        question, dot, option = name.rpartition(".")
        if dot and option == "label":
            found.setdefault(question, []).append(value)
        elif dot and value.lower() in ("true", "false"):
            found.setdefault(question, []).extend([option] if value.lower() == "true" else [])
        else:
            found.setdefault(name, []).append(value)
    return found


def _flat(form: dict[str, Any]) -> dict[str, str]:
    made: dict[str, str] = {}
    for name, value in form.items():
        if isinstance(value, dict):
            made |= {f"{name}.{inner}": text for inner, text in _flat(value).items()}
        elif isinstance(value, list):
            raise not_classes(f"lists in the field {name!r}")
        else:
            made[name] = str(value)
    return made


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
        export.add(item, record[WORKER], said or None, unless=f"{status.lower()} assignments" if is_left_out else "")
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
    found = [_answers(record, is_one=is_one) for record in given.data]
    said = {
        name: [own[name] for own in found if name in own] for name in dict.fromkeys(n for own in found for n in own)
    }
    questions = [name for name, values in said.items() if all(map(_is_class, values))]
    if not questions:
        raise not_classes(f"drawings, transcriptions or several tasks in one, in {', '.join(said)}")
    export = Export(asked(given, questions))
    if len(wordings := _wordings(given, export.question, is_one=is_one)) > 1:
        export.note = f"the task was asked in {len(wordings)} wordings, {some(wordings)}"
    for record, own in zip(given.data, found, strict=True):
        question, item, member = export.question or "", record["subject_ids"], record["user_name"]
        export.rows.append(name_of(item))
        if question not in own:
            export.left_out["classifications without this task"] += 1
            continue
        label = one_label(own[question], item, member)
        if label is not None and str(record.get("gold_standard")).lower() == "true":
            export.know(item, label)
        else:
            export.add(item, member, label)
    return export


def _answers(record: dict[str, Any], *, is_one: bool, key: str = "value") -> dict[str, Any]:
    """What a user said to each task; tasks of several workflows are told apart by these."""
    prefix = "" if is_one else f"{record['workflow_id']}/"
    return {f"{prefix}{own['task']}": own.get(key) for own in json.loads(record["annotations"])}


def _wordings(given: Given, question: str | None, *, is_one: bool) -> list[Any]:
    """How a task was worded: a later version of a workflow may ask something else under the same name."""
    asked_as = (_answers(record, is_one=is_one, key="task_label").get(question or "") for record in given.data)
    return list(dict.fromkeys(own for own in asked_as if own is not None))


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
