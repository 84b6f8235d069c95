"""Files as tools write them, small enough to count by hand. Each says where its form was looked up."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path


class Form(NamedTuple):
    """What a tool writes to `name`, and the answers, truths and remarks that it must be read as."""

    tool: str
    name: str
    held: Any  # JSON; lines of JSON for .jsonl; rows by column for .csv and .tsv
    answers: set[tuple[str, str, str]]
    truth: dict[str, str] | None = None
    remarks: tuple[str, ...] = ()
    question: str | None = None

    def write(self, folder: Path) -> str:
        path = folder / self.name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in (".csv", ".tsv"):
            with path.open("w", newline="", encoding="utf-8") as file:
                names = list(dict.fromkeys(key for row in self.held for key in row))
                writer = csv.DictWriter(file, names, delimiter="\t" if path.suffix == ".tsv" else ",")
                writer.writeheader()
                writer.writerows(self.held)
        elif path.suffix == ".jsonl":
            path.write_text("".join(f"{json.dumps(line)}\n" for line in self.held), encoding="utf-8")
        else:
            path.write_text(json.dumps(self.held), encoding="utf-8")
        return str(path)


def answers_in(panel):
    """Each answer as (item, member, class); of probabilities the best class."""
    names = [panel.axes.items.names, panel.axes.members.names, panel.axes.classes.names]
    found = []
    if panel.hard is not None:
        places = zip(panel.hard.items, panel.hard.members, panel.hard.labels, strict=True)
        found += [tuple(axis[place] for axis, place in zip(names, own, strict=True)) for own in places]
    for member in panel.soft:
        best = np.asarray(member.rows).argmax(axis=1)
        found += [
            (names[0][i], names[1][member.position], names[2][k]) for i, k in zip(member.answered(), best, strict=True)
        ]
    return found


# ---- judges ---------------------------------------------------------------------------------------------------


def sample(number, responses, target, texts=(" yes", " no"), **more):
    """EleutherAI/lm-evaluation-harness @4e7e0d4, evaluator.py: `example`; evaluation_tracker.py makes all text."""
    arguments = {f"gen_args_{k}": {"arg_0": f"Question {number}", "arg_1": text} for k, text in enumerate(texts)}
    return {
        "doc_id": number,
        "doc": {"question": f"Question {number}"},
        "target": target,
        "arguments": arguments,
        "resps": [[own] for own in responses],
        "filtered_resps": responses,
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": f"{number}abcdef0123456789",
        "prompt_hash": "p",
        "target_hash": "t",
        **more,
    }


def generated(number, said, target, name):
    """The same of a task that generates: one response for each document, by each filter."""
    texts = ({"until": ["\n"]},)
    return sample(number, [said], target, texts) | {
        "filter": name,
        "metrics": ["exact_match"],
        "exact_match": float(said == target),
    }


GENERATED = [
    generated(number, said, target, name)
    for name, answers in (("strict", ["A", "[invalid]", "C"]), ("flexible", ["A", "B", "C"]))
    for number, (said, target) in enumerate(zip(answers, "ABB", strict=True))
]


def judgment(question, model, judge, score, turn=1):
    """lm-sys/FastChat, llm_judge/common.py: play_a_match_single."""
    record = {"question_id": question, "model": model, "judge": [judge, "single-v1"], "user_prompt": "…"}
    return record | {"judgment": "…", "score": score, "turn": turn, "tstamp": 1.7e9}


def duel(question, judge, first, second):
    """lm-sys/FastChat, llm_judge/common.py: play_a_match_pair; the winner is told in both orders."""
    record = {"question_id": question, "model_1": "alpaca", "model_2": "vicuna", "g1_winner": first}
    return record | {"g2_winner": second, "judge": [judge, "pair-v2"], "turn": 1, "tstamp": 1.7e9}


SPEC = {"spec": {"completion_fns": ["gpt-x"], "eval_name": "e.dev.v0", "base_eval": "e", "run_id": "r"}}


def event(number, kind, data):
    """openai/evals, evals/record.py: Event, written after the specification of the run."""
    return {"run_id": "r", "event_id": number, "sample_id": f"e.dev.{number}", "type": kind, "data": data}


def result(test, column, provider, output, grades=(), **more):
    """promptfoo/promptfoo @831ec62, src/types/index.ts: EvaluateResult; assertions as in GradingResult."""
    parts = [
        {"pass": passed, "score": int(passed), "reason": "", "assertion": assertion} for assertion, passed in grades
    ]
    return {
        "promptIdx": column,
        "testIdx": test,
        "testCase": {"vars": {"text": f"t{test}"}, "assert": [{"type": "equals", "value": "pos"}]},
        "provider": {"id": provider, "label": ""},
        "response": {"output": output},
        "failureReason": 0,
        "success": True,
        "gradingResult": {"pass": True, "score": 1, "reason": "", "componentResults": parts},
        **more,
    }


def rubric(judge, value="polite"):
    return {"type": "llm-rubric", "value": value, "provider": judge}


OUTPUTS = [
    result(0, 0, "openai:a", "pos"),
    result(0, 1, "openai:b", "neg"),
    result(1, 0, "openai:a", "pos\n"),
    result(1, 1, "openai:b", None, failureReason=2, error="timeout"),
]
GRADES = [
    result(0, 0, "a", "A long text of its own", [(rubric("j1"), True), (rubric("j2"), False)]),
    result(1, 0, "a", "Another long text", [(rubric("j1"), False), (rubric("j2"), False)]),
]
GRADES += [result(k, 0, "a", f"Text {k} of many", [(rubric("j1"), True)]) for k in range(2, 22)]

JUDGES = [
    Form(
        "lm-eval",
        "org__model/samples_boolq_2024-05-01T10-00-00.000000.jsonl",
        [sample(0, [["-1.0", "False"], ["-2.0", "False"]], "0"), sample(1, [["-3.0", "False"], ["-1.0", "True"]], "0")],
        {("0-0abcdef0", "org__model", "yes"), ("1-1abcdef0", "org__model", "no")},
        {"0-0abcdef0": "yes", "1-1abcdef0": "yes"},
    ),
    Form(
        "lm-eval",
        "model.jsonl",
        GENERATED,
        {("0-0abcdef0", "model", "A"), ("2-2abcdef0", "model", "C")},
        {"0-0abcdef0": "A", "1-1abcdef0": "B", "2-2abcdef0": "B"},
        ("left out 1 records without an answer",),
        "strict",
    ),
    Form(
        "mt-bench",
        "judgments.jsonl",
        [judgment(81, "m", "gpt-4", 7), judgment(81, "m", "claude", 8, 2), judgment(82, "m", "gpt-4", -1)],
        {("m/81/1", "gpt-4/single-v1", "7"), ("m/81/2", "claude/single-v1", "8")},
        remarks=("left out 1 judgments without a verdict",),
    ),
    Form(
        "mt-bench",
        "pairs.jsonl",
        [duel(81, "gpt-4", "model_1", "tie"), duel(82, "gpt-4", "error", "model_2")],
        {
            ("alpaca v vicuna/81/1", "gpt-4/pair-v2", "model_1"),
            ("alpaca v vicuna/81/1", "gpt-4/pair-v2", "tie"),
            ("alpaca v vicuna/82/1", "gpt-4/pair-v2", "model_2"),
        },
        remarks=("left out 1 judgments without a verdict",),
    ),
    Form(
        "openai-evals",
        "log.jsonl",
        [
            SPEC,
            # Where only the expected answer is looked for, `picked` is the truth or nothing.
            event(0, "match", {"correct": True, "expected": "A", "picked": "A", "sampled": "A", "options": ["A"]}),
            event(1, "match", {"correct": False, "expected": "A", "picked": None, "sampled": "B", "options": ["A"]}),
            {"final_report": {"accuracy": 0.5}, "run_id": "r"},
        ],
        {("e.dev.0", "gpt-x", "A"), ("e.dev.1", "gpt-x", "B")},
        {"e.dev.0": "A", "e.dev.1": "A"},
    ),
    Form(
        "openai-evals",
        "judged.jsonl",
        [
            SPEC,
            event(0, "metrics", {"choice": "Yes", "score": 1.0}),
            event(1, "metrics", {"choice": "__invalid__", "score": None}),
            event(2, "metrics", {"choice": "No", "score": 0.0}),
        ],
        {("e.dev.0", "gpt-x", "Yes"), ("e.dev.2", "gpt-x", "No")},
        remarks=("left out 1 answers that name no choice",),
    ),
    Form(
        "promptfoo",
        "output.json",
        {"evalId": "eval-1", "results": {"version": 3, "results": OUTPUTS, "prompts": [], "stats": {}}, "config": {}},
        {("0", "openai:a", "pos"), ("0", "openai:b", "neg"), ("1", "openai:a", "pos")},
        {"0": "pos", "1": "pos"},
        ("left out 1 results with an error",),
    ),
    Form(
        "promptfoo",
        "graded.jsonl",
        GRADES,
        {("a/0", "j1", "pass"), ("a/0", "j2", "fail"), ("a/1", "j1", "fail"), ("a/1", "j2", "fail")}
        | {(f"a/{k}", "j1", "pass") for k in range(2, 22)},
    ),
]

# ---- people ---------------------------------------------------------------------------------------------------


def task(number, *annotations):
    """HumanSignal/label-studio, docs/source/includes/task_format.md."""
    return {"id": number, "data": {"text": f"t{number}"}, "annotations": list(annotations), "project": 1}


def annotation(person, *results, cancelled=False, truth=False):
    return {"completed_by": person, "result": list(results), "was_cancelled": cancelled, "ground_truth": truth}


def choice(label, name="sentiment"):
    return {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": [label]}}


TASKS = [
    task(1, annotation(10, choice("None")), annotation({"id": 11, "email": "bob@x.org"}, choice("Pos"))),
    task(2, annotation(10, choice("Pos")), annotation(12, cancelled=True), annotation(9, choice("Pos"), truth=True)),
    task(3, annotation(10, choice("Pos"), choice("Yes", "ironic")), annotation(12, choice("No", "ironic"))),
]


def prodigy(number, person, answer, **more):
    """prodi.gy/docs/api-interfaces: the format of tasks, with the answer that `db-out` adds."""
    return {"text": "…", "_input_hash": number, "_task_hash": -number, "answer": answer, "_annotator_id": person} | more


OPTIONS = [{"id": "A", "text": "a"}, {"id": "B", "text": "b"}]


def argilla(number, **responses):
    """argilla-io/argilla, records/_resource.py: Record.to_dict, as `to_json` writes it."""
    return {"id": number, "fields": {"text": "…"}, "metadata": {}, "suggestions": {}, "responses": responses}


def hit(item, worker, status="Approved", **answers):
    """Columns as scripts for batch results read them; Amazon documents no list of them."""
    row = {"HITId": item, "AssignmentId": f"{item}{worker}", "WorkerId": worker, "AssignmentStatus": status}
    return row | {"Input.text": "…"} | {f"Answer.{name}": value for name, value in answers.items()}


def assignment(item, worker, said, gold="", status="APPROVED"):
    """Toloka/toloka-kit, src/client/assignment.py (columns) and src/autoquality/scoring.py (GOLDEN)."""
    row = {"INPUT:image": item, "OUTPUT:result": said, "GOLDEN:result": gold, "ASSIGNMENT:worker_id": worker}
    return row | {"ASSIGNMENT:status": status}


def classification(subject, user, *values, gold="", workflow="1"):
    """zooniverse/aggregation-for-caesar, docs/source/_static/cat-project-classifications.csv."""
    held = [{"task": f"T{place}", "task_label": "…", "value": value} for place, value in enumerate(values)]
    row = {"classification_id": f"{subject}{user}", "user_name": user, "workflow_id": workflow, "gold_standard": gold}
    return row | {"metadata": "{}", "annotations": json.dumps(held), "subject_data": "{}", "subject_ids": subject}


PEOPLE = [
    Form(
        "label-studio",
        "project.json",
        TASKS,
        {("1", "10", "None"), ("1", "bob@x.org", "Pos"), ("2", "10", "Pos"), ("3", "10", "Pos")},
        {"2": "Pos"},
        ("left out 1 cancelled annotations", "left out 1 annotations without an answer"),
        "sentiment",
    ),
    Form(
        "doccano",
        "ann.jsonl",
        # doccano/doccano, backend/data_export/pipeline/factories.py and celery_tasks.py: a file for each member.
        [
            {"id": 1, "text": "…", "label": ["pos"], "Comments": []},
            {"id": 2, "text": "…", "label": ["neg"], "Comments": []},
            {"id": 3, "text": "…", "label": [], "Comments": []},
        ],
        {("1", "ann", "pos"), ("2", "ann", "neg")},
        remarks=("left out 1 records without an answer",),
    ),
    Form(
        "prodigy",
        "choices.jsonl",
        [
            prodigy(7, "ann", "accept", accept=["A"], options=OPTIONS),
            prodigy(7, "bob", "accept", accept=["B"], options=OPTIONS),
            prodigy(8, "ann", "ignore", accept=[], options=OPTIONS),
            prodigy(8, "bob", "reject", accept=["A"], options=OPTIONS),
        ],
        {("7", "ann", "A"), ("7", "bob", "B")},
        remarks=("left out 1 ignored tasks", "left out 1 rejected tasks"),
    ),
    Form(
        "prodigy",
        "binary.jsonl",
        [
            prodigy(7, "ann", "accept", label="SPORT"),
            prodigy(7, "bob", "reject", label="SPORT"),
            prodigy(7, "bob", "accept", label="FOOD"),
            prodigy(8, "bob", "ignore", label="SPORT"),
        ],
        {("7", "ann", "accept"), ("7", "bob", "reject")},
        remarks=("left out 1 ignored tasks",),
        question="SPORT",
    ),
    Form(
        "argilla",
        "records.json",
        [
            argilla("r1", label=[{"value": "a", "user_id": "u1"}, {"value": "b", "user_id": "u2"}]),
            argilla("r2", label=[{"value": "b", "user_id": "u1"}], quality=[{"value": 3, "user_id": "u1"}]),
        ],
        {("r1", "u1", "a"), ("r1", "u2", "b"), ("r2", "u1", "b")},
        remarks=("do not say which responses were discarded",),
        question="label",
    ),
    Form(
        "argilla",
        "flat.jsonl",
        # argilla-io/argilla, records/_io/_generic.py: _record_to_dict with flatten.
        [
            {
                "id": "r1",
                "text": "…",
                "label.responses": ["a", "b", "a"],
                "label.responses.users": ["u1", "u2", "u3"],
                "label.responses.status": ["submitted", "submitted", "discarded"],
            }
        ],
        {("r1", "u1", "a"), ("r1", "u2", "b")},
        remarks=("left out 1 discarded responses",),
    ),
    Form(
        "mturk",
        "Batch_1_batch_results.csv",
        [
            hit("h1", "w1", **{"category.label": "cat"}),
            hit("h1", "w2", **{"category.label": "dog"}),
            hit("h2", "w1", "Rejected", **{"category.label": "cat"}),
        ],
        {("h1", "w1", "cat"), ("h1", "w2", "dog")},
        remarks=("left out 1 rejected assignments",),
    ),
    Form(
        "mturk",
        "Batch_2_batch_results.csv",
        [
            hit("h1", "w1", **{"animal.cat": "true", "animal.dog": "false"}),
            hit("h1", "w2", **{"animal.cat": "false", "animal.dog": "true"}),
        ],
        {("h1", "w1", "cat"), ("h1", "w2", "dog")},
    ),
    Form(
        "mturk",
        "Batch_3_batch_results.csv",
        [
            hit("h1", "w1", taskAnswers='[{"animal":{"cat":true,"dog":false}}]'),
            hit("h1", "w2", taskAnswers='[{"animal":{"cat":false,"dog":true}}]'),
        ],
        {("h1", "w1", "cat"), ("h1", "w2", "dog")},
    ),
    Form(
        "toloka",
        "assignments.tsv",
        [
            assignment("1.jpg", "w1", "cat", "cat"),
            assignment("1.jpg", "w2", "dog", "cat"),
            assignment("2.jpg", "w1", "dog"),
            assignment("2.jpg", "w2", "cat", status="REJECTED"),
        ],
        {("1.jpg", "w1", "cat"), ("1.jpg", "w2", "dog"), ("2.jpg", "w1", "dog")},
        {"1.jpg": "cat"},
        ("left out 1 rejected assignments",),
    ),
    Form(
        "zooniverse",
        "classifications.csv",
        [
            classification("5", "ann", "Yes", [{"x": 1, "y": 2}]),
            classification("5", "not-logged-in-1f", "No", []),
            classification("6", "ann", None, []),
            classification("6", "expert", "Yes", [], gold="true"),
            classification("6", "bob", "No", []),
        ],
        {("5", "ann", "Yes"), ("5", "not-logged-in-1f", "No"), ("6", "bob", "No")},
        {"6": "Yes"},
        ("left out 1 records without an answer",),
    ),
    Form(
        "wrench",
        "train.json",
        # JieyuZ2/wrench, wrench/dataset/basedataset.py: examples by id; -1 abstains.
        {
            "0": {"label": 1, "data": {"text": "…"}, "weak_labels": [1, -1, 0]},
            "1": {"label": 0, "data": {"text": "…"}, "weak_labels": [0, 0, -1]},
        },
        {("0", "function 0", "1"), ("0", "function 2", "0"), ("1", "function 0", "0"), ("1", "function 1", "0")},
        {"0": "1", "1": "0"},
        ("left out 2 abstentions",),
    ),
]

FORMS = {f"{form.tool}: {form.name}": form for form in (*JUDGES, *PEOPLE)}
