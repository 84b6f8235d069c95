"""Exports of tools for annotation: Label Studio, doccano, Prodigy, Argilla."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from consilience.data.axes import short, some
from consilience.data.names import is_missing
from consilience.files.tools.export import Export, Given, Reader, asked, is_free, name_of, not_classes
from consilience.system.errors import InvalidPredictions, Say

# ---- Label Studio ---------------------------------------------------------------------------------------------

VALUES = {"choices": "choices", "rating": "rating", "pairwise": "selected", "number": "number"}
"""The controls whose results are classes, and where these are in a result's value."""

ROWS = "id annotator annotation_id lead_time"  # the columns by which rows are known

OF_ROW = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement", "history")
"""What rows have beside the task and the controls."""


@Reader(
    "label-studio",
    "Label Studio",
    item="`id` of the task",
    member="`completed_by`",
    label="choices, ratings, numbers and pairwise results; `from_name` is the question; ground truth is the truth",
    whole=("data annotations",),  # storage has one file for each task
    records=("data annotations", ROWS),
    columns=(ROWS,),
    verified="HumanSignal/label-studio, docs/source/includes/task_format.md, and label-studio-sdk, converter/",
)
def label_studio(given: Given) -> Export:
    """Annotations that are not cancelled. What is marked as ground truth is the truth, and no answer.

    JSON-MIN and CSV have a row for each annotation, with the columns of the task and of the controls side by side.
    """
    tasks = given.data if isinstance(given.data, list) else [given.data]
    if "annotations" not in tasks[0]:
        return _read_rows(given)
    valid = [own for task in tasks for own in task.get("annotations", []) if not own.get("was_cancelled")]
    results = [result for annotation in valid for result in annotation["result"]]
    kinds = ", ".join(sorted({str(result.get("type")) for result in results}))
    names = [result["from_name"] for result in results if _is_class(result)]
    export = Export(asked(given, names, f"results of the types {kinds}" if kinds else "no results"))
    for task in tasks:
        export.show(task["id"], task["data"])
        for annotation in task.get("annotations", []):
            said = _answer(annotation, export.question)
            unless = "" if said else "annotations without an answer"
            unless = "cancelled annotations" if annotation.get("was_cancelled") else unless
            is_true = bool(annotation.get("ground_truth"))
            export.add(task["id"], _person(annotation["completed_by"]), said, unless=unless, is_true=is_true)
    export.left_out["predictions of models"] = sum(len(task.get("predictions") or []) for task in tasks)
    return export


def _is_class(result: dict[str, Any]) -> bool:
    """Whether a result is about the whole task: results about a region have its place too."""
    return result.get("type") in VALUES and set(result["value"]) == {VALUES[result["type"]]}


def _person(by: Any) -> Any:
    """The id of a user, or the address where the export has more on them."""
    return by.get("email") or by["id"] if isinstance(by, dict) else by


def _answer(annotation: dict[str, Any], question: str | None) -> list[Any]:
    found = [own for own in annotation["result"] if own.get("from_name") == question and _is_class(own)]
    labels = [own["value"][VALUES[own["type"]]] for own in found]
    return [label for own in labels for label in (own if isinstance(own, list) else [own])]


def _read_rows(given: Given) -> Export:
    """JSON-MIN or CSV, from which cancelled annotations are left out by the tool."""
    names = dict.fromkeys(name for record in given.data for name in record if name not in ("id", *OF_ROW))
    labels = {name: [_labels(record.get(name)) for record in given.data] for name in names}
    chosen, others = _question(given, labels, [record["id"] for record in given.data])
    export = Export(chosen, note="JSON-MIN and CSV do not say what is ground truth; JSON does")
    if others:
        export.note = f"{some(others)} may be the question too, though the same in all rows of each task; {export.note}"
    for record, said in zip(given.data, labels[chosen], strict=True):
        export.rows.append(name_of(record["id"]))
        export.add(record["id"], record["annotator"], said)
    return export


