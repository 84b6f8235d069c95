"""Checksums change with what counts, and with nothing else."""

import numpy as np
import pytest

pytest.importorskip("torch")

from paper.datasets import Images
from paper.provenance import as_run, checksum, of_array, of_code, of_file, of_images


def test_parts_are_told_apart():
    assert checksum("ab", "c") != checksum("a", "bc") and checksum(1) != checksum("1")
    assert len(of_code()) == 16 and of_code() == of_code()


def test_prose_and_layout_do_not_run():
    plain = "def f(x):\n    return x + 1\n"
    told = '"""A module."""\n\n# why\ndef f(x):\n    """Adds."""\n    return (x + 1)  # one\n'
    assert as_run(plain) == as_run(told) != as_run(plain.replace("1", "2"))


def test_numbers_shape_and_type_count():
    array = np.arange(6, dtype=np.float32)
    found = [of_array(array), of_array(array.reshape(2, 3)), of_array(array.astype(np.int32)), of_array(array + 1)]
    assert len(set(found)) == 4
    assert of_array(np.asfortranarray(array.reshape(2, 3))) == found[1]


def test_labels_count(rng):
    pixels = rng.random((4, 1, 2, 2)).astype(np.float32)
    first, second = (Images(pixels, np.array(labels)) for labels in ([0, 1, 2, 3], [0, 1, 3, 2]))
    assert of_images(first) != of_images(second)


def test_a_file_that_changes_is_read_again(tmp_path):
    path = tmp_path / "weights"
    path.write_bytes(b"one")
    before = of_file(path)
    path.write_bytes(b"three")
    assert of_file(path) != before
