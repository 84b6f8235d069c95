"""doccano's files of a project for classification (JSON Lines, JSON or CSV), one for each annotator."""

from __future__ import annotations

from typing import Any

from consilience.data.names import is_missing
from consilience.files.tools.export import Export, Given, Reader, name_of, no_classification, one_label
from consilience.system.errors import InvalidPredictions, Say

TOGETHER = "all"
"""The name of the file of a project whose members share their answers."""

SHOWN = ("text", "filename", "data")
"""What may show an item."""

JOINT = "#"
"""Stands between several labels in CSV."""


def read(given: Given) -> Export:
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
    export = Export()
    for record in given.data:
        if "label" not in record:
            no_classification(f"{', '.join(key for key in record if key not in ('id', 'text', 'Comments'))}")
        labels = _listed(record["label"])
        if any(isinstance(label, list | dict) for label in labels):
            no_classification("spans of text as labels")
        export.rows.append(name_of(record["id"]))
        export.show(record["id"], next((record[key] for key in SHOWN if key in record), None))
        export.add(record["id"], member, one_label(labels, record["id"], member))
    return export


def _listed(labels: Any) -> list[Any]:
    """The labels of a record; a cell of CSV has them in one text."""
    if isinstance(labels, list):
        return labels
    parts = [] if is_missing(labels) else str(labels).split(JOINT)
    return parts if all(parts) else [labels]  # C# is one label


READER = Reader(
    "doccano",
    "doccano",
    item="`id`",
    member="the annotator: the name of the file",
    label="the only entry of `label`; in CSV, `#` stands between several",
    records=(
        *(f"id {what} Comments" for what in ("label", "cats", "bbox", "segmentation")),
        *(f"id label[] {shown}" for shown in ("text", "data", "filename")),  # before there were comments
    ),
    columns=("id text label Comments",),
    read=read,
    verified="doccano/doccano, backend/data_export/pipeline/factories.py, formatters.py and celery_tasks.py",
)
