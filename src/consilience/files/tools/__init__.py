"""Files as annotation and evaluation tools write them: one reader for each tool, recognised by its own keys.

A reader flattens its tool's form to answers whose meaning it knows. `--from NAME` forces one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from consilience.data.axes import some
from consilience.data.tables.columns import Columns
from consilience.data.tables.told import Told
from consilience.files.tools.annotation import argilla, doccano, label_studio, prodigy
from consilience.files.tools.crowds import mturk, toloka, wrench, zooniverse
from consilience.files.tools.export import Export, Given, Reader, has_all_of_one, not_classes
from consilience.files.tools.harnesses import helm, inspect_ai, lm_eval, openai_evals
from consilience.files.tools.judges import alpaca_eval, deepeval, mt_bench, promptfoo, ragas, reward_bench
from consilience.system.errors import InvalidPredictions, Say
from consilience.system.tables import Table
from consilience.system.untrusted import reason_of

EVALUATION = (lm_eval, inspect_ai, promptfoo, mt_bench, openai_evals, alpaca_eval, reward_bench, helm, deepeval, ragas)
ANNOTATION = (label_studio, doccano, prodigy, argilla, mturk, toloka, zooniverse, wrench)
READERS: dict[str, Reader] = {own.name: own for own in (*EVALUATION, *ANNOTATION)}


def reader_of(given: Any, told: Told) -> Reader | None:
    """The reader that the user names, or the one that recognises this JSON or table; None if it is no tool's."""
    is_table = isinstance(given, Columns)
    if told.format is not None:
        if told.format not in READERS:
            raise InvalidPredictions(Say("format"), f" must be one of {', '.join(READERS)}; got {told.format!r}")
        reader = READERS[told.format]
        if not (reader.columns if is_table else reader.whole + reader.records):
            kinds = ("JSON", "a table, such as .csv")
            raise InvalidPredictions(f"{reader.title} writes {kinds[not is_table]}; got {kinds[is_table]}")
        return reader
    if told.are_named:  # a table of columns, the user says
        return None
    found = [own for own in READERS.values() if own.recognises(given)]
    if len(found) > 1:
        options = " or ".join(str(Say("format", reader.name)) for reader in found)
        raise InvalidPredictions(f"several tools write such files: say {options}")
    return found[0] if found else None


def is_of_tool(data: Any) -> bool:
    """Whether parsed JSON has the keys of some tool."""
    return any(reader.recognises(data) for reader in READERS.values())


def told_apart(names: list[str]) -> list[str]:
    """The columns of a tool that repeats them, with a number from the second on; those of others as they are."""
    columns = dict.fromkeys(names)
    if not any(own.repeats_columns and has_all_of_one(columns, own.columns) for own in READERS.values()):
        return names
    before = [names[:place].count(name) for place, name in enumerate(names)]
    return [f"{name} ({n + 1})" if n else name for name, n in zip(names, before, strict=True)]


def export_of(reader: Reader, path: Path, data: Any, told: Told) -> Export:
    """What JSON or a table says, by its reader."""
    if isinstance(data, Columns):  # None stands for an empty cell
        data = Table({str(name): data[name].cells or data[name].rows() for name in data}).rows()
    try:
        export = reader.read(Given(path, data, told.question))
    except InvalidPredictions:
        raise
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        reason = f"it has no {error.args[0]!r}" if isinstance(error, KeyError) else reason_of(error)
        raise InvalidPredictions(f"it must be as {reader.title} writes it; {reason}") from error
    if told.question is not None and export.question is None:
        raise InvalidPredictions(f"a file of {reader.title} has no questions to choose from; got {told.question!r}")
    return export


REGIONS = ("start end", "start_offset end_offset", "x y", "points", "bbox", "segmentation")
"""A record with such keys marks a part of an item."""


def are_spans(value: Any) -> bool:
    """Whether a list marks parts of a text, as in `[[0, 5, "PER"]]`."""
    return bool(value) and all(
        isinstance(own, list) and len(own) == 3 and [type(part) for part in own] == [int, int, str] for own in value
    )


def _has_regions(value: Any) -> bool:
    """Whether some list inside marks parts of items."""
    if isinstance(value, dict):
        return has_all_of_one(value, REGIONS) or any(map(_has_regions, value.values()))
    return isinstance(value, list) and (are_spans(value) or any(map(_has_regions, value)))


def unknown_form(data: Any) -> InvalidPredictions:
    """No reader knows this JSON."""
    if _has_regions(data):
        return not_classes("spans of text, boxes or other parts of items")
    record = data[0] if isinstance(data, list) and data else data
    keys = some(list(record)) if isinstance(record, dict) and record else f"a {type(record).__name__}"
    return InvalidPredictions(
        'it must hold a list of records, such as {"item": 1, "member": "ann", "label": "cat"}, or what a known tool '
        f"writes ({', '.join(READERS)}); it has {keys}"
    )
