"""A run into a folder that is killed at any moment leaves no output, goes on, and ends as one that was never killed."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def votes(tmp_path):
    """Votes in ten partitions, of which each takes a while."""
    rng = np.random.default_rng(0)
    (tmp_path / "votes").mkdir()
    for place in range(10):
        truth = rng.integers(3, size=20_000)
        said = np.where(rng.random((5, len(truth))) < 0.7, truth, rng.integers(3, size=(5, len(truth))))
        items = np.repeat(np.arange(len(truth)) + 20_000 * place, 5)
        frame = {"item": items, "worker": ["a", "b", "c", "d", "e"] * len(truth), "label": said.T.ravel()}
        pl.DataFrame(frame).write_parquet(tmp_path / f"votes/part-{place}.parquet")
    return tmp_path


RUN = """
from consilience import DawidSkene
from consilience.data.tables.told import Told
from consilience.files.lake import buckets
from consilience.files.lake.fusing import LakeRun
buckets.NUMBERS_IN_BUCKET = 20_000
print("begins", flush=True)
LakeRun(["votes"], {out!r}, Told(), settings={{}}).run(lambda data: DawidSkene().fit(data))
"""


@contextmanager
def running(folder, out):
    with subprocess.Popen([sys.executable, "-c", RUN.format(out=out)], cwd=folder, stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        run.stdout.readline()  # imports are done
        yield run


def answers(folder, out):
    return pl.read_parquet(f"{folder}/{out}/").sort("item")


def test_kills_leave_nothing_half_written_and_the_next_run_goes_on(votes):
    began = time.monotonic()
    with running(votes, "whole") as run:
        assert run.wait() == 0
    lasts, whole = time.monotonic() - began, answers(votes, "whole")
    is_killed, rng = [], np.random.default_rng(1)
    while not is_killed or is_killed[-1]:
        assert len(is_killed) < 40, "it never comes to an end"
        with running(votes, "killed") as run:
            with suppress(subprocess.TimeoutExpired):
                run.wait(timeout=rng.uniform(0.1, 0.5) * lasts)
            run.kill()
        is_killed.append(run.returncode != 0)
        assert not (votes / "killed").exists() or answers(votes, "killed").equals(whole)
        for part in (votes / "killed.partial").glob("parts/part-*.parquet"):
            pl.read_parquet(part)  # whole, or not there
    assert len(is_killed) > 1
    assert len(whole) == 200_000
    assert answers(votes, "killed").equals(whole)
    left = {path.name for path in votes.iterdir()}
    assert left == {"votes", "whole", "whole.manifest.json", "killed", "killed.manifest.json"}
