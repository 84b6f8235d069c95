"""Verdicts of models on answers of models: promptfoo, MT-Bench, AlpacaEval, RewardBench, DeepEval, Ragas."""

from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256
from typing import Any

from consilience.data.axes import short
from consilience.data.names import NUMBER, is_missing
from consilience.data.tables.told import UNNAMED
from consilience.files.tools.export import Export, Given, Reader, asked, is_free, name_of
from consilience.system.errors import InvalidPredictions
from consilience.system.tables import Table

VERDICTS = frozenset({"pass", "fail"})

# ---- promptfoo ------------------------------------------------------------------------------------------------

OUTPUT = "output"  # the question of what providers say
STATUS = "Status"  # the column behind each output in a table
SESSION = "sessionId"  # the variable that names a conversation, which is another one in each run
ERROR = 2  # the reason of failure of a result that is none: its provider or its assertion broke
GRADED = re.compile(
    "agent-rubric|answer-relevance|context-faithfulness|context-recall|context-relevance|factuality|g-eval|llm-rubric|"
    "model-graded-closedqa|model-graded-factuality|search-rubric"
)
"""The assertions that a model grades."""


@Reader(
    "promptfoo",
    "promptfoo",
    item="`testIdx`, in a table the row; for grades with the provider",
    member="`provider`; for grades the provider that grades",
    label="question `output`: `response.output` (`equals` is the truth); a criterion: pass or fail",
    whole=("evalId results/results",),
    records=("promptIdx testIdx provider success",),
    columns=(f"{STATUS} Score Named?Scores Grader?Reason Comment",),
    repeats_columns=True,
    verified="made by promptfoo 0.121.20 (`promptfoo eval -o`)",
)
def promptfoo(given: Given) -> Export:
    """Outputs of providers, or grades of one criterion.

    Each criterion of an assertion that a model grades is a question; the models that grade it are the members. A table
    has their grades together, so that only outputs are read from it.
    """
    results = given.data["results"]["results"] if isinstance(given.data, dict) else given.data
    if STATUS in results[0]:
        results = _of_table(results)
    whole = [own for own in results if own.get("failureReason") != ERROR and own.get("response") is not None]
    nothing = "free text as outputs, and no criterion that several judges grade"
    export = Export(asked(given, _questions(whole, given.question), nothing))
    export.classes = frozenset() if export.question == OUTPUT else VERDICTS
    export.left_out["results with an error"] = len(results) - len(whole)
    # A column of results is a provider with a prompt; the prompt tells the columns of one provider apart.
    columns = {(_provider(result), result["promptIdx"]) for result in results}
    is_one_each = len(columns) == len({provider for provider, _ in columns})
    for result in whole:
        member = _provider(result) if is_one_each else f"{_provider(result)}/prompt {result['promptIdx']}"
        if export.question == OUTPUT:
            _add_output(export, result, member)
        else:
            _add_grades(export, result, member)
    return export


def _questions(results: list[dict[str, Any]], wanted: str | None) -> list[str]:
    """What can be read: the outputs where they are classes, and each criterion that is wanted or has several judges."""
    outputs = Counter(name for result in results if (name := _output(result)) is not None)
    judges: dict[str, set[str]] = {}
    for grade in (grade for result in results for grade in _grades(result)):
        judges.setdefault(_criterion(grade), set()).add(_judge(grade))
    criteria = [name for name, own in judges.items() if len(own) > 1 or name == wanted]
    return [OUTPUT, *criteria] if outputs and not is_free(outputs) else criteria


