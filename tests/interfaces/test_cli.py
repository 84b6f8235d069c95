"""The command line: what it prints, what it writes, and how it fails."""

import csv
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
    assert out.index("good") < out.index("fair") < out.index("poor")  # best first
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
    found = cs.evaluate_labels(cs.Predictions(fitted_data()), np.load("known.npy"), n_folds=5)
    assert " ".join(found.sentence().split()) in " ".join(out.split())
    assert found.sentence().startswith("30 labels change accuracy by ")
    summary = json.loads(run("aggregate", *arrays, "--known", "known.npy", "--json")[1])
    assert summary["labels"]["before"] == pytest.approx(found.before)
    assert "labels" not in json.loads(run("aggregate", *arrays, "--json")[1])


def rows_of(path):
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def fill_in(path, truth):
    """Somebody labels all items of a file but the last; the items labelled."""
    rows = rows_of(path)
    for row in rows[:-1]:
        row["label"] = truth[int(row["item"])]
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return [int(row["item"]) for row in rows[:-1]]


def test_suggestions_are_filled_in_and_given_back(run, arrays):
    truth = np.load("truth.npy")
    code, out, _ = run("suggest", *arrays, "-n", 12, "-o", "labels.csv")
    assert code == 0 and "Label these 12 first" in out and "members disagree" in " ".join(out.split())
    assert list(rows_of("labels.csv")[0]) == ["item", "answer", "probability", "why", "label"]
    known = fill_in("labels.csv", truth)
    code, out, _ = run("suggest", *arrays, "-n", 5, "--known", "labels.csv", "-o", "labels.csv", "--json")
    suggested = [row["item"] for row in json.loads(out)["suggestions"]]
    assert code == 0 and len(suggested) == 5 and not set(suggested) & set(known)
    written = rows_of("labels.csv")
    assert {int(r["item"]): int(r["label"]) for r in written if r["label"]} == {item: truth[item] for item in known}
    assert [int(row["item"]) for row in written if not row["label"]] == suggested
    run("aggregate", *arrays, "--known", "labels.csv", "-o", "out.npy")
    np.testing.assert_array_equal(np.load("out.npy")[known].argmax(axis=1), truth[known])


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


def test_nothing_is_written_where_labels_are_wrong(run, arrays):
    Path("bad.csv").write_text("item,label\n0,elephant\n", encoding="utf-8")
    code, _, err = run("aggregate", *arrays, "-o", "out.npz", "--save", "model.npz", "--labels", "bad.csv")
    assert code == 2 and "elephant" in err and not Path("out.npz").exists() and not Path("model.npz").exists()
    code, _, err = run("aggregate", *arrays, "--model", "model.npz", "-m", "bcc")
    assert code == 2 and "do not go with it" in err


def test_labels_of_tables_need_names(run, tmp_path):
    """Items of long tables are sorted by name, so that labels in the order of the file would be another item's."""
    lines = "".join(f"t{i},w{w},{'yes' if i % 2 else 'no'}\n" for i in range(12) for w in range(3))
    (tmp_path / "crowd.csv").write_text(f"task,worker,label\n{lines}", encoding="utf-8")
    (tmp_path / "gold.csv").write_text(
        "gold\n" + "".join("yes\n" if i % 2 else "no\n" for i in range(12)), encoding="utf-8"
    )
    code, _, err = run("aggregate", "crowd.csv", "--labels", "gold.csv")
    assert code == 2 and "must have a column of items beside the labels" in " ".join(err.split())
    named = "task,gold\n" + "".join(f"t{i},{'yes' if i % 2 else 'no'}\n" for i in range(12))
    (tmp_path / "gold.csv").write_text(named, encoding="utf-8")
    code, out, _ = run("aggregate", "crowd.csv", "--labels", "gold.csv", "--json")
    assert code == 0 and json.loads(out)["scores"]["Average"]["accuracy"] == 1


def test_compare_fits_a_narrow_screen(run, arrays):
    code, out, _ = run("compare", *arrays, "--labels", "truth.npy")
    assert code == 0 and "…" not in out and max(len(line) for line in out.splitlines()) <= 80


