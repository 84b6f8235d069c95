"""`--class-shares`: what it is read from, what it changes, and how it fails."""

import json
from pathlib import Path

import numpy as np
import pytest

import consilience as cs
from consilience.cli.inputs import Given
from consilience.data.tables.told import Told


def given(text):
    return Given([], Told(), quiet=True).shares(text, None)


def test_what_is_said_is_what_python_takes():
    assert given(None) is None
    assert given("even") == "even"
    assert given("cat=.2, dog=.8") == {"cat": 0.2, "dog": 0.8}
    assert given("pass=.85") == {"pass": 0.85}
    assert given("pass=88,fail=12") == {"pass": 88, "fail": 12}
    assert given("a=b=.2,c=.8") == {"a=b": 0.2, "c": 0.8}
    assert given(".2,.8") == [0.2, 0.8]


TABLES = {
    "class,count\ncat,20\ndog,80\n": {"cat": 20, "dog": 80},
    "share,class\n0.2,cat\n.8,dog\n": {"cat": 0.2, "dog": 0.8},
    ",proportion\ncat,0.2\ndog,0.8\n": {"cat": 0.2, "dog": 0.8},
    "item,label\nx,cat\ny,dog\nz,cat\nw,\n": {"cat": 2, "dog": 1},
    "label\ncat\ndog\ndog\nNA\n": {"cat": 1, "dog": 2},
}


@pytest.mark.parametrize("text", TABLES)
def test_a_file_of_counts_shares_or_labels(tmp_path, text):
    (tmp_path / "counts.csv").write_text(text, encoding="utf-8")
    assert given(str(tmp_path / "counts.csv")) == TABLES[text]


def test_an_array_of_labels_is_counted(tmp_path):
    np.save(tmp_path / "labels.npy", np.array([0, 2, 2, -1]))
    assert given(str(tmp_path / "labels.npy")) == {"0": 1, "2": 2}


def test_the_file_is_said_to_be_understood(run, arrays):
    Path("counts.csv").write_text("class,count\n0,60\n1,30\n2,10\n", encoding="utf-8")
    _, _, err = run("aggregate", *arrays, "--class-shares", "counts.csv")
    assert "counts.csv: CSV table, 3 classes in 'class', their count" in " ".join(err.split())


DOORS = {
    "0=.6,1=.3,2=.1": [0.6, 0.3, 0.1],
    "0=.6,1=.3": [0.6, 0.3, 0.1],
    "60,30,10": [60, 30, 10],
    "even": "even",
    "counts.csv": [60, 30, 10],
}


@pytest.mark.parametrize("text", DOORS)
def test_the_answer_is_that_of_python(run, arrays, text):
    Path("counts.csv").write_text("class,count\n0,60\n1,30\n2,10\n", encoding="utf-8")
    code, _, _ = run("aggregate", *arrays, "--class-shares", text, "-o", "out.npy", "--save", "model.npz")
    fitted = cs.Consensus(class_shares=DOORS[text]).fit({name[:-4]: np.load(name) for name in arrays})
    assert code == 0
    np.testing.assert_allclose(np.load("out.npy"), fitted.posterior_, atol=1e-12)
    run("aggregate", *arrays, "--model", "model.npz", "-o", "again.npy")
    np.testing.assert_array_equal(np.load("again.npy"), np.load("out.npy"))


def test_other_commands_are_those_of_python(run, arrays):
    shares, panel = "60,30,10", {name[:-4]: np.load(name) for name in arrays}
    told = {
        command: json.loads(run(*command.split(), *arrays, "--class-shares", shares, "--json")[1])
        for command in ("explain --item 3", "compare", "suggest -n 4", "monitor --window 20")
    }
    counts = [60, 30, 10]
    why = cs.explain(panel, item=3, aggregator=cs.Consensus(class_shares=counts).fit(panel))
    assert told["explain --item 3"]["class_shares"] == pytest.approx(why.shares) and why.shares != 0
    rows = {row["method"]: row for row in cs.compare(panel, class_shares=counts).rows()}
    for row in told["compare"]:
        assert row["to"] == pytest.approx(rows[row["method"]]["to"])
    items = [row["item"] for row in told["suggest -n 4"]["suggestions"]]
    assert items == cs.suggest(panel, n=4, class_shares=counts).items
    windows = cs.monitor(cs.Predictions(panel), window=20, class_shares=counts).windows
    assert [row["accuracy"] for row in told["monitor --window 20"]["windows"]] == pytest.approx(windows["accuracy"])


def test_the_report_uses_them_too(run, arrays):
    code, _, _ = run("report", *arrays, "--class-shares", ".6,.3,.1", "-o", "with.html")
    run("report", *arrays, "-o", "without.html")
    assert code == 0 and Path("with.html").read_bytes() != Path("without.html").read_bytes()


WRONG = {
    "0=.5": "--class-shares must have a share for every class, or for all but one; got none for [1, 2]",
    "0=.5,1=.5,cat=0": "--class-shares must be of the classes [0, 1, 2]; got 'cat'",
    "0=.5,1=.5,0=0": "--class-shares must name each class once",
    "0=.5,1=.3,2=.1": "--class-shares must sum to 1, or be whole numbers that were counted; they sum to 0.9",
    "0=1.5,1=-.5,2=0": "--class-shares must be at least 0; got -0.5",
    ".5,.5": "--class-shares must be one number for each of 3 classes; got the shape (2,)",
    "0=many": "--class-shares must be even; like cat=.2,dog=.8",
    "0=0,1=0,2=0": "--class-shares must have a number above 0; got none",
    "none.csv": "none.csv",
    "odd": "--class-shares must be even; like cat=.2,dog=.8",
    "": "--class-shares must be even; like cat=.2,dog=.8",
}


@pytest.mark.parametrize("command", ["aggregate", "report", "compare", "suggest", "monitor -w 20"])
@pytest.mark.parametrize("text", WRONG)
def test_wrong_shares(run, arrays, command, text):
    code, _, err = run(*command.split(), *arrays, "--class-shares", text)
    assert code == 2 and WRONG[text] in " ".join(err.split())


def test_only_consensus_takes_them_and_only_in_a_fit(run, arrays):
    code, _, err = run("aggregate", *arrays, "-m", "dawid-skene", "--class-shares", ".6,.3,.1")
    assert code == 2 and "--class-shares go with --method consensus; got 'dawid-skene'" in " ".join(err.split())
    run("aggregate", *arrays, "--save", "model.npz")
    for command in ("aggregate", "report", "explain --item 3"):
        code, _, err = run(*command.split(), *arrays, "--model", "model.npz", "--class-shares", ".6,.3,.1")
        assert code == 2 and "do not go with it" in " ".join(err.split())


@pytest.mark.parametrize("command", ["aggregate", "compare", "report", "suggest"])
def test_commands_say_how_they_understood_the_shares(run, arrays, command):
    _, _, err = run(command, *arrays, "--class-shares", ".6,.3,.1", *(["-o", "r.html"] if command == "report" else []))
    assert "class shares: 0 0.6, 1 0.3, 2 0.1 (known)" in " ".join(err.split())
    _, _, err = run(command, *arrays, "--class-shares", "60,30,10", *(["-o", "r.html"] if command == "report" else []))
    assert "(as counted on 100 items)" in " ".join(err.split())
