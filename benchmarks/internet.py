"""What a fit to the internet's scale would take, on paper: measured on one core, then multiplied.

    OMP_NUM_THREADS=1 python -m benchmarks.internet

Measured are the CPU time of an item and pass, of an M step, of what is done once, and of a task of Dask's scheduler.
Each is found from fits to twice as many items, with twice as many passes and with more blocks, so that they come apart.
Everything else is assumed, below. `results/internet.txt` is what it printed.
"""

from __future__ import annotations

import math
import time
import warnings
from typing import Any, NamedTuple

import consilience as cs
from benchmarks.machine import panel, seconds, votes
from consilience.passes import cluster

CORES, LINK, STORE, DOLLARS = 1_000, 1e9, 1e8, 0.04
"""Workers with one core each; bytes a second between two of them, and from the object store; of a core and hour."""

CASES = {(10, 5): 10**11, (5, 1_000): 10**9}
"""For each number of members and classes, how many items."""

METHODS = {"DawidSkene of votes": 20, "SoftDawidSkene": 100, "Consensus": None}
"""The passes over the items. Consensus always makes the same, which count as done once."""

PASSES_OF_CONSENSUS = 20
"""So many, about, add up statistics."""

BYTES_OF_VOTE = 24
"""In memory: three integers."""


class Cost(NamedTuple):
    """Seconds of one core."""

    once: float  # of an item: reading, the start, the posterior
    visit: float  # of an item and pass
    maximize: float  # of an M step, whatever the number of items


def made(name: str, n_members: int, n_classes: int) -> Any:
    """Predictions of about 60 MB, or many items with votes."""
    if "votes" in name:
        n_items = 400_000 if n_classes < 100 else 60_000  # an M step of many classes takes long
        return cs.Predictions.from_labels(votes(n_members, n_items, n_classes), n_classes)
    return cs.Predictions(panel(n_members, 15_000_000 // n_members // n_classes, n_classes, "float32"))


def fit_seconds(name: str, data: Any, n_passes: int | None) -> float:
    """CPU time of a fit."""
    options = {} if n_passes is None else {"max_iter": n_passes} | ({"tol": None} if "votes" in name else {})
    method = getattr(cs, name.partition(" ")[0])(**options)
    return seconds(lambda: method.fit(data).posterior_chunks(), repeats=1)[0]


def cost_of(name: str, data: Any) -> Cost:
    """What a method costs, from fits to half and all of the items, with 4 and 8 passes."""
    n_half = data.n_items // 2
    halves = (data.take(slice(n_half)), data.take(slice(2 * n_half)))
    if METHODS[name] is None:
        few, all_of_it = (fit_seconds(name, own, None) for own in halves)
        each = (all_of_it - few) / n_half
        return Cost(each, 0.0, max(0.0, few - each * n_half))
    (few_4, few_8), (all_4, all_8) = ([fit_seconds(name, own, n) for n in (4, 8)] for own in halves)
    visit = (all_8 - all_4 - few_8 + few_4) / 4 / n_half
    return Cost(
        max(0.0, (all_4 - few_4) / n_half - 4 * visit), visit, max(0.0, (all_8 - all_4) / 4 - visit * 2 * n_half)
    )


def task_seconds() -> float:
    """What a task and pass costs the process of the scheduler and of the client, its part of the tree included."""
    from distributed import Client, LocalCluster  # noqa: PLC0415 - Dask is an extra

    cluster.BYTES_AT_ONCE, cluster.MOST_TASKS, found = 1, 10**6, {}
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as workers, Client(workers) as client:
        for n_blocks, n_passes in ((64, 10), (64, 10), (64, 40), (256, 10), (256, 40)):
            blocks = client.map(lambda place: panel(3, 2, 5, seed=place), range(n_blocks), pure=False)
            began = time.process_time()
            cs.DawidSkene(max_iter=n_passes, tol=None).fit(blocks)
            found[n_blocks, n_passes] = time.process_time() - began
    return (found[256, 40] - found[256, 10] - found[64, 40] + found[64, 10]) / (256 - 64) / 30


def main() -> None:
    """Print what was measured, and what follows."""
    warnings.simplefilter("ignore")
    most_tasks = cluster.MOST_TASKS
    task = task_seconds()
    print(f"A task of the scheduler takes {1e3 * task:.2f} ms, and a worker has {most_tasks} in a pass.\n")
    for (n_members, n_classes), n_items in CASES.items():
        table = 8 * n_members * n_classes**2
        levels = math.ceil(math.log(CORES, cluster.SUMS_AT_ONCE))
        print(
            f"{n_items:,} items x {n_members} members x {n_classes:,} classes; statistics of {table / 1e6:.3g} MB, so "
            f"that a pass sends {2 * table * CORES / 1e9:.3g} GB in all\n\n"
            "| | GB a core | µs an item, once | µs an item and pass | passes | read, s | work, s | M steps, s | "
            "network, s | scheduler, s | dollars | most |\n|---|---|---|---|---|---|---|---|---|---|---|---|"
        )
        for name, n_passes in METHODS.items():
            own, rounds = cost_of(name, made(name, n_members, n_classes)), n_passes or PASSES_OF_CONSENSUS
            of_item = BYTES_OF_VOTE * n_members if "votes" in name else 4 * n_members * n_classes
            taken = {
                "read": n_items * of_item / CORES / STORE,
                "work": n_items * (own.once + (n_passes or 0) * own.visit) / CORES,
                "M steps": (n_passes or 1) * own.maximize,
                "network": rounds * table * (1 + cluster.SUMS_AT_ONCE) * levels / LINK,
                "scheduler": rounds * CORES * most_tasks * task,
            }
            cells = [
                f"{n_items * of_item / CORES / 1e9:.3g}",
                f"{1e6 * own.once:.3g}",
                f"{1e6 * own.visit:.3g}",
                rounds,
            ]
            cells += [f"{value:,.0f}" for value in taken.values()]
            cells += [f"{sum(taken.values()) * CORES / 3600 * DOLLARS:,.0f}", max(taken, key=taken.__getitem__)]
            print(f"| {name} | {' | '.join(map(str, cells))} |", flush=True)
        print()


if __name__ == "__main__":
    main()
