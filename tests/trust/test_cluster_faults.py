"""A cluster that loses a worker, memory or its scheduler: the right answer or a clear error, never a wrong number."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import dask
import dask.array as da
import numpy as np
import pytest
from dask import delayed
from distributed import Client, LocalCluster
from sklearn.base import clone

import consilience as cs
from consilience.passes import cluster

from simulate import softmax_members

pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's and its dependencies' own

ARRAY, _ = softmax_members(np.random.default_rng(0), [3, 2, 1], n_items=300, n_classes=4, missing=0.1)


@contextmanager
def local_client(**options):
    with (
        LocalCluster(threads_per_worker=1, processes=True, dashboard_address=":0", **options) as cluster,
        Client(cluster) as connected,
    ):
        yield connected


@pytest.fixture
def at_pass(monkeypatch):
    """Have something done in the middle of one of a fit's passes, when its work has been handed out."""

    def arrange(number, action):
        real, passes = cluster.tree_sum, []

        def tree_sum(client, parts):
            passes.append(None)
            if len(passes) == number:
                action()
            return real(client, parts)

        monkeypatch.setattr(cluster, "tree_sum", tree_sum)
        return passes

    return arrange


@pytest.mark.parametrize("method", [cs.SoftDawidSkene(averaging=0.1, max_iter=8), cs.DawidSkene(max_iter=8, tol=None)])
def test_a_worker_killed_in_the_middle_of_a_fit(method, at_pass):
    with local_client(n_workers=2) as connected:
        blocks = da.from_array(ARRAY, chunks=(3, 40, 4))
        pids = list(connected.run(os.getpid).values())
        passes = at_pass(4, lambda: os.kill(pids[0], signal.SIGKILL))
        there = clone(method).fit(blocks)
        assert len(passes) > 8, "the fit was over before the worker was killed, or nothing was done again"
        np.testing.assert_allclose(there.posterior_.compute(), clone(method).fit(ARRAY).posterior_, atol=1e-10)


@pytest.mark.parametrize("method", [cs.DawidSkene(), cs.Consensus()], ids=repr)
def test_workers_that_die_after_a_fit(method):
    """What they had is computed again."""
    with local_client(n_workers=2) as connected:
        there = clone(method).fit(da.from_array(ARRAY, chunks=(3, 100, 4)))
        for pid in connected.run(os.getpid).values():
            os.kill(pid, signal.SIGKILL)
        rows = np.concatenate([rows for _, _, rows in there.posterior_chunks()])
        np.testing.assert_allclose(rows, clone(method).fit(ARRAY).posterior_, atol=1e-10)
        np.testing.assert_allclose(there.posterior_.compute(), rows, atol=1e-10)


def test_what_cannot_be_computed_again_is_said():
    with local_client(n_workers=1) as connected:
        there = cs.SoftDawidSkene(max_iter=2).fit(da.from_array(ARRAY, chunks=(3, 100, 4)))
        (pid,) = connected.run(os.getpid).values()
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(RuntimeError, match="the cluster lost its data, or its connection, and cannot go on: "):
            list(there.posterior_chunks())


def test_a_cluster_that_is_closed():
    with local_client(n_workers=1):
        blocks = cluster.ClusterPredictions(da.from_array(ARRAY, chunks=(3, 100, 4)))
        fitted = cs.DawidSkene().fit(blocks)
    for late in (lambda: cs.DawidSkene().fit(blocks), lambda: list(fitted.posterior_chunks())):
        with pytest.raises(RuntimeError, match="the cluster lost its data, or its connection, and cannot go on: "):
            late()


def test_a_cluster_without_workers(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 1.0)
    with local_client(n_workers=0), pytest.raises(RuntimeError, match="the cluster has no workers.*within 1 seconds"):
        cs.DawidSkene().fit(da.from_array(ARRAY, chunks=(3, 100, 4)))


def test_a_cluster_whose_workers_do_not_come_back(monkeypatch, at_pass):
    """Dask gives a worker up that has not started again after its `lost-worker-timeout`: 15 seconds, little on a busy
    machine. Once the last one is gone a fit would wait forever."""
    monkeypatch.setattr(cluster, "PATIENCE", 1.0)
    settings = {"distributed.deploy.lost-worker-timeout": "1ms", "distributed.comm.timeouts.connect": "2s"}
    with dask.config.set(settings), local_client(n_workers=1) as connected:
        (pid,) = connected.run(os.getpid).values()
        at_pass(3, lambda: os.kill(pid, signal.SIGKILL))
        with pytest.raises(RuntimeError, match="the cluster has no workers|the cluster lost its data"):
            cs.SoftDawidSkene(averaging=0.1, max_iter=8).fit(da.from_array(ARRAY, chunks=(3, 40, 4)))


def test_workers_without_the_memory_for_a_block():
    """Each worker that tries is stopped by its nanny; Dask gives the block up, and the fit says so."""

    def too_large():
        kept = [np.ones(4_000_000) for _ in range(100) if time.sleep(0.02) is None]  # 3.2 GB, taken little by little
        return ARRAY[:, : len(kept)]

    settings = {"distributed.scheduler.allowed-failures": 1, "distributed.worker.memory.terminate": 0.8}
    with dask.config.set(settings), local_client(n_workers=1, memory_limit="600MiB"):
        with pytest.raises(RuntimeError, match="the cluster lost its data.*workers died"):
            cs.DawidSkene().fit([delayed(ARRAY), delayed(too_large)()])
        there = cs.DawidSkene().fit(da.from_array(ARRAY, chunks=(3, 70, 4)))  # the cluster is of use as before
        np.testing.assert_allclose(there.posterior_.compute(), cs.DawidSkene().fit(ARRAY).posterior_, atol=1e-10)


def test_a_scheduler_lost_in_the_middle_of_a_fit(tmp_path, at_pass):
    command, quiet = [sys.executable, "-m"], {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    address = ["--scheduler-file", str(tmp_path / "scheduler.json"), "--no-dashboard"]
    scheduler = subprocess.Popen([*command, "distributed.cli.dask_scheduler", "--port", "0", *address], **quiet)
    worker = subprocess.Popen(
        [*command, "distributed.cli.dask_worker", *address, "--nthreads", "1", "--no-nanny"], **quiet
    )
    at_pass(3, scheduler.kill)
    connected = None
    aggregator = cs.SoftDawidSkene(averaging=0.1, max_iter=8)
    try:
        until = time.monotonic() + 60
        while not (tmp_path / "scheduler.json").exists() and time.monotonic() < until:
            time.sleep(0.1)
        connected = Client(scheduler_file=str(tmp_path / "scheduler.json"), timeout=5)  # also to find it again
        connected.wait_for_workers(1, timeout=60)
        clear = f"(?i)scheduler-connection-lost|trying to connect to {connected.scheduler.address}|closed|lost"
        with pytest.raises((RuntimeError, OSError), match=clear):
            aggregator.fit(da.from_array(ARRAY, chunks=(3, 40, 4)))
        assert not hasattr(aggregator, "posterior_")
    finally:
        if connected is not None:
            connected.close(timeout=1)
        for process in (scheduler, worker):
            process.kill()
            process.wait()
