"""Label Studio's JSON: tasks with annotations by several people; each control of a project is a question.

JSON-MIN and CSV have a row for each annotation, with the columns of the task and of the controls side by side.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import Any

from consilience.data.axes import short, some
from consilience.data.names import is_missing
from consilience.files.tools.export import Export, Given, Reader, asked, is_free, name_of, no_classification, one_label
from consilience.system.errors import InvalidPredictions, Say

VALUES = {"choices": "choices", "rating": "rating", "pairwise": "selected", "number": "number"}
"""The controls whose results are classes, and where these are in a result's value."""

ROWS = "id annotator annotation_id lead_time"
"""The columns by which rows are known."""

OF_ROW = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement", "history")
"""What rows have beside the task and the controls."""


def read(given: Given) -> Export:
    """Annotations that are not cancelled. What is marked as ground truth is the truth, and no answer."""
    tasks = given.data if isinstance(given.data, list) else [given.data]
    if "annotations" not in tasks[0]:
        return _read_rows(given)
    annotations = [(task, own) for task in tasks for own in task.get("annotations", [])]
    chosen = asked(given, _questions([own for _, own in annotations if not own.get("was_cancelled")]))
    export = Export(chosen)
    for task in tasks:
        export.show(task["id"], task["data"])
    for task, annotation in annotations:
        if annotation.get("was_cancelled"):
            export.left_out["cancelled annotations"] += 1
            continue
        said = _answer(annotation, chosen, task["id"])
        if said is None:
            export.left_out["annotations without an answer"] += 1
        elif annotation.get("ground_truth"):
            export.know(task["id"], said)
        else:
            export.add(task["id"], _person(annotation), said)
    if n_predictions := sum(len(task.get("predictions") or []) for task in tasks):
        export.left_out["predictions of models"] = n_predictions
    return export


def _questions(annotations: list[dict[str, Any]]) -> list[str]:
    results = [result for annotation in annotations for result in annotation["result"]]
    names = [result["from_name"] for result in results if _is_class(result)]
    if not names:
        kinds = sorted({str(result.get("type")) for result in results})
        no_classification(f"results of the types {', '.join(kinds)}" if kinds else "no results")
    return names


def _is_class(result: dict[str, Any]) -> bool:
    """Whether a result is about the whole task: results about a region have its place too."""
    return result.get("type") in VALUES and set(result["value"]) == {VALUES[result["type"]]}


def _answer(annotation: dict[str, Any], question: str, item: Any) -> Any:
    found = [own for own in annotation["result"] if own.get("from_name") == question and _is_class(own)]
    labels = [own["value"][VALUES[own["type"]]] for own in found]
    flat = [label for own in labels for label in (own if isinstance(own, list) else [own])]
    return one_label(flat, item, _person(annotation))


def _read_rows(given: Given) -> Export:
    """JSON-MIN or CSV, from which cancelled annotations are left out by the tool."""
    names = dict.fromkeys(name for record in given.data for name in record if name not in ("id", *OF_ROW))
    labels = {name: [_labels(record.get(name)) for record in given.data] for name in names}
    chosen, others = _question(given, labels, [record["id"] for record in given.data])
    export = Export(chosen)
    for record, said in zip(given.data, labels[chosen], strict=True):
        export.rows.append(name_of(record["id"]))
        export.add(record["id"], record["annotator"], one_label(said, record["id"], record["annotator"]))
    export.note = "JSON-MIN and CSV do not say what is ground truth; JSON does"
    if others:
        note = f"{some(others)} may be the question too, though the same in all rows of each task"
        export.note = f"{note}; {export.note}"
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
    if not possible:
        no_classification(f"no classes in the columns {', '.join(labels)}")
    controls = [name for name in possible if _varies(labels[name], items)]
    others = [name for name in possible if name not in controls]
    if given.question is None and len(controls) == 1:
        return controls[0], others
    if given.question is None and len(possible) == 1 and len(set(items)) < len(items):
        _check_no_other_control(possible[0], labels, items)
    return asked(given, [*controls, *others]), []


def _check_no_other_control(question: str, labels: dict[str, list[list[Any]]], items: list[Any]) -> None:
    """Raise if another column is a control, of no classes: the only column of classes may be what tasks show then."""
    others = [name for name, rows in labels.items() if name != question]
    controls = [name for name in others if not _are_names(labels[name]) or _varies(labels[name], items)]
    if controls:
        raise InvalidPredictions(
            f"answers must be classes; {some(controls)} {'is' if len(controls) == 1 else 'are'} no classification, and "
            f"{short(question)} is the same in all rows of each task, as what tasks show: if it is the question, say ",
            Say("question", question),
        )


def _are_classes(rows: list[list[Any]]) -> bool:
    flat = [label for row in rows for label in row]
    return bool(flat) and _are_names(rows) and not is_free(Counter(map(name_of, flat)))


def _are_names(rows: list[list[Any]]) -> bool:
    """Whether labels are texts or numbers, and no regions."""
    return all(isinstance(label, str | int | float) for row in rows for label in row)


def _varies(rows: list[list[Any]], items: list[Any]) -> bool:
    """Whether a column has different values for one item."""
    by_item = defaultdict(set)
    for item, row in zip(items, rows, strict=True):
        by_item[item].add(str(row))  # a region is no key
    return any(len(values) > 1 for values in by_item.values())


def _person(annotation: dict[str, Any]) -> Any:
    """The id of a user, or the address where the export has more on them."""
    by = annotation["completed_by"]
    return by.get("email") or by["id"] if isinstance(by, dict) else by


READER = Reader(
    "label-studio",
    "Label Studio",
    item="`id` of the task",
    member="`completed_by`",
    label="choices, ratings, numbers and pairwise results; `from_name` is the question; ground truth is the truth",
    whole=("data annotations",),  # storage has one file for each task
    records=("data annotations", ROWS),
    columns=(ROWS,),
    read=read,
    verified="HumanSignal/label-studio, docs/source/includes/task_format.md, and label-studio-sdk, converter/",
)
