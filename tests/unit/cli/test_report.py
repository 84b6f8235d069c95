"""`consilience report`: labels that teach, labels that measure, and a title."""

from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def members(tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=90)
    logits = rng.normal(size=(3, 90, 3)) + np.array([2.0, 1.0, 0.5])[:, None, None] * np.eye(3)[truth]
    np.save(tmp_path / "members.npy", np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True))
    np.save(tmp_path / "truth.npy", truth)
    np.save(tmp_path / "known.npy", np.where(np.arange(90) < 30, truth, -1))
    return "members.npy"


def test_known_labels_teach_and_others_measure(run, members):
    words = ["--labels", "truth.npy", "--known", "known.npy", "--title", "Three <members>", "-o", "page.html"]
    code, out, _ = run("report", members, *words)
    page = Path("page.html").read_text(encoding="utf-8")
    assert code == 0 and out == "Wrote page.html\n"
    assert "<title>Three &lt;members&gt;</title>" in page
    assert "The method learned from 30 labels. Labels of 60 other items measured the answers." in page


def test_a_model_has_learned_already(run, members):
    assert run("aggregate", members, "--save", "model.npz")[0] == 0
    code, _, err = run("report", members, "--model", "model.npz", "--known", "known.npy")
    assert code == 2 and "do not go with it" in err and not Path("report.html").exists()
    assert run("report", members, "--model", "model.npz")[0] == 0
    assert "No label was used." in Path("report.html").read_text(encoding="utf-8")
