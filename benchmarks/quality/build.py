"""From the catalog to files: train what is not trained, ask what was not asked, keep what is new."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import numpy as np

from benchmarks.quality.images import viewed
from benchmarks.quality.members import said
from benchmarks.quality.sets import Made, catalog
from benchmarks.quality.shared import shared_sets
from benchmarks.quality.store import Set, read, write, write_index

ANSWERED = 0.4
"""The share of items that a member of a partial ensemble answers; besides, each item is answered by one at least."""


def build(
    data_dir: Path, shared_dir: Path | None, work_dir: Path, on_step: Callable[[str], None] = lambda _: None
) -> Path:
    """The folder of all sets, each made once for each recipe."""
    folder = work_dir / "sets"
    entries = []
    for made in catalog():
        path = folder / f"{made.name}.npz"
        one = read(path) if path.exists() else None
        if one is None or one.recipe != repr(made):
            on_step(made.name)
            one = _made(made, data_dir, work_dir)
            write(one, folder)
        entries.append(one.entry())
    for one in shared_sets(shared_dir) if shared_dir else ():
        write(one, folder)
        entries.append(one.entry())
    write_index(entries, folder / "sets.json")
    return folder


def _made(made: Made, data_dir: Path, work_dir: Path) -> Set:
    n_seen = made.n_items if made.n_digits == 1 else 597
    images = viewed(made.data, made.part, made.view, n_seen, data_dir)
    view = f"{made.view}-{n_seen}"
    answers = np.stack(
        [said(member, images.pixels, view, data_dir=data_dir, work_dir=work_dir) for member in made.members]
    )
    rng, labels = np.random.default_rng(crc32(made.name.encode())), images.labels
    if made.n_digits == 2:
        answers, labels = _squared(answers, labels, made.n_items, rng)
    if made.kind == "partial":
        is_silent = rng.random(answers.shape[:2]) > ANSWERED
        is_silent[rng.integers(len(answers), size=answers.shape[1]), np.arange(answers.shape[1])] = False
        answers[is_silent] = np.nan
    return Set(made.name, made.group, made.part, answers, labels, repr(made))


def _squared(
    answers: np.ndarray, labels: np.ndarray, n_items: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Items made of two images each: a member's probability of a pair is the product of its two."""
    left, right = rng.integers(len(labels), size=(2, n_items))
    pairs = answers[:, left, :, None] * answers[:, right, None, :]
    return pairs.reshape(len(answers), n_items, -1), 10 * labels[left] + labels[right]
