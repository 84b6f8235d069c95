"""A fit of more data than the process may hold: (3, 400,000, 1,000) half-precision on disk, 1.5 GB of private memory.

python benchmarks/out_of_core.py [FOLDER] [--items 400000]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

import consilience as cs
from consilience.data.answers import NUMBERS_AT_ONCE

LIMIT = 1_500_000_000


def write(folder: Path, n_items: int, n_classes: int) -> list[Path]:
    """One .npy file per member, written some items at a time; those already there are kept."""
    paths = [folder / f"member{member}-{n_items}.npy" for member in range(3)]
    step = NUMBERS_AT_ONCE // n_classes
    for member, path in enumerate(paths):
        if path.exists():
            continue
        file = np.lib.format.open_memmap(
            path.with_suffix(".part"), mode="w+", dtype=np.float16, shape=(n_items, n_classes)
        )
        for start in range(0, n_items, step):
            stop = min(start + step, n_items)
            truth = np.random.default_rng(start).integers(n_classes, size=stop - start)
            rows = np.random.default_rng([member, start]).standard_normal((stop - start, n_classes), dtype=np.float32)
            rows[np.arange(stop - start), truth] += 8
            np.exp(rows, out=rows)
            file[start:stop] = rows / rows.sum(axis=1, keepdims=True)
        file.flush()
        path.with_suffix(".part").replace(path)
    return paths


def main() -> None:
    """Write, limit, fit, answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="where the files go; a temporary one by default")
    parser.add_argument("--items", type=int, default=400_000)
    parser.add_argument("--iterations", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        paths = write(options.folder or Path(temporary), options.items, 1000)
        size = sum(path.stat().st_size for path in paths)
        resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
        print(f"{size / 1e9:.1f} GB on disk, {LIMIT / 1e9:.1f} GB of private memory allowed", flush=True)
        started = time.perf_counter()
        model = cs.SoftDawidSkene(max_iter=options.iterations, optimizer_steps=1, verbose=True).fit(paths)
        print(f"fitted in {time.perf_counter() - started:.0f} s")
        sure = sum(float(rows.max(axis=1).sum()) for _, _, rows in model.posterior_chunks())
        print(f"mean confidence of the answers {sure / options.items:.3f}")
        status = Path("/proc/self/status").read_text(encoding="ascii")
        print(next(line for line in status.splitlines() if line.startswith("VmData")))


if __name__ == "__main__":
    main()
