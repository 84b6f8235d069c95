"""Training with whole families left out, and examining each network on the families that it has not seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from benchmarks.quality.methods import YARDSTICK
from benchmarks.quality.run import Row
from benchmarks.quality.scores import scores
from training.features import Features
from training.fit import Recipe, fit
from training.network import Network, answer
from training.panels import Exam, Lesson, read_exam

N_FOLDS = 4

LEARNED, HALF = "learned", "half learned"
"""Names in tables; the second is the mean of the learned answer and the average."""


class Fold(NamedTuple):
    """The families that are left out, and a network that has not seen them."""

    families: tuple[str, ...]
    network: Network
    history: list[float]


def folds_of(families: Iterable[str], n_folds: int = N_FOLDS) -> list[tuple[str, ...]]:
    """Families dealt out by name, each to one fold."""
    ordered = sorted(set(families))
    return [fold for start in range(n_folds) if (fold := tuple(ordered[start::n_folds]))]


def crossfit(
    lessons: Sequence[Lesson],
    folds: Sequence[tuple[str, ...]],
    recipe: Recipe,
    *,
    seed: int = 0,
    n_processes: int = 1,
    on_fold: Callable[[Fold], None] = lambda _: None,
) -> list[Fold]:
    """A network for each fold, trained on the generated panels and all other families."""
    calls = [(fold, [one for one in lessons if one.family not in fold], recipe, seed) for fold in folds]
    found = []
    if n_processes == 1:
        for call in calls:
            found.append(_trained(*call))
            on_fold(found[-1])
        return found
    with ProcessPoolExecutor(n_processes, mp_context=get_context("spawn")) as pool:
        for future in [pool.submit(_trained, *call) for call in calls]:
            found.append(future.result())
            on_fold(found[-1])
    return found


def _trained(families: tuple[str, ...], lessons: list[Lesson], recipe: Recipe, seed: int) -> Fold:
    torch.set_num_threads(1)  # more are slower with so small a network, and another number rounds otherwise
    return Fold(families, *fit(lessons, recipe, seed))


def examine(paths: Iterable[Path], folds: Iterable[Fold], on_exam: Callable[[], None] = lambda: None) -> list[Row]:
    """Rows for the tables of the bench: every panel is answered by the network that has not seen its family."""
    networks = {family: fold.network for fold in folds for family in fold.families}
    rows = []
    for path in paths:
        exam = read_exam(path)
        rows += rows_of(exam, networks[exam.rows[YARDSTICK]["family"]])
        on_exam()
    return rows


def rows_of(exam: Exam, network: Network) -> list[Row]:
    """The rows of the methods it is compared with, its own, and that of half its answer and half the average."""
    started = time.perf_counter()
    posterior = answer([network], Features(exam.values, exam.candidates, exam.average))
    seconds = exam.seconds + time.perf_counter() - started
    average = exam.average.astype(np.float64)
    own = {LEARNED: posterior, HALF: (posterior + average / average.sum(axis=1, keepdims=True)) / 2}
    about = exam.rows[YARDSTICK]
    return list(exam.rows.values()) + [
        about | {"method": name, "seconds": seconds} | scores(rows, exam.truth) for name, rows in own.items()
    ]
