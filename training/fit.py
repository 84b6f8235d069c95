"""The training loop: batches of panels, some items of each. The same lessons and seed give the same weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from consilience.answering.learned.features import PANEL
from training.features import AVERAGE
from training.loss import loss, ratios
from training.network import HIDDEN, Network
from training.panels import Lesson

FEW_DRAWS = 60
"""A family with fewer draws than this weighs less, in proportion: few panels would be learned by heart."""


@dataclass(frozen=True)
class Recipe:
    """How a network is trained."""

    steps: int = 2000
    panels: int = 16  # in a batch
    items: int = 64  # of each panel
    real: float = 0.4  # the share of real panels in a batch
    learning_rate: float = 3e-3
    weight_decay: float = 1e-2
    risk: float = 1.0
    hidden: int = HIDDEN
    networks: int = 2  # averaged
    left_out: tuple[str, ...] = ()  # features, for ablations


class Batch(NamedTuple):
    """Items of several panels, one row for each item and candidate."""

    values: Tensor  # (rows, features)
    item: Tensor  # (rows,): the number of its item
    true: Tensor  # (items,): the row of the true class
    panel: Tensor  # (items,): the number of its panel


def fit(
    lessons: Sequence[Lesson], recipe: Recipe, seed: int, on_step: Callable[[float], None] = lambda _: None
) -> tuple[Network, list[float]]:
    """A trained network, and the loss of each step."""
    torch.manual_seed(seed)
    rng, shares = np.random.default_rng(seed), np.cumsum(weights(lessons, recipe.real))
    network = Network(recipe.hidden)
    network.standardize(sample(lessons), left_out=recipe.left_out)
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay, foreach=False
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, recipe.learning_rate, recipe.steps, pct_start=0.1)
    history = []
    for _ in range(recipe.steps):
        places = np.minimum(np.searchsorted(shares, rng.random(recipe.panels)), len(lessons) - 1)
        batch = batch_of([lessons[place] for place in places], recipe.items, rng)
        logs = network(batch.values, batch.item, len(batch.true))
        found = loss(ratios(logs, batch.values[:, AVERAGE], batch), recipe.risk)
        optimizer.zero_grad()
        found.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        history.append(found.item())
        on_step(history[-1])
    return network.eval(), history


def weights(lessons: Sequence[Lesson], real: float) -> np.ndarray:
    """How often each panel is drawn: real families alike (small ones less), generated panels the rest; sums to 1."""
    families = ["" if lesson.family.startswith("generated") else lesson.family for lesson in lessons]
    counts = Counter(families)
    sizes = {family: min(1.0, n / FEW_DRAWS) for family, n in counts.items() if family}
    n_generated, total = counts[""], sum(sizes.values())
    share = 0.0 if not sizes else 1.0 if not n_generated else real
    return np.array(
        [share * sizes[family] / total / counts[family] if family else (1 - share) / n_generated for family in families]
    )


def batch_of(lessons: Sequence[Lesson], n_items: int, rng: np.random.Generator) -> Batch:
    """Some items of each lesson."""
    values, item, true, panel, n_rows, n_before = [], [], [], [], 0, 0
    for number, lesson in enumerate(lessons):
        items = rng.permutation(len(lesson.truth))[:n_items]
        _, n_candidates, n_features = lesson.values.shape
        values.append(lesson.values[items].reshape(-1, n_features))
        item.append(np.repeat(n_before + np.arange(len(items)), n_candidates))
        true.append(n_rows + n_candidates * np.arange(len(items)) + lesson.truth[items])
        panel.append(np.full(len(items), number))
        n_rows, n_before = n_rows + n_candidates * len(items), n_before + len(items)
    numbers = [torch.from_numpy(np.concatenate(part)) for part in (item, true, panel)]
    return Batch(torch.from_numpy(np.concatenate(values).astype(np.float32)), *numbers)


def sample(lessons: Sequence[Lesson]) -> Tensor:
    """Features of some items of many lessons (rows, features)."""
    some = lessons[:: max(1, len(lessons) // 1500)]
    rows = [lesson.values[:20].reshape(-1, lesson.values.shape[2]) for lesson in some]
    return torch.from_numpy(np.concatenate(rows).astype(np.float32))


def panel_ranges(lessons: Sequence[Lesson], share: float = 0.001) -> tuple[np.ndarray, np.ndarray]:
    """The range of each trait of the panels, but for a small share at both ends."""
    traits = np.stack([lesson.values[0, 0, -len(PANEL) :].astype(np.float64) for lesson in lessons])
    return np.quantile(traits, share, axis=0), np.quantile(traits, 1 - share, axis=0)
