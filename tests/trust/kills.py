"""Processes killed at random moments: nothing half-written is ever visible, and a restart gives the same result.

    python -m tests.trust.kills --times 100

Each job is run once undisturbed, to know its result and how long it takes. Then it is started again and again in an
empty folder and killed by SIGKILL at a moment drawn from that time; whatever is visible then must be whole. In the end
it is run undisturbed once more, over what the last kill left behind.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import consilience as cs

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Job:
    """A command, run in a folder, and what must be true of the folder at any moment."""

    name: str
    command: list[str]
    check: Callable[[Path], int]  # of a folder that a kill left behind: how many results are there, all whole
    result: Callable[[Path], bytes]  # of a finished run


def aggregate(data: Path) -> Job:
    """The command line: fused probabilities, a model and a report."""
    out = ["-o", "fused.npz", "--save", "model.npz", "--report", "report.html"]
    command = [sys.executable, "-m", "consilience", "aggregate", str(data), *out]

    def check(folder: Path) -> int:
        found = visible(folder, {"fused.npz", "model.npz", "report.html"})
        for path in found:
            if path.suffix == ".html":
                assert path.read_text(encoding="utf-8").rstrip().endswith("</html>"), f"{path} is cut off"
            else:
                whole_archive(path)
        return len(found)

    return Job("aggregate", command, check, lambda folder: arrays_of(folder / "fused.npz"))


def save(data: Path) -> Job:
    """`save` over and over to the same path, of two models in turn: one of them is always there."""
    script = (
        "import consilience as cs, numpy as np, sys\n"
        f"array = np.load({str(data)!r})\n"
        "models = [cs.DawidSkene().fit(array), cs.MajorityVote().fit(array)]\n"
        "for turn in range(300):\n"
        "    models[turn % 2].save('model.npz')\n"
    )

    def check(folder: Path) -> int:
        found = visible(folder, {"model.npz"})
        for path in found:
            assert type(cs.load(path)).__name__ in {"DawidSkene", "MajorityVote"}
        return len(found)

    return Job("save", [sys.executable, "-c", script], check, lambda folder: arrays_of(folder / "model.npz"))


def paper(data_dir: Path) -> Job:
    """An experiment of the paper on small data: members, predictions, cells, tables."""
    options = ["--tasks", "mnist", "--epochs", "2", "--members", "3", "--no-laplace", "--jobs", "1"]
    folders = ["--data-dir", str(data_dir), "--work-dir", "work", "-o", "out"]
    command = [sys.executable, "-m", "paper", "clean", *options, *folders]

    def check(folder: Path) -> int:
        found = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
        for path in found:
            if path.suffix == ".npy":
                np.load(path, allow_pickle=False)
            elif path.suffix in {".pt", ".checkpoint"}:
                whole_weights(path)
            else:
                assert path.stat().st_size > 0 or path.suffix == ".log", f"{path} is empty"
        return len(found)

    return Job("paper", command, check, lambda folder: (folder / "out" / "clean.csv").read_bytes())


def visible(folder: Path, expected: set[str]) -> list[Path]:
    """The files that a user sees, all of them expected; files being written begin with a dot."""
    found = [path for path in folder.iterdir() if not path.name.startswith(".")]
    unexpected = {path.name for path in found} - expected
    assert not unexpected, f"{unexpected} must not be visible"
    return found


def whole_archive(path: Path) -> None:
    """Raise where an archive cannot be read to its end."""
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        for name in archive.files:
            _ = archive[name]


def whole_weights(path: Path) -> None:
    """Raise where a network cannot be read to its end."""
    import torch

    torch.load(path, weights_only=True)


def arrays_of(path: Path) -> bytes:
    """What an archive holds; not the archive itself, which has times in it."""
    with np.load(path, allow_pickle=False) as archive:
        return b"".join(archive[name].tobytes() for name in sorted(archive.files))


def run(job: Job, folder: Path) -> float:
    """Run a job to its end; the seconds it took."""
    started = time.monotonic()
    finished = subprocess.run(
        job.command, cwd=folder, env=environment(), capture_output=True, text=True, check=False, timeout=600
    )
    assert finished.returncode == 0, finished.stderr
    return time.monotonic() - started


def killed(job: Job, folder: Path, after: float) -> bool:
    """Start a job and kill it after so many seconds; whether it was still running."""
    process = subprocess.Popen(
        job.command, cwd=folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        process.wait(timeout=after)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return True
    return False


def environment() -> dict[str, str]:
    """This one, with the project's sources and one thread."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]), "OMP_NUM_THREADS": "1"}


def torture(job: Job, times: int, seed: int = 0) -> dict[str, int]:
    """Kill a job so many times and check what it left each time; how often it was caught, and found results."""
    rng = np.random.default_rng(seed)
    counts = {"kills": 0, "results seen": 0}
    with tempfile.TemporaryDirectory() as root:
        whole = Path(root) / "undisturbed"
        whole.mkdir()
        seconds, expected = run(job, whole), job.result(whole)
        left = Path(root) / "killed"
        while counts["kills"] < times:  # some draws come after its end
            if job.name != "paper" or rng.random() < 0.2:  # an experiment goes on where it was killed
                shutil.rmtree(left, ignore_errors=True)
            left.mkdir(exist_ok=True)
            started = time.monotonic()
            if killed(job, left, rng.uniform(0.1, 1.0) * seconds):
                counts["kills"] += 1
            else:  # the machine has become faster
                seconds = min(seconds, time.monotonic() - started)
            counts["results seen"] += job.check(left)
        run(job, left)
        assert job.result(left) == expected, f"{job.name} gives something else after a kill"
    return counts


def jobs(folder: Path) -> list[Job]:
    """All jobs, with data made for them."""
    sys.path.insert(0, str(ROOT / "tests"))
    from small_data import write_mnist

    rng = np.random.default_rng(0)
    array = rng.dirichlet(np.ones(10), size=(5, 8000)).astype(np.float32)
    np.save(folder / "members.npy", array)
    write_mnist(folder / "data" / "mnist")
    return [aggregate(folder / "members.npy"), save(folder / "members.npy"), paper(folder / "data")]


def main() -> None:
    """Torture all jobs and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=100, help="kills of each job")
    parser.add_argument("--jobs", nargs="+", default=["aggregate", "save", "paper"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for job in jobs(Path(folder)):
            if job.name in options.jobs:
                print(job.name, torture(job, options.times), flush=True)  # noqa: T201 - a command


if __name__ == "__main__":
    main()
