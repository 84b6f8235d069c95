"""Answers back: the table that was read with further columns, and the records that tools import."""

import csv
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.data.tables.told import Told
from consilience.files.back import facts_of

ASKED = ("--to-question", "q")
NEW = ["answer", "confidence", "n_answers", "agreement", "review"]


def long_rows(n_items=40):
    """A row for each answer, with a text of each item and a time of each answer."""
    rng = np.random.default_rng(0)
    rows = []
    for item in range(n_items):
        truth = "pos" if rng.random() < 0.5 else "neg"
        for member in ("ann", "bob", "cy"):
            said = truth if rng.random() < 0.8 else "neg" if truth == "pos" else "pos"
            text = f'=a "long",\nreview {item}'
            rows.append(
                {"id": f"q{item:03}", "text": text, "worker": member, "label": said, "seconds": f"{rng.random()}"}
            )
    return rows


def write_csv(path, rows, delimiter=",", **more):
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter, **more)
        writer.writeheader()
        writer.writerows(rows)


def read_csv(path, delimiter=","):
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


WRITERS = {
    ".csv": write_csv,
    ".tsv": lambda path, rows: write_csv(path, rows, "\t"),
    ".parquet": lambda path, rows: pl.DataFrame(rows).write_parquet(path),
    ".jsonl": lambda path, rows: Path(path).write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8"),
    ".json": lambda path, rows: Path(path).write_text(json.dumps(rows), encoding="utf-8"),
}
READERS = {
    ".csv": read_csv,
    ".tsv": lambda path: read_csv(path, "\t"),
    ".parquet": lambda path: pl.read_parquet(path).to_dicts(),
    ".jsonl": lambda path: [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()],
    ".json": lambda path: json.loads(Path(path).read_text(encoding="utf-8")),
}


def answers_of(path, **told):
    return {row["item"]: row for row in cs.answers(cs.read_predictions(path, **told)).rows()}


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_long_table_gets_the_answer_in_every_row(run, tmp_path, suffix):
    rows = long_rows()
    WRITERS[suffix](f"votes{suffix}", rows)
    code, out, err = run("aggregate", f"votes{suffix}", "--append", "-o", f"out{suffix}")
    assert code == 0, err
    assert f"Wrote out{suffix}" in out
    found, expected = READERS[suffix](f"out{suffix}"), answers_of(f"votes{suffix}")
    assert [{name: row[name] for name in rows[0]} for row in found] == rows  # every other cell, and their order
    for row in found:
        assert list(row) == [*rows[0], *NEW]
        own = expected[row["id"]]
        assert (row["answer"], int(row["n_answers"]), row["review"]) == (own["answer"], 3, own["review"])
        assert float(row["confidence"]) == own["confidence"] and float(row["agreement"]) == own["agreement"]
    assert {row["review"] for row in found} > {""}


def test_wide_tables_with_and_without_names(run, tmp_path):
    rng = np.random.default_rng(0)
    rows = [{"ann": a, "bob": b, "cy": c} for a, b, c in rng.choice(["x", "y"], size=(40, 3)).tolist()]
    write_csv("plain.csv", rows)
    write_csv("named.csv", [{"id": 39 - place, **row} for place, row in enumerate(rows)])
    for name in ("plain", "named"):
        code, _, err = run("aggregate", f"{name}.csv", "--append", "-o", f"{name}-out.csv")
        assert code == 0, err
    plain, named = read_csv("plain-out.csv"), read_csv("named-out.csv")
    assert [row["answer"] for row in plain] == [row["answer"] for row in named]
    assert [row["answer"] for row in plain] == cs.answers(cs.read_predictions("plain.csv"))["answer"]


def test_items_of_two_columns(run, tmp_path):
    rows = [{"question": row["id"][:3], "model": row["id"][3:], **row} for row in long_rows()]
    write_csv("votes.csv", [{key: row[key] for key in ("question", "model", "worker", "label")} for row in rows])
    words = ("--item-column", "question+model", "--member-column", "worker", "--label-column", "label")
    assert run("aggregate", "votes.csv", *words, "--append", "-o", "out.csv")[0] == 0
    expected = answers_of("votes.csv", item="question+model", member="worker", label="label")
    for row in read_csv("out.csv"):
        assert row["answer"] == expected[f"{row['question']}/{row['model']}"]["answer"]


