"""Wins, ties and losses that results/README.md states are those of the rows beside it."""

import re
from pathlib import Path

import pytest

pytest.importorskip("torch")

from consilience.experiments.results import read_rows
from consilience.experiments.tallies import cells_of_rows, tally

RESULTS = Path(__file__).parents[2] / "results"
TABLES = {  # the words above a table, and the rows that it counts
    "### To the letter, at a smaller scale": ("paper/mnist-rotation.csv", lambda _: True),
    "### The earlier version, our start, the paper's scale": ("paper/earlier/mnist-rotation.csv", lambda _: True),
    "### Published networks under every corruption": ("paper/cifar10-published.csv", lambda row: row.shift != "clean"),
    "### Six ResNet-20 by the paper's recipe": ("paper/cifar10-resnet20.csv", lambda row: row.shift != "clean"),
    "### The published networks as JPEGs": ("paper/cifar10-resnets.csv", lambda _: True),
    "### The earlier version: weak ResNet-18": ("paper/earlier/cifar10-c.csv", lambda _: True),
    "## Appendix F": ("paper/online.csv", lambda row: row.task == "mnist"),
}
SHIFTS = {"clean": "clean", "JPEG": "jpeg"}
METRICS = {
    "accuracy": "accuracy",
    "ECE, 300 bins": "ece 300",
    "ECE, 15 bins": "ece 15",
    "ECE, debiased": "ece debiased",
    "Brier": "brier",
    "NLL": "nll",
}
MINUS = "\N{MINUS SIGN}"
STATED = re.compile(rf"(\d+) / (\d+) / (\d+) \(([+{MINUS}]?)([\d.]+)\)")


def table_below(title):
    """The cells of the first table with counts below some words, by row and column."""
    lines = (RESULTS / "README.md").read_text(encoding="utf-8").split(title, 1)[1].splitlines()
    first = next(place for place, line in enumerate(lines) if STATED.search(line) and line.startswith("|"))
    names = [cell.strip() for cell in lines[first - 2].strip("|").split("|")][1:]
    for line in lines[first:]:
        if not line.startswith("|"):
            return
        method, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        yield from ((method, name, cell) for name, cell in zip(names, cells, strict=True))


@pytest.mark.parametrize("title", TABLES)
def test_counts_are_those_of_the_rows(title):
    file, is_counted = TABLES[title]
    rows, n_stated = [row for row in read_rows(RESULTS / file) if is_counted(row)], 0
    for label, name, text in table_below(title):
        shift, _, method = label.rpartition(": ")
        some = [row for row in rows if not shift or row.shift == SHIFTS[shift]]
        wins, ties, losses, sign, size = STATED.search(text).groups()
        found = tally(cells_of_rows(some)[METRICS[name]], METRICS[name], method, ["EA"])
        assert (int(wins), int(ties), int(losses)) == found[:3], (label, name)
        stated = float(size) * (-1 if sign == MINUS else 1)
        n_digits = len(size.partition(".")[2])
        assert abs(stated - found.mean_difference) <= 0.51 * 10**-n_digits, (label, name, found.mean_difference)
        n_stated += 1
    assert n_stated >= 15
