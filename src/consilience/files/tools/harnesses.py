"""Runs of harnesses that ask models, and may have others grade the answers: lm-eval, inspect_ai, OpenAI evals, HELM."""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from consilience.data.names import is_missing
from consilience.files.tools.export import Export, Given, Reader, asked, not_classes
from consilience.system.errors import InvalidPredictions, extra
from consilience.system.untrusted import check_unpacked, reason_of

ANSWER = "answer"  # the question of what a model says; what others say of it are further ones

# ---- lm-evaluation-harness ------------------------------------------------------------------------------------

NO_ANSWER = "[invalid]"  # what a filter writes if it finds none


@Reader(
    "lm-eval",
    "lm-evaluation-harness",
    item="`doc_id` with the start of `doc_hash`",
    member="the model: the folder of the file",
    label="log-likelihoods of the options, or `filtered_resps`; `target` is the truth; a filter is a question",
    records=("doc_id resps filtered_resps",),
    verified="EleutherAI/lm-evaluation-harness, lm_eval/evaluator.py and loggers/evaluation_tracker.py",
)
def lm_eval(given: Given) -> Export:
    """Samples (`--log_samples`) of one model, told by the folder that the harness made for it.

    The log-likelihoods of the options are logits. Generated answers are labels, several where a model was asked several
    times; each filter of a task is a question.
    """
    filters = [str(record.get("filter", "none")) for record in given.data]
    export = Export(asked(given, filters))
    is_named = re.fullmatch(r"samples_.+_\d{4}-\d\d-\d\dT.+", given.path.stem) is not None
    member = given.path.resolve().parent.name if is_named else given.stem  # org__model/samples_arc_2024-01-01T00….jsonl
    records = [record for record, name in zip(given.data, filters, strict=True) if name == export.question]
    if all(map(_is_generated, records)):
        _add_generated(export, records, member)
        return export
    offered = list(map(_options_of, records))
    # The continuations name the options if all documents offer the same; otherwise their places do.
    is_same = len(set(offered)) == 1 and len(set(offered[0])) == len(offered[0])
    for record, options in zip(records, offered, strict=True):
        item, numbers = _document(record), _log_likelihoods(record, len(options))
        shares = np.exp(numbers - numbers.max())
        names = options if is_same else tuple(map(str, range(len(options))))
        export.add(item, member, dict(zip(names, shares / shares.sum(), strict=False)))
        if (gold := _gold(record, options, numbers)) is not None:
            export.know(item, names[gold])
    return export


def _is_generated(record: dict[str, Any]) -> bool:
    """Whether a model wrote its answer, once or several times; a log-likelihood is a number, and true or false."""
    first, *others = record["filtered_resps"]
    if isinstance(first, str):
        return True
    return not others and all(isinstance(own, str) for own in first) and first[1:] not in (["True"], ["False"])


def _add_generated(export: Export, records: list[dict[str, Any]], member: str) -> None:
    is_written_alike = True
    for record in records:
        first, target = record["filtered_resps"][0], str(record["target"]).strip()
        answers = [own.strip() for own in ([first] if isinstance(first, str) else first)]
        for said in answers:
            export.add(_document(record), member, None if said == NO_ANSWER else said)
        export.know(_document(record), target)
        is_written_alike &= record.get("exact_match") != 1 or len(answers) > 1 or answers[0] == target
    if not is_written_alike:  # as in gsm8k, whose target is a whole solution
        export.truth = {}
        export.note = "the targets are not written as the answers are, and are not read"


def _document(record: dict[str, Any]) -> str:
    """The number of the document, with its hash: files of two tasks share no items."""
    return f"{record['doc_id']}-{record['doc_hash'][:8]}" if "doc_hash" in record else str(record["doc_id"])


