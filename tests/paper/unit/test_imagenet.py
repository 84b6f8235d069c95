"""ImageNet is read from folders of JPEGs."""

import shutil

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("PIL")

from scipy.io import savemat

from paper.errors import CannotReproduce
from paper.imagenet import read_imagenet, read_imagenet_c
from paper.jpegs import JpegFiles

from small_data import COLORS, WNIDS, write_by_class, write_jpeg


def color_of(pixels):
    return pixels.mean(axis=(2, 3)) * 255


def test_folders_by_class(tmp_path):
    for part in ("train", "val"):
        write_by_class(tmp_path / part)
    for train in (True, False):
        images = read_imagenet(tmp_path, train=train)
        assert images.labels.tolist() == [0, 1, 2, 0, 1, 2]  # the first so many are of all classes
        np.testing.assert_allclose(color_of(images.pixels[np.arange(6)]), COLORS * 2, atol=6)
        assert images.pixels[np.arange(2)].shape == (2, 3, 224, 224)
        assert len(images.first(4).pixels) == 4 and isinstance(images.first(4).pixels, JpegFiles)


def write_kit(folder, numbers):
    """The development kit's own numbers of the classes, in another order than the alphabet's; the last is no leaf."""
    kit = folder / "ILSVRC2012_devkit_t12" / "data"
    kit.mkdir(parents=True)
    (kit / "ILSVRC2012_validation_ground_truth.txt").write_text("\n".join(map(str, numbers)) + "\n")
    kinds = [("ILSVRC2012_ID", float), ("WNID", object), ("words", object), ("num_children", float)]
    rows = [(1, WNIDS[2], "c", 0), (2, WNIDS[0], "a", 0), (3, WNIDS[1], "b", 0), (4, "n0", "all", 3)]
    savemat(kit / "meta.mat", {"synsets": np.array(rows, dtype=kinds)[:, None]})


def test_validation_images_with_the_ground_truth_of_the_kit(tmp_path):
    write_by_class(tmp_path / "train")
    for number, color in enumerate((COLORS[2], COLORS[0], COLORS[1], COLORS[0]), start=1):
        write_jpeg(tmp_path / "val" / f"ILSVRC2012_val_{number:08}.JPEG", color)
    with pytest.raises(CannotReproduce, match="must have folders by class, or the development kit"):
        read_imagenet(tmp_path, train=False)
    write_kit(tmp_path, [1, 2, 3, 2])
    images = read_imagenet(tmp_path, train=False)
    assert images.labels.tolist() == [2, 0, 1, 0]
    np.testing.assert_allclose(color_of(images.pixels[np.array([3, 0])]), [COLORS[0], COLORS[2]], atol=6)
    shutil.rmtree(tmp_path / "train")  # who takes published weights needs no training images
    assert read_imagenet(tmp_path, train=False).labels.tolist() == [2, 0, 1, 0]
    (tmp_path / "val" / "ILSVRC2012_val_00000005.JPEG").write_bytes(b"")
    with pytest.raises(CannotReproduce, match="a line for each of the 5 images; it has 4"):
        read_imagenet(tmp_path, train=False)


@pytest.mark.parametrize("group", ["", "weather"])
def test_imagenet_c(tmp_path, group):
    write_by_class(tmp_path / "imagenet" / "val")
    assert read_imagenet_c(tmp_path, "fog", 2) is None
    write_by_class(tmp_path / "ImageNet-C" / group / "fog" / "2", n_each=1)
    assert read_imagenet_c(tmp_path, "fog", 2).labels.tolist() == [0, 1, 2]
    assert read_imagenet_c(tmp_path, "fog", 3) is None
    write_jpeg(tmp_path / "ImageNet-C" / group / "fog" / "2" / "n999" / "x.JPEG", COLORS[0])
    with pytest.raises(CannotReproduce, match="folders of known classes; got 'n999'"):
        read_imagenet_c(tmp_path, "fog", 2)


def test_a_folder_that_holds_none_of_it(tmp_path):
    with pytest.raises(CannotReproduce, match="must hold train/WNID"):
        read_imagenet(tmp_path, train=True)
