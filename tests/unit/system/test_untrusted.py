"""Arrays from files that anybody may have written; `tests/trust` has the same through every reader."""

import io
import os
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import consilience as cs
from consilience.system import untrusted
from consilience.system.untrusted import (
    UNREADABLE,
    check_is_file,
    check_unpacked,
    names_in_npz,
    read_npy,
    read_npz,
    reason_of,
)

ARRAYS = {
    "rows": np.arange(6.0).reshape(2, 3),
    "fortran": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "empty": np.empty((0, 3), np.float32),
    "scalar": np.array(7),
    "names": np.array(["cat", "žirafa"]),
    "big endian": np.array(["dog"], dtype=">U3"),
}


def npy(array, version=None):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=version)
    return file.getvalue()


def archive(path, entries):
    with zipfile.ZipFile(path, "w") as file:
        for name, data in entries.items():
            file.writestr(name, data)
    return path


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_arrays_come_back(tmp_path, array):
    np.save(tmp_path / "a.npy", array)
    np.savez(tmp_path / "a.npz", x=array)
    np.savez_compressed(tmp_path / "packed.npz", x=array)
    for found in (
        read_npy(tmp_path / "a.npy"),
        read_npz(tmp_path / "a.npz")["x"],
        read_npz(tmp_path / "packed.npz")["x"],
    ):
        assert (found.dtype, found.shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(found, array)


@given(hnp.arrays(st.sampled_from([np.float64, np.int16, np.bool_]), hnp.array_shapes(min_dims=0, min_side=0)))
def test_any_array_comes_back(tmp_path_factory, array):
    path = tmp_path_factory.mktemp("any") / "a.npz"
    np.savez(path, x=array)
    np.testing.assert_array_equal(read_npz(path)["x"], array)


def test_a_single_array_stays_on_disk(tmp_path):
    np.save(tmp_path / "a.npy", ARRAYS["rows"])
    found = read_npy(tmp_path / "a.npy")
    assert isinstance(found, np.memmap) and not found.flags.writeable


def test_what_an_archive_gives_may_be_written_to(tmp_path):
    np.savez(tmp_path / "a.npz", x=ARRAYS["rows"])
    found = read_npz(tmp_path / "a.npz")["x"]
    found += 1
    np.testing.assert_array_equal(found, ARRAYS["rows"] + 1)


def test_only_what_is_wanted_is_read(tmp_path):
    archive(tmp_path / "a.npz", {"x.npy": npy(np.ones(2)), "broken.npy": b"nonsense", "notes.txt": b"hello"})
    assert names_in_npz(tmp_path / "a.npz") == ["x", "broken"]
    assert list(read_npz(tmp_path / "a.npz", lambda name: name == "x")) == ["x"]
    with pytest.raises(UNREADABLE):
        read_npz(tmp_path / "a.npz")


def test_bytes_become_text(tmp_path):
    np.savez(tmp_path / "a.npz", names=np.array(["é".encode(), b"b"]))
    np.save(tmp_path / "a.npy", np.array([b"a", b"b"]))
    assert read_npz(tmp_path / "a.npz")["names"].tolist() == ["é", "b"]
    assert read_npy(tmp_path / "a.npy").tolist() == ["a", "b"]
    np.save(tmp_path / "latin.npy", np.array([b"\xe9"]))
    with pytest.raises(UnicodeDecodeError):
        read_npy(tmp_path / "latin.npy")


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("point", [0x110000, 0xD800, 0xDFFF, 2**31])
def test_characters_that_do_not_exist(tmp_path, point, order):
    """No writer of JSON, CSV or Parquet takes them."""
    text = np.array([65, point], dtype=f"{order}u4").view(f"{order}U1")
    (tmp_path / "a.npy").write_bytes(npy(text))
    with pytest.raises(ValueError, match="text with characters that do not exist"):
        read_npy(tmp_path / "a.npy")


def test_the_last_character_there_is(tmp_path):
    (tmp_path / "a.npy").write_bytes(npy(np.array([0x10FFFF, 0xD7FF, 0xE000], dtype="<u4").view("<U1")))
    assert [ord(character) for character in read_npy(tmp_path / "a.npy")] == [0x10FFFF, 0xD7FF, 0xE000]


def objects(path):
    np.save(path, np.array([{}], dtype=object))
    return path.read_bytes()


WRONG = {
    "objects": (lambda path: objects(path.with_name("o.npy")), "'x' holds Python objects"),
    "too little": (lambda _: npy(np.ones(9))[:-8], r"'x' declares the shape \(9,\) of float64, 72 bytes; it holds 64"),
    "too much": (lambda _: npy(np.ones(2)) + bytes(8), "16 bytes; it holds 24"),
    "a later format": (lambda _: npy(np.ones(2), version=(3, 0)), r"arrays of format version \(3, 0\) are not read"),
    "a pickle": (lambda _: pickle.dumps([1]), "magic string"),
}


@pytest.mark.parametrize(("make", "message"), WRONG.values(), ids=WRONG)
def test_entries_that_are_refused(tmp_path, make, message):
    path = archive(tmp_path / "a.npz", {"x.npy": make(tmp_path / "a.npz")})
    with pytest.raises(ValueError, match=message):
        read_npz(path)


def test_an_array_of_format_2_is_read(tmp_path):
    path = archive(tmp_path / "a.npz", {"x.npy": npy(np.arange(3), version=(2, 0))})
    assert read_npz(path)["x"].tolist() == [0, 1, 2]


def test_a_name_twice(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as file:
        file.writestr("x.npy", npy(np.ones(2)))
        with pytest.warns(UserWarning, match="Duplicate name"):
            file.writestr("x.npy", npy(np.ones(2)))
    with pytest.raises(ValueError, match="^it holds 'x' more than once$"):
        read_npz(tmp_path / "a.npz")


def test_the_limit_is_the_larger_of_a_size_and_a_factor():
    most = untrusted.MOST_UNPACKED
    check_unpacked(most, 0)
    check_unpacked(2 * most, most // 50 + 1)
    with pytest.raises(ValueError, match=f"would unpack to {most + 1:,} bytes, and at most {most:,} are accepted"):
        check_unpacked(most + 1, most // untrusted.MOST_EXPANSION)


def test_places_that_are_no_file(tmp_path):
    with pytest.raises(cs.InvalidPredictions, match="is a directory; expected a file"):
        check_is_file(tmp_path)
    with pytest.raises(TypeError, match="^path must be text or a path; got 3$"):
        check_is_file(3)
    check_is_file(tmp_path / "missing")  # the system's own error says it better, when it is opened
    with pytest.raises(FileNotFoundError):
        read_npy(tmp_path / "missing")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for read in (read_npy, read_npz):
        with pytest.raises(cs.InvalidPredictions, match="is a pipe or a device; expected a file"):
            read(tmp_path / "pipe")


def test_the_reason_is_one_short_line():
    assert reason_of(ValueError("first\nsecond")) == "first"
    assert reason_of(EOFError()) == "EOFError"
    assert reason_of(ValueError("x" * 201)) == "x" * 200 + "…"
    assert reason_of(ValueError("x" * 200)) == "x" * 200
