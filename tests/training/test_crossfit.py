"""A family is never scored by a network that has seen it, and the whole of it runs."""

import argparse

import numpy as np
import pytest

pytest.importorskip("torch")
from rich.progress import Progress

from benchmarks.quality.families import SIDES
from benchmarks.quality.panel import AS_IT_IS, keep
from benchmarks.quality.prepare import Entry
from benchmarks.quality.scores import METRICS
from consilience.aggregators.consensus.learned.network import read
from panels_of_quality import hard, soft
from training import crossfit as module
from training.__main__ import run
from training.crossfit import Fold, crossfit, examine, folds_of, scored
from training.features import features_of
from training.fit import Recipe, fit
from training.network import Network
from training.panels import Lesson, exam_jobs, read_exam, store_all

FAMILIES = ["tables", "judges", "mnist"]


@pytest.fixture
def entries(tmp_path):
    """Three tuning families; held-out ones without files, so that opening one fails."""
    found = [Entry(tmp_path / f"{family}.npz", family, AS_IT_IS) for family in SIDES if SIDES[family] == "held-out"]
    for seed, family in enumerate(FAMILIES):
        panel = (hard if family == "judges" else soft)(seed, n_items=60, name=f"{family}-one", family=family)
        keep(panel, tmp_path)
        found.append(Entry(tmp_path / f"{panel.name}.npz", family, AS_IT_IS))
    return found


def test_folds_share_out_all_families():
    folds = folds_of([*SIDES, *SIDES], 4)
    assert sorted(family for fold in folds for family in fold) == sorted(SIDES)
    assert folds_of(["one", "two"], 4) == [("one",), ("two",)]


def test_a_fold_never_trains_on_its_families(monkeypatch):
    seen = []

    def spy(lessons, recipe, seed):
        seen.append({lesson.family for lesson in lessons})
        return fit(lessons, recipe, seed)

    monkeypatch.setattr(module, "fit", spy)
    features = features_of(soft(n_items=6, n_classes=2))
    shares = np.array([0.5, 0.5])
    lessons = [Lesson(features, np.zeros(6, int), shares, family) for family in ["generated crowd", *FAMILIES]]
    folds = [("tables", "judges"), ("mnist",)]
    found = crossfit(lessons, folds, Recipe(steps=1, networks=1))
    assert [fold.families for fold in found] == folds
    assert seen == [{"generated crowd", "mnist"}, {"generated crowd", "tables", "judges"}]


def test_each_panel_is_answered_by_the_network_that_has_not_seen_its_family(tmp_path, entries, monkeypatch):
    paths = store_all(exam_jobs(entries), tmp_path / "exams", 1, lambda _: None)
    folds = [Fold(("tables", "judges"), [Network()]), Fold(("mnist",), [Network()])]
    asked = []
    scored = module.scored
    monkeypatch.setattr(module, "scored", lambda exam, networks: asked.append(networks) or scored(exam, networks))
    rows = examine(paths, folds)
    assert asked == [folds[0].networks, folds[0].networks, folds[1].networks]
    with pytest.raises(KeyError, match="tables"):  # which no fold has left out: all have seen it
        examine(paths, folds[1:])
    known = {f"exact, {name}" for name in ("stated", "reweighted", "both")}
    assert {row["method"] for row in rows} >= {"average", "learned", "half learned"} | known
    by_method = {row["method"]: row for row in rows if row["family"] == "tables"}
    for metric in METRICS:  # a network that was not trained averages
        assert by_method["learned"][metric] == pytest.approx(by_method["average"][metric], abs=1e-2, nan_ok=True)


def test_shares_are_known_in_several_ways(tmp_path, entries):
    """Even ones only where they nearly are; those of an untrained network change nothing but by reweighting."""
    (path, *_) = store_all(exam_jobs(entries), tmp_path / "exams", 1, lambda _: None)
    exam = read_exam(path)
    for shares, is_even in (([0.25] * 4, True), ([0.7, 0.1, 0.1, 0.1], False)):
        rows = {row["method"]: row for row in scored(exam._replace(shares=np.array(shares)), [Network()])}
        assert ("even, stated" in rows) == is_even
        assert rows["exact, stated"]["nll"] == pytest.approx(rows["learned"]["nll"])
        assert rows["exact, both"]["nll"] == pytest.approx(rows["exact, reweighted"]["nll"])
        assert rows["exact, reweighted"]["nll"] != pytest.approx(rows["learned"]["nll"], rel=1e-4)


OPTIONS = {"panels": 20, "draws": 1, "steps": 2, "networks": 2, "seed": 0, "kinds": None, "jobs": 1}


def test_the_whole_of_it_runs(tmp_path, entries):
    options = argparse.Namespace(work_dir=tmp_path, own_dir=None, no_exam=False, no_bench=False, **OPTIONS)
    shown = run(options, entries, Progress(disable=True))
    assert "from 20 generated panels and 3 drawn from tuning families" in shown
    assert "Left out together: judges; mnist; tables." in shown
    assert "learned by family, all kinds" in shown
    assert sorted(path.stem for path in (tmp_path / "folds").iterdir()) == ["judges", "mnist", "tables"]
    first = read(tmp_path / "weights.npz")
    assert run(options, entries, Progress(disable=True)).splitlines()[:2] == shown.splitlines()[:2]
    np.testing.assert_array_equal(read(tmp_path / "weights.npz").first, first.first)  # the same seed, the same weights


def test_own_panels_take_part(tmp_path):
    (tmp_path / "own").mkdir()
    for number in range(2):
        panel = soft(number, n_items=40)
        np.savez(tmp_path / "own" / f"task{number}.npz", truth=panel.truth, probabilities=panel.probabilities)
    options = argparse.Namespace(work_dir=tmp_path, own_dir=tmp_path / "own", no_exam=False, no_bench=True, **OPTIONS)
    shown = run(options, [], Progress(disable=True))
    assert "and 0 drawn from tuning families, 2 drawn from the user's" in shown
    assert "own task0" in shown
