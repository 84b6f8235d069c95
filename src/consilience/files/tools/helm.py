"""Runs of HELM (`scenario_state.json`), one file for each model: its answers, or grades by a jury of models."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from consilience.files.tools.export import Export, Given, Reader, asked, no_classification

if TYPE_CHECKING:
    from collections.abc import Iterator

ANSWER = "answer"
"""The question of what the model says; each criterion of a jury is another."""

SCORE = "_score"
"""A jury of HELM Safety writes `gpt_score`, `llama_score`."""


def read(given: Given) -> Export:
    """What the model says, or what a jury says of it; the item of a grade is the model's answer."""
    spec, states = given.data["adapter_spec"], given.data["request_states"]
    if any("reference_index" in state for state in states):
        no_classification(f"the method {spec.get('method')!r}, which asks about each option by itself")
    criteria = [criterion for state in states for criterion, _, _ in _grades(state)]
    export = Export(asked(given, [*criteria, *([] if criteria and given.question != ANSWER else [ANSWER])]))
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
            _add_grades(export, state, spec["model"])
    return export


def _add_grades(export: Export, state: dict[str, Any], model: str) -> None:
    """What each judge says of a model's answer, by the criterion that is read."""
    for criterion, judge, score in _grades(state):
        if criterion == export.question:
            export.add(f"{model}/{_item(state)}", judge, score)


def _item(state: dict[str, Any]) -> str:
    """An instance, of which a perturbation makes another. Each run counts from id0, so that the input is needed too."""
    instance = state["instance"]
    shown = json.dumps([instance["input"].get(key) for key in ("text", "messages")])
    known = f"{instance['id']}-{sha256(shown.encode()).hexdigest()[:8]}"
    perturbation = (instance.get("perturbation") or {}).get("name")
    return "/".join(str(part) for part in (known, perturbation) if part is not None)


def _options(state: dict[str, Any]) -> dict[str, str]:
    """The texts of the options by their letters; empty where the answer is the text itself."""
    return state.get("output_mapping") or {}


def _add_answer(export: Export, state: dict[str, Any], model: str, *, has_texts: bool) -> None:
    """An answer by the text of its option, or by its letter where questions have options of their own."""
    options, said = _options(state), state["result"]["completions"][0]["text"].strip()
    true = [own["output"]["text"] for own in state["instance"]["references"] if "correct" in own["tags"]]
    if len(true) == 1:
        letter = next((letter for letter, text in options.items() if text == true[0]), true[0].strip())
        export.know(_item(state), options.get(letter, letter) if has_texts else letter)
    export.show(_item(state), options)
    if options and said not in options:
        export.left_out["answers that name no option"] += 1
    else:
        export.add(_item(state), model, (options.get(said, said) if has_texts else said) or None)


def _grades(state: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Criterion, judge and score of each grade."""
    for annotator, found in (state.get("annotations") or {}).items():
        for judge, said in found.items() if isinstance(found, dict) else ():
            if isinstance(said, dict):
                yield from ((name, judge, own["score"]) for name, own in said.items() if "score" in own)
            elif judge.endswith(SCORE):
                yield annotator, judge.removesuffix(SCORE), said


READER = Reader(
    "helm",
    "HELM",
    item="`instance.id` with the start of the hash of its input, and the perturbation; for grades with the model",
    member="`adapter_spec.model`; for grades the model that judges",
    label="question `answer`: the option or text (the reference tagged correct is the truth); a criterion: the score",
    read=read,
    whole=("adapter_spec/model request_states",),
    verified="stanford-crfm/helm 0.5.16, benchmark/adaptation/request_state.py and annotation/model_as_judge.py",
)
