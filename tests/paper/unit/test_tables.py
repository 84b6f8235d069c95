"""Results as tables."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from paper.results import Row, read_rows, write_rows
from paper.tables import blocks, latex, markdown


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


def test_the_order_of_methods_is_that_of_the_paper_then_names_then_weights():
    weights = ("1e-05", "0.1", "1", "0.001")
    names = ["EA geometric", "Consensus", *(f"SDS (ours), α = {weight}" for weight in weights), "EA", "DS"]
    expected = ["DS", "EA", *(f"SDS (ours), α = {weight}" for weight in ("1", "0.1", "0.001", "1e-05"))]
    for order in (names, names[::-1]):
        (block,) = blocks(rows_of({(name, 1, 0): 1.0 for name in order}))
        assert block.methods == [*expected, "Consensus", "EA geometric"]
    lines = markdown("x", rows_of({(name, 1, 0): 1.0 for name in names})).splitlines()
    assert [line.split(" | ")[0][2:] for line in lines if " / " in line][-8:] == [
        *expected,
        "Consensus",
        "EA geometric",
    ]


def test_degrees_are_degrees():
    rows = [row._replace(shift="rotation") for row in rows_of({("EA", 0, 0): 1.0, ("EA", 15, 0): 3.0})]
    assert "| method | 0° | 15° |" in markdown("x", rows)
    assert r"method & 0$^\circ$ & 15$^\circ$ \\" in latex("x", rows)
