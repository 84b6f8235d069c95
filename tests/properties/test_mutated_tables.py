"""Every table of `file_layouts`, damaged in many ways: the same answers, or a refusal; never other answers.

A row is deleted, a file cut short, a column renamed, dropped or doubled, a value emptied, rows are shuffled.
"""

import csv
import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.data.tables.told import Told
from consilience.files import read_sources
from file_layouts import LAYOUTS

TABLES = [
    name
    for name in LAYOUTS
    if name not in ("a header of two rows", "UTF-16", "pipelines", "arrays", "arrays with gaps", "positive logits")
    and name not in ("counts", "logits and per cent beside", "cross-validation", "array beside a table")
    and name != "Toloka"  # which has a reader of its own
]
OPTIONS = {"--item-column": "item", "--member-column": "member", "--label-column": "label"}
N_ROWS, N_CELLS, N_CUTS = 22, 26, 22
"""How many rows are deleted, values emptied and places cut at, one at a time, of each layout."""

WIDE = ("votes beside the gold label", "cleanlab", "lists")
ENDS_IN_NUMBERS = ("logits in tables", "per cent of a spreadsheet")
"""The last cell of a row may be cut without a trace."""


class Table:
    """A file of a layout as names of columns and rows, to be damaged and written again."""

    def __init__(self, path):
        self.path, self.suffix = Path(path), Path(path).suffix
        if self.suffix in (".csv", ".tsv"):
            with self.path.open(encoding="utf-8", newline="") as file:
                self.header, *self.rows = csv.reader(file, delimiter=self.mark, skipinitialspace=True)
        else:
            records = self._records()
            self.header = list(records[0])
            self.rows = [[record.get(name) for name in self.header] for record in records]
        self.bytes = self.path.read_bytes()

    @property
    def mark(self):
        return "\t" if self.suffix == ".tsv" else ","

    def _records(self):
        if self.suffix == ".parquet":
            return pl.read_parquet(self.path).to_dicts()
        text = self.path.read_text(encoding="utf-8")
        return json.loads(text) if self.suffix == ".json" else [json.loads(line) for line in text.splitlines()]

    def write(self, header=None, rows=None):
        header, rows = header or self.header, self.rows if rows is None else rows
        if self.suffix in (".csv", ".tsv"):
            text = io.StringIO(newline="")
            csv.writer(text, delimiter=self.mark, lineterminator="\n").writerows([header, *rows])
            self.path.write_text(text.getvalue(), encoding="utf-8", newline="")
            return
        records = [dict(zip(header, row, strict=True)) for row in rows]
        if self.suffix == ".parquet":
            pl.DataFrame(records, infer_schema_length=None).write_parquet(self.path)
        elif self.suffix == ".json":
            self.path.write_text(json.dumps(records), encoding="utf-8")
        else:
            self.path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")

    def restore(self):
        self.path.write_bytes(self.bytes)


def told_by(flags):
    pairs = zip(flags[::2], flags[1::2], strict=True)
    return Told(**{OPTIONS[flag]: value for flag, value in pairs})


def answers_of(panel):
    """What each member says of each item, by name."""
    array, classes = panel.to_array(), list(map(str, panel.classes))
    found = {}
    for (m, i), share in np.ndenumerate(array[:, :, 0]):
        if not np.isnan(share):
            found[str(panel.members[m]), str(panel.items[i])] = dict(zip(classes, array[m, i], strict=True))
    return found


def said(files, told):
    """The answers in the files; None if they are refused."""
    try:
        panel = read_sources(files, told=told).predictions
    except cs.InvalidPredictions:
        return None
    return answers_of(panel)


def assert_among(found, expected, n_lost, what):
    """All answers found are as they were, and at most so many are gone."""
    if found is None:
        return
    for key, row in found.items():
        assert key in expected, f"{what}: {key} is new"
        for name in {*row, *expected[key]}:
            one, other = row.get(name, 0.0), expected[key].get(name, 0.0)
            assert abs(one - other) < 1e-3, f"{what}: {key} says {row} instead of {expected[key]}"
    assert len(expected) - len(found) <= n_lost, f"{what}: {len(expected) - len(found)} answers are lost"


@pytest.fixture(params=TABLES)
def case(request, tmp_path):
    layout = LAYOUTS[request.param]
    files = layout.write(tmp_path)
    told = told_by(layout.flags)
    expected = said(files, told)
    assert expected is not None
    # In a wide table a row is what all members say of an item.
    n_in_row = 4 if request.param in WIDE else 1
    return request.param, files, Table(files[0]), told, expected, n_in_row, np.random.default_rng(len(request.param))


def test_a_row_is_deleted(case):
    name, files, table, told, expected, n_in_row, rng = case
    for row in rng.permutation(len(table.rows))[:N_ROWS].tolist():
        table.write(rows=table.rows[:row] + table.rows[row + 1 :])
        assert_among(said(files, told), expected, n_in_row, f"{name}, without row {row}")


