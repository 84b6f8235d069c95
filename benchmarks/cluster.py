"""Fits on a Dask cluster of one and of two processes: bytes between workers, time of each block and pass, scaling.

python benchmarks/cluster.py [--items 400_000] [--blocks 16]

Bytes are those that workers wrote to each other's sockets. CPU seconds are of the busier worker, by the kernel's count.
The fixed cost of a block and pass is what a pass over blocks of one item takes, for each of them.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

import consilience as cs

METHODS = {
    "SoftDawidSkene": cs.SoftDawidSkene(max_iter=20, optimizer_steps=1),
    "DawidSkene": cs.DawidSkene(max_iter=20, tol=None),
    "Consensus": cs.Consensus(),
}


def count_bytes() -> None:
    """On a worker: count what it sends to other workers from now on."""
    from distributed.comm import tcp  # noqa: PLC0415 - runs on a worker

    if not hasattr(tcp, "counted"):
        write = tcp.TCP.write

        async def counting(self: Any, message: Any, *given: Any, **options: Any) -> int:
            written: int = await write(self, message, *given, **options)
            is_data = isinstance(message, dict) and message.get("status") == "OK" and "data" in message
            tcp.counted += written if is_data else 0  # an answer to another worker's `get_data`
            return written

        tcp.TCP.write = counting
    tcp.counted = 0


def counted_bytes() -> int:
    """On a worker: what it has written to other workers."""
    from distributed.comm import tcp  # noqa: PLC0415 - runs on a worker

    return int(tcp.counted)


def cpu_seconds() -> float:
    """On a worker: its CPU time."""
    used = os.times()
    return used.user + used.system


def panel(n_items: int, start: int) -> Any:
    """Three members' probabilities of ten classes (members, items, classes)."""
    rng = np.random.default_rng(start)
    truth = rng.integers(10, size=n_items)
    scores = rng.normal(size=(3, n_items, 10)) + np.array([3, 2, 1])[:, None, None] * np.eye(10)[truth]
    grown = np.exp(scores)
    return grown / grown.sum(axis=2, keepdims=True)


def blocks_of(client: Any, n_items: int, n_blocks: int) -> list[Any]:
    """Blocks of items, made on the workers."""
    size = n_items // n_blocks
    return client.map(panel, [size] * n_blocks, [size * place for place in range(n_blocks)])


def main() -> None:
    """Print a line for each method and number of workers."""
    from distributed import Client, LocalCluster, wait  # noqa: PLC0415 - Dask is an extra

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=400_000)
    parser.add_argument("--blocks", type=int, default=16)
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    input_bytes = 3 * 10 * 8 * options.items
    print(f"{options.items:,} items, {options.blocks} blocks, {input_bytes / 1e6:.0f} MB")
    for n_workers in (1, 2):
        with (
            LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
            Client(cluster) as client,
        ):
            for name in options.methods:
                for n_items in (options.blocks, options.items):
                    blocks = blocks_of(client, n_items, options.blocks)
                    wait(blocks)
                    client.run(count_bytes)
                    before = client.run(cpu_seconds)
                    began, own = time.perf_counter(), time.process_time()
                    model = clone(METHODS[name]).fit(blocks)
                    wait(model.posterior_.persist())
                    wall, own = time.perf_counter() - began, time.process_time() - own
                    after = client.run(cpu_seconds)
                    busier = max(after[address] - before[address] for address in after)
                    sent = sum(client.run(counted_bytes).values())
                    each = 1000 * wall / max(model.n_iter_, 1) / options.blocks
                    print(
                        f"{name:15} {n_workers} workers, {n_items:>9,} items: {wall:6.1f} s, busier worker "
                        f"{busier:6.1f} s of CPU, client {own:5.1f}, {sent / 1e6:7.2f} MB between workers, "
                        f"{each:5.1f} ms a block and pass",
                        flush=True,
                    )
                    del blocks, model


if __name__ == "__main__":
    main()
