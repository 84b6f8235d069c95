"""What members are trained on: a data set, how its images are normalized, a network and its recipe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from consilience.experiments import datasets, networks
from consilience.experiments.downloads import fetch
from consilience.experiments.training import RECIPES, Recipe

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt
    from torch import Tensor, nn

    from consilience.experiments.datasets import Images


@dataclass(frozen=True)
class Task:
    """A data set with the network and the recipe of the paper's appendix E."""

    name: str
    n_classes: int
    folder: str  # of the data set, in the data directory
    read: Callable[..., Images]  # (folder, train=...)
    mean: tuple[float, ...]  # of each channel
    std: tuple[float, ...]
    make_network: Callable[[], nn.Module]
    recipe: Recipe

    def images(self, data_dir: Path, *, train: bool) -> Images:
        """The images in [0, 1] and their labels, downloaded where they are not there."""
        fetch(self.folder, data_dir)
        return self.read(data_dir / self.folder, train=train)

    def normalized(self, pixels: npt.NDArray[np.float32]) -> Tensor:
        """What the network sees."""
        mean, std = (torch.tensor(values).reshape(1, -1, 1, 1) for values in (self.mean, self.std))
        return (torch.from_numpy(pixels) - mean) / std


TASKS = {
    "mnist": Task(
        "mnist", 10, "mnist", datasets.read_mnist, (0.1307,), (0.3081,), networks.mnist_network, RECIPES["mnist"]
    ),
    "fashion-mnist": Task(
        "fashion-mnist",
        10,
        "fashion-mnist",
        datasets.read_mnist,
        (0.2860,),
        (0.3530,),
        networks.mnist_network,
        RECIPES["mnist"],
    ),
    "cifar10": Task(
        "cifar10",
        10,
        "cifar10",
        datasets.read_cifar10,
        (0.4914, 0.4822, 0.4465),
        (0.2470, 0.2435, 0.2616),
        lambda: networks.resnet18(10),
        RECIPES["cifar10"],
    ),
}
