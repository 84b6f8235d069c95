"""What members are trained on: a data set, how its images are normalized, a network and its recipe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from paper import datasets, imagenet, networks
from paper.downloads import fetch
from paper.examples import Examples
from paper.recipes import RECIPES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from torch import nn

    from paper.datasets import Images
    from paper.recipes import Recipe
    from paper.scales import Scale

Preset = Literal["mnist", "cifar10", "cifar100", "imagenet"]


@dataclass(frozen=True, kw_only=True)
class Task:
    """A data set with a network and a recipe, the paper's of appendix E but for the small ResNets of CIFAR-10."""

    name: str
    data_set: str  # its folder
    n_classes: int
    read: Callable[..., Images]  # (folder, train=...)
    mean: tuple[float, ...]  # of each channel
    std: tuple[float, ...]
    size: int  # of the images
    make_network: Callable[[], nn.Module]
    n_features: int  # of the network's last layer
    preset: Preset  # whose recipe, and whose hyper-parameters of Soft Dawid-Skene
    networks: tuple[Callable[[], nn.Module], ...] = ()  # one member's after the other, where they differ

    @property
    def recipe(self) -> Recipe:
        """How members are trained at the paper's scale."""
        return RECIPES[self.preset]

    def network_of(self, seed: int) -> Callable[[], nn.Module]:
        """How a member's network is made."""
        return self.networks[seed % len(self.networks)] if self.networks else self.make_network

    def images(self, data_dir: Path, *, train: bool) -> Images:
        """The images in [0, 1] and their labels, downloaded where they are not there."""
        fetch(self.data_set, data_dir)
        return self.read(data_dir / self.data_set, train=train)

    def training_examples(self, data_dir: Path, scale: Scale) -> Examples:
        """What members are trained on."""
        return self.examples(self.images(data_dir, train=True).first(scale.subset))

    def examples(self, images: Images) -> Examples:
        """Images as the network sees them."""
        return Examples(images, self.mean, self.std)


IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

CIFAR10 = Task(
    name="cifar10",
    data_set="cifar10",
    n_classes=10,
    read=datasets.read_cifar10,
    mean=(0.4914, 0.4822, 0.4465),
    std=(0.2470, 0.2435, 0.2616),
    size=32,
    make_network=lambda: networks.resnet18(10),
    n_features=512,
    preset="cifar10",
)

TASKS = {
    task.name: task
    for task in (
        Task(
            name="mnist",
            data_set="mnist",
            n_classes=10,
            read=datasets.read_mnist,
            mean=(0.1307,),
            std=(0.3081,),
            size=28,
            make_network=networks.mnist_network,
            n_features=128,
            preset="mnist",
        ),
        Task(
            name="fashion-mnist",
            data_set="fashion-mnist",
            n_classes=10,
            read=datasets.read_mnist,
            mean=(0.2860,),
            std=(0.3530,),
            size=28,
            make_network=networks.mnist_network,
            n_features=128,
            preset="mnist",
        ),
        CIFAR10,
        # The recipe of the paper's networks, but a network made for images of this size.
        replace(CIFAR10, name="cifar10-resnet20", make_network=lambda: networks.resnet20(10), n_features=64),
        # Networks that others published: https://github.com/akamaster/pytorch_resnet_cifar10, normalized like ImageNet.
        replace(
            CIFAR10,
            name="cifar10-published",
            mean=IMAGENET_MEAN,
            std=IMAGENET_STD,
            n_features=64,
            networks=tuple(partial(networks.padded_resnet, 10, depth) for depth in (20, 32, 44, 56)),
        ),
        Task(
            name="cifar100",
            data_set="cifar100",
            n_classes=100,
            read=datasets.read_cifar100,
            mean=(0.4914, 0.4822, 0.4465),  # what the published weights were trained with, which is CIFAR-10's mean
            std=(0.2023, 0.1994, 0.2010),
            size=32,
            make_network=lambda: networks.wide_resnet(100),
            n_features=640,
            preset="cifar100",
        ),
        Task(
            name="imagenet",
            data_set="imagenet",
            n_classes=1000,
            read=imagenet.read_imagenet,
            mean=IMAGENET_MEAN,
            std=IMAGENET_STD,
            size=224,
            make_network=lambda: networks.resnet50(1000),
            n_features=2048,
            preset="imagenet",
        ),
    )
}
