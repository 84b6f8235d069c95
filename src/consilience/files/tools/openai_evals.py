"""Logs of OpenAI evals (`oaieval`): one event on each line, after the specification of the run."""

from __future__ import annotations

from typing import Any

from consilience.files.tools.export import Export, Given, Reader, asked, no_classification

INVALID = "__invalid__"
"""What a model-graded eval writes if the judge names no choice."""


def read(given: Given) -> Export:
    """The `choice` of a judge, or the `answer` of a model; each is a question where a log has both."""
    spec: dict[str, Any] = next((record["spec"] for record in given.data if "spec" in record), {})
    events = [record for record in given.data if "sample_id" in record]
    kinds = {
        "choice": [event for event in events if event["type"] == "metrics" and "choice" in event["data"]],
        "answer": [event for event in events if event["type"] == "match"],
    }
    kinds = {kind: found for kind, found in kinds.items() if found}
    if not kinds:
        no_classification(f"events of the types {', '.join(sorted({event['type'] for event in events}))}")
    chosen = asked(given, kinds)
    models = [str(name) for name in spec.get("completion_fns", [])] or [given.stem]
    export = Export(chosen)
    for event in kinds[chosen]:
        if chosen == "choice":
            _add_choice(export, event, models)
        else:
            _add_answer(export, event, ", ".join(models))
    return export


def _add_choice(export: Export, event: dict[str, Any], models: list[str]) -> None:
    """What a judge, the last of the models, says of the others' answer."""
    judged = "" if len(models) == 1 else f"{', '.join(models[:-1])}/"
    if event["data"]["choice"] == INVALID:
        export.left_out["answers that name no choice"] += 1
    else:
        export.add(f"{judged}{event['sample_id']}", models[-1], event["data"]["choice"])


def _add_answer(export: Export, event: dict[str, Any], model: str) -> None:
    """What a model answers.

    `picked` is among the options that were looked for. Where these are the expected answers alone, it would tell the
    truth instead of the model's answer.
    """
    data = event["data"]
    expected = data.get("expected")
    true = expected if isinstance(expected, list) else [expected]
    is_choice = isinstance(data.get("options"), list) and any(option not in true for option in data["options"])
    if isinstance(data.get("sampled"), str):
        said = data["picked"] if is_choice else data["sampled"].strip()
    elif isinstance(data.get("picked"), str) and "options" not in data:
        said = data["picked"].strip()
    else:
        no_classification("matches with the expected answers instead of the model's answers")
    export.add(event["sample_id"], model, said)
    if len(true) == 1 and isinstance(true[0], str):
        export.know(event["sample_id"], true[0] if is_choice else true[0].strip())


READER = Reader(
    "openai-evals",
    "OpenAI evals",
    item="`sample_id`",
    member="the model that answers or judges, of `completion_fns`",
    label="`picked` or `sampled` of matches (`expected` is the truth), or a judge's `choice`",
    records=("spec/completion_fns", "run_id event_id sample_id type data"),
    read=read,
    verified="openai/evals, evals/record.py, evals/api.py and evals/elsuite/modelgraded/classify.py",
)
