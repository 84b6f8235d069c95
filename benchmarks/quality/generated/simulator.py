"""A simulator of panels without training: what members see of an item, and how alike they see it.

Each item has a true class, an ease and perhaps a decoy: a wrong class that every member tends to see. Each member has
a skill, belongs to a family that shares its errors, and leans towards some classes. Evidence for the classes is

    evidence = signal · ease · (what the true class, or the decoy, looks like) + noise + leanings,

where the noise, of variance 1, is part common to all members, part the family's, part a member's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.stats import norm

from benchmarks.quality.generated.answers import softmax
from benchmarks.quality.generated.draws import chance, draw_truth


@dataclass(frozen=True)
class World:
    """What shapes a simulated panel. Leanings are in units of the noise."""

    n_items: int
    n_members: int
    shares: np.ndarray  # (classes,) true shares
    accuracy: tuple[float, float]  # of the worst and best members, were all items ordinary and nobody biased
    common: float = 0.0  # share of the noise that all members have in common
    family: float = 0.0  # share of the noise that a family has in common
    n_families: int = 1
    ease_spread: float = 0.3  # of the logarithm of ease
    likeness: float = 0.0  # 0: all classes are equally distinct; towards 1: some are hard to tell apart
    class_spread: float = 0.0  # how much a member's skill differs between classes
    domain_spread: float = 0.0  # how much it differs between domains, groups of items that nobody can see
    decoyed: float = 0.0  # share of the items with a decoy
    pull: float = 0.6  # of decoys: above .5 the decoy beats the truth
    resistance: float = 0.0  # how much less the best members are pulled
    favorite: float = 0.0  # share of the decoys that are one and the same class
    shared_bias: float = 0.0
    own_bias: float = 0.0
    collapsed: float = 0.0  # share of members, the weakest first, that say one class nearly always
    sharpness: float = 1.0  # 1: calibrated but for decoys and leanings; above: too sure
    sharpness_spread: float = 0.0
    is_honest: bool = True  # whether weak members are modest, or as sure as the strong ones
    knows_shares: bool | None = None  # whether members know the shares; None, in every other panel

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.shares)


def simulate(world: World, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The truth (items,), and scores (members, items, classes): logarithms of probabilities, up to a constant."""
    truth = draw_truth(rng, world.shares, world.n_items)
    families = rng.integers(world.n_families, size=world.n_members)
    signal = _draw_signals(world, families, rng)
    looks = _likeness(world, rng)
    seen = _seen(world, truth, looks, signal, rng)
    evidence = seen * _strength(world, truth, signal, rng)[:, :, None] + _noise(world, families, rng)
    evidence += _leanings(world, signal, rng)[:, None, :]
    scale = signal if world.is_honest else np.full_like(signal, signal.mean())
    scale = scale * world.sharpness * np.exp(world.sharpness_spread * rng.standard_normal(world.n_members))
    scores = evidence * scale[:, None, None]
    if chance(rng, 0.5) if world.knows_shares is None else world.knows_shares:
        scores += np.log(world.shares + 1e-3)
    return truth, scores.astype(np.float32)


