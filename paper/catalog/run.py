"""An experiment consists of cells. Each cell is computed once and gives rows; `Run` provides what cells need."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from consilience.system.machine import Progress
from paper.downloads import fetch, is_here
from paper.laplace import why_not
from paper.results import Row
from paper.tasks import TASKS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from paper.shifts import Condition
    from paper.store import Store

Made = TypeVar("Made")

SIZE = 3
"""Members of an ensemble, in the paper."""

Scores = dict[str, dict[str, float]]
"""What a cell finds: by method, by metric."""


class Where(NamedTuple):
    """Where numbers come from."""

    condition: Condition
    seeds: list[int]
    ensemble: int = 0
    severity: float | None = None  # where it is not the condition's

    @property
    def members(self) -> str:
        """The members, for the names of files."""
        return "-".join(map(str, self.seeds))


class Published(NamedTuple):
    """Predictions of others."""

    source: str  # their checksum
    scale: str  # in words


class Cell(NamedTuple):
    """A part of an experiment: a run that is killed loses the one that it was computing."""

    where: Where
    name: str  # of the file that keeps it
    compute: Callable[[], Scores]
    of: Published | None = None  # where it comes from, if not from members that are trained here
    machine: str = ""  # what rows say of it, where that matters


@dataclass(frozen=True)
class Run:
    """An experiment under way: its store, its tasks, whom to tell, and what there is to say in the end."""

    store: Store
    tasks: tuple[str, ...]
    with_laplace: bool = True
    progress: Progress = field(default_factory=Progress)
    notes: list[str] = field(default_factory=list)
    _last: dict[tuple[Any, ...], npt.NDArray[np.float32]] = field(default_factory=dict)

    def ensembles(self, task: str, size: int = SIZE) -> list[list[int]]:
        """Independent ensembles: the first three members, the next three, and so on."""
        n_members = self.store.scale(task).n_members
        return [list(range(first, first + size)) for first in range(0, n_members - size + 1, size)]

    def predictions(self, condition: Condition, seeds: list[int]) -> npt.NDArray[np.float32]:
        """What members say of a condition; the last answer is kept, for one method after the other asks for it."""
        return self._remembered("members", condition, seeds)

    def laplace_predictions(self, condition: Condition, seeds: list[int]) -> npt.NDArray[np.float32]:
        """What members' Laplace approximations say of a condition."""
        return self._remembered("approximations", condition, seeds)

    def _remembered(self, kind: str, condition: Condition, seeds: list[int]) -> npt.NDArray[np.float32]:
        key = (kind, condition, *seeds)
        if key not in self._last:
            self.progress.begin(f"{kind} look at {condition}")
            read = self.store.predictions if kind == "members" else self.store.laplace_predictions
            array = read(condition, seeds)
            if len(self._last) == 2:  # in- and out-of-distribution are needed together
                del self._last[next(iter(self._last))]
            self._last[key] = array
        return self._last[key]

    def has_laplace(self, task: str) -> bool:
        """Whether PE takes part in a task; where it cannot, a note says why."""
        reason = why_not(TASKS[task].n_classes, TASKS[task].n_features)
        if self.with_laplace and reason is not None:
            self.note(f"PE is left out for {task}: {reason}.")
        return self.with_laplace and reason is None

    def has_data(self, name: str, otherwise: str) -> bool:
        """Whether a data set is there or could be had; where not, a note says what happens instead."""
        with suppress(ConnectionError, ImportError):  # no network, or nothing to download with
            if not is_here(name, self.store.data_dir):
                self.progress.begin(f"downloading {name}")
                fetch(name, self.store.data_dir)
        if is_here(name, self.store.data_dir):
            return True
        self.note(f"{otherwise}: {name} is not in the data directory.")
        return False

    def note(self, sentence: str) -> None:
        """Something to say in the end, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def rows(self, experiment: str, cells: list[Cell]) -> Iterator[Row]:
        """The rows of cells, those of an earlier run as they were."""
        self.progress.expect(len(cells))
        for cell in cells:
            self.progress.begin(cell.name)
            condition, seeds = cell.where.condition, cell.where.seeds
            of = cell.of or Published(self.store.source(condition, seeds), self.store.described(condition))
            found = self.store.cell(condition.task, cell.name, of.source, cell.compute)
            self.progress.finish()
            yield from _rows(experiment, cell.where, found, ", ".join(filter(None, (of.scale, cell.machine))))


def _rows(experiment: str, where: Where, found: Scores, scale: str) -> Iterator[Row]:
    task, shift = where.condition.task, where.condition.shift
    severity = float(where.condition.severity if where.severity is None else where.severity)
    for method, metrics in found.items():
        for metric, value in metrics.items():
            yield Row(
                experiment,
                task,
                shift,
                severity,
                len(where.seeds),
                where.ensemble,
                method,
                metric,
                float(value),
                scale,
            )


def timed(work: Callable[[], Made]) -> tuple[float, Made]:
    """The seconds that some work takes, and what it makes."""
    started = time.perf_counter()
    made = work()
    return time.perf_counter() - started, made


def _nothing(_: Run, __: Path) -> list[Path]:
    return []


def _as_they_are(rows: list[Row]) -> list[Row]:
    return rows


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper."""

    name: str
    what: str  # the figure or table it belongs to
    tasks: tuple[str, ...]
    cells: Callable[[Run], Iterator[Cell]]
    on_request: tuple[str, ...] = ()  # tasks that take part only where they are named
    has_pe: bool = True  # whether probabilistic ensembling takes part, which approximates each network
    axis: str = "severity"  # of its figures, but for rotations
    log_axis: bool = False
    as_drawn: Callable[[list[Row]], list[Row]] = _as_they_are  # the rows of its figures
    also_write: Callable[[Run, Path], list[Path]] = _nothing  # what is neither table nor curve
