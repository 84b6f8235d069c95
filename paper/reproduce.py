"""One experiment from start to end: members, predictions, cells, then tables and figures."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from consilience.system.atomic import whole_file
from consilience.system.errors import extra
from consilience.system.machine import Progress
from paper.catalog import EXPERIMENTS
from paper.catalog.run import SIZE, Run
from paper.errors import CannotReproduce
from paper.figure_titles import title_of
from paper.figures import PANELS, draw
from paper.members import check_members, member_path, missing_members, train_members
from paper.results import read_rows, write_rows
from paper.shifts import Condition, why_missing
from paper.tables import latex, markdown
from paper.tasks import TASKS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from paper.catalog.run import Cell, Experiment
    from paper.results import Row
    from paper.store import Store

DEGREES = "rotation in degrees"

MUCH = 10**9
"""From so many bytes on it is said what predictions take."""


def reproduce(
    name: str,
    store: Store,
    out_dir: Path,
    *,
    tasks: Sequence[str] | None = None,
    with_laplace: bool = True,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> tuple[list[Path], list[str]]:
    """Run an experiment, going on where an earlier run stopped; the files that were written, and what there is to say.

    Whatever is finished is kept in the store: a run that is killed at any moment loses no more than what it was
    computing then.
    """
    if name not in EXPERIMENTS:
        raise CannotReproduce(f"the experiment must be one of {', '.join(EXPERIMENTS)}; got {name!r}")
    experiment = EXPERIMENTS[name]
    run = Run(store, _tasks_of(experiment, tasks), with_laplace and experiment.has_pe, progress or Progress())
    cells = _prepare(experiment, run)
    _train(run, jobs)
    rows = list(run.rows(name, cells))
    run.progress.begin("writing tables and figures")
    out_dir.mkdir(parents=True, exist_ok=True)
    also = experiment.also_write(run, out_dir)
    tables = _write_tables(name, rows, out_dir) if rows else []
    return [*tables, *_draw_figures(experiment, rows, out_dir), *also], run.notes


def rewrite(name: str, rows: list[Row], out_dir: Path) -> list[Path]:
    """The tables and figures of an experiment from rows that an earlier run left; nothing is computed."""
    if name not in EXPERIMENTS:
        raise CannotReproduce(f"the experiment must be one of {', '.join(EXPERIMENTS)}; got {name!r}")
    out_dir.mkdir(parents=True, exist_ok=True)
    return [*_write_tables(name, rows, out_dir), *_draw_figures(EXPERIMENTS[name], rows, out_dir)]


def _tasks_of(experiment: Experiment, wanted: Sequence[str] | None) -> tuple[str, ...]:
    if wanted is None:
        return experiment.tasks
    known = (*experiment.tasks, *experiment.on_request)
    unknown = [task for task in wanted if task not in known]
    if not known:
        raise CannotReproduce(f"{experiment.name} has no tasks; leave out --tasks")
    if unknown or not wanted:
        raise CannotReproduce(f"tasks of {experiment.name} are {', '.join(known)}; got {', '.join(unknown) or 'none'}")
    return tuple(task for task in known if task in wanted)


def _prepare(experiment: Experiment, run: Run) -> list[Cell]:
    """The cells of an experiment, when all that they need is there; all that is missing is told at once."""
    _check_libraries(run)
    absent = {task: why for task in run.tasks if (why := _why_absent(run, task)) is not None}
    if absent:
        others = [task for task in run.tasks if task not in absent]
        without = "it" if len(absent) == 1 else "them"
        hint = f"; without {without}: --tasks {','.join(others)}" if others else ""
        raise OSError(f"{'; '.join(dict.fromkeys(absent.values()))}{hint}")
    cells = list(experiment.cells(run))
    conditions = dict.fromkeys(cell.where.condition for cell in cells if cell.of is None)
    missing = [why_missing(condition, run.store.data_dir) for condition in conditions]
    if any(missing):
        raise OSError("; ".join(dict.fromkeys(why for why in missing if why is not None)))
    for task in run.tasks:
        check_members(task, run.store.data_dir, run.store.work_dir, run.store.scale(task))
    _check_room(run, cells)
    return cells


def _check_libraries(run: Run) -> None:
    """Raise where libraries are missing that are needed only after hours of work."""
    needed = {"matplotlib": "drawing figures"}
    if any(run.has_laplace(task) for task in run.tasks):
        needed["laplace"] = "PE, which --no-laplace leaves out,"
    missing = []
    for library, use in needed.items():
        try:
            extra(library, name="paper", use=use)
        except ImportError as error:
            missing.append(str(error))
    if missing:
        raise ImportError("; ".join(missing))


def _why_absent(run: Run, task: str) -> str | None:
    """A sentence where a task has too few members or no data."""
    store = run.store
    if not run.ensembles(task):
        raise CannotReproduce(f"an ensemble of {SIZE} needs as many members; {task} has {store.scale(task).n_members}")
    run.progress.begin(f"data of {task}")
    try:
        TASKS[task].images(store.data_dir, train=False)
    except (ValueError, ImportError, OSError) as error:
        return str(error)
    return None


def _check_room(run: Run, cells: list[Cell]) -> None:
    """Say how much the predictions will take where that is a lot, and raise where there is no room for them."""
    if not run.store.keeps_predictions:
        return
    asked = {(cell.where.condition, seed) for cell in cells if cell.of is None for seed in cell.where.seeds}
    needed = sum(_bytes(run, condition.task) for condition, _ in asked)
    folder = next(
        place for place in (run.store.work_dir.absolute(), *run.store.work_dir.absolute().parents) if place.exists()
    )
    if needed < MUCH:
        return
    free = shutil.disk_usage(folder).free + sum(
        path.stat().st_size for path in run.store.work_dir.glob("predictions/**/*.npy")
    )
    size = f"predictions take up to {needed / 1e9:.0f} GB in {run.store.work_dir}"
    if needed > free:
        raise OSError(f"{size}; {free / 1e9:.0f} GB are free; --no-keep-predictions keeps the scores alone")
    run.progress.say(f"{size[0].upper()}{size[1:]}; --no-keep-predictions would keep the scores alone.")


def _bytes(run: Run, task: str) -> int:
    """What one member's predictions of one condition take, with those of its approximation."""
    n_items = len(run.store.labels(Condition(task)))
    return 4 * n_items * TASKS[task].n_classes * (2 if run.has_laplace(task) else 1)


