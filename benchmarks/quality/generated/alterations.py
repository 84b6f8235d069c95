"""Alterations: what turns one panel, generated or real, into many others.

Each takes a panel and gives another one with the truth still aligned. New members are appended, so that the members
before them stay where they are. Panels may have unknown truths (-1), missing answers and any number of classes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks.quality.generated.answers import log, normalized, one_hot, softmax
from benchmarks.quality.generated.assembly import answered, is_whole, select
from benchmarks.quality.generated.draws import LARGEST, chance, log_uniform, log_uniform_integer
from benchmarks.quality.panel import Panel

Rng = np.random.Generator
Alteration = Callable[[Panel, Rng], Panel]

MOST_ITEMS = 1200

MANY_CLASSES = 100
"""Most panels of more classes are cut down, since hardly any others have as many."""


def alter(panel: Panel, rng: Rng) -> Panel:
    """The panel after none, some or many alterations, named in `kind`; each leaves every item with an answer."""
    altered, names = panel, [] if panel.kind == "as it is" else [panel.kind]
    much = rng.choice([0, 0.5, 1, 2], p=[0.2, 0.3, 0.35, 0.15])
    for name, (probability, alteration) in ALTERATIONS.items():
        if chance(rng, min(1, probability * (1 if name in ALWAYS else much))):
            result = apply(alteration, altered, rng)
            names += [name] if result is not altered else []
            altered = result
    return replace(altered, kind=", ".join(names) or panel.kind)


def apply(alteration: Alteration, panel: Panel, rng: Rng) -> Panel:
    """The altered panel without unanswered items; the panel itself where too little would be left of it."""
    altered = alteration(panel, rng)
    if altered is panel:
        return panel
    altered = answered(altered)
    return altered if is_whole(altered) else panel


# Classes.


def dropped_classes(panel: Panel, rng: Rng) -> Panel:
    """Some classes, and the items known to be of one of them; answers of other classes are gone."""
    present = np.unique(panel.truth[panel.truth >= 0])
    if len(present) < 3:
        return panel
    chosen = rng.choice(present, log_uniform_integer(rng, 2, len(present) - 1), replace=False)
    return _with_classes(panel, np.sort(chosen))


def _with_classes(panel: Panel, classes: np.ndarray) -> Panel:
    places = np.full(panel.n_classes + 1, -1)
    places[classes] = np.arange(len(classes))
    panel = select(panel, items=places[panel.truth] >= 0)
    truth = places[panel.truth]
    if panel.labels is not None:
        return replace(panel, truth=truth, n_classes=len(classes), labels=places[panel.labels])
    kept = _soft(panel)[:, :, classes]
    sums = kept.sum(axis=2, keepdims=True)
    kept = np.where(sums > 1e-6, kept / np.where(sums > 1e-6, sums, 1), np.nan)
    return replace(panel, truth=truth, n_classes=len(classes), probabilities=kept)


def fewer_classes(panel: Panel, rng: Rng) -> Panel:
    """Some of the classes where there are very many."""
    return panel if panel.n_classes <= MANY_CLASSES else dropped_classes(panel, rng)


def merged_classes(panel: Panel, rng: Rng) -> Panel:
    """Classes put together at random, two at least remaining."""
    if panel.n_classes < 3:
        return panel
    n_left = log_uniform_integer(rng, 2, panel.n_classes - 1)
    groups = np.concatenate([np.arange(n_left), rng.integers(n_left, size=panel.n_classes - n_left)])
    groups = np.append(rng.permutation(groups), -1)  # the last place is that of -1
    truth = groups[panel.truth]
    if panel.labels is not None:
        return replace(panel, truth=truth, n_classes=n_left, labels=groups[panel.labels])
    merged = _soft(panel) @ np.eye(n_left, dtype=np.float32)[groups[:-1]]
    return replace(panel, truth=truth, n_classes=n_left, probabilities=merged)


# Items.


def uneven_shares(panel: Panel, rng: Rng) -> Panel:
    """Items drawn so that the classes have shares from a Dirichlet; items of unknown truth stay."""
    classes, counts = np.unique(panel.truth[panel.truth >= 0], return_counts=True)
    shares = rng.dirichlet(np.full(len(classes), 10 ** rng.uniform(-0.5, 1.5)))
    wanted = np.minimum(np.ceil(shares * counts.sum() * rng.uniform(0.4, 1)), counts).astype(int)
    kept = [np.flatnonzero(panel.truth < 0)]
    kept += [
        rng.choice(np.flatnonzero(panel.truth == one), n, replace=False) for one, n in zip(classes, wanted, strict=True)
    ]
    return select(panel, items=np.sort(np.concatenate(kept)))


def few_items(panel: Panel, rng: Rng) -> Panel:
    """Ten, thirty or a hundred items."""
    return _some_items(panel, int(rng.choice([10, 30, 100])), rng)


def fewer_items(panel: Panel, rng: Rng) -> Panel:
    """Up to 1,200 items where there are more."""
    if panel.n_items <= MOST_ITEMS:
        return panel
    return _some_items(panel, log_uniform_integer(rng, 150, MOST_ITEMS), rng)


def _some_items(panel: Panel, n_items: int, rng: Rng) -> Panel:
    """So many items at random, of two classes at least, most of them with a known truth if there are such."""
    if n_items >= panel.n_items:
        return panel
    order = rng.permutation(panel.n_items)
    order = order[np.argsort(panel.truth[order] < 0, kind="stable")]
    first = panel.truth[order[0]]
    other = np.flatnonzero((panel.truth[order] != first) & (panel.truth[order] >= 0))[:1]
    order = np.concatenate([order[other], np.delete(order, other)])
    return select(panel, items=np.sort(order[:n_items]))


# Answers.


def thinned(panel: Panel, rng: Rng) -> Panel:
    """Some of the answers, at least one of each item: a share of all, or so many an item."""
    has_answer = panel.votes >= 0
    order = np.where(has_answer, rng.random(has_answer.shape), 2)
    if chance(rng, 0.5):
        is_kept = order < rng.uniform(0.2, 0.95)
    else:
        is_kept = order.argsort(axis=0).argsort(axis=0) < log_uniform_integer(rng, 1, 10)
    is_kept |= order == order.min(axis=0)
    return _without(panel, ~is_kept)


def known_classes(panel: Panel, rng: Rng) -> Panel:
    """Members who know only some of the classes, and keep silent where they find none of these probable."""
    if panel.n_classes < 3:
        return panel
    knows = rng.random((panel.n_members, panel.n_classes)) < rng.uniform(0.4, 0.9)
    knows[np.arange(panel.n_members), rng.integers(panel.n_classes, size=panel.n_members)] = True
    if panel.labels is not None:
        return _without(panel, ~np.take_along_axis(knows, np.maximum(panel.labels, 0), axis=1))
    rows = _soft(panel) * knows[:, None, :]
    total = rows.sum(axis=2, keepdims=True)
    rows = np.where(total > 1e-4, rows / np.maximum(total, 1e-4), np.nan)
    return replace(panel, probabilities=rows.astype(np.float32))


def temperatures(panel: Panel, rng: Rng) -> Panel:
    """Members surer or more modest, all alike or each by itself."""
    if panel.probabilities is None:
        return panel
    spread = rng.uniform(0, 1)
    least, most = (0.03, 30) if chance(rng, 0.15) else (0.4, 2.5)
    sharpness = log_uniform(rng, least, most) * np.exp(spread * rng.standard_normal(panel.n_members))
    return _with_scores(panel, log(_soft(panel)) * sharpness[:, None, None])


def leanings(panel: Panel, rng: Rng) -> Panel:
    """Members leaning towards some classes, all alike or each by itself."""
    if panel.probabilities is None:
        return panel
    shared, own = rng.uniform(0, 1.5, 2) * rng.integers(2, size=2)
    lean = shared * rng.standard_normal(panel.n_classes)
    lean = lean + own * rng.standard_normal((panel.n_members, panel.n_classes))
    return _with_scores(panel, log(_soft(panel)) + lean[:, None])


def some_votes(panel: Panel, rng: Rng) -> Panel:
    """Some members give labels only."""
    if panel.probabilities is None:
        return panel
    probabilities = _soft(panel).copy()
    is_hard = rng.random(panel.n_members) < rng.uniform(0.1, 0.7)
    probabilities[is_hard] = one_hot(probabilities[is_hard])
    return replace(panel, probabilities=probabilities)


def votes(panel: Panel, _: Rng) -> Panel:
    """All members give labels only."""
    return panel if panel.labels is not None else replace(panel, probabilities=None, labels=panel.votes)


# Members.


def dropped_members(panel: Panel, rng: Rng) -> Panel:
    """Some of the members, rarely one alone."""
    if panel.n_members < 2:
        return panel
    n_left = int(rng.integers(1 if chance(rng, 0.1) else 2, panel.n_members + 1))
    return select(panel, members=np.sort(rng.choice(panel.n_members, n_left, replace=False)))


def copies(panel: Panel, rng: Rng) -> Panel:
    """One to five near copies of one member."""
    n_copies = log_uniform_integer(rng, 1, 5)
    originals = np.full(n_copies, rng.integers(panel.n_members))
    return _with_noisy(panel, originals, np.full(n_copies, rng.choice([0, 0.03, 0.3])), rng)


def noisy_members(panel: Panel, rng: Rng) -> Panel:
    """Up to thirty noisy versions of the members there are, each leaning its own way."""
    originals = rng.integers(panel.n_members, size=log_uniform_integer(rng, 2, 30))
    return _with_noisy(panel, originals, rng.uniform(0.2, 2, len(originals)), rng)


def useless_member(panel: Panel, rng: Rng) -> Panel:
    """One more member, whose answers have nothing to do with the items."""
    one = int(rng.integers(panel.n_members))
    return _appended(panel, _said(panel, one)[rng.permutation(panel.n_items)][None])


def constant_member(panel: Panel, rng: Rng) -> Panel:
    """One more member, who says of every item the same."""
    if panel.labels is not None:
        return _appended(panel, np.full((1, panel.n_items), rng.integers(panel.n_classes)))
    row = rng.dirichlet(np.full(panel.n_classes, rng.uniform(0.1, 3))) + 1e-6
    return _appended(panel, np.tile(row / row.sum(), (1, panel.n_items, 1)))


def adversarial_member(panel: Panel, rng: Rng) -> Panel:
    """One more member, who gives another one's answers under wrong names of the classes."""
    one, step = int(rng.integers(panel.n_members)), int(rng.integers(1, panel.n_classes))
    order = rng.permutation(panel.n_classes)
    wrong = np.append(order[(order.argsort() + step) % panel.n_classes], -1)  # no class keeps its name
    said = _said(panel, one)
    return _appended(panel, (wrong[said] if panel.labels is not None else said[:, wrong[:-1]])[None])


