"""Every method on panels of every kind, in one table.

    python -m benchmarks.quality --work-dir WORK [--data-dir DATA] [--shared-dir SHARED]

Panels are made the first time (networks are trained, half an hour on one core) and kept in the work directory; so are
scores, and a run that was cut off goes on. `families.toml` says which families are held out: their scores are computed
only where `--side held-out` asks for them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.progress import Progress

from benchmarks.quality.families import SIDES
from benchmarks.quality.figure import draw
from benchmarks.quality.methods import ABLATION, METHODS, YARDSTICK
from benchmarks.quality.panel import read
from benchmarks.quality.prepare import prepare
from benchmarks.quality.run import score_all
from benchmarks.quality.table import gathered, text, write_json


def main() -> None:
    """Make what is missing, score, print, write, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="with mnist, fashion-mnist, cifar10; fetched where it can be")
    parser.add_argument("--shared-dir", type=Path, help="with panels/ and the other files of real panels")
    parser.add_argument("--work-dir", type=Path, required=True, help="where members, panels and scores are kept")
    parser.add_argument("--side", choices=["tuning", "held-out"], default="tuning")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), help="of the registry, or module:function")
    parser.add_argument("--ablation", action="store_true", help="what each ingredient of Consensus gives, instead")
    parser.add_argument("--jobs", type=int, default=2, help="panels at a time")
    parser.add_argument("-o", "--output", type=Path, help="without ending: .txt, .json and .svg follow")
    options = parser.parse_args()
    methods = list(dict.fromkeys([YARDSTICK, *(ABLATION if options.ablation else options.methods)]))
    with Progress() as progress:
        bar = progress.add_task("making panels", total=None)
        folder = prepare(
            options.data_dir,
            options.shared_dir,
            options.work_dir,
            lambda name: progress.update(bar, description=f"making {name}"),
        )
        paths = [path for path in sorted(folder.glob("*.npz")) if SIDES[read(path).family] == options.side]
        progress.update(bar, description="scoring", total=len(paths), completed=0)
        rows = score_all(
            paths,
            lambda _: methods,
            options.work_dir / "scores.jsonl",
            options.jobs,
            lambda name: progress.update(bar, advance=1, description=f"scored {name:40.40}"),
        )
    scores = gathered(rows)
    shown = text(scores, options.side)
    print(shown)
    if options.output:
        options.output.with_suffix(".txt").write_text(shown + "\n", encoding="utf-8")
        write_json(scores, options.output.with_suffix(".json"))
        for method in ("consensus", *methods[-1:]):
            if method in methods:
                draw(scores, method, options.output.with_suffix(".svg"))
                break


if __name__ == "__main__":
    main()
