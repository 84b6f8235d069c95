"""Test runs of DeepEval: each metric is a question, and the models that judge by it are the members."""

from __future__ import annotations

from collections import Counter
from typing import Any

from consilience.files.tools.export import Export, Given, Reader, asked
from consilience.system.errors import InvalidPredictions


def read(given: Given) -> Export:
    """Whether each case passes by one metric; a metric that broke has said nothing."""
    run = given.data.get("testRunData", given.data)
    cases = [*run["testCases"], *run.get("conversationalTestCases", [])]
    found = [own for case in cases for own in case.get("metricsData") or []]
    if not found:
        raise InvalidPredictions("a test run must have cases with metrics; it has none")
    export = Export(asked(given, [own["name"] for own in found]), classes=frozenset({"pass", "fail"}))
    names = Counter(case["name"] for case in cases)
    for case in cases:
        export.show(_item(case, names), [case.get("input"), case.get("actualOutput")])
        for own in case.get("metricsData") or []:
            if own["name"] != export.question:
                continue
            if own.get("error") or own.get("success") is None:
                export.left_out["metrics that broke"] += 1
            else:
                export.add(_item(case, names), _judge(own, given), "pass" if own["success"] else "fail")
    return export


def _item(case: dict[str, Any], names: Counter[str]) -> str:
    """The name of a case, with its place where several share a name."""
    return str(case["name"]) if names[case["name"]] == 1 else f"{case['name']}/{case['order']}"


def _judge(metric: dict[str, Any], given: Given) -> str:
    """The model that judges; a metric that asks none has the name of the file."""
    return str(metric.get("evaluationModel") or given.stem)


READER = Reader(
    "deepeval",
    "DeepEval",
    item="`name` of the test case",
    member="`evaluationModel` of the metric, else the name of the file",
    label="pass or fail, by `success`; each metric is a question",
    read=read,
    whole=("testCases testPassed testFailed", "testRunData/testCases"),  # of a folder, and `.latest_test_run.json`
    verified="made by deepeval 4.3.1 (`evaluate` with DEEPEVAL_RESULTS_FOLDER), and its test_run/test_run.py",
)
