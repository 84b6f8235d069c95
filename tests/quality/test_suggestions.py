import csv
import sys

import numpy as np
import pytest

from benchmarks.quality import labels, limits, suggestions
from benchmarks.quality.panel import keep
from panels_of_quality import hard, soft


@pytest.fixture
def panel():
    panel = soft(n_items=120, n_classes=3, n_members=3, missing=0)
    panel.truth[:10] = -1  # nobody knows
    return panel


def test_what_is_scored_was_not_there_to_be_chosen(panel):
    problem = labels.Problem(panel)
    pool, scored = suggestions.halves(problem, 0)
    assert sorted([*pool, *scored]) == list(range(10, 120))
    for items in suggestions.choose(problem, pool, 20, 0).values():
        assert len(set(items)) == 20 and set(items) <= set(pool)


def test_too_few_to_choose_from_are_left_out(panel):
    assert suggestions.rows_of(labels.Problem(panel), 50, 0, ["random"]) == {}


def test_averaging_is_no_change(panel):
    problem = labels.Problem(panel)
    found = labels.change(problem, problem.average, np.arange(10, 120))
    np.testing.assert_allclose(found, 0, atol=1e-12)


def test_labels_have_features_too():
    panel = hard(n_items=50)
    rows = labels.rows_said(panel)
    np.testing.assert_array_equal(np.isnan(rows[:, :, 0]), panel.votes < 0)
    assert np.isfinite(labels.Problem(panel).features).all()


@pytest.mark.parametrize("name", list(labels.METHODS))
def test_methods_with_labels_answer_all_items(name):
    for panel in (soft(n_items=60), hard(n_items=60)):
        problem, items = labels.Problem(panel), np.arange(20)
        found = labels.METHODS[name](problem, items, panel.truth[items])
        assert found.shape == (60, 4)
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)


def test_the_command_goes_on_where_it_stopped(panel, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    keep(panel, tmp_path / "panels")
    keep(soft(name="held", family="crowds"), tmp_path / "panels")  # of the other side
    keep(soft(name="drawn", kind="rare"), tmp_path / "panels")  # not as it is
    output = tmp_path / "found"
    words = ["suggestions", "--work-dir", tmp_path, "--side", "tuning", "--counts", 5, 10, "-o", output, "--draws"]
    for n_draws in (1, 2, 2):
        monkeypatch.setattr(sys, "argv", [*map(str, words), str(n_draws)])
        suggestions.main()
    with output.with_suffix(".csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 3
    assert {row["panel"] for row in rows} == {panel.name}
    assert [row["method"] for row in rows[:3]] == ["label-free", "random", "suggested"]
    assert output.with_suffix(".txt").read_text(encoding="utf-8").strip() in capsys.readouterr().out
    assert output.with_suffix(".svg").stat().st_size > 1000
    assert "label-free" in labels.table(output.with_suffix(".csv"))


def test_no_temperature_is_better_than_the_best(panel, tmp_path, monkeypatch, capsys):
    keep(panel, tmp_path / "panels")
    monkeypatch.setattr(sys, "argv", ["limits", "--work-dir", str(tmp_path)])
    limits.main()
    *_, last = capsys.readouterr().out.splitlines()
    tempered, consensus, both = map(float, last.removeprefix("geometric mean").split())
    assert tempered <= 1.001 and both <= consensus + 0.001
