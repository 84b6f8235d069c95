"""Which tasks of an experiment run, and which of its rows are drawn; whole runs are in tests/paper."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from paper.catalog import EXPERIMENTS
from paper.errors import CannotReproduce
from paper.reproduce import _draw_figures, _tasks_of
from paper.results import Row


def test_tasks_run_in_the_order_of_the_experiment():
    assert _tasks_of(EXPERIMENTS["clean"], None) == ("mnist", "cifar10", "cifar100", "imagenet")
    assert _tasks_of(EXPERIMENTS["clean"], ["cifar100", "mnist"]) == ("mnist", "cifar100")


@pytest.mark.parametrize(("wanted", "got"), [(["mnist", "svhn"], "svhn"), ([], "none")])
def test_tasks_that_it_does_not_have(wanted, got):
    with pytest.raises(CannotReproduce, match=f"tasks of cost are mnist, .*; got {got}$"):
        _tasks_of(EXPERIMENTS["cost"], wanted)


def row(shift, severity=0.0, size=3, metric="nll"):
    return Row("online", "mnist", shift, severity, size, 0, "EA", metric, 1.0, "tiny")


def test_neither_sizes_nor_seconds_are_drawn(tmp_path):
    rows = [row("rotation"), row("rotation", 15.0), row("clean"), row("fog", 1.0), row("fog", 2.0, size=5)]
    paths = _draw_figures(EXPERIMENTS["online"], [*rows, row("frost", metric="learn")], tmp_path)
    assert paths == [tmp_path / "online-mnist-rotation.svg", tmp_path / "online-mnist-clean.svg"]
    assert all(path.exists() for path in paths)
