"""Appendix D: rows over the weight of a new estimate."""

import pytest

pytest.importorskip("torch")

from paper.catalog.averaging import WEIGHTS, by_weight
from paper.results import Row


def test_a_figure_is_over_the_weight_and_the_average_has_them_all():
    rows = [
        Row("averaging", "mnist", "rotation", 30.0, 3, 0, method, "nll", value, "tiny")
        for method, value in (("EA", 1.0), ("SDS (paper), α = 0.1", 2.0), ("SDS (paper), α = 1e-05", 3.0))
    ]
    drawn = by_weight(rows)
    assert {row.shift for row in drawn} == {"rotation-30"}
    assert {(row.method, row.severity, row.value) for row in drawn} == {
        ("SDS (paper)", 0.1, 2.0),
        ("SDS (paper)", 1e-5, 3.0),
        *(("EA", weight, 1.0) for weight in WEIGHTS),
    }
