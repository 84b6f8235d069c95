"""How close fits come to the machine: each beside its limit, in processor time of one thread.

    OMP_NUM_THREADS=1 python -m benchmarks.machine [NAME …]

Both sides of a row run in turn in one process, and the fastest run of each counts: ratios then say more than seconds do
on a machine that others use too. `results/close-to-the-machine.txt` is what it printed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import consilience as cs

Row = dict[str, float]


def seconds(*functions: Callable[[], Any], repeats: int = 5) -> list[float]:
    """The processor time of the fastest run of each function; they take turns."""
    best = [np.inf] * len(functions)
    for _ in range(repeats):
        for place, function in enumerate(functions):
            started = time.process_time()
            function()
            best[place] = min(best[place], time.process_time() - started)
    return best


def panel(n_members: int, n_items: int, n_classes: int, dtype: str = "float64", seed: int = 0) -> Any:
    """Probabilities (members, items, classes) that are right more often than not."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_items)
    array = np.empty((n_members, n_items, n_classes), dtype=dtype)
    for rows in array:
        drawn = rng.standard_gamma(0.2, size=rows.shape)
        drawn[np.arange(n_items), truth] += 1
        rows[...] = drawn / drawn.sum(axis=1, keepdims=True)
    return array


def votes(n_members: int, n_items: int, n_classes: int, right: float = 0.7) -> Any:
    """Labels (members, items)."""
    rng = np.random.default_rng(1)
    truth = rng.integers(n_classes, size=n_items)
    shape = (n_members, n_items)
    return np.where(rng.random(shape) < right, truth, rng.integers(n_classes, size=shape))


def average() -> Row:
    """`Average` beside `np.average`, which checks nothing and counts no confusion matrices."""
    row = {}
    for n_members, n_items, n_classes in ((5, 100_000, 10), (5, 10_000, 100)):
        array = panel(n_members, n_items, n_classes)
        data = cs.Predictions(array)
        fitted = cs.Average().fit(data)
        theirs, answered, fit, checked = seconds(
            lambda array=array: np.average(array, axis=0),
            lambda data=data, fitted=fitted: fitted.predict_proba(data),
            lambda data=data: cs.Average().fit(data).posterior_,
            lambda array=array: cs.Average().fit(array).posterior_,
            repeats=7,
        )
        size = f"{n_members} x {n_items} x {n_classes}"
        row |= {
            f"{size}, predict_proba, times np.average": answered / theirs,
            f"{size}, fit": fit / theirs,
            f"{size}, fit with checks": checked / theirs,
        }
    return row


def consensus_votes() -> Row:
    """`Consensus` beside `Average` on the votes of 200 members."""
    data = cs.Predictions.from_labels(votes(200, 5_000, 5))
    pooled, fused = seconds(lambda: cs.Average().fit(data), lambda: cs.Consensus().fit(data), repeats=3)
    return {"times Average": fused / pooled, "seconds": fused}


def consensus_precision() -> Row:
    """`Consensus` of single beside double precision."""
    row = {}
    for n_items, n_classes in ((5_000, 100), (1_000, 1_000)):
        double = panel(5, n_items, n_classes)
        single = double.astype(np.float32)
        of_double, of_single = seconds(
            lambda double=double: cs.Consensus().fit(double),
            lambda single=single: cs.Consensus().fit(single),
            repeats=2,
        )
        row |= {f"{n_classes} classes, seconds": of_single, f"{n_classes} classes, times double": of_double / of_single}
    return row


def crowd() -> Row:
    """`Consensus` of a crowd in which 500 workers give five answers an item."""
    rng = np.random.default_rng(0)
    labels = votes(500, 10_000, 5)
    labels = np.where(rng.random(labels.shape) < 0.01, labels, -1)
    labels[rng.integers(500, size=10_000), np.arange(10_000)] = 0
    data = cs.Predictions.from_labels(labels, 5)
    (fused,) = seconds(lambda: cs.Consensus().fit(data), repeats=3)
    return {"seconds": fused}


def crowd_kit() -> Row:
    """Dawid-Skene beside crowd-kit's on 200,000 votes of 2,000 workers, from a frame of pandas to the posterior."""
    import pandas as pd  # noqa: PLC0415 - only this row needs them
    from crowdkit.aggregation import DawidSkene  # noqa: PLC0415

    rng = np.random.default_rng(0)
    truth, item = rng.integers(5, size=40_000), np.repeat(np.arange(40_000), 5)
    said = np.where(rng.random(len(item)) < 0.7, truth[item], rng.integers(5, size=len(item)))
    worker = (rng.integers(2000, size=40_000)[:, None] + 397 * np.arange(5)).ravel() % 2000
    frame = pd.DataFrame({"task": item, "worker": worker, "label": said})
    read = cs.Predictions.from_frame(frame)
    ours, fit, theirs = seconds(
        lambda: cs.DawidSkene(max_iter=10, tol=None).fit(cs.Predictions.from_frame(frame)).posterior_,
        lambda: cs.DawidSkene(max_iter=10, tol=None).fit(read).posterior_,
        lambda: DawidSkene(n_iter=10, tol=0).fit_predict_proba(frame),
        repeats=2,
    )
    return {"10 iterations from a frame, times faster": theirs / ours, "seconds": ours, "without reading": theirs / fit}