ALTERATIONS: dict[str, tuple[float, Alteration]] = {
    "fewer classes": (0.6, fewer_classes),
    "fewer items": (1, fewer_items),
    "dropped classes": (0.12, dropped_classes),
    "merged classes": (0.07, merged_classes),
    "uneven shares": (0.2, uneven_shares),
    "dropped members": (0.2, dropped_members),
    "noisy members": (0.08, noisy_members),
    "copies": (0.1, copies),
    "known classes": (0.07, known_classes),
    "temperatures": (0.15, temperatures),
    "leanings": (0.12, leanings),
    "useless member": (0.07, useless_member),
    "constant member": (0.04, constant_member),
    "adversarial member": (0.06, adversarial_member),
    "some votes": (0.06, some_votes),
    "thinned": (0.12, thinned),
    "few items": (0.08, few_items),
    "votes": (0.36, votes),
}
"""By name: how probable each is in a panel that is altered as usual, in the order in which they are made."""

ALWAYS = frozenset({"fewer classes", "fewer items", "votes"})
"""These are as probable in a panel that is altered much, little or not at all."""


def _soft(panel: Panel) -> np.ndarray:
    assert panel.probabilities is not None  # noqa: S101 - the caller has seen to it
    return panel.probabilities


def _said(panel: Panel, member: int) -> np.ndarray:
    """(items,) or (items, classes): what one member says."""
    return panel.labels[member] if panel.labels is not None else _soft(panel)[member]


