"""`python -m paper EXPERIMENT`."""

from pathlib import Path
from typing import Annotated

import typer

from consilience.cli import run_command, screen
from consilience.system.errors import extra
from paper.progress import shown_or_logged

_PER_TASK = " One number for all, or TASK=NUMBER; may be repeated."


def command(
    experiment: Annotated[str, typer.Argument(help="One of the paper's experiments; `list` names them.")],
    *,
    data_dir: Annotated[Path, typer.Option("--data-dir", help="Where the data sets are.")] = Path("data"),
    work_dir: Annotated[Path, typer.Option("--work-dir", help="Where members, predictions and cells are kept.")] = Path(
        "work"
    ),
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder for tables and figures.")] = Path(
        "results"
    ),
    tasks: Annotated[str | None, typer.Option("--tasks", help="Only these of its data sets: mnist,cifar10.")] = None,
    members: Annotated[
        list[str] | None,
        typer.Option("--members", help="Networks per data set (9); three make an ensemble." + _PER_TASK),
    ] = None,
    epochs: Annotated[
        list[str] | None, typer.Option("--epochs", help="Other than the paper's number of epochs." + _PER_TASK)
    ] = None,
    subset: Annotated[
        list[str] | None, typer.Option("--subset", help="Train on so many images only." + _PER_TASK)
    ] = None,
    items: Annotated[
        list[str] | None, typer.Option("--items", help="Score so many test images only." + _PER_TASK)
    ] = None,
    weights: Annotated[
        list[str] | None,
        typer.Option("--weights", metavar="TASK=FOLDER", help="Published networks to take instead of training."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Networks to train at a time; one per core, one per GPU.")
    ] = None,
    device: Annotated[
        str | None,
        typer.Option("--device", help="Where networks run, like cpu or cuda:0,cuda:1; by default on all GPUs."),
    ] = None,
    mixed_precision: Annotated[
        bool, typer.Option("--mixed-precision", help="Multiply in 16 bits (bfloat16); rows of results say so.")
    ] = False,
    keep_predictions: Annotated[
        bool,
        typer.Option(help="Whether members' predictions are kept in --work-dir, or scores alone (ImageNet-C: 135 GB)."),
    ] = True,
    rows: Annotated[
        Path | None,
        typer.Option("--from", metavar="CSV", help="Write tables and figures of an earlier run's rows; run nothing."),
    ] = None,
    laplace: Annotated[bool, typer.Option(help="Whether probabilistic ensembling (PE) takes part.")] = True,
) -> None:
    """Run an experiment of the paper, going on where an earlier run was stopped."""
    extra("torch", name="paper", use="an experiment of the paper")
    from paper.catalog import EXPERIMENTS  # noqa: PLC0415 - needs the extra
    from paper.devices import use_devices  # noqa: PLC0415
    from paper.published import take_members  # noqa: PLC0415
    from paper.reproduce import reproduce, rewrite  # noqa: PLC0415
    from paper.results import read_rows  # noqa: PLC0415
    from paper.scales import read_choices, read_scales  # noqa: PLC0415
    from paper.store import Store  # noqa: PLC0415
    from paper.tasks import TASKS  # noqa: PLC0415

    if experiment == "list":
        for name, entry in EXPERIMENTS.items():
            others = f" (on request: {', '.join(entry.on_request)})" if entry.on_request else ""
            parts = entry.what, ", ".join(entry.tasks) + others
            screen.out.print(f"{name:17} {': '.join(filter(None, parts))}", markup=False, soft_wrap=True)
        return
    _check_folders({"--output": output, "--work-dir": work_dir})  # before hours of work
    if rows is not None:
        _say([], rewrite(experiment, read_rows(rows), output))
        return
    if device is not None:
        use_devices(device)
    asked = {"epochs": epochs, "subset": subset, "n_members": members, "n_items": items}
    scales = read_scales(TASKS, {name: values or [] for name, values in asked.items()}, mixed=mixed_precision)
    store = Store(data_dir, work_dir, scales, keep_predictions)
    for task, folder in read_choices(TASKS, "weights", weights or []).items():
        if not task:
            raise ValueError(f"weights must be TASK=FOLDER; got {folder!r}")
        take_members(task, Path(folder), work_dir, store.scale(task))
    with shown_or_logged(experiment, is_shown=screen.err.is_terminal, write=screen.err.file.write) as progress:
        written, notes = reproduce(
            experiment,
            store,
            output,
            tasks=None if tasks is None else tasks.split(","),
            with_laplace=laplace,
            jobs=jobs,
            progress=progress,
        )
    _say(notes, written)


def _check_folders(places: dict[str, Path]) -> None:
    for option, place in places.items():
        if place.exists() and not place.is_dir():
            raise NotADirectoryError(f"{option} must be a folder; {place} is a file")


def _say(notes: list[str], written: list[Path]) -> None:
    for line in (*notes, *(f"Wrote {path}" for path in written)):
        screen.print_text(line)


def main() -> None:
    """Run an experiment; bad input ends in one sentence and exit code 2."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown")
    app.command(context_settings={"help_option_names": ["-h", "--help"]})(command)
    run_command("paper", lambda: app(prog_name="python -m paper"))


if __name__ == "__main__":
    main()
