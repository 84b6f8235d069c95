"""Valid files of every format that is read, small, for the fuzzer to damage."""

from __future__ import annotations

import io
import tempfile
import warnings
from pathlib import Path

import numpy as np

import consilience as cs
from consilience.system.tables import Table
from written import write_fitted

BLOCK = np.random.default_rng(0).dirichlet(np.ones(3), size=(3, 6))
LABELS = np.array([[0, 1, 2, 0, 1, -1], [0, 1, 1, 0, 2, 2], [2, 1, 2, 0, -1, 0]])
NAMES = np.array(["cat", "dög", "=1+1"])
METHODS = (
    cs.Average(weights=[1, 2, 3]),
    cs.MajorityVote(),
    cs.DawidSkene(max_iter=3, tol=None),
    cs.BayesianClassifierCombination(max_iter=3, tol=None),
    cs.SoftDawidSkene(averaging={0: 0.5, 2: 0.1}, max_iter=3),
    cs.Consensus(),
)
TABLES = {
    "crowd": "task,worker,label\nt1,ann,cat\nt1,bob,dog\nt2,ann,dog\nt2,bob,dog\n",
    "mixed": "item,member,label,cat,dog\n1,ann,cat,,\n2,ann,dog,,\n1,vit,,0.9,0.1\n2,vit,,0.25,0.75\n",
    "net": "id,cat,dog\n007,0.9,0.1\n008,0.25,0.75\n",
    "wide": "item,ann,bob\n1,yes,no\n2,,yes\n3,no,no\n",
    "one-hot": "item,1,2,3\n5,0.0,1.0,0.0\n6,1.0,0.0,0.0\n",
    "index": ",cat,dog\n0,0.9,0.1\n1,0.25,0.75\n",
    "formulas": "item,label,'=x,'@y\n'-1,'=x,0.75,0.25\n'+2,'@y,0.25,0.75\n",
    "gold": "item,gold\n1,cat\n2,\n",
}
RECORDS = {
    "judges.jsonl": '{"question_id": 1, "judge": "ann", "verdict": "A", "why": {"text": "…"}}\n'
    '{"question_id": 1, "judge": "bob", "verdict": "B"}\n{"question_id": 2, "judge": "ann", "verdict": null}\n'
    '{"question_id": 2, "judge": "bob", "verdict": "A"}\n',
    "lists.ndjson": '{"id": "a", "probs": [0.25, 0.75]}\n{"id": "b", "probs": [0.5, 0.5]}\n',
    "records.json": '[{"item": 1, "member": "x", "label": true}, {"item": 1, "member": "y", "label": false}]',
    "columns.json": '{"cat": {"a": 0.25, "b": 0.5}, "dog": {"a": 0.75, "b": 0.5}}',
    "scores.json": '[[{"label": "cat", "score": 0.75}, {"label": "dog", "score": 0.25}], '
    '[{"label": "dog", "score": 0.5}, {"label": "cat", "score": 0.5}]]',
}


def seeds() -> dict[str, bytes]:
    """The files by name."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _write(folder)
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def npy(array: np.ndarray) -> bytes:
    """The array as a file."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _write(folder: Path) -> None:
    arrays = {
        "block": BLOCK,
        "rows": BLOCK[0],
        "single": BLOCK.astype(np.float32),
        "half": BLOCK.astype(np.float16),
        "fortran": np.asfortranarray(BLOCK),
        "big-endian": BLOCK.astype(">f8"),
        "logits": np.log(BLOCK) + 1,
        "labels": LABELS,
        "flat": LABELS[1],
        "bytes": LABELS.astype(np.int8),
        "names": NAMES,
    }
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    np.savez(folder / "named.npz", a=BLOCK[0], b=BLOCK[1], classes=NAMES, items=np.arange(10, 16))
    np.savez_compressed(folder / "packed.npz", logits=np.log(BLOCK), members=np.array([b"x", b"y", b"z"]))
    np.savez(folder / "answers.npz", item=[0, 0, 1], worker=[0, 1, 1], label=[1, 1, 0], labels=[1, 0])
    for name, text in TABLES.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    for name, text in RECORDS.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "spaced.csv").write_text(TABLES["crowd"].replace(",", ", "), encoding="utf-8")
    (folder / "crowd.tsv").write_text(TABLES["crowd"].replace(",", "\t"), encoding="utf-8")
    predictions = cs.Predictions(BLOCK, members=list("xyz"), classes=NAMES, items=list("abcdef"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in METHODS:
            method.fit(predictions).save(folder / f"{type(method).__name__}.model")
        cs.Consensus().fit(predictions, [*NAMES, -1, -1, NAMES[0]]).save(folder / "corrected.model")
    for suffix in ("csv", "npz", "parquet", "safetensors"):
        write_fitted(folder / f"posterior.{suffix}", METHODS[2])
    _write_parquet(folder)


def _write_parquet(folder: Path) -> None:
    import pyarrow.parquet as pq

    crowd = Table({"item": [1, 1, 2, 2], "judge": list("abab"), "answer": ["x", None, "y", "x"]}).to_frame("pyarrow")
    pq.write_table(crowd, folder / "crowd.parquet")
    pq.write_table(crowd, folder / "plain.parquet", use_dictionary=False, compression="none")
    lists = Table({"id": ["a", "b"], "vit": [[0.25, 0.75], [0.5, 0.5]], "swin": [[0.2, 0.8], [0.6, 0.4]]})
    pq.write_table(lists.to_frame("pyarrow"), folder / "lists.parquet")
