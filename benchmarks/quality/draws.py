"""Kinds of panels that people bring and few publish, drawn from panels as they are.

Each draw is a function from a panel and a generator to a panel, or to None where it makes no sense of the panel. The
same panel, kind and number give the same draw. A draw keeps the family of its panel, and so its side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from zlib import crc32

import numpy as np

from benchmarks.quality.panel import Panel, answered, take

MOST_ITEMS = 1000
"""Draws have at most so many items."""

LEAST_ITEMS = 40
"""A draw of shares with fewer items is made again, and given up after some tries."""

LEAST_OF_A_CLASS = 20
"""Classes with fewer items are not made the rare one, or the common one."""

Draw = Callable[[Panel, np.random.Generator], Panel | None]


@dataclass(frozen=True)
class Kind:
    """How panels of a kind are drawn, and how often from each panel."""

    draw: Draw
    n_draws: int


def draws(panel: Panel) -> Iterator[Panel]:
    """Every draw from a panel."""
    for name, kind in KINDS.items():
        for number in range(kind.n_draws):
            rng = np.random.default_rng(crc32(f"{panel.name} {name} {number}".encode()))
            drawn = kind.draw(panel, rng)
            if drawn is not None and is_scorable(drawn):
                yield replace(drawn, name=f"{panel.name}~{name.replace(' ', '-')}~{number}", kind=name)


def is_scorable(panel: Panel) -> bool:
    """Whether there is something to fuse and to score."""
    return panel.n_members > 1 and (panel.truth >= 0).sum() >= 10


# ---- items ------------------------------------------------------------------------------------------------


def few_items(n_items: int, panel: Panel, rng: np.random.Generator) -> Panel | None:
    """Some items, all with a known truth."""
    known = np.flatnonzero(panel.truth >= 0)
    if len(known) < 2 * n_items:
        return None
    return answered(take(panel, np.sort(rng.choice(known, n_items, replace=False))))


def uneven(panel: Panel, rng: np.random.Generator) -> Panel | None:
    """Class shares from a Dirichlet distribution, from very uneven (.3) to nearly even (30)."""
    counts = np.bincount(panel.truth[panel.truth >= 0], minlength=panel.n_classes)
    present = np.flatnonzero(counts)
    if len(present) < 2:
        return None
    for _ in range(20):
        concentration = np.exp(rng.uniform(np.log(0.3), np.log(30)))
        shares = np.zeros(panel.n_classes)
        shares[present] = rng.dirichlet(np.full(len(present), concentration))
        drawn = _with_shares(panel, shares, rng)
        if drawn is not None:
            return drawn
    return None


def rare(panel: Panel, rng: np.random.Generator) -> Panel | None:
    """Two of the classes, one of them at 1 to 20 % of the items; members are asked to choose between the two."""
    counts = np.bincount(panel.truth[panel.truth >= 0], minlength=panel.n_classes)
    large = np.flatnonzero(counts >= LEAST_OF_A_CLASS)
    if len(large) < 2:
        return None
    share = np.exp(rng.uniform(np.log(0.01), np.log(0.2)))
    pair = rng.choice(large, 2, replace=False)
    two = only_classes(panel, pair)
    if two is None or min(np.bincount(two.truth, minlength=2)) < LEAST_OF_A_CLASS:
        return None
    n_common = min((two.truth == 0).sum(), MOST_ITEMS)
    n_rare = max(3, round(share * n_common / (1 - share)))
    if n_rare > (two.truth == 1).sum():
        return None
    chosen = [rng.choice(np.flatnonzero(two.truth == k), n, replace=False) for k, n in enumerate((n_common, n_rare))]
    return answered(take(two, np.sort(np.concatenate(chosen))))


def _with_shares(panel: Panel, shares: np.ndarray, rng: np.random.Generator) -> Panel | None:
    """As many items as the panel has of these shares; None where they are too few or of one class."""
    known = [np.flatnonzero(panel.truth == k) for k in range(panel.n_classes)]
    wanted = shares > 0
    sizes = np.array([len(items) for items in known])
    n_items = min(MOST_ITEMS, int((sizes[wanted] / shares[wanted]).min() * 3))  # the largest may be cut to a third
    take_of = np.minimum(sizes, np.round(shares * n_items).astype(int))
    if take_of.sum() < LEAST_ITEMS or (take_of > 0).sum() < 2:
        return None
    chosen = np.concatenate([rng.choice(items, n, replace=False) for items, n in zip(known, take_of, strict=True)])
    return answered(take(panel, np.sort(chosen)))


def only_classes(panel: Panel, classes: np.ndarray) -> Panel | None:
    """The items of some classes, members choosing among these; who finds none of them probable says nothing."""
    place = np.full(panel.n_classes + 1, -1)  # one more, for -1
    place[classes] = np.arange(len(classes))
    items = np.flatnonzero(place[panel.truth] >= 0)
    some = take(panel, items)
    if some.labels is not None:
        reduced = replace(some, labels=place[some.labels])
    else:
        assert some.probabilities is not None  # noqa: S101 - one of the two is given
        rows = some.probabilities[:, :, classes].astype(np.float64)
        total = rows.sum(axis=2, keepdims=True)
        reduced = replace(some, probabilities=np.where(total > 1e-12, rows / np.maximum(total, 1e-12), np.nan))
    reduced = replace(reduced, truth=place[some.truth], n_classes=len(classes))
    if not (reduced.votes >= 0).any():
        return None
    return answered(reduced)


# ---- answers ----------------------------------------------------------------------------------------------


def votes(panel: Panel, _: np.random.Generator) -> Panel | None:
    """The members' most probable classes alone."""
    return None if panel.labels is not None else _sized(replace(panel, probabilities=None, labels=panel.votes))


