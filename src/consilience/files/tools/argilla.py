"""Argilla's records, nested as `to_json` writes them or flat as `to_datasets`; each question by its name."""

from __future__ import annotations

from typing import Any

from consilience.files.tools.export import Export, Given, Reader, asked, no_classification, one_label

SUBMITTED = "submitted"
"""The status of a response that counts; others are drafts and discarded ones."""

RESPONSES = ".responses"


def read(given: Given) -> Export:
    """Submitted responses."""
    is_flat = "fields" not in given.data[0]
    found = [_flat(record) if is_flat else _nested(record) for record in given.data]
    questions = [name for responses in found for name in responses]
    if not questions:
        no_classification("no responses")
    export = Export(asked(given, questions))
    for record, responses in zip(given.data, found, strict=True):
        for value, user, status in responses.get(export.question or "", []):
            if status not in (None, SUBMITTED):
                export.left_out[f"{status} responses"] += 1
                continue
            if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(own, dict) for own in value)):
                no_classification("spans or rankings as responses")
            export.add(record["id"], user, one_label(value, record["id"], user))
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


READER = Reader(
    "argilla",
    "Argilla",
    item="`id`",
    member="the user of a response",
    label="the value of a submitted response; each question by its name",
    records=("fields responses suggestions", f"*{RESPONSES}.users"),
    columns=(f"*{RESPONSES}.users",),
    read=read,
    verified="argilla-io/argilla, argilla/src/argilla/records/_io/_generic.py and _resource.py",
)
