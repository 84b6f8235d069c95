"""Small data sets in the formats that the real ones have."""

import gzip

import numpy as np


def write_mnist(folder, seed=0, n_train=96, n_test=40):
    """Two classes of bars, upright and lying, as IDX files."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    for part, n_items in (("train", n_train), ("t10k", n_test)):
        labels = rng.integers(2, size=n_items).astype(np.uint8)
        images = rng.integers(60, size=(n_items, 28, 28)).astype(np.uint8)
        images[labels == 0, :, 12:16] = 255
        images[labels == 1, 12:16, :] = 255
        for kind, array in (("images-idx3", images), ("labels-idx1", labels)):
            data = b"\x00\x00\x08" + bytes([array.ndim]) + np.array(array.shape, ">u4").tobytes() + array.tobytes()
            (folder / f"{part}-{kind}-ubyte.gz").write_bytes(gzip.compress(data))


def write_cifar(folder, n_labels, seed=0, n_items=12):
    """Noise, as the binary version has it: labels of the first classes, then pixels."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(256, size=(n_items, n_labels + 3072), dtype=np.uint8)
    rows[:, :n_labels] = rng.integers(3, size=(n_items, n_labels))
    names = [f"data_batch_{place}.bin" for place in range(1, 6)] + ["test_batch.bin"]
    inside = folder / ("cifar-10-batches-bin" if n_labels == 1 else "cifar-100-binary")
    inside.mkdir(parents=True)
    for name in names if n_labels == 1 else ["train.bin", "test.bin"]:
        (inside / name).write_bytes(rows.tobytes())


def write_jpeg(path, color, size=(40, 30)):
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, color).save(path, "JPEG", quality=95)


WNIDS = ("n01440764", "n01443537", "n01484850")
COLORS = ((250, 10, 10), (10, 250, 10), (10, 10, 250))


def write_by_class(folder, n_each=2):
    """Red, green and blue images in folders of their classes."""
    for wnid, color in zip(WNIDS, COLORS, strict=True):
        for number in range(n_each):
            write_jpeg(folder / wnid / f"{wnid}_{number}.JPEG", color)
