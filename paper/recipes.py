"""How members are trained: the paper's appendix E, and where it takes published weights, how those were trained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import torch

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class Recipe:
    """Epochs, batches, optimizer, learning rate and augmentation."""

    epochs: int
    batch_size: int
    optimizer: Literal["adamw", "sgd"]
    learning_rate: float
    momentum: float = 0.0
    weight_decay: float | None = None  # None: the optimizer's own default
    milestones: tuple[int, ...] = ()  # epochs after which the learning rate is divided by ten
    falls_linearly: bool = False  # from half of the epochs to nine tenths of them, to a hundredth
    augment: Literal["rotate-flip", "crop-flip", "resize-crop-flip"] | None = None

    def scaled_to(self, epochs: int) -> Recipe:
        """The same recipe in fewer epochs, its milestones moved in proportion."""
        milestones = tuple(round(epoch * epochs / self.epochs) for epoch in self.milestones)
        return replace(self, epochs=epochs, milestones=milestones)

    def make_optimizer(self, network: nn.Module) -> torch.optim.Optimizer:
        """The optimizer of a network's weights."""
        options: dict[str, Any] = {} if self.weight_decay is None else {"weight_decay": self.weight_decay}
        if self.optimizer == "adamw":
            return torch.optim.AdamW(network.parameters(), lr=self.learning_rate, fused=True, **options)
        return torch.optim.SGD(
            network.parameters(), lr=self.learning_rate, momentum=self.momentum, fused=True, **options
        )

    def make_scheduler(self, optimizer: torch.optim.Optimizer) -> torch.optim.lr_scheduler.LRScheduler:
        """What changes the learning rate after each epoch."""
        if self.falls_linearly:
            return torch.optim.lr_scheduler.LambdaLR(optimizer, self.share_of_learning_rate)
        return torch.optim.lr_scheduler.MultiStepLR(optimizer, list(self.milestones), 0.1)

    def share_of_learning_rate(self, epoch: int) -> float:
        """Of a rate that falls linearly, what is left of it."""
        done = epoch / self.epochs
        return 1.0 - 0.99 * min(max((done - 0.5) / 0.4, 0.0), 1.0)


RECIPES = {
    "mnist": Recipe(10, 24, "adamw", 1e-3),
    "cifar10": Recipe(40, 128, "sgd", 1e-1, 0.9, 1e-4, (20, 30), augment="rotate-flip"),
    "cifar100": Recipe(300, 128, "sgd", 1e-1, 0.9, 5e-4, falls_linearly=True, augment="crop-flip"),
    "imagenet": Recipe(130, 256, "sgd", 1e-1, 0.9, 1e-4, (30, 60, 90, 120), augment="resize-crop-flip"),
}
"""MNIST and CIFAR-10 as the paper trains them. For CIFAR-100 and ImageNet it takes the weights that Ashukha et al.
(2020) published (see `published.py`); these are that work's recipes, for those who have to train."""
