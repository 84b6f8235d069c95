"""Prodigy: tasks of the choice interface for a review queue, the answer selected, the least sure first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consilience.data.names import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consilience.files.back.outcome import Outcome

TOOL = "prodigy"

OF_ANSWER = ("answer", "accept", "_task_hash", "_session_id", "_annotator_id", "_timestamp", "_view_id")
"""What a task of `db-out` has from its annotator; without its hash it is a new task on the same input."""


def records(outcome: Outcome) -> Iterator[dict[str, Any]]:
    """A task for each item that somebody should look at again."""
    is_of_one_label = outcome.facts.tool == TOOL and outcome.facts.question is not None
    options = [{"id": name, "text": name} for name in outcome.classes]
    outcome = outcome._replace(field=outcome.field or "text")
    for row, fields, task in sorted(outcome.rows(TOOL), key=lambda found: found[0]["confidence"]):
        if not row["review"]:
            continue
        made = {key: value for key, value in (task or {}).items() if key not in OF_ANSWER}
        if task is None:
            made["text"] = str(outcome.shown(fields, row["item"]))
        if not is_of_one_label:  # such a task is accepted or rejected, and has no options to select
            made = {"options": options} | made | {"accept": [text_of(row["answer"])]}
        numbers = {name: round(row[name], 3) for name in ("confidence", "agreement")}
        told = {"item": row["item"], "answer": row["answer"], **numbers, "review": row["review"]}
        yield made | {"meta": {**made.get("meta", {}), **told}}
