"""Tasks: what is read, downloaded where it is absent, and shown to a network."""

import numpy as np
import pytest

pytest.importorskip("torch")

from paper import tasks
from paper.scales import Scale
from paper.tasks import TASKS

from small_data import write_mnist


def test_data_are_fetched_before_they_are_read(tmp_path, monkeypatch):
    asked = []

    def fetch(name, data_dir):
        asked.append(name)
        write_mnist(data_dir / name)

    monkeypatch.setattr(tasks, "fetch", fetch)
    examples = TASKS["fashion-mnist"].training_examples(tmp_path, Scale(subset=10))
    assert asked == ["fashion-mnist"]
    assert len(examples) == 10
    assert (examples.mean, examples.std) == ((0.2860,), (0.3530,))


@pytest.mark.parametrize("name", ["mnist", "cifar10"])
def test_images_and_networks_fit_together(name):
    """A network takes the task's images, and its last layer has the features that PE's memory is reckoned by."""
    import torch

    task = TASKS[name]
    network = task.make_network().eval()
    with torch.inference_mode():
        assert network(torch.zeros(1, len(task.mean), task.size, task.size)).shape == (1, task.n_classes)
    last = [module for module in network.modules() if isinstance(module, torch.nn.Linear)][-1]
    assert (last.in_features, last.out_features) == (task.n_features, task.n_classes)
    assert np.shape(task.mean) == np.shape(task.std)
