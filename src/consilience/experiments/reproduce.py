"""One experiment from start to end: members, predictions, cells, then tables and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consilience.experiments.catalog import EXPERIMENTS
from consilience.experiments.catalog.run import SIZE, Run
from consilience.experiments.figures import draw
from consilience.experiments.members import missing_members, train_members
from consilience.experiments.results import write_rows
from consilience.experiments.tables import latex, markdown
from consilience.experiments.tasks import TASKS
from consilience.system.atomic import whole_file
from consilience.system.errors import InvalidPredictions
from consilience.system.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from consilience.experiments.catalog.run import Experiment
    from consilience.experiments.results import Row
    from consilience.experiments.store import Store


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
        raise InvalidPredictions(f"the experiment must be one of {', '.join(EXPERIMENTS)}; got {name!r}")
    experiment = EXPERIMENTS[name]
    run = Run(store, _tasks_of(experiment, tasks), with_laplace, progress or Progress())
    _train(run, jobs)
    rows = list(run.rows(name, list(experiment.cells(run))))
    run.progress.begin("writing tables and figures")
    out_dir.mkdir(parents=True, exist_ok=True)
    also = experiment.also_write(run, out_dir)
    written = [*_write_tables(name, rows, out_dir, run.notes), *_draw_figures(experiment, rows, out_dir), *also]
    return written, run.notes


def _tasks_of(experiment: Experiment, wanted: Sequence[str] | None) -> tuple[str, ...]:
    unknown = [task for task in wanted or [] if task not in experiment.tasks]
    if unknown or (wanted is not None and not wanted):
        raise InvalidPredictions(
            f"tasks of {experiment.name} are {', '.join(experiment.tasks)}; got {', '.join(unknown) or 'none'}"
        )
    return tuple(task for task in experiment.tasks if wanted is None or task in wanted)


def _train(run: Run, jobs: int | None) -> None:
    """Make sure that all data and members are there, the data of all tasks first: it is soon known what is missing."""
    store = run.store
    for task in run.tasks:
        if not run.ensembles(task):
            raise InvalidPredictions(
                f"an ensemble of {SIZE} needs as many members; {task} has {store.scale(task).n_members}"
            )
        run.progress.begin(f"data of {task}")
        try:
            TASKS[task].images(store.data_dir, train=False)
        except (ValueError, ImportError, OSError) as error:
            others = [name for name in run.tasks if name != task]
            hint = f"; without it: --tasks {','.join(others)}" if others else ""
            raise OSError(f"{error}{hint}") from error
    missing = {task: missing_members(task, store.work_dir, store.scale(task)) for task in run.tasks}
    run.progress.expect(sum(map(len, missing.values())))
    for task, seeds in missing.items():
        if seeds:
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


def _write_tables(name: str, rows: list[Row], out_dir: Path, notes: list[str]) -> list[Path]:
    paths = [out_dir / f"{name}{suffix}" for suffix in (".csv", ".md", ".tex")]
    write_rows(paths[0], rows)
    for path, text in zip(paths[1:], (markdown(name, rows, notes), latex(name, rows)), strict=True):
        with whole_file(path) as file:
            file.write(text.encode())
    return paths


def _draw_figures(experiment: Experiment, rows: list[Row], out_dir: Path) -> list[Path]:
    """A figure for each task and shift of more than one severity."""
    paths = []
    for task, shift in dict.fromkeys((row.task, row.shift) for row in rows):
        some = [row for row in rows if (row.task, row.shift) == (task, shift)]
        if len({row.severity for row in some}) < 2 or len({row.size for row in some}) > 1:
            continue
        path = out_dir / f"{experiment.name}-{task}-{shift}.svg"
        draw(some, path, axis=experiment.axis)
        paths.append(path)
    return paths
