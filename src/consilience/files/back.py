"""Answers back: into the table that was read, or in the form that a tool imports.

The tools are Label Studio, Argilla and Prodigy; `datasets.load_dataset` reads a folder. With the answers goes what the
tool's own file, or the table that was read, says of each item beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from consilience.data.axes import some
from consilience.data.names import text_of
from consilience.data.tables.layouts import Understood
from consilience.data.tables.told import FUSED, Told
from consilience.files.contents import TABLE_FORMATS, read_contents, read_json, split_source, suffix_of
from consilience.files.delimited import raw_rows
from consilience.files.recognition import recognised
from consilience.files.tools.annotation import OF_ROW, VALUES
from consilience.files.tools.export import name_of
from consilience.files.writing import check_posterior_path, with_quote, write_frame, write_json, write_text
from consilience.system.arrays import IntArray
from consilience.system.atomic import check_writable, whole_file
from consilience.system.errors import InvalidPredictions, polars
from consilience.system.tables import Table

# ---- into the table that was read: answers as further columns; its own cells stay as they are -----------------

PREFIX = "fused_"  # stands before the names of the new columns where the table has one of them already
New = dict[str, list[Any]]  # the new columns, with a value for each row of the table


def check_appendable(path: Path, sources: Sequence[str]) -> None:
    """Raise if the files are not one table, or the path is of another format; called before any work is done."""
    if len(sources) != 1 or (suffix := suffix_of(split_source(sources[0])[0])) not in APPENDERS:
        raise InvalidPredictions(f"--append takes one table of {' '.join(APPENDERS)}; got {', '.join(sources)}")
    check_writable(path, (suffix,))


def write_appended(path: Path, source: str, told: Told, answers: Table, *, logits: bool = False) -> None:
    """Write the table in `source` again, with the answer to its item in each row."""
    contents, items = read_contents(source, told), answers["item"]
    if contents.table is not None:
        places = _item_places(recognised(contents, source, told, logits=logits), items)
    elif contents.export is not None and contents.export.rows:
        places = _places(contents.export.rows, items)
    else:
        raise InvalidPredictions(
            f"--append takes a table with an item in each row; {source} is a tool's own: write a table of answers "
            "with -o, or what a tool takes with --to"
        )
    values = {name: [None if place < 0 else answers[name][place] for place in places.tolist()] for name in FUSED}
    with whole_file(path) as file:
        APPENDERS[suffix_of(contents.path)](file, contents.path, values)


def _item_places(understood: Understood, items: Sequence[Any]) -> IntArray:
    """The place of each row's item among all items; -1 where nothing was read of a row."""
    if understood.items is None:
        return np.arange(understood.predictions.n_items)
    return _places(understood.items.rows(), items)


def _places(names: Sequence[Any], items: Sequence[Any]) -> IntArray:
    by_name = {text_of(item): place for place, item in enumerate(items)}
    return np.array([-1 if name is None else by_name.get(text_of(name), -1) for name in names], dtype=np.intp)


def _named(new: New, taken: Sequence[str], n_rows: int, path: Path) -> New:
    """The new columns, as long as the table, under names that it does not have."""
    if any(len(values) != n_rows for values in new.values()):
        raise InvalidPredictions(f"--append takes a table with an item in each row; {path} has several in one")
    prefix = PREFIX if set(new) & set(taken) else ""
    if clash := {f"{prefix}{name}" for name in new} & set(taken):
        raise InvalidPredictions(f"--append must add new columns; {path} has {min(clash)!r} already")
    return {f"{prefix}{name}": values for name, values in new.items()}


def _append_text(file: IO[bytes], path: Path, new: New) -> None:
    delimiter = "\t" if suffix_of(path) == ".tsv" else ","
    header, *rows = raw_rows(path, delimiter)
    added = _named(new, header, len(rows), path)
    full = (row + [""] * (len(header) - len(row)) for row in rows)  # a row may end early
    values = ([with_quote(cell) if cell != "" else None for cell in row] for row in zip(*added.values(), strict=True))
    table = (cells + own for cells, own in zip(full, values, strict=True))
    write_text(file, [[*header, *added], *table], delimiter)


def _append_parquet(file: IO[bytes], path: Path, new: New) -> None:
    pl = polars()
    frame = pl.read_parquet(path, glob=False)
    write_frame(file, frame.with_columns(pl.DataFrame(_named(new, frame.columns, frame.height, path), strict=False)))


def _append_records(file: IO[bytes], path: Path, new: New) -> None:
    given = read_json(path)
    if not isinstance(given, list) or not all(isinstance(record, dict) for record in given):
        raise InvalidPredictions(f"--append takes a list of records; {path} has another form")
    added = _named(new, [key for record in given for key in record], len(given), path)
    rows = zip(*added.values(), strict=True)
    records = [record | dict(zip(added, row, strict=True)) for record, row in zip(given, rows, strict=True)]
    write_json(file, records, by_line=suffix_of(path) != ".json")


APPENDERS: dict[str, Callable[[IO[bytes], Path, New], None]] = {
    ".csv": _append_text,
    ".tsv": _append_text,
    ".parquet": _append_parquet,
    ".jsonl": _append_records,
    ".ndjson": _append_records,
    ".json": _append_records,
}

# ---- in the form that a tool imports --------------------------------------------------------------------------

PRODIGY, DATASETS = "prodigy", "datasets"
FILE = "train.parquet"  # one split, with a row for each item

AS_VALUE: dict[str, Callable[[str], Any]] = {"choices": lambda answer: [answer], "rating": int, "number": float}
"""How the value of a control of Label Studio holds an answer, where that is not text."""

OF_RECORD = ("fields", "metadata", "vectors", "_server_id")
"""What a record of Argilla keeps. Responses stay where they are, or they would be logged again."""

