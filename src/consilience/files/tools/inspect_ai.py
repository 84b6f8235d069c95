"""Logs of inspect_ai: models as members where each log has one model's answers, or scorers as members that grade them.

A sample that is asked in several epochs has as many answers.
"""

from __future__ import annotations

from typing import Any

from consilience.data.names import is_missing
from consilience.files.tools.export import Export, Given, Reader, asked, no_classification
from consilience.system.errors import InvalidPredictions


def read(given: Given) -> Export:
    """The question is `answer`, `grade`, or an entry of grades that have several."""
    samples = given.data.get("samples") or []
    scored = [sample for sample in samples if sample.get("scores") and not sample.get("error")]
    scorers = list(dict.fromkeys(name for sample in scored for name in sample["scores"]))
    if not scorers:
        raise InvalidPredictions("a log must have scored samples; it has none")
    chosen = asked(given, _questions(scored, scorers))
    export = Export(chosen)
    if len(scored) < len(samples):
        export.left_out["samples with an error or without scores"] = len(samples) - len(scored)
    for sample in scored:
        if chosen == "answer":
            _add_answer(export, sample, sample["scores"][scorers[0]], given.data["eval"]["model"])
        else:
            _add_grades(export, sample, given.data["eval"]["model"])
    return export


def _questions(samples: list[dict[str, Any]], scorers: list[str]) -> list[str]:
    """What a log may be read as: the model's answers, if one scorer found them, and what scorers say of these."""
    has_answers = len(scorers) == 1 and all("answer" in sample["scores"].get(scorers[0], {}) for sample in samples)
    is_choice = has_answers and all(sample.get("choices") for sample in samples)
    values = [score["value"] for sample in samples for score in sample["scores"].values()]
    entries = list(dict.fromkeys(name for value in values if isinstance(value, dict) for name in value))
    grades = [] if is_choice else entries or ["grade"]
    return ["answer"] * has_answers + grades


def _add_answer(export: Export, sample: dict[str, Any], score: dict[str, Any], model: str) -> None:
    export.add(sample["id"], model, (score.get("answer") or "").strip() or None)
    target = sample["target"]
    true = target if isinstance(target, str) else target[0] if len(target) == 1 else None
    if true is not None:
        export.know(sample["id"], true.strip())


def _add_grades(export: Export, sample: dict[str, Any], model: str) -> None:
    for scorer, score in sample["scores"].items():
        value = score["value"]
        if isinstance(value, dict):
            value = value.get(export.question)
        if isinstance(value, list):
            no_classification(f"lists of grades by {scorer!r}")
        if is_missing(value):
            export.left_out["samples that a scorer left unscored"] += 1
        else:
            export.add(f"{model}/{sample['id']}", scorer, value)


READER = Reader(
    "inspect",
    "inspect_ai",
    item="`id` of the sample; for grades with the model",
    member="`eval.model`; for grades the scorer",
    label="question `answer`: the scorer's `answer` (`target` is the truth); question `grade`: its `value`",
    whole=("eval/task eval/model status",),
    read=read,
    verified="UKGovernmentBEIS/inspect_ai, src/inspect_ai/log/_log.py, scorer/_metric.py and scorer/_choice.py",
)
