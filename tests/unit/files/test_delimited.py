"""Tables that are read in several blocks: the same cells as the csv module reads."""

import csv

import numpy as np
import pytest

from consilience.data.tables.columns import Coder
from consilience.files import delimited


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK", 1000)


def write(path, header, rows, end="\n"):
    path.write_text("\n".join([",".join(header), *(",".join(row) for row in rows)]) + end, encoding="utf-8")


def rows_of(n_rows):
    """Values that repeat, that first come late, that are missing, and that never repeat."""
    rng = np.random.default_rng(0)
    names = [f"q{place}" for place in range(20)] + ["", "NA", "café", "1.0"]
    return [
        [
            names[rng.integers(4 + 20 * row // n_rows)],
            rng.choice(["w1", "w2"]),
            f"{rng.random():.6f}",
            f"text {row}",
            rng.choice(["0.5", "0.25", ""]),
        ]
        for row in range(n_rows)
    ]


HEADER = ["task", "worker", "share", "text", "grade"]


@pytest.mark.parametrize("end", ["\n", ""])
def test_blocks_are_read_as_one_table(tmp_path, small_blocks, end):
    path = tmp_path / "t.csv"
    write(path, HEADER, rows_of(600), end)
    read = delimited.read_delimited(path, ",")
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert list(read) == header and read.n_rows == len(rows)
    for place, name in enumerate(header):
        assert read[name].rows() == [row[place] or None for row in rows]
    np.testing.assert_allclose(read["share"].numbers, [float(row[2]) for row in rows])
    np.testing.assert_allclose(read["grade"].numbers, [float(row[4] or "nan") for row in rows])


def test_only_values_that_repeat_are_coded_while_they_come(tmp_path, small_blocks, monkeypatch):
    coded = []
    monkeypatch.setattr(delimited, "Coder", lambda: coded.append(1) or Coder())
    path = tmp_path / "t.csv"
    write(path, HEADER, rows_of(600))
    delimited.read_delimited(path, ",")
    assert len(coded) == 3  # task, worker and grade


def test_a_row_that_is_too_long_is_named_wherever_it_stands(tmp_path, small_blocks):
    path = tmp_path / "t.csv"
    rows = rows_of(600)
    rows[500] = [*rows[500], "more"]
    write(path, HEADER, rows)
    with pytest.raises(ValueError, match="5 values in each row; row 502 has 6"):
        delimited.read_delimited(path, ",")


def test_a_table_without_rows_has_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n", encoding="utf-8")
    read = delimited.read_delimited(path, ",")
    assert list(read) == ["a", "b"] and read.n_rows == 0
