"""The sets made here, and which of them are held out; written down without data, so that it can be read and tested.

A set is an ensemble of ten kinds looking at a data set under a view. Both parts, tuning and held-out, have every data
set, every kind and every group, in a ratio of 2 : 1. They share nothing that can be kept apart: ensembles of the two
parts have other members (trained on other images, from other seeds) and look at other test images; four views exist in
the held-out part alone, and pixelation in tuning alone. Only foreign images, which nobody scores, may be in both.
Within a part, ensembles of different kinds do have members in common: its sets are not independent of each other.

A held-out part is spent once its scores have been seen and something was mended because of them. So there is a fresh
part: other members again (of the held-out part's training images), ensembles and views matched anew.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import cycle, product
from typing import Literal

from benchmarks.quality.members import Member

Part = Literal["tuning", "held-out", "fresh"]
PARTS: tuple[Part, ...] = ("tuning", "held-out", "fresh")

DATA = ("mnist", "fashion-mnist", "cifar10")

TUNING_VIEWS = (
    *("clean", "rotation-2", "noise-1", "blur-2", "foreign-1", "contrast-2", "clean"),
    *("rotation-1", "imbalance-1", "pixelation-2", "clean", "noise-2", "imbalance-2", "blur-1"),
)
HELD_OUT_VIEWS = (
    *("clean", "translation-2", "noise-2", "imbalance-2", "impulse-1", "foreign-2"),
    *("clean", "blur-2", "rotation-2", "occlusion-1", "contrast-2", "brightness-2"),
)
"""What the two parts look at; translation, impulse noise, occlusion and brightness are new to the held-out part."""

FRESH_VIEWS = (
    *("noise-2", "imbalance-1", "translation-2", "blur-2", "clean", "occlusion-1", "foreign-2"),
    *("brightness-2", "rotation-2", "pixelation-2", "contrast-2", "impulse-1", "imbalance-2"),
)
"""Matched anew with other seeds each time that scores of this part have led to a change."""

FIRST_SEEDS: dict[Part, int] = {"tuning": 0, "held-out": 1000, "fresh": 4000}

SIZES = (2000, 1000, 4000, 300, 2000, 10_000, 1000, 2000, 500, 4000, 60)
"""Numbers of items, from tens to ten thousand; 11 of them, so that they meet all views."""

EQUAL_KINDS = ("equal", "pair", "many", "trained")
KINDS = (*EQUAL_KINDS[:3], "unequal", "mixed", "broken", "copies", "epochs", "specialists", "partial")


@dataclass(frozen=True)
class Made:
    """A set to be made: who looks at what, and what becomes of the answers."""

    data: str
    kind: str  # of ensemble
    part: Part
    view: str  # a shift and its level, "clean", "imbalance-1", "foreign-1"
    n_items: int
    members: tuple[Member, ...]
    n_digits: int = 1  # 2: items are pairs of images, classes pairs of classes

    @property
    def name(self) -> str:
        """For files and tables."""
        return "_".join([self.data, self.kind + ("-squared" if self.n_digits == 2 else ""), self.view, self.part])

    @property
    def group(self) -> str:
        """What makes the set hard, if anything does."""
        family = self.view.split("-")[0]
        if family in {"imbalance", "foreign"}:
            return {"foreign": "out-of-distribution"}.get(family, family)
        words = ["shifted"] * (family != "clean") + ["heterogeneous"] * (self.kind not in EQUAL_KINDS)
        return " ".join(words) or "clean"


def catalog() -> list[Made]:
    """Every set that is made here, each part going round its views and the sizes."""
    tuning = [pair for pair in product(KINDS, DATA) for _ in range(2)]
    return [
        *_part("tuning", tuning, TUNING_VIEWS),
        *_part("held-out", [*product(KINDS, DATA)], HELD_OUT_VIEWS),
        *_part("fresh", [*product(KINDS, DATA)], FRESH_VIEWS),
        *_trained(),
        *_digits(),
    ]


def _part(part: Part, ensembles: list[tuple[str, str]], views: tuple[str, ...]) -> list[Made]:
    looks = zip(ensembles, cycle(views), cycle(SIZES), strict=False)
    return [Made(data, kind, part, view, size, ensemble(data, kind, part)) for (kind, data), view, size in looks]


def _trained() -> list[Made]:
    """Networks trained until they are surer than they should be, under shifts: the usual deep ensemble.

    They came after the held-out part had been scored; of CIFAR-10 the shared ResNets are such.
    """
    views: dict[Part, tuple[str, ...]] = {
        "tuning": ("clean", "rotation-1", "rotation-2", "noise-2"),
        "fresh": ("rotation-2", "impulse-2", "occlusion-1"),
    }
    return [
        Made(data, "trained", part, view, 2000, ensemble(data, "trained", part))
        for part in views
        for data, view in product(("mnist", "fashion-mnist"), views[part])
    ]


def _digits() -> list[Made]:
    """Scikit-learn's small digits: few items, and a hundred classes where an item is two of them."""
    views = {"tuning": ("clean", "rotation-1", "noise-2", "rotation-2"), "held-out": ("noise-1", "rotation-2")}
    made = []
    for part in ("tuning", "held-out"):
        for place, view in enumerate(views[part]):
            one = Made("digits", ("mixed", "many")[place % 2], part, view, 597, ())
            one = replace(one, members=ensemble("digits", one.kind, part))
            made += [one, replace(one, n_items=2000, n_digits=2)]
    return made