def _options_of(record: dict[str, Any]) -> tuple[str, ...]:
    """The text of each option, without the unconditional ones that mutual information needs."""
    given = record["arguments"]
    parts = [tuple(own.values()) for own in given.values()] if isinstance(given, dict) else list(map(tuple, given))
    texts = tuple(str(continuation) for _, continuation, *_ in parts)
    half = len(texts) // 2
    texts = texts[:half] if "acc_mutual_info" in record and texts[:half] == texts[half:] else texts
    return tuple(map(str.strip, texts))


def _log_likelihoods(record: dict[str, Any], n_options: int) -> Any:
    if n_options < 2:
        raise not_classes("one log-likelihood for each document, not one for each option")
    numbers = np.array([float(own[0]) for own in record["filtered_resps"][:n_options]])
    if not np.isfinite(numbers.max()):
        raise ValueError(f"document {record['doc_id']} has the log-likelihood {numbers.max()}")
    return numbers


def _gold(record: dict[str, Any], options: tuple[str, ...], numbers: Any) -> int | None:
    """The place of the true option. The harness writes it, or the option's text; `acc` decides where both may be."""
    target = str(record["target"])
    places = {int(target)} if target.isdecimal() and int(target) < len(options) else set()
    if options.count(target.strip()) == 1:
        places.add(options.index(target.strip()))
    if len(places) > 1 and "acc" in record:
        is_right = float(record["acc"]) == 1
        places = {place for place in places if (place == int(np.argmax(numbers))) == is_right}
    return places.pop() if len(places) == 1 else None


# ---- inspect_ai -----------------------------------------------------------------------------------------------

HEADER, START = "header.json", "_journal/start.json"
ZSTANDARD = 93  # the number of this way of packing in an archive


@Reader(
    "inspect",
    "inspect_ai",
    item="`id` of the sample; for grades with the model and the epoch",
    member="`eval.model`; for grades the scorer, with the model that it asks",
    label="question `answer`: the scorer's `answer` (`target` is the truth); question `grade`: its `value`",
    whole=("eval/task eval/model status",),
    verified="UKGovernmentBEIS/inspect_ai, src/inspect_ai/log/_log.py, scorer/_metric.py and scorer/_choice.py",
)
def inspect_ai(given: Given) -> Export:
    """Models as members where each log has one model's answers, or scorers as members that grade them.

    The question is `answer`, `grade`, or an entry of grades that have several. A model that is asked in several epochs
    has answered as often. What it said in each of them is graded for itself.
    """
    samples = given.data.get("samples") or []
    valid = [sample for sample in samples if not sample.get("invalidation")]
    scored = [sample for sample in valid if sample.get("scores") and not sample.get("error")]
    scorers = list(dict.fromkeys(name for sample in scored for name in sample["scores"]))
    if not scorers:
        raise InvalidPredictions("a log must have scored samples; it has none")
    export = Export(asked(given, _questions(scored, scorers)))
    export.left_out["invalidated samples"] = len(samples) - len(valid)
    export.left_out["samples with an error or without scores"] = len(valid) - len(scored)
    if given.data["status"] != "success":
        export.note = f"the run ended as {given.data['status']!r}: samples may be missing"
    if export.question == ANSWER:
        _add_answers(export, scored, scorers[0], given.data["eval"]["model"])
    else:
        _add_scores(export, scored, _judges(given.data, scorers), given.data)
    return export


def _add_answers(export: Export, samples: list[dict[str, Any]], scorer: str, model: str) -> None:
    for sample in samples:
        export.show(sample["id"], [_text(sample.get("input")), sample.get("choices")])
        export.add(sample["id"], model, (sample["scores"][scorer].get("answer") or "").strip())
        targets = [sample["target"]] if isinstance(sample["target"], str) else sample["target"]
        if len(targets) == 1:
            export.know(sample["id"], targets[0].strip())


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
    return [ANSWER] * has_answers + grades


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