def test_rows_that_end_early_and_odd_text(run, tmp_path):
    text = "\ufefftask,worker,label,note\r\n" + "".join(
        f"t{i},{w},{'yes' if (i + (w == 'c')) % 2 else 'no'}{',' if i % 2 else ',=n' if i % 3 else ''}\r\n"
        for i in range(20)
        for w in "abc"
    )
    Path("votes.csv").write_text(text, encoding="utf-8", newline="")
    code, _, err = run("aggregate", "votes.csv", "--append", "-o", "out.csv")
    assert code == 0, err
    found = read_csv("out.csv")
    assert {row["answer"] for row in found} == {"yes", "no"} and {row["n_answers"] for row in found} == {"3"}
    assert {row["note"] for row in found} == {"", "=n"}


def test_a_saved_model_knows_classes_that_the_table_lacks(run, tmp_path):
    write_csv("votes.csv", long_rows())
    assert run("aggregate", "votes.csv", "--save", "model.npz")[0] == 0
    today = [row | {"label": "pos", "worker": row["worker"]} for row in long_rows(4)]
    write_csv("today.csv", today)
    code, _, err = run("aggregate", "today.csv", "--model", "model.npz", "--append", "-o", "out.csv")
    assert code == 0, err
    assert {row["answer"] for row in read_csv("out.csv")} == {"pos"}


def test_names_that_are_taken(run, tmp_path):
    write_csv(
        "votes.csv", [{("answer" if key == "label" else key): cell for key, cell in row.items()} for row in long_rows()]
    )
    assert run("aggregate", "votes.csv", "--append", "-o", "out.csv")[0] == 0
    first = read_csv("out.csv")
    assert list(first[0])[-5:] == [f"fused_{name}" for name in NEW]
    assert [row["answer"] for row in first] == [row["answer"] for row in read_csv("votes.csv")]
    words = ("--item-column", "id", "--member-column", "worker", "--label-column", "answer")
    code, _, err = run("aggregate", "out.csv", *words, "--append", "-o", "again.csv")
    assert code == 2 and "'fused_agreement' already" in err and not Path("again.csv").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("votes.csv", "--append"), ("--append", "-o")),
        (("votes.csv", "--to", "prodigy"), ("--to", "-o")),
        (("votes.csv", "votes2.csv", "--append", "-o", "out.csv"), ("--append", "one table")),
        (("votes.csv", "--append", "-o", "out.parquet"), (".csv", "out.parquet")),
        (("a.npy", "--append", "-o", "out.csv"), ("--append", "a.npy")),
        (("tool.jsonl", "--append", "-o", "out.jsonl"), ("--append", "--to")),
        (("votes.csv", "--append", "--to", "argilla", "-o", "out.json"), ("--append", "--to", "both")),
        (("votes.csv", "--to", "doccano", "-o", "out.json"), ("--to", "label-studio", "'doccano'")),
        (("votes.csv", "--to", "argilla", "-o", "out.csv"), (".json", "out.csv")),
        (("votes.csv", "--to", "argilla", "-o", "out.json"), ("--to-question",)),
        (("votes.csv", "--to", "argilla", *ASKED, "-o", "out.json"), ("--to-field",)),
        (
            ("votes.csv", "--to", "argilla", "--to-question", "q", "--to-field", "txt", "-o", "out.json"),
            ("text", "'txt'"),
        ),
        (("votes.csv", "--to", "label-studio", *ASKED, "-o", "out.json"), ("--to-field",)),
        (("columns.json", "--append", "-o", "out.json"), ("list of records",)),
    ],
)
def test_what_cannot_be_written_is_refused_and_nothing_is(run, tmp_path, words, told):
    write_csv("votes.csv", long_rows())
    write_csv("votes2.csv", long_rows())
    np.save("a.npy", np.random.default_rng(0).dirichlet(np.ones(2), size=(3, 20)))
    task = {"_input_hash": 1, "_task_hash": 2, "accept": ["a"], "answer": "accept", "text": "t"}
    tasks = [
        task | {"_annotator_id": who, "_input_hash": i, "accept": ["ab"[i % 2]]} for i in range(8) for who in "xyz"
    ]
    Path("tool.jsonl").write_text("".join(f"{json.dumps(own)}\n" for own in tasks), encoding="utf-8")
    columns = {key: [row[key] for row in long_rows()] for key in ("id", "worker", "label")}
    Path("columns.json").write_text(json.dumps(columns), encoding="utf-8")
    before = sorted(path.name for path in Path().iterdir())
    code, _, err = run("aggregate", *words)
    assert code == 2 and all(part in " ".join(err.split()) for part in told), err
    assert sorted(path.name for path in Path().iterdir()) == before


