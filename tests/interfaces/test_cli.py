"""The command line: what it prints, what it writes, and how it fails."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import consilience as cs

N_ITEMS = 200


def test_aggregate_says_whom_to_trust(run, arrays):
    code, out, err = run("aggregate", *arrays, "--labels", "truth.npy")
    assert code == 0
    rows = out[out.index("Members") :]
    assert rows.index("good") < rows.index("fair") < rows.index("poor")  # best first
    assert "answered differently from plain averaging" in out and "Scored on the labels" in out
    assert "good.npy: NumPy array, probabilities (items, classes)" in " ".join(err.split())


def test_aggregate_for_machines(run, arrays):
    code, out, err = run("aggregate", *arrays, "--json", "-o", "out.npz", "--labels", "truth.npy")
    assert code == 0 and err == ""
    summary = json.loads(out)
    fitted = cs.Consensus().fit({name[:-4]: np.load(name) for name in arrays})
    with np.load("out.npz") as written:
        np.testing.assert_array_equal(written["posterior"], fitted.posterior_)
        assert written["members"].tolist() == ["good", "fair", "poor"]
    truth = np.load("truth.npy")
    assert summary["scores"]["Consensus"]["accuracy"] == cs.metrics.accuracy(fitted.posterior_, truth)
    assert (
        summary["changed"]["count"]
        == (fitted.posterior_.argmax(1) != cs.Average().fit_predict_proba(fitted_data()).argmax(1)).sum()
    )
    assert summary["written"] == ["out.npz"]


def listed():
    return sorted(path.name for path in Path().iterdir())


def fitted_data():
    return [np.load(f"{name}.npy") for name in ("good", "fair", "poor")]


def test_labels_for_scoring_do_not_change_the_answer(run, arrays):
    run("aggregate", *arrays, "-o", "without.npy")
    run("aggregate", *arrays, "-o", "with.npy", "--labels", "truth.npy")
    np.testing.assert_array_equal(np.load("without.npy"), np.load("with.npy"))


def test_known_labels_do(run, arrays):
    run("aggregate", *arrays, "-m", "dawid-skene", "-o", "out.npy", "--known", "truth.npy")
    np.testing.assert_array_equal(np.load("out.npy").argmax(axis=1), np.load("truth.npy"))


def test_what_known_labels_bought_is_told(run, arrays):
    np.save("known.npy", np.where(np.arange(N_ITEMS) < 30, np.load("truth.npy"), -1))
    code, out, _ = run("aggregate", *arrays, "--known", "known.npy")
    assert code == 0
    found = cs.value_of_labels(cs.Predictions(fitted_data()), np.load("known.npy"), n_folds=5)
    assert " ".join(found.sentence().split()) in " ".join(out.split())
    assert found.sentence().startswith("30 labels may have changed accuracy by chance alone, +0.0 points (-")
    summary = json.loads(run("aggregate", *arrays, "--known", "known.npy", "--json")[1])
    assert summary["labels"]["before"] == pytest.approx(found.before)
    assert "labels" not in json.loads(run("aggregate", *arrays, "--json")[1])


def test_a_saved_model_answers_new_items(run, arrays):
    run("aggregate", *arrays, "--save", "model.npz", "-m", "bcc")
    np.save("new.npy", np.stack(fitted_data())[:, :7])
    code, out, _ = run("aggregate", "new.npy", "--model", "model.npz", "-o", "out.npy", "--json")
    assert code == 0 and json.loads(out)["n_items"] == 7
    np.testing.assert_allclose(np.load("out.npy"), cs.load("model.npz").predict_proba(np.load("new.npy")))


def test_a_model_may_know_its_classes_in_another_order(run, tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=90)
    names = np.array(["cat", "dog", "fox"])
    for member in ("a", "b", "c"):
        rows = rng.dirichlet(np.ones(3), size=90) + 2 * np.eye(3)[truth]
        rows /= rows.sum(axis=1, keepdims=True)
        for prefix, order in (("", [0, 1, 2]), ("new-", [2, 0, 1])):
            (tmp_path / f"{prefix or 'old-'}{member}").mkdir()
            lines = [",".join(["item", *names[order]])]
            lines += [",".join([f"i{i}", *(f"{value:.17g}" for value in rows[i, order])]) for i in range(90)]
            (tmp_path / f"{prefix or 'old-'}{member}" / f"{member}.csv").write_text("\n".join(lines), encoding="utf-8")
    gold = "\n".join(["item,label", *(f"i{i},{names[truth[i]]}" for i in range(90))])
    (tmp_path / "gold.csv").write_text(gold, encoding="utf-8")
    old, new = ([f"{kind}-{m}/{m}.csv" for m in "abc"] for kind in ("old", "new"))
    first = json.loads(run("aggregate", *old, "--save", "model.npz", "--labels", "gold.csv", "--json")[1])
    again = json.loads(run("aggregate", *new, "--model", "model.npz", "--labels", "gold.csv", "--json")[1])
    assert again["scores"]["Average"] == pytest.approx(first["scores"]["Average"])
    assert again["members"][0]["reliable on"] == first["members"][0]["reliable on"]


def test_reports_are_written_by_two_commands(run, arrays):
    code, out, _ = run("report", *arrays, "-o", "page.html", "--labels", "truth.npy")
    assert code == 0 and "Wrote page.html" in out
    assert Path("page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert run("aggregate", *arrays, "--report", "again.html", "--labels", "truth.npy")[0] == 0
    assert Path("again.html").stat().st_size == pytest.approx(Path("page.html").stat().st_size, rel=0.01)


def test_people_and_names(run, tmp_path):
    (tmp_path / "crowd.csv").write_text(
        "task,worker,label\n"
        + "".join(f"t{i},w{w},{'yes' if (i + (w == 2)) % 2 else 'no'}\n" for i in range(30) for w in range(3)),
        encoding="utf-8",
    )
    code, out, _ = run("aggregate", "crowd.csv", "-m", "dawid-skene", "-o", "out.csv")
    assert code == 0 and "w0" in out
    lines = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "item,answer,confidence,n_answers,agreement,review,no,yes" and lines[1].startswith("t0,no,")
    code, out, _ = run("explain", "crowd.csv", "--item", "t3", "-m", "dawid-skene")
    assert code == 0 and "item 't3': yes" in out
    code, _, err = run("explain", "crowd.csv", "--item", "t99")
    assert code == 2 and "--item must be one of t0, t1" in err


def test_compare_and_evaluate(run, arrays):
    code, out, _ = run("compare", *arrays, "--labels", "truth.npy", "--json")
    methods = {row["method"]: row for row in json.loads(out)}
    assert code == 0 and "DawidSkene" in methods
    run("aggregate", *arrays, "-m", "dawid-skene", "-o", "out.npz")
    code, out, _ = run("evaluate", "out.npz", "--labels", "truth.npy", "--json")
    scores = json.loads(out)
    assert code == 0 and scores["accuracy"]["value"] == methods["DawidSkene"]["accuracy"]
    assert scores["accuracy"]["low"] < scores["accuracy"]["value"] < scores["accuracy"]["high"]
    assert run("compare", *arrays)[0] == 0 and run("evaluate", "out.npz", "--labels", "truth.npy")[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["aggregate", "absent.npy"], "absent.npy: No such file or directory"),
        (["aggregate", "good.npy", "-m", "magic"], "--method must be one of consensus, soft-dawid-skene"),
        (["aggregate", "good.npy", "-o", "out.xlsx"], "the output must end in one of .npz"),
        (["aggregate", "good.npy", "-o", "no/out.npz"], "the output's directory must exist"),
        (["aggregate", "good.npy", "--report", "page.pdf"], "the output must end in one of .html"),
        (
            ["aggregate", "fair.npy", "good.npy", "--labels", "short.npy"],
            "labels must have one entry for each of the 200",
        ),
        (["evaluate", "good.npy", "--labels", "unknown.npy"], "must know the label of at least one item"),
        (["export", "good.npy", "-o", "x.onnx"], "is not a file that consilience saved"),
    ],
)
def test_bad_input_ends_in_one_sentence(run, arrays, words, message):
    np.save("short.npy", np.zeros(3, dtype=int))
    np.save("unknown.npy", np.full(N_ITEMS, -1))
    before = listed()
    code, out, err = run(*words)
    assert code == 2
    assert message in " ".join(err.split()) and "Traceback" not in err
    assert listed() == before


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
def test_an_interrupted_command_leaves_nothing(tmp_path, arrays):
    big = np.random.default_rng(0).dirichlet(np.ones(50), size=(3, 20_000)).astype(np.float32)
    np.save(tmp_path / "big.npy", big)
    words = [
        sys.executable,
        "-m",
        "consilience",
        "aggregate",
        "big.npy",
        "-o",
        "out.npz",
        "--method",
        "soft-dawid-skene",
        "--option",
        "max_iter=100000",
    ]
    process = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE)
    before = sorted(path.name for path in tmp_path.iterdir())
    assert process.stderr.readline().startswith(b"big.npy: NumPy array")  # it has begun
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130 and b"Traceback" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_labels_saved_with_an_index_are_matched_by_their_column_of_items(run, arrays):
    truth, order = np.load("truth.npy"), np.random.default_rng(0).permutation(N_ITEMS)
    hard = [rows.argmax(axis=1) for rows in fitted_data()]
    rows = [f"{name},{','.join(str(own[name]) for own in hard)}" for name in order]
    Path("wide.csv").write_text("\n".join(["question_id,good,fair,poor", *rows]) + "\n", encoding="utf-8")
    asked = order[::-1][:100]
    rows = [f"{row},{name},{truth[name]}" for row, name in enumerate(asked)]
    Path("gold.csv").write_text("\n".join([",qid,label", *rows]) + "\n", encoding="utf-8")
    code, out, err = run("compare", "wide.csv", "--labels", "gold.csv", "--json")
    good = next(row for row in json.loads(out) if row["member"] == "good")
    assert code == 0 and err == ""
    assert good["accuracy"] == pytest.approx((hard[0] == truth)[asked].mean())
    err = run("compare", "wide.csv", "--labels", "gold.csv")[2]
    assert "gold.csv: CSV table, 100 labels in 'label', items in 'qid'" in " ".join(err.split())


def test_a_pipeline_is_stopped_by_the_exit_code(run, arrays):
    assert run("aggregate", *arrays, "-o", "fused.jsonl")[0] == 0
    words = [sys.executable, "-m", "consilience", "evaluate", "fused.jsonl", "--labels", "truth.npy", "--json"]
    env = {**os.environ, "PYTHONPATH": str(Path(cs.__file__).parents[1])}
    codes = []
    for bound in ("accuracy=.5", "accuracy=.9999", "luck=1"):
        done = subprocess.run([*words, "--fail-under", bound], env=env, capture_output=True, text=True, check=False)
        codes.append(done.returncode)
        assert bool(done.stdout) == (done.returncode < 2)
        if done.stdout:
            assert json.loads(done.stdout)["gate"]["passed"] == (done.returncode == 0)
    assert codes == [0, 1, 2]


def test_help_lists_the_ways_back(run):
    text = " ".join(run("aggregate", "--help")[1].split())
    assert all(word in text for word in ("--append", "--to-question", "--to-field", "label-studio", "prodigy"))
    text = " ".join(run("evaluate", "--help")[1].split())
    assert all(word in text for word in ("--fail-under", "--fail-over", "--at-confidence"))
    assert "agreement" in run("--help")[1]
