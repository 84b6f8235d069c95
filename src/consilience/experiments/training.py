"""Training the members of an ensemble: one after the other or side by side, and going on where a kill left off."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from consilience.atomic import whole_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True)
class Recipe:
    """How the paper's appendix E trains a network."""

    epochs: int
    batch_size: int
    optimizer: str  # "adamw" or "sgd"
    learning_rate: float
    momentum: float = 0.0
    weight_decay: float | None = None  # None: the optimizer's own default
    milestones: tuple[int, ...] = ()  # epochs after which the learning rate is divided by ten
    augment: str | None = None  # "rotate-flip"

    def scaled_to(self, epochs: int) -> Recipe:
        """The same recipe in fewer epochs, its milestones moved in proportion."""
        milestones = tuple(round(epoch * epochs / self.epochs) for epoch in self.milestones)
        return Recipe(**(asdict(self) | {"epochs": epochs, "milestones": milestones}))


RECIPES = {
    "mnist": Recipe(10, 24, "adamw", 1e-3),
    "cifar10": Recipe(40, 128, "sgd", 1e-1, 0.9, 1e-4, (20, 30), "rotate-flip"),
}


def train_member(
    make: Callable[[], nn.Module],
    images: Tensor,
    labels: Tensor,
    recipe: Recipe,
    *,
    seed: int,
    path: Path,
    on_epoch: Callable[[int, float], None] = lambda _, __: None,
) -> nn.Module:
    """A trained network, from `path` where it is there already.

    After each epoch all that is needed to go on is written beside it. Every epoch draws its order, its augmentation and
    its dropout from (seed, epoch) alone, so that a run which was interrupted ends like one which was not.
    """
    torch.manual_seed(seed)
    network = make().to(memory_format=torch.channels_last)  # the faster order on CPUs
    if path.exists():
        network.load_state_dict(torch.load(path, weights_only=True))
        return network.eval()
    optimizer = _optimizer(network, recipe)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, list(recipe.milestones), 0.1)
    parts = {"network": network, "optimizer": optimizer, "scheduler": scheduler}
    checkpoint = path.with_suffix(".checkpoint")
    first = _resume(checkpoint, parts)
    for epoch in range(first, recipe.epochs):
        loss = _epoch(network, optimizer, images, labels, recipe, seed=1_000_003 * seed + epoch)
        scheduler.step()
        _save({name: part.state_dict() for name, part in parts.items()} | {"epoch": epoch + 1}, checkpoint)
        on_epoch(epoch, loss)
    _save(network.state_dict(), path)
    checkpoint.unlink(missing_ok=True)
    return network.eval()


def _optimizer(network: nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    options: dict[str, Any] = {} if recipe.weight_decay is None else {"weight_decay": recipe.weight_decay}
    if recipe.optimizer == "adamw":
        return torch.optim.AdamW(network.parameters(), lr=recipe.learning_rate, fused=True, **options)
    return torch.optim.SGD(
        network.parameters(), lr=recipe.learning_rate, momentum=recipe.momentum, fused=True, **options
    )


def _epoch(
    network: nn.Module, optimizer: torch.optim.Optimizer, images: Tensor, labels: Tensor, recipe: Recipe, *, seed: int
) -> float:
    """One pass over the shuffled images; the mean loss."""
    torch.manual_seed(seed)
    network.train()
    total = 0.0
    for batch in torch.randperm(len(images)).split(recipe.batch_size):
        some = images[batch] if recipe.augment is None else rotate_and_flip(images[batch])
        loss = nn.functional.cross_entropy(network(some.to(memory_format=torch.channels_last)), labels[batch])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += float(loss.detach()) * len(batch)
    return total / len(images)


def rotate_and_flip(images: Tensor, degrees: float = 90.0) -> Tensor:
    """Each image turned by an angle of up to ±degrees (nearest pixel, zeros outside), every other one mirrored.

    What torchvision's RandomRotation(90) and RandomHorizontalFlip do, a batch at a time.
    """
    angle = torch.deg2rad((2 * torch.rand(len(images)) - 1) * degrees)
    mirror = torch.where(torch.rand(len(images)) < 0.5, -1.0, 1.0)
    zero = torch.zeros_like(angle)
    rows = torch.stack([mirror * angle.cos(), -angle.sin(), zero, mirror * angle.sin(), angle.cos(), zero], dim=1)
    grid = nn.functional.affine_grid(rows.reshape(-1, 2, 3), list(images.shape), align_corners=False)
    return nn.functional.grid_sample(images, grid, mode="nearest", padding_mode="zeros", align_corners=False)


@torch.inference_mode()
def predict(network: nn.Module, images: Tensor, batch_size: int = 500) -> Tensor:
    """Probabilities (items, classes)."""
    return torch.softmax(torch.cat([network(part) for part in images.split(batch_size)]), dim=1)


def _resume(checkpoint: Path, parts: dict[str, Any]) -> int:
    """The epoch to go on with, everything being as it was then."""
    if not checkpoint.exists():
        return 0
    state = torch.load(checkpoint, weights_only=True)
    for name, part in parts.items():
        part.load_state_dict(state[name])
    return int(state["epoch"])


def _save(state: dict[str, Any], path: Path) -> None:
    with whole_file(path) as file:
        torch.save(state, file)
