"""Every method on panels of every kind, in one table.

    python -m benchmarks.quality --work-dir WORK [--data-dir DATA] [--shared-dir SHARED] [-o results/quality]

Panels are made the first time (networks are trained, half an hour on one core) and kept in the work directory; so are
scores, and a run that was cut off goes on. `families.toml` says which families are held out: their scores are computed
only where `--side held-out` asks for them. Beside the real panels of tuning, generated ones of some kinds are scored,
in a table of their own. `docs/guide/quality.md` explains all of it.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from rich.progress import Progress

from benchmarks.quality.families import side_of
from benchmarks.quality.figure import draw
from benchmarks.quality.jobs import BESIDE_KINDS, BESIDE_PANELS, jobs_beside, jobs_of
from benchmarks.quality.methods import METHODS, PEERS, YARDSTICK
from benchmarks.quality.prepare import Entry, OnStep, prepare, prepare_generated, sources_at
from benchmarks.quality.run import score_all
from benchmarks.quality.table import gathered, methods_of, text, write_json


def entries(options: argparse.Namespace, on_step: OnStep, say: OnStep) -> list[Entry]:
    """The panels of a side, made where they are not there."""
    if options.side == "generated":
        return prepare_generated(options.panels, options.work_dir, on_step)
    sources = sources_at(options.data_dir or options.work_dir / "data", options.shared_dir)
    for sentence in sources.left_out:
        say(sentence)
    return [entry for entry in prepare(sources, options.work_dir, on_step) if side_of(entry.family) == options.side]


def entries_beside(options: argparse.Namespace, on_step: OnStep) -> list[Entry]:
    """The generated panels that are scored beside the real ones of tuning."""
    if options.side != "tuning":
        return []
    return prepare_generated(BESIDE_PANELS * len(BESIDE_KINDS), options.work_dir, on_step, BESIDE_KINDS)


def main() -> None:
    """Make what is missing, score, print, write, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="with mnist, fashion-mnist, cifar10; fetched where they can be")
    parser.add_argument("--shared-dir", type=Path, help="with panels/ and the other files of real panels")
    parser.add_argument("--work-dir", type=Path, required=True, help="where members, panels and scores are kept")
    parser.add_argument("--side", choices=["tuning", "held-out", "generated"], default="tuning")
    parser.add_argument("--panels", type=int, default=200, help="how many are generated (default: %(default)s)")
    parser.add_argument("--methods", nargs="+", default=[*METHODS, *PEERS], help="of the registry, or module:function")
    parser.add_argument("--no-peers", action="store_true", help="only our own methods")
    parser.add_argument("--kinds", nargs="+", help="only panels of these kinds")
    parser.add_argument("--jobs", type=int, default=2, help="panels at a time")
    parser.add_argument("-o", "--output", type=Path, help="without ending: .txt, .json and .svg follow")
    options = parser.parse_args()
    wanted = [YARDSTICK, *options.methods]
    methods = list(dict.fromkeys(name for name in wanted if not (options.no_peers and name in PEERS)))
    with Progress() as progress:
        bar = progress.add_task("making panels", total=None)

        def on_step(name: str) -> None:
            progress.update(bar, description=f"making {name:40.40}")

        made = (entries(options, on_step, progress.console.print), entries_beside(options, on_step))
        some, generated = ([one for one in part if not options.kinds or one.kind in options.kinds] for part in made)
        progress.update(bar, description="scoring", total=len(some) + len(generated), completed=0)
        started = time.perf_counter()
        rows = score_all(
            [*jobs_of(some, methods), *jobs_beside(generated, methods)],
            options.work_dir / "scores.jsonl",
            options.jobs,
            lambda name: progress.update(bar, advance=1, description=f"scored {name:40.40}"),
        )
        seconds = time.perf_counter() - started
    beside = [row for row in rows if side_of(row["family"]) != options.side]
    rows = [row for row in rows if side_of(row["family"]) == options.side]
    shown = text(rows, options.side, beside)
    print(f"{shown}\n\nscored in {seconds:.0f} seconds")
    if options.output:
        options.output.with_suffix(".txt").write_text(shown + "\n", encoding="utf-8")
        write_json(rows, options.output.with_suffix(".json"), beside)
        scores = gathered(rows)
        shown_method = "consensus" if "consensus" in methods else methods_of(scores)[-1]
        draw(scores, shown_method, options.output.with_suffix(".svg"))


if __name__ == "__main__":
    main()
