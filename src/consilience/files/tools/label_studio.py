"""Label Studio's JSON: tasks with annotations by several people; each control of a project is a question."""

from __future__ import annotations

from typing import Any

from consilience.files.tools.export import Export, Given, Reader, asked, no_classification, one_label

VALUES = {"choices": "choices", "rating": "rating", "pairwise": "selected", "number": "number"}
"""The controls whose results are classes, and where these are in a result's value."""


def read(given: Given) -> Export:
    """Annotations that are not cancelled. What is marked as ground truth is the truth, and no answer."""
    tasks = given.data if isinstance(given.data, list) else [given.data]
    annotations = [(task, own) for task in tasks for own in task.get("annotations", [])]
    chosen = asked(given, _questions([own for _, own in annotations if not own.get("was_cancelled")]))
    export = Export(chosen)
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
    records=("data annotations",),
    read=read,
    verified="HumanSignal/label-studio, docs/source/includes/task_format.md",
)
