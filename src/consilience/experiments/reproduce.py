"""One experiment from start to end: members, predictions, cells, then tables and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consilience.atomic import whole_file
from consilience.errors import InvalidPredictions
from consilience.experiments.catalog import EXPERIMENTS, ensembles_of
from consilience.experiments.figures import draw
from consilience.experiments.results import write_rows
from consilience.experiments.tables import latex, markdown

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from consilience.experiments.results import Row
    from consilience.experiments.store import Store

AXES = {"mnist-rotation": "rotation in degrees", "online": "rotation in degrees", "ood": "share of foreign items"}


def reproduce(
    name: str,
    store: Store,
    out_dir: Path,
    *,
    n_members: int = 9,
    size: int = 3,
    on_step: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Run an experiment, going on where an earlier run stopped; the files that were written.

    Whatever is finished is kept in the store: a run that is killed at any moment loses no more than what it was
    computing then.
    """
    if name not in EXPERIMENTS:
        raise InvalidPredictions(f"the experiment must be one of {', '.join(EXPERIMENTS)}; got {name!r}")
    experiment = EXPERIMENTS[name]
    ensembles = ensembles_of(n_members, size)
    if not ensembles:
        raise InvalidPredictions(f"an ensemble of {size} needs as many members; got {n_members}")
    for task in experiment.tasks:
        on_step(f"training: {task}")
        store.train(task, list(range(n_members)))
    rows = list(experiment.rows(store, ensembles, on_step))
    return [*_write_tables(name, rows, out_dir), *_draw_figures(name, rows, out_dir)]


def _write_tables(name: str, rows: list[Row], out_dir: Path) -> list[Path]:
    paths = [out_dir / f"{name}{suffix}" for suffix in (".csv", ".md", ".tex")]
    write_rows(paths[0], rows)
    for path, text in zip(paths[1:], (markdown(name, rows), latex(rows)), strict=True):
        with whole_file(path) as file:
            file.write(text.encode())
    return paths


def _draw_figures(name: str, rows: list[Row], out_dir: Path) -> list[Path]:
    """A figure for each task and shift of more than one severity."""
    paths = []
    for task, shift in dict.fromkeys((row.task, row.shift) for row in rows):
        some = [row for row in rows if (row.task, row.shift) == (task, shift)]
        if len({row.severity for row in some}) < 2 or len({row.size for row in some}) > 1:
            continue
        path = out_dir / f"{name}-{task}-{shift}.svg"
        draw(some, path, axis=AXES.get(name, "severity"))
        paths.append(path)
    return paths
