"""Training the members of an ensemble: one after the other or side by side, and going on where a kill left off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from consilience.system.atomic import whole_file
from paper.ahead import made_ahead
from paper.devices import device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from paper.examples import Examples
    from paper.recipes import Recipe


def train_member(
    make: Callable[[], nn.Module],
    examples: Examples,
    recipe: Recipe,
    *,
    seed: int,
    path: Path,
    mixed: bool = False,
    on_epoch: Callable[[int, float], None] = lambda _, __: None,
) -> nn.Module:
    """A trained network, from `path` where it is there already; `mixed` multiplies in 16 bits.

    After each epoch all that is needed to go on is written beside it. Every epoch draws its order, its augmentation and
    its dropout from (seed, epoch) alone, so that a run which was interrupted ends like one which was not.
    """
    if path.exists():
        return load_network(make, path)
    torch.manual_seed(seed)
    network = make().to(device(), memory_format=torch.channels_last)  # the faster order on CPUs
    optimizer = recipe.make_optimizer(network)
    parts = {"network": network, "optimizer": optimizer, "scheduler": recipe.make_scheduler(optimizer)}
    checkpoint = path.with_suffix(".checkpoint")
    first = _resume(checkpoint, parts)
    for epoch in range(first, recipe.epochs):
        loss = _epoch(network, optimizer, examples, recipe, mixed=mixed, seed=1_000_003 * seed + epoch)
        parts["scheduler"].step()
        save_state({name: part.state_dict() for name, part in parts.items()} | {"epoch": epoch + 1}, checkpoint)
        on_epoch(epoch, loss)
    save_state(network.state_dict(), path)
    checkpoint.unlink(missing_ok=True)
    return network.eval()


def load_network(make: Callable[[], nn.Module], path: Path) -> nn.Module:
    """A network with the weights of a file."""
    network = make().to(device(), memory_format=torch.channels_last)
    network.load_state_dict(torch.load(path, weights_only=True, map_location=device()))
    return network.eval()


def _epoch(
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    examples: Examples,
    recipe: Recipe,
    *,
    mixed: bool,
    seed: int,
) -> float:
    """One pass over the shuffled images; the mean loss."""
    torch.manual_seed(seed)
    network.train()
    total, where = 0.0, device_of(network)
    order = torch.randperm(len(examples)).split(recipe.batch_size)
    for images, labels in _fed(
        ((examples.batch(batch, recipe.augment), examples.labels[batch]) for batch in order), where
    ):
        with _precision(where, mixed=mixed):
            logits = network(images.to(where, memory_format=torch.channels_last))
        loss = nn.functional.cross_entropy(logits.float(), labels.to(where))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += float(loss.detach()) * len(labels)
    return total / len(examples)


@torch.inference_mode()
def predict(network: nn.Module, examples: Examples, batch_size: int = 128, *, mixed: bool = False) -> Tensor:
    """Probabilities (items, classes). Batches are small, so that a processor's cache holds what a layer makes."""
    where, parts = device_of(network), []
    for images, _ in _fed(examples.batches(batch_size), where):
        with _precision(where, mixed=mixed):
            parts.append(network(images.to(where)).float().cpu())
    return torch.softmax(torch.cat(parts), dim=1)


def features(network: nn.Module, examples: Examples) -> Tensor:
    """What enters a network's last layer, for each image."""
    seen: list[Tensor] = []
    hook = last_layer(network).register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].cpu()))
    try:
        predict(network, examples)
    finally:
        hook.remove()
    return torch.cat(seen).clone()  # what was seen in inference mode takes no part in gradients


@torch.inference_mode()
def answers(network: nn.Module, features: Tensor) -> Tensor:
    """Probabilities (items, classes), from what enters the last layer: what `predict` says of the images."""
    return torch.softmax(last_layer(network)(features.to(device_of(network))).cpu(), dim=1)


def last_layer(network: nn.Module) -> nn.Module:
    """The linear layer that gives the logits."""
    return [module for module in network.modules() if isinstance(module, nn.Linear)][-1]


def device_of(network: nn.Module) -> torch.device:
    """The device that a network's weights are on."""
    return next(network.parameters()).device


def _fed(batches: Iterator[tuple[Tensor, Tensor]], where: torch.device) -> Iterator[tuple[Tensor, Tensor]]:
    """Batches, made ahead where another device than the processor works on them.

    On the processor nothing would be gained, and a network with dropout would draw from the same random numbers as the
    augmentation of the next batch.
    """
    return batches if where.type == "cpu" else made_ahead(batches)


def _precision(where: torch.device, *, mixed: bool) -> torch.autocast:
    """Multiplications in bfloat16, whose range is that of single precision, so that no loss has to be scaled."""
    return torch.autocast(where.type, torch.bfloat16, enabled=mixed)


def _resume(checkpoint: Path, parts: dict[str, Any]) -> int:
    """The epoch to go on with, everything being as it was then."""
    if not checkpoint.exists():
        return 0
    state = torch.load(checkpoint, weights_only=True, map_location=device())
    for name, part in parts.items():
        part.load_state_dict(state[name])
    return int(state["epoch"])


def save_state(state: dict[str, Any], path: Path) -> None:
    """A file of weights that is whole or absent."""
    with whole_file(path) as file:
        torch.save(state, file)
