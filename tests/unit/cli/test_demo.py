"""`consilience demo`: a table for each metric, a summary, and a report, all of one analysis."""

import json
from pathlib import Path

import numpy as np
import pytest

import consilience as cs
from consilience.cli import demo

from simulate import softmax_members


@pytest.fixture
def shifts(monkeypatch):
    """Two shifts in place of trained classifiers."""
    made = []
    for angle, skill in ((0, 3), (30, 1)):
        array, truth = softmax_members(np.random.default_rng(angle), [skill, 1, 0.5], 60, 3)
        predictions = cs.Predictions(array)
        made.append(demo.Shift(angle, predictions, truth, cs.compare(predictions, truth)))
    monkeypatch.setattr(demo, "run", lambda _: made)
    return made


def test_tables_have_a_column_for_each_angle(run, shifts):
    code, out, _ = run("demo", "--report", "page.html")
    assert code == 0 and "3 classifiers and 60 test digits" in out
    for title in ("accuracy (higher is better)", "nll (lower is better)", "ece (lower is better)"):
        assert title in out
    assert out.count("30°") >= 4 and "Wrote page.html: open it in a browser" in out
    assert Path("page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_machines_get_the_scores_by_angle(run, shifts):
    code, out, _ = run("demo", "--report", "page.html", "--json")
    told = json.loads(out)
    assert code == 0 and list(told) == ["0", "30", "written"] and told["written"] == ["page.html"]
    assert [row["method"] for row in told["30"]] == shifts[1].scores["method"]