def _labels(value: Any) -> list[Any]:
    """The labels in a cell: an only choice is itself; others are as the tool keeps a value, in CSV as text."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            value = json.loads(value)
        except ValueError:
            return [value]
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    if isinstance(value, dict) and len(value) == 1 and set(value) <= set(VALUES.values()):
        (value,) = value.values()
    return value if isinstance(value, list) else [] if is_missing(value) or value == "" else [value]


def _question(given: Given, labels: dict[str, list[list[Any]]], items: list[Any]) -> tuple[str, list[str]]:
    """The column that is read, and the columns of classes that were taken for what tasks show.

    What a task shows is the same in all its rows; so is a control on which everybody agrees.
    """
    possible = [name for name, rows in labels.items() if _are_classes(rows)]
    controls = [name for name in possible if _varies(labels[name], items)]
    others = [name for name in possible if name not in controls]
    if given.question is None and len(controls) == 1:
        return controls[0], others
    if given.question is None and len(possible) == 1 and len(set(items)) < len(items):
        _check_no_other_control(possible[0], labels, items)
    return asked(given, [*controls, *others], f"no classes in the columns {', '.join(labels)}"), []


def _check_no_other_control(question: str, labels: dict[str, list[list[Any]]], items: list[Any]) -> None:
    """Raise if another column is a control, of no classes: the only column of classes may be what tasks show then."""
    others = [name for name, rows in labels.items() if name != question]
    controls = [name for name in others if not _are_names(labels[name]) or _varies(labels[name], items)]
    if controls:
        raise InvalidPredictions(
            f"answers must be classes; {some(controls)} {'is' if len(controls) == 1 else 'are'} no classification, and "
            f"{short(question)} is the same in all rows of each task, as what tasks show: if it is the question, say "
            f"{Say('question', question)}"
        )


def _are_classes(rows: list[list[Any]]) -> bool:
    flat = [label for row in rows for label in row]
    return bool(flat) and _are_names(rows) and not is_free(Counter(map(name_of, flat)))


def _are_names(rows: list[list[Any]]) -> bool:
    """Whether labels are texts or numbers, and no regions."""
    return all(isinstance(label, str | int | float) for row in rows for label in row)


def _varies(rows: list[list[Any]], items: list[Any]) -> bool:
    """Whether a column has different values for one item."""
    return len(set(zip(items, map(str, rows), strict=True))) > len(set(items))  # a region is no key


# ---- doccano --------------------------------------------------------------------------------------------------

TOGETHER = "all"  # the name of the file of a project whose members share their answers
SHOWN = ("text", "filename", "data")  # what may show an item
JOINT = "#"  # stands between several labels in CSV, and may stand in a label


@Reader(
    "doccano",
    "doccano",
    item="`id`",
    member="the annotator: the name of the file",
    label="the only entry of `label`; in CSV, `#` stands between several if each is a label of its own elsewhere",
    records=(
        *(f"id {what} Comments" for what in ("label", "cats", "bbox", "segmentation")),
        *(f"id label[] {shown}" for shown in SHOWN),  # before there were comments
    ),
    columns=("id text label Comments",),
    verified="doccano/doccano, backend/data_export/pipeline/factories.py, formatters.py and celery_tasks.py",
)
def doccano(given: Given) -> Export:
    """The labels of the annotator that the file is named after."""
    member = given.stem
    if member == TOGETHER:
        raise InvalidPredictions(
            "answers must have members; a file of doccano called all has everybody's answers together: export a "
            "project that is not collaborative, which gives a file for each annotator"
        )
    if len({record["id"] for record in given.data}) < len(given.data):
        raise InvalidPredictions(
            "a file of doccano must have each item once; if it is a table of several people's answers, name its "
            f"columns with {Say('item')}, {Say('member')} and {Say('label')}"
        )
    cells = [record.get("label") for record in given.data]
    alone = {str(own) for own in cells if not isinstance(own, list) and not is_missing(own)}
    export = Export()
    if unclear := [own for own in alone if JOINT in own and all(own.split(JOINT)) and not _are_several(own, alone)]:
        export.note = f"{short(min(unclear))} was read as one label; JSONL tells one from several"
    for record in given.data:
        export.rows.append(name_of(record["id"]))
        export.show(record["id"], next((record[key] for key in SHOWN if key in record), None))
        export.add(record["id"], member, _listed(record, alone))
    return export


def _listed(record: dict[str, Any], alone: set[str]) -> list[Any]:
    """The labels of a record; a cell of CSV has them in one text."""
    if "label" not in record:
        raise not_classes(f"{', '.join(key for key in record if key not in ('id', 'text', 'Comments'))}")
    labels = record["label"]
    if not isinstance(labels, list):
        several = str(labels).split(JOINT) if _are_several(str(labels), alone) else [labels]
        labels = [] if is_missing(labels) else several
    if any(isinstance(label, list | dict) for label in labels):
        raise not_classes("spans of text as labels")
    return list(labels)


def _are_several(cell: str, alone: set[str]) -> bool:
    """Whether each part is the label of some record; otherwise it is one label, such as C# or issue#3."""
    return all(part and part in alone for part in cell.split(JOINT))


