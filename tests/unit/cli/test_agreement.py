"""`consilience agreement`: what `cs.agreement` gives, on the screen and for machines."""

import json

import numpy as np
import pytest

import consilience as cs


def votes(n_members=3, n_items=60):
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=n_items)
    rows = [
        f"t{i},w{m},{truth[i] if rng.random() < 0.5 + m / 20 else rng.integers(3)}\n"
        for i in range(n_items)
        for m in range(n_members)
    ]
    return "task,worker,label\n" + "".join(rows)


def test_the_same_numbers_as_in_python(run, tmp_path):
    (tmp_path / "votes.csv").write_text(votes(), encoding="utf-8")
    code, out, err = run("agreement", "votes.csv", "--json")
    assert code == 0 and err == ""
    told, found = json.loads(out), cs.agreement(cs.read_predictions("votes.csv"))
    assert told["krippendorff_alpha"] == pytest.approx(found.alpha._asdict())
    assert [row["kappa"] for row in told["members"]] == pytest.approx(found.by_member.tolist())
    assert told["observed"] == pytest.approx(found.observed) and told["n_items"] == 60
    kappa = {(row["first"], row["second"]): row["kappa"] for row in told["pairs"]}
    assert kappa == pytest.approx({(f"w{a}", f"w{b}"): found.kappa[a, b] for a, b in ((0, 1), (0, 2), (1, 2))})
    assert list(kappa.values()) == sorted(kappa.values())


def test_the_screen(run, tmp_path):
    (tmp_path / "votes.csv").write_text(votes(), encoding="utf-8")
    code, out, _ = run("agreement", "votes.csv")
    assert code == 0 and "Krippendorff's alpha" in out and "60 items with at least two answers" in " ".join(out.split())
    assert "w0" in out and "--json has all" not in out
    (tmp_path / "many.csv").write_text(votes(n_members=8), encoding="utf-8")
    assert "--json has all" in " ".join(run("agreement", "many.csv")[1].split())


def test_one_member_agrees_with_nobody(run, tmp_path):
    (tmp_path / "one.csv").write_text(votes(n_members=1), encoding="utf-8")
    code, out, _ = run("agreement", "one.csv")
    assert code == 0 and "No item has two answers" in out and "Cohen" not in out
    told = json.loads(run("agreement", "one.csv", "--json")[1])
    assert told["pairs"] == [] and told["krippendorff_alpha"]["value"] is None
