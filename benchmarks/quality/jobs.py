"""Which methods are run on which panels: ours on all, peers on a few, because some of them take long."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from benchmarks.quality.methods import METHODS, PEERS, YARDSTICK
from benchmarks.quality.panel import AS_IT_IS
from benchmarks.quality.prepare import Entry, evenly

PEER_KINDS = (AS_IT_IS, "votes", "rare", "few answers")
"""The kinds that peers see, and the first draw of each."""

PEER_PANELS = 3
"""So many panels of a family, and what is drawn from them, are seen by peers."""

BESIDE_KINDS = ("independent", "unknowable", "shifted", "dominated")
"""The kinds of generated panels that are scored beside the real ones of tuning, in a table of their own."""

BESIDE_PANELS = 40
"""So many of each."""

BESIDE_METHODS = (YARDSTICK, "dawid-skene", "bcc", "consensus")
"""Of the registry, those that run on them."""

Job = tuple[Path, list[str]]


def jobs_of(entries: list[Entry], methods: list[str]) -> list[Job]:
    """Every panel with its methods."""
    ours, for_peers = [method for method in methods if method not in PEERS], seen_by_peers(entries)
    return [(entry.path, methods if entry in for_peers else ours) for entry in entries]


def jobs_beside(entries: list[Entry], methods: list[str]) -> list[Job]:
    """Every generated panel beside the real ones with a few methods, and anyone's that are not of the registry."""
    some = [name for name in methods if name in BESIDE_METHODS or name not in METHODS | PEERS]
    return [(entry.path, some) for entry in entries]


def seen_by_peers(entries: list[Entry]) -> set[Entry]:
    """Of each family a few panels, evenly spaced, and of these the first draw of some kinds."""
    bases: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        if entry.kind == AS_IT_IS:
            bases[entry.family].append(entry.path.stem)
    chosen = {base for names in bases.values() for base in evenly(names, PEER_PANELS)}
    return {entry for entry in entries if entry.kind in PEER_KINDS and _is_first(entry) and _base(entry) in chosen}


def _base(entry: Entry) -> str:
    return entry.path.stem.partition("~")[0]


def _is_first(entry: Entry) -> bool:
    return entry.kind == AS_IT_IS or entry.path.stem.endswith("~0")
