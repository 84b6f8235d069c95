"""A moment of load; `python -m benchmarks.load` has a minute of it, and the service."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.load import threads

ROOT = Path(__file__).parents[2]
LEAK = """
class Leaking:
    kept = []

    def partial_fit(self, _):
        self.kept.append(np.ones(2**18))  # 2 MB
"""


def test_threads_share_an_aggregator():
    assert "all answers equal" in threads(seconds=0.5)


def streamed(before="", model="None"):
    """A short stream in a fresh process, after some other statements."""
    script = f"""
import numpy as np
from benchmarks.load import stream
{before}
print(stream(n_items=20_000, batch=500, model={model}))
"""
    return subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_stream_takes_no_more_memory():
    assert "20,000 items" in streamed().stdout


@pytest.mark.parametrize("before", ["", "np.ones(2**25)"], ids=["at first", "after 256 MB were freed"])
def test_a_stream_that_leaks_is_caught(before):
    done = streamed(f"{LEAK}\n{before}", model="Leaking()")
    assert done.returncode == 1 and "AssertionError: memory must not grow; it went from" in done.stderr
