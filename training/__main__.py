"""Train with families left out and examine: what a learned combiner gives on families that it has not seen.

    python -m training --work-dir WORK [--shared-dir SHARED] [--data-dir DATA] [--panels N] [--steps N] [-o OUTPUT]

Only tuning families take part. Panels of the bench are made the first time (its networks are trained, half an hour on
one core), features are kept in the work directory, and a run that was cut off goes on. `README.md` explains it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from benchmarks.quality.draws import KINDS
from benchmarks.quality.families import side_of
from benchmarks.quality.panel import AS_IT_IS
from benchmarks.quality.prepare import Entry, prepare, sources_at
from benchmarks.quality.table import by_family, gathered, text
from training.crossfit import LEARNED, crossfit, examine, folds_of
from training.fit import Recipe
from training.panels import code_state, drawn_jobs, exam_jobs, generated_jobs, read_lessons, store_all, tuning

DRAWS = 20
"""Each real family is drawn from once for so many generated panels."""


def run(options: argparse.Namespace, entries: list[Entry], progress: Progress) -> str:
    """Keep features, train, examine; what is printed."""
    folder = options.work_dir / "learned" / code_state()
    jobs = {
        "generated": generated_jobs(options.panels),
        "drawn": drawn_jobs(entries, max(1, options.panels // DRAWS)),
        "exams": exam_jobs(entries, options.kinds),
    }
    paths = {}
    for name, some in jobs.items():
        bar = progress.add_task(f"features: {name}", total=len(some))
        paths[name] = store_all(some, folder / name, options.jobs, lambda _, bar=bar: progress.advance(bar))
    lessons = read_lessons([*paths["generated"], *paths["drawn"]])
    folds = folds_of(entry.family for entry in tuning(entries))
    bar = progress.add_task("training folds", total=len(folds))
    recipe = Recipe(steps=options.steps)
    trained = crossfit(
        lessons, folds, recipe, seed=options.seed, n_processes=options.jobs, on_fold=lambda _: progress.advance(bar)
    )
    bar = progress.add_task("examining", total=len(paths["exams"]))
    rows = examine(paths["exams"], trained, lambda: progress.advance(bar))
    n_real = sum(side_of(lesson.family) == "tuning" for lesson in lessons)
    how = (
        f"A network of {recipe.steps} steps for each of {len(folds)} folds, seed {options.seed}, from "
        f"{len(lessons) - n_real} generated panels and {n_real} drawn from tuning families.\n"
        f"Left out together: {'; '.join(', '.join(fold) for fold in folds)}."
    )
    families = f"{LEARNED} by family, all kinds\n{by_family(gathered(rows), LEARNED)}"
    return "\n\n".join([how, text(rows, "tuning"), families])


def main() -> None:
    """Make what is missing, train, examine, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work-dir", type=Path, required=True, help="the bench's, where panels are; features are too")
    parser.add_argument("--shared-dir", type=Path, help="with panels/ and the other files of real panels")
    parser.add_argument("--data-dir", type=Path, help="with mnist, fashion-mnist, cifar10; fetched where they can be")
    parser.add_argument("--panels", type=int, default=3000, help="how many are generated (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=Recipe.steps, help="of training (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of training (default: %(default)s)")
    parser.add_argument("--kinds", nargs="+", choices=[AS_IT_IS, *KINDS], help="examine only panels of these kinds")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: %(default)s)")
    parser.add_argument("-o", "--output", type=Path, help="without ending: .txt follows")
    options = parser.parse_args()
    columns = ("{task.description:40.40}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns) as progress:
        sources = sources_at(options.data_dir or options.work_dir / "data", options.shared_dir)
        for sentence in sources.left_out:
            progress.console.print(sentence)
        if sources.shared_dir is None:
            progress.console.print("Training on generated panels, and on real ones of our own members alone.")
        bar = progress.add_task("panels of the bench", total=None)
        entries = prepare(sources, options.work_dir, lambda name: progress.update(bar, description=f"making {name}"))
        progress.update(bar, description="panels of the bench", total=len(entries), completed=len(entries))
        shown = run(options, entries, progress)
    print(shown)
    if options.output:
        options.output.with_suffix(".txt").write_text(shown + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
