"""doccano's JSON Lines of a project for classification, one file for each annotator."""

from __future__ import annotations

from consilience.files.tools.export import Export, Given, Reader, no_classification, one_label
from consilience.system.errors import InvalidPredictions

TOGETHER = "all"
"""The name of the file of a project whose members share their answers."""


def read(given: Given) -> Export:
    """The labels of the annotator that the file is named after."""
    member = given.stem
    if member == TOGETHER:
        raise InvalidPredictions(
            "answers must have members; all.jsonl of doccano has everybody's answers together: export a project that "
            "is not collaborative, which gives a file for each annotator"
        )
    export = Export()
    for record in given.data:
        if not isinstance(record.get("label"), list):
            no_classification(f"{', '.join(key for key in record if key not in ('id', 'text', 'Comments'))}")
        if any(isinstance(label, list | dict) for label in record["label"]):
            no_classification("spans of text as labels")
        export.add(record["id"], member, one_label(record["label"], record["id"], member))
    return export


READER = Reader(
    "doccano",
    "doccano",
    item="`id`",
    member="the annotator: the name of the file",
    label="the only entry of `label`",
    records=(
        *(f"id {what} Comments" for what in ("label", "cats", "bbox", "segmentation")),
        *(f"id label[] {shown}" for shown in ("text", "data", "filename")),  # before there were comments
    ),
    read=read,
    verified="doccano/doccano, backend/data_export/pipeline/factories.py, formatters.py and celery_tasks.py",
)