# ---- Prodigy --------------------------------------------------------------------------------------------------

TIME = re.compile(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d")  # the name of a session that nobody named


@Reader(
    "prodigy",
    "Prodigy",
    item="`_input_hash`",
    member="`_annotator_id` or `_session_id`, else the name of the file",
    label="the only entry of `accept`; without options accept or reject, and `label` is the question",
    records=("_input_hash _task_hash answer",),
    verified="prodi.gy/docs/api-interfaces and api-loaders, and exports that others published; its source is closed",
)
def prodigy(given: Given) -> Export:
    """Choices that were accepted, or yes and no to one label, which is then the question, as `db-out` writes them."""
    if any("options" in task or "accept" in task for task in given.data):
        return _choices(given)
    labels = [task["label"] for task in given.data if isinstance(task.get("label"), str) and not task.get("spans")]
    if len(labels) < len(given.data):
        raise not_classes("spans, relations or free text")
    export = Export(asked(given, labels), classes=frozenset({"accept", "reject"}))
    for task in given.data:
        if task["label"] == export.question:
            unless = "ignored tasks" if task["answer"] == "ignore" else ""
            export.add(task["_input_hash"], _annotator(task, given), task["answer"], unless=unless)
    return export


def _choices(given: Given) -> Export:
    offered = [option["id"] for task in given.data for option in task.get("options") or []]
    export = Export(classes=frozenset(map(name_of, offered)))
    for task in given.data:
        unless = {"accept": "", "ignore": "ignored tasks", "reject": "rejected tasks"}[task["answer"]]
        export.add(task["_input_hash"], _annotator(task, given), task.get("accept") or [], unless=unless)
    return export


def _annotator(task: dict[str, Any], given: Given) -> str:
    """Who answered; without named sessions, which are called by their time, a file is one annotator's."""
    names = [str(name) for name in (task.get("_annotator_id"), task.get("_session_id")) if name]
    return next((name for name in names if not TIME.fullmatch(name)), given.stem)


# ---- Argilla --------------------------------------------------------------------------------------------------

SUBMITTED = "submitted"  # the status of a response that counts; others are drafts and discarded ones
RESPONSES = ".responses"


@Reader(
    "argilla",
    "Argilla",
    item="`id`",
    member="the user of a response",
    label="the value of a submitted response; each question by its name",
    records=("fields responses suggestions", f"*{RESPONSES}.users"),
    columns=(f"*{RESPONSES}.users",),
    verified="argilla-io/argilla, argilla/src/argilla/records/_io/_generic.py and _resource.py",
)
def argilla(given: Given) -> Export:
    """Submitted responses, of records that are nested as `to_json` writes them or flat as `to_datasets`."""
    is_flat = "fields" not in given.data[0]
    found = [_flat(record) if is_flat else _nested(record) for record in given.data]
    question = asked(given, [name for responses in found for name in responses], "no responses")
    export = Export(question)
    for record, responses in zip(given.data, found, strict=True):
        for value, user, status in responses.get(question, []):
            unless = "" if status in (None, SUBMITTED) else f"{status} responses"
            if not unless and any(isinstance(own, dict) for own in (value if isinstance(value, list) else [value])):
                raise not_classes("spans or rankings as responses")
            export.add(record["id"], user, value, unless=unless)
    if not is_flat:
        export.note = "records of to_json do not say which responses were discarded"
    return export


def _nested(record: dict[str, Any]) -> dict[str, list[Any]]:
    return {
        name: [(own["value"], own["user_id"], None) for own in responses]
        for name, responses in (record["responses"] or {}).items()
    }


def _flat(record: dict[str, Any]) -> dict[str, list[Any]]:
    found = {}
    for key, values in record.items():
        if key.endswith(RESPONSES) and values is not None and len(values):
            parts = (values, record[f"{key}.users"], record[f"{key}.status"])
            found[key.removesuffix(RESPONSES)] = list(zip(*parts, strict=True))
    return found
