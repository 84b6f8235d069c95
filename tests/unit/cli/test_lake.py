"""`aggregate` into a folder: what it prints, and what does not go with it."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def votes(tmp_path):
    """A folder of partitions, and where to write."""
    rng = np.random.default_rng(0)
    (tmp_path / "votes").mkdir()
    for place in range(2):
        truth = rng.integers(2, size=100)
        said = np.where(rng.random((3, 100)) < 0.8, truth, 1 - truth)
        frame = {"item": np.repeat(np.arange(100) + 100 * place, 3), "judge": ["a", "b", "c"] * 100}
        labels = np.array(["no", "yes"])[said.T.ravel()]
        pl.DataFrame(frame | {"label": labels}).write_parquet(tmp_path / f"votes/part-{place}.parquet")
    return tmp_path


def consilience(folder, *words):
    """What a command prints, its errors, and its exit code."""
    done = subprocess.run(
        [sys.executable, "-m", "consilience", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.stdout, done.stderr, done.returncode


def test_a_pattern_is_fused_into_a_folder_and_a_model(votes):
    out, err, code = consilience(votes, "aggregate", "votes/*.parquet", "-o", "fused/", "--save", "model.npz")
    assert code == 0, err
    assert "200 items, 600 answers of 3 members, 2 classes" in out
    assert "patterns of votes" in out
    assert "items in 'item', members in 'judge', labels in 'label'" in err.replace("\n", " ")
    assert pl.read_parquet(f"{votes}/fused/").columns == ["item", "answer", "confidence", "n_answers"]
    again, err, code = consilience(votes, "aggregate", "votes/*.parquet", "-o", "fused/", "--save", "model.npz")
    assert code == 0, err
    assert "nothing was done" in err.replace("\n", " ")
    by_model, err, code = consilience(votes, "aggregate", "votes", "-o", "again", "--model", "model.npz", "--posterior")
    assert code == 0, err
    one, other = (pl.read_parquet(f"{votes}/{name}/").sort("item") for name in ("fused", "again"))
    np.testing.assert_allclose(one["confidence"], other["confidence"], atol=1e-12)
    np.testing.assert_allclose(other["no"] + other["yes"], 1)


def test_json_says_all_of_it(votes):
    out, err, code = consilience(
        votes, "aggregate", "votes", "-o", "fused", "-m", "dawid-skene", "--class-shares", "even", "--json"
    )
    assert code == 2
    assert "--class-shares" in err
    out, err, code = consilience(votes, "aggregate", "votes", "-o", "fused", "--class-shares", "even", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["items"], found["members"], found["classes"]) == (200, ["a", "b", "c"], ["no", "yes"])
    assert found["written"] == ["fused"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("votes", ["votes is a directory", "-o fused/"]),
        ("votes/*.parquet -o fused.csv", ["a pattern", "-o fused/"]),
        ("votes -o fused --labels truth.csv", ["--labels", "folder"]),
        ("votes -o fused --known truth.csv", ["--known", "folder"]),
        ("votes -o fused --report r.html", ["--report", "folder"]),
        ("votes -o fused --positive yes", ["--positive", "folder"]),
        ("votes/part-0.parquet --posterior", ["--posterior", "folder"]),
        ("votes/part-0.parquet -o x.csv --skip-bad", ["--skip-bad", "folder"]),
        ("votes -o nowhere/fused", ["nowhere", "must exist"]),
        ("votes -o votes", ["votes", "new or empty"]),
        ("s3://no-such-bucket.invalid/x.npy -o fused", ["s3://no-such-bucket.invalid/x.npy", ".parquet"]),
    ],
)
def test_what_does_not_go_with_a_folder_is_said(votes, words, said):
    before = sorted(path.name for path in votes.rglob("*"))
    out, err, code = consilience(votes, "aggregate", *words.split())
    assert code == 2
    assert out == ""
    assert "Traceback" not in err
    for word in said:
        assert word in err
    assert sorted(path.name for path in votes.rglob("*")) == before
