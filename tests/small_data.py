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


def write_cifar100_python(folder, n_items=4):
    """The Python version as Python 2 wrote it, opcode by opcode; its pixels and fine labels."""
    pixels = np.arange(n_items * 3072).astype(np.uint8).reshape(n_items, 3072)
    fine = list(range(n_items))

    def text(value):
        return b"U" + bytes([len(value)]) + value

    def number(value):
        return b"J" + value.to_bytes(4, "little", signed=True)

    kind = b"cnumpy\ndtype\n(" + text(b"u1") + number(0) + number(1) + b"tR"
    kind += b"(" + number(3) + text(b"|") + b"NNN" + number(-1) + number(-1) + number(0) + b"tb"
    array = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(" + number(0) + b"t" + text(b"b") + b"tR"
    content = b"T" + pixels.size.to_bytes(4, "little") + pixels.tobytes()
    array += b"(" + number(1) + b"(" + number(n_items) + number(3072) + b"t" + kind + b"I00\n" + content + b"tb"
    labels = b"](" + b"".join(map(number, fine)) + b"e"
    inside = folder / "cifar-100-python"
    inside.mkdir(parents=True)
    for name in ("train", "test"):
        items = text(b"data") + array + text(b"fine_labels") + labels + text(b"coarse_labels") + labels
        (inside / name).write_bytes(b"\x80\x02}(" + items + b"u.")
    return pixels, fine


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
