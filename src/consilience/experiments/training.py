"""Training the members of an ensemble: one after the other or side by side, and going on where a kill left off."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from consilience.system.atomic import whole_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from consilience.experiments.examples import Examples
    from consilience.experiments.recipes import Recipe


DEVICE = "CONSILIENCE_DEVICE"
"""The variable of the environment that names the device; the processes that train side by side inherit it."""


def use_device(name: str) -> None:
    """Let networks run on a device from now on, here and in processes that are started from here."""
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:  # torch asserts that it was built for GPUs
        raise ValueError(f"device must be one that torch has here, like cpu or cuda:0; got {name!r}") from error
    os.environ[DEVICE] = name


def best_device() -> torch.device:
    """The device that was asked for; else a GPU where there is one."""
    return torch.device(os.environ.get(DEVICE) or ("cuda" if torch.cuda.is_available() else "cpu"))


def train_member(
    make: Callable[[], nn.Module],
    examples: Examples,
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
    if path.exists():
        return load_network(make, path)
    torch.manual_seed(seed)
    network = make().to(best_device(), memory_format=torch.channels_last)  # the faster order on CPUs
    optimizer = recipe.make_optimizer(network)
    parts = {"network": network, "optimizer": optimizer, "scheduler": recipe.make_scheduler(optimizer)}
    checkpoint = path.with_suffix(".checkpoint")
    first = _resume(checkpoint, parts)
    for epoch in range(first, recipe.epochs):
        loss = _epoch(network, optimizer, examples, recipe, seed=1_000_003 * seed + epoch)
        parts["scheduler"].step()
        save_state({name: part.state_dict() for name, part in parts.items()} | {"epoch": epoch + 1}, checkpoint)
        on_epoch(epoch, loss)
    save_state(network.state_dict(), path)
    checkpoint.unlink(missing_ok=True)
    return network.eval()


def load_network(make: Callable[[], nn.Module], path: Path) -> nn.Module:
    """A network with the weights of a file."""
    network = make().to(best_device(), memory_format=torch.channels_last)
    network.load_state_dict(torch.load(path, weights_only=True, map_location=best_device()))
    return network.eval()


def _epoch(
    network: nn.Module, optimizer: torch.optim.Optimizer, examples: Examples, recipe: Recipe, *, seed: int
) -> float:
    """One pass over the shuffled images; the mean loss."""
    torch.manual_seed(seed)
    network.train()
    total, device = 0.0, best_device()
    for batch in torch.randperm(len(examples)).split(recipe.batch_size):
        images = examples.batch(batch, recipe.augment).to(device, memory_format=torch.channels_last)
        loss = nn.functional.cross_entropy(network(images), examples.labels[batch].to(device))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += float(loss.detach()) * len(batch)
    return total / len(examples)


@torch.inference_mode()
def predict(network: nn.Module, examples: Examples, batch_size: int = 500) -> Tensor:
    """Probabilities (items, classes)."""
    parts = [network(images.to(best_device())).cpu() for images, _ in examples.batches(batch_size)]
    return torch.softmax(torch.cat(parts), dim=1)


def _resume(checkpoint: Path, parts: dict[str, Any]) -> int:
    """The epoch to go on with, everything being as it was then."""
    if not checkpoint.exists():
        return 0
    state = torch.load(checkpoint, weights_only=True, map_location=best_device())
    for name, part in parts.items():
        part.load_state_dict(state[name])
    return int(state["epoch"])


def save_state(state: dict[str, Any], path: Path) -> None:
    """A file of weights that is whole or absent."""
    with whole_file(path) as file:
        torch.save(state, file)
