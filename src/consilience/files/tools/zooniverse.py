"""Classifications of Zooniverse, CSV with JSON in its cells; each task of a workflow is a question."""

from __future__ import annotations

import json
from typing import Any

from consilience.data.axes import some
from consilience.files.tools.export import Export, Given, Reader, asked, name_of, no_classification, one_label


def read(given: Given) -> Export:
    """Answers to one task; classifications by experts, in gold-standard mode, are the truth."""
    is_one = len({record["workflow_id"] for record in given.data}) == 1
    found = [_answers(record, is_one=is_one) for record in given.data]
    kinds = {name: all(map(_is_class, _said(found, name))) for own in found for name in own}
    questions = [name for name, is_class in kinds.items() if is_class]
    if not questions:
        no_classification(f"drawings, transcriptions or several tasks in one, in {', '.join(kinds)}")
    export = Export(asked(given, questions))
    if len(wordings := _wordings(given, export.question, is_one=is_one)) > 1:
        export.note = f"the task was asked in {len(wordings)} wordings, {some(wordings)}"
    for record, own in zip(given.data, found, strict=True):
        question, item, member = export.question or "", record["subject_ids"], record["user_name"]
        export.rows.append(name_of(item))
        if question not in own:
            export.left_out["classifications without this task"] += 1
            continue
        said = one_label(own[question], item, member)
        if said is not None and str(record.get("gold_standard")).lower() == "true":
            export.know(item, said)
        else:
            export.add(item, member, said)
    return export


def _answers(record: dict[str, Any], *, is_one: bool, key: str = "value") -> dict[str, Any]:
    """What a user said to each task; tasks of several workflows are told apart by these."""
    prefix = "" if is_one else f"{record['workflow_id']}/"
    return {f"{prefix}{own['task']}": own.get(key) for own in json.loads(record["annotations"])}


def _wordings(given: Given, question: str | None, *, is_one: bool) -> list[Any]:
    """How a task was worded: a later version of a workflow may ask something else under the same name."""
    asked_as = (_answers(record, is_one=is_one, key="task_label").get(question or "") for record in given.data)
    return list(dict.fromkeys(own for own in asked_as if own is not None))


def _said(found: list[dict[str, Any]], name: str) -> list[Any]:
    return [own[name] for own in found if name in own]


def _is_class(value: Any) -> bool:
    """Whether a value is an answer, or a list of chosen ones."""
    values = value if isinstance(value, list) else [value]
    return all(own is None or isinstance(own, str | int | float) for own in values)


READER = Reader(
    "zooniverse",
    "Zooniverse",
    item="`subject_ids`",
    member="`user_name`",
    label="`value` in `annotations`; each task is a question; gold-standard classifications are the truth",
    columns=("classification_id user_name workflow_id annotations subject_ids",),
    read=read,
    verified="zooniverse/aggregation-for-caesar, docs/source/_static/cat-project-classifications.csv",
)
