"""Data sets are read from small files in their published formats."""

import gzip

import numpy as np
import pytest

pytest.importorskip("torch")

from paper import datasets
from paper.errors import CannotReproduce


def idx(array):
    return b"\x00\x00\x08" + bytes([array.ndim]) + np.array(array.shape, ">u4").tobytes() + array.tobytes()


@pytest.mark.parametrize("suffix", ["-ubyte", "-ubyte.gz"])
def test_mnist(tmp_path, suffix):
    images = np.arange(2 * 28 * 28, dtype=np.uint32).astype(np.uint8).reshape(2, 28, 28)
    for name, array in (("t10k-images-idx3", images), ("t10k-labels-idx1", np.array([7, 2], np.uint8))):
        data = idx(array)
        (tmp_path / f"{name}{suffix}").write_bytes(gzip.compress(data) if suffix.endswith("gz") else data)
    read = datasets.read_mnist(tmp_path, train=False)
    np.testing.assert_allclose(read.pixels[:, 0], images / 255, rtol=1e-6)
    assert read.labels.tolist() == [7, 2]
    with pytest.raises(CannotReproduce, match="must hold train-images-idx3-ubyte"):
        datasets.read_mnist(tmp_path, train=True)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "must be an IDX file"),
        (b"\x00\x00\x0d\x01", "must be an IDX file"),
        (idx(np.zeros(3, np.uint8))[:-1], "3 values"),
    ],
)
def test_idx_files_that_are_none(tmp_path, data, message):
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(CannotReproduce, match=message):
        datasets.read_idx(tmp_path / "x")


def test_cifar(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.integers(256, size=(4, 3074), dtype=np.uint8)
    (tmp_path / "cifar-100-binary").mkdir()
    (tmp_path / "cifar-100-binary" / "test.bin").write_bytes(rows.tobytes())
    read = datasets.read_cifar100(tmp_path, train=False)
    assert read.labels.tolist() == rows[:, 1].tolist()  # the fine label
    np.testing.assert_allclose(read.pixels[2, 1, 3, 5], rows[2, 2 + 1024 + 3 * 32 + 5] / 255, rtol=1e-6)
    (tmp_path / "cifar-10-batches-bin").mkdir()
    (tmp_path / "cifar-10-batches-bin" / "test_batch.bin").write_bytes(rows[:, 1:].tobytes())
    assert datasets.read_cifar10(tmp_path, train=False).labels.tolist() == rows[:, 1].tolist()
    (tmp_path / "cifar-10-batches-bin" / "test_batch.bin").write_bytes(b"123")
    with pytest.raises(CannotReproduce, match="rows of 3073 bytes; it has 3 bytes"):
        datasets.read_cifar10(tmp_path, train=False)


def test_svhn(tmp_path):
    from scipy.io import savemat

    images = np.random.default_rng(0).integers(256, size=(32, 32, 3, 2), dtype=np.uint8)
    savemat(tmp_path / "test_32x32.mat", {"X": images, "y": np.array([[10], [3]], np.uint8)})
    read = datasets.read_svhn(tmp_path, train=False)
    assert read.labels.tolist() == [0, 3]
    np.testing.assert_allclose(read.pixels[1, 2, 4, 5], images[4, 5, 2, 1] / 255, rtol=1e-6)


def test_published_corruptions(tmp_path):
    assert datasets.published_file(tmp_path, "cifar10", "fog") is None
    (tmp_path / "CIFAR-10-C").mkdir()
    images = np.random.default_rng(0).integers(256, size=(10, 32, 32, 3), dtype=np.uint8)
    np.save(tmp_path / "CIFAR-10-C" / "fog.npy", images)
    path = datasets.published_file(tmp_path, "cifar10", "fog")
    assert datasets.published_file(tmp_path, "mnist", "fog") is None
    read = datasets.published_corruption(path, 3)
    np.testing.assert_allclose(read, images[4:6].transpose(0, 3, 1, 2) / 255, rtol=1e-6)
    np.save(tmp_path / "CIFAR-10-C" / "fog.npy", images[:9])
    with pytest.raises(CannotReproduce, match="must be bytes"):
        datasets.published_corruption(path, 3)
