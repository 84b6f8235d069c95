"""Results of promptfoo, JSON, JSON Lines or CSV: outputs of providers, or what judges say of each output.

Each criterion of an assertion that a model grades is a question; the models that grade it are the members. A table has
their grades together, so that only outputs are read from it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from consilience.files.tools.export import Export, Given, Reader, asked, is_free, name_of, no_classification

OUTPUT = "output"
"""The question of what providers say."""

GRADED = frozenset(
    {
        "agent-rubric",
        "answer-relevance",
        "context-faithfulness",
        "context-recall",
        "context-relevance",
        "factuality",
        "g-eval",
        "llm-rubric",
        "model-graded-closedqa",
        "model-graded-factuality",
        "search-rubric",
    }
)
"""The assertions that a model grades."""

STATUS = "Status"
"""The column behind each output in a table."""

SESSION = "sessionId"
"""The variable that names a conversation, which is another one in each run."""

ERROR = 2
"""The reason of failure of a result that is none: its provider or its assertion broke."""


def read(given: Given) -> Export:
    """Outputs, or grades of one criterion."""
    results = given.data["results"]["results"] if isinstance(given.data, dict) else given.data
    if STATUS in results[0]:
        results = _of_table(results)
    whole = [result for result in results if not _is_broken(result)]
    export = Export(asked(given, _questions(whole, given.question)))
    if export.question != OUTPUT:
        export.classes = frozenset({"pass", "fail"})
    if len(whole) < len(results):
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
    questions = [OUTPUT] * (bool(outputs) and not is_free(outputs))
    questions += [name for name, judges in _judges(results).items() if len(judges) > 1 or name == wanted]
    if not questions:
        no_classification("free text as outputs, and no criterion that several judges grade")
    return questions


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


def _is_broken(result: dict[str, Any]) -> bool:
    return result.get("failureReason") == ERROR or result.get("response") is None


def _provider(result: dict[str, Any]) -> str:
    provider = result["provider"]
    return str(provider if isinstance(provider, str) else provider.get("label") or provider["id"])


def _output(result: dict[str, Any]) -> str | None:
    """The answer of a provider; lists and records are none."""
    output = result["response"].get("output")
    return name_of(output).strip() or None if isinstance(output, str | int | float) else None


def _variables(result: dict[str, Any]) -> dict[str, str]:
    """What the prompt was filled with, as a table writes it too; without what the run itself adds."""
    held = result.get("vars") or (result.get("testCase") or {}).get("vars") or {}
    plain = {name: own for name, own in held.items() if not name.startswith("_") and name != SESSION}
    return {name: name_of(own) for name, own in plain.items() if isinstance(own, str | int | float)}


def _add_output(export: Export, result: dict[str, Any], member: str) -> None:
    if shown := _variables(result):
        export.show(result["testIdx"], shown)
    export.add(result["testIdx"], member, _output(result))
    for check in (result.get("testCase") or {}).get("assert") or []:
        value = check.get("value")
        if check.get("type") == "equals" and isinstance(value, str) and "{{" not in value:
            export.know(result["testIdx"], value.strip())


def _add_grades(export: Export, result: dict[str, Any], member: str) -> None:
    for grade in _grades(result):
        if _criterion(grade) != export.question:
            continue
        if (grade.get("metadata") or {}).get("graderError"):
            export.left_out["grades with an error"] += 1
        else:
            export.add(f"{member}/{result['testIdx']}", _judge(grade), "pass" if grade["pass"] else "fail")


def _grades(result: dict[str, Any]) -> list[dict[str, Any]]:
    """What models say of an output: one entry for each assertion that they grade."""
    parts = (result.get("gradingResult") or {}).get("componentResults") or []
    return [part for part in parts if part and ((part.get("assertion") or {}).get("type") in GRADED)]


def _judges(results: list[dict[str, Any]]) -> dict[str, set[str]]:
    """The models that grade each criterion."""
    found: dict[str, set[str]] = {}
    for result in results:
        for grade in _grades(result):
            found.setdefault(_criterion(grade), set()).add(_judge(grade))
    return found


def _criterion(grade: dict[str, Any]) -> str:
    assertion = grade["assertion"]
    return str(assertion.get("metric") or assertion.get("value") or assertion["type"])


def _judge(grade: dict[str, Any]) -> str:
    provider = grade["assertion"].get("provider")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    return str(provider or "default")


READER = Reader(
    "promptfoo",
    "promptfoo",
    item="`testIdx`, in a table the row; for grades with the provider",
    member="`provider`; for grades the provider that grades",
    label="question `output`: `response.output` (`equals` is the truth); a criterion: pass or fail",
    whole=("evalId results/results",),
    records=("promptIdx testIdx provider success",),
    columns=(f"{STATUS} Score Named?Scores Grader?Reason Comment",),
    repeats_columns=True,
    read=read,
    verified="made by promptfoo 0.121.20 (`promptfoo eval -o`)",
)
