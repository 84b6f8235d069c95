"""Prodigy's JSON Lines (`db-out`): choices, or yes and no to one label, which is then the question."""

from __future__ import annotations

import re
from typing import Any

from consilience.files.tools.export import Export, Given, Reader, asked, name_of, no_classification, one_label

TIME = re.compile(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d")
"""The name of a session that nobody named."""


def read(given: Given) -> Export:
    """Choices that were accepted, or the answer to a label; ignored tasks are left out."""
    if any("options" in task or "accept" in task for task in given.data):
        return _choices(given)
    labels = [task["label"] for task in given.data if isinstance(task.get("label"), str) and not task.get("spans")]
    if len(labels) < len(given.data):
        no_classification("spans, relations or free text")
    export = Export(asked(given, labels), classes=frozenset({"accept", "reject"}))
    for task in given.data:
        if task["label"] != export.question:
            continue
        if task["answer"] == "ignore":
            export.left_out["ignored tasks"] += 1
        else:
            export.add(task["_input_hash"], _annotator(task, given), task["answer"])
    return export


def _choices(given: Given) -> Export:
    offered = [option["id"] for task in given.data for option in task.get("options") or []]
    export = Export(classes=frozenset(map(name_of, offered)))
    for task in given.data:
        if task["answer"] != "accept":
            export.left_out[{"ignore": "ignored tasks", "reject": "rejected tasks"}[task["answer"]]] += 1
            continue
        member = _annotator(task, given)
        export.add(task["_input_hash"], member, one_label(task.get("accept") or [], task["_input_hash"], member))
    return export


def _annotator(task: dict[str, Any], given: Given) -> str:
    """Who answered; without named sessions, which are called by their time, a file is one annotator's."""
    names = [str(name) for name in (task.get("_annotator_id"), task.get("_session_id")) if name]
    named = [name for name in names if not TIME.fullmatch(name)]
    return named[0] if named else given.stem


READER = Reader(
    "prodigy",
    "Prodigy",
    item="`_input_hash`",
    member="`_annotator_id` or `_session_id`, else the name of the file",
    label="the only entry of `accept`; without options accept or reject, and `label` is the question",
    records=("_input_hash _task_hash answer",),
    read=read,
    verified="prodi.gy/docs/api-interfaces and api-loaders, and exports that others published; its source is closed",
)
