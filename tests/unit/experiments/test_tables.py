"""Results as tables."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from consilience.experiments.results import Row, read_rows, write_rows
from consilience.experiments.tables import blocks, latex, markdown


def rows_of(values):
    return [
        Row("x", "t", "s", severity, 3, ensemble, method, "nll", value, "tiny")
        for (method, severity, ensemble), value in values.items()
    ]


def test_tables_print_means_deviations_and_the_best(tmp_path):
    rows = rows_of({("EA", 1, 0): 1.0, ("EA", 1, 1): 3.0, ("SDS", 1, 0): 1.0, ("SDS", 1, 1): 2.0})
    (block,) = blocks(rows)
    assert (block.metrics, block.columns, block.methods) == (["nll"], ["nll"], ["EA", "SDS"])
    assert "| SDS | **1.500** ± 0.707 |" in markdown("x", rows) and "| EA | 2.000 ± 1.414 |" in markdown("x", rows)
    assert r"SDS & \textbf{1.500} $\pm$ 0.707 \\" in latex("x", rows)
    write_rows(tmp_path / "r.csv", rows)
    assert sorted(read_rows(tmp_path / "r.csv")) == sorted(rows)


def test_tables_have_a_column_for_each_severity_where_there_are_several():
    rows = rows_of({("EA", 1, 0): 1.0, ("EA", 2, 0): 3.0, ("DS", 1, 0): 0.5})
    (block,) = blocks(rows)
    assert (block.title, block.columns, block.methods) == ("t, s: nll", ["1", "2"], ["DS", "EA"])
    assert "| DS | **0.500** | – |" in markdown("x", rows)
