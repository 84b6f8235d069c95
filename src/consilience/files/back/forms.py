"""Answers in the forms that tools import: Label Studio, Argilla, Prodigy, and a folder for `datasets.load_dataset`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from consilience.data.names import text_of
from consilience.files.back.appending import write_json
from consilience.files.tools.annotation import VALUES
from consilience.files.writing import check_posterior_path
from consilience.system.atomic import check_writable, whole_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from consilience.files.back.returned import Returned

PRODIGY, DATASETS = "prodigy", "datasets"
FILE = "train.parquet"  # one split, with a row for each item

AS_VALUE: dict[str, Callable[[str], Any]] = {"choices": lambda answer: [answer], "rating": int, "number": float}
"""How the value of a control of Label Studio holds an answer, where that is not text."""

OF_RECORD = ("fields", "metadata", "vectors", "_server_id")
"""What a record of Argilla keeps. Responses stay where they are, or they would be logged again."""

OF_ANSWER = ("answer", "accept", "_task_hash", "_session_id", "_annotator_id", "_timestamp", "_view_id")
"""What a task of `db-out` has from its annotator; without its hash it is a new task on the same input."""


def label_studio(own: Returned) -> Iterator[dict[str, Any]]:
    """Tasks with a prediction each, for *Import*: those of the project that was read, or new ones.

    The control is the one that the answers were read from, or the one that the user names.
    """
    question, tasks = own.asked, [task for task in own.facts.records if task is not None]
    results = (result for task in tasks for each in task.get("annotations", []) for result in each["result"])
    read_from = (r for r in results if r.get("from_name") == question and r["type"] in VALUES)
    control = next(read_from, None) or {"to_name": own.named_field, "type": "choices"}
    to_name, kind = control["to_name"], control["type"]
    for row, fields, task in own.rows():
        value = {VALUES[kind]: AS_VALUE.get(kind, str)(str(row["answer"]))}
        result = {"from_name": question, "to_name": to_name, "type": kind, "value": value}
        predictions = [{"model_version": own.agent, "score": row["confidence"], "result": [result]}]
        if task is not None and "data" in task:
            yield {"id": task["id"], "data": task["data"], "predictions": predictions}
        else:
            shown = fields or {own.named_field: row["item"]}
            yield {"data": {own.facts.key: row["item"], **shown}, "predictions": predictions}


def argilla(own: Returned) -> Iterator[dict[str, Any]]:
    """Records with a suggestion each, for `dataset.records.from_json`; those with a known id are updated."""
    question = own.asked
    are_ratings = any(_is_rated(record, question) for record in own.facts.records if record is not None)
    for row, fields, record in own.rows():
        answer = int(text_of(row["answer"])) if are_ratings else text_of(row["answer"])
        suggestion = {"value": answer, "score": row["confidence"], "agent": own.agent}
        made = {"id": text_of(row["item"]), "suggestions": {question: suggestion}}
        if record is not None:
            yield made | {key: record[key] for key in OF_RECORD if key in record}
        else:
            yield made | {"fields": {own.named_field: str(own.shown(fields, row["item"]))}}


def _is_rated(record: Any, question: str) -> bool:
    """Whether responses to a question are numbers, in nested or in flat records."""
    nested = record.get("responses") or {}
    values = [own["value"] for own in nested.get(question) or []] + list(record.get(f"{question}.responses") or [])
    return any(isinstance(value, int) for value in values)


def prodigy(own: Returned) -> Iterator[dict[str, Any]]:
    """Tasks of the choice interface for a review queue, the answer selected, the least sure first."""
    is_of_one_label = own.facts.question is not None
    options = [{"id": name, "text": name} for name in own.classes]
    own = own._replace(field=own.field or "text")
    for row, fields, task in sorted(own.rows(), key=lambda found: found[0]["confidence"]):
        if not row["review"]:
            continue
        made = {key: value for key, value in (task or {}).items() if key not in OF_ANSWER}
        if task is None:
            made["text"] = str(own.shown(fields, row["item"]))
        if not is_of_one_label:  # such a task is accepted or rejected, and has no options to select
            made = {"options": options} | made | {"accept": [text_of(row["answer"])]}
        numbers = {name: round(row[name], 3) for name in ("confidence", "agreement")}
        told = {"item": row["item"], "answer": row["answer"], **numbers, "review": row["review"]}
        yield made | {"meta": {**made.get("meta", {}), **told}}


FORMS: dict[str, tuple[str, Callable[[Returned], Iterator[dict[str, Any]]]]] = {
    "label-studio": (".json", label_studio),
    "argilla": (".json", argilla),
    PRODIGY: (".jsonl", prodigy),
}
"""The suffix of the file that a tool takes, and its records."""


def check_back(path: Path, tool: str) -> None:
    """Raise if answers cannot be written to this path in the form of this tool."""
    if tool == DATASETS:
        _check_folder(path)
    elif tool not in FORMS:
        raise ValueError(f"--to must be one of {', '.join(FORMS)}, {DATASETS}; got {tool!r}")
    else:
        check_writable(path, FORMS[tool][:1])


def write_back(path: Path, tool: str, own: Returned) -> None:
    """Write the answers in the form of a tool; the records of another one are none of its own."""
    if own.facts.tool != tool:
        own = own._replace(facts=own.facts._replace(records=[None] * len(own.answers), question=None))
    suffix, made_of = FORMS[tool]
    records = list(made_of(own))
    with whole_file(path) as file:
        write_json(file, records, by_line=suffix == ".jsonl")


def _check_folder(path: Path) -> None:
    """Raise if the folder cannot be made, or holds other files, which would be loaded too."""
    if not path.exists():
        check_posterior_path(path.with_name(FILE))  # beside it: the folder is not there yet
        return
    if not path.is_dir():
        raise NotADirectoryError(f"--to datasets writes a folder; {path} is a file")
    others = sorted(own.name for own in path.iterdir() if own.name != FILE)
    if others:
        raise FileExistsError(f"the folder must be new, or hold {FILE} alone; {path} holds {others[0]!r}")
    check_posterior_path(path / FILE)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """The file to write in the folder, which is made, and removed again if that fails."""
    is_new = not path.exists()
    path.mkdir(exist_ok=True)
    try:
        yield path / FILE
    except BaseException:
        if is_new:
            path.rmdir()
        raise
