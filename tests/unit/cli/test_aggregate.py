"""`consilience aggregate`: one analysis for summary and report, what labels bought, and nothing half done."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import consilience as cs
from consilience.cli.summary import gained
from consilience.insight import analysis, explanation
from consilience.insight.analysis import Analysis
from consilience.passes.reader import Reader

N_ITEMS = 80


@pytest.fixture
def counts(monkeypatch):
    """How often an analysis averages, diagnoses, and explains each item."""
    counted = Counter()

    def count(owner, name, key):
        original = getattr(owner, name)

        def counting(*args, **options):
            counted[key(options)] += 1
            return original(*args, **options)

        monkeypatch.setattr(owner, name, counting)

    count(cs.Average, "fit", lambda _: "average")
    count(Reader, "pool", lambda _: "average")
    count(analysis, "Diagnosis", lambda _: "diagnosis")
    count(explanation, "Explanation", lambda options: ("item", options["item"]))
    return counted


@pytest.fixture
def members(tmp_path):
    """A good member and two poor ones, so that fusing changes some answers."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=N_ITEMS)
    logits = rng.normal(size=(3, N_ITEMS, 3)) + np.array([3.0, 0.5, 0.5])[:, None, None] * np.eye(3)[truth]
    np.save(tmp_path / "members.npy", np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True))
    return "members.npy"


def test_summary_and_report_compute_everything_once(run, members, counts):
    code, out, _ = run("aggregate", members, "--report", "report.html")
    assert code == 0 and "answered differently from plain averaging" in out
    explained = {name: n for name, n in counts.items() if isinstance(name, tuple)}
    assert counts["average"] == counts["diagnosis"] == 1
    assert len(explained) == N_ITEMS and set(explained.values()) <= {1, 2}
    assert sum(n == 2 for n in explained.values()) <= 5  # against the second class, and against that of the average


def test_nothing_is_written_where_labels_are_wrong(run, arrays):
    Path("bad.csv").write_text("item,label\n0,elephant\n", encoding="utf-8")
    code, _, err = run("aggregate", *arrays, "-o", "out.npz", "--save", "model.npz", "--labels", "bad.csv")
    assert code == 2 and "elephant" in err and not Path("out.npz").exists() and not Path("model.npz").exists()
    code, _, err = run("aggregate", *arrays, "--model", "model.npz", "-m", "bcc")
    assert code == 2 and "do not go with it" in err


@pytest.mark.parametrize(
    ("method", "known"),
    [(cs.DawidSkene(tol=None), [0, 1, -1, -1]), (cs.Consensus(), [0, -1, -1, -1]), (cs.Consensus(), None)],
    ids=["no correction", "one label", "no labels"],
)
def test_where_labels_cannot_be_evaluated_nothing_is_said_of_them(method, known):
    predictions = cs.Predictions(np.random.default_rng(0).dirichlet(np.ones(2), size=(3, 4)))
    assert gained(Analysis(predictions, method, known)) == {}


def test_accuracies_are_measured_where_labels_are_given(run, members, tmp_path):
    np.save(tmp_path / "truth.npy", np.random.default_rng(0).integers(3, size=N_ITEMS))
    code, out, _ = run("aggregate", members, "--labels", "truth.npy")
    assert code == 0 and f"of {N_ITEMS} items with a label" in " ".join(out.split()) and "* estimated" not in out
    code, out, _ = run("aggregate", members)
    assert "cannot be told apart without labels" in " ".join(out.split())


def test_the_report_has_a_title_and_the_command(run, members, monkeypatch):
    words = ["aggregate", members, "--report", "page.html", "--title", "Three members"]
    monkeypatch.setattr("sys.argv", ["consilience", *words])
    code, _, _ = run(*words)
    page = Path("page.html").read_text(encoding="utf-8")
    assert code == 0 and "<title>Three members</title>" in page
    assert "consilience aggregate members.npy --report page.html --title 'Three members'" in page
