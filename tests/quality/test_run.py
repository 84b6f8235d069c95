"""Scores are kept, and computed again only where something changed."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.quality import run
from benchmarks.quality.methods import METHODS, PEERS
from benchmarks.quality.panel import keep
from benchmarks.quality.peers.run import Outcome
from benchmarks.quality.run import key_of, read_rows, score, score_all, score_panel, version_of
from panels_of_quality import hard, soft

A_PEER = next(iter(PEERS))


@pytest.fixture
def scored(tmp_path):
    """Scores two panels in this process, and counts what was computed."""

    def score_twice(methods=("average", "majority")):
        done = {}
        for row in read_rows(tmp_path / "scores.jsonl"):
            done.setdefault(row["panel"], []).append(key_of(row))
        rows = []
        for name in ("a", "b"):
            rows += score_panel(tmp_path / f"{name}.npz", list(methods), done.get(name, []))[0]
        with (tmp_path / "scores.jsonl").open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        return [(row["panel"], row["method"]) for row in rows]

    for name in ("a", "b"):
        keep(soft(name=name, n_items=30), tmp_path)
    return score_twice


def test_only_what_is_new_is_scored(scored, tmp_path):
    assert len(scored()) == 4
    assert scored() == []
    assert scored(("average", "majority", "geometric")) == [("a", "geometric"), ("b", "geometric")]
    keep(soft(seed=1, name="b", n_items=30), tmp_path)  # other answers under the same name
    assert scored() == [("b", "average"), ("b", "majority")]


def test_another_code_is_scored_again(scored, monkeypatch):
    scored()
    monkeypatch.setattr(run, "version_of", lambda method: "newer" if method == "majority" else version_of(method))
    assert scored() == [("a", "majority"), ("b", "majority")]


def test_a_line_that_was_cut_off_is_scored_again(tmp_path):
    keep(soft(name="a", n_items=30), tmp_path)
    written, jobs = tmp_path / "scores.jsonl", [(tmp_path / "a.npz", ["average", "majority"])]
    first = score_all(jobs, written, 1, lambda _: None)
    written.write_bytes(written.read_bytes()[:-40])
    again = score_all(jobs, written, 1, lambda _: None)
    assert [row["method"] for row in again] == [row["method"] for row in first] == ["average", "majority"]
    assert again[1]["nll"] == first[1]["nll"]
    assert len(read_rows(written)) == 2
    assert written.read_text().count("\n") == 3  # the half line is there and does no harm


def test_the_truth_is_seen_by_scores_alone():
    panel = soft(n_items=60)
    truth = panel.truth.copy()
    truth[:10] = -1
    row = score(replace(panel, truth=truth), "majority")
    votes = METHODS["majority"](panel).argmax(axis=1)
    assert row["accuracy"] == pytest.approx((votes[10:] == panel.truth[10:]).mean())
    assert (row["members"], row["items"], row["classes"], row["votes"]) == (6, 60, 4, False)


class Stand:
    """Stands in for the runner of peers."""

    def __init__(self, outcome):
        self.outcome, self.asked = outcome, []

    def run(self, name, panel):
        self.asked.append((name, panel))
        return self.outcome


def test_a_peer_gets_the_same_items_and_is_scored_like_others(monkeypatch):
    panel = hard(n_items=50)
    stand = Stand(Outcome(PEERS[A_PEER].name, 1.5, np.eye(4)[panel.truth]))
    monkeypatch.setattr(run, "runner", lambda: stand)
    row = score(panel, A_PEER)
    assert stand.asked == [(PEERS[A_PEER].name, panel)]
    assert row["accuracy"] == 1 and row["seconds"] == 1.5


def test_a_peer_that_takes_too_long_is_left_out(monkeypatch):
    monkeypatch.setattr(run, "runner", lambda: Stand(Outcome("x", 10.0, reason="takes more than 10 s")))
    row = score(hard(n_items=50), A_PEER)
    assert row["left out"] == "takes more than 10 s" and "nll" not in row


def test_methods_that_are_slow_with_many_classes_are_left_out(monkeypatch):
    monkeypatch.setattr(run, "MOST_CLASSES", {"bcc": 3})
    assert score(soft(n_items=30, n_classes=4), "bcc")["left out"] == "takes minutes with more than 3 classes"
    assert "nll" in score(soft(n_items=30, n_classes=3), "bcc")


def test_the_runner_has_the_limit_of_the_bench():
    run.runner.cache_clear()
    assert run.runner().limit == run.SECONDS
    run.runner.cache_clear()


def test_versions_are_those_of_the_code():
    assert version_of("average") == version_of("majority") != version_of("benchmarks.quality.methods:mixture")
    assert version_of("consensus") != version_of("average")  # its weights belong to it
    assert version_of(A_PEER) != version_of("average")
