"""How long a fit takes and how much memory, by method and size: a table for docs/performance.md.

    python -m benchmarks.fits > results/fits.txt

Each fit has a process of its own, whose peak memory less what it took before the fit is measured. Seconds are processor
time, of all threads together, which other work on the machine changes little. Members give probabilities in double
precision; every method has its default options.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
import warnings

import numpy as np

import consilience as cs

SIZES = [(5, 300_000, 3), (5, 10_000, 10), (100, 10_000, 10), (5, 10_000, 100)]
METHODS = ["Average", "DawidSkene", "BayesianClassifierCombination", "SoftDawidSkene", "Consensus"]


def measure(method: str, n_members: int, n_items: int, n_classes: int) -> tuple[float, float]:
    """The seconds and megabytes of one fit, in this process."""
    rng = np.random.default_rng(0)
    truth = rng.integers(n_classes, size=n_items)
    array = np.empty((n_members, n_items, n_classes))
    for rows in array:  # one by one, so that the peak before the fit is little above the array itself
        rng.standard_gamma(0.2, size=rows.shape, out=rows)
        rows[np.arange(n_items), truth] += 1
        np.divide(rows, rows.sum(axis=1, keepdims=True), out=rows)
    predictions = cs.Predictions(array)
    before, started = _peak(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(cs, method)().fit(predictions)
    return time.process_time() - started, _peak() - before


def _peak() -> float:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def main() -> None:
    """Print the table, row by row, or one measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", nargs=4, metavar=("METHOD", "MEMBERS", "ITEMS", "CLASSES"), help="measure this fit")
    one = parser.parse_args().one
    if one:
        print(*measure(one[0], *map(int, one[1:])))
        return
    print(f"| members × items × classes | the array | {' | '.join(METHODS)} |", flush=True)
    print(f"|---|---|{'---|' * len(METHODS)}")
    for size in SIZES:
        cells = []
        for method in METHODS:
            command = [sys.executable, "-m", "benchmarks.fits", "--one", method, *map(str, size)]
            seconds, megabytes = map(float, subprocess.check_output(command, text=True).split())
            cells.append(f"{seconds:.2g} s, {megabytes:.0f} MB")
        array = size[0] * size[1] * size[2] * 8 / 2**20
        sizes = " × ".join(f"{number:,}" for number in size)
        print(f"| {sizes} | {array:.0f} MB | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
