"""CIFAR's Python version is read, and nothing that a pickle names is run."""

import pickle

import numpy as np
import pytest

from paper.cifar_batches import read_batch
from paper.datasets import read_cifar10, read_cifar100
from paper.downloads import is_here
from paper.errors import CannotReproduce

from small_data import write_cifar100_python


@pytest.mark.parametrize("train", [True, False])
def test_cifar100(tmp_path, train):
    pixels, fine = write_cifar100_python(tmp_path / "cifar100")
    images = read_cifar100(tmp_path / "cifar100", train=train)
    np.testing.assert_allclose(images.pixels, pixels.reshape(-1, 3, 32, 32) / 255, rtol=1e-6)
    assert images.labels.tolist() == fine
    assert is_here("cifar100", tmp_path)  # so it is not downloaded


def test_the_file_is_what_a_usual_reader_reads(tmp_path):
    """So that the small file is no fancy of ours."""
    pixels, fine = write_cifar100_python(tmp_path)
    with (tmp_path / "cifar-100-python" / "test").open("rb") as file:
        found = pickle.load(file, encoding="bytes")  # noqa: S301 - written a moment ago
    assert found[b"fine_labels"] == fine
    np.testing.assert_array_equal(found[b"data"], pixels)


def test_cifar10_in_five_files(tmp_path):
    pixels, fine = write_cifar100_python(tmp_path)
    written = (tmp_path / "cifar-100-python" / "test").read_bytes().replace(b"U\x0bfine_labels", b"U\x06labels")
    (tmp_path / "cifar-10-batches-py").mkdir()
    for place in range(1, 6):
        (tmp_path / "cifar-10-batches-py" / f"data_batch_{place}").write_bytes(written)
    images = read_cifar10(tmp_path, train=True)
    assert images.labels.tolist() == 5 * fine and images.pixels.shape == (5 * len(pixels), 3, 32, 32)


class Hostile:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def test_nothing_is_run(tmp_path):
    trace, path = tmp_path / "trace", tmp_path / "test"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        path.write_bytes(pickle.dumps({"data": Hostile(str(trace))}, protocol))
        with pytest.raises(CannotReproduce, match=r"must be a file of CIFAR's Python version; .* names .*open"):
            read_batch(path, b"fine_labels")
    assert not trace.exists()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"text",
        pickle.dumps([1]),
        pickle.dumps({b"data": 3, b"fine_labels": [1]}),
        pickle.dumps({b"fine_labels": [1]}),
        b"\x80\x02cnumpy\nndarray\n}b.",  # a state for the stand-in itself
    ],
)
def test_other_files_are_refused_in_a_sentence(tmp_path, data):
    path = tmp_path / "test"
    path.write_bytes(data)
    with pytest.raises(CannotReproduce, match="must be a file of CIFAR's Python version"):
        read_batch(path, b"fine_labels")


def test_other_shapes_are_refused(tmp_path):
    write_cifar100_python(tmp_path)
    path = tmp_path / "cifar-100-python" / "test"
    whole = path.read_bytes()
    path.write_bytes(whole.replace((3072).to_bytes(4, "little") + b"t", (3071).to_bytes(4, "little") + b"t"))
    with pytest.raises(CannotReproduce, match=r"its data are b'u1' \(4, 3071\), not bytes \(items, 3072\)"):
        read_batch(path, b"fine_labels")
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CannotReproduce):
        read_batch(path, b"fine_labels")
