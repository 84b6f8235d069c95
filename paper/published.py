"""Members that others trained: the paper's for CIFAR-100 and ImageNet are the weights of Ashukha et al. (2020).

They are at https://github.com/bayesgroup/pytorch-ensembles (62 GB for the CIFARs, 10 GB for ImageNet), a file for each
network. Small ResNets for CIFAR-10 are at https://github.com/akamaster/pytorch_resnet_cifar10 (9 MB). Files are read as
weights alone: nothing in them is run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from paper.errors import CannotReproduce
from paper.members import member_path
from paper.tasks import TASKS
from paper.training import save_state

if TYPE_CHECKING:
    from pathlib import Path

    from torch import nn

    from paper.scales import Scale

SUFFIXES = (".pt", ".pth", ".th", ".tar")

COUNTER = ".num_batches_tracked"
"""Of a layer that normalizes batches: not a weight, and not in files that were written before 2018."""


def take_members(task: str, folder: Path, work_dir: Path, scale: Scale) -> None:
    """Keep the networks of a folder, in the order of their names, as the members of a task at the paper's scale."""
    if scale.epochs is not None or scale.subset is not None:
        raise CannotReproduce(f"published weights are of the paper's scale; leave out --epochs and --subset of {task}")
    files = sorted(path for path in folder.glob("*") if path.suffix in SUFFIXES)
    if len(files) < scale.n_members:
        raise CannotReproduce(f"{folder} must hold {scale.n_members} files of weights; it has {len(files)}")
    paths = {member_path(work_dir, task, scale, seed): seed for seed in range(scale.n_members)}
    found = {path: _weights(files[seed], task, seed) for path, seed in paths.items() if not path.exists()}
    for path, weights in found.items():  # all of them were checked, so all are kept or none
        path.parent.mkdir(parents=True, exist_ok=True)
        save_state(weights, path)


def _weights(file: Path, task: str, seed: int) -> dict[str, Any]:
    """The weights of a file, which are those of the member's network or an error."""
    network = TASKS[task].network_of(seed)()
    try:
        found = torch.load(file, weights_only=True, map_location="cpu")
        state = {_renamed(name, network): value for name, value in found.get("state_dict", found).items()}
        _check_names(state, network)
        network.load_state_dict(state)
    except Exception as error:  # not torch's, not weights alone, another network: torch raises many kinds
        raise CannotReproduce(f"{file} must hold the weights of {task}'s network; got {_first_line(error)}") from error
    return state


def _check_names(state: dict[str, Any], network: nn.Module) -> None:
    """Raise where parameters of the network are missing, or others are there."""
    expected = {name for name in network.state_dict() if name in state or not name.endswith(COUNTER)}
    wrong = {"lacks": sorted(expected - state.keys()), "has": sorted(state.keys() - expected)}
    said = [
        f"{verb} {names[0]}" + (f" and {len(names) - 1} more" if names[1:] else "")
        for verb, names in wrong.items()
        if names
    ]
    if said:
        raise CannotReproduce(f"other parameters: it {', and '.join(said)}")


def _renamed(name: str, network: nn.Module) -> str:
    """A parameter's name as the network has it: some were trained in parallel, some call their last layer `linear`."""
    name = name.removeprefix("module.")
    return name.replace("linear.", "fc.") if hasattr(network, "fc") else name


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
