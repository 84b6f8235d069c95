"""The layouts in which other programs leave predictions; `tests/interfaces/test_file_layouts.py` reads them all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MEMBERS, CLASSES, N_ITEMS = ["vit", "swin", "resnet", "convnext"], ["cat", "dog", "owl"], 30
ITEMS = [f"img_{place:02}.jpg" for place in range(N_ITEMS)]
RNG = np.random.default_rng(5)
TRUTH = RNG.integers(3, size=N_ITEMS)
LOGITS = RNG.normal(size=(4, N_ITEMS, 3)) + np.array([3, 2, 1.5, 1])[:, None, None] * np.eye(3)[TRUTH]
SOFT = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=2, keepdims=True)
VOTES = SOFT.argmax(axis=2)
IS_SAID = RNG.random(VOTES.shape) < 0.8
IS_SAID[0] = True
GAPS = np.where((RNG.random((4, N_ITEMS)) < 0.2)[:, :, None], np.nan, SOFT)
GAPS[0] = SOFT[0]
"""The panel: what four members say of thirty items, as probabilities (with and without gaps) and as votes."""


class Layout(NamedTuple):
    """A way to write the panel.

    `write` returns the files. If a flag is needed, `refused` is what the sentence says without it, among it the flag;
    `flags` makes it right. `expected` (items, classes) is the average of the panel; `named` are the axes with names.
    """

    made_by: str
    write: Callable[[Path], list[str]]
    expected: np.ndarray
    refused: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    named: tuple[str, ...] = ("items", "classes")
    tolerance: float = 1e-12


def average(panel=SOFT):
    return np.nanmean(panel, axis=0)


def votes(is_said=IS_SAID):
    return average(np.where(is_said[:, :, None], np.eye(3)[VOTES], np.nan))


def answers():
    """One row for each vote: item, member and label."""
    return [
        (ITEMS[i], MEMBERS[m], CLASSES[VOTES[m, i]])
        for i in range(N_ITEMS)
        for m in range(len(MEMBERS))
        if IS_SAID[m, i]
    ]


def frames(panel=SOFT):
    return {name: pd.DataFrame(rows, columns=CLASSES, index=ITEMS) for name, rows in zip(MEMBERS, panel, strict=True)}


def judge_records():
    """What a script that asks LLM judges leaves: ids, who judged, the verdict, a score and a rationale."""
    return [
        {
            "question_id": item,
            "judge_model": member,
            "verdict": label,
            "score": round(float(RNG.uniform(1, 10)), 1),
            "rationale": f"The answer shows {place} signs of a {label}, which the rubric asks for.",
        }
        for place, (item, member, label) in enumerate(answers())
    ]


# ---- arrays -----------------------------------------------------------------------------------------------


def one_array_each(folder, panel=SOFT, names=MEMBERS):
    for name, rows in zip(names, panel, strict=True):
        np.save(folder / f"{name}.npy", rows)
    return [str(folder / f"{name}.npy") for name in names]


def some_in_logits(folder):
    one_array_each(folder)
    np.save(folder / "swin.npy", LOGITS[1].astype(np.float32))
    np.save(folder / "resnet.npy", 100 * SOFT[2])
    return [str(folder / f"{name}.npy") for name in MEMBERS]


def positive_logits(folder):
    files = one_array_each(folder)
    np.save(files[1], LOGITS[1] + 20)
    return files


def whole_numbers(folder):
    """Of ten runs, how many said each class."""
    np.save(folder / "runs.npy", np.round(40 * SOFT).astype(int))
    return [str(folder / "runs.npy")]


def array_beside_table(folder):
    files = one_array_each(folder)
    frames()["vit"].rename_axis("filename").to_csv(folder / "vit.csv")
    return [str(folder / "vit.csv"), *files[1:]]


def names_beside(folder):
    files = array_beside_table(folder)
    (folder / "names.txt").write_text("\n".join(ITEMS) + "\n", encoding="utf-8")
    return files


CROSS_VALIDATED = [
    cross_val_predict(LogisticRegression(), features, np.array(CLASSES)[TRUTH], method="predict_proba", cv=3)
    for features in LOGITS
]


def cross_validated(folder):
    """What scikit-learn's `cross_val_predict(method="predict_proba")` gives, with its classes, in one archive."""
    rows = dict(zip(MEMBERS, CROSS_VALIDATED, strict=True))
    np.savez(folder / "oof.npz", **rows, classes=np.array(CLASSES), items=np.array(ITEMS))
    return [str(folder / "oof.npz")]


# ---- tables of pandas and polars --------------------------------------------------------------------------


def by_pandas(folder, panel=SOFT, **options):
    for name, frame in frames(panel).items():
        frame.to_csv(folder / f"{name}.csv", **options)
    return [str(folder / f"{name}.csv") for name in MEMBERS]


