"""Which tasks of an experiment run, and which of its rows are drawn; whole runs are in tests/experiments."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

import consilience as cs
from consilience.experiments.catalog import EXPERIMENTS
from consilience.experiments.reproduce import _draw_figures, _tasks_of
from consilience.experiments.results import Row


def test_tasks_run_in_the_order_of_the_experiment():
    assert _tasks_of(EXPERIMENTS["clean"], None) == ("mnist", "cifar10", "cifar100", "imagenet")
    assert _tasks_of(EXPERIMENTS["clean"], ["cifar100", "mnist"]) == ("mnist", "cifar100")


@pytest.mark.parametrize(("wanted", "got"), [(["mnist", "svhn"], "svhn"), ([], "none")])
def test_tasks_that_it_does_not_have(wanted, got):
    with pytest.raises(cs.InvalidPredictions, match=f"tasks of cost are mnist, .*; got {got}$"):
        _tasks_of(EXPERIMENTS["cost"], wanted)


def test_only_what_has_severities_is_drawn(tmp_path):
    def row(shift, severity, size=3):
        return Row("online", "mnist", shift, severity, size, 0, "EA", "nll", 1.0, "tiny")

    rows = [row("rotation", 0.0), row("rotation", 15.0), row("clean", 0.0), row("fog", 1.0), row("fog", 2.0, size=5)]
    (path,) = _draw_figures(EXPERIMENTS["online"], rows, tmp_path)
    assert path == tmp_path / "online-mnist-rotation.svg" and path.exists()
