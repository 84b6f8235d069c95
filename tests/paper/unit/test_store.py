"""What experiments keep: each prediction and each cell is computed once."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from paper import devices, training
from paper import store as storing
from paper.networks import mnist_network
from paper.scales import Scale, Scales
from paper.shifts import Condition
from paper.store import Store

from small_data import write_cifar, write_mnist


@pytest.fixture
def store(tmp_path):
    write_mnist(tmp_path / "data" / "mnist")
    return Store(tmp_path / "data", tmp_path / "work", Scales(Scale(1, None, 3, 10)))


@pytest.fixture(autouse=True)
def weights(monkeypatch):
    """Weights that nobody has to train; what they are can be changed."""
    found = {}
    monkeypatch.setattr(Store, "_weights", lambda _, task, seed: found.get((task, seed), "first"))
    return found


def test_only_members_that_are_missing_are_asked(store, monkeypatch):
    asked = []

    def predict(_, task, seed, examples):
        asked.append((task, seed, len(examples)))
        return torch.full((len(examples), 2), float(seed))

    monkeypatch.setattr(Store, "predict", predict)
    condition = Condition("mnist", "rotation", 90)
    assert store.predictions(condition, [1])[0, 0, 0] == 1
    both = store.predictions(condition, [0, 1])
    assert both.shape == (2, 10, 2) and both[:, 0, 0].tolist() == [0, 1]  # in the order that was asked for
    assert asked == [("mnist", 1, 10), ("mnist", 0, 10)]
    store.predictions(Condition("mnist"), [0])
    assert asked[-1] == ("mnist", 0, 10) and len(asked) == 3  # another condition is another file


def test_predictions_that_are_not_kept_are_used_and_gone(store, monkeypatch, tmp_path):
    monkeypatch.setattr(Store, "predict", lambda _, __, seed, examples: torch.full((len(examples), 2), float(seed)))
    passing = Store(store.data_dir, store.work_dir, store.scales, keeps_predictions=False)
    assert passing.predictions(Condition("mnist"), [2, 1])[:, 0, 0].tolist() == [2, 1]
    assert not (tmp_path / "work").exists()
    store.predictions(Condition("mnist"), [1])
    monkeypatch.setattr(Store, "predict", lambda *_: pytest.fail("an earlier run kept them"))
    assert passing.predictions(Condition("mnist"), [1]).shape == (1, 10, 2)


def test_members_predict_on_all_devices(store, monkeypatch):
    monkeypatch.setenv(devices.VARIABLE, "cpu:0,cpu:1")
    places = threading.Barrier(2, timeout=30)
    found = {}

    def predict(_, __, seed, examples):
        places.wait()
        found[seed] = devices.device()
        return torch.full((len(examples), 2), float(seed))

    monkeypatch.setattr(Store, "predict", predict)
    assert store.predictions(Condition("mnist"), [0, 1])[:, 0, 0].tolist() == [0, 1]
    assert set(found.values()) == set(devices.devices())


def test_networks_see_the_images_of_a_condition_once(store, monkeypatch):
    """A member and its Laplace approximation answer from the same pass."""
    network, seen = mnist_network().eval(), []
    monkeypatch.setattr(storing, "get_member", lambda *_: network)
    monkeypatch.setattr(Store, "approximation", lambda *_: SimpleNamespace(network=network))
    monkeypatch.setattr(storing, "predict_laplace", lambda _, features, **__: features)

    def features(network, examples):
        seen.append(len(examples))
        return training.features(network, examples)

    monkeypatch.setattr(storing, "features", features)
    condition, other = Condition("mnist"), Condition("mnist", "rotation", 90)
    said, entered = (ask(condition, [0])[0] for ask in (store.predictions, store.laplace_predictions))
    np.testing.assert_allclose(said, training.predict(network, store.examples(condition)), atol=1e-6)
    assert entered.shape == (10, 128) and seen == [10]
    assert not np.allclose(store.laplace_predictions(other, [0])[0], entered) and seen == [10, 10]


def test_labels_and_examples_are_of_the_scale(store):
    condition = Condition("mnist")
    assert store.labels(condition).tolist() == store.examples(condition).labels.tolist()
    assert len(store.labels(condition)) == 10


def test_a_cell_that_fails_is_not_kept(store, tmp_path):
    def fail():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.cell("mnist", "grid/x", "a", fail)
    assert not list((tmp_path / "work").rglob("*.json"))
    assert store.cell("mnist", "grid/x", "a", lambda: {"EA": {"nll": 0.1}}) == {"EA": {"nll": 0.1}}
    assert store.cell("mnist", "grid/x", "a", fail) == {"EA": {"nll": 0.1}}
    other = Store(store.data_dir, store.work_dir, Scales(Scale(2, None, 3, 10)))
    assert other.cell("mnist", "grid/x", "a", lambda: 2) == 2  # other epochs are other cells


def test_a_cell_of_other_code_is_computed_again(store, monkeypatch):
    assert store.cell("mnist", "grid/x", "a", lambda: 1) == store.cell("mnist", "grid/x", "a", lambda: 2) == 1
    monkeypatch.setattr(storing, "of_code", lambda: "another version")
    assert store.cell("mnist", "grid/x", "a", lambda: 2) == 2


def test_predictions_are_as_they_were(store):
    array = np.random.default_rng(0).dirichlet(np.ones(3), size=4).astype(np.float32)

    class Told(Store):
        def predict(self, *_):
            return torch.from_numpy(array)

    told = Told(store.data_dir, store.work_dir, store.scales)
    for _ in range(2):
        np.testing.assert_array_equal(told.predictions(Condition("mnist"), [0])[0], array)


class Counting(Store):
    """Says the mean of the images, and counts how often."""

    def predict(self, _, __, examples):
        self._sources["asked"] = self._sources.get("asked", 0) + 1
        return torch.full((len(examples), 2), float(examples.batch(torch.arange(len(examples))).mean()))


def test_predictions_of_other_weights_are_others(store, weights):
    first = Counting(store.data_dir, store.work_dir, store.scales)
    first.predictions(Condition("mnist"), [0])
    weights["mnist", 0] = "second"
    second = Counting(store.data_dir, store.work_dir, store.scales)
    second.predictions(Condition("mnist"), [0])
    assert first._sources["asked"] == second._sources["asked"] == 1


def test_predictions_of_other_images_are_others(store, tmp_path):
    """The same names of files, other pixels in them."""
    before = Counting(store.data_dir, store.work_dir, store.scales).predictions(Condition("mnist"), [0])
    for path in (tmp_path / "data" / "mnist").iterdir():
        path.unlink()
    (tmp_path / "data" / "mnist").rmdir()
    write_mnist(tmp_path / "data" / "mnist", seed=1)
    after = Counting(store.data_dir, store.work_dir, store.scales).predictions(Condition("mnist"), [0])
    assert not np.array_equal(before, after)


def test_published_corruptions_take_the_place_of_those_made_here(store, tmp_path):
    write_cifar(tmp_path / "data" / "cifar10", 1)
    condition, scales = Condition("cifar10", "contrast", 2), Scales(Scale(1, None, 3))
    ours = Counting(store.data_dir, store.work_dir, scales)
    assert ours.described(condition).endswith(", corruptions made here")
    before, source = ours.predictions(condition, [0]), ours.source(condition, [0])
    published = tmp_path / "data" / "CIFAR-10-C"
    published.mkdir()
    np.save(published / "contrast.npy", np.full((60, 32, 32, 3), 7, dtype=np.uint8))
    theirs = Counting(store.data_dir, store.work_dir, scales)
    assert "made here" not in theirs.described(condition)
    assert not np.array_equal(theirs.predictions(condition, [0]), before)
    assert theirs.source(condition, [0]) != source