def with_file_names(folder):
    """As a script for inference leaves it: file name, best class and its probability, then one column per class."""
    for name, frame in frames().items():
        best = frame.assign(prediction=frame.idxmax(axis=1), confidence=frame.max(axis=1)).reset_index(names="filename")
        best[["filename", "prediction", "confidence", *CLASSES]].to_csv(folder / f"{name}.csv", index=False)
    return [str(folder / f"{name}.csv") for name in MEMBERS]


def logits_in_tables(folder):
    for name, rows in zip(MEMBERS, LOGITS, strict=True):
        pd.DataFrame(rows, columns=CLASSES).assign(image_id=ITEMS).to_csv(folder / f"{name}.csv", index=False)
    return [str(folder / f"{name}.csv") for name in MEMBERS]


def counted_index(folder):
    for name, rows in zip(MEMBERS, SOFT, strict=True):
        pd.DataFrame(rows).to_csv(folder / f"{name}.csv")
    return [str(folder / f"{name}.csv") for name in MEMBERS]


def spreadsheet(folder):
    """Per cent with one decimal, decimal commas, and empty rows where a member failed."""
    for name, frame in frames(GAPS).items():
        text = (100 * frame).map(lambda value: "" if np.isnan(value) else f"{value:.1f}".replace(".", ","))
        text.rename_axis("Image ID").to_csv(folder / f"{name}.tsv", sep="\t")
    return [str(folder / f"{name}.tsv") for name in MEMBERS]


def deep_header(folder):
    pd.concat(frames(), axis=1).to_csv(folder / "all.csv")
    return [str(folder / "all.csv")]


def by_polars(folder):
    import polars as pl

    rows = {"id": ITEMS} | {name: SOFT[place].tolist() for place, name in enumerate(MEMBERS)}
    pl.DataFrame(rows).write_parquet(folder / "lists.parquet")
    return [str(folder / "lists.parquet")]


def melted(folder):
    """`melt` in pandas: a row for each item, model and class."""
    frame = pd.concat(frames(), names=["model", "image"]).reset_index()
    frame.to_parquet(folder / "long.parquet")
    return [str(folder / "long.parquet")]


def wide_votes(folder):
    """A column for each annotator beside the gold label and the text, as a spreadsheet has them."""
    said = {
        n: [CLASSES[k] if s else None for k, s in zip(VOTES[m], IS_SAID[m], strict=True)] for m, n in enumerate(MEMBERS)
    }
    gold = {
        "gold": [CLASSES[k] for k in TRUTH],
        "text": [f"A sentence of its own, number {i}." for i in range(N_ITEMS)],
    }
    pd.DataFrame({"id": ITEMS} | gold | said).to_csv(folder / "wide.csv", index=False)
    return [str(folder / "wide.csv")]


def for_cleanlab(folder):
    """What cleanlab's `get_label_quality_multiannotator` takes: items × annotators, NaN where one did not answer."""
    rows = np.where(IS_SAID, VOTES, np.nan).T
    pd.DataFrame(rows, columns=[f"annotator_{place}" for place in range(4)]).to_csv(folder / "labels.csv")
    return [str(folder / "labels.csv")]


# ---- long tables ------------------------------------------------------------------------------------------


def for_crowd_kit(folder):
    pd.DataFrame(answers(), columns=["task", "worker", "label"]).to_csv(folder / "crowd.csv", index=False)
    return [str(folder / "crowd.csv")]


def with_spaces(folder):
    lines = [", ".join(row) for row in [("task", "worker", "label"), *answers()]]
    (folder / "crowd.csv").write_text("\n".join(lines), encoding="utf-8")
    return [str(folder / "crowd.csv")]


def toloka(folder):
    """As Toloka exports: the input, the output and the worker, with the state of the assignment."""
    rows = [
        {"INPUT:image": item, "OUTPUT:result": label, "ASSIGNMENT:worker_id": member, "ASSIGNMENT:status": "APPROVED"}
        for item, member, label in answers()
    ]
    pd.DataFrame(rows).to_csv(folder / "toloka.tsv", sep="\t", index=False)
    return [str(folder / "toloka.tsv")]


def judges(folder):
    pd.DataFrame(judge_records()).to_csv(folder / "judges.csv", index=False)
    return [str(folder / "judges.csv")]


def judges_by_line(folder):
    pd.DataFrame(judge_records()).to_json(folder / "judges.jsonl", orient="records", lines=True)
    return [str(folder / "judges.jsonl")]