def few_answers(panel: Panel, rng: np.random.Generator) -> Panel | None:
    """At most three answers to each item."""
    if (panel.votes >= 0).sum(axis=0).mean() < 5:
        return None
    panel = _sized(panel)
    order = rng.random(panel.votes.shape)
    order[panel.votes < 0] = 2
    return answered(silenced(panel, order.argsort(axis=0).argsort(axis=0) >= 3))


def some_classes(panel: Panel, rng: np.random.Generator) -> Panel | None:
    """Members who know only some of the classes, each six in ten, and keep silent where they know none that fits."""
    if panel.n_classes < 4:
        return None
    panel = _sized(panel)
    knows = rng.random((panel.n_members, panel.n_classes)) < 0.6
    knows[:, 0] |= ~knows.any(axis=1)
    if panel.labels is not None:
        is_known = np.take_along_axis(knows, np.maximum(panel.labels, 0), axis=1)
        return answered(silenced(panel, ~is_known))
    assert panel.probabilities is not None  # noqa: S101 - one of the two is given
    rows = panel.probabilities * knows[:, None, :]
    total = rows.sum(axis=2, keepdims=True)
    return answered(replace(panel, probabilities=np.where(total > 1e-6, rows / np.maximum(total, 1e-6), np.nan)))


def silenced(panel: Panel, is_silent: np.ndarray) -> Panel:
    """The panel without some answers (members, items)."""
    if panel.labels is not None:
        return replace(panel, labels=np.where(is_silent, -1, panel.labels))
    return replace(panel, probabilities=np.where(is_silent[:, :, None], np.nan, panel.probabilities))


# ---- members ----------------------------------------------------------------------------------------------


def members_drawn(panel: Panel, rng: np.random.Generator) -> Panel | None:
    """Two to five of the members."""
    if panel.n_members < 4:
        return None
    n_members = int(rng.integers(2, min(5, panel.n_members - 1) + 1))
    by_answers = np.argsort(-(panel.votes >= 0).sum(axis=1))[: 4 * n_members]  # of a crowd, those who answer much
    chosen = np.sort(rng.choice(by_answers, n_members, replace=False))
    return answered(_sized(take(panel, np.arange(panel.n_items), chosen)))


