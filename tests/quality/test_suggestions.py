import csv
import sys

import numpy as np
import pytest

pytest.importorskip("torch")

from benchmarks.quality import labels, suggestions
from benchmarks.quality.store import Set, write, write_index

from simulate import softmax_members


@pytest.fixture
def one(rng):
    array, truth = softmax_members(rng, [2, 1.5, 1], 120, 3)
    truth[:10] = -1  # nobody knows
    return Set("made-up", "clean", "fresh", array.astype(np.float32), truth)


def test_what_is_scored_was_not_there_to_be_chosen(one):
    problem = labels.Problem(one)
    pool, scored = suggestions.halves(problem, 0)
    assert sorted([*pool, *scored]) == list(range(10, 120))
    for items in suggestions.choose(problem, pool, 20, 0).values():
        assert len(set(items)) == 20 and set(items) <= set(pool)


def test_too_few_to_choose_from_are_left_out(one):
    assert suggestions.rows_of(labels.Problem(one), 50, 0, ["random"]) == {}


def test_the_command_goes_on_where_it_stopped(one, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    write(one, tmp_path / "sets")
    write_index([one.entry()], tmp_path / "sets" / "sets.json")
    output = tmp_path / "found"
    words = ["suggestions", "--work-dir", tmp_path, "--part", "fresh", "--counts", 5, 10, "-o", output, "--draws"]
    for n_draws in (1, 2, 2):
        monkeypatch.setattr(sys, "argv", [*map(str, words), str(n_draws)])
        suggestions.main()
    with output.with_suffix(".csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 3
    assert [row["method"] for row in rows[:3]] == ["label-free", "random", "suggested"]
    assert output.with_suffix(".txt").read_text(encoding="utf-8").strip() in capsys.readouterr().out
    assert output.with_suffix(".svg").stat().st_size > 1000
