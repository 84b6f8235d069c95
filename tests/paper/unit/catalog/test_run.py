"""An experiment under way: ensembles, what is remembered, notes, and cells that become rows."""

import numpy as np
import pytest

pytest.importorskip("torch")

from paper.catalog import run as module
from paper.catalog.run import Cell, Published, Run, Where
from paper.corruptions import CORRUPTIONS
from paper.results import Row
from paper.scales import Scale, Scales
from paper.shifts import Condition
from paper.store import Store


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "data", tmp_path / "work", Scales(Scale(1, None, 7)))


class Asked:
    """A store that remembers what it was asked for."""

    def __init__(self):
        self.conditions = []

    def predictions(self, condition, seeds):
        self.conditions.append(str(condition))
        return np.full((len(seeds), 1, 2), len(self.conditions))


def test_ensembles_share_no_member_and_leave_out_the_rest(store):
    assert Run(store, ("mnist",)).ensembles("mnist") == [[0, 1, 2], [3, 4, 5]]


def test_two_conditions_are_remembered():
    """In- and out-of-distribution are needed together: a third condition takes the place of the oldest."""
    store = Asked()
    run = Run(store, ("mnist",))
    first, second, third = (Condition("mnist", "rotation", angle) for angle in (0, 15, 30))
    for condition in (first, second, first, second, third, second, first):
        run.predictions(condition, [0, 1])
    assert store.conditions == [str(first), str(second), str(third), str(first)]


def test_what_does_not_fit_is_said_once(store):
    under_way = Run(store, ("imagenet",))
    assert not under_way.has_laplace("imagenet") and not under_way.has_laplace("imagenet")
    (note,) = under_way.notes
    assert note.startswith("PE is left out for imagenet: Jacobians of 1,000 outputs by 2,049,000 weights take 7.6 GiB")
    assert under_way.has_laplace("mnist") and not Run(store, ("mnist",), with_laplace=False).has_laplace("mnist")


@pytest.mark.parametrize("error", [ConnectionError("no network"), ImportError("no pooch")])
def test_data_that_cannot_be_had_are_left_out_with_a_note(store, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(module, "fetch", fail)
    run = Run(store, ("mnist",))
    assert not run.has_data("svhn", "a pair is left out")
    assert run.notes == ["a pair is left out: svhn is not in the data directory."]
    (store.data_dir / "svhn").mkdir(parents=True)
    assert not run.has_data("svhn", "a pair is left out")  # an empty folder holds no data
    (store.data_dir / "svhn" / "test_32x32.mat").write_bytes(b"x")
    assert run.has_data("svhn", "a pair is left out")


def test_a_folder_with_labels_alone_is_not_the_data_set(store, monkeypatch):
    asked = []
    monkeypatch.setattr(module, "fetch", lambda name, _: asked.append(name))
    folder = store.data_dir / "CIFAR-10-C"
    folder.mkdir(parents=True)
    (folder / "labels.npy").write_bytes(b"x")
    run = Run(store, ("cifar10",))
    assert not run.has_data("CIFAR-10-C", "made here") and not run.has_data("CIFAR-10-C", "made here")
    assert asked == ["CIFAR-10-C"] * 2  # what could not be had is tried again
    for name in CORRUPTIONS:
        (folder / f"{name}.npy").write_bytes(b"x")
    assert run.has_data("CIFAR-10-C", "made here")


def test_cells_become_rows_and_are_computed_once(store):
    def compute():
        return {"EA": {"nll": 0.5}, "SDS": {"nll": 0.25, "accuracy": 1}}

    where = Where(Condition("mnist", "fashion-mnist"), [3, 4, 5], ensemble=1, severity=0.2)
    run = Run(store, ("mnist",))
    scale = "1 epoch, 7 members, all test images"
    of = Published("a checksum", scale)
    rows = list(run.rows("ood", [Cell(where, "a/cell", compute, of)]))
    assert rows[1:] == [
        Row("ood", "mnist", "fashion-mnist", 0.2, 3, 1, "SDS", "nll", 0.25, scale),
        Row("ood", "mnist", "fashion-mnist", 0.2, 3, 1, "SDS", "accuracy", 1.0, scale),
    ]
    again = list(run.rows("ood", [Cell(where, "a/cell", lambda: pytest.fail("computed again"), of)]))
    assert again == rows
    other = Cell(where, "a/cell", lambda: {"EA": {"nll": 3.0}}, Published("another", scale))
    assert [row.value for row in run.rows("ood", [other])] == [3.0]  # of other data, under the same name
