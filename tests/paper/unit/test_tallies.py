"""Wins, ties and losses."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from paper.results import Row
from paper.tallies import cells_of_rows, tally


def rows_of(values):
    return [
        Row("x", "t", "s", severity, 3, ensemble, method, "nll", value, "tiny")
        for (method, severity, ensemble), value in values.items()
    ]


def test_wins_are_counted_over_all_cells():
    values = {("EA", s, 0): 1.0 for s in range(4)} | {("SDS", s, 0): v for s, v in enumerate((0.5, 1.0002, 2, 0.9))}
    cells = cells_of_rows(rows_of(values | {("DS", 3, 0): 0.8}))["nll"]
    assert tally(cells, "nll", "SDS", ["EA"])[:3] == (2, 1, 1)
    assert tally(cells, "nll", "EA", ["SDS"])[:3] == (1, 1, 2)
    assert tally(cells, "nll", "SDS", ["EA", "DS", "SDS"])[:3] == (1, 1, 2)  # the best of the others
    assert tally(cells, "accuracy", "SDS", ["EA"])[:3] == (1, 1, 2)


def test_a_gap_of_just_a_tie_is_one():
    pairs = [(0.9934, 0.9939), (0.9939, 0.9934), (0.563, 0.5635), (0.1, 0.1005), (0.9934, 0.99391)]
    cells = {(place,): {"EA": one, "SDS": other} for place, (one, other) in enumerate(pairs)}
    assert tally(cells, "accuracy", "SDS", ["EA"])[:3] == (1, 4, 0)
