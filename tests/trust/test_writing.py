"""What is written: whole or not at all, where it was asked for, with the permissions of any new file."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import consilience as cs
from consilience.report import write_report
from written import write_fitted

BLOCK = np.random.default_rng(0).dirichlet(np.ones(3), size=(3, 400))
FITTED = cs.Average().fit(BLOCK)
POSIX = pytest.mark.skipif(os.name == "nt", reason="POSIX's")


def posterior(path):
    write_fitted(path, FITTED)


WRITERS = {
    "posterior.npy": posterior,
    "posterior.npz": posterior,
    "posterior.csv": posterior,
    "posterior.parquet": posterior,
    "posterior.safetensors": posterior,
    "model.npz": FITTED.save,
    "page.html": lambda path: write_report(path, BLOCK, aggregator=FITTED),
    "graph.onnx": FITTED.to_onnx,
}


@POSIX
@pytest.mark.parametrize(("name", "write"), WRITERS.items(), ids=WRITERS)
def test_a_full_disk(tmp_path, name, write):
    """A limit on the size of files, as a full disk is: the old file stays, nothing else does, and the path is named."""
    resource, signal = pytest.importorskip("resource"), pytest.importorskip("signal")
    path = tmp_path / name
    path.write_bytes(b"before")
    limits, action = resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            write(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, action)
    assert str(path) in str(caught.value) and ".part" not in str(caught.value)
    assert path.read_bytes() == b"before" and [entry.name for entry in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(("name", "write"), WRITERS.items(), ids=WRITERS)
@pytest.mark.parametrize("place", ["folder", "no/file"])
def test_places_where_nothing_can_be_written(tmp_path, name, write, place):
    target = tmp_path / f"{place}{Path(name).suffix}"
    if place == "folder":
        target.mkdir()
    with pytest.raises((OSError, ValueError), match=r"directory") as caught:
        write(target)
    assert target.name in str(caught.value) or str(target.parent) in str(caught.value)
    assert ".part" not in str(caught.value) and sorted(tmp_path.rglob("*")) == ([target] if place == "folder" else [])


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs /dev/full")
@pytest.mark.parametrize("option", [[], ["--json"]])
def test_standard_output_on_a_full_disk(tmp_path, option):
    np.save(tmp_path / "p.npy", BLOCK)
    words = [sys.executable, "-m", "consilience", "aggregate", "p.npy", "-m", "average", *option]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(words, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    said = done.stderr.decode().splitlines()
    assert said[-1] == "consilience: No space left on device" and not any("Traceback" in line for line in said)
