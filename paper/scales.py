"""The scale of each task: the paper's, or fewer epochs, images and members."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from paper.errors import CannotReproduce

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

PAPER_MEMBERS = 9


@dataclass(frozen=True)
class Scale:
    """The scale of one task; None is the paper's."""

    epochs: int | None = None
    subset: int | None = None  # so many training images, the first of them
    n_members: int = PAPER_MEMBERS
    n_items: int | None = None  # so many test images, the first of them
    mixed: bool = False  # networks multiply in 16 bits

    def __str__(self) -> str:
        """In words, which every result carries."""
        return self.described(_epochs(self.epochs))

    def described(self, training: str) -> str:
        """In words, with how members were trained."""
        images = [] if self.subset is None else [f"{self.subset} training images"]
        tested = "all" if self.n_items is None else self.n_items
        precision = ["mixed precision"] if self.mixed else []
        return ", ".join([training, *images, f"{self.n_members} members", f"{tested} test images", *precision])

    def folder(self, task: str) -> str:
        """Where members of this scale go, however many they are and whatever they are shown."""
        parts = [task, f"{self.epochs or 'all'}-epochs", *([] if self.subset is None else [f"{self.subset}-images"])]
        return "-".join([*parts, "mixed"] if self.mixed else parts)

    def items_folder(self, task: str) -> str:
        """Where what is said of so many test images goes."""
        return f"{self.folder(task)}-{'all' if self.n_items is None else self.n_items}-items"


def _epochs(number: int | None) -> str:
    if number is None:
        return "the paper's epochs"
    return "1 epoch" if number == 1 else f"{number} epochs"


@dataclass(frozen=True)
class Scales:
    """The scale of every task: one for all, and others for some."""

    default: Scale = field(default_factory=Scale)
    by_task: Mapping[str, Scale] = field(default_factory=dict)

    def of(self, task: str) -> Scale:
        """The scale of a task."""
        return self.by_task.get(task, self.default)


def read_scales(tasks: Iterable[str], options: Mapping[str, Sequence[str]], *, mixed: bool = False) -> Scales:
    """The scales that options ask for: `{"epochs": ["3", "cifar10=10"]}` is 10 epochs for CIFAR-10 and 3 elsewhere.

    >>> scales = read_scales(["mnist", "cifar10"], {"epochs": ["cifar10=10"], "n_members": ["cifar10=6"]})
    >>> str(scales.of("cifar10")), scales.of("mnist") == Scale()
    ('10 epochs, 6 members, all test images', True)
    """
    chosen = {name: read_choices(tasks, name, values) for name, values in options.items()}

    def numbers(task: str) -> dict[str, Any]:
        return {name: _number(name, found[task]) for name, found in chosen.items() if task in found}

    default = replace(Scale(mixed=mixed), **numbers(""))
    named = {task for found in chosen.values() for task in found if task}
    return Scales(default, {task: replace(default, **numbers(task)) for task in named})


def read_choices(tasks: Iterable[str], name: str, values: Sequence[str]) -> dict[str, str]:
    """`["3", "cifar10=10"]` by task, under the empty name for all others."""
    known, found = list(tasks), {}
    for text in values:
        task, _, value = text.rpartition("=")
        if task and task not in known:
            raise CannotReproduce(f"{name} must name one of the tasks {', '.join(known)}; got {task!r}")
        found[task] = value
    return found


def _number(name: str, text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise CannotReproduce(f"{name} must be a positive whole number, or TASK=NUMBER; got {text!r}")
    return int(text)
