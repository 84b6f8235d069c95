"""Count the files of the package that a fit, or a CSV on its way to a report, walks through."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import consilience
from consilience import Consensus, SoftDawidSkene, read_predictions, write_report

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(consilience.__file__).parent
MOST = {"SoftDawidSkene().fit(p)": 16, "Consensus().fit(p)": 24, "a CSV to a report": 70}


def walk(errand: Callable[[], object]) -> list[str]:
    """The files of the package with a function that the errand calls; loading a module is no call."""
    files: set[str] = set()

    def note(frame: Any, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            files.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        errand()
    finally:
        sys.setprofile(None)
    return sorted(str(Path(name).relative_to(ROOT)) for name in files if name.startswith(str(ROOT)))


def write_answers(path: Path) -> None:
    """A table of five people's labels for forty items."""
    generator = np.random.default_rng(0)
    answers = [
        f"i{item},w{worker},{generator.choice(['cat', 'dog', ('dog', 'cat')[item % 2]])}"
        for item in range(40)
        for worker in range(5)
    ]
    path.write_text("\n".join(["item,worker,label", *answers]), encoding="utf-8")


def main() -> None:
    """Print how many files each walk takes, the most it should take, and the files."""
    p = np.random.default_rng(0).dirichlet([1.0, 2.0, 3.0], size=(4, 50))
    with tempfile.TemporaryDirectory() as folder:
        table, page = Path(folder, "answers.csv"), Path(folder, "report.html")
        write_answers(table)
        errands = (
            lambda: SoftDawidSkene().fit(p),
            lambda: Consensus().fit(p),
            lambda: write_report(page, read_predictions(table)),
        )
        for (name, most), errand in zip(MOST.items(), errands, strict=True):
            files = walk(errand)
            print(f"{name}: {len(files)} files, at most {most} wanted", *files, sep="\n  ")


if __name__ == "__main__":
    main()
