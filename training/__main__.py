"""Train the network of `Consensus`, and examine what it gives on families that it has not seen.

    python -m training --work-dir WORK [--shared-dir SHARED] [--data-dir DATA] [--own-dir OWN] [-o OUTPUT]

First networks are trained with whole families left out, and examined on these; their weights go to WORK/folds. Then
the final ones are trained on everything, and go to WORK/weights.npz. Only tuning families take part. Panels of the
bench are made the first time (its networks are trained, half an hour on one core), features are kept in the work
directory, and a run that was cut off goes on. `README.md` explains it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from benchmarks.quality.draws import KINDS
from benchmarks.quality.families import SIDES, side_of
from benchmarks.quality.panel import AS_IT_IS
from benchmarks.quality.prepare import Entry, prepare, sources_at
from benchmarks.quality.table import by_family, gathered, text
from consilience.aggregators.consensus.learned.network import contents
from consilience.system.atomic import whole_file
from training.crossfit import LEARNED, Fold, crossfit, examine, folds_of
from training.fit import Recipe, panel_ranges
from training.network import exported
from training.panels import (
    Job,
    Lesson,
    drawn_jobs,
    exam_jobs,
    family_of,
    features_folder,
    generated_exams,
    generated_jobs,
    own_exams,
    own_jobs,
    read_lessons,
    store_all,
    tuning,
)


def main() -> None:
    """Make what is missing, train, examine, print, write."""
    options = _options()
    columns = ("{task.description:40.40}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns) as progress:
        shown = run(options, _entries(options, progress), progress)
    print(shown)
    if options.output:
        options.output.with_suffix(".txt").write_text(shown + "\n", encoding="utf-8")


def run(options: argparse.Namespace, entries: list[Entry], progress: Progress) -> str:
    """Keep features, train, examine; what is printed."""
    torch.set_num_threads(1)  # before processes are forked: those of a forked torch with more threads may hang
    folder = features_folder(options.work_dir)
    jobs: dict[str, list[Job]] = {
        "generated": generated_jobs(options.panels),
        "drawn": drawn_jobs(entries, options.draws),
        "own": own_jobs(options.own_dir, options.draws) if options.own_dir else [],
        "exams": [] if options.no_exam else [*exam_jobs(entries, options.kinds), *own_exams(options.own_dir)],
        "generated exams": [] if options.no_exam else generated_exams(),
    }
    paths = {}
    for name, some in jobs.items():
        paths[name] = store_all(some, folder / name, options.jobs, _bar(progress, f"features: {name}", len(some)))
    lessons = read_lessons([*paths["generated"], *paths["drawn"], *paths["own"]])
    recipe = Recipe(steps=options.steps, networks=options.networks)
    shown = [_described(lessons, recipe, options.seed)]
    if not options.no_exam:
        families = {entry.family for entry in tuning(entries)} | {family_of(path) for path in paths["own"]}
        folds = folds_of(families)
        trained = _trained(lessons, folds, recipe, options, progress, "networks with families left out")
        for number, fold in enumerate(trained):
            are_ours = all(family in SIDES for family in fold.families)
            name = "+".join(fold.families) if are_ours else f"fold {number}"  # a user's families may be named anyhow
            _keep(fold, lessons, options.work_dir / "folds" / f"{name}.npz")
        exams = [*paths["exams"], *paths["generated exams"]]
        done = _bar(progress, "examining", len(exams))
        rows = examine(exams, trained, lambda: done(""))
        beside = [row for row in rows if row["family"].startswith("generated")]
        rows = [row for row in rows if not row["family"].startswith("generated")]
        shown += [f"Left out together: {'; '.join(', '.join(fold) for fold in folds)}.", text(rows, "tuning", beside)]
        shown += [f"{LEARNED} by family, all kinds\n{by_family(gathered(rows), LEARNED)}"]
    (final,) = _trained(lessons, [()], recipe, options, progress, "final networks")
    path = options.work_dir / "weights.npz"
    _keep(final, lessons, path)
    return "\n\n".join([*shown, f"The final weights are in {path.name} of the work directory."])


def _trained(  # noqa: PLR0917 - all of it is one call
    lessons: Sequence[Lesson],
    folds: Sequence[tuple[str, ...]],
    recipe: Recipe,
    options: argparse.Namespace,
    progress: Progress,
    description: str,
) -> list[Fold]:
    done = _bar(progress, description, len(folds) * recipe.networks)
    return crossfit(lessons, folds, recipe, seed=options.seed, n_processes=options.jobs, on_network=lambda: done(""))


def _keep(fold: Fold, lessons: Sequence[Lesson], path: Path) -> None:
    """Write the weights to a file, as `Consensus(weights=...)` reads it."""
    seen = [lesson for lesson in lessons if lesson.family not in fold.families]
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        np.savez_compressed(file, **contents(exported(fold.networks, panel_ranges(seen))))


def _described(lessons: Sequence[Lesson], recipe: Recipe, seed: int) -> str:
    n_own = sum(lesson.family.startswith("own ") for lesson in lessons)
    n_real = sum(side_of(lesson.family) == "tuning" for lesson in lessons if not lesson.family.startswith("own "))
    own = f", {n_own} drawn from the user's" if n_own else ""
    return (
        f"{recipe.networks} networks of {recipe.hidden} hidden units, averaged, {recipe.steps} steps, seed {seed}, "
        f"from {len(lessons) - n_real - n_own} generated panels and {n_real} drawn from tuning families{own}."
    )


def _bar(progress: Progress, description: str, total: int) -> Callable[[str], None]:
    bar = progress.add_task(description, total=total)
    return lambda _: progress.advance(bar)


def _entries(options: argparse.Namespace, progress: Progress) -> list[Entry]:
    """The panels of the bench, which are made where they are missing; none where they are not wanted."""
    if options.no_bench:
        return []
    sources = sources_at(options.data_dir or options.work_dir / "data", options.shared_dir)
    for sentence in sources.left_out:
        progress.console.print(sentence)
    if sources.shared_dir is None:
        progress.console.print("Training on generated panels, and on real ones of our own members alone.")
    bar = progress.add_task("panels of the bench", total=None)
    entries = prepare(sources, options.work_dir, lambda name: progress.update(bar, description=f"making {name}"))
    progress.update(bar, description="panels of the bench", total=len(entries), completed=len(entries))
    return entries


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work-dir", type=Path, required=True, help="the bench's, where panels are; features are too")
    parser.add_argument("--shared-dir", type=Path, help="with panels/ and the other files of real panels")
    parser.add_argument("--data-dir", type=Path, help="with mnist, fashion-mnist, cifar10; fetched where they can be")
    parser.add_argument("--own-dir", type=Path, help="your own labelled panels, one .npz each: they are learned from")
    parser.add_argument("--panels", type=int, default=12000, help="how many are generated (default: %(default)s)")
    parser.add_argument("--draws", type=int, default=250, help="of each real family (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=Recipe.steps, help="of training (default: %(default)s)")
    parser.add_argument("--networks", type=int, default=Recipe.networks, help="averaged (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of training (default: %(default)s)")
    parser.add_argument("--kinds", nargs="+", choices=[AS_IT_IS, *KINDS], help="examine only panels of these kinds")
    parser.add_argument("--no-bench", action="store_true", help="use generated panels and your own alone")
    parser.add_argument("--no-exam", action="store_true", help="train the final weights alone")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: %(default)s)")
    parser.add_argument("-o", "--output", type=Path, help="without ending: .txt follows")
    return parser.parse_args()


if __name__ == "__main__":
    main()
