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

KINDS: dict[str, float] = {
    "trained": 0.16,
    "latent": 0.17,
    "rare": 0.09,
    "crowd": 0.06,
    "functions": 0.05,
    "identifiers": 0.04,
    "judges": 0.08,
    "independent": 0.11,
    "unknowable": 0.05,
    "events": 0.03,
    "shifted": 0.04,
    "dominated": 0.04,
    "lists": 0.03,
    "positions": 0.03,
    "collapsed": 0.02,
}
"""The share of each kind in the mixture."""

MAKERS: dict[str, Callable[[np.random.Generator], Draft]] = {
    "trained": trained,
    "latent": latent,
    "rare": rare,
    "crowd": crowd,
    "functions": functions,
    "identifiers": identifiers,
    "judges": judges,
    "independent": independent,
    "unknowable": unknowable,
    "events": events,
    "shifted": shifted,
    "dominated": dominated,
    "lists": lists,
    "positions": positions,
    "collapsed": collapsed,
}


def generate(seed: int, kind: str | None = None) -> Panel:
    """The panel of this seed: of a kind, or of one drawn by the shares of `KINDS`.

    >>> panel = generate(0, "crowd")
    >>> panel.family, panel.kind
    ('generated crowd', 'as it is')
    """
    if kind is None:
        kind = str(np.random.default_rng(seed).choice(list(KINDS), p=list(KINDS.values())))
    key = [seed, crc32(kind.encode())]
    drafts = (MAKERS[kind](np.random.default_rng([*key, attempt])) for attempt in count())
    panels = (assemble(draft, f"{kind} {seed}", kind) for draft in drafts)
    return next(panel for panel in panels if panel is not None)  # too few answers or one true class: drawn again
