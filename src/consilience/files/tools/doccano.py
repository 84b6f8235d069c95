"""doccano's files of a project for classification (JSON Lines, JSON or CSV), one for each annotator."""

from __future__ import annotations

from typing import Any

from consilience.data.axes import short
from consilience.data.names import is_missing
from consilience.files.tools.export import Export, Given, Reader, name_of, no_classification, one_label
from consilience.system.errors import InvalidPredictions, Say

TOGETHER = "all"
"""The name of the file of a project whose members share their answers."""

SHOWN = ("text", "filename", "data")
"""What may show an item."""

JOINT = "#"
"""Stands between several labels in CSV, and may stand in a label."""


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
    alone = _labels_of_cells(given.data)
    export = Export(note=_doubt(alone))
    for record in given.data:
        if "label" not in record:
            no_classification(f"{', '.join(key for key in record if key not in ('id', 'text', 'Comments'))}")
        labels = _listed(record["label"], alone)
        if any(isinstance(label, list | dict) for label in labels):
            no_classification("spans of text as labels")
        export.rows.append(name_of(record["id"]))
        export.show(record["id"], next((record[key] for key in SHOWN if key in record), None))
        export.add(record["id"], member, one_label(labels, record["id"], member))
    return export


def _labels_of_cells(records: list[dict[str, Any]]) -> frozenset[str]:
    """The different labels that are texts; lists say by themselves what is several."""
    cells = [record.get("label") for record in records]
    return frozenset(str(own) for own in cells if not isinstance(own, list) and not is_missing(own))


def _doubt(alone: frozenset[str]) -> str | None:
    """That a label may be several."""
    unclear = [own for own in alone if JOINT in own and all(own.split(JOINT)) and not _are_several(own, alone)]
    return f"{short(min(unclear))} was read as one label; JSONL tells one from several" if unclear else None


def _listed(labels: Any, alone: frozenset[str]) -> list[Any]:
    """The labels of a record; a cell of CSV has them in one text."""
    if isinstance(labels, list):
        return labels
    if is_missing(labels):
        return []
    return str(labels).split(JOINT) if _are_several(str(labels), alone) else [labels]


def _are_several(cell: str, alone: frozenset[str]) -> bool:
    """Whether each part is the label of some record; otherwise it is one label, such as C# or issue#3."""
    return all(part and part in alone for part in cell.split(JOINT))


READER = Reader(
    "doccano",
    "doccano",
    item="`id`",
    member="the annotator: the name of the file",
    label="the only entry of `label`; in CSV, `#` stands between several if each is a label of its own elsewhere",
    records=(
        *(f"id {what} Comments" for what in ("label", "cats", "bbox", "segmentation")),
        *(f"id label[] {shown}" for shown in ("text", "data", "filename")),  # before there were comments
    ),
    columns=("id text label Comments",),
    read=read,
    verified="doccano/doccano, backend/data_export/pipeline/factories.py, formatters.py and celery_tasks.py",
)
