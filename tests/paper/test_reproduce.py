"""Experiments from start to end on data made here; what is finished is not computed again."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("matplotlib")

import consilience as cs
from consilience.system.machine import Progress
from paper import catalog, tasks
from paper import reproduce as reproducing
from paper.algorithm_1 import Algorithm1
from paper.catalog import EXPERIMENTS, confusion, example, grids, online, readings
from paper.catalog.run import Run
from paper.corruptions import CORRUPTIONS
from paper.errors import CannotReproduce
from paper.reproduce import reproduce
from paper.results import Row, read_rows, summarized
from paper.scales import Scale, Scales, read_scales
from paper.shifts import Condition
from paper.store import Store
from paper.tasks import TASKS, Task

from small_data import write_by_class, write_cifar, write_mnist


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Bars that stand and lie, as MNIST; a network of one layer, so that tests are about experiments."""
    write_mnist(tmp_path / "data" / "mnist")
    for module in (grids, online, example):
        monkeypatch.setattr(module, "ANGLES", (0, 90))
    monkeypatch.setattr(grids, "SEVERITIES", (1, 5))
    monkeypatch.setattr(online, "SEVERITIES", (1, 5))
    monkeypatch.setattr(grids, "CORRUPTIONS", ("fog", "contrast"))
    monkeypatch.setattr(confusion, "DEGREES", 90)
    for name, task in TASKS.items():
        monkeypatch.setitem(TASKS, name, small(task))
    monkeypatch.setattr(tasks, "fetch", no_network)
    monkeypatch.setattr(catalog.run, "fetch", no_network)
    return Store(tmp_path / "data", tmp_path / "work", Scales(Scale(1, None, 3)))


def no_network(name, data_dir):
    if not (data_dir / name).exists():
        raise ConnectionError(f"{name} is not there")


def small(task):
    """The task with a network of one layer, on small images of few classes."""
    n_classes, n_channels = min(task.n_classes, 10), len(task.mean)
    n_values = n_channels * task.size**2

    def make():
        return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(n_values, n_classes))

    fields = {name: getattr(task, name) for name in Task.__dataclass_fields__}
    return Task(**fields | {"make_network": make, "networks": (), "n_classes": n_classes, "n_features": n_values})


def run(name, store, tmp_path, **options):
    return reproduce(name, store, tmp_path / "out", jobs=1, **{"with_laplace": False} | options)


@pytest.mark.parametrize(("library", "options"), [("matplotlib", {}), ("laplace", {"with_laplace": True})])
def test_missing_libraries_are_told_before_training(store, tmp_path, monkeypatch, library, options):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf'{library}, which is not installed: pip install "consilience\[paper\]"'):
        run("clean", store, tmp_path, tasks=["mnist"], **options)
    assert not (tmp_path / "work").exists()


def test_all_missing_libraries_are_told_at_once_and_only_those_that_are_needed(store, tmp_path, monkeypatch):
    for library in ("matplotlib", "laplace"):
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=r"drawing figures needs matplotlib, .*; PE, .*, needs laplace"):
        run("clean", store, tmp_path, tasks=["mnist"], with_laplace=True)
    with pytest.raises(ImportError) as raised:  # it compares Soft Dawid-Skene with averaging alone
        run("online", store, tmp_path, tasks=["mnist"], with_laplace=True)
    assert "laplace" not in str(raised.value)


@pytest.mark.parametrize("task", ["mnist", "cifar10-published"])
def test_every_reading_is_scored(store, tmp_path, monkeypatch, task):
    monkeypatch.setattr(readings, "ANGLES", (90,))
    monkeypatch.setattr(readings, "CORRUPTIONS", ("fog",))
    if task != "mnist":
        write_cifar(tmp_path / "data" / "cifar10", 1)
    written, _ = run("readings", store, tmp_path, tasks=[task])
    assert {path.suffix for path in written} == {".csv", ".md", ".tex"}
    rows = read_rows(written[0])
    assert {row.method for row in rows} == {"EA", "SDS (ours)", *readings.READINGS}
    assert {row.metric for row in rows} == set(readings.METRICS)


