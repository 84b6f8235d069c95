"""Logs of inspect_ai: models as members where each log has one model's answers, or scorers as members that grade them.

A model that is asked in several epochs has answered as often. What it said in each of them is graded for itself.
"""

from __future__ import annotations

import json
import sys
import zipfile
from typing import TYPE_CHECKING, Any

from consilience.data.names import is_missing
from consilience.files.tools.export import Export, Given, Reader, asked, no_classification
from consilience.system.errors import InvalidPredictions, extra
from consilience.system.untrusted import check_unpacked, reason_of

if TYPE_CHECKING:
    from pathlib import Path

START = "_journal/start.json"

ZSTANDARD = 93
"""The number of this way of packing in an archive."""


def read(given: Given) -> Export:
    """The question is `answer`, `grade`, or an entry of grades that have several."""
    samples = given.data.get("samples") or []
    valid = [sample for sample in samples if not sample.get("invalidation")]
    scored = [sample for sample in valid if sample.get("scores") and not sample.get("error")]
    scorers = list(dict.fromkeys(name for sample in scored for name in sample["scores"]))
    if not scorers:
        raise InvalidPredictions("a log must have scored samples; it has none")
    export = Export(asked(given, _questions(scored, scorers)))
    if len(valid) < len(samples):
        export.left_out["invalidated samples"] = len(samples) - len(valid)
    if len(scored) < len(valid):
        export.left_out["samples with an error or without scores"] = len(valid) - len(scored)
    if given.data["status"] != "success":
        export.note = f"the run ended as {given.data['status']!r}: samples may be missing"
    if export.question == "answer":
        _add_answers(export, scored, scorers[0], given.data["eval"]["model"])
    else:
        _add_grades(export, scored, _judges(given.data, scorers), given.data)
    return export


def _text(shown: Any) -> Any:
    """A sample's input without the ids of its messages, which each run makes anew."""
    return [own.get("content") for own in shown] if isinstance(shown, list) else shown


def _questions(samples: list[dict[str, Any]], scorers: list[str]) -> list[str]:
    """What a log may be read as: the model's answers, if one scorer found them, and what scorers say of these."""
    has_answers = len(scorers) == 1 and all("answer" in sample["scores"].get(scorers[0], {}) for sample in samples)
    is_choice = has_answers and all(sample.get("choices") for sample in samples)
    values = [score["value"] for sample in samples for score in sample["scores"].values()]
    entries = list(dict.fromkeys(name for value in values if isinstance(value, dict) for name in value))
    grades = [] if is_choice else entries or ["grade"]
    return ["answer"] * has_answers + grades


def _add_answers(export: Export, samples: list[dict[str, Any]], scorer: str, model: str) -> None:
    """What the model answers."""
    for sample in samples:
        export.show(sample["id"], [_text(sample.get("input")), sample.get("choices")])
        export.add(sample["id"], model, (sample["scores"][scorer].get("answer") or "").strip() or None)
        target = sample["target"]
        true = target if isinstance(target, str) else target[0] if len(target) == 1 else None
        if true is not None:
            export.know(sample["id"], true.strip())


def _judges(log: dict[str, Any], scorers: list[str]) -> dict[str, str]:
    """What each scorer is called: with the model that it asks, where the log says so.

    The second scorer of a name has a 1 behind it, which says nothing once its model is known.
    """
    names = dict(zip(scorers, scorers, strict=True))
    for own in (log.get("results") or {}).get("scores") or []:
        model, scorer = (own.get("params") or {}).get("model"), own["scorer"]
        model = model.get("model") if isinstance(model, dict) else model
        plain = scorer.rstrip("0123456789")
        if isinstance(model, str) and scorer in names:
            named = f"{model}/{plain if plain in scorers else scorer}"
            names[scorer] = f"{model}/{scorer}" if named in names.values() else named
    return names


def _add_grades(export: Export, samples: list[dict[str, Any]], judges: dict[str, str], log: dict[str, Any]) -> None:
    """What scorers say of the model's answers; what it said in several epochs are several items."""
    model, has_epochs = log["eval"]["model"], any(sample.get("epoch", 1) > 1 for sample in log["samples"])
    for sample in samples:
        parts = (model, sample["id"], sample["epoch"]) if has_epochs else (model, sample["id"])
        item = "/".join(map(str, parts))
        export.show(item, _text(sample.get("input")))
        for scorer, score in sample["scores"].items():
            _add_grade(export, item, judges[scorer], score["value"])


def _add_grade(export: Export, item: str, judge: str, value: Any) -> None:
    if isinstance(value, dict):
        value = value.get(export.question)
    if isinstance(value, list):
        no_classification(f"lists of grades by {judge!r}")
    if is_missing(value):
        export.left_out["samples that a scorer left unscored"] += 1
    else:
        export.add(item, judge, value)


def unpacked(path: Path) -> dict[str, Any]:
    """The same log from a `.eval` archive: its head, and a file for each sample. New ones are packed by Zstandard."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            check_unpacked(sum(entry.file_size for entry in entries), path.stat().st_size)
            if any(entry.compress_type == ZSTANDARD for entry in entries) and sys.version_info < (3, 14):
                extra(
                    "zipfile_zstd", name="inspect", use="unpacking .eval logs without `inspect log convert --to json`"
                )
            held = {name: json.loads(archive.read(name)) for name in archive.namelist() if _is_wanted(name)}
    except (ValueError, zipfile.BadZipFile, RuntimeError) as error:
        raise InvalidPredictions(f"{path} must be a log as inspect_ai packs it; {reason_of(error)}") from error
    head: dict[str, Any] = held.pop("header.json", None) or held.get(
        START, {}
    )  # a run that has not ended has no header yet
    return {"status": "started"} | head | {"samples": [own for name, own in held.items() if name != START]}


def _is_wanted(name: str) -> bool:
    return name in ("header.json", START) or (name.startswith("samples/") and name.endswith(".json"))


READER = Reader(
    "inspect",
    "inspect_ai",
    item="`id` of the sample; for grades with the model and the epoch",
    member="`eval.model`; for grades the scorer, with the model that it asks",
    label="question `answer`: the scorer's `answer` (`target` is the truth); question `grade`: its `value`",
    whole=("eval/task eval/model status",),
    read=read,
    verified="UKGovernmentBEIS/inspect_ai, src/inspect_ai/log/_log.py, scorer/_metric.py and scorer/_choice.py",
)
