"""`consilience evaluate`: labels that the fit was given do not count."""

import json

import numpy as np
import pytest

import consilience as cs


@pytest.mark.parametrize("suffix", ["npz", "csv", "jsonl", "parquet", "safetensors"])
def test_labels_that_the_fit_was_given_are_left_out(run, arrays, suffix):
    truth = np.load("truth.npy")
    np.save("known.npy", np.where(np.arange(200) < 50, truth, -1))
    code, out, _ = run(
        *("aggregate", *arrays, "--known", "known.npy", "--labels", "truth.npy", "-o", f"out.{suffix}", "--json")
    )
    assert code == 0
    fused = json.loads(out)["scores"]["Consensus"]
    code, out, _ = run("evaluate", f"out.{suffix}", "--labels", "truth.npy", "--json")
    found = json.loads(out)
    assert code == 0 and (found["n_items"], found["n_left_out"]) == (150, 50)
    assert found["accuracy"]["value"] == fused["accuracy"] and found["nll"]["value"] == pytest.approx(fused["nll"])
    code, out, _ = run("evaluate", f"out.{suffix}", "--labels", "truth.npy")
    assert code == 0 and "(150 labelled items)" in out and "Left out: 50 items whose labels the fit was given." in out


def test_labels_that_were_all_given(run, arrays):
    run("aggregate", *arrays, "--known", "truth.npy", "-o", "out.csv")
    code, _, err = run("evaluate", "out.csv", "--labels", "truth.npy")
    assert code == 2 and "truth.npy must know labels that the fit of out.csv was not given; it knows none" in err


def test_a_file_that_cannot_mark_known_labels_says_so(run, arrays):
    code, out, _ = run("aggregate", *arrays, "--known", "truth.npy", "-o", "out.npy")
    assert code == 0 and "out.npy cannot mark the known labels" in " ".join(out.split())
    assert "cannot mark" not in run("aggregate", *arrays, "-o", "out.npy")[1]


def test_names_that_an_array_cannot_hold(run, tmp_path):
    """Rows in an order that only the names tell were scored by labels in another order."""
    for name, order in (("a", (2, 0, 1)), ("b", (0, 1, 2))):
        rows = "".join(f"q{i},{[0.2, 0.3, 0.9][i]},{[0.8, 0.7, 0.1][i]},0\n" for i in order)
        (tmp_path / f"{name}.csv").write_text(f"item,1,2,3\n{rows}", encoding="utf-8")
    np.save(tmp_path / "truth.npy", [2, 2, 1])
    (tmp_path / "truth.csv").write_text("item,label\nq0,2\nq1,2\nq2,1\n", encoding="utf-8")
    code, out, _ = run("aggregate", "a.csv", "b.csv", "-o", "out.npy", "--method", "average")
    assert code == 0 and "out.npy cannot hold names. Its rows are the items ['q2'," in " ".join(out.split())
    code, out, _ = run("aggregate", "a.csv", "b.csv", "-o", "out.safetensors", "--method", "average")
    assert code == 0 and "cannot hold names" not in out
    code, _, err = run("evaluate", "out.safetensors", "--labels", "truth.npy")
    assert code == 2 and "labels must name their items" in " ".join(err.split())
    code, out, _ = run("evaluate", "out.safetensors", "--labels", "truth.csv", "--json")
    assert code == 0 and json.loads(out)["accuracy"]["value"] == 1


def test_classes_and_items_without_names_may_be_named(run, arrays, tmp_path):
    run("aggregate", *arrays, "-o", "out.npy")
    truth = np.load("truth.npy")
    names = [("ant", "bee", "cat")[label] for label in truth]
    rows = "".join(f"i{place},{name}\n" for place, name in reversed(list(enumerate(names))))
    (tmp_path / "truth.csv").write_text(f"item,label\n{rows}", encoding="utf-8")
    (tmp_path / "items.txt").write_text("".join(f"i{place}\n" for place in range(200)), encoding="utf-8")
    words = ("evaluate", "out.npy", "--labels", "truth.csv", "--classes", "ant,bee,cat", "--items", "items.txt")
    code, out, err = run(*words, "--json")
    assert code == 0, err
    assert json.loads(out)["accuracy"]["value"] == cs.metrics.accuracy(np.load("out.npy"), truth)


def test_without_known_labels_every_item_counts(run, arrays):
    run("aggregate", *arrays, "-o", "out.csv")
    code, out, _ = run("evaluate", "out.csv", "--labels", "truth.npy", "--json")
    found = json.loads(out)
    assert code == 0 and (found["n_items"], found["n_left_out"]) == (200, 0)
    posterior = cs.Consensus().fit(cs.Predictions([np.load(name) for name in arrays])).posterior_
    assert found["accuracy"]["value"] == cs.metrics.accuracy(posterior, np.load("truth.npy"))


def test_ratings_have_scores_of_their_own(run, tmp_path):
    rows = [f"{item},{judge},{1 + (item + judge // 2) % 5}\n" for item in range(30) for judge in range(3)]
    (tmp_path / "votes.csv").write_text("item,judge,label\n" + "".join(rows), encoding="utf-8")
    (tmp_path / "truth.csv").write_text(
        "item,label\n" + "".join(f"{item},{1 + item % 5}\n" for item in range(30)), encoding="utf-8"
    )
    code, out, err = run("aggregate", "votes.csv", "-o", "out.csv", "--labels", "truth.csv", "--json")
    assert code == 0 and "mae" not in json.loads(out)["scores"]["Consensus"]
    assert "say --ordered" in " ".join(run("aggregate", "votes.csv")[2].split())
    command = ("aggregate", "votes.csv", "--ordered", "-o", "out.csv", "--labels", "truth.csv")
    code, out, err = run(*command, "--json")
    summary = json.loads(out)
    assert code == 0 and summary["scores"]["Consensus"]["mae"] == 0 and "--ordered" not in err
    assert summary["agreement"]["krippendorff_ordinal_alpha"]["value"] > 0
    code, out, err = run(*command)
    assert code == 0 and "quadratic kappa" in out and "--ordered" not in err
    for suffix in ("npz", "parquet", "jsonl", "csv"):  # whatever has the columns of ratings beside the posterior
        assert run("aggregate", "votes.csv", "--ordered", "-o", f"out.{suffix}")[0] == 0
        code, out, _ = run("evaluate", f"out.{suffix}", "--labels", "truth.csv", "--ordered", "--json")
        assert code == 0 and json.loads(out)["mae"]["value"] == 0
    assert "expected_rating" in (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[0]
    code, out, _ = run("evaluate", "out.csv", "--labels", "truth.csv", "--ordered", "--json")
    assert code == 0 and json.loads(out)["mae"]["value"] == 0 and json.loads(out)["quadratic kappa"]["value"] == 1
    assert "mae" not in json.loads(run("evaluate", "out.csv", "--labels", "truth.csv", "--json")[1])


def test_words_that_have_no_order_are_refused(run, tmp_path):
    words = ["bad", "good", "fair"]
    rows = "".join(f"{item},{judge},{words[item % 3]}\n" for item in range(6) for judge in range(3))
    (tmp_path / "votes.csv").write_text(f"item,judge,label\n{rows}", encoding="utf-8")
    code, _, err = run("aggregate", "votes.csv", "--ordered")
    assert code == 2 and "ordered" in err and "classes" in err and "'bad'" in err
    assert run("aggregate", "votes.csv", "--ordered", "--classes", "bad,fair,good")[0] == 0
