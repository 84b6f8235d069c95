"""The panels of our own networks, written down without data, so that they can be read and tested.

A panel is an ensemble of one of eleven kinds that looks at a data set under a view. Ensembles of one data set have
members in common: its panels are not independent of each other, and are one family.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from itertools import cycle, product
from pathlib import Path
from zlib import crc32

import numpy as np

from benchmarks.quality.panel import AS_IT_IS, Panel
from benchmarks.quality.sources.images import STRANGERS, viewed
from benchmarks.quality.sources.members import Member, said

DATA = ("mnist", "fashion-mnist", "cifar10")

VIEWS = (
    *("clean", "rotation-2", "noise-1", "blur-2", "foreign-1", "contrast-2", "translation-2"),
    *("rotation-1", "imbalance-1", "pixelation-2", "brightness-2", "noise-2", "imbalance-2", "impulse-1"),
)
TRAINED_VIEWS = ("clean", "rotation-1", "rotation-2", "noise-2", "impulse-2", "occlusion-1")
DIGIT_VIEWS = ("clean", "rotation-1", "noise-2", "rotation-2")

SIZES = (2000, 1000, 2000, 300, 2000, 1000, 2000, 500, 1000, 2000, 60)
"""Numbers of items; 11 of them, so that they meet all views."""

KINDS = ("equal", "pair", "many", "unequal", "mixed", "broken", "copies", "epochs", "specialists", "partial")

ANSWERED = 0.4
"""The share of items that a member of a partial ensemble answers; besides, each item is answered by one at least."""


@dataclass(frozen=True)
class Made:
    """A panel to be made: who looks at what, and what becomes of the answers."""

    data: str
    kind: str  # of ensemble
    view: str  # a shift and its level, "clean", "imbalance-1", "foreign-1"
    n_items: int
    members: tuple[Member, ...]
    n_digits: int = 1  # 2: items are pairs of images, classes pairs of classes

    @property
    def name(self) -> str:
        """For files and tables."""
        return "_".join([self.data, self.kind + ("-squared" if self.n_digits == 2 else ""), self.view])


def catalog() -> list[Made]:
    """Every panel that is made here: each data set goes round the views and the sizes with each kind of ensemble."""
    looks = zip([pair for pair in product(KINDS, DATA) for _ in range(2)], cycle(VIEWS), cycle(SIZES), strict=False)
    return [
        *(Made(data, kind, view, size, ensemble(data, kind)) for (kind, data), view, size in looks),
        # Networks trained until they are surer than they should be, under shifts: the usual deep ensemble.
        *(
            Made(data, "trained", view, 2000, ensemble(data, "trained"))
            for data, view in product(("mnist", "fashion-mnist"), TRAINED_VIEWS)
        ),
        *_digits(),
    ]


def _digits() -> Iterator[Made]:
    """Scikit-learn's small digits: few items, and a hundred classes where an item is two of them."""
    for (place, view), kind in product(enumerate(DIGIT_VIEWS), ("mixed", "many", "unequal", "specialists")):
        one = Made("digits", kind, view, 597, ensemble("digits", kind))
        yield one
        if kind == ("mixed", "many")[place % 2]:
            yield replace(one, n_items=2000, n_digits=2)


def ensemble(data: str, kind: str) -> tuple[Member, ...]:
    """The members of an ensemble."""
    n_images, epochs = {"digits": (600, 20), "cifar10": (15_000, 5)}.get(data, (10_000, 3))
    cnn = Member(data, "cnn", 12 if data == "cifar10" else 8, n_images, epochs, 0)
    mlp = replace(cnn, architecture="mlp", width=64)
    other = replace(mlp, n_images=min(n_images, 2000))  # for scikit-learn's, which take long on more
    equal = [replace(cnn, seed=place) for place in range({"mnist": 3, "fashion-mnist": 5}.get(data, 4))]
    bagged = replace(mlp, width=24, n_images=max(100, n_images // 12), epochs=60 if data == "digits" else 12)
    small = replace(cnn, n_images=n_images // 4, seed=10)
    weak = replace(mlp, width=16, n_images=n_images // 15, epochs=2 * epochs, seed=20)
    unequal = [
        replace(cnn, width=4, n_images=n_images // 8, seed=30),
        replace(cnn, width=16, epochs=2, seed=31),
        replace(mlp, width=32, n_images=n_images // 4, seed=32),
        replace(mlp, width=128, seed=33),
    ]
    kinds = {
        "equal": equal,
        "pair": [equal[0], replace(mlp, seed=41)],
        "many": [
            replace(bagged, seed=50 + place, first=place * n_images // 12)
            for place in range({"mnist": 20, "fashion-mnist": 12}.get(data, 8))
        ],
        "unequal": [*unequal, weak],
        "mixed": [
            replace(mlp, epochs=2 * epochs, seed=40),
            *([] if data == "digits" else [small]),
            *(replace(other, architecture=name) for name in ("logistic", "forest", "neighbors")),
            *([] if data == "cifar10" else [replace(other, architecture="bayes")]),
        ],
        "broken": [*equal[:3], replace(mlp, flaw="permuted", seed=60), replace(cnn, epochs=0, seed=61)],
        "copies": [small, unequal[2], weak, weak, weak],
        "epochs": [replace(small, epochs=epochs) for epochs in (1, 2, 3, 5)],
        "specialists": [
            replace(cnn, n_images=n_images // 3, flaw=f"lacks-{place}", seed=70 + place) for place in range(4)
        ],
        "partial": [*equal[:3], *unequal],
        "trained": [replace(cnn, n_images=15_000, epochs=8, seed=80 + place) for place in range(3)],
    }
    if data == "digits":  # 8 × 8 pixels are too few for three convolutions
        kinds = {
            name: [replace(m, architecture="mlp") if m.architecture == "cnn" else m for m in some]
            for name, some in kinds.items()
        }
    return tuple(kinds[kind])


def network_panels(
    at_hand: Collection[str], data_dir: Path, work_dir: Path, on_step: Callable[[str], None]
) -> Iterator[Panel]:
    """All panels of the catalog whose data sets are at hand; members are trained the first time."""
    for made in catalog():
        if needed(made) <= {"digits", *at_hand}:
            on_step(made.name)
            yield make(made, data_dir, work_dir)


def needed(made: Made) -> set[str]:
    """The data sets that a panel is made from."""
    return {made.data, STRANGERS[made.data]} if made.view.startswith("foreign") else {made.data}


def make(made: Made, data_dir: Path, work_dir: Path) -> Panel:
    """Ask the members of one panel."""
    n_seen = made.n_items if made.n_digits == 1 else 597
    images = viewed(made.data, made.view, n_seen, data_dir)
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
    return Panel(made.name, made.data, AS_IT_IS, labels, answers.shape[2], probabilities=answers)


def _squared(
    answers: np.ndarray, labels: np.ndarray, n_items: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Items made of two images each: a member's probability of a pair is the product of its two."""
    left, right = rng.integers(len(labels), size=(2, n_items))
    pairs = answers[:, left, :, None] * answers[:, right, None, :]
    return pairs.reshape(len(answers), n_items, -1), 10 * labels[left] + labels[right]
