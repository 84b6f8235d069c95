"""Panels by how members err, each regime on its own: where an interval must hold, whichever regime a user is in.

    panel = draw("shared errors", seed=7)

Nothing is learned from these panels. They come about in another way than `benchmarks.quality.generated`, from which
intervals are learned: a member knows the answer to an item or guesses. Regimes differ in who knows and guesses alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from benchmarks.quality.panel import Panel

Rng = np.random.Generator

CLASSES = (2, 2, 3, 5, 10)

MEMBERS, ITEMS = (3, 30), (100, 5000)
"""The fewest and the most; sizes between are drawn evenly on a scale of logarithms."""

MOST_NUMBERS = 1_500_000
"""Of a panel; it has fewer items where members and classes are many."""


@dataclass(frozen=True)
class Task:
    """The items of a panel, and how often each member knows the answer."""

    truth: np.ndarray  # (items,)
    n_classes: int
    skill: np.ndarray  # (members,): the share of items that a member knows

    @property
    def shape(self) -> tuple[int, int]:
        """(members, items)."""
        return len(self.skill), len(self.truth)

    def knows(self, luck: np.ndarray) -> np.ndarray:
        """(members, items): who knows what, given uniform numbers of that shape, or (1, items) that all share."""
        return luck < self.skill[:, None]

    def wrong(self, rng: Rng, n_rows: int) -> np.ndarray:
        """(rows, items): a wrong class for each item."""
        return (self.truth + rng.integers(1, self.n_classes, (n_rows, len(self.truth)))) % self.n_classes


Says = tuple[np.ndarray, np.ndarray]
"""(members, items) twice: the class each member says, and whether it knew."""


def independent(task: Task, rng: Rng) -> Says:
    """Each member guesses on its own, leaning its own way."""
    knows = task.knows(rng.random(task.shape))
    leaning = rng.dirichlet(np.full(task.n_classes, rng.choice([1.0, 5.0, 100.0])), len(knows))
    guesses = np.stack([rng.choice(task.n_classes, task.shape[1], p=row) for row in leaning])
    return np.where(knows, task.truth, guesses), knows


def copies(task: Task, rng: Rng) -> Says:
    """Independent members, of whom a third to most are copies of one, exact or nearly."""
    said, knows = independent(task, rng)
    n_copies = max(2, int(rng.uniform(0.3, 0.8) * len(said)))
    original, copied = rng.integers(len(said)), rng.choice(len(said), n_copies, replace=False)
    is_same = rng.random((n_copies, task.shape[1])) < rng.choice([1.0, 0.97, 0.9])
    for values in (said, knows):
        values[copied] = np.where(is_same, values[original], values[copied])
    return said, knows


def shared_errors(task: Task, rng: Rng) -> Says:
    """On part of the items everybody's luck is the same, and whoever does not know says the same wrong class."""
    is_shared = rng.random((1, task.shape[1])) < rng.uniform(0.3, 0.9)
    luck = np.where(is_shared, rng.random((1, task.shape[1])), rng.random(task.shape))
    knows, own = task.knows(luck), rng.integers(task.n_classes, size=task.shape)
    return np.where(knows, task.truth, np.where(is_shared, task.wrong(rng, 1), own)), knows


def wrong_together(task: Task, rng: Rng) -> Says:
    """Of 15 to 45 % of the items nearly everybody is sure of the same wrong class; else members err independently."""
    said, knows = independent(task, rng)
    is_misleading = rng.random(task.shape[1]) < rng.uniform(0.15, 0.45)
    is_misled = is_misleading & (rng.random(task.shape) < rng.uniform(0.8, 1.0))
    return np.where(is_misled, task.wrong(rng, 1), said), knows | is_misled


REGIMES: dict[str, Callable[[Task, Rng], Says]] = {
    "independent": independent,
    "copies": copies,
    "shared errors": shared_errors,
    "wrong together": wrong_together,
    "shifted shares": independent,  # of uneven classes, by members who expect even ones
}


def draw(regime: str, seed: int) -> Panel:
    """The panel of a regime and a seed: as votes where the seed is even, else as probabilities."""
    rng = np.random.default_rng([seed, crc32(regime.encode())])
    n_classes = int(rng.choice(CLASSES))
    n_members, n_items = (round(float(np.exp(rng.uniform(*np.log(ends))))) for ends in (MEMBERS, ITEMS))
    n_items = max(ITEMS[0], min(n_items, MOST_NUMBERS // (n_members * n_classes)))
    shares = rng.dirichlet(np.full(n_classes, 0.7 if regime == "shifted shares" else 20.0)) + 0.02
    truth = rng.choice(n_classes, n_items, p=shares / shares.sum())
    truth[:2] = 0, 1
    low, high = np.sort(rng.uniform(0.2, 0.95, 2))
    said, knows = REGIMES[regime](Task(truth, n_classes, rng.uniform(low, high, n_members)), rng)
    named = {"name": f"{regime} {seed}", "family": f"generated {regime}", "kind": "votes" if seed % 2 == 0 else "soft"}
    if seed % 2 == 0:
        return Panel(**named, truth=truth, n_classes=n_classes, labels=said)
    return Panel(**named, truth=truth, n_classes=n_classes, probabilities=_stated(said, knows, n_classes, rng))


def _stated(said: np.ndarray, knows: np.ndarray, n_classes: int, rng: Rng) -> np.ndarray:
    """(members, items, classes): probabilities that are highest for what is said, higher where a member knows.

    Some panels claim less than they know, others far too much; each member has its own manner.
    """
    boast = rng.uniform(-1, 1.5)
    sureness = 0.3 + rng.uniform(0, 1) + boast + 1.2 * knows + 0.3 * rng.standard_normal((len(said), 1))
    lead = np.exp(sureness + 0.5 * rng.standard_normal(said.shape))
    scores = 0.5 * rng.standard_normal((*said.shape, n_classes))
    top = scores.max(axis=2) + lead
    np.put_along_axis(scores, said[:, :, None], top[:, :, None], axis=2)
    scores -= scores.max(axis=2, keepdims=True)
    odds = np.exp(scores)
    return (odds / odds.sum(axis=2, keepdims=True)).astype(np.float32)
