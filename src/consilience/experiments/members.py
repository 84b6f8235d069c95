"""Trained members, kept in a folder: those that are there are not trained again.

python -m consilience.experiments.members mnist --data-dir DATA --work-dir WORK --members 9
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from consilience.experiments.tasks import TASKS
from consilience.experiments.training import train_member
from consilience.threads import n_threads

if TYPE_CHECKING:
    from torch import nn

    from consilience.experiments.training import Recipe


@dataclass(frozen=True)
class Scale:
    """At which scale members are trained: None is the paper's."""

    epochs: int | None = None
    subset: int | None = None  # so many training images, the first of them

    def __str__(self) -> str:
        """In words, for results and the names of folders."""
        epochs = "the paper's epochs" if self.epochs is None else f"{self.epochs} epochs"
        return epochs if self.subset is None else f"{epochs}, {self.subset} training images"

    def folder(self, task: str) -> str:
        """Where members of this scale go."""
        parts = [task, f"{self.epochs or 'all'}-epochs", *([] if self.subset is None else [f"{self.subset}-images"])]
        return "-".join(parts)

    def recipe(self, task: str) -> Recipe:
        """The task's recipe at this scale."""
        recipe = TASKS[task].recipe
        return recipe if self.epochs is None else recipe.scaled_to(self.epochs)


def member_path(work_dir: Path, task: str, scale: Scale, seed: int) -> Path:
    """Where a trained member is kept."""
    return work_dir / "members" / scale.folder(task) / f"member-{seed}.pt"


def get_member(task: str, seed: int, data_dir: Path, work_dir: Path, scale: Scale) -> nn.Module:
    """A member, trained here and now unless it is kept already."""
    path = member_path(work_dir, task, scale, seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    settings = TASKS[task]
    data = settings.images(data_dir, train=True)
    images, labels = settings.normalized(data.pixels[: scale.subset]), torch.from_numpy(data.labels[: scale.subset])
    log = path.with_suffix(".log")

    def note(epoch: int, loss: float) -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"epoch {epoch + 1} loss {loss:.5f}\n")

    return train_member(settings.make_network, images, labels, scale.recipe(task), seed=seed, path=path, on_epoch=note)


def train_members(
    task: str, seeds: list[int], data_dir: Path, work_dir: Path, *, scale: Scale, jobs: int | None = None
) -> None:
    """Train all members that are not kept yet, one per core at a time: small networks do not share cores well."""
    missing = [seed for seed in seeds if not member_path(work_dir, task, scale, seed).exists()]
    if not missing:
        return
    with ProcessPoolExecutor(jobs or n_threads(), mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(_train_alone, task, seed, data_dir, work_dir, scale): seed for seed in missing}
        for future in as_completed(futures):
            future.result()


def _train_alone(task: str, seed: int, data_dir: Path, work_dir: Path, scale: Scale) -> None:
    torch.set_num_threads(1)
    get_member(task, seed, data_dir, work_dir, scale)


def main() -> None:
    """Train members from the command line, ahead of an experiment."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("task", choices=list(TASKS))
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--work-dir", type=Path, required=True)
    parser.add_argument("--members", type=int, default=9)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--subset", type=int)
    parser.add_argument("--jobs", type=int)
    options = parser.parse_args()
    scale = Scale(options.epochs, options.subset)
    seeds = list(range(options.members))
    train_members(options.task, seeds, options.data_dir, options.work_dir, scale=scale, jobs=options.jobs)


if __name__ == "__main__":
    main()
