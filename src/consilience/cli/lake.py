"""`consilience aggregate` where the output is a folder: data sets larger than memory."""

from __future__ import annotations

from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from consilience.cli import screen
from consilience.cli.inputs import Given
from consilience.cli.outputs import check_outputs
from consilience.cli.shared_options import Fit
from consilience.data.tables.told import Told
from consilience.files.lake import data_set_kind
from consilience.files.writing import WRITERS
from consilience.system.machine import show_progress

if TYPE_CHECKING:
    from consilience.files.lake.fusing import LakeResult


def is_folder(output: Path | None) -> TypeGuard[Path]:
    """Whether the output is a folder, which need not exist yet: it has no suffix of a file that could be written."""
    return output is not None and (not output.suffix or (output.is_dir() and output.suffix.lower() not in WRITERS))


def check_options(*, told: Told, **others: Any) -> None:
    """Raise if an option is given that needs all items at once, or says something of files that are no tables."""
    others |= {"items": told.items, "positive": told.positive, "from": told.format, "question": told.question}
    for name, value in others.items():
        if value is not None:
            raise ValueError(f"--{name} does not go with a folder as output: write to a file, such as fused.parquet")


def check_files(files: list[str], *, posterior: bool, skip_bad: bool) -> None:
    """Raise if data sets, or options for them, come without a folder as output."""
    if posterior or skip_bad:
        raise ValueError(f"--{'posterior' if posterior else 'skip-bad'} needs a folder as output, as in -o fused/")
    for name in files:
        if kind := data_set_kind(name):
            raise ValueError(
                f"expected a file; {name} is {kind}, which is fused into a folder: say where, as in -o fused/"
            )


def aggregate(given: Given, output: Path, fit: Fit, *, posterior: bool, skip_bad: bool, save: Path | None) -> None:
    """Fuse data sets into a folder, and print what was done."""
    from consilience.files.lake.fusing import LakeRun  # noqa: PLC0415 - loads polars

    check_outputs([(save, ".npz")])
    if not output.absolute().parent.is_dir():
        raise FileNotFoundError(f"the output's directory must exist; {output.absolute().parent} does not")
    told, logits = given.told, given.logits
    settings = _settings(told, fit, logits=logits, posterior=posterior, skip_bad=skip_bad)
    with show_progress("fusing", 0, is_shown=screen.err.is_terminal, after=1.0) as progress:
        run = LakeRun(
            given.files, str(output), told, settings=settings, logits=logits, skips=skip_bad, progress=progress
        )
        fused = run.run(lambda data: given.fitted(data, fit), with_posterior=posterior, save=save)
    if given.quiet:
        screen.print_json(fused._asdict() | {"written": [str(output)]})
        return
    _print(fused, output)


def _settings(told: Told, fit: Fit, **others: bool) -> dict[str, Any]:
    """What changes the output, with the versions that a bucket depends on, as a file can hold it."""
    own = {
        name: value if value is None or isinstance(value, bool | list) else str(value)
        for name, value in (asdict(fit) | others).items()
        if name != "known"  # not with a folder
    }
    versions = {name: version(name) for name in ("consilience", "polars")}
    return own | {name: value for name, value in told._asdict().items() if value} | versions


def _print(fused: LakeResult, output: Path) -> None:
    for line in fused.words:
        screen.err.print(line, markup=False, style="dim")
    for reason in fused.skipped:
        screen.print_remark(f"left out: {reason}")
    if fused.left_out:
        screen.print_remark(f"left out: {fused.left_out:,} answers that were given before or items without an answer")
    if fused.is_old:
        screen.print_remark(f"{output} was finished before, with the same input and options; nothing was done")
    screen.print_text(
        f"{fused.items:,} items, {fused.answers:,} answers of {len(fused.members):,} members, "
        f"{len(fused.classes):,} classes; learned from {fused.learned_from}"
    )
    shares = sorted(fused.shares.items(), key=lambda pair: -pair[1])[:10]
    screen.print_text("answers: " + ", ".join(f"{name} {share:.1%}" for name, share in shares))
    screen.print_text(f"Wrote {fused.parts:,} part{'' if fused.parts == 1 else 's'} to {output}")