def test_a_reading_changes_what_it_names():
    letter = cs.SoftDawidSkene.paper("cifar10").get_params()
    for name, options in readings.OPTIONS.items():
        found = readings.method(name, "cifar10").get_params()
        assert {option for option in letter if found[option] != letter[option]} == options.keys()
    plain = Algorithm1(preset="cifar10")
    for name, options in readings.WRITTEN.items():
        found = readings.method(name, "cifar10")
        assert {field for field in vars(plain) if getattr(found, field) != getattr(plain, field)} == options.keys()
    assert len({str(readings.method(name, "cifar10")) for name in readings.READINGS}) == len(readings.READINGS) >= 50


def test_elsewhere_the_best_reading_alone_is_scored(store, tmp_path, monkeypatch):
    monkeypatch.setattr(readings, "CHOSEN_ON", ())
    run_of = Run(store, ("mnist",), with_laplace=False)
    names = [cell.name.rpartition("/")[2] for cell in readings.cells(run_of)]
    assert set(names) == {"EA", "SDS (paper)", "moments anew", "start from counts", "SDS (ours)"}


def test_from_members_to_tables(store, tmp_path):
    store = Store(store.data_dir, store.work_dir, Scales(Scale(1, None, 6)))
    written, notes = run("mnist-rotation", store, tmp_path)
    assert {path.suffix for path in written} == {".csv", ".md", ".tex", ".svg"} and not notes
    assert "mnist-rotation-confusion.svg" in {path.name for path in written} and all(p.exists() for p in written)
    rows = read_rows(written[0])
    assert len(rows) == 2 * 2 * 11 * 8  # angles × ensembles × methods × metrics
    assert {row.scale for row in rows} == {"1 epoch, 6 members, all test images"}
    accuracy = summarized(rows)["mnist", "rotation", 0.0, 3, "EA", "accuracy"]
    turned = summarized(rows)["mnist", "rotation", 90.0, 3, "EA", "accuracy"]
    assert accuracy.mean > 0.9 and turned.mean < 0.1  # bars that lie look upright then
    labels = store.labels(Condition("mnist"))
    array = store.predictions(Condition("mnist", "rotation", 0), [0, 1, 2])
    found = next(r.value for r in rows if (r.method, r.metric, r.severity, r.ensemble) == ("EA", "accuracy", 0, 0))
    assert found == pytest.approx(cs.metrics.accuracy(array.mean(axis=0), labels), abs=1e-6)
    text = written[1].read_text()
    assert "| against EA |" in text and "| against the best of DS, BCC, EA, MV, PE |" in text
    assert "imagenet" not in text  # of which the paper prints numbers, but not of this


class Told(Progress):
    """Remembers what it is told; dies of it where it is asked to."""

    def __init__(self, dies_at=None):
        super().__init__()
        self.expected, self.finished, self.begun, self.said, self.dies_at = 0, 0, [], [], dies_at

    def expect(self, n_parts):
        self.expected += n_parts

    def begin(self, what):
        self.begun.append(what)
        if len(self.begun) == self.dies_at:
            raise KeyboardInterrupt

    def finish(self):
        self.finished += 1

    def say(self, sentence):
        self.said.append(sentence)


