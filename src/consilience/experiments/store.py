"""What experiments keep: predictions of members and finished cells, each in a file that is whole or absent."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from consilience.atomic import whole_file
from consilience.experiments.laplace import fit_laplace, predict_laplace
from consilience.experiments.members import Scale, get_member, train_members
from consilience.experiments.shifts import Condition, shifted
from consilience.experiments.tasks import TASKS
from consilience.experiments.training import predict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy.typing as npt
    from torch import Tensor


@dataclass(frozen=True)
class Store:
    """Where data sets are read, where work is kept, and at which scale it is done."""

    data_dir: Path
    work_dir: Path
    scale: Scale
    n_items: int | None = None  # so many test images, the first of them; None: all
    with_laplace: bool = True  # whether PE is among the methods

    @property
    def scale_name(self) -> str:
        """The scale in words, which every result carries."""
        return f"{self.scale}, {'all' if self.n_items is None else self.n_items} test images"

    def train(self, task: str, seeds: list[int]) -> None:
        """Make sure that these members are there."""
        train_members(task, seeds, self.data_dir, self.work_dir, scale=self.scale)

    def labels(self, condition: Condition) -> npt.NDArray[np.int64]:
        """The true classes of a condition's items."""
        return TASKS[condition.task].images(self.data_dir, train=False).labels[: self.n_items]

    def predictions(
        self, condition: Condition, seeds: list[int], on_step: Callable[[str], None] = lambda _: None
    ) -> npt.NDArray[np.float32]:
        """(members, items, classes): what these members say, computed once."""
        return self._computed(condition, seeds, "member", self._predict, on_step)

    def laplace_predictions(
        self, condition: Condition, seeds: list[int], on_step: Callable[[str], None] = lambda _: None
    ) -> npt.NDArray[np.float32]:
        """(members, items, classes): what these members' Laplace approximations say, computed once."""
        return self._computed(condition, seeds, "laplace", self._predict_laplace, on_step)

    def _computed(
        self,
        condition: Condition,
        seeds: list[int],
        kind: str,
        compute: Callable[[str, int, Tensor], Tensor],
        on_step: Callable[[str], None],
    ) -> npt.NDArray[np.float32]:
        paths = {seed: self._path(condition, f"{kind}-{seed}") for seed in seeds}
        missing = [seed for seed, path in paths.items() if not path.exists()]
        if missing:
            on_step(f"predicting ({kind}): {condition}")
            images = TASKS[condition.task].normalized(shifted(condition, self.data_dir, self.n_items).pixels)
            for seed in missing:
                _write_array(paths[seed], compute(condition.task, seed, images).numpy())
        return np.stack([np.load(path, allow_pickle=False) for path in paths.values()])

    def _predict(self, task: str, seed: int, images: Tensor) -> Tensor:
        return predict(get_member(task, seed, self.data_dir, self.work_dir, self.scale), images)

    def _predict_laplace(self, task: str, seed: int, images: Tensor) -> Tensor:
        return predict_laplace(_approximation(self, task, seed), images, seed=seed)

    def cell(self, name: str, compute: Callable[[], Any]) -> Any:
        """What `compute` gives, from an earlier run where there was one; JSON."""
        path = self.work_dir / "cells" / self._scale_folder() / f"{name}.json"
        if path.exists():
            return json.loads(path.read_text(encoding="utf-8"))
        value = compute()
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.write(json.dumps(value).encode())
        return value

    def _path(self, condition: Condition, name: str) -> Path:
        folder = self.work_dir / "predictions" / self._scale_folder(condition.task) / str(condition)
        return folder / f"{name}.npy"

    def _scale_folder(self, task: str = "any") -> str:
        items = "all" if self.n_items is None else str(self.n_items)
        return f"{self.scale.folder(task)}-{items}-items"


@lru_cache(maxsize=9)
def _approximation(store: Store, task: str, seed: int) -> Any:
    """A member's Laplace approximation, fitted once for all conditions."""
    data = TASKS[task].images(store.data_dir, train=True)
    network = get_member(task, seed, store.data_dir, store.work_dir, store.scale)
    images = TASKS[task].normalized(data.pixels[: store.scale.subset])
    return fit_laplace(network, images, torch.from_numpy(data.labels[: store.scale.subset]))


def _write_array(path: Path, array: npt.NDArray[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        np.save(file, array, allow_pickle=False)
