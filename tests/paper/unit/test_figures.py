"""Figures: a panel for each metric, a line for each method, the same file every time."""

import pytest

figure = pytest.importorskip("matplotlib.figure")

from paper.figures import draw
from paper.results import Row


def rows(metrics, methods=("EA", "SDS (paper)", "DS"), n_ensembles=2):
    return [
        Row("x", "mnist", "rotation", severity, 3, ensemble, method, metric, severity + ensemble, "tiny")
        for metric in metrics
        for method in methods
        for severity in (30.0, 0.0, 15.0)
        for ensemble in range(n_ensembles)
    ]


@pytest.fixture
def drawn(monkeypatch):
    """The figures that were saved."""
    seen = []
    real = figure.Figure.savefig
    monkeypatch.setattr(figure.Figure, "savefig", lambda self, *a, **o: (seen.append(self), real(self, *a, **o))[1])
    return seen


def test_lines_are_means_in_the_order_of_severity(drawn, tmp_path):
    draw(rows(["nll", "accuracy", "ece 15"]), tmp_path / "x.svg", axis="degrees", title="Figure 2")
    *panels, legend = drawn[0].axes
    assert [panel.get_title() for panel in panels] == ["Accuracy ↑", "NLL ↓"]  # in the paper's order
    assert [line.get_label() for line in panels[0].lines] == ["DS", "EA", "SDS (paper)"]  # the last are on top
    assert [text.get_text() for text in legend.get_legend().get_texts()] == ["SDS (paper)", "EA", "DS"]
    assert drawn[0].get_suptitle() == "Figure 2\ntiny"  # and at which scale
    assert panels[0].lines[1].get_xydata().tolist() == [[0, 0.5], [15, 15.5], [30, 30.5]]
    assert panels[0].get_xlabel() == "degrees"


def test_metrics_that_the_paper_lacks_have_panels_where_there_are_no_others(drawn, tmp_path):
    draw(rows(["auroc entropy", "auroc"]), tmp_path / "x.svg", axis="share", methods=["SDS (paper)"])
    assert [panel.get_title() for panel in drawn[0].axes[:-1]] == ["AUROC ↑", "AUROC by entropy ↑"]
    assert [line.get_label() for line in drawn[0].axes[0].lines] == ["SDS (paper)"]


def test_others_are_grey_and_degrees_are_degrees(drawn, tmp_path):
    draw(rows(["nll"]), tmp_path / "x.svg", axis="rotation in degrees")
    panel = drawn[0].axes[0]
    colours = {line.get_label(): line.get_color() for line in panel.lines}
    assert colours["DS"] == "#8c8c8c" and len(set(colours.values())) == 3
    assert [text.get_text() for text in panel.get_xticklabels()] == ["0°", "45°", "90°", "135°", "180°"]


@pytest.mark.parametrize(("n_ensembles", "n_bands"), [(1, 0), (2, 0), (3, 3)])
def test_deviations_are_drawn_of_three_and_more(drawn, tmp_path, n_ensembles, n_bands):
    draw(rows(["nll"], n_ensembles=n_ensembles), tmp_path / "x.svg", axis="degrees")
    assert len(drawn[0].axes[0].collections) == n_bands


def test_where_there_is_one_severity_methods_stand_below_each_other(drawn, tmp_path):
    draw([row for row in rows(["nll"]) if row.severity == 0], tmp_path / "x.svg", axis="severity")
    (panel,) = drawn[0].axes
    assert [text.get_text() for text in panel.get_yticklabels()] == ["SDS (paper)", "EA", "DS"]
    assert sorted((line.get_ydata()[0], line.get_xdata()[0]) for line in panel.lines) == [(0, 0.5), (1, 0.5), (2, 0.5)]
    assert panel.yaxis_inverted()  # the first is on top


def test_what_the_paper_does_not_draw_is_left_to_tables(drawn, tmp_path):
    draw(rows(["nll"], methods=("EA", "MV", "EA geometric")), tmp_path / "x.svg", axis="severity")
    assert [line.get_label() for line in drawn[0].axes[0].lines] == ["EA"]


def test_a_figure_is_as_wide_as_a_page_and_its_legend_fits(drawn, tmp_path):
    methods = [f"SDS (paper) {number}" for number in range(9)]
    draw(rows(["nll", "accuracy", "brier"], methods=methods), tmp_path / "x.svg", axis="severity")
    whole = drawn[0]
    assert whole.get_figwidth() == 7
    inside, legend = whole.bbox, whole.axes[-1].get_legend().get_window_extent()
    assert legend.x0 >= inside.x0 and legend.x1 <= inside.x1 and legend.y0 >= inside.y0 and legend.y1 <= inside.y1


def test_a_file_has_no_date(tmp_path):
    draw(rows(["nll"]), tmp_path / "x.svg", axis="degrees")
    assert "<dc:date>" not in (tmp_path / "x.svg").read_text(encoding="utf-8")
