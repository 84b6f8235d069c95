"""Fifty million votes: from Parquet to a folder of answers, killed and resumed, beside the same in memory.

python benchmarks/large.py [FOLDER] [--votes 50_000_000] [--plain]

Each run is a process of its own; its CPU seconds and its peak of memory are those that the kernel counts. What Python,
polars and consilience take before any vote is read is the first line. `--plain` also reads and fits in memory.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

MEMBERS, CLASSES = 5, ("cat", "dog", "fox")
ITEMS_IN_PARTITION = 1_000_000

COMMAND = [sys.executable, "-m", "consilience", "aggregate", "votes", "-o", "fused", "-m", "dawid-skene"]

NOTHING = [sys.executable, "-c", "import polars, scipy.sparse, consilience; consilience.DawidSkene()"]

FROM_ANSWERS = """
import numpy as np, polars as pl, consilience as cs
table = pl.read_parquet("votes")
item = table["item"].to_numpy()
member = table["worker"].cast(pl.Enum([f"w{m}" for m in range(5)])).to_physical().to_numpy()
label = table["label"].cast(pl.Enum(["cat", "dog", "fox"])).to_physical().to_numpy()
model = cs.DawidSkene().fit(cs.Predictions.from_answers(item, member, label, n_classes=3))
print(f"mean confidence {model.posterior_.max(axis=1).mean():.9f}")
"""

FROM_FILES = """
import polars as pl, consilience as cs
pl.scan_parquet("votes").sink_parquet("votes.parquet")
model = cs.DawidSkene().fit(cs.read_predictions(["votes.parquet"]))
print(f"mean confidence {model.posterior_.max(axis=1).mean():.9f}")
"""


class Cost(NamedTuple):
    """What a process took."""

    cpu: float
    wall: float
    peak: float  # bytes

    def __str__(self) -> str:
        return f"{self.cpu:6.1f} s of CPU, {self.wall:6.1f} s, {self.peak / 1e9:.2f} GB"


def write(folder: Path, n_items: int) -> None:
    """Votes in partitions of a million items; those already there are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    right = np.linspace(0.9, 0.6, MEMBERS)
    workers = np.array([f"w{m}" for m in range(MEMBERS)])
    for start in range(0, n_items, ITEMS_IN_PARTITION):
        path = folder / f"part-{start // ITEMS_IN_PARTITION:04d}.parquet"
        if path.exists():
            continue
        rng, size = np.random.default_rng(start), min(ITEMS_IN_PARTITION, n_items - start)
        truth = rng.integers(3, size=size)
        is_right = rng.random((size, MEMBERS)) < right
        votes = np.where(is_right, truth[:, None], rng.integers(3, size=is_right.shape))
        columns = {
            "item": np.repeat(np.arange(start, start + size), MEMBERS),
            "worker": workers[np.tile(np.arange(MEMBERS), size)],
            "label": np.array(CLASSES)[votes.ravel()],
        }
        pl.DataFrame(columns).write_parquet(path)


def cost_of(words: list[str], folder: Path, *, killed_after: float | None = None) -> Cost:
    """Run a command, and kill it after so many seconds."""
    began = time.monotonic()
    run = subprocess.Popen(words, cwd=folder, stderr=subprocess.DEVNULL)
    if killed_after is not None:
        time.sleep(killed_after)
        run.send_signal(signal.SIGKILL)
    _, status, used = os.wait4(run.pid, 0)
    run.returncode = status
    if status and killed_after is None:
        raise SystemExit(f"{words} failed")
    return Cost(used.ru_utime + used.ru_stime, time.monotonic() - began, 1024 * used.ru_maxrss)


def are_same(folder: Path, other: Path) -> bool:
    """Whether two folders have the same parts."""
    names = sorted(path.name for path in folder.iterdir())
    if names != sorted(path.name for path in other.iterdir()):
        return False
    return all(pl.read_parquet(folder / name).equals(pl.read_parquet(other / name)) for name in names)


def main() -> None:
    """Write, run, kill, run again, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="where the files go; a temporary one by default")
    parser.add_argument("--votes", type=int, default=50_000_000)
    parser.add_argument("--plain", action="store_true", help="also in memory")
    parser.add_argument("--write", action="store_true", help="only write the votes")
    options = parser.parse_args()
    if options.write:
        write(options.folder / "votes", options.votes // MEMBERS)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)).absolute()
        # In a process of its own: what a process has held before it starts another counts for that one too.
        subprocess.run([sys.executable, __file__, folder, "--votes", str(options.votes), "--write"], check=True)
        size = sum(path.stat().st_size for path in (folder / "votes").iterdir())
        for name in ("fused", "fused.partial", "whole"):
            shutil.rmtree(folder / name, ignore_errors=True)
        print(f"{options.votes:,} votes in {size / 1e6:.0f} MB of Parquet", flush=True)
        base = cost_of(NOTHING, folder)
        print(f"imports alone:         {base}", flush=True)
        whole = cost_of(COMMAND, folder)
        print(f"a folder to a folder:  {whole}; {(whole.peak - base.peak) / 1e9:.2f} GB added", flush=True)
        (folder / "fused").rename(folder / "whole")
        costs = [cost_of(COMMAND, folder, killed_after=share * whole.wall) for share in (0.4, 0.3)]
        if (folder / "fused").exists():
            raise SystemExit("it was killed too late")
        costs.append(cost_of(COMMAND, folder))
        for cost, what in zip(costs, ("killed", "killed again", "finished"), strict=True):
            print(f"{what + ':':22} {cost}")
        print(f"the same parts as without a kill: {are_same(folder / 'whole', folder / 'fused')}")
        confidence = pl.scan_parquet(folder / "fused").select(pl.col("confidence").mean()).collect().item()
        print(f"mean confidence {confidence:.9f}", flush=True)
        if options.plain:
            for name, script in (("from_answers", FROM_ANSWERS), ("read_predictions", FROM_FILES)):
                print(f"{name}, in memory: {cost_of([sys.executable, '-c', script], folder)}", flush=True)


if __name__ == "__main__":
    main()
