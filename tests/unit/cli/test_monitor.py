"""`consilience monitor` on a screen."""

import json

import numpy as np


def save_stream(n_windows):
    """Batches of 50 items of three members, who know nothing in the last one."""
    rng = np.random.default_rng(0)
    for place in range(n_windows):
        truth = np.eye(3)[rng.integers(3, size=50)]
        rows = np.exp((place < n_windows - 1) * 3 * truth + rng.normal(size=(3, 50, 3)))
        np.save(f"day{place}.npy", rows / rows.sum(axis=2, keepdims=True))
    return [f"day{place}.npy" for place in range(n_windows)]


def test_batches_are_watched_and_the_page_is_written(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = save_stream(7)
    code, out, _ = run("monitor", *files, "--report", "stream.html")
    assert code == 0 and max(len(line) for line in out.splitlines()) <= 80
    assert "! window 6: members agree less" in out and "Wrote stream.html" in out
    assert "<svg" in (tmp_path / "stream.html").read_text(encoding="utf-8")


def test_json_has_all_of_it(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = save_stream(3)
    code, out, _ = run("monitor", *files[1:], "--reference", files[0], "--json")
    found = json.loads(out)
    assert code == 0 and [row["alarm"] for row in found["windows"]] == [False, False, True]
    assert len(found["members"]) == 9 and len(found["alarms"]) == 1


def test_labels_need_one_panel(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run("monitor", *save_stream(2), "--labels", "truth.npy")
    assert code == 2 and "--labels go with --window" in err


def test_windows_of_a_long_table_are_in_the_order_of_its_rows(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = ["date,question_id,judge_model,verdict"]
    for place in range(700):
        truth = rng.integers(2)
        for judge in range(4):
            is_right = rng.random() < (0.9 if place < 600 else 0.5)  # names sort q600 before q70
            rows.append(f"{place // 100},q{place},judge{judge},{'pass' if is_right == truth else 'fail'}")
    (tmp_path / "stream.csv").write_text("\n".join(rows) + "\n")
    code, out, _ = run("monitor", "stream.csv", "--window", "100", "--json")
    assert code == 0 and [row["alarm"] for row in json.loads(out)["windows"]] == [False] * 6 + [True]


def test_too_few_batches_are_told_in_flags(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run("monitor", *save_stream(1))
    assert code != 0 and "--reference" in err and "--window" in err and "reference=" not in err