OF_ANSWER = ("answer", "accept", "_task_hash", "_session_id", "_annotator_id", "_timestamp", "_view_id")
"""What a task of `db-out` has from its annotator; without its hash it is a new task on the same input."""

RECORDS = {"label-studio": ("id", "data"), "argilla": ("id", "fields"), "prodigy": ("_input_hash", None)}
"""Of tools whose files have a record for each item: the key of its id, and that of what it shows."""

ADDED = ("id", "status", "answer", "accept", "options", "meta", *OF_ROW)
"""What records without a key for what they show have beside it."""


class Facts(NamedTuple):
    """What the input says of each item beside the answers."""

    fields: list[dict[str, Any]]  # what a tool shows of it, or the other columns of its table
    records: list[Mapping[str, Any] | None]  # as the tool wrote it
    tool: str | None = None  # that wrote the input
    question: str | None = None  # that was read
    key: str = "item"  # what the input calls the names of items


class Returned(NamedTuple):
    """The answers to all items, what is known of these, and where they go in the tool's project."""

    answers: Table  # as `cs.answers` gives it
    classes: list[str]
    agent: str  # who answers
    facts: Facts
    question: str | None = None
    field: str | None = None

    def rows(self) -> list[tuple[dict[str, Any], dict[str, Any], Mapping[str, Any] | None]]:
        """Each item's answer, its fields, and its record if the tool wrote the input."""
        return list(zip(self.answers.rows(), self.facts.fields, self.facts.records, strict=True))

    @property
    def asked(self) -> str:
        """The question that is answered: that of the input if the tool wrote it, or the one that the user names."""
        question = self.question or self.facts.question
        if question is None:
            raise InvalidPredictions(
                "answers need the question of the project that they answer: say --to-question NAME"
            )
        return question

    def shown(self, fields: Mapping[str, Any], item: Any) -> Any:
        """What the field of the project shows of an item; its name where nothing else is known of it."""
        if self.field is not None and self.field in fields:
            return fields[self.field]
        if fields and self.field != self.facts.key:
            raise InvalidPredictions(f"--to-field must be one of {some([self.facts.key, *fields])}; got {self.field!r}")
        return item

    @property
    def named_field(self) -> str:
        """The field of the project that shows items; raises if nobody has named it."""
        if self.field is None:
            raise InvalidPredictions("items need the field of the project that shows them: say --to-field NAME")
        return self.field


# ---- the forms ------------------------------------------------------------------------------------------------


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
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"--to datasets writes a folder; {path} is a file")
    if others := sorted(own.name for own in path.glob("*") if own.name != FILE):
        raise FileExistsError(f"the folder must be new, or hold {FILE} alone; {path} holds {others[0]!r}")
    check_posterior_path(path / FILE if path.exists() else path.with_name(FILE))  # beside it if it is not there yet


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


# ---- what the input says of its items -------------------------------------------------------------------------


def facts_of(sources: Sequence[str], told: Told, items: Sequence[Any], *, logits: bool = False) -> Facts:
    """What the files say of their items: the records of a tool, the other columns of one table, or the names alone."""
    suffixes = [suffix_of(split_source(source)[0]) for source in sources]
    if all(suffix in (".json", ".jsonl", ".ndjson") for suffix in suffixes):
        found = _of_tool(sources, told, items)
        if found is not None:
            return found
    nothing = Facts([{} for _ in items], [None] * len(items))
    if len(sources) > 1 or suffixes[0] not in TABLE_FORMATS:
        return nothing
    contents = read_contents(sources[0], told)
    if contents.table is None:
        return nothing
    return _of_table(recognised(contents, sources[0], told, logits=logits), items)


def _of_tool(sources: Sequence[str], told: Told, items: Sequence[Any]) -> Facts | None:
    """The records of one tool; None if none that is known wrote all files."""
    found: dict[str, Mapping[str, Any]] = {}
    tools, question, inside = set[str | None](), None, None
    for source in sources:
        contents = read_contents(source, told)
        tools.add(contents.tool)
        if contents.export is None or contents.tool not in RECORDS or len(tools) > 1:
            return None
        question, given = contents.export.question, contents.given
        key, inside = RECORDS[contents.tool]
        for record in given if isinstance(given, list) else [given]:
            found.setdefault(name_of(record[key]), record)
    records = [found.get(text_of(item)) for item in items]
    fields = [_fields(own or {}, inside) for own in records]
    return Facts(fields, records, tools.pop(), question, "id")


def _fields(record: Mapping[str, Any], inside: str | None) -> dict[str, Any]:
    """What a record shows: under a key of its own, or beside what the tool and its annotators add."""
    if isinstance(shown := record.get(inside or ""), dict):
        return shown
    return {name: own for name, own in record.items() if name not in ADDED and name[:1] != "_" and "." not in name}


def _of_table(understood: Understood, items: Sequence[Any]) -> Facts:
    """The columns of a table that were not read and say the same in all rows of an item, and what names the items."""
    places = _item_places(understood, items)
    rows = np.flatnonzero(places >= 0)
    first = np.zeros(len(items), dtype=np.intp)
    first[places[rows[::-1]]] = rows[::-1]
    columns = {} if understood.unread is None else {str(name): understood.unread[name] for name in understood.unread}
    codes = {name: own.coded.codes for name, own in columns.items()}
    of_item = [name for name, own in codes.items() if (own[rows] == own[first[places[rows]]]).all()]
    cells = {name: columns[name].cells or columns[name].rows() for name in of_item}
    fields = [{name: own[row] for name, own in cells.items()} for row in first.tolist()]
    key = "item" if understood.items is None else str(understood.items.name)
    return Facts(fields, [None] * len(items), key=key)
