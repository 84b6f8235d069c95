"""Figures show what was computed, under the right names, and nothing else."""

import sys

import numpy as np
import pytest

import consilience as cs
from consilience.system.tables import Table

from simulate import named, softmax_members

pytest.importorskip("matplotlib")

NAMES = ["vit", "resnet", "mlp"]
CLASSES = ["cat", "dog", "fox", "owl"]


@pytest.fixture
def data():
    array, truth = softmax_members(np.random.default_rng(0), [3, 2, 1], 300, 4)
    return cs.Predictions(array, members=NAMES, classes=CLASSES), truth


@pytest.fixture
def fitted(data):
    return cs.DawidSkene().fit(data[0])


@pytest.fixture
def diagnosis(data):
    return cs.diagnose(data[0])


def heat_maps(figure):
    return [ax for ax in figure.axes if ax.images and ax.get_label() != "<colorbar>"]


def names_along(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def drawn(ax):
    return {line.get_label(): line.get_xydata() for line in ax.lines if not line.get_label().startswith("_")}


# ---- confusion matrices -----------------------------------------------------------------------------------


def test_confusion_draws_each_members_matrix_under_its_name(fitted):
    maps = heat_maps(cs.plots.plot_confusion(fitted))
    assert [ax.get_title() for ax in maps] == NAMES
    for ax, table in zip(maps, fitted.confusion_, strict=True):
        np.testing.assert_array_equal(ax.images[0].get_array(), table)
        assert names_along(ax.xaxis) == names_along(ax.yaxis) == CLASSES


def test_confusion_of_a_diagnosis_is_what_the_consensus_counts(diagnosis):
    maps = heat_maps(cs.plots.plot_confusion(diagnosis, ["mlp", "vit"]))
    assert [ax.get_title() for ax in maps] == ["mlp", "vit"]
    np.testing.assert_array_equal(maps[0].images[0].get_array(), diagnosis.confusion[2])


def test_confusion_of_tables_by_name():
    tables = {"true": np.eye(3), "learned": np.full((3, 3), 1 / 3)}
    maps = heat_maps(cs.plots.plot_confusion(tables))
    assert [ax.get_title() for ax in maps] == ["true", "learned"]
    np.testing.assert_array_equal(maps[1].images[0].get_array(), tables["learned"])


def test_numbers_in_cells_are_those_of_the_matrix(fitted):
    (ax,) = heat_maps(cs.plots.plot_confusion(fitted, ["vit"]))
    table = fitted.confusion_[0]
    written = {tuple(map(int, text.get_position()[::-1])): text.get_text() for text in ax.texts}
    assert set(written) == {tuple(map(int, cell)) for cell in np.argwhere(table >= 0.005)}
    for cell, text in written.items():
        assert float(text) == pytest.approx(table[cell], abs=0.005)


def test_members_may_be_named_by_numbers(data):
    numbered = cs.DawidSkene().fit(data[0].to_array())
    (ax,) = heat_maps(cs.plots.plot_confusion(numbered, [2]))
    np.testing.assert_array_equal(ax.images[0].get_array(), numbered.confusion_[2])


def test_a_class_that_nobody_saw_is_drawn_as_unknown(data):
    array = np.concatenate([data[0].to_array(), np.zeros((3, 300, 1))], axis=2)[:, :100]
    diagnosis = cs.diagnose(array, aggregator=cs.MajorityVote())
    image = heat_maps(cs.plots.plot_confusion(diagnosis))[0].images[0]
    assert np.ma.getmaskarray(image.get_array())[4].all()
    assert image.cmap.get_bad()[0] == pytest.approx(0xBF / 255)


def test_many_classes_are_drawn_with_few_names(rng):
    rows = rng.dirichlet(np.ones(100), size=(2, 50))
    (ax, _) = heat_maps(cs.plots.plot_confusion(cs.Average().fit(rows)))
    assert len(ax.get_xticks()) == 20
    assert not ax.texts


def test_confusion_says_what_it_needs(fitted, data):
    with pytest.raises(ValueError, match="members must be among .*'vit'.*; got 'bert'"):
        cs.plots.plot_confusion(fitted, ["bert"])
    with pytest.raises(ValueError, match="of a fitted aggregator or a diagnosis; got a DawidSkene"):
        cs.plots.plot_confusion(cs.DawidSkene())
    with pytest.raises(ValueError, match="got a SoftDawidSkene"):
        cs.plots.plot_confusion(cs.SoftDawidSkene())
    with pytest.raises(ValueError, match="members must name 1 to 24, .*; got 0"):
        cs.plots.plot_confusion(fitted, [])
    many = cs.Average().fit(np.full((25, 4, 2), 0.5))
    with pytest.raises(ValueError, match="members must name 1 to 24, .*; got 25"):
        cs.plots.plot_confusion(many)


# ---- reliability ------------------------------------------------------------------------------------------


def test_reliability_draws_the_curve_of_each_posterior(data, fitted):
    predictions, truth = data
    posteriors = {"Average": cs.Average().fit_predict_proba(predictions), "DawidSkene": fitted.posterior_}
    ax = cs.plots.plot_reliability(posteriors, truth, n_bins=10)
    assert list(drawn(ax)) == list(posteriors)
    (shares,) = ax.child_axes
    for (name, points), stairs in zip(drawn(ax).items(), shares.patches, strict=True):
        curve = cs.metrics.reliability_curve(posteriors[name], truth, n_bins=10)
        is_seen = curve.n_items > 0
        np.testing.assert_array_equal(points, np.stack([curve.confidence, curve.accuracy], axis=1)[is_seen])
        np.testing.assert_array_equal(stairs.get_data().edges, curve.edges)
        np.testing.assert_allclose(stairs.get_data().values, curve.n_items / len(truth))


def test_reliability_says_what_it_needs(data, fitted):
    with pytest.raises(ValueError, match="posteriors must map names to posteriors; got a ndarray"):
        cs.plots.plot_reliability(fitted.posterior_, data[1])
    with pytest.raises(ValueError, match="got an empty dict"):
        cs.plots.plot_reliability({}, data[1])
    with pytest.raises(cs.InvalidPredictions, match="labels must have one entry for each of the 300 items; got 5"):
        cs.plots.plot_reliability({"DawidSkene": fitted.posterior_}, data[1][:5])


# ---- agreement --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["agreement", "kappa", "dependence"])
def test_agreement_draws_the_table_asked_for(diagnosis, kind):
    ax = cs.plots.plot_agreement(diagnosis, kind=kind)
    table = diagnosis.beyond_chance.kappa if kind == "kappa" else getattr(diagnosis, kind)
    np.testing.assert_array_equal(ax.images[0].get_array(), table)
    assert names_along(ax.yaxis) == NAMES


def test_agreement_knows_three_kinds(diagnosis):
    with pytest.raises(ValueError, match="kind must be 'agreement', 'kappa' or 'dependence'; got 'love'"):
        cs.plots.plot_agreement(diagnosis, kind="love")


# ---- comparison -------------------------------------------------------------------------------------------


def table(**scores):
    methods = list(scores)
    return Table({"method": methods, "nll": [scores[name] for name in methods]})


def test_comparison_draws_each_method_over_the_levels():
    tables = {0: table(average=0.1, vote=0.2), 30: table(average=0.4, vote=0.9)}
    ax = cs.plots.plot_comparison(tables, "nll", xlabel="degrees")
    np.testing.assert_array_equal(drawn(ax)["average"], [[0, 0.1], [30, 0.4]])
    np.testing.assert_array_equal(drawn(ax)["vote"], [[0, 0.2], [30, 0.9]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("degrees", "nll")
    assert names_along(ax.xaxis) == ["0", "30"]


def test_a_method_that_a_level_lacks_leaves_a_gap_there():
    ax = cs.plots.plot_comparison({"clean": table(average=0.1), "noise": table(average=0.2, vote=0.3)}, "nll")
    np.testing.assert_array_equal(drawn(ax)["vote"], [[0, np.nan], [1, 0.3]])
    assert names_along(ax.xaxis) == ["clean", "noise"]


def test_comparison_says_what_it_needs():
    with pytest.raises(ValueError, match="at 30 'accuracy' is not in .*'method', 'nll'"):
        cs.plots.plot_comparison({30: table(average=0.1)}, "accuracy")
    with pytest.raises(ValueError, match="tables must map levels of shift to tables of `compare`; got a Table"):
        cs.plots.plot_comparison(table(average=0.1))


# ---- matplotlib -------------------------------------------------------------------------------------------


def test_figures_go_where_they_are_told_and_leave_pyplot_alone(data, fitted, diagnosis):
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    left, right = figure.subplots(1, 2)
    assert cs.plots.plot_agreement(diagnosis, ax=left) is left
    assert cs.plots.plot_reliability({"DawidSkene": fitted.posterior_}, data[1], ax=right) is right
    assert cs.plots.plot_confusion(fitted, figure=(other := Figure())) is other
    if "matplotlib.pyplot" in sys.modules:
        assert not sys.modules["matplotlib.pyplot"].get_fignums()


def test_every_figure_can_be_written_without_a_display(data, fitted, diagnosis, tmp_path):
    figures = {
        "confusion": cs.plots.plot_confusion(fitted),
        "reliability": cs.plots.plot_reliability({"DawidSkene": fitted.posterior_}, data[1]).figure,
        "agreement": cs.plots.plot_agreement(diagnosis).figure,
        "comparison": cs.plots.plot_comparison(
            dict.fromkeys((0, 1), cs.compare(data[0], named(data[1], data[0])))
        ).figure,
    }
    for name, figure in figures.items():
        figure.savefig(tmp_path / f"{name}.svg")
        assert (tmp_path / f"{name}.svg").stat().st_size > 1000


def test_lines_differ_by_more_than_colour():
    tables = {level: table(**{f"method {n}": float(n) for n in range(14)}) for level in (0, 1)}
    lines = cs.plots.plot_comparison(tables, "nll").lines
    assert len({(line.get_color(), line.get_marker(), line.get_linestyle()) for line in lines}) == 14
    assert len({line.get_marker() for line in lines[:6]}) == 6


def test_without_matplotlib_the_extra_is_named(fitted, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match='a figure needs matplotlib.*pip install "consilience\\[plots\\]"'):
        cs.plots.plot_confusion(fitted)
