"""What a tool gets back: the answers, and what its own file or the table says of each item beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.axes import some
from consilience.data.names import text_of
from consilience.files.back.appending import item_places
from consilience.files.contents import TABLE_FORMATS, as_records, read_contents, split_source, suffix_of
from consilience.files.recognition import understood_table
from consilience.files.records import read_json
from consilience.files.tools import reader_of
from consilience.files.tools.annotation import OF_ROW
from consilience.files.tools.export import name_of
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from consilience.data.tables.layouts import Understood
    from consilience.data.tables.told import Told
    from consilience.system.tables import Table

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
    understood = understood_table(sources[0], told, logits=logits)
    return nothing if understood is None else _of_table(understood, items)


def _of_tool(sources: Sequence[str], told: Told, items: Sequence[Any]) -> Facts | None:
    """The records of one tool; None if none that is known wrote all files."""
    found: dict[str, Mapping[str, Any]] = {}
    tools, question = set(), None
    for source in sources:
        path, _ = split_source(source)
        given = as_records(read_json(path, by_line=suffix_of(path) != ".json"))
        reader = reader_of(given, told)
        tools.add(None if reader is None else reader.name)
        if reader is None or reader.name not in RECORDS or len(tools) > 1:
            return None
        export = read_contents(source, told).export
        question = None if export is None else export.question
        for record in given if isinstance(given, list) else [given]:
            found.setdefault(name_of(record[RECORDS[reader.name][0]]), record)
    (tool,) = tools
    records = [found.get(text_of(item)) for item in items]
    fields = [_fields(own or {}, RECORDS[str(tool)][1]) for own in records]
    return Facts(fields, records, tool, question, "id")


def _fields(record: Mapping[str, Any], inside: str | None) -> dict[str, Any]:
    """What a record shows: under a key of its own, or beside what the tool and its annotators add."""
    if isinstance(shown := record.get(inside or ""), dict):
        return shown
    return {name: own for name, own in record.items() if name not in ADDED and name[:1] != "_" and "." not in name}


def _of_table(understood: Understood, items: Sequence[Any]) -> Facts:
    """The columns of a table that were not read and say the same in all rows of an item, and what names the items."""
    places = item_places(understood, items)
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
