"""Argilla: records with a suggestion each, for `dataset.records.from_json`; those with a known id are updated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consilience.data.names import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from consilience.files.back.outcome import Outcome

TOOL = "argilla"

KEPT = ("fields", "metadata", "vectors", "_server_id")
"""What a record keeps. Responses stay where they are, or they would be logged again."""


def records(outcome: Outcome) -> Iterator[dict[str, Any]]:
    """A record for each item."""
    question = outcome.asked(TOOL)
    rows = outcome.rows(TOOL)
    as_value = int if any(_are_ratings(record, question) for _, _, record in rows if record is not None) else str
    for row, fields, record in rows:
        suggestion = {"value": as_value(text_of(row["answer"])), "score": row["confidence"], "agent": outcome.agent}
        made = {"id": text_of(row["item"]), "suggestions": {question: suggestion}}
        if record is not None:
            yield made | {key: record[key] for key in KEPT if key in record}
        else:
            yield made | {"fields": {outcome.named_field(): str(outcome.shown(fields, row["item"]))}}


def _are_ratings(record: Mapping[str, Any], question: str) -> bool:
    """Whether responses to a question are numbers, in nested or in flat records."""
    nested = record.get("responses") or {}
    values = [own["value"] for own in nested.get(question) or []] + list(record.get(f"{question}.responses") or [])
    return any(isinstance(value, int) for value in values)
