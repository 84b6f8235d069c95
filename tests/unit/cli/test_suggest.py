"""`consilience suggest`: a file to fill in, which grows."""

import csv
import json
from pathlib import Path

import numpy as np

import consilience as cs
from consilience.cli.suggest import _to_fill_in


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


def test_known_labels_come_before_the_items_to_label():
    predictions = cs.Predictions(
        [[[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]], [[0.8, 0.2], [0.7, 0.3], [0.1, 0.9]]],
        items=["a", "b", "c"],
        classes=["cat", "dog"],
    )
    known = {"c": "dog"}
    table = _to_fill_in(predictions, known, cs.suggest(predictions, known, n=1).to_table())
    assert table["item"][0] == "c" and table["item"][1] in ("a", "b")
    assert table["label"] == ["dog", None] and table["why"][0] is None
    assert table["probability"][1] == round(table["probability"][1], 4)
    assert _to_fill_in(predictions, None, cs.suggest(predictions, n=3).to_table())["label"] == [None] * 3