def test_what_a_table_says_of_items_and_not_of_answers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv("votes.csv", long_rows())
    items = cs.read_predictions("votes.csv").items
    facts = facts_of(["votes.csv"], Told(), items)
    assert facts.key == "id" and facts.tool is None
    assert facts.fields == [{"text": f'=a "long",\nreview {place}'} for place in range(40)]


def test_a_queue_has_only_items_to_review_the_least_sure_first(run, tmp_path):
    write_csv("votes.csv", long_rows())
    assert run("aggregate", "votes.csv", "--to", "prodigy", "-o", "queue.jsonl")[0] == 0
    tasks, expected = READERS[".jsonl"]("queue.jsonl"), answers_of("votes.csv")
    wanted = sorted((row for row in expected.values() if row["review"]), key=lambda row: row["confidence"])
    assert [task["meta"]["item"] for task in tasks] == [row["item"] for row in wanted] and wanted
    for task, row in zip(tasks, wanted, strict=True):
        assert task["accept"] == [row["answer"]] and task["meta"]["review"] == row["review"]
        assert task["text"] == f'=a "long",\nreview {int(row["item"][1:])}'
        assert [option["id"] for option in task["options"]] == ["neg", "pos"]


def test_arrays_have_items_by_name_alone(run, tmp_path):
    np.save("a.npy", np.random.default_rng(0).dirichlet(np.ones(2), size=(3, 20)))
    words = ("--to", "label-studio", "--to-question", "kind", "--to-field", "image")
    assert run("aggregate", "a.npy", *words, "-o", "out.json")[0] == 0
    tasks = READERS[".json"]("out.json")
    assert [task["data"] for task in tasks] == [{"item": place, "image": place} for place in range(20)]
    assert tasks[0]["predictions"][0]["result"][0]["to_name"] == "image"


def test_a_folder_is_made_and_never_mixed_with_other_files(run, tmp_path):
    write_csv("votes.csv", long_rows())
    assert run("aggregate", "votes.csv", "--to", "datasets", "-o", "folder")[0] == 0
    assert [path.name for path in Path("folder").iterdir()] == ["train.parquet"]
    assert run("aggregate", "votes.csv", "--to", "datasets", "-o", "folder")[0] == 0  # as other outputs are replaced
    frame = pl.read_parquet("folder/train.parquet")
    assert frame.columns == ["item", *NEW, "neg", "pos"] and frame["answer"].to_list() == [
        row["answer"] for row in answers_of("votes.csv").values()
    ]
    Path("folder/other.csv").write_text("a\n", encoding="utf-8")
    code, _, err = run("aggregate", "votes.csv", "--to", "datasets", "-o", "folder")
    assert code == 2 and "other.csv" in err
    assert run("aggregate", "votes.csv", "--to", "datasets", "-o", "votes.csv")[0] == 2
    code, _, err = run("aggregate", "votes.csv", "--to", "datasets", "-o", "no/folder")
    assert code == 2 and "directory must exist" in " ".join(err.split())


def test_a_folder_that_cannot_be_filled_is_removed(run, tmp_path, monkeypatch):
    write_csv("votes.csv", long_rows())

    def full(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    assert run("aggregate", "votes.csv", "--to", "datasets", "-o", "folder")[0] == 2
    assert not Path("folder").exists()
