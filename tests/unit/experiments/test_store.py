"""What experiments keep: each prediction and each cell is computed once."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from consilience.experiments.scales import Scale, Scales
from consilience.experiments.shifts import Condition
from consilience.experiments.store import Store

from small_data import write_mnist


@pytest.fixture
def store(tmp_path):
    write_mnist(tmp_path / "data" / "mnist")
    return Store(tmp_path / "data", tmp_path / "work", Scales(Scale(1, None, 3, 10)))


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


def test_labels_and_examples_are_of_the_scale(store):
    condition = Condition("mnist")
    assert store.labels(condition).tolist() == store.examples(condition).labels.tolist()
    assert len(store.labels(condition)) == 10


def test_a_cell_that_fails_is_not_kept(store, tmp_path):
    def fail():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.cell("mnist", "grid/x", fail)
    assert not list((tmp_path / "work").rglob("*.json"))
    assert store.cell("mnist", "grid/x", lambda: {"EA": {"nll": 0.1}}) == {"EA": {"nll": 0.1}}
    assert store.cell("mnist", "grid/x", fail) == {"EA": {"nll": 0.1}}
    other = Store(store.data_dir, store.work_dir, Scales(Scale(2, None, 3, 10)))
    assert other.cell("mnist", "grid/x", lambda: 2) == 2  # other epochs are other cells


def test_predictions_are_as_they_were(store):
    array = np.random.default_rng(0).dirichlet(np.ones(3), size=4).astype(np.float32)

    class Told(Store):
        def predict(self, *_):
            return torch.from_numpy(array)

    told = Told(store.data_dir, store.work_dir, store.scales)
    for _ in range(2):
        np.testing.assert_array_equal(told.predictions(Condition("mnist"), [0])[0], array)
