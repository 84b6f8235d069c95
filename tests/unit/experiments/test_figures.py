"""Figures: a panel for each metric, a line for each method, the same file every time."""

import pytest

figure = pytest.importorskip("matplotlib.figure")

from consilience.experiments.figures import draw
from consilience.experiments.results import Row


def rows(metrics, methods=("EA", "SDS")):
    return [
        Row("x", "mnist", "rotation", severity, 3, ensemble, method, metric, severity + ensemble, "tiny")
        for metric in metrics
        for method in methods
        for severity in (30.0, 0.0, 15.0)
        for ensemble in (0, 1)
    ]


@pytest.fixture
def drawn(monkeypatch):
    """The figures that were saved."""
    seen = []
    real = figure.Figure.savefig
    monkeypatch.setattr(figure.Figure, "savefig", lambda self, *a, **o: (seen.append(self), real(self, *a, **o))[1])
    return seen


def test_lines_are_means_in_the_order_of_severity(drawn, tmp_path):
    draw(rows(["nll", "accuracy", "ece 15"]), tmp_path / "x.svg", axis="degrees")
    panels = drawn[0].axes
    assert [panel.get_title() for panel in panels] == ["accuracy", "nll"]  # the paper's, in its order
    assert [line.get_label() for line in panels[0].lines] == ["EA", "SDS"]
    assert panels[0].lines[0].get_xydata().tolist() == [[0, 0.5], [15, 15.5], [30, 30.5]]
    assert panels[0].get_xlabel() == "degrees"


def test_metrics_that_the_paper_lacks_have_panels_where_there_are_no_others(drawn, tmp_path):
    draw(rows(["auroc entropy", "auroc"]), tmp_path / "x.svg", axis="share", methods=["SDS"])
    assert [panel.get_title() for panel in drawn[0].axes] == ["auroc", "auroc entropy"]
    assert [line.get_label() for line in drawn[0].axes[0].lines] == ["SDS"]


def test_a_file_has_no_date(tmp_path):
    draw(rows(["nll"]), tmp_path / "x.svg", axis="degrees")
    assert "<dc:date>" not in (tmp_path / "x.svg").read_text(encoding="utf-8")
