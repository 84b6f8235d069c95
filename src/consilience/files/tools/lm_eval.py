"""Samples of lm-evaluation-harness (`--log_samples`), one file for each model and task.

The log-likelihoods of the options are logits. Generated answers are labels, several where a model was asked several
times; each filter of a task is a question.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.files.tools.export import Export, Given, Reader, asked, no_classification
from consilience.system.untrusted import stem_of

if TYPE_CHECKING:
    from pathlib import Path

INVALID = "[invalid]"
"""What a filter writes if it finds no answer."""


def read(given: Given) -> Export:
    """Answers of one model, told by the folder that the harness made for it."""
    filters = [str(record.get("filter", "none")) for record in given.data]
    chosen = asked(given, filters)
    records = [record for record, name in zip(given.data, filters, strict=True) if name == chosen]
    export, member = Export(chosen), _model(given.path)
    if all(map(_is_generated, records)):
        _read_generated(records, member, export)
        return export
    names = _names(records)
    for record in records:
        item, numbers = _item(record), _log_likelihoods(record)
        shares = np.exp(numbers - numbers.max())
        export.add(item, member, dict(zip(names or map(str, range(len(numbers))), shares / shares.sum(), strict=False)))
        if (gold := _gold(record, numbers)) is not None:
            export.know(item, names[gold] if names else gold)
    return export


def _is_generated(record: dict[str, Any]) -> bool:
    """Whether a model wrote its answer, once or several times; a log-likelihood is a number, and true or false."""
    first, *others = record["filtered_resps"]
    if isinstance(first, str):
        return True
    return not others and all(isinstance(own, str) for own in first) and first[1:] not in (["True"], ["False"])


def _read_generated(records: list[dict[str, Any]], member: str, export: Export) -> None:
    is_written_alike = True
    for record in records:
        first, target = record["filtered_resps"][0], str(record["target"]).strip()
        answers = [own.strip() for own in ([first] if isinstance(first, str) else first)]
        for said in answers:
            export.add(_item(record), member, None if said == INVALID else said)
        export.know(_item(record), target)
        is_written_alike &= record.get("exact_match") != 1 or len(answers) > 1 or answers[0] == target
    if not is_written_alike:  # as in gsm8k, whose target is a whole solution
        export.truth = {}
        export.note = "the targets are not written as the answers are, and are not read"


def _model(path: Path) -> str:
    """The folder of a file as the harness names it, as in `org__model/samples_arc_2024-01-01T00-00-00.jsonl`."""
    is_named = re.fullmatch(r"samples_.+_\d{4}-\d\d-\d\dT.+", path.stem) is not None
    return path.resolve().parent.name if is_named else stem_of(path)


def _item(record: dict[str, Any]) -> str:
    """The number of the document, with its hash: files of two tasks share no items."""
    return f"{record['doc_id']}-{record['doc_hash'][:8]}" if "doc_hash" in record else str(record["doc_id"])


def _options(record: dict[str, Any]) -> list[tuple[str, str]]:
    """Context and continuation of each option, without the unconditional ones that mutual information needs."""
    given = record["arguments"]
    parts = [tuple(own.values()) for own in given.values()] if isinstance(given, dict) else list(map(tuple, given))
    pairs = [(str(context), str(continuation)) for context, continuation, *_ in parts]
    half = len(pairs) // 2
    is_mutual = "acc_mutual_info" in record and [text for _, text in pairs[:half]] == [text for _, text in pairs[half:]]
    return pairs[:half] if is_mutual else pairs


def _log_likelihoods(record: dict[str, Any]) -> Any:
    options = _options(record)
    if len(options) < 2:
        no_classification("one log-likelihood for each document, not one for each option")
    numbers = np.array([float(own[0]) for own in record["filtered_resps"][: len(options)]])
    if not np.isfinite(numbers.max()):
        raise ValueError(f"document {record['doc_id']} has the log-likelihood {numbers.max()}")
    return numbers


def _names(records: list[dict[str, Any]]) -> list[str] | None:
    """The continuations, if all documents offer the same; otherwise options are told by their places."""
    offered = {tuple(text.strip() for _, text in _options(record)) for record in records}
    first = next(iter(offered))
    return list(first) if len(offered) == 1 and len(set(first)) == len(first) else None


def _gold(record: dict[str, Any], numbers: Any) -> int | None:
    """The place of the true option. The harness writes it, or the option's text; `acc` decides where both may be."""
    target, texts = str(record["target"]), [text.strip() for _, text in _options(record)]
    places = {int(target)} if target.isdecimal() and int(target) < len(texts) else set()
    if texts.count(target.strip()) == 1:
        places.add(texts.index(target.strip()))
    if len(places) > 1 and "acc" in record:
        is_right = float(record["acc"]) == 1
        places = {place for place in places if (place == int(np.argmax(numbers))) == is_right}
    return places.pop() if len(places) == 1 else None


READER = Reader(
    "lm-eval",
    "lm-evaluation-harness",
    item="`doc_id` with the start of `doc_hash`",
    member="the model: the folder of the file",
    label="log-likelihoods of the options, or `filtered_resps`; `target` is the truth; a filter is a question",
    records=("doc_id resps filtered_resps",),
    read=read,
    verified="EleutherAI/lm-evaluation-harness, lm_eval/evaluator.py and loggers/evaluation_tracker.py",
)