def test_export_writes_what_a_server_runs(run, arrays):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    run("aggregate", *arrays, "--save", "model.npz")
    code, out, _ = run("export", "model.npz", "-o", "model.onnx")
    assert code == 0 and "Wrote model.onnx" in out
    block = np.stack(fitted_data()).astype(np.float32)
    (posterior,) = runtime.InferenceSession("model.onnx").run(["posterior"], {"predictions": block})
    np.testing.assert_allclose(posterior, cs.load("model.npz").predict_proba(block), atol=1e-5)


def test_reports_are_written_by_two_commands(run, arrays):
    code, out, _ = run("report", *arrays, "-o", "page.html", "--labels", "truth.npy")
    assert code == 0 and "Wrote page.html" in out
    assert Path("page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert run("aggregate", *arrays, "--report", "again.html", "--labels", "truth.npy")[0] == 0
    assert Path("again.html").stat().st_size == pytest.approx(Path("page.html").stat().st_size, rel=0.01)


def test_options_reach_the_method(run, arrays):
    options = ("--option", "max_iter=3", "--option", 'averaging={"0": 0.5}')
    code, out, _ = run("aggregate", *arrays, "-m", "soft-dawid-skene", *options, "--json")
    assert code == 0 and json.loads(out)["iterations"] == 3
    run("aggregate", *arrays, "--option", "weight=0.1", "-o", "out.npy")
    np.testing.assert_array_equal(np.load("out.npy"), cs.Consensus(weight=0.1).fit(fitted_data()).posterior_)
    code, _, err = run("aggregate", *arrays, "--option", "nope=3")
    assert code == 2 and "--option must be NAME=VALUE with one of chunk_size, evidence" in " ".join(err.split())


def test_people_and_names(run, tmp_path):
    (tmp_path / "crowd.csv").write_text(
        "task,worker,label\n"
        + "".join(f"t{i},w{w},{'yes' if (i + (w == 2)) % 2 else 'no'}\n" for i in range(30) for w in range(3)),
        encoding="utf-8",
    )
    code, out, _ = run("aggregate", "crowd.csv", "-m", "dawid-skene", "-o", "out.csv")
    assert code == 0 and "w0" in out
    lines = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "item,label,no,yes" and lines[1].startswith("t0,no,")
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
            ["aggregate", "truth.npy", "good.npy", "--labels", "short.npy"],
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


def test_usage_errors_and_help(run):
    assert run("aggregate")[0] == 2
    code, out, _ = run("--help")
    assert code == 0 and all(name in out for name in ("aggregate", "compare", "evaluate", "explain", "report", "demo"))
    code, out, _ = run("--version")
    assert out.strip() == f"consilience {cs.__version__}"


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


def test_labels_that_were_given_are_not_scored(run, tmp_path):
    """Their answers are the labels themselves, right or wrong."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=120)
    np.save(tmp_path / "members.npy", rng.dirichlet(np.ones(3), size=(3, 120)))
    np.save(tmp_path / "truth.npy", truth)
    np.save(tmp_path / "known.npy", np.where(np.arange(120) < 60, truth, -1))
    words = ["--labels", "truth.npy", "--known", "known.npy", "--method", "dawid-skene", "--json"]
    code, out, _ = run("aggregate", "members.npy", *words)
    summary = json.loads(out)
    assert code == 0
    assert summary["scores"]["DawidSkene"]["accuracy"] < 0.6
    assert min(row["item"] for row in summary["changed"]["surest"]) >= 60


def test_what_a_fit_warns_of_is_a_sentence(run, arrays, tmp_path):
    np.save(tmp_path / "ones.npy", np.where(np.arange(N_ITEMS) < 10, 1, -1))
    code, _, err = run("aggregate", *arrays, "--known", "ones.npy")
    assert code == 0 and "UserWarning" not in err
    assert "! labels teach nothing of other items where all are of one class; all 10 are 1" in " ".join(err.split())
