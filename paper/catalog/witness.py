"""Networks that others trained, as a witness: ResNets of 92 to 93 % on CIFAR-10, clean and as JPEGs.

`DATA/cifar10_resnets.npz` holds their logits: `clean_logits` and `jpeg_logits` (members, items, classes) and `labels`.
Its four members make four ensembles of three, each of which leaves one out; so these are not independent.
"""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import softmax

from consilience.data.predictions import Predictions
from paper.catalog.run import SIZE, Cell, Published, Where
from paper.errors import CannotReproduce
from paper.methods import aggregators, posterior
from paper.provenance import of_file
from paper.scoring import scores
from paper.shifts import Condition

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy.typing as npt

    from paper.catalog.run import Run, Scores

NAME = "cifar10-resnets"
FILE = "cifar10_resnets.npz"
SHIFTS = ("clean", "jpeg")


def cells(run: Run) -> Iterator[Cell]:
    """Every method on the clean images and on the JPEGs."""
    path = run.store.data_dir / FILE
    if not path.exists():
        raise CannotReproduce(f"{path} must hold the logits of published networks; it is not there")
    n_members, n_items, _ = _read(path, "clean")[0].shape
    scale = f"published networks, {n_members} members in overlapping ensembles, {n_items} test images"
    of = Published(of_file(path), scale)
    for shift in SHIFTS:
        for number, seeds in enumerate(combinations(range(n_members), SIZE)):
            where = Where(Condition(NAME, shift), list(seeds), number)
            for method in aggregators("cifar10"):
                name = f"witness/{shift}/{where.members}/{method}"
                yield Cell(where, name, partial(_scores, path, where, method), of)


def _scores(path: Path, where: Where, method: str) -> Scores:
    array, labels = _read(path, where.condition.shift)
    rows = posterior(aggregators("cifar10")[method](), Predictions(array[where.seeds]))
    return {method: scores(rows, labels)}


@lru_cache(maxsize=2)
def _read(path: Path, shift: str) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Probabilities (members, items, classes) and labels."""
    with np.load(path, allow_pickle=False) as data:
        logits, labels = data[f"{shift}_logits"].astype(np.float64), data["labels"].astype(np.int64)
    return softmax(logits, axis=2), labels