def ensemble(data: str, kind: str, part: Part) -> tuple[Member, ...]:
    """The members of an ensemble; those of different parts have no seeds in common."""
    n_images, epochs = {"digits": (300, 20), "cifar10": (15_000, 5)}.get(data, (10_000, 3))
    seed = FIRST_SEEDS[part]
    cnn = Member(data, part, "cnn", 12 if data == "cifar10" else 8, n_images, epochs, seed)
    mlp = replace(cnn, architecture="mlp", width=64)
    other = replace(mlp, n_images=min(n_images, 2000))  # for scikit-learn's, which take long on more
    equal = [replace(cnn, seed=seed + place) for place in range({"mnist": 3, "fashion-mnist": 5}.get(data, 4))]
    bagged = replace(mlp, width=24, n_images=max(100, n_images // 12), epochs=60 if data == "digits" else 12)
    small = replace(cnn, n_images=n_images // 4, seed=seed + 10)
    weak = replace(mlp, width=16, n_images=n_images // 15, epochs=2 * epochs, seed=seed + 20)
    unequal = [
        replace(cnn, width=4, n_images=n_images // 8, seed=seed + 30),
        replace(cnn, width=16, epochs=2, seed=seed + 31),
        replace(mlp, width=32, n_images=n_images // 4, seed=seed + 32),
        replace(mlp, width=128, seed=seed + 33),
    ]
    kinds = {
        "equal": equal,
        "pair": [equal[0], replace(mlp, seed=seed + 41)],
        "many": [
            replace(bagged, seed=seed + 50 + place, first=place * n_images // 12)
            for place in range({"mnist": 20, "fashion-mnist": 12}.get(data, 8))
        ],
        "unequal": [*unequal, weak],
        "mixed": [
            replace(mlp, epochs=2 * epochs, seed=seed + 40),
            *([] if data == "digits" else [small]),
            *(replace(other, architecture=name) for name in ("logistic", "forest", "neighbors")),
            *([] if data == "cifar10" else [replace(other, architecture="bayes")]),
        ],
        "broken": [*equal[:3], replace(mlp, flaw="permuted", seed=seed + 60), replace(cnn, epochs=0, seed=seed + 61)],
        "copies": [small, unequal[2], weak, weak, weak],
        "epochs": [replace(small, epochs=epochs) for epochs in (1, 2, 3, 5)],
        "specialists": [
            replace(cnn, n_images=n_images // 3, flaw=f"lacks-{place}", seed=seed + 70 + place) for place in range(4)
        ],
        "partial": [*equal[:3], *unequal],
        "trained": [replace(cnn, n_images=15_000, epochs=8, seed=seed + 80 + place) for place in range(3)],
    }
    return tuple(kinds[kind])