def combination() -> Row:
    """BCC beside Dawid-Skene, with six iterations each, on votes among 1,000 classes."""
    data = cs.Predictions.from_labels(votes(3, 50_000, 1_000), 1_000)
    fits = (cs.DawidSkene(max_iter=6, tol=None), cs.BayesianClassifierCombination(max_iter=6, tol=None))
    ds, bcc = seconds(*(lambda fit=fit: fit.fit(data) for fit in fits), repeats=1)
    return {"Dawid-Skene, seconds": ds, "BCC, seconds": bcc}


def one_item() -> Row:
    """One item of 1,000 classes, answered by what was learned."""
    array = panel(5, 2_000, 1_000, "float32")
    row = {}
    for method in (cs.DawidSkene(max_iter=3, tol=None), cs.SoftDawidSkene(max_iter=3), cs.Consensus()):
        fitted = method.fit(array)
        (one,) = seconds(lambda fitted=fitted: fitted.predict_proba(array[:, :1]), repeats=20)
        row[f"{type(method).__name__}, ms"] = 1e3 * one
    return row


def diagnosis() -> Row:
    """`diagnose` beside a fit of Consensus."""
    data = cs.Predictions(panel(10, 100_000, 10))
    fit, diagnosed = seconds(lambda: cs.Consensus().fit(data), lambda: cs.diagnose(data), repeats=2)
    added = {"fit, times the input in memory": "cs.Consensus().fit(array).posterior_", "diagnose": "cs.diagnose(array)"}
    return {"fits": diagnosed / fit, "fit, seconds": fit} | {what: _memory_of(work) for what, work in added.items()}


def _memory_of(work: str) -> float:
    """What some work on an array of 10 x 200,000 x 10 adds to the peak of a process, times the array (Linux)."""
    script = f"""
import pathlib, warnings, consilience as cs
from benchmarks.machine import panel
peak = lambda: int(pathlib.Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
warnings.simplefilter("ignore")
array = panel(10, 200_000, 10)
pathlib.Path("/proc/self/clear_refs").write_text("5")
before = peak()
{work}
print(1024 * (peak() - before) / array.nbytes)
"""
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return float(done.stdout)


def products() -> Row:
    """Soft Dawid-Skene beside the matrix products of its passes."""
    row = {}
    for n_classes, n_iter in ((10, 100), (100, 20)):
        array = panel(3, 10_000, n_classes, "float32")
        values = np.ascontiguousarray(array.transpose(1, 0, 2).reshape(10_000, -1))
        weights = np.ones((n_classes, values.shape[1]), dtype=np.float32)
        table = np.ones((n_classes, 10_000), dtype=np.float32)
        method = cs.SoftDawidSkene(max_iter=n_iter)

        def bare(weights: Any = weights, values: Any = values, table: Any = table, n_iter: int = n_iter) -> None:
            for _ in range(n_iter):
                weights @ values.T
                table @ values

        of_products, fit = seconds(bare, lambda method=method, array=array: method.fit(array), repeats=3)
        row |= {f"{n_classes} classes, share of products": of_products / fit, f"{n_classes} classes, seconds": fit}
    return row


def start() -> Row:
    """Processor time of `import consilience`, its first name, and `--help`, beside SciPy's; the best of five."""
    programs = {
        "scipy.special and scipy.sparse": ["-c", "import scipy.special, scipy.sparse"],
        "import consilience": ["-c", "import consilience"],
        "consilience.Consensus": ["-c", "import consilience; consilience.Consensus"],
        "consilience --help": ["-m", "consilience", "--help"],
    }
    return {f"{name}, seconds": min(_of_process(arguments) for _ in range(5)) for name, arguments in programs.items()}


def _of_process(arguments: list[str]) -> float:
    import resource  # noqa: PLC0415 - not on Windows

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


ROWS: dict[str, Callable[[], Row]] = {
    "start": start,
    "one-item": one_item,
    "average": average,
    "consensus-votes": consensus_votes,
    "crowd": crowd,
    "crowd-kit": crowd_kit,
    "consensus-precision": consensus_precision,
    "combination": combination,
    "diagnosis": diagnosis,
    "products": products,
}


def main() -> None:
    """Print the rows named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(ROWS)}; all if none is given")
    warnings.simplefilter("ignore")
    for name in parser.parse_args().names or ROWS:
        for what, value in ROWS[name]().items():
            print(f"{name:20}{what:50}{value:10.3g}", flush=True)


if __name__ == "__main__":
    main()