def test_rows_are_shuffled(case):
    name, files, table, told, expected, _, rng = case
    for _ in range(4):
        table.write(rows=[table.rows[row] for row in rng.permutation(len(table.rows))])
        found = said(files, told)
        assert found is not None
        assert_among(found, expected, 0, f"{name}, shuffled")


def test_a_value_is_emptied(case):
    name, files, table, told, expected, n_in_row, rng = case
    for _ in range(N_CELLS):
        row, column = rng.integers(len(table.rows)), rng.integers(len(table.header))
        rows = [list(cells) for cells in table.rows]
        rows[row][column] = "" if table.suffix in (".csv", ".tsv") else None
        table.write(rows=rows)
        what = f"{name}, without {table.header[column]} in row {row}"
        assert_among(said(files, told), expected, n_in_row, what)


def test_a_file_is_cut_short(case):
    name, files, table, told, expected, _, rng = case
    for place in rng.integers(len(table.bytes), size=N_CUTS).tolist():
        if name in ENDS_IN_NUMBERS:
            place = table.bytes.rfind(table.mark.encode(), 0, place)  # noqa: PLW2901
        table.path.write_bytes(table.bytes[:place])
        assert_among(said(files, told), expected, len(expected), f"{name}, cut at {place}")


def test_a_column_is_dropped(case):
    name, files, table, told, expected, _, _ = case
    for place, column in enumerate(table.header):
        kept = [other for other in range(len(table.header)) if other != place]
        if not kept:
            continue
        table.write([table.header[k] for k in kept], [[row[k] for k in kept] for row in table.rows])
        what = f"{name}, without {column!r}"
        found = said(files, told)
        if found is not None and name not in WIDE:
            assert len(found) == len(expected), what
        assert_among(by_place(found, expected), expected, len(expected), what)


def by_place(found, expected):
    """Items that are named otherwise, or not at all, are those of the table, in its order."""
    if found is None or {item for _, item in found} <= {item for _, item in expected}:
        return found
    was, now = (list(dict.fromkeys(item for _, item in answers)) for answers in (expected, found))
    assert len(was) == len(now), f"{len(now)} items instead of {len(was)}"
    items = dict(zip(now, was, strict=True))
    return {(member, items[item]): row for (member, item), row in found.items()}


def test_a_column_is_renamed(case):
    """A class or a member may be called otherwise then. True labels in a column of another name are a member's."""
    name, files, table, told, expected, _, _ = case
    for place, column in enumerate(table.header):
        if column == "gold":
            continue
        header = [*table.header[:place], "quux", *table.header[place + 1 :]]
        table.write(header)
        found = said(files, Told(*("quux" if own == column else own for own in told[:3])))
        if found is None:
            continue
        renamed = {
            (m.replace("quux", column), i): {k.replace("quux", column): p for k, p in row.items()}
            for (m, i), row in found.items()
        }
        assert_among(by_place(renamed, expected), expected, 0, f"{name}, {column!r} renamed")


def test_a_column_is_doubled(case):
    name, files, table, told, expected, _, _ = case
    if name in WIDE:
        return  # the second column is another member's
    for place, column in enumerate(table.header):
        for double in (column, f"{column}_2"):
            if double == column and table.suffix not in (".csv", ".tsv"):
                continue
            table.write([*table.header, double], [[*row, row[place]] for row in table.rows])
            found = said(files, told)
            assert double != column or found is None, f"{name}, {column!r} twice"
            assert_among(found, expected, 0, f"{name}, {column!r} doubled")


@pytest.mark.parametrize("name", [name for name in TABLES if LAYOUTS[name].named != () or name == "cleanlab"])
def test_a_frame_is_read_as_its_file_is(name, tmp_path):
    """The same panel, or the same refusal, of damaged tables too."""
    files = LAYOUTS[name].write(tmp_path)
    table = Table(files[0])
    if table.suffix not in (".csv", ".tsv"):
        pytest.skip("a table of text")
    told = {
        key: value
        for key, value in told_by(LAYOUTS[name].flags)._asdict().items()
        if key in ("item", "member", "label")
    }
    rng = np.random.default_rng(0)
    for case in range(12):
        kept = rng.permutation(len(table.header))[: len(table.header) - (case % 3 == 2)].tolist()
        rows = rng.permutation(len(table.rows))[: len(table.rows) - case].tolist()
        table.write([table.header[k] for k in kept], [[table.rows[r][k] for k in kept] for r in rows])
        frame = pl.read_csv(files[0], separator=table.mark, infer_schema=False)
        outcomes = []
        for read in (lambda: cs.read_predictions(files[0], **told), lambda: cs.Predictions.from_frame(frame, **told)):  # noqa: B023
            try:
                panel = read()
                outcomes.append((panel.items, panel.classes, panel.n_members, panel.to_array()))
            except cs.InvalidPredictions as error:
                outcomes.append(str(error).removeprefix(f"{files[0]}: "))
        one, other = outcomes
        if isinstance(one, str) or isinstance(other, str):
            assert isinstance(one, str) and isinstance(other, str), (one, other)
            assert one == other or "row" in one
        else:
            assert one[:3] == other[:3]
            np.testing.assert_array_equal(one[3], other[3])
