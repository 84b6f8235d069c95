"""Commands, run in this process: what they print as JSON, and what they write."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import sys
from pathlib import Path
from unittest import mock

import numpy as np

from consilience.cli import main
from consilience.files.writing import without_quote

from doors.verdict import Answer, Refused, checked


def run(*words):
    """What a command prints as JSON."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["consilience", *words, "--json"]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as leaving:
            code = leaving.code or 0
    if code == 2 and err.getvalue().startswith("consilience: "):
        raise Refused(checked(err.getvalue().strip()))
    assert code == 0, f"exit code {code}: {err.getvalue()}"
    return json.loads(out.getvalue())


LAST_BEFORE_CLASSES = "review"
"""The column that stands before the probabilities of a table."""


def read_answer(path):
    """A posterior that a command wrote, read without this package; names are text."""
    return _READERS[Path(path).suffix](path)


def _read_npz(path):
    with np.load(path) as archive:
        return Answer(archive["posterior"], archive["items"].tolist(), archive["classes"].tolist())


def _read_csv(path):
    with Path(path).open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    first = header.index(LAST_BEFORE_CLASSES) + 1
    values = np.array([row[first:] for row in rows], dtype=np.float64)
    return Answer(values, [without_quote(row[0]) for row in rows], [without_quote(name) for name in header[first:]])


def _read_parquet(path):
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    first = table.column_names.index(LAST_BEFORE_CLASSES) + 1
    names = table.column_names[first:]
    rows = np.stack([table.column(place + first).to_numpy() for place in range(len(names))], axis=1)
    return Answer(rows, table.column("item").to_pylist(), names)


_READERS = {".npz": _read_npz, ".csv": _read_csv, ".parquet": _read_parquet}
