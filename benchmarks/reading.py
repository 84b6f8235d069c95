"""How long it takes to read votes, side by side with pandas and polars, and which library reads the files.

    python -m benchmarks.reading [--rows 1000000] [--choice]

Each measurement runs in a process of its own. Seconds are processor time of all threads, since the machine may be
shared; memory is what the process's peak rises by. `--choice` compares the libraries that could read files.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

LIBRARIES = ("polars", "pyarrow", "pandas", "duckdb")


def write_votes(path: Path, n_rows: int) -> None:
    """Votes of 500 members on items with 20 votes each."""
    rng = np.random.default_rng(0)
    items, members, labels = (
        rng.integers(n_rows // 20, size=n_rows),
        rng.integers(500, size=n_rows),
        rng.integers(5, size=n_rows),
    )
    with path.open("w", encoding="ascii") as file:
        file.write("task,worker,label\n")
        for start in range(0, n_rows, 10**6):
            part = slice(start, start + 10**6)
            rows = zip(items[part].tolist(), members[part].tolist(), labels[part].tolist(), strict=True)
            file.write("".join(f"t{item},w{member},c{label}\n" for item, member, label in rows))


def _codes(frame: object) -> object:
    import pandas as pd  # noqa: PLC0415

    import consilience as cs  # noqa: PLC0415

    codes = [pd.factorize(frame[name]) for name in ("task", "worker", "label")]  # type: ignore[index]
    names = {axis: list(values) for axis, (_, values) in zip(("items", "members", "classes"), codes, strict=True)}
    return cs.Predictions.from_answers(codes[0][0], codes[1][0], codes[2][0], **names)


def ways(path: Path) -> dict[str, tuple[object, object]]:
    """What is measured: how the input is prepared, and what is done with it."""
    import pandas as pd  # noqa: PLC0415
    import polars as pl  # noqa: PLC0415

    import consilience as cs  # noqa: PLC0415

    return {
        "read_predictions(CSV)": (lambda: None, lambda _: cs.read_predictions(path)),
        "from_frame(pandas)": (lambda: pd.read_csv(path), cs.Predictions.from_frame),
        "from_frame(polars)": (lambda: pl.read_csv(path), cs.Predictions.from_frame),
        "pandas alone, CSV": (lambda: None, lambda _: pd.read_csv(path)),
        "polars alone, CSV": (lambda: None, lambda _: pl.read_csv(path)),
        "pandas, factorize, from_answers": (lambda: None, lambda _: _codes(pd.read_csv(path))),
    }


def measure(way: str, path: Path) -> str:
    """Seconds of processor time, seconds, and the megabytes that the peak rises by."""
    prepare, run = ways(path)[way]
    write_votes(path.with_suffix(".warm.csv"), 1000)
    warm_prepare, warm_run = ways(path.with_suffix(".warm.csv"))[way]
    warm_run(warm_prepare())  # type: ignore[operator]
    given = prepare()  # type: ignore[operator]
    before = _resident()
    started, processor = time.perf_counter(), time.process_time()
    run(given)  # type: ignore[operator]
    spent, passed = time.process_time() - processor, time.perf_counter() - started
    return f"{spent:.3f} {passed:.3f} {_peak() - before:.0f}"


def _peak() -> float:
    """Megabytes; what `getrusage` says would include those of the process that started this one."""
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


def _resident() -> float:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize() / 2**20


def table(n_rows: int) -> None:
    """Print one line for each way."""
    print(f"{n_rows:,} votes; the coded answers take {24 * n_rows / 2**20:.0f} MB")
    print(f"{'':34}{'µs of processor a row':>24}{'seconds':>10}{'MB added':>10}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        write_votes(path, n_rows)
        for way in ways(path):
            command = [sys.executable, "-m", "benchmarks.reading", "--measure", way, "--path", str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            spent, passed, added = map(float, done.stdout.split())
            print(f"{way:34}{spent / n_rows * 1e6:24.2f}{passed:10.2f}{added:10.0f}")


# ---- which library reads files ------------------------------------------------------------------------------


def _unpacked(library: str) -> float:
    """Megabytes on disk, with what of it is compiled apart."""
    wanted = [library] + [d.name for d in importlib.metadata.distributions() if d.name.startswith(f"{library}-runtime")]
    files = [file for name in wanted for file in importlib.metadata.files(name) or ()]
    return sum(Path(file.locate()).stat().st_size for file in files if Path(file.locate()).exists()) / 2**20


READS = {
    "polars": "import polars as l; l.read_csv({path!r}, infer_schema=False)",
    "pyarrow": "import pyarrow.csv as l; l.read_csv({path!r})",
    "pandas": "import pandas as l; l.read_csv({path!r})",
    "duckdb": "import duckdb as l; l.read_csv({path!r}, all_varchar=True).fetchnumpy()",
}
TIMED = (
    "import time; from benchmarks.reading import _peak; t = time.process_time(); exec({first!r}); "
    "a = time.process_time() - t; exec({code!r}); print(a, time.process_time() - t - a, _peak())"
)
AFTER_FORK = (
    "import os, signal; exec({code!r}); pid = os.fork()\n"
    "if not pid: exec({code!r}); os._exit(0)\n"
    "signal.signal(signal.SIGALRM, lambda *_: (os.kill(pid, 9), print('hangs'), os._exit(0))); signal.alarm(20)\n"
    "print('works' if os.waitpid(pid, 0)[1] == 0 else 'fails')"
)
DAMAGED = {
    "polars": "import polars as l; l.read_parquet({path!r})",
    "pyarrow": "import pyarrow.parquet as l; l.read_table({path!r})",
    "pandas": "import pandas as l; l.read_parquet({path!r})",
    "duckdb": "import duckdb as l; l.read_parquet({path!r}).fetchnumpy()",
}


def choice(n_rows: int) -> None:
    """Print what each library costs, and what it does with damaged files and after a fork."""
    head = ("MB on disk", "import s", f"{n_rows:,} rows s", "peak MB", "after a fork", "damaged Parquet files")
    print(f"{'':10}" + "".join(f"{word:>18}" for word in head[:5]) + f"  {head[5]}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        write_votes(path, n_rows)
        small = Path(folder) / "small.csv"
        write_votes(small, 2000)
        damaged = _damaged(Path(folder))
        for library in LIBRARIES:
            if importlib.util.find_spec(library) is None:
                continue
            code = READS[library].format(path=str(path))
            first = code.partition(";")[0]
            started, spent, peak = map(float, _run(TIMED.format(first=first, code=code)).split())
            fork = _run(AFTER_FORK.format(code=READS[library].format(path=str(small)))).strip()
            ends = [_ends(DAMAGED[library].format(path=str(file))) for file in damaged]
            kinds = ", ".join(f"{ends.count(kind)} {kind}" for kind in ("refused", "read", "crashed") if kind in ends)
            cells = (f"{_unpacked(library):.0f}", f"{started:.2f}", f"{spent:.2f}", f"{peak:.0f}", fork)
            print(f"{library:10}" + "".join(f"{cell:>18}" for cell in cells) + f"  {kinds}")


def _run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stdout


def _ends(code: str) -> str:
    guarded = f"try: exec({code!r})\nexcept BaseException: print('refused')\nelse: print('read')"
    return _run(guarded).strip() or "crashed"


def _damaged(folder: Path, n_files: int = 30) -> list[Path]:
    """Parquet files with a few bytes changed, or cut short."""
    import polars as pl  # noqa: PLC0415

    whole = folder / "whole.parquet"
    pl.DataFrame({"item": ["a", "b"] * 200, "label": [0.5, 1.0] * 200}).write_parquet(whole)
    rng, found = np.random.default_rng(0), []
    for number in range(n_files):
        data = bytearray(whole.read_bytes())
        for place in rng.integers(len(data) - 8, size=4):
            data[place] = rng.integers(256)
        found.append(folder / f"damaged{number}.parquet")
        found[-1].write_bytes(bytes(data[: len(data) - 20]) if number % 5 == 0 else bytes(data))
    return found


def main() -> None:
    """Print the table that is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--choice", action="store_true")
    parser.add_argument("--measure")
    parser.add_argument("--path", type=Path)
    told = parser.parse_args()
    if told.measure:
        print(measure(told.measure, told.path))
    elif told.choice:
        choice(told.rows)
    else:
        table(told.rows)


if __name__ == "__main__":
    main()