def simulate_probabilities(world: World, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The truth (items,) and probabilities (members, items, classes)."""
    truth, scores = simulate(world, rng)
    return truth, softmax(scores)


@lru_cache(maxsize=64)
def _accuracies(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Signals, and how often the largest of `n_classes` unit normals is the one whose mean is the signal."""
    points, weights = np.polynomial.hermite_e.hermegauss(61)
    signals = np.linspace(0, 8, 161)
    others = norm.cdf(points[None, :] + signals[:, None]) ** (n_classes - 1)
    return signals, others @ weights / weights.sum()


def signal_of(accuracy: np.ndarray, n_classes: int) -> np.ndarray:
    """The signal that gives this accuracy in unit noise."""
    signals, accuracies = _accuracies(n_classes)
    return np.interp(accuracy, accuracies, signals)


def _draw_signals(world: World, families: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(members,): families differ in skill, and members within them."""
    place = 0.5 * rng.random(world.n_families)[families] + 0.5 * rng.random(world.n_members)
    worst, best = world.accuracy
    chance_level = 1 / world.n_classes + 0.02
    return np.maximum(signal_of(np.maximum(worst + (best - worst) * place, chance_level), world.n_classes), 0.03)


def _likeness(world: World, rng: np.random.Generator) -> np.ndarray:
    """(classes, classes): 1 on the diagonal, less elsewhere, more for neighbors in an order, or in one group."""
    n_classes = world.n_classes
    if chance(rng, 0.2):
        places = np.arange(n_classes)
        return world.likeness ** np.abs(places[:, None] - places)
    groups = rng.integers(max(1, n_classes // int(rng.integers(2, 6))), size=n_classes)
    looks = world.likeness * (groups[:, None] == groups) * rng.uniform(0.3, 1, (n_classes, n_classes))
    np.fill_diagonal(looks, 1)
    return looks


def _seen(
    world: World, truth: np.ndarray, looks: np.ndarray, signal: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """(members, items, classes): the true class's looks, mixed with the decoy's where there is one."""
    if world.decoyed == 0:
        return np.broadcast_to(looks[truth], (len(signal), *looks[truth].shape))
    skill = signal.argsort().argsort() / max(1, len(signal) - 1)
    pull = world.pull * rng.uniform(0.7, 1.3, len(truth)) * (rng.random(len(truth)) < world.decoyed)
    pull = np.clip(pull * (1 - world.resistance * skill[:, None]), 0, 1)[:, :, None]
    return (1 - pull) * looks[truth] + pull * looks[_decoys(world, truth, looks, rng)]


def _decoys(world: World, truth: np.ndarray, looks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(items,): a wrong class for each item, rather one that looks alike, or the panel's favorite."""
    weights = looks[truth] + 0.05
    weights[np.arange(len(truth)), truth] = 0
    decoys = (np.log(np.maximum(weights, 1e-9)) + rng.gumbel(size=weights.shape)).argmax(axis=1)
    favorite = rng.integers(world.n_classes)
    return np.where((rng.random(len(truth)) < world.favorite) & (truth != favorite), favorite, decoys)


def _strength(world: World, truth: np.ndarray, signal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(members, items): the signal, by the item's ease and the member's knowledge of the true class."""
    ease = np.exp(world.ease_spread * rng.standard_normal(len(truth)) - world.ease_spread**2 / 2)
    knowledge = np.exp(world.class_spread * rng.standard_normal((len(signal), world.n_classes)))
    domains = rng.integers(int(rng.integers(2, 5)), size=len(truth))
    experience = np.exp(world.domain_spread * rng.standard_normal((len(signal), domains.max() + 1)))
    return signal[:, None] * ease * knowledge[:, truth] * experience[:, domains]


def _noise(world: World, families: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(members, items, classes): of variance 1, correlated over members."""
    shape = (world.n_items, world.n_classes)
    shared = np.sqrt(world.common) * rng.standard_normal(shape)
    if world.family > 0:
        drawn = rng.standard_normal((world.n_families, *shape))
        shared = shared + np.sqrt(world.family) * drawn[families]
    own = np.sqrt(max(0.0, 1 - world.common - world.family))
    return shared + own * rng.standard_normal((world.n_members, *shape), dtype=np.float32)


def _leanings(world: World, signal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(members, classes): the panel's biases, members' own, and the one class of those that collapse."""
    shape = (len(signal), world.n_classes)
    leanings = world.shared_bias * rng.standard_normal(world.n_classes) + world.own_bias * rng.standard_normal(shape)
    n_collapsed = round(world.collapsed * len(signal))
    if n_collapsed:
        weakest = signal.argsort()[:n_collapsed]
        together = np.full(n_collapsed, rng.integers(world.n_classes))
        alone = rng.integers(world.n_classes, size=n_collapsed)
        targets = np.where(rng.random(n_collapsed) < rng.random(), together, alone)
        leanings[weakest, targets] += rng.uniform(1.5, 5, n_collapsed)
    return leanings
