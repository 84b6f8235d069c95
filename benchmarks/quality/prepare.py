"""From sources to a folder of panels: those as they are, and all that is drawn from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from benchmarks.quality.draws import draws
from benchmarks.quality.panel import Panel, keep, read
from benchmarks.quality.sources.ensembles import DATA, catalog, make
from benchmarks.quality.sources.shared import shared_panels
from benchmarks.quality.sources.tables import table_panels

MOST_PANELS = 12
"""Of a family with more panels so many are scored; a family counts the same however many it has."""

OnStep = Callable[[str], None]


def prepare(data_dir: Path | None, shared_dir: Path | None, work_dir: Path, on_step: OnStep) -> Path:
    """The folder of all panels to score. Networks are trained the first time, for half an hour."""
    folder = work_dir / "panels"
    wanted = set()
    for panel in chosen(chain(base_panels(data_dir, shared_dir, work_dir, on_step))):
        on_step(panel.name)
        for one in chain([panel], draws(panel)):
            keep(one, folder)
            wanted.add(f"{one.name}.npz")
    for path in folder.glob("*.npz"):  # of an earlier version
        if path.name not in wanted:
            path.unlink()
    return folder


def base_panels(
    data_dir: Path | None, shared_dir: Path | None, work_dir: Path, on_step: OnStep = lambda _: None
) -> Iterator[Panel]:
    """Every panel as it is, whatever can be had: without data, scikit-learn's digits and tables."""
    yield from table_panels()
    if shared_dir is not None:
        yield from shared_panels(shared_dir)
    for made in catalog():
        if made.data in DATA and data_dir is None:
            continue
        path = work_dir / "networks" / f"{made.name}.npz"
        if not path.exists():
            on_step(made.name)
            keep(make(made, data_dir or work_dir, work_dir), path.parent)
        yield read(path)


def chosen(panels: Iterator[Panel]) -> Iterator[Panel]:
    """Of each family at most so many panels, evenly spaced."""
    by_family: dict[str, list[Panel]] = defaultdict(list)
    for panel in panels:
        by_family[panel.family].append(panel)
    for some in by_family.values():
        n_kept = min(len(some), MOST_PANELS)
        yield from (some[place * len(some) // n_kept] for place in range(n_kept))
