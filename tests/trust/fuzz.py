"""Damage valid files of every format and read them: `python -m tests.trust.fuzz --minutes 10`.

Each batch of cases runs in a process of its own, with bounds on memory and on the time of a case, so that a crash is
found like any other failure. What fails is kept in the corpus, which `test_corpus.py` goes through.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

from trust.mutations import mutate
from trust.oracle import examine
from trust.seeds import seeds

CORPUS = Path(__file__).parent / "corpus"
BATCH, SECONDS, MEMORY = 400, 20, 3 * 2**30
"""Cases per process; the time that one may take; the address space that a process may take beyond its start."""


def run_batch(files: dict[str, bytes], seed: int, folder: Path) -> None:
    """Some cases, one after the other; the one at hand is in the folder, so that a crash leaves it there."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, hard))
    signal.signal(signal.SIGALRM, _too_slow)
    rng, pool, counts = Random(seed), list(files.values()), Counter()  # noqa: S311 - no secret
    suffixes = sorted({Path(name).suffix for name in files})
    for _ in range(BATCH):
        suffix = rng.choice(suffixes)  # first, so that formats get the same share
        name = rng.choice([name for name in files if name.endswith(suffix)])
        path = folder / f"case{suffix}"
        path.write_bytes(mutate(name, files[name], pool, rng))
        signal.alarm(SECONDS)
        try:
            counts[f"{path.suffix} {examine(path)}"] += 1
        except AssertionError as error:
            counts["found"] += 1
            _keep(path, folder / "found", str(error))
        finally:
            signal.alarm(0)
        path.unlink()
    (folder / "counts").write_text("\n".join(f"{count} {kind}" for kind, count in counts.items()), encoding="utf-8")


def _too_slow(*_: object) -> None:
    raise AssertionError(f"a case takes more than {SECONDS} seconds")


def _keep(path: Path, folder: Path, reason: str) -> None:
    """A finding under a name of its own, one for each reason."""
    folder.mkdir(exist_ok=True)
    kind = hashlib.sha256(f"{path.suffix}{reason[:60]}".encode(errors="replace")).hexdigest()[:12]
    (folder / f"{kind}{path.suffix}").write_bytes(path.read_bytes())
    (folder / f"{kind}{path.suffix}.why").write_text(reason, encoding="utf-8", errors="replace")


def fuzz(minutes: float, seed: int, corpus: Path) -> tuple[Counter[str], dict[str, str]]:
    """How many cases ended how, and what was found: the file in the corpus, and why."""
    files, counts, found = seeds(), Counter[str](), {}
    context = multiprocessing.get_context("forkserver")  # polars does not live on after a fork
    context.set_forkserver_preload(["trust.oracle", "polars"])
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            process = context.Process(target=run_batch, args=(files, seed, folder))
            process.start()
            process.join()
            if process.exitcode:
                for path in folder.glob("case.*"):
                    _keep(path, folder / "found", f"the process ended with {process.exitcode}")
            for path in folder.glob("found/*.why"):
                data, name = path.with_suffix("").read_bytes(), path.with_suffix("").name
                reason = path.read_text(encoding="utf-8")
                if name not in found:
                    print(f"{name}: {reason[:300]}", flush=True)  # noqa: T201 - a command
                    corpus.mkdir(exist_ok=True)
                    (corpus / name).write_bytes(data)
                found.setdefault(name, reason)
            if (folder / "counts").exists():
                for line in (folder / "counts").read_text(encoding="utf-8").splitlines():
                    count, kind = line.split(" ", 1)
                    counts[kind] += int(count)
        seed += 1
    return counts, found


def main() -> None:
    """Run, and say how many cases there were; exit code 1 where something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)  # noqa: T201
    counts, found = fuzz(options.minutes, options.seed, options.corpus)
    for kind, count in sorted(counts.items()):
        print(f"{count:9,} {kind}")  # noqa: T201
    print(f"{sum(counts.values()):9,} files in {options.minutes:g} minutes; {len(found)} kinds of failure")  # noqa: T201
    sys.exit(bool(found))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