def mt_bench(folder):
    """MT-bench: the judge beside the model that is judged; an item is a question, a model and a turn."""
    with (folder / "judgments.jsonl").open("w", encoding="utf-8") as file:
        for item, member, label in answers():
            number = ITEMS.index(item)
            record = {"question_id": 81 + number // 4, "model": f"m{number % 2}", "turn": 1 + number // 2 % 2}
            record |= {"judge": member, "score": CLASSES.index(label) + 1, "tstamp": 1700000000.5 + number}
            file.write(json.dumps(record) + "\n")
    return [str(folder / "judgments.jsonl")]


def alpaca_eval(folder):
    """AlpacaEval: a list of records in one JSON file, one for each instruction and annotator."""
    records = [
        {"instruction": f"Describe {item}.", "output_1": "…", "annotator": member, "preference": CLASSES.index(label)}
        for item, member, label in answers()
    ]
    (folder / "annotations.json").write_text(json.dumps(records), encoding="utf-8")
    return [str(folder / "annotations.json")]


def own_names(folder):
    pd.DataFrame(answers(), columns=["what", "who", "said"]).to_csv(folder / "answers.csv", index=False)
    return [str(folder / "answers.csv")]


def utf_16(folder):
    pd.DataFrame(answers(), columns=["task", "worker", "label"]).to_csv(
        folder / "crowd.csv", index=False, encoding="utf-16-le"
    )
    return [str(folder / "crowd.csv")]


# ---- Hugging Face -----------------------------------------------------------------------------------------


def pipeline_scores(rows):
    """What `pipeline("text-classification", top_k=None)` gives: for each text, classes from the best to the worst."""
    return [[{"label": CLASSES[k], "score": float(row[k])} for k in np.argsort(-row).tolist()] for row in rows]


def pipelines(folder):
    for name, rows in zip(MEMBERS, SOFT, strict=True):
        (folder / f"{name}.json").write_text(json.dumps(pipeline_scores(rows)), encoding="utf-8")
    return [str(folder / f"{name}.json") for name in MEMBERS]


def data_set(folder):
    """`Dataset.to_parquet`: a list of floats in single precision, and the best class as a number."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    places = [(i, m) for i in range(N_ITEMS) for m in range(4)]
    table = {
        "id": pa.array([ITEMS[i] for i, _ in places]),
        "model": pa.array([MEMBERS[m] for _, m in places]),
        "probs": pa.array([SOFT[m, i].tolist() for i, m in places], pa.list_(pa.float32())),
    }
    pq.write_table(pa.table(table), folder / "data.parquet")
    return [str(folder / "data.parquet")]


BY_NUMBER = ("items",)
LAYOUTS = {
    "arrays": Layout("NumPy", one_array_each, average(), named=()),
    "arrays with gaps": Layout("NumPy", lambda folder: one_array_each(folder, GAPS), average(GAPS), named=()),
    "logits and per cent beside": Layout("NumPy", some_in_logits, average(), named=(), tolerance=1e-6),
    "positive logits": Layout("NumPy", positive_logits, average(), ("Add :logits",), ("swin.npy:logits",), named=()),
    "counts": Layout(
        "NumPy",
        whole_numbers,
        average(np.round(40 * SOFT) / np.round(40 * SOFT).sum(axis=2, keepdims=True)),
        ("--normalize",),
        ("--normalize",),
        named=(),
    ),
    "array beside a table": Layout(
        "NumPy and pandas",
        names_beside,
        average(),
        ("--items",),
        ("--items", "names.txt", "--classes", "cat,dog,owl"),
    ),
    "cross-validation": Layout("scikit-learn", cross_validated, average(CROSS_VALIDATED)),
    "frames": Layout("pandas", by_pandas, average()),
    "frames with empty rows": Layout("pandas", lambda folder: by_pandas(folder, GAPS), average(GAPS)),
    "file names and the best class": Layout("pandas", with_file_names, average()),
    "logits in tables": Layout("pandas", logits_in_tables, average(), tolerance=1e-9),
    "a counted index": Layout("pandas", counted_index, average(), named=()),
    "per cent of a spreadsheet": Layout("a spreadsheet", spreadsheet, average(GAPS), tolerance=1e-2),
    "a header of two rows": Layout("pandas", deep_header, average(), ("one row of names", "one file for each member")),
    "lists": Layout("polars", by_polars, average(), named=BY_NUMBER),
    "long probabilities": Layout("pandas", melted, average()),
    "votes beside the gold label": Layout("a spreadsheet", wide_votes, votes()),
    "cleanlab": Layout("cleanlab", for_cleanlab, votes(), named=()),
    "crowd-kit": Layout("crowd-kit", for_crowd_kit, votes()),
    "spaces after commas": Layout("a text editor", with_spaces, votes()),
    "Toloka": Layout("Toloka", toloka, votes()),
    "LLM judges": Layout("a script", judges, votes()),
    "LLM judges by line": Layout("a script", judges_by_line, votes()),
    "MT-bench": Layout(
        "MT-bench",
        mt_bench,
        votes(),
        ("--member-column",),
        ("--member-column", "judge", "--item-column", "question_id+model+turn"),
        named=("bench",),
    ),
    "AlpacaEval": Layout("AlpacaEval", alpaca_eval, votes(), named=("alpaca",)),
    "names nobody knows": Layout(
        "a script",
        own_names,
        votes(),
        ("--item-column", "--member-column"),
        ("--item-column", "what", "--member-column", "who", "--label-column", "said"),
    ),
    "UTF-16": Layout("Windows", utf_16, votes(), ("UTF-16", "save it as UTF-8")),
    "pipelines": Layout("transformers", pipelines, average(), named=("classes",)),
    "a data set": Layout("datasets", data_set, average(), named=BY_NUMBER, tolerance=1e-6),
}
