"""What is written: whole or not at all, where it was asked for, with the permissions of any new file."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import consilience as cs
from consilience.files import write_posterior
from consilience.report import write_report
from consilience.system.atomic import whole_file

BLOCK = np.random.default_rng(0).dirichlet(np.ones(3), size=(3, 400))
FITTED = cs.Average().fit(BLOCK)
POSIX = pytest.mark.skipif(os.name == "nt", reason="POSIX's")


def posterior(path):
    write_posterior(path, FITTED, FITTED.posterior_, FITTED.items_)


WRITERS = {
    "posterior.npy": posterior,
    "posterior.npz": posterior,
    "posterior.csv": posterior,
    "posterior.parquet": posterior,
    "posterior.safetensors": posterior,
    "model.npz": FITTED.save,
    "page.html": lambda path: write_report(path, BLOCK, FITTED),
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


@POSIX
def test_a_device_is_written_to_and_stays_one(tmp_path):
    """A pipe, which any user can make; to rename a file over /dev/null would take it from the whole machine."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)  # noqa: S607 - any cat will do
    with whole_file(pipe) as file:
        file.write(b"hello")
    assert reader.communicate(timeout=10)[0] == b"hello"
    assert stat.S_ISFIFO(pipe.stat().st_mode) and list(tmp_path.iterdir()) == [pipe]


@POSIX
def test_a_link_is_followed(tmp_path):
    (tmp_path / "there").mkdir()
    link = tmp_path / "latest.npy"
    link.symlink_to(tmp_path / "there" / "run.npy")
    posterior(link)
    assert link.is_symlink()
    np.testing.assert_array_equal(np.load(tmp_path / "there" / "run.npy"), FITTED.posterior_)


@POSIX
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_new_files_have_the_permissions_that_the_umask_leaves(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        posterior(tmp_path / "new.npy")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.npy").stat().st_mode) == mode


@POSIX
def test_a_replaced_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "secret.npy"
    path.touch(mode=0o600)
    path.chmod(0o640)
    posterior(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@POSIX
def test_the_umask_is_never_touched(tmp_path, monkeypatch):
    """It belongs to the process: another thread's new file would be open to all while it is 0."""
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("the umask was set"))
    posterior(tmp_path / "new.npy")


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


def test_a_long_name_leaves_room_for_the_part(tmp_path):
    path = tmp_path / ("x" * 251 + ".npy")
    posterior(path)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
