"""What commands read: labels matched by name, saved models, and warnings as sentences."""

import json
from pathlib import Path

import numpy as np
import pytest

import consilience as cs
from consilience.cli.inputs import Given
from consilience.cli.shared_options import Fit
from consilience.data.tables.told import Told


def test_labels_of_tables_need_names(run, tmp_path):
    """Items of long tables are sorted by name, so that labels in the order of the file would be another item's."""
    lines = "".join(f"t{i},w{w},{'yes' if i % 2 else 'no'}\n" for i in range(12) for w in range(3))
    (tmp_path / "crowd.csv").write_text(f"task,worker,label\n{lines}", encoding="utf-8")
    (tmp_path / "gold.csv").write_text(
        "gold\n" + "".join("yes\n" if i % 2 else "no\n" for i in range(12)), encoding="utf-8"
    )
    code, _, err = run("aggregate", "crowd.csv", "--labels", "gold.csv")
    assert code == 2 and "labels must name their items" in " ".join(err.split())
    named = "task,gold\n" + "".join(f"t{i},{'yes' if i % 2 else 'no'}\n" for i in range(12))
    (tmp_path / "gold.csv").write_text(named, encoding="utf-8")
    code, out, _ = run("aggregate", "crowd.csv", "--labels", "gold.csv", "--json")
    assert code == 0 and json.loads(out)["scores"]["Average"]["accuracy"] == 1


def test_what_a_fit_warns_of_is_a_sentence(run, arrays, tmp_path):
    np.save(tmp_path / "ones.npy", np.where(np.arange(200) < 10, 1, -1))
    code, _, err = run("aggregate", *arrays, "--known", "ones.npy")
    assert code == 0 and "UserWarning" not in err
    assert "! labels teach nothing of other items where all are of one class; all 10 are 1" in " ".join(err.split())


def test_how_files_were_understood_is_said_unless_quiet(arrays, tmp_path, capsys):
    files = [str(tmp_path / name) for name in arrays]
    predictions = Given(files, Told(), quiet=True).predictions()
    assert predictions.members == ["good", "fair", "poor"] and capsys.readouterr().err == ""
    Given(files[:1], Told()).predictions()
    assert "NumPy array, probabilities (items, classes)" in " ".join(capsys.readouterr().err.split())


def test_one_array_is_not_both_predictions_and_labels(tmp_path):
    path = str(tmp_path / "y.npy")
    np.save(path, np.array([[0, 1, 1], [1, 1, 0]]))
    given = Given([path], Told(), quiet=True)
    predictions = given.predictions()
    assert given.labels(None, predictions) is None
    with pytest.raises(cs.InvalidPredictions, match="labels must be in a file of their own"):
        given.labels(path, predictions)


@pytest.mark.parametrize("column", ["sentiment", "category"])
def test_one_column_is_not_both_a_member_and_the_labels(run, tmp_path, column):
    """That member was always right, and so was the fused answer."""
    rows = "".join(f"q{i},{'ab'[i % 2]},{'ab'[i % 3 == 0]},{'ab'[i % 5 == 0]},{'ab'[i % 2]}\n" for i in range(30))
    (tmp_path / "wide.csv").write_text(f"item,ann,bob,eve,{column}\n{rows}", encoding="utf-8")
    command = ("aggregate", "wide.csv", "--labels", "wide.csv", "--method", "average", "--json")
    code, _, err = run(*command)
    assert code == 2 and f"column '{column}' of wide.csv is read as both" in " ".join(err.split())
    code, out, _ = run(*command, "--member-column", "ann,bob,eve")
    assert code == 0 and [row["member"] for row in json.loads(out)["members"]] == ["ann", "bob", "eve"]
    code, _, err = run(*command, "--label-column", column)
    assert code == 2 and "is read as both" in err


def test_the_answers_of_a_table_are_not_its_labels(run, tmp_path):
    (tmp_path / "m.csv").write_text(
        "item,label\n" + "".join(f"q{i},{'ab'[i % 2]}\n" for i in range(12)), encoding="utf-8"
    )
    code, _, err = run("aggregate", "m.csv", "--labels", "m.csv")
    assert code == 2 and "'label' of m.csv is read as both" in " ".join(err.split())


def test_a_column_of_truth_beside_the_answers(run, tmp_path):
    rows = "".join(f"q{i},{w},{'ab'[i % 2]},{'ab'[i % 3 == 0]}\n" for i in range(12) for w in ("ann", "bob"))
    (tmp_path / "long.csv").write_text(f"item,worker,label,gold\n{rows}", encoding="utf-8")
    assert run("aggregate", "long.csv", "--labels", "long.csv", "--method", "average")[0] == 0


