"""From sources to a folder of panels: those as they are, and all that is drawn from them.

What is in the folder stands in its `index.json`, with a fingerprint of the code and the sources that made it. While
that is the same, nothing is made again.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import cycle
from pathlib import Path
from shutil import copytree
from typing import Any, NamedTuple

import sklearn

from benchmarks.quality.draws import draws
from benchmarks.quality.generated import KINDS, generate
from benchmarks.quality.panel import Panel, keep
from benchmarks.quality.sources.ensembles import DATA, network_panels
from benchmarks.quality.sources.shared import shared_panels
from benchmarks.quality.sources.tables import table_panels
from consilience.system.atomic import whole_file
from paper.downloads import fetch

MOST_PANELS = 12
"""Of a family with more panels so many are scored; a family counts the same however many it has."""

OnStep = Callable[[str], None]


class Entry(NamedTuple):
    """A panel of the folder."""

    path: Path
    family: str
    kind: str


class Sources(NamedTuple):
    """What panels can be made from."""

    data: tuple[str, ...]  # data sets that are there
    data_dir: Path
    shared_dir: Path | None  # None where there is none
    left_out: tuple[str, ...]  # a sentence for each that is not


def sources_at(data_dir: Path, shared_dir: Path | None) -> Sources:
    """What is there or can be downloaded; scikit-learn's digits and tables always are."""
    data, left_out = [], []
    if shared_dir is None or not shared_dir.is_dir():
        shared_dir = None
        left_out.append("There is no folder of real panels (--shared-dir): those of other people are left out.")
    elif (shared_dir / "notmnist").is_dir() and not (data_dir / "notmnist").exists():
        copytree(shared_dir / "notmnist", data_dir / "notmnist")
    for name in DATA:
        try:
            fetch(name, data_dir)
            data.append(name)
        except (ConnectionError, ImportError) as error:  # no network, or nothing to download with
            left_out.append(f"Panels of {name} are left out: {error}.")
    if (data_dir / "notmnist").is_dir():
        data.append("notmnist")
    elif "mnist" in data:
        left_out.append(
            f"notMNIST is not in {data_dir / 'notmnist'}: panels of MNIST with foreign images are left out."
        )
    return Sources(tuple(data), data_dir, shared_dir, tuple(left_out))


def prepare(sources: Sources, work_dir: Path, on_step: OnStep) -> list[Entry]:
    """All panels to score. Networks are trained the first time, for half an hour."""

    def panels() -> Iterator[Panel]:
        for panel in chosen(base_panels(sources, work_dir, on_step)):
            on_step(panel.name)
            yield panel
            yield from draws(panel)

    code = [Path(__file__), *(Path(__file__).with_name(name) for name in ("panel.py", "draws.py", "sources"))]
    shared = sorted(sources.shared_dir.rglob("*.npz")) if sources.shared_dir else []
    files = [f"{path.name} {path.stat().st_size}" for path in shared]
    return kept(panels(), work_dir / "panels", fingerprint(code, *sources.data, *files, sklearn.__version__))


FIRST_SEED = 10**6
"""Of the generated panels that are scored; training uses those from 0 on."""


def prepare_generated(n_panels: int, work_dir: Path, on_step: OnStep, kinds: Iterable[str] = KINDS) -> list[Entry]:
    """So many generated panels, evenly over these kinds."""
    kinds = list(kinds)

    def panels() -> Iterator[Panel]:
        for seed, kind in zip(range(FIRST_SEED, FIRST_SEED + n_panels), cycle(kinds), strict=False):
            panel = generate(seed, kind)
            on_step(panel.name)
            yield panel

    code = [Path(__file__).with_name(name) for name in ("panel.py", "generated")]
    state = fingerprint(code, f"{n_panels} panels", *kinds, sklearn.__version__)
    return kept(panels(), work_dir / "generated", state)


def base_panels(sources: Sources, work_dir: Path, on_step: OnStep = lambda _: None) -> Iterator[Panel]:
    """Every panel as it is, whatever can be had."""
    yield from table_panels()
    if sources.shared_dir is not None:
        yield from shared_panels(sources.shared_dir)
    yield from network_panels(sources.data, sources.data_dir, work_dir, on_step)


def chosen(panels: Iterable[Panel]) -> Iterator[Panel]:
    """Of each family at most so many panels, evenly spaced."""
    by_family: dict[str, list[Panel]] = defaultdict(list)
    for panel in panels:
        by_family[panel.family].append(panel)
    for some in by_family.values():
        yield from evenly(some, MOST_PANELS)


def evenly(everything: list[Any], n_kept: int) -> list[Any]:
    """So many of a list, evenly spaced; all where there are no more."""
    n_kept = min(len(everything), n_kept)
    return [everything[place * len(everything) // n_kept] for place in range(n_kept)]


# ---- the folder -------------------------------------------------------------------------------------------


def kept(panels: Iterable[Panel], folder: Path, state: str) -> list[Entry]:
    """The panels in a folder; they are asked for only where it was written in another state."""
    index = folder / "index.json"
    found = json.loads(index.read_text(encoding="utf-8")) if index.exists() else {}
    if found.get("state") != state:
        rows = {}
        for panel in panels:
            keep(panel, folder)
            rows[panel.name] = (panel.family, panel.kind)
        for path in folder.glob("*.npz"):
            if path.stem not in rows:  # of an earlier state
                path.unlink()
        found = {"state": state, "panels": dict(sorted(rows.items()))}
        with whole_file(index) as file:
            file.write(json.dumps(found, indent=1).encode())
    return [Entry(folder / f"{name}.npz", *row) for name, row in found["panels"].items()]


def fingerprint(code: Iterable[Path], *others: str) -> str:
    """What tells files of code, or folders of them, and some words from others."""
    files = [file for path in code for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    parts = [file.read_bytes() for file in files] + [word.encode() for word in others]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
