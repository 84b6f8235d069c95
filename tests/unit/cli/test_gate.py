"""The gate of `consilience evaluate`: bounds, exit codes, and answers that are sure."""

import json

import numpy as np
import pytest

import consilience as cs
from consilience.cli.evaluate import checked


@pytest.fixture
def fused(run, arrays):
    assert run("aggregate", *arrays, "-o", "out.csv")[0] == 0
    return "evaluate", "out.csv", "--labels", "truth.npy"


def scores_of(arrays, least=0.0):
    posterior = cs.Consensus().fit(cs.Predictions([np.load(name) for name in arrays])).posterior_
    is_sure = posterior.max(axis=1) >= least
    return cs.evaluate(posterior[is_sure], np.load("truth.npy")[is_sure]), is_sure.mean()


def test_the_exit_code_tells_a_failed_gate_from_bad_input(run, fused, arrays):
    accuracy = scores_of(arrays)[0]["accuracy"].value
    assert run(*fused, "--fail-under", f"accuracy={accuracy}")[0] == 0  # as good as asked is good enough
    code, out, err = run(*fused, "--fail-under", f"accuracy={accuracy + 0.001}")
    assert code == 1 and "FAILED: accuracy" in out and " to " in out and not err.startswith("consilience")
    for bad in ("accuracy", "accuracy=good", "accuracy=nan", "kappa=.9", "coverage=.5", "nll=.4"):
        code, _, err = run(*fused, "--fail-under", bad)
        assert code == 2 and "--fail-" in err, bad
    assert run(*fused, "--fail-over", "accuracy=.4")[0] == 2
    assert "needs --at-confidence" in run(*fused, "--fail-under", "coverage=.5")[2]
    assert "accuracy is at most 1, and got 85" in run(*fused, "--fail-under", "accuracy=85")[2]  # per cent


def test_every_bound_must_hold(run, fused):
    code, out, _ = run(*fused, "--fail-under", "accuracy=0", "--fail-over", "nll=30", "--fail-over", "ece debiased=-1")
    assert code == 1 and out.count("passed: ") == 2 and out.count("FAILED: ") == 1


def test_a_pipeline_reads_the_outcome(run, fused, arrays):
    scores, coverage = scores_of(arrays, 0.9)
    words = (*fused, "--at-confidence", ".9", "--fail-under", "accuracy=.5", "--fail-under", "coverage=.999", "--json")
    code, out, err = run(*words)
    told = json.loads(out)
    assert code == 1 and err == "" and told["gate"]["passed"] is False
    assert [check["passed"] for check in told["gate"]["checks"]] == [True, False]
    assert told["gate"]["checks"][0]["bound"] == 0.5 and told["gate"]["checks"][0]["rule"] == "at least"
    assert told["coverage"]["value"] == pytest.approx(coverage) and told["at_confidence"] == 0.9
    assert told["accuracy"]["value"] == pytest.approx(scores["accuracy"].value) and told["n_items"] == scores.n_items
    plain = json.loads(run(*fused, "--json")[1])
    assert plain["gate"] is None and plain["at_confidence"] is None and "coverage" not in plain


def test_coverage_is_said(run, fused, arrays):
    _, coverage = scores_of(arrays, 0.9)
    code, out, _ = run(*fused, "--at-confidence", "0.9")
    assert code == 0 and f"Coverage: {coverage:.1%} of the 200 labelled items" in out
    code, _, err = run(*fused, "--at-confidence", "1")
    assert code == 2 and "at least 1 sure" in err
    assert run(*fused, "--at-confidence", "90")[0] == 2


def test_the_value_decides_and_not_its_interval():
    scores = {"accuracy": cs.metrics.scores.Estimate(0.9, 0.8, 0.95), "nll": cs.metrics.scores.Estimate(0.3, 0.2, 0.5)}
    found = checked(["accuracy=.85"], ["nll=.4"], scores)
    assert [check.passed for check in found] == [True, True]
    assert [check.passed for check in checked(["accuracy=.91"], ["nll=.29"], scores)] == [False, False]