def _add_scores(export: Export, samples: list[dict[str, Any]], judges: dict[str, str], log: dict[str, Any]) -> None:
    """What scorers say of the model's answers; what it said in several epochs are several items."""
    model, has_epochs = log["eval"]["model"], any(sample.get("epoch", 1) > 1 for sample in log["samples"])
    for sample in samples:
        parts = (model, sample["id"], sample["epoch"]) if has_epochs else (model, sample["id"])
        item = "/".join(map(str, parts))
        export.show(item, _text(sample.get("input")))
        for scorer, score in sample["scores"].items():
            value = score["value"].get(export.question) if isinstance(score["value"], dict) else score["value"]
            if isinstance(value, list):
                raise not_classes(f"lists of grades by {judges[scorer]!r}")
            unless = "samples that a scorer left unscored" if is_missing(value) else ""
            export.add(item, judges[scorer], value, unless=unless)


def unpacked(path: Path) -> dict[str, Any]:
    """The same log from a `.eval` archive: its head, and a file for each sample. New ones are packed by Zstandard."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            check_unpacked(sum(entry.file_size for entry in entries), path.stat().st_size)
            if any(entry.compress_type == ZSTANDARD for entry in entries) and sys.version_info < (3, 14):
                use = "unpacking .eval logs without `inspect log convert --to json`"
                extra("zipfile_zstd", name="inspect", use=use)
            samples = [name for name in archive.namelist() if name.startswith("samples/") and name.endswith(".json")]
            heads = [name for name in (HEADER, START) if name in archive.namelist()]
            held = {name: json.loads(archive.read(name)) for name in (*heads, *samples)}
    except (ValueError, zipfile.BadZipFile, RuntimeError) as error:
        raise InvalidPredictions(f"{path} must be a log as inspect_ai packs it; {reason_of(error)}") from error
    head: dict[str, Any] = held.pop(HEADER, None) or held.get(START, {})  # a run that has not ended has no header yet
    return {"status": "started"} | head | {"samples": [own for name, own in held.items() if name != START]}


# ---- OpenAI evals ---------------------------------------------------------------------------------------------

NO_CHOICE = "__invalid__"  # what a model-graded eval writes if the judge names none


@Reader(
    "openai-evals",
    "OpenAI evals",
    item="`sample_id`",
    member="the model that answers or judges, of `completion_fns`",
    label="`picked` or `sampled` of matches (`expected` is the truth), or a judge's `choice`",
    records=("spec/completion_fns", "run_id event_id sample_id type data"),
    verified="openai/evals, evals/record.py, evals/api.py and evals/elsuite/modelgraded/classify.py",
)
def openai_evals(given: Given) -> Export:
    """The `choice` of a judge, or the `answer` of a model; each is a question where a log of `oaieval` has both.

    A log has one event on each line, after the specification of the run.
    """
    spec: dict[str, Any] = next((record["spec"] for record in given.data if "spec" in record), {})
    events = [record for record in given.data if "sample_id" in record]
    kinds = {
        "choice": [event for event in events if event["type"] == "metrics" and "choice" in event["data"]],
        ANSWER: [event for event in events if event["type"] == "match"],
    }
    types = ", ".join(sorted({str(event["type"]) for event in events}))
    chosen = asked(given, [kind for kind, found in kinds.items() if found], f"events of the types {types}")
    *judged, last = [str(name) for name in spec.get("completion_fns", [])] or [given.stem]
    prefix, export = f"{', '.join(judged)}/" if judged else "", Export(chosen)
    for event in kinds[chosen]:
        if chosen == ANSWER:
            _add_match(export, event, ", ".join([*judged, last]))
        else:  # of a judge, the last of the models, on the others' answer
            said = event["data"]["choice"]
            unless = {NO_CHOICE: "answers that name no choice"}.get(said, "")
            export.add(f"{prefix}{event['sample_id']}", last, said, unless=unless)
    return export


def _add_match(export: Export, event: dict[str, Any], model: str) -> None:
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
        raise not_classes("matches with the expected answers instead of the model's answers")
    export.add(event["sample_id"], model, said)
    if len(true) == 1 and isinstance(true[0], str):
        export.know(event["sample_id"], true[0] if is_choice else true[0].strip())


# ---- HELM -----------------------------------------------------------------------------------------------------

SCORE = "_score"  # a jury of HELM Safety writes `gpt_score`, `llama_score`


@Reader(
    "helm",
    "HELM",
    item="`instance.id` with the start of the hash of its input, and the perturbation; for grades with the model",
    member="`adapter_spec.model`; for grades the model that judges",
    label="question `answer`: the option or text (the reference tagged correct is the truth); a criterion: the score",
    whole=("adapter_spec/model request_states",),
    verified="stanford-crfm/helm 0.5.16, benchmark/adaptation/request_state.py and annotation/model_as_judge.py",
)
def helm(given: Given) -> Export:
    """What the model says (`scenario_state.json`), or what a jury says of it; each criterion of a jury is a question.

    The item of a grade is the model's answer.
    """
    spec, states = given.data["adapter_spec"], given.data["request_states"]
    if any("reference_index" in state for state in states):
        raise not_classes(f"the method {spec.get('method')!r}, which asks about each option by itself")
    criteria = [criterion for state in states for criterion, _, _ in _grades(state)]
    export = Export(asked(given, criteria + [ANSWER] * (not criteria or given.question == ANSWER)))
    has_texts = len({frozenset(_options(state).values()) for state in states}) == 1
    if export.question == ANSWER:
        offered = [_options(state).values() if has_texts else _options(state) for state in states]
        export.classes = frozenset(name for names in offered for name in names)
    for state in states:
        if not (state.get("result") or {}).get("success"):
            export.left_out["requests that failed"] += 1
        elif export.question == ANSWER:
            _add_answer(export, state, spec["model"], has_texts=has_texts)
        else:
            for criterion, judge, score in _grades(state):
                if criterion == export.question:
                    export.add(f"{spec['model']}/{_instance(state)}", judge, score)
    return export


def _instance(state: dict[str, Any]) -> str:
    """An instance, of which a perturbation makes another. Each run counts from id0, so that the input is needed too."""
    instance = state["instance"]
    shown = json.dumps([instance["input"].get(key) for key in ("text", "messages")])
    known = f"{instance['id']}-{sha256(shown.encode()).hexdigest()[:8]}"
    perturbation = (instance.get("perturbation") or {}).get("name")
    return known if perturbation is None else f"{known}/{perturbation}"


def _options(state: dict[str, Any]) -> dict[str, str]:
    """The texts of the options by their letters; empty where the answer is the text itself."""
    return state.get("output_mapping") or {}


def _add_answer(export: Export, state: dict[str, Any], model: str, *, has_texts: bool) -> None:
    """An answer by the text of its option, or by its letter where questions have options of their own."""
    item, options, said = _instance(state), _options(state), state["result"]["completions"][0]["text"].strip()
    true = [own["output"]["text"] for own in state["instance"]["references"] if "correct" in own["tags"]]
    if len(true) == 1:
        letter = next((letter for letter, text in options.items() if text == true[0]), true[0].strip())
        export.know(item, options.get(letter, letter) if has_texts else letter)
    export.show(item, options)
    unless = "answers that name no option" if options and said not in options else ""
    export.add(item, model, options.get(said, said) if has_texts else said, unless=unless)


def _grades(state: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Criterion, judge and score of each grade."""
    for annotator, found in (state.get("annotations") or {}).items():
        for judge, said in found.items() if isinstance(found, dict) else ():
            if isinstance(said, dict):
                yield from ((name, judge, own["score"]) for name, own in said.items() if "score" in own)
            elif judge.endswith(SCORE):
                yield annotator, judge.removesuffix(SCORE), said
