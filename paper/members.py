"""Trained members, kept in a folder: those that are there are not trained again."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context, parent_process
from typing import TYPE_CHECKING

import torch

from consilience.system.atomic import whole_file
from consilience.system.machine import n_threads
from paper.devices import VARIABLE, devices
from paper.errors import CannotReproduce
from paper.provenance import checksum, of_images
from paper.tasks import TASKS
from paper.training import load_network, train_member

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.queues import SimpleQueue
    from pathlib import Path

    from torch import nn

    from paper.datasets import Images
    from paper.recipes import Recipe
    from paper.scales import Scale

VERSION = 1
"""Of how members are trained: to be raised when that changes."""


def member_path(work_dir: Path, task: str, scale: Scale, seed: int) -> Path:
    """Where a trained member is kept."""
    return work_dir / "members" / scale.folder(task) / f"member-{seed}.pt"


def get_member(task: str, seed: int, data_dir: Path, work_dir: Path, scale: Scale) -> nn.Module:
    """A member, trained here and now unless it is kept already."""
    path, settings = member_path(work_dir, task, scale, seed), TASKS[task]
    if path.exists():
        return load_network(settings.network_of(seed), path)
    path.parent.mkdir(parents=True, exist_ok=True)
    log = path.with_suffix(".log")

    def note(epoch: int, loss: float) -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"epoch {epoch + 1} loss {loss:.5f}\n")

    examples = settings.training_examples(data_dir, scale)
    record = _record(work_dir, task, scale)
    if not record.exists():
        with whole_file(record) as file:
            file.write(_made_of(task, examples.images, scale).encode())
    recipe = _recipe(task, scale)
    return train_member(
        settings.network_of(seed), examples, recipe, seed=seed, path=path, mixed=scale.mixed, on_epoch=note
    )


def check_members(task: str, data_dir: Path, work_dir: Path, scale: Scale) -> None:
    """Raise where members that are kept were trained on other images, or in another way, than new ones would be.

    Of weights that others published nothing is known, and nothing is asked.
    """
    record = _record(work_dir, task, scale)
    if not record.exists():
        return
    images = TASKS[task].training_examples(data_dir, scale).images
    if record.read_text(encoding="ascii") != _made_of(task, images, scale):
        raise CannotReproduce(
            f"members in {record.parent} must be of the training images and the recipe of this run; they are of "
            "others: take another --work-dir, or remove that folder"
        )


def are_published(work_dir: Path, task: str, scale: Scale) -> bool:
    """Whether the members that are kept were trained by others, of which there is no record."""
    return member_path(work_dir, task, scale, 0).exists() and not _record(work_dir, task, scale).exists()


def _record(work_dir: Path, task: str, scale: Scale) -> Path:
    """The file that tells what the members of a scale were trained on."""
    return member_path(work_dir, task, scale, 0).with_name("trained-on.txt")


def _recipe(task: str, scale: Scale) -> Recipe:
    recipe = TASKS[task].recipe
    return recipe if scale.epochs is None else recipe.scaled_to(scale.epochs)


def _made_of(task: str, images: Images, scale: Scale) -> str:
    return checksum(VERSION, _recipe(task, scale), TASKS[task].mean, TASKS[task].std, of_images(images))


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
    """Train these members, one per core at a time: small networks do not share cores well. One job: in this process.

    On GPUs one on each at a time, unless more are asked for.
    """
    places = devices()
    n_jobs = jobs or (n_threads() if places[0].type == "cpu" else len(places))
    if n_jobs == 1:
        for seed in seeds:
            get_member(task, seed, data_dir, work_dir, scale)
            on_member()
        return
    context = get_context("spawn")
    names = context.SimpleQueue()
    for place in range(n_jobs):
        names.put(str(places[place % len(places)]))
    with ProcessPoolExecutor(n_jobs, mp_context=context, initializer=_begin, initargs=(names,)) as pool:
        futures = [pool.submit(_train_alone, task, seed, data_dir, work_dir, scale) for seed in seeds]
        for future in as_completed(futures):
            future.result()
            on_member()


def missing_members(task: str, work_dir: Path, scale: Scale) -> list[int]:
    """The members of a scale that are not kept yet."""
    return [seed for seed in range(scale.n_members) if not member_path(work_dir, task, scale, seed).exists()]


def end_with_parent() -> None:
    """Let this process end when the one that started it does, however that is; a killed one tells nobody."""
    parent = parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _begin(names: SimpleQueue[str]) -> None:
    """Prepare a process that trains: it takes one of the devices and keeps it."""
    end_with_parent()
    os.environ[VARIABLE] = names.get()


def _train_alone(task: str, seed: int, data_dir: Path, work_dir: Path, scale: Scale) -> None:
    torch.set_num_threads(1)
    get_member(task, seed, data_dir, work_dir, scale)
