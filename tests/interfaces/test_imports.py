"""`import consilience` is light, and stays so."""

import subprocess
import sys

import pytest

import consilience as cs

HEAVY = ("pandas", "polars", "scipy.optimize", "scipy.stats", "sklearn", "torch")
LOADED = "import sys; before = set(sys.modules); {}; print(*sorted(set(sys.modules) - before))"


def _loaded(statements: str) -> list[str]:
    """The modules that a program of these statements loads."""
    done = subprocess.run([sys.executable, "-c", LOADED.format(statements)], capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[-2].split()


def test_import_loads_no_library():
    assert "numpy" not in _loaded("import consilience")


def test_fits_load_numpy_and_scipy_alone():
    fit = (
        "import consilience as cs; p = [[[.9, .1], [.2, .8]]] * 3; [m().fit(p) for m in (cs.Consensus, cs.DawidSkene)]"
    )
    loaded = _loaded(fit)
    assert not set(loaded) & set(HEAVY)
    packages = {name.partition(".")[0] for name in loaded}
    assert {"numpy", "scipy", "array_api_compat", "consilience", "threadpoolctl"} <= packages


def test_help_loads_no_numpy():
    listed = (
        "from typer.testing import CliRunner; from consilience.cli.app import app; CliRunner().invoke(app, ['--help'])"
    )
    assert "numpy" not in _loaded(listed)


def test_scikit_learn_is_loaded_for_its_own_estimator():
    assert "sklearn.base" in _loaded("from consilience import EnsembleClassifier")


def test_public_names():
    names = (
        "Predictions",
        "Consensus",
        "Average",
        "MajorityVote",
        "DawidSkene",
        "BayesianClassifierCombination",
        "SoftDawidSkene",
        "evaluate",
        "value_of_labels",
        "write_report",
        "compare",
        "diagnose",
        "EnsembleClassifier",
        "explain",
        "suggest",
        "load",
        "read_predictions",
        "checks",
        "metrics",
    )
    assert set(names) <= set(dir(cs))
    assert all(getattr(cs, name) is not None for name in names)
    assert set(names) <= set(cs.__all__)
    assert not hasattr(cs, "Nothing")


@pytest.mark.parametrize("name", cs.RENAMED)
def test_names_of_the_version_before_warn(name):
    with pytest.warns(DeprecationWarning, match=f"cs.{name} is now cs.{cs.RENAMED[name]}"):
        assert getattr(cs, name) is not None
    assert name not in dir(cs)


@pytest.mark.parametrize(
    "verb", ["answers", "compare", "diagnose", "explain", "prevalence", "suggest", "value_of_labels"]
)
def test_an_aggregator_in_the_wrong_place_is_named(verb):
    rows, method = [[[0.9, 0.1], [0.2, 0.8]]], cs.Average()
    second, option = "item" if verb == "explain" else "labels", "aggregators" if verb == "compare" else "aggregator"
    for given, named, place in (
        ((method, rows), {}, "predictions"),
        ((method, rows, 3), {}, "predictions"),
        ((rows, method), {}, second),
        ((), {second: method, "predictions": rows}, second),
    ):
        with pytest.raises(TypeError, match=rf"{verb}\(predictions.*{option}=.*got Average in the place of.*{place}"):
            getattr(cs, verb)(*given, **named)


def test_the_path_of_a_report_comes_first(tmp_path):
    rows, method = [[[0.9, 0.1], [0.2, 0.8]]], cs.Average()
    sentence = r"write_report takes .*: write_report\(path, predictions, …, aggregator=…\); got Average .* predictions"
    for given, named in (((tmp_path / "r.html", method), {}), ((tmp_path / "r.html",), {"predictions": method})):
        with pytest.raises(TypeError, match=sentence):
            cs.write_report(*given, **named)
    assert cs.write_report(tmp_path / "r.html", rows, aggregator=method).exists()


def test_numbers_in_the_place_of_labels_are_named():
    rows = [[[0.9, 0.1], [0.2, 0.8]]]
    with pytest.raises(TypeError, match=r"suggest\(predictions, n=10\)"):
        cs.suggest(rows, 10)
    with pytest.raises(TypeError, match=r"monitor\(stream, window=10\)"):
        cs.monitor(rows, 10)
