"""The training loop: batches of panels, some items of each. The same lessons and seed give the same weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from training.loss import loss, ratios
from training.network import AVERAGE, Network
from training.panels import Lesson


@dataclass(frozen=True)
class Recipe:
    """How a network is trained."""

    steps: int = 2500
    panels: int = 16  # in a batch
    items: int = 64  # of each panel
    real: float = 0.4  # the share of real panels in a batch
    learning_rate: float = 3e-3
    weight_decay: float = 1e-2
    risk: float = 1.0
    left_out: tuple[str, ...] = ()  # features, for ablations


class Batch(NamedTuple):
    """Items of several panels, one below the other."""

    values: Tensor  # (items, candidates, features), padded
    is_there: Tensor  # (items, candidates): what is no padding
    truth: Tensor  # (items,)
    panel: Tensor  # (items,): the number of its panel


def fit(
    lessons: list[Lesson], recipe: Recipe, seed: int, on_step: Callable[[float], None] = lambda _: None
) -> tuple[Network, list[float]]:
    """A trained network, and the loss of each step."""
    torch.manual_seed(seed)
    rng, shares = np.random.default_rng(seed), np.cumsum(weights(lessons, recipe.real))
    network = Network()
    network.standardize(_sample(lessons), left_out=recipe.left_out)
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay, foreach=False
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, recipe.learning_rate, recipe.steps, pct_start=0.1)
    history = []
    for _ in range(recipe.steps):
        places = np.minimum(np.searchsorted(shares, rng.random(recipe.panels)), len(lessons) - 1)
        values, is_there, truth, panel = batch_of([lessons[place] for place in places], recipe.items, rng)
        found = loss(ratios(network(values, is_there), values[..., AVERAGE], truth, panel), recipe.risk)
        optimizer.zero_grad()
        found.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        history.append(found.item())
        on_step(history[-1])
    return network.eval(), history


def weights(lessons: list[Lesson], real: float) -> np.ndarray:
    """How often each panel is drawn: every real family the same, generated panels the rest; they sum to 1."""
    families = ["" if lesson.family.startswith("generated") else lesson.family for lesson in lessons]
    counts = Counter(families)
    n_real = len(counts) - ("" in counts)
    if not n_real or "" not in counts:  # all are of one sort
        return np.array([1 / (len(counts) * counts[family]) for family in families])
    return np.array([(real / n_real if family else 1 - real) / counts[family] for family in families])


def batch_of(lessons: list[Lesson], n_items: int, rng: np.random.Generator) -> Batch:
    """Some items of each lesson, padded to the most candidates."""
    chosen = [rng.permutation(len(lesson.truth))[:n_items] for lesson in lessons]
    most = max(lesson.values.shape[1] for lesson in lessons)
    sizes = [len(items) for items in chosen]
    values = torch.zeros(sum(sizes), most, lessons[0].values.shape[2])
    is_there = torch.zeros(values.shape[:2], dtype=torch.bool)
    start = 0
    for lesson, items in zip(lessons, chosen, strict=True):
        rows, there = slice(start, start + len(items)), slice(lesson.values.shape[1])
        values[rows, there] = torch.from_numpy(lesson.values[items].astype(np.float32))
        is_there[rows, there] = True
        start += len(items)
    truth = np.concatenate([lesson.truth[items] for lesson, items in zip(lessons, chosen, strict=True)])
    panel = np.repeat(np.arange(len(sizes)), sizes)
    return Batch(values, is_there, torch.from_numpy(truth), torch.from_numpy(panel))


def _sample(lessons: list[Lesson]) -> Tensor:
    """Features of some items of many lessons (rows, features)."""
    some = lessons[:: max(1, len(lessons) // 1500)]
    rows = [lesson.values[:20].reshape(-1, lesson.values.shape[2]) for lesson in some]
    return torch.from_numpy(np.concatenate(rows).astype(np.float32))
