"""The mixture: which kinds of generated panels there are, how much of each, and one panel by its seed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from zlib import crc32

import numpy as np

from benchmarks.quality.generated.assembly import Draft, assemble
from benchmarks.quality.generated.collapsed import collapsed
from benchmarks.quality.generated.crowd import crowd
from benchmarks.quality.generated.dominated import dominated
from benchmarks.quality.generated.events import events
from benchmarks.quality.generated.functions import functions
from benchmarks.quality.generated.identifiers import identifiers
from benchmarks.quality.generated.independent import independent
from benchmarks.quality.generated.judges import judges
from benchmarks.quality.generated.latent import latent
from benchmarks.quality.generated.lists import lists
from benchmarks.quality.generated.positions import positions
from benchmarks.quality.generated.rare import rare
from benchmarks.quality.generated.shifted import shifted
from benchmarks.quality.generated.trained import trained
from benchmarks.quality.generated.unknowable import unknowable
from benchmarks.quality.panel import Panel

MAKERS: dict[str, tuple[float, Callable[[np.random.Generator], Draft]]] = {
    "trained": (0.16, trained),
    "latent": (0.17, latent),
    "rare": (0.09, rare),
    "crowd": (0.06, crowd),
    "functions": (0.05, functions),
    "identifiers": (0.04, identifiers),
    "judges": (0.08, judges),
    "independent": (0.11, independent),
    "unknowable": (0.05, unknowable),
    "events": (0.03, events),
    "shifted": (0.04, shifted),
    "dominated": (0.04, dominated),
    "lists": (0.03, lists),
    "positions": (0.03, positions),
    "collapsed": (0.02, collapsed),
}
"""By name: the share of each kind in the mixture, and its generator."""

KINDS: dict[str, float] = {kind: share for kind, (share, _) in MAKERS.items()}
"""The share of each kind in the mixture."""


def generate(seed: int, kind: str | None = None) -> Panel:
    """The panel of this seed: of a kind, or of one drawn by the shares of `KINDS`.

    >>> panel = generate(0, "crowd")
    >>> panel.family, panel.kind
    ('generated crowd', 'as it is')
    """
    if kind is None:
        kind = str(np.random.default_rng(seed).choice(list(KINDS), p=list(KINDS.values())))
    key = [seed, crc32(kind.encode())]
    _, make = MAKERS[kind]
    drafts = (make(np.random.default_rng([*key, attempt])) for attempt in count())
    panels = (assemble(draft, f"{kind} {seed}", kind) for draft in drafts)
    return next(panel for panel in panels if panel is not None)  # too few answers or one true class: drawn again