def copies(panel: Panel, rng: np.random.Generator) -> Panel | None:
    """One member three times."""
    panel = _sized(panel)
    which = int(rng.integers(panel.n_members))
    return _with(panel, lambda one: [one[which], one[which]])


def useless(panel: Panel, rng: np.random.Generator) -> Panel | None:
    """One more member, who says of each item what another member says of some other item."""
    panel = _sized(panel)
    which, order = int(rng.integers(panel.n_members)), rng.permutation(panel.n_items)
    return _with(panel, lambda one: [one[which][order]])


def adversarial(panel: Panel, rng: np.random.Generator) -> Panel | None:
    """One more member, who names each class by the name of another."""
    panel = _sized(panel)
    which, shift = int(rng.integers(panel.n_members)), int(rng.integers(1, panel.n_classes))
    if panel.labels is not None:
        renamed = np.where(panel.labels[which] < 0, -1, (panel.labels[which] + shift) % panel.n_classes)
        return _with(panel, lambda _: [renamed])
    return _with(panel, lambda one: [np.roll(one[which], shift, axis=1)])


def many_members(panel: Panel, rng: np.random.Generator) -> Panel | None:
    """Forty members: to those there are, noisy versions of them are added."""
    if panel.n_members >= 40 or panel.n_classes > 100:
        return None
    panel = _sized(panel)
    sources = rng.integers(panel.n_members, size=40 - panel.n_members)
    if panel.labels is not None:
        added = [_misread(panel.labels[one], panel.n_classes, rng) for one in sources]
    else:
        assert panel.probabilities is not None  # noqa: S101 - one of the two is given
        added = [_blurred(panel.probabilities[one], rng) for one in sources]
    return _with(panel, lambda _: added)


def _misread(labels: np.ndarray, n_classes: int, rng: np.random.Generator) -> np.ndarray:
    is_wrong = (rng.random(len(labels)) < rng.uniform(0.05, 0.6)) & (labels >= 0)
    return np.where(is_wrong, rng.integers(n_classes, size=len(labels)), labels)


def _blurred(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    logs = np.log(np.maximum(rows, 1e-6)) + rng.uniform(0.2, 2) * rng.normal(size=rows.shape)
    rows = np.exp(logs - logs.max(axis=1, keepdims=True))
    return rows / rows.sum(axis=1, keepdims=True)


def _with(panel: Panel, more: Callable[[np.ndarray], list[np.ndarray]]) -> Panel:
    """The panel and more members."""
    if panel.labels is not None:
        return replace(panel, labels=np.concatenate([panel.labels, more(panel.labels)]))
    assert panel.probabilities is not None  # noqa: S101 - one of the two is given
    return replace(panel, probabilities=np.concatenate([panel.probabilities, more(panel.probabilities)]))


def _sized(panel: Panel) -> Panel:
    """At most so many items, those first that have a truth: of a large crowd most have none."""
    if panel.n_items <= MOST_ITEMS:
        return panel
    rng = np.random.default_rng(1)
    order = np.lexsort((rng.random(panel.n_items), panel.truth < 0))
    return answered(take(panel, np.sort(order[:MOST_ITEMS])))


KINDS: dict[str, Kind] = {
    "votes": Kind(votes, 1),
    "uneven": Kind(uneven, 2),
    "rare": Kind(rare, 2),
    "few answers": Kind(few_answers, 1),
    "some classes": Kind(some_classes, 1),
    "members drawn": Kind(members_drawn, 2),
    "copies": Kind(copies, 1),
    "useless": Kind(useless, 1),
    "adversarial": Kind(adversarial, 1),
    "many members": Kind(many_members, 1),
    "10 items": Kind(partial(few_items, 10), 8),
    "30 items": Kind(partial(few_items, 30), 4),
    "100 items": Kind(partial(few_items, 100), 2),
}
"""Every kind, in the order of tables."""