def test_a_run_that_is_killed_goes_on(store, tmp_path, monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        run("mnist-rotation", store, tmp_path, progress=Told(dies_at=12))
    assert not (tmp_path / "out").exists() and not list(tmp_path.rglob("*.part"))
    n_kept = len(list((tmp_path / "work" / "cells").rglob("*.json")))
    assert n_kept > 0
    told = Told()
    run("mnist-rotation", store, tmp_path, progress=told)
    assert told.expected == told.finished == 2 * 11  # members were there: cells alone
    first = (tmp_path / "out" / "mnist-rotation.csv").read_text()
    monkeypatch.setattr(grids, "posterior", lambda *_: pytest.fail("a finished cell was computed again"))
    run("mnist-rotation", store, tmp_path / "again")
    assert (tmp_path / "again" / "out" / "mnist-rotation.csv").read_text() == first


@pytest.mark.parametrize("name", ["online", "cost", "explain", "clean", "ensemble-size", "averaging"])
def test_other_experiments_on_digits(store, tmp_path, name):
    written, _ = run(name, store, tmp_path, tasks=["mnist"])
    rows = read_rows(written[0])
    assert rows and all(np.isfinite(row.value) for row in rows)
    assert name != "cost" or {row.metric for row in rows} == {"pred", "aggr", "total"}


def test_probabilistic_ensembling_takes_part(store, tmp_path):
    pytest.importorskip("laplace")
    for name in ("clean", "cost"):
        written, _ = run(name, store, tmp_path, tasks=["mnist"], with_laplace=True)
        found = {row.metric for row in read_rows(written[0]) if row.method == "PE"}
        assert found == (
            {"lap", "pred", "aggr", "total"}
            if name == "cost"
            else {"accuracy", "ece 300", "ece 300 floor", "ece 15", "ece 15 floor", "ece debiased", "brier", "nll"}
        )


def test_tasks_have_scales_of_their_own(store, tmp_path):
    write_cifar(tmp_path / "data" / "cifar10", 1)
    scales = read_scales(TASKS, {"epochs": ["1", "cifar10=2"], "n_members": ["3", "mnist=6"], "n_items": ["cifar10=8"]})
    written, _ = run("clean", Store(store.data_dir, store.work_dir, scales), tmp_path, tasks=["mnist", "cifar10"])
    found = {(row.task, row.ensemble): row.scale for row in read_rows(written[0])}
    assert found == {
        ("mnist", 0): "1 epoch, 6 members, all test images",
        ("mnist", 1): "1 epoch, 6 members, all test images",
        ("cifar10", 0): "2 epochs, 3 members, 8 test images",
    }
    assert (store.work_dir / "members" / "cifar10-2-epochs" / "member-2.pt").exists()


@pytest.mark.parametrize(("name", "task", "n_labels"), [("cifar10-c", "cifar10", 1), ("cifar100-c", "cifar100", 2)])
def test_corrupted_cifar(store, tmp_path, name, task, n_labels):
    write_cifar(tmp_path / "data" / task, n_labels)
    written, notes = run(name, store, tmp_path)
    assert len(notes) == 1 and notes[0].startswith(f"Corruptions of {task} are made here")
    assert {(row.task, row.shift) for row in read_rows(written[0])} == {(task, "fog"), (task, "contrast")}


def test_photographs_of_frost_are_asked_for_before_any_work(store, tmp_path, monkeypatch):
    monkeypatch.setattr(grids, "CORRUPTIONS", ("fog", "frost"))
    write_cifar(tmp_path / "data" / "cifar10", 1)
    with pytest.raises(OSError, match="frost needs the photographs"):
        run("cifar10-c", store, tmp_path)
    assert not store.work_dir.exists()


def test_published_corruptions_make_other_numbers(store, tmp_path):
    """A rerun after the published files were put there is of them, and says so."""
    write_cifar(tmp_path / "data" / "cifar10", 1)
    first, notes = run("cifar10-c", store, tmp_path)
    assert notes and all(row.scale.endswith("corruptions made here") for row in read_rows(first[0]))
    before = read_rows(first[0])
    (tmp_path / "data" / "CIFAR-10-C").mkdir()
    for place, name in enumerate(CORRUPTIONS):
        np.save(tmp_path / "data" / "CIFAR-10-C" / f"{name}.npy", np.full((60, 32, 32, 3), place, dtype=np.uint8))
    again = Store(store.data_dir, store.work_dir, store.scales)
    written, notes = run("cifar10-c", again, tmp_path / "again")
    after = read_rows(written[0])
    assert not notes and not any("made here" in row.scale for row in after)
    assert [row.value for row in after] != [row.value for row in before]


def test_predictions_without_room_are_told_before_the_work(store, tmp_path, monkeypatch):
    monkeypatch.setattr(reproducing, "MUCH", 1)
    monkeypatch.setattr(reproducing.shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    with pytest.raises(OSError, match="predictions take up to .* GB in .*; 0 GB are free"):
        run("mnist-rotation", store, tmp_path)
    assert not store.work_dir.exists()
    passing = Store(store.data_dir, store.work_dir, store.scales, keeps_predictions=False)
    told = Told()
    run("mnist-rotation", passing, tmp_path, progress=told)
    assert not (store.work_dir / "predictions").exists() and not any("GB" in sentence for sentence in told.said)


def test_what_predictions_take_is_said_before_they_are_written(store, tmp_path, monkeypatch):
    monkeypatch.setattr(reproducing, "MUCH", 1)
    told = Told(dies_at=3)
    with pytest.raises(KeyboardInterrupt):
        run("mnist-rotation", store, tmp_path, progress=told)
    assert "Predictions take up to 0 GB" in told.said[0] and "--no-keep-predictions" in told.said[0]
    assert not (store.work_dir / "predictions").exists()


def test_networks_that_others_trained(store, tmp_path):
    with pytest.raises(CannotReproduce, match=r"cifar10_resnets\.npz must hold the logits .*; it is not there"):
        run("cifar10-resnets", store, tmp_path)
    rng = np.random.default_rng(0)
    logits = {f"{name}_logits": rng.normal(size=(4, 30, 10)) for name in ("clean", "jpeg")}
    np.savez(store.data_dir / "cifar10_resnets.npz", labels=rng.integers(10, size=30), **logits)
    rows = read_rows(run("cifar10-resnets", store, tmp_path)[0][0])
    assert {row.ensemble for row in rows} == {0, 1, 2, 3} and {row.shift for row in rows} == {"clean", "jpeg"}
    assert {row.scale for row in rows} == {"published networks, 4 members in overlapping ensembles, 30 test images"}


def test_the_papers_own_tables(store, tmp_path):
    (path,), _ = run("printed", store, tmp_path)
    text = path.read_text(encoding="utf-8")
    assert "36 / 5 / 34" in text and "12 / 2 / 61" in text and text.count("| 0.904 |") == 4


@pytest.mark.parametrize("name", ["cifar10-resnet20", "cifar10-published"])
def test_small_residual_networks(store, tmp_path, name):
    write_cifar(tmp_path / "data" / "cifar10", 1)
    rows = read_rows(run(name, store, tmp_path)[0][0])
    assert {row.shift for row in rows} == {"clean", "fog", "contrast"} and {row.task for row in rows} == {name}
    rows = read_rows(run("clean", store, tmp_path, tasks=[name])[0][0])  # on request
    assert {row.task for row in rows} == {name}


def test_corrupted_imagenet(store, tmp_path):
    for part in ("train", "val"):
        write_by_class(tmp_path / "data" / "imagenet" / part)
    for shift in ("fog", "contrast"):
        for severity in (1, 5):
            write_by_class(tmp_path / "data" / "ImageNet-C" / shift / str(severity))
    written, _ = run("imagenet-c", store, tmp_path)
    assert "| EA, as printed |" in written[1].read_text()  # the paper's numbers beside ours
    written, _ = run("clean", store, tmp_path, tasks=["imagenet"])
    assert {row.task for row in read_rows(written[0])} == {"imagenet"}


def test_foreign_items(store, tmp_path):
    write_mnist(tmp_path / "data" / "fashion-mnist", seed=1)
    written, notes = run("ood", store, tmp_path, tasks=["mnist"])
    rows = read_rows(written[0])
    assert {row.severity for row in rows} == {0.1, 0.2, 0.3, 0.4, 0.5}
    assert {row.shift for row in rows} == {"fashion-mnist"} and {row.metric for row in rows} == {
        "auroc",
        "auroc entropy",
    }
    (note,) = notes
    assert note == "mnist against notmnist is left out: notmnist is not in the data directory."


def test_bad_names(store, tmp_path):
    with pytest.raises(CannotReproduce, match="the experiment must be one of mnist-rotation"):
        run("nope", store, tmp_path)
    with pytest.raises(CannotReproduce, match="tasks of cost are mnist, .*, cifar10-published; got svhn"):
        run("cost", store, tmp_path, tasks=["svhn"])
    few = Store(store.data_dir, store.work_dir, Scales(Scale(n_members=2)))
    with pytest.raises(CannotReproduce, match="an ensemble of 3 needs as many members; mnist has 2"):
        run("cost", few, tmp_path)
    with pytest.raises(OSError, match="cifar10 is not there; cifar100 is not there; .*; without them: --tasks mnist$"):
        run("clean", store, tmp_path)


def test_every_experiment_names_its_tasks():
    for experiment in EXPERIMENTS.values():
        assert set(experiment.tasks) | set(experiment.on_request) <= set(TASKS)
        assert not set(experiment.tasks) & set(experiment.on_request)


def rows_of(values):
    return [
        Row("x", "t", "s", severity, 3, ensemble, method, "nll", value, "tiny")
        for (method, severity, ensemble), value in values.items()
    ]