def _appended(panel: Panel, said: np.ndarray) -> Panel:
    """The panel with more members: (members, items) or (members, items, classes)."""
    if panel.labels is not None:
        return replace(panel, labels=np.concatenate([panel.labels, said]))
    both = np.concatenate([_soft(panel), said.astype(_soft(panel).dtype)])
    return replace(panel, probabilities=both)


def _with_scores(panel: Panel, scores: np.ndarray) -> Panel:
    """The panel with other probabilities, missing answers still missing."""
    probabilities = softmax(np.nan_to_num(scores))
    probabilities[np.isnan(scores).any(axis=2)] = np.nan
    return replace(panel, probabilities=probabilities)


def _without(panel: Panel, is_gone: np.ndarray) -> Panel:
    """The panel without some answers, (members, items)."""
    if panel.labels is not None:
        return replace(panel, labels=np.where(is_gone, -1, panel.labels))
    return replace(panel, probabilities=np.where(is_gone[:, :, None], np.nan, _soft(panel)))


def _with_noisy(panel: Panel, originals: np.ndarray, noise: np.ndarray, rng: Rng) -> Panel:
    """The panel with noisy versions of some of its members appended, as far as they do not make it too large."""
    room = LARGEST // (panel.n_items * panel.n_classes) - panel.n_members
    originals, noise = originals[: max(0, room)], noise[: max(0, room)]
    if not len(originals):
        return panel
    if panel.labels is not None:
        return _appended(panel, _noisy_labels(panel.labels[originals], panel.n_classes, noise, rng))
    logs = log(_soft(panel)[originals])
    logs = logs + noise[:, None, None] * rng.standard_normal(logs.shape, dtype=np.float32)
    logs = logs + 0.5 * noise[:, None, None] * rng.standard_normal((len(originals), 1, panel.n_classes))
    said = softmax(np.nan_to_num(logs))
    said[np.isnan(logs).any(axis=2)] = np.nan
    return _appended(panel, said)


def _noisy_labels(labels: np.ndarray, n_classes: int, noise: np.ndarray, rng: Rng) -> np.ndarray:
    """(members, items): the labels with up to half of them drawn anew, from each member's own leanings."""
    weights = normalized(rng.dirichlet(np.full(n_classes, 1.0), len(labels)))
    drawn = (weights.cumsum(axis=1)[:, None, :-1] < rng.random((*labels.shape, 1))).sum(axis=2)
    is_drawn = rng.random(labels.shape) < np.minimum(0.25 * noise, 0.5)[:, None]
    return np.where((labels >= 0) & is_drawn, drawn, labels)
