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
from consilience.aggregators.consensus.class_shares import EVEN_WORTH, MANY, ClassShares, matched
from training.features import Features
from training.fit import Batch, Recipe, fit, is_nearly_even, rows_of, with_stated
from training.network import Network
from training.panels import Exam, Lesson, read_exam

N_FOLDS = 4

LEARNED, HALF = "learned", "half learned"
"""Names in tables; the second is the mean of the learned answer and the average."""

KNOWN = {"stated": (True, False), "reweighted": (False, True), "both": (True, True)}
"""Names for answers where class shares are known: whether the network is told, and whether answers are reweighted."""


class Fold(NamedTuple):
    """The families that are left out, and networks that have not seen them."""

    families: tuple[str, ...]
    networks: list[Network]


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
    on_network: Callable[[], None] = lambda: None,
) -> list[Fold]:
    """Networks for each fold, trained on the generated panels and all other families; `()` leaves out none."""
    calls = [(fold, recipe, seed + number) for fold in folds for number in range(recipe.networks)]
    found = []
    for network in _in_processes(lessons, calls, n_processes):
        found.append(network)
        on_network()
    return [
        Fold(fold, found[place * recipe.networks : (place + 1) * recipe.networks]) for place, fold in enumerate(folds)
    ]


_lessons: Sequence[Lesson] = ()
"""What all processes learn from: a copy for each would fill the memory, so they are forked from this one."""


def _in_processes(
    lessons: Sequence[Lesson], calls: list[tuple[tuple[str, ...], Recipe, int]], n_processes: int
) -> Iterable[Network]:
    """The networks in the order of the calls."""
    global _lessons  # noqa: PLW0603 - what is forked
    _lessons = lessons
    if n_processes == 1:
        yield from (_trained(*call) for call in calls)
        return
    with ProcessPoolExecutor(n_processes, mp_context=get_context("fork")) as pool:
        yield from (future.result() for future in [pool.submit(_trained, *call) for call in calls])


def _trained(left_out: tuple[str, ...], recipe: Recipe, seed: int) -> Network:
    torch.set_num_threads(1)  # more are slower with so small a network, and another number rounds otherwise
    return fit([lesson for lesson in _lessons if lesson.family not in left_out], recipe, seed)[0]


def examine(paths: Iterable[Path], folds: Iterable[Fold], on_exam: Callable[[], None] = lambda: None) -> list[Row]:
    """Rows for the tables of the bench: every panel is answered by networks that have not seen its family.

    Generated panels, of seeds that nobody learned from, are answered by those of the first fold.
    """
    folds = list(folds)
    networks = {family: fold.networks for fold in folds for family in fold.families}
    rows = []
    for path in paths:
        exam = read_exam(path)
        family = exam.rows[YARDSTICK]["family"]
        rows += scored(exam, folds[0].networks if family.startswith("generated") else networks[family])
        on_exam()
    return rows


def scored(exam: Exam, networks: Sequence[Network]) -> list[Row]:
    """The rows of the methods it is compared with, and its own: also half with the average, and with shares known."""
    started = time.perf_counter()
    posterior = answer(networks, exam.features)
    seconds = exam.seconds + time.perf_counter() - started
    average = exam.features.average.astype(np.float64)
    own = {LEARNED: posterior, HALF: (posterior + average / average.sum(axis=1, keepdims=True)) / 2}
    given = {"exact": ClassShares(exam.shares, MANY)}
    if is_nearly_even(exam.shares):
        given["even"] = ClassShares(np.full(len(exam.shares), 1 / len(exam.shares)), EVEN_WORTH)
    for what, shares in given.items():
        told = answer(networks, with_stated(exam.features, shares))
        for name, (is_told, is_matched) in KNOWN.items():
            rows = told if is_told else posterior
            own[f"{what}, {name}"] = _reweighted(rows, shares) if is_matched else rows
    about = exam.rows[YARDSTICK]
    return list(exam.rows.values()) + [
        about | {"method": name, "seconds": seconds} | scores(rows, exam.truth) for name, rows in own.items()
    ]


def _reweighted(rows: np.ndarray, shares: ClassShares) -> np.ndarray:
    weighted = rows * np.exp(matched(rows, shares).log_weights)
    return weighted / weighted.sum(axis=1, keepdims=True)


def answer(networks: Sequence[Network], features: Features) -> np.ndarray:
    """The mean of some networks' answers (items, classes); classes that are no candidates keep their average."""
    n_items, n_candidates = features.candidates.shape
    numpys = rows_of(features, np.arange(n_items))
    batch = Batch(*(torch.from_numpy(np.ascontiguousarray(part)) for part in numpys))
    batch = Batch(*(part.float() if part.is_floating_point() else part.long() for part in batch))
    with torch.no_grad():
        rows = torch.stack([network(batch).exp() for network in networks]).mean(dim=0)
    posterior = features.average.astype(np.float64)
    found = rows.double().numpy().reshape(n_items, n_candidates)
    np.put_along_axis(posterior, features.candidates.astype(np.int64), found, axis=1)
    return posterior / posterior.sum(axis=1, keepdims=True)