def test_items_that_are_nearly_the_same(tmp_path, capsys):
    paths = [str(tmp_path / f"{member}.csv") for member in "ab"]
    for path, names in zip(paths, (("q0", "q1", "7"), ("q0", "Q1", "007")), strict=True):
        Path(path).write_text("item,cat,dog\n" + "".join(f"{name},.5,.5\n" for name in names), encoding="utf-8")
    Given(paths[:1], Told()).predictions()
    assert "differ only" not in capsys.readouterr().err
    Given(paths, Told()).predictions()
    said = " ".join(capsys.readouterr().err.split())
    assert "2 items have names, such as ['q1', 'Q1'], that differ only in case, spaces around them or zeros" in said


def test_a_saved_model_is_loaded_and_not_fitted(tmp_path):
    rows = np.random.default_rng(0).dirichlet(np.ones(2), size=(3, 20))
    cs.DawidSkene().fit(rows).save(tmp_path / "model.npz")
    model = Given([], Told()).fitted(cs.Predictions(rows[:, :5]), Fit(model=tmp_path / "model.npz"))
    assert isinstance(model, cs.DawidSkene) and len(model.items_) == 20


def test_columns_named_for_the_predictions_need_not_be_in_the_labels(run, tmp_path):
    lines = "".join(
        f"q{i},j{j},{'yes' if i % 2 else 'no'},{'no' if i % 3 else 'yes'}\n" for i in range(12) for j in range(3)
    )
    (tmp_path / "judges.csv").write_text(f"question_id,judge,verdict,decision\n{lines}", encoding="utf-8")
    gold = "".join(f"q{i},{'yes' if i % 2 else 'no'}\n" for i in range(12))
    (tmp_path / "gold.csv").write_text(f"question_id,gold\n{gold}", encoding="utf-8")
    code, _, err = run("aggregate", "judges.csv")
    assert code == 2 and "say --label-column verdict (no, yes) or --label-column decision (yes, no)" in " ".join(
        err.split()
    )
    code, out, _ = run("aggregate", "judges.csv", "--label-column", "verdict", "--labels", "gold.csv", "--json")
    assert code == 0 and json.loads(out)["scores"]["Average"]["accuracy"] == 1


def test_the_classes_of_a_model_are_those_of_a_day_with_one_of_them(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"q{place},{','.join(['pass' if place % 3 else 'fail'] * 3)}" for place in range(30)]
    Path("all.csv").write_text("\n".join(["id,ann,bob,cyd", *rows]) + "\n", encoding="utf-8")
    Path("day.csv").write_text("id,ann,bob,cyd\nq1,pass,pass,pass\nq2,pass,pass,pass\n", encoding="utf-8")
    assert run("aggregate", "all.csv", "--save", "model.npz")[0] == 0
    code, out, err = run("aggregate", "day.csv", "--model", "model.npz", "-o", "day.npz")
    assert code == 0, err
    with np.load("day.npz") as written:
        assert written["classes"].tolist() == ["fail", "pass"]
        assert written["posterior"].argmax(axis=1).tolist() == [
            1,
            1,
        ]


def test_what_labels_and_classes_do_not_do_is_told(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"q{place},{'pass' if place % 3 else 'fail'},{'Pass' if place % 3 else 'fail'}" for place in range(30)]
    Path("all.csv").write_text("\n".join(["id,ann,bob", *rows]) + "\n", encoding="utf-8")
    Path("gold.csv").write_text("id,label\nq0,fail\nq1,pass\n", encoding="utf-8")
    Path("empty.csv").write_text("id,label\nq0,\nq1,\n", encoding="utf-8")
    err = " ".join(run("aggregate", "all.csv", "--known", "gold.csv", "--labels", "gold.csv")[2].split())
    assert "! --labels score nothing: all these items are in --known" in err
    assert "! the classes ['Pass', 'pass'] differ only in case, spaces around them or zeros in front" in err
    err = " ".join(run("aggregate", "all.csv", "--known", "empty.csv")[2].split())
    assert "empty.csv: CSV table, 0 labels in 'label', items in 'id'" in err


@pytest.mark.parametrize("column", ["y", "answer_key", "final_label", "majority", "expert", "verified"])
def test_a_column_that_may_be_the_truth_is_asked_for(run, tmp_path, column):
    rows = "".join(f"q{i},{'ab'[i % 2]},{'ab'[i % 3 == 0]},{'ab'[i % 5 == 0]},{'ab'[i % 2]}\n" for i in range(30))
    (tmp_path / "wide.csv").write_text(f"item,ann,bob,eve,{column}\n{rows}", encoding="utf-8")
    code, _, err = run("aggregate", "wide.csv", "--method", "average", "--json")
    assert code == 2 and f"['{column}'] may be either" in " ".join(err.split())
    assert "--member-column ann,bob,eve or" in " ".join(err.split())
    code, out, _ = run("aggregate", "wide.csv", "--method", "average", "--json", "--member-column", "ann,bob,eve")
    assert code == 0 and [row["member"] for row in json.loads(out)["members"]] == ["ann", "bob", "eve"]
