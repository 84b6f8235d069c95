"""Files that appear whole or not at all, where they were asked for."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from consilience.system.atomic import check_writable, whole_file

POSIX = pytest.mark.skipif(os.name == "nt", reason="POSIX's")


def write(path, data=b"new"):
    with whole_file(path) as file:
        file.write(data)


def names_in(folder):
    return sorted(entry.name for entry in folder.iterdir())


@pytest.mark.parametrize("kind", [str, Path])
def test_the_file_appears_when_all_is_written(tmp_path, kind):
    path = tmp_path / "a.bin"
    path.write_bytes(b"before")
    with whole_file(kind(path)) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"before"
    assert path.read_bytes() == b"new" and names_in(tmp_path) == ["a.bin"]


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), OSError(5, "with a number")], ids=repr)
@pytest.mark.parametrize("before", [None, b"before"])
def test_an_error_while_writing_leaves_what_was_there(tmp_path, error, before):
    path = tmp_path / "a.bin"
    if before is not None:
        path.write_bytes(before)

    def fail():
        with whole_file(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(type(error)) as caught:
        fail()
    assert caught.value is error
    assert names_in(tmp_path) == ([] if before is None else ["a.bin"])
    assert before is None or path.read_bytes() == before


def test_a_failed_system_call_names_the_path_that_was_asked_for(tmp_path):
    """Not the temporary file beside it, of which nobody knows."""
    path = tmp_path / "a.bin"
    with pytest.raises(OSError, match="No space left") as caught, whole_file(path):
        raise OSError(28, "No space left on device", str(tmp_path / ".0123.part"))
    assert caught.value.filename == str(path)


def test_two_writers_do_not_meet(tmp_path):
    """The last to finish wins, whole."""
    path = tmp_path / "a.bin"
    with whole_file(path) as first:
        first.write(b"first, and long")
        write(path, b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first, and long" and names_in(tmp_path) == ["a.bin"]


@POSIX
def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    """Any user can make one; to rename a file over /dev/null would take it from the whole machine."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)  # noqa: S607 - any cat will do
    write(pipe, b"hello")
    assert reader.communicate(timeout=10)[0] == b"hello"
    assert stat.S_ISFIFO(pipe.stat().st_mode) and list(tmp_path.iterdir()) == [pipe]


@POSIX
@pytest.mark.parametrize("exists", [False, True])
def test_a_link_is_followed(tmp_path, exists):
    (tmp_path / "there").mkdir()
    if exists:
        (tmp_path / "there" / "run.bin").write_bytes(b"before")
    link = tmp_path / "latest.bin"
    link.symlink_to(tmp_path / "there" / "run.bin")
    write(link)
    assert link.is_symlink() and (tmp_path / "there" / "run.bin").read_bytes() == b"new"
    assert names_in(tmp_path / "there") == ["run.bin"]


@POSIX
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_new_files_have_the_permissions_that_the_umask_leaves(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        write(tmp_path / "new.bin")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.bin").stat().st_mode) == mode


@POSIX
def test_a_replaced_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "secret.bin"
    path.touch()
    path.chmod(0o640)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@POSIX
def test_the_umask_is_never_touched(tmp_path, monkeypatch):
    """It belongs to the process: another thread's new file would be open to all while it is 0."""
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("the umask was set"))
    write(tmp_path / "new.bin")
    assert names_in(tmp_path) == ["new.bin"]


def test_a_long_name_leaves_room_for_the_part(tmp_path):
    path = tmp_path / ("x" * 251 + ".bin")
    write(path)
    assert names_in(tmp_path) == [path.name]


def test_places_that_are_no_file(tmp_path):
    with pytest.raises(IsADirectoryError, match="the output must be a file, and this is a directory"):
        write(tmp_path)
    with pytest.raises(FileNotFoundError, match="the output.s directory must exist.*a.bin"):
        write(tmp_path / "no" / "a.bin")
    with pytest.raises(TypeError, match="^path must be text or a path; got 3$"):
        write(3)
    with pytest.raises(ValueError, match=r"^path must be a file's name; got 'a\\x00b'"):
        write("a\0b")


def test_what_cannot_be_written_is_known_before_the_work(tmp_path):
    formats = (".npy", ".csv")
    for name in ("a.npy", "a.CSV"):
        check_writable(tmp_path / name, formats)
    with pytest.raises(ValueError, match=r"^the output must end in one of .npy .csv; got 'a.txt'$"):
        check_writable(tmp_path / "a.txt", formats)
    with pytest.raises(FileNotFoundError, match="the output's directory must exist"):
        check_writable(tmp_path / "no" / "a.npy", formats)
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(IsADirectoryError, match="the output must be a file, and this is a directory.*folder.npy"):
        check_writable(tmp_path / "folder.npy", formats)
    assert names_in(tmp_path) == ["folder.npy"]


def test_a_folder_without_permission(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(os, "access", lambda *question: asked.append(question))  # root may write anywhere
    with pytest.raises(PermissionError, match="the output's directory must be writable"):
        check_writable(tmp_path / "a.npy", (".npy",))
    assert asked == [(tmp_path, os.W_OK)]


def test_numpys_count_of_bytes_becomes_a_sentence_with_the_path(tmp_path):
    """On a full disk NumPy says only how many were requested and written."""
    message = "full disk.*600 requested and 16 written.*model.npz"
    with pytest.raises(OSError, match=message) as failure, whole_file(tmp_path / "model.npz"):
        raise OSError("600 requested and 16 written")
    assert failure.value.filename == str(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_what_killed_processes_left_is_removed_after_a_day(tmp_path):
    stale, fresh, other = (tmp_path / f".{name}.part" for name in ("0" * 16, "1" * 16, "somebody-elses"))
    for path in (stale, fresh, other):
        path.touch()
    for path in (stale, other):
        os.utime(path, (0, 0))
    with whole_file(tmp_path / "new.txt") as file:
        file.write(b"text")
    assert {path.name for path in tmp_path.iterdir()} == {fresh.name, other.name, "new.txt"}