def _train(run: Run, jobs: int | None) -> None:
    """Make sure that all members are there."""
    store = run.store
    missing = {task: missing_members(task, store.work_dir, store.scale(task)) for task in run.tasks}
    run.progress.expect(sum(map(len, missing.values())))
    for task, seeds in missing.items():
        if seeds:
            folder = member_path(store.work_dir, task, store.scale(task), 0).parent
            run.progress.say(f"Training {len(seeds)} members of {task}; {folder}/member-*.log tell their epochs.")
            run.progress.begin(f"training {task}")
            train_members(
                task,
                seeds,
                store.data_dir,
                store.work_dir,
                scale=store.scale(task),
                jobs=jobs,
                on_member=run.progress.finish,
            )


def _write_tables(name: str, rows: list[Row], out_dir: Path) -> list[Path]:
    paths = [out_dir / f"{name}{suffix}" for suffix in (".csv", ".md", ".tex")]
    write_rows(paths[0], rows)
    kept = read_rows(paths[0])  # rounded and in order, so that --from writes the same tables
    for path, text in zip(paths[1:], (markdown(name, kept), latex(name, kept)), strict=True):
        with whole_file(path) as file:
            file.write(text.encode())
    return paths


def _draw_figures(experiment: Experiment, rows: list[Row], out_dir: Path) -> list[Path]:
    """One figure for each task and shift, but of sizes and seconds, which are tables."""
    paths, drawn = [], experiment.as_drawn(rows)
    for task, shift in dict.fromkeys((row.task, row.shift) for row in drawn):
        some = [row for row in drawn if (row.task, row.shift) == (task, shift)]
        if len({row.size for row in some}) > 1 or not any(row.metric in PANELS for row in some):
            continue
        path = out_dir / f"{'-'.join(dict.fromkeys((experiment.name, task, shift)))}.svg"  # none of them twice
        axis = DEGREES if shift == "rotation" else experiment.axis
        draw(some, path, axis=axis, title=title_of(experiment.name, task, shift), log=experiment.log_axis)
        paths.append(path)
    return paths