def _of_table(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same results from a table, which has a column for each provider with a prompt, and its status behind it."""
    names = list(rows[0])
    columns = [(names[place - 1], name) for place, name in enumerate(names) if name.partition(" (")[0] == STATUS]
    first = names.index(columns[0][0])  # the variables stand before all outputs
    shown = [name for name in names[:first] if name != "Description"]
    return [
        {
            "testIdx": test,
            "promptIdx": place,
            "vars": {name: row[name] for name in shown},
            "provider": output[1:].partition("] ")[0] if output.startswith("[") else output,
            "response": {"output": row[output]},
            "failureReason": ERROR if row[status] == "ERROR" else 0,
        }
        for test, row in enumerate(rows)
        for place, (output, status) in enumerate(columns)
        if row[status] is not None
    ]


def _provider(result: dict[str, Any]) -> str:
    provider = result["provider"]
    return str(provider if isinstance(provider, str) else provider.get("label") or provider["id"])


def _output(result: dict[str, Any]) -> str | None:
    """The answer of a provider; lists and records are none."""
    output = result["response"].get("output")
    return name_of(output).strip() or None if isinstance(output, str | int | float) else None


def _add_output(export: Export, result: dict[str, Any], member: str) -> None:
    """An answer, and what the prompt was filled with, as a table writes it too: without what the run itself adds."""
    test = result.get("testCase") or {}
    held = result.get("vars") or test.get("vars") or {}
    plain = {name: own for name, own in held.items() if not name.startswith("_") and name != SESSION}
    if shown := {name: name_of(own) for name, own in plain.items() if isinstance(own, str | int | float)}:
        export.show(result["testIdx"], shown)
    export.add(result["testIdx"], member, _output(result))
    for check in test.get("assert") or []:
        value = check.get("value")
        if check.get("type") == "equals" and isinstance(value, str) and "{{" not in value:
            export.know(result["testIdx"], value.strip())


def _add_grades(export: Export, result: dict[str, Any], member: str) -> None:
    for grade in _grades(result):
        if _criterion(grade) == export.question:
            unless = "grades with an error" if (grade.get("metadata") or {}).get("graderError") else ""
            said = "pass" if grade["pass"] else "fail"
            export.add(f"{member}/{result['testIdx']}", _judge(grade), said, unless=unless)


def _grades(result: dict[str, Any]) -> list[dict[str, Any]]:
    """What models say of an output: one entry for each assertion that they grade."""
    parts = (result.get("gradingResult") or {}).get("componentResults") or []
    return [part for part in parts if part and GRADED.fullmatch(str((part.get("assertion") or {}).get("type")))]


def _criterion(grade: dict[str, Any]) -> str:
    assertion = grade["assertion"]
    return str(assertion.get("metric") or assertion.get("value") or assertion["type"])


def _judge(grade: dict[str, Any]) -> str:
    provider = grade["assertion"].get("provider")
    return str((provider.get("label") or provider.get("id") if isinstance(provider, dict) else provider) or "default")


# ---- MT-Bench, AlpacaEval, RewardBench ------------------------------------------------------------------------


@Reader(
    "mt-bench",
    "MT-Bench",
    item="the judged model (or pair of models), question and turn",
    member="the judge and its prompt",
    label="`score`, or `g1_winner` and `g2_winner` as two answers",
    records=("question_id model judge score judgment", "question_id model_1 model_2 judge g1_winner g2_winner"),
    verified="lm-sys/FastChat, fastchat/llm_judge/common.py: play_a_match_single, play_a_match_pair",
)
def mt_bench(given: Given) -> Export:
    """Ratings of single answers, or which of two answers wins; those that could not be parsed are left out.

    A judge and its prompt are one member. A pair is judged in both orders, which are two answers to one item.
    """
    export = Export(both_orders=all("g1_winner" in record for record in given.data))
    for record in given.data:
        question = f"{record['question_id']}/{record.get('turn', 1)}"
        member = "/".join(record["judge"]) if isinstance(record["judge"], list) else record["judge"]
        if "g1_winner" in record:
            item = f"{record['model_1']} v {record['model_2']}/{question}"
            verdicts = [record["g1_winner"]] if "m1_score" in record else [record["g1_winner"], record["g2_winner"]]
        else:
            item, verdicts = f"{record['model']}/{question}", [record["score"]]
        for said in verdicts:
            export.add(item, member, said, unless="judgments without a verdict" if said in ("error", -1) else "")
    return export


@Reader(
    "alpaca-eval",
    "AlpacaEval",
    item="both generators and the instruction",
    member="`annotator`",
    label="`preference`: 2 less it is the probability of `output_1`",
    records=("instruction output_1 output_2 annotator preference",),
    verified="tatsu-lab/alpaca_eval, README.md (Interpreting annotations) and metrics/winrate.py",
)
def alpaca_eval(given: Given) -> Export:
    """A judge's preference, from 1 to 2, as probabilities of the two outputs; a draw is one half of each."""
    export = Export()
    for record in given.data:
        item = f"{record.get('generator_1', 1)} v {record.get('generator_2', 2)}/{record['instruction']}"
        preference = record["preference"]
        if is_missing(preference):
            export.left_out["annotations without a preference"] += 1
            continue
        second = 0.5 if preference == 0 else float(preference) - 1  # draws are 0 or 1.5
        if not 0 <= second <= 1:
            raise InvalidPredictions(f"a preference must be 0 or from 1 to 2; got {short(preference)}")
        export.add(item, record["annotator"], {"output_1": 1 - second, "output_2": second})
    return export


@Reader(
    "rewardbench",
    "RewardBench",
    item="`subset` and `id`, else the row",
    member="`model`, else the name of the file",
    label="the preferred answer: A is the one that comes first in the alphabet; the chosen one is the truth",
    whole=("model model_type results[] text_chosen[] text_rejected[] id[]",),
    records=("results scores_chosen scores_rejected text_chosen text_rejected",),
    verified="allenai/reward-bench 0.1.4, rewardbench/rewardbench.py, scripts/run_rm.py and scripts/run_generative.py",
)
def reward_bench(given: Given) -> Export:
    """The answer that a reward model or a judge prefers, one file for each. Results of one half are ties or errors.

    The file calls the answers chosen and rejected, which tells the truth. Members see them as A and B: A is the one
    that comes first in the alphabet.
    """
    export, member = Export(classes=frozenset("AB")), given.stem.removesuffix("_outputs")
    records = given.data
    if isinstance(records, dict):  # columns, beside what is said of the whole run
        member = records["model"]
        records = Table({name: own for name, own in records.items() if isinstance(own, list)}).rows()
    for place, record in enumerate(records):
        chosen, rejected = _differing(_message(record["text_chosen"]), _message(record["text_rejected"]))
        true, other = ("A", "B") if chosen < rejected else ("B", "A")
        # The answers tell rows of two data sets apart where these have no ids.
        known = record.get("id", f"{place}-{sha256(f'{chosen} {rejected}'.encode()).hexdigest()[:8]}")
        item = f"{record['subset']}/{known}" if "subset" in record else known
        export.know(item, true)
        unless = "" if record["results"] in (0, 1) else "ties or errors"
        export.add(item, member, true if record["results"] == 1 else other, unless=unless)
    return export


def _message(text: Any) -> str:
    """The last message of a conversation."""
    return str(text[-1]["content"] if isinstance(text, list) else text)


def _differing(one: str, other: str) -> tuple[str, str]:
    """Both texts without what they share at their ends: each model puts its own template around them."""
    start = _shared(one, other)
    one, other = one[start:], other[start:]
    if one == other:
        raise ValueError("two answers must differ")
    end = _shared(one[::-1], other[::-1])
    return one[: len(one) - end], other[: len(other) - end]


def _shared(one: str, other: str) -> int:
    """How many characters are the same from the start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


# ---- DeepEval, Ragas ------------------------------------------------------------------------------------------


@Reader(
    "deepeval",
    "DeepEval",
    item="`name` of the test case",
    member="`evaluationModel` of the metric, else the name of the file",
    label="pass or fail, by `success`; each metric is a question",
    whole=("testCases testPassed testFailed", "testRunData/testCases"),  # of a folder, and `.latest_test_run.json`
    verified="made by deepeval 4.3.1 (`evaluate` with DEEPEVAL_RESULTS_FOLDER), and its test_run/test_run.py",
)
def deepeval(given: Given) -> Export:
    """Whether each case of a test run passes by one metric; a metric that broke has said nothing.

    The models that judge by a metric are the members; one that asks none has the name of the file.
    """
    run = given.data.get("testRunData", given.data)
    cases = [*run["testCases"], *run.get("conversationalTestCases", [])]
    found = [(case, own) for case in cases for own in case.get("metricsData") or []]
    if not found:
        raise InvalidPredictions("a test run must have cases with metrics; it has none")
    export = Export(asked(given, [own["name"] for _, own in found]), classes=VERDICTS)
    names = Counter(case["name"] for case in cases)
    for case, own in found:
        item = str(case["name"]) if names[case["name"]] == 1 else f"{case['name']}/{case['order']}"
        export.show(item, [case.get("input"), case.get("actualOutput")])
        if own["name"] == export.question:
            unless = "metrics that broke" if own.get("error") or own.get("success") is None else ""
            said = "pass" if own.get("success") else "fail"
            export.add(item, str(own.get("evaluationModel") or given.stem), said, unless=unless)
    return export


SAMPLE = re.compile(
    "user_input|retrieved_contexts|reference_contexts|retrieved_context_ids|reference_context_ids|response|"
    "multi_responses|reference|rubrics|rubric|persona_name|query_style|query_length|reference_tool_calls|"
    "reference_topics"
)
"""The columns of what is judged; the others are metrics."""


@Reader(
    "ragas",
    "Ragas",
    item="`user_input` and `response`",
    member="the judge: the name of the file",
    label="the verdict of a discrete metric; each is a question",
    records=("user_input response",),
    columns=("user_input response",),
    verified="made by ragas 0.4.3 (`EvaluationResult.to_pandas`)",
)
def ragas(given: Given) -> Export:
    """Verdicts of one discrete metric, one file for each judge: who that is the file does not say, but its name."""
    beside = (*UNNAMED, "index")
    names = dict.fromkeys(
        name for record in given.data for name in record if not SAMPLE.fullmatch(name) and name not in beside
    )
    verdicts = {name: [_verdict(record.get(name)) for record in given.data] for name in names}
    discrete = [name for name, own in verdicts.items() if not any(isinstance(value, float) for value in own)]
    question = asked(given, discrete, f"scores, which are no classes, in {', '.join(names) or 'no column'}")
    export = Export(question, rows=[f"{own['user_input']} → {own['response']}" for own in given.data])
    if repeated := [item for item, n in Counter(export.rows).items() if n > 1]:
        raise ValueError(f"it judges {short(repeated[0])} twice, and does not say who is which judge")
    for item, verdict in zip(export.rows, verdicts[question], strict=True):
        export.add(item, given.stem, verdict)
    return export


def _verdict(value: Any) -> Any:
    """Text, or a whole number as such: pandas writes 1.0 where another row has none. Other numbers stay floats."""
    if is_missing(value) or value == "":
        return None
    if isinstance(value, str) and not NUMBER.fullmatch(value):
        return value
    return int(float(value)) if float(value).is_integer() else float(value)
