"""Outputs are files of their own, and a report says what it says elsewhere."""

import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

import consilience as cs
from consilience.cli.outputs import check_outputs, write_page
from consilience.insight.analysis import Analysis
from consilience.report import write_report


def test_places_that_differ_pass(tmp_path):
    outputs = [(tmp_path / "a.npz", ".npz"), (None, ".npz"), (tmp_path / "b.html", None)]
    assert check_outputs(outputs, ["c.npy", None]) is None


def test_the_format_is_that_of_the_suffix(tmp_path):
    with pytest.raises(ValueError, match=r"the output must end in one of \.npz; got 'a\.html'"):
        check_outputs([(tmp_path / "a.html", ".npz")])


def test_an_output_must_not_replace_an_input(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"each output must be a file of its own; .*a\.npz is also \./a\.npz"):
        check_outputs([(tmp_path / "a.npz", ".npz")], ["./a.npz"])


def test_two_outputs_must_not_be_one_file():
    with pytest.raises(ValueError, match=r"a\.npz is also a\.npz, another output"):
        check_outputs([(Path("a.npz"), None), (Path("a.npz"), ".npz")])


def test_the_page_is_that_of_write_report(tmp_path):
    predictions = cs.Predictions(np.random.default_rng(0).dirichlet(np.ones(3), size=(3, 20)))
    method, truth = cs.DawidSkene().fit(predictions), np.arange(20) % 3
    write_page(tmp_path / "page.html", Analysis(predictions, method, labels=truth), "Title")
    command = shlex.join(["consilience", *sys.argv[1:]])
    write_report(tmp_path / "report.html", predictions, truth, aggregator=method, title="Title", command=command)
    assert (tmp_path / "page.html").read_bytes() == (tmp_path / "report.html").read_bytes()


@pytest.mark.parametrize(
    ("words", "is_said"), [(["fused.csv"], True), (["fused.jsonl"], False), (["f.csv", "--append"], False)]
)
def test_an_apostrophe_before_a_name_is_told_of(run, words, is_said):
    Path("votes.csv").write_text("item,ann,bob\n@a,x,y\n@b,y,y\n", encoding="utf-8")
    code, _, err = run("aggregate", "votes.csv", "-o", *words)
    assert code == 0 and ("an apostrophe before names such as '@a'" in " ".join(err.split())) == is_said
    assert ("'@a" in Path(words[0]).read_text(encoding="utf-8")) == is_said
