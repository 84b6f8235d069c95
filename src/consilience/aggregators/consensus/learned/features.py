"""The numbers that the network knows of each item and class. All are the same in whatever order members stand.

Those of a pair of item and class, and of an item, follow from what the experts say of it. Those of a class, of the
panel and of its members follow from sums over all items of the fit: the traits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from consilience.system.arrays import Array, FloatArray, namespace

if TYPE_CHECKING:
    from consilience.aggregators.consensus.learned.experts import Opinions

LOWEST_LOG = -12.0
"""Logarithms are no lower: classes this improbable are all the same."""

MOST_CANDIDATES = 24
"""With more classes, the network looks at so many of each item: those that an average, the translation or the votes
find most probable."""

LEAST = 1e-30
"""Classes that no expert finds more probable than this are all the same."""

AMONG_EQUALS = 1e-3
"""How much translation counts in the ranking of candidates: enough to tell equals apart, and no more."""

EQUAL = 1e-7
"""Classes whose rankings differ by less are tied."""

PAIR = (
    *("log average", "log weighted average", "log translation", "log combination"),
    *("average", "translation", "combination", "share of votes"),
)
"""Of an item and a class, the logarithms first."""

ITEM = ("top", "margin", "entropy", "largest share of votes", "log answers")

CLASS = (
    *("share in average", "share of votes", "share in translation", "share of first choices", "share in combination"),
    *("share re-estimated", "least share of a member", "largest share of a member"),
    *("stated share", "stated against average"),
    *("agreement on it", "average's confidence in it", "members who say it"),
)
"""Of a class, the logarithms of its shares first. Those stated by the user are 0 where none are."""

PANEL = (
    *("agreement", "spread of agreement", "raw agreement", "mean skill", "spread of skill", "best skill", "copies"),
    *("agreement beyond skill", "most agreement beyond skill"),
    *("chance", "log classes", "log members", "log items", "log answers an item", "log effective members", "missing"),
    *("votes among members", "mean confidence", "mean entropy", "evenness of average", "claimed over shown errors"),
    *("credibility", "classes said", "spread of classes said", "translation against average"),
    *("votes against average", "top of translation", "evenness of translation", "top of average", "top of votes"),
    *("combination against average", "combination against translation", "top of combination"),
    *("evenness of combination", "re-estimated against average", "top of re-estimated", "evenness of re-estimated"),
    *("excess agreement", "size of excess agreement", "most excess agreement", "likeness of members"),
    *("translation outside of members", "combination outside of members", "re-estimated outside of members"),
    *("mean accuracy", "best accuracy", "least accuracy", "accuracy beyond confidence", "belief in stated shares"),
)
"""Of the panel. Accuracy is the members', and agreement is in excess of what it explains, as the combination has it."""

MEMBER = (
    *("accuracy", "confidence", "accuracy beyond confidence", "excess agreement", "most excess agreement"),
    *("agreement with others", "accuracy beyond agreement", "distance from average shares", "evenness of its votes"),
    *("least rate of being right", "mean rate of being right", "gives votes", "coverage"),
)
"""Of a member; accuracies are as the combination has them."""

N_LOGS = 4
"""The first of `PAIR` are logarithms, and mixed as they are."""

N_SHARES = 10
"""So are the first of `CLASS`."""

NAMES = (
    *(f"item and class: {name}" for name in PAIR),
    *(f"class: {name}" for name in CLASS),
    *(f"item: {name}" for name in ITEM),
    *(f"panel: {name}" for name in PANEL),
)
"""All features of items and classes, in the order of the network's weights."""


class Traits(NamedTuple):
    """What is known of the classes, of the panel and of its members."""

    classes: FloatArray  # (classes, len(CLASS))
    panel: FloatArray  # (len(PANEL),)
    members: FloatArray  # (members, len(MEMBER))


def candidates(opinions: Opinions) -> Array | None:
    """The classes that the network looks at (items, candidates), in rising order; None where it looks at all."""
    xp = namespace(opinions.average)
    if opinions.average.shape[1] <= MOST_CANDIDATES:
        return None
    ranked = ranking(opinions)
    if hasattr(xp, "topk"):  # torch
        return xp.sort(xp.topk(ranked, MOST_CANDIDATES, dim=1).indices, axis=1)
    places = xp.argpartition(-ranked, MOST_CANDIDATES, axis=1)[:, :MOST_CANDIDATES]
    return xp.sort(places, axis=1)


def ranking(opinions: Opinions) -> Array:
    """What the candidates have most of (items, classes): the logarithm of what the most convinced expert says.

    Hard members find most classes equally improbable. Among those, translation decides, so that only classes of which
    all the same is known are tied.
    """
    xp = namespace(opinions.average)
    best = opinions.average
    for other in (opinions.weighted, xp.exp(opinions.translation), opinions.votes):
        best = xp.maximum(best, other)
    return xp.log(best.clip(LEAST, None)) + AMONG_EQUALS * opinions.translation


def chosen(rows: Array, places: Array | None) -> Array:
    """The columns of the candidates (items, candidates)."""
    if places is None:
        return rows
    xp = namespace(rows)
    return xp.gather(rows, 1, places) if hasattr(xp, "gather") else xp.take_along_axis(rows, places, axis=1)


def pair_features(opinions: Opinions, places: Array | None) -> Array:
    """(items, candidates, len(PAIR))."""
    xp = namespace(opinions.average)
    average, weighted, translation, combination, votes = (
        xp.matrix_transpose(chosen(rows, places)) for rows in opinions[:5]
    )
    logs = [_log(xp, average), _log(xp, weighted), _clipped(translation), _clipped(combination)]
    # Class by class in memory, because sums over classes are fast then.
    by_class = xp.stack([*logs, average, xp.exp(logs[2]), xp.exp(logs[3]), votes], axis=2)
    return xp.permute_dims(by_class, (1, 0, 2))


def item_features(opinions: Opinions) -> Array:
    """(items, len(ITEM))."""
    average = opinions.average
    xp = namespace(average)
    ordered = xp.sort(average, axis=1)
    top = ordered[:, -1:]
    parts = [
        *(top, top - ordered[:, -2:-1], entropy(average)[:, None], xp.max(opinions.votes, axis=1, keepdims=True)),
        xp.log(opinions.n_answers) / 3,
    ]
    return xp.concat(parts, axis=1)


def entropy(shares: Array) -> Array:
    """Over the last axis, 1 where all are the same."""
    xp = namespace(shares)
    n_classes = shares.shape[-1]
    total = -xp.sum(shares * xp.log(shares.clip(1e-12, None)), axis=-1)
    return total / math.log(n_classes)


def _log(xp: Any, rows: Array) -> Array:
    return _clipped(xp.log(rows.clip(1e-9, None)))


def _clipped(logs: Array) -> Array:
    # As a method, which NumPy and torch have: the array API's function takes ten times as long for a single item.
    return logs.clip(LOWEST_LOG, 0.0)
