"""Experiments keep members' predictions and finished cells, each in a file that is either whole or absent.

Predictions are kept under the checksum of the images and the weights that made them, cells also under that of the code.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.system.atomic import whole_file
from paper.devices import share_out
from paper.laplace import fit_laplace, predict_laplace, why_not
from paper.members import are_published, get_member, member_path
from paper.provenance import checksum, of_code, of_file, of_images
from paper.scales import PAPER_MEMBERS, Scale, Scales
from paper.shifts import is_made_here, labels_of, shifted, source_of
from paper.tasks import TASKS
from paper.training import answers, features, predict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy.typing as npt
    from torch import Tensor, nn

    from paper.datasets import Images
    from paper.examples import Examples
    from paper.shifts import Condition


@dataclass(frozen=True)
class Store:
    """Where data sets are read, where work is kept, and at which scale each task is done."""

    data_dir: Path
    work_dir: Path
    scales: Scales = field(default_factory=Scales)
    keeps_predictions: bool = True  # False: cells alone, and predictions of a condition only as long as they are used
    _sources: dict[object, str] = field(default_factory=dict, compare=False, repr=False)
    _features: dict[tuple[str, int], tuple[Images, Tensor]] = field(default_factory=dict, compare=False, repr=False)

    def scale(self, task: str) -> Scale:
        """The scale of a task."""
        return self.scales.of(task)

    def labels(self, condition: Condition) -> npt.NDArray[np.int64]:
        """The true classes of a condition's items."""
        return _labels(condition, self.data_dir, self.scale(condition.task).n_items)

    def examples(self, condition: Condition) -> Examples:
        """A condition's items as the task's members see them."""
        images = _shifted(condition, self.data_dir, self.scale(condition.task).n_items, self.shown(condition))
        return TASKS[condition.task].examples(images)

    def predictions(self, condition: Condition, seeds: list[int]) -> npt.NDArray[np.float32]:
        """(members, items, classes): what these members say, computed once."""
        return self._computed(condition, seeds, "member", self.predict)

    def laplace_predictions(self, condition: Condition, seeds: list[int]) -> npt.NDArray[np.float32]:
        """(members, items, classes): what these members' Laplace approximations say, computed once."""
        return self._computed(condition, seeds, "laplace", self.predict_laplace)

    def _computed(
        self, condition: Condition, seeds: list[int], kind: str, compute: Callable[[str, int, Examples], Tensor]
    ) -> npt.NDArray[np.float32]:
        folder = self.work_dir / "predictions" / self.scale(condition.task).items_folder(condition.task)
        paths = {
            seed: folder / str(condition) / f"{kind}-{seed}-{self.source(condition, [seed])}.npy" for seed in seeds
        }
        missing = [seed for seed, path in paths.items() if not path.exists()]
        examples = self.examples(condition) if missing else None
        made: dict[int, npt.NDArray[np.float32]] = {}

        def make(seed: int) -> None:
            made[seed] = compute(condition.task, seed, examples).numpy()  # type: ignore[arg-type]
            if self.keeps_predictions:
                _write_array(paths[seed], made[seed])

        share_out(make, missing)
        return np.stack(
            [made[seed] if seed in made else np.load(path, allow_pickle=False) for seed, path in paths.items()]
        )

    # ---- what it is made of -------------------------------------------------------------------------------

    def shown(self, condition: Condition) -> str:
        """The checksum of what a condition's images are made of."""
        clean = self._source(("clean", condition.task), lambda: self._clean(condition.task))
        return self._source(condition, lambda: source_of(condition, clean, self.data_dir))

    def source(self, condition: Condition, seeds: list[int]) -> str:
        """The checksum of what members' predictions of a condition are made of."""
        return checksum(self.shown(condition), [self._weights(condition.task, seed) for seed in seeds])

    def described(self, condition: Condition) -> str:
        """The scale in words, and whether the images were made here."""
        made = ", corruptions made here" if is_made_here(condition, self.data_dir) else ""
        scale = self.scale(condition.task)
        is_published = are_published(self.work_dir, condition.task, scale)
        return f"{scale.described('published weights') if is_published else scale}{made}"

    def _clean(self, task: str) -> str:
        return of_images(TASKS[task].images(self.data_dir, train=False).first(self.scale(task).n_items))

    def _weights(self, task: str, seed: int) -> str:
        path = member_path(self.work_dir, task, self.scale(task), seed)
        if not path.exists():
            get_member(task, seed, self.data_dir, self.work_dir, self.scale(task))
        return of_file(path)

    def _source(self, key: object, compute: Callable[[], str]) -> str:
        """What is computed once for as long as this store is used."""
        if key not in self._sources:
            self._sources[key] = compute()
        return self._sources[key]

    # ---- networks -----------------------------------------------------------------------------------------

    def predict(self, task: str, seed: int, examples: Examples) -> Tensor:
        """What one member says."""
        scale = self.scale(task)
        network = get_member(task, seed, self.data_dir, self.work_dir, scale)
        if scale.mixed or why_not(TASKS[task].n_classes, TASKS[task].n_features) is not None:
            return predict(network, examples, mixed=scale.mixed)
        return answers(network, self.features(network, (task, seed), examples))

    def predict_laplace(self, task: str, seed: int, examples: Examples) -> Tensor:
        """What one member's Laplace approximation says."""
        approximation = self.approximation(task, seed)
        return predict_laplace(approximation, self.features(approximation.network, (task, seed), examples), seed=seed)

    def features(self, network: nn.Module, member: tuple[str, int], examples: Examples) -> Tensor:
        """What enters a member's last layer, kept until it sees other images: its approximation asks for it again."""
        images, found = self._features.get(member, (None, None))
        if found is None or images is not examples.images:
            found = features(network, examples)
            self._features[member] = examples.images, found
        return found

    def approximation(self, task: str, seed: int) -> Any:
        """A member's Laplace approximation, fitted once for all conditions."""
        of_training = replace(self.scale(task), n_items=None, n_members=PAPER_MEMBERS)  # however many are looked at
        return _approximation(task, seed, self.data_dir, self.work_dir, of_training)

    def cell(self, task: str, name: str, source: str, compute: Callable[[], Any]) -> Any:
        """What `compute` gives, from an earlier run where that was of the same source and the same code; JSON."""
        path, made_of = (
            self.work_dir / "cells" / self.scale(task).items_folder(task) / f"{name}.json",
            checksum(source, of_code()),
        )
        if path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept.get("made of") == made_of:
                return kept["value"]
        value = compute()
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.write(json.dumps({"made of": made_of, "value": value}).encode())
        return value


@lru_cache(maxsize=1)  # one ensemble after the other looks at a condition
def _shifted(condition: Condition, data_dir: Path, n_items: int | None, source: str) -> Images:
    del source  # other images are others, though their condition is the same
    return shifted(condition, data_dir, n_items)


_labels = lru_cache(maxsize=8)(labels_of)  # one method after the other is scored on it


@lru_cache(maxsize=27)
def _approximation(task: str, seed: int, data_dir: Path, work_dir: Path, scale: Scale) -> Any:
    network = get_member(task, seed, data_dir, work_dir, scale)
    return fit_laplace(network, TASKS[task].training_examples(data_dir, scale))


def _write_array(path: Path, array: npt.NDArray[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        np.save(file, array, allow_pickle=False)
