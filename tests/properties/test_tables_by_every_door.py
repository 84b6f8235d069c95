"""Tables of all sorts of columns under all sorts of names: every door gives the same panel, or refuses."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import consilience as cs
from consilience.data.names import text_of

NAMES = {
    "item": ("id", "task", "question_id", "image", "text", "PassengerId", "sku", "url", "", "index", "doc"),
    "member": ("worker", "judge", "model", "annotator", "rater", "user_id", "llm"),
    "label": ("label", "verdict", "prediction", "answer", "vote", "category", "class", "score", "rating"),
    "other": ("gold", "confidence", "note", "time", "prob", "cost", "split", "y", "correct", "tags", "source"),
}
KINDS = {
    "ids": lambda n, rng: [f"q{place}" for place in rng.permutation(n)],
    "whole numbers": lambda n, rng: rng.permutation(np.arange(100, 100 + n)).tolist(),
    "a count": lambda n, _: list(range(n)),
    "labels": lambda n, rng: rng.choice(["cat", "dog", "owl"], n).tolist(),
    "small numbers": lambda n, rng: rng.integers(0, 3, n).tolist(),
    "shares": lambda n, rng: rng.random(n).round(3).tolist(),
    "measurements": lambda n, rng: (rng.normal(size=n) * 10).round(2).tolist(),
    "free text": lambda n, _: [f"some words {place} and more" for place in range(n)],
    "one value": lambda n, _: ["x"] * n,
    "items": lambda n, _: [f"q{place // 3}" for place in range(n)],
    "members": lambda n, _: [f"m{place % 3}" for place in range(n)],
}


def some_table(rng):
    n_rows = int(rng.choice([6, 12, 30]))
    columns = {}
    for _ in range(rng.integers(1, 6)):
        name = str(rng.choice(NAMES[str(rng.choice(list(NAMES)))]))
        columns[name] = KINDS[str(rng.choice(list(KINDS)))](n_rows, rng)
    if rng.random() < 0.3:
        shares = rng.dirichlet(np.ones(3), n_rows).round(4)
        shares[:, 2] = (1 - shares[:, :2].sum(axis=1)).round(4)
        columns |= {name: shares[:, place].tolist() for place, name in enumerate("abc")}
    return columns


def outcome(read, given):
    """The panel with its names as text, or None if it is refused; any other error is one."""
    try:
        panel = read(given)
    except cs.InvalidPredictions:
        return None
    names = [[text_of(name) for name in axis] for axis in (panel.items, panel.classes)]
    return [*names, panel.n_members, np.nan_to_num(panel.to_array(), nan=-1).round(9).tolist()]


@pytest.mark.parametrize("number", range(12))
def test_every_door_says_the_same(number, tmp_path):
    rng = np.random.default_rng(number)
    for _ in range(25):
        columns = some_table(rng)
        frame = pd.DataFrame(columns)
        records = frame.to_dict("records")
        frame.to_csv(tmp_path / "t.csv", index=False)
        frame.to_parquet(tmp_path / "t.parquet", index=False)
        (tmp_path / "t.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
        paths = [tmp_path / f"t.{suffix}" for suffix in ("csv", "parquet", "jsonl")]
        first, *others = [outcome(cs.read_predictions, path) for path in paths]
        others += [outcome(cs.Predictions.from_frame, given) for given in (frame, pl.DataFrame(columns), records)]
        assert all(other == first for other in others), columns
