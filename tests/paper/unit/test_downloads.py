"""Data sets are fetched where they are absent, checked, and kept from writing elsewhere."""

import hashlib
import sys
import tarfile
from types import SimpleNamespace

import pytest

from paper import downloads
from paper.downloads import Source, fetch


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A pooch that knows one archive."""
    inside = tmp_path / "test.bin"
    inside.write_bytes(b"123")
    archive = tmp_path / "small.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        file.add(inside, "small-binary/test.bin")
    asked = []

    def retrieve(url, known_hash, path, fname):
        asked.append(url)
        if hashlib.md5(archive.read_bytes(), usedforsecurity=False).hexdigest() != known_hash.removeprefix("md5:"):
            raise ValueError("hash")
        path.mkdir(parents=True, exist_ok=True)
        (path / fname).write_bytes(archive.read_bytes())
        return str(path / fname)

    monkeypatch.setitem(sys.modules, "pooch", SimpleNamespace(retrieve=retrieve))
    md5 = hashlib.md5(archive.read_bytes(), usedforsecurity=False).hexdigest()
    monkeypatch.setitem(downloads.SOURCES, "small", [Source("http://x/small.tar.gz", md5, ("small-binary/test.bin",))])
    return asked


def test_once_and_only_where_absent(tmp_path, server):
    for _ in range(2):
        fetch("small", tmp_path / "data")
    assert (tmp_path / "data" / "small" / "small-binary" / "test.bin").read_bytes() == b"123"
    assert server == ["http://x/small.tar.gz"]


def test_another_file_is_refused(tmp_path, server, monkeypatch):
    real = downloads.SOURCES["small"]
    monkeypatch.setitem(downloads.SOURCES, "small", [real[0]._replace(md5="0" * 32)])
    for _ in range(2):  # and tried again, since nothing is left of the first time
        with pytest.raises(ConnectionError, match="small is not in .* put small.tar.gz there"):
            fetch("small", tmp_path / "data")
        assert not (tmp_path / "data").exists() and not downloads.is_here("small", tmp_path / "data")
    assert len(server) == 2
    monkeypatch.setitem(downloads.SOURCES, "small", real)
    fetch("small", tmp_path / "data")
    assert downloads.is_here("small", tmp_path / "data")


def test_a_download_that_breaks_off_leaves_nothing_behind(tmp_path, monkeypatch):
    def break_off(_, __, path, fname):
        (path / fname).write_bytes(b"half")
        raise OSError("the network went")

    monkeypatch.setitem(sys.modules, "pooch", SimpleNamespace(retrieve=break_off))
    (tmp_path / "data").mkdir()
    with pytest.raises(ConnectionError):
        fetch("cifar10", tmp_path / "data")
    assert not list((tmp_path / "data").iterdir())


def test_archives_stay_where_they_belong(tmp_path):
    evil = tmp_path / "evil.tar"
    (tmp_path / "x").write_text("x")
    with tarfile.open(evil, "w") as file:
        file.add(tmp_path / "x", "../outside")
    with pytest.raises(ValueError, match=r"must hold files inside its folder alone; it has '\.\./outside'"):
        downloads._unpack(str(evil), tmp_path / "inside")
    assert not (tmp_path / "outside").exists()


def test_every_task_knows_its_source():
    pytest.importorskip("torch")
    from paper.tasks import TASKS

    assert {task.data_set for task in TASKS.values()} - {"imagenet"} <= set(
        downloads.SOURCES
    )  # ImageNet has to be asked for


def test_a_folder_that_cannot_be_written_to_is_no_matter_of_predictions(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setitem(sys.modules, "pooch", SimpleNamespace(retrieve=refuse))
    with pytest.raises(OSError, match=r"mnist is not in .* could not be downloaded \(PermissionError\)") as failure:
        fetch("mnist", tmp_path)
    assert not isinstance(failure.value, ValueError)


def test_labels_alone_are_not_a_data_set(tmp_path):
    folder = tmp_path / "CIFAR-10-C"
    folder.mkdir()
    (folder / "labels.npy").touch()
    assert not downloads.is_here("CIFAR-10-C", tmp_path)
    for name in downloads.CORRUPTIONS:
        assert not downloads.is_here("CIFAR-10-C", tmp_path)
        (folder / f"{name}.npy").touch()
    assert downloads.is_here("CIFAR-10-C", tmp_path)
