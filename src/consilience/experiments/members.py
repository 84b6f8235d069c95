"""Trained members, kept in a folder: those that are there are not trained again."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TYPE_CHECKING

import torch

from consilience.experiments.tasks import TASKS
from consilience.experiments.training import load_network, train_member
from consilience.system.threads import n_threads

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from torch import nn

    from consilience.experiments.scales import Scale


def member_path(work_dir: Path, task: str, scale: Scale, seed: int) -> Path:
    """Where a trained member is kept."""
    return work_dir / "members" / scale.folder(task) / f"member-{seed}.pt"


def get_member(task: str, seed: int, data_dir: Path, work_dir: Path, scale: Scale) -> nn.Module:
    """A member, trained here and now unless it is kept already."""
    path, settings = member_path(work_dir, task, scale, seed), TASKS[task]
    if path.exists():
        return load_network(settings.make_network, path)
    path.parent.mkdir(parents=True, exist_ok=True)
    recipe = settings.recipe if scale.epochs is None else settings.recipe.scaled_to(scale.epochs)
    log = path.with_suffix(".log")

    def note(epoch: int, loss: float) -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"epoch {epoch + 1} loss {loss:.5f}\n")

    examples = settings.training_examples(data_dir, scale)
    return train_member(settings.make_network, examples, recipe, seed=seed, path=path, on_epoch=note)


def train_members(
    task: str,
    seeds: list[int],
    data_dir: Path,
    work_dir: Path,
    *,
    scale: Scale,
    jobs: int | None = None,
    on_member: Callable[[], None] = lambda: None,
) -> None:
    """Train these members, one per core at a time: small networks do not share cores well. One job: in this process."""
    if jobs == 1:
        for seed in seeds:
            get_member(task, seed, data_dir, work_dir, scale)
            on_member()
        return
    with ProcessPoolExecutor(jobs or n_threads(), mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(_train_alone, task, seed, data_dir, work_dir, scale) for seed in seeds]
        for future in as_completed(futures):
            future.result()
            on_member()


def missing_members(task: str, work_dir: Path, scale: Scale) -> list[int]:
    """The members of a scale that are not kept yet."""
    return [seed for seed in range(scale.n_members) if not member_path(work_dir, task, scale, seed).exists()]


def _train_alone(task: str, seed: int, data_dir: Path, work_dir: Path, scale: Scale) -> None:
    torch.set_num_threads(1)
    get_member(task, seed, data_dir, work_dir, scale)
