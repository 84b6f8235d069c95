"""The mixture: which kinds of generated panels there are, how much of each, and one panel by its seed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from zlib import crc32

import numpy as np

from benchmarks.quality.generated.assembly import Draft, assemble
from benchmarks.quality.generated.crowd import crowd
from benchmarks.quality.generated.functions import functions
from benchmarks.quality.generated.identifiers import identifiers
from benchmarks.quality.generated.judges import judges
from benchmarks.quality.generated.latent import latent
from benchmarks.quality.generated.rare import rare
from benchmarks.quality.generated.trained import trained
from benchmarks.quality.panel import Panel

KINDS: dict[str, float] = {
    "trained": 0.22,
    "latent": 0.3,
    "rare": 0.13,
    "crowd": 0.08,
    "functions": 0.08,
    "identifiers": 0.07,
    "judges": 0.12,
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
