"""The training loop: batches of panels, some items of each. The same lessons and seed give the same weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from consilience.aggregators.consensus.class_shares import EVEN_WORTH, MANY, UNMET_COUNT, ClassShares
from consilience.aggregators.consensus.learned.experts import PANEL_TRAITS
from consilience.aggregators.consensus.panel import belief, stated_traits
from training.features import AVERAGE_SHARE, STATED, Features
from training.loss import loss, ratios
from training.network import AVERAGE, HIDDEN, Network
from training.panels import Lesson

FEW_DRAWS = 60
"""A family with fewer draws than this weighs less, in proportion: few panels would be learned by heart."""

UNEVEN = ("generated shifted", "generated dominated")
"""The kinds whose share in training decides how far answers move the shares of classes."""

NEARLY_EVEN = 0.5
"""Shares whose logarithms are no further than this from even ones may be stated to be even."""


@dataclass(frozen=True)
class Recipe:
    """How a network is trained."""

    steps: int = 4000
    panels: int = 16  # in a batch
    items: int = 100  # of each panel
    real: float = 0.4  # the share of real panels in a batch
    uneven: float = 0.12  # the share of the kinds `UNEVEN` among generated ones
    stated: float = 0.5  # the share of panels whose class shares are stated
    learning_rate: float = 3e-3
    weight_decay: float = 1e-2
    risk: float = 4.0
    hidden: int = HIDDEN
    networks: int = 2  # averaged
    left_out: tuple[str, ...] = ()  # features, for ablations
    has_members: bool = True  # whether members' evidence is weighed, for ablations


class Batch(NamedTuple):
    """Items of several panels, one row for each item and candidate."""

    values: Tensor  # (rows, features)
    item: Tensor  # (rows,): the number of its item
    true: Tensor  # (items,): the row of the true class
    panel: Tensor  # (items,): the number of its panel
    panels: Tensor  # (panels, len(PANEL_TRAITS))
    members: Tensor  # (members, len(MEMBER_TRAITS)): of all panels
    member_panel: Tensor  # (members,): the number of its panel
    evidence: Tensor  # (entries, 2): own logarithm and log-likelihood of the vote, for each answer and candidate
    entry_row: Tensor  # (entries,)
    entry_member: Tensor  # (entries,)


def fit(
    lessons: Sequence[Lesson], recipe: Recipe, seed: int, on_step: Callable[[float], None] = lambda _: None
) -> tuple[Network, list[float]]:
    """A trained network, and the loss of each step."""
    torch.manual_seed(seed)
    rng, shares = np.random.default_rng(seed), np.cumsum(weights(lessons, recipe))
    network = Network(recipe.hidden, has_members=recipe.has_members)
    network.standardize(sample(lessons, recipe.stated), left_out=recipe.left_out)
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay, foreach=False
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, recipe.learning_rate, recipe.steps, pct_start=0.1)
    history = []
    for _ in range(recipe.steps):
        places = np.minimum(np.searchsorted(shares, rng.random(recipe.panels)), len(lessons) - 1)
        batch = batch_of([lessons[place] for place in places], recipe.items, recipe.stated, rng)
        found = loss(ratios(network(batch), batch.values[:, AVERAGE], batch), recipe.risk)
        optimizer.zero_grad()
        found.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        history.append(found.item())
        on_step(history[-1])
    return network.eval(), history


def weights(lessons: Sequence[Lesson], recipe: Recipe) -> np.ndarray:
    """How often each panel is drawn: real families alike (small ones less), generated panels the rest; sums to 1."""
    families = [_group(lesson.family) for lesson in lessons]
    counts = Counter(families)
    sizes = {family: min(1.0, n / FEW_DRAWS) for family, n in counts.items() if family not in {"", "uneven"}}
    is_generated = counts[""] + counts["uneven"] > 0
    share = 0.0 if not sizes else 1.0 if not is_generated else recipe.real
    uneven = 0.0 if not counts["uneven"] else 1.0 if not counts[""] else recipe.uneven
    total = sum(sizes.values())
    parts = {family: share * size / total for family, size in sizes.items()}
    parts |= {"": (1 - share) * (1 - uneven), "uneven": (1 - share) * uneven}
    return np.array([parts[family] / counts[family] for family in families])


def _group(family: str) -> str:
    """The family of a real panel; of generated ones "", and "uneven" of certain kinds."""
    return "uneven" if family in UNEVEN else "" if family.startswith("generated") else family


def batch_of(lessons: Sequence[Lesson], n_items: int, stated: float, rng: np.random.Generator) -> Batch:
    """Some items of each lesson; the class shares of some of the panels are stated."""
    parts, n_rows, n_before, n_members = [], 0, 0, 0
    for number, lesson in enumerate(lessons):
        items = np.sort(rng.permutation(np.flatnonzero(lesson.truth >= 0))[:n_items])
        features = lesson.features
        if rng.random() < stated:
            features = with_stated(features, drawn_statement(lesson.shares, rng))
        one = rows_of(features, items)
        n_candidates = features.candidates.shape[1]
        true = n_rows + n_candidates * np.arange(len(items)) + lesson.truth[items]
        parts.append(
            one._replace(
                item=n_before + one.item,
                true=true,
                panel=np.full(len(items), number),
                member_panel=number + one.member_panel,
                entry_row=n_rows + one.entry_row,
                entry_member=n_members + one.entry_member,
            )
        )
        n_rows, n_before = n_rows + n_candidates * len(items), n_before + len(items)
        n_members += len(features.members)
    return Batch(*(_joined(part) for part in zip(*parts, strict=True)))


def _joined(parts: Sequence[np.ndarray]) -> Tensor:
    joined = np.concatenate(parts)
    return torch.from_numpy(joined.astype(np.float32 if joined.dtype.kind == "f" else np.int64, copy=False))


def rows_of(features: Features, items: np.ndarray) -> Batch:
    """Some items of a panel by itself, in NumPy; what is true is left out."""
    n_items, n_candidates = len(items), features.candidates.shape[1]
    size = (n_items, n_candidates)
    values = np.concatenate(
        [
            features.pair[items].astype(np.float32),
            features.classes[features.candidates[items]].astype(np.float32),
            np.broadcast_to(features.item[items, None].astype(np.float32), (*size, features.item.shape[1])),
            np.broadcast_to(features.panel.astype(np.float32), (*size, len(features.panel))),
        ],
        axis=2,
    )
    place = np.full(len(features.pair), -1)
    place[items] = np.arange(n_items)
    is_in = place[features.answer_item] >= 0
    of_item, member = place[features.answer_item[is_in]], features.answer_member[is_in]
    entry_row = (n_candidates * of_item[:, None] + np.arange(n_candidates)).ravel()
    evidence = np.stack([features.own[is_in].ravel(), features.said[is_in].ravel()], axis=1)
    none = np.empty(0, dtype=np.int64)
    return Batch(
        values.reshape(n_items * n_candidates, -1),
        np.repeat(np.arange(n_items), n_candidates),
        none,
        none,
        features.panel[None],
        features.members,
        np.zeros(len(features.members), dtype=np.int64),
        evidence,
        entry_row,
        np.repeat(member, n_candidates),
    )


# ---- stated shares ----------------------------------------------------------------------------------------


def with_stated(features: Features, stated: ClassShares, n_items: float = np.inf) -> Features:
    """The features where these class shares are stated, as the library computes them for so many items.

    In training the shares are those of the very items, and not of more that these were drawn from.
    """
    classes, panel = features.classes.copy(), features.panel.copy()
    classes[:, STATED], classes[:, STATED + 1] = stated_traits(stated, classes[:, AVERAGE_SHARE], n_items)
    panel[PANEL_TRAITS.index("belief in stated shares")] = belief(stated, n_items)
    return features._replace(classes=classes, panel=panel)


def drawn_statement(shares: np.ndarray, rng: np.random.Generator) -> ClassShares:
    """What somebody may say of class shares: exact, even, or counted."""
    kind, n_classes = rng.integers(3), len(shares)
    if kind == 0:
        return ClassShares(shares, MANY)
    if kind == 1 and is_nearly_even(shares):
        return ClassShares(np.full(n_classes, 1 / n_classes), EVEN_WORTH)
    n_counted = round(np.exp(rng.uniform(np.log(20), np.log(500))))
    counts = rng.multinomial(n_counted, shares / shares.sum()) + UNMET_COUNT
    return ClassShares(counts / counts.sum(), n_counted)


def is_nearly_even(shares: np.ndarray) -> bool:
    """Whether somebody might call these shares even."""
    return bool(np.abs(np.log(np.maximum(shares, 1e-9) * len(shares))).max() <= NEARLY_EVEN)


# ---- scales -----------------------------------------------------------------------------------------------


def sample(lessons: Sequence[Lesson], stated: float) -> Batch:
    """Some items of many lessons."""
    return batch_of(lessons[:: max(1, len(lessons) // 1500)], 20, stated, np.random.default_rng(0))


def panel_ranges(lessons: Sequence[Lesson], share: float = 0.001) -> tuple[np.ndarray, np.ndarray]:
    """The range of each trait of the panels, but for a small share at both ends."""
    traits = np.stack([lesson.features.panel.astype(np.float64) for lesson in lessons])
    lowest, highest = np.quantile(traits, share, axis=0), np.quantile(traits, 1 - share, axis=0)
    place = PANEL_TRAITS.index("belief in stated shares")
    lowest[place], highest[place] = 0, 1
    return lowest, highest
