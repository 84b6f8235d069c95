"""ImageNet is read from folders of JPEGs, a batch at a time."""

import shutil

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("PIL")

import torch
from scipy.io import savemat

import consilience as cs
from consilience.experiments import augmentation
from consilience.experiments.examples import Examples
from consilience.experiments.imagenet import read_imagenet, read_imagenet_c
from consilience.experiments.jpegs import JpegFiles

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
    with pytest.raises(cs.InvalidPredictions, match="must have folders by class, or the development kit"):
        read_imagenet(tmp_path, train=False)
    write_kit(tmp_path, [1, 2, 3, 2])
    images = read_imagenet(tmp_path, train=False)
    assert images.labels.tolist() == [2, 0, 1, 0]
    np.testing.assert_allclose(color_of(images.pixels[np.array([3, 0])]), [COLORS[0], COLORS[2]], atol=6)
    shutil.rmtree(tmp_path / "train")  # who takes published weights needs no training images
    assert read_imagenet(tmp_path, train=False).labels.tolist() == [2, 0, 1, 0]
    (tmp_path / "val" / "ILSVRC2012_val_00000005.JPEG").write_bytes(b"")
    with pytest.raises(cs.InvalidPredictions, match="a line for each of the 5 images; it has 4"):
        read_imagenet(tmp_path, train=False)


@pytest.mark.parametrize("group", ["", "weather"])
def test_imagenet_c(tmp_path, group):
    write_by_class(tmp_path / "imagenet" / "val")
    assert read_imagenet_c(tmp_path, "fog", 2) is None
    write_by_class(tmp_path / "ImageNet-C" / group / "fog" / "2", n_each=1)
    assert read_imagenet_c(tmp_path, "fog", 2).labels.tolist() == [0, 1, 2]
    assert read_imagenet_c(tmp_path, "fog", 3) is None
    write_jpeg(tmp_path / "ImageNet-C" / group / "fog" / "2" / "n999" / "x.JPEG", COLORS[0])
    with pytest.raises(cs.InvalidPredictions, match="folders of known classes; got 'n999'"):
        read_imagenet_c(tmp_path, "fog", 2)


def test_what_is_no_image_is_said(tmp_path):
    path = tmp_path / "x.JPEG"
    path.write_bytes(b"not an image")
    with pytest.raises(cs.InvalidPredictions, match="x.JPEG must be an image; it could not be read"):
        JpegFiles((path,))[np.array([0])]
    with pytest.raises(cs.InvalidPredictions, match="must hold train/WNID"):
        read_imagenet(tmp_path, train=True)


def test_the_middle_is_kept(tmp_path):
    from PIL import Image

    picture = np.zeros((256, 512, 3), np.uint8)
    picture[:, 128:384] = 255  # the middle half is white
    Image.fromarray(picture).save(tmp_path / "wide.jpg", quality=95)
    pixels = JpegFiles((tmp_path / "wide.jpg",))[np.array([0])]
    assert pixels.min() > 0.95
    exact = np.random.default_rng(0).integers(256, size=(224, 224, 3), dtype=np.uint8)
    Image.fromarray(exact).save(tmp_path / "exact.png")
    as_it_is = JpegFiles((tmp_path / "exact.png",))[np.array([0])][0]
    np.testing.assert_allclose(as_it_is, exact.transpose(2, 0, 1) / 255, rtol=1e-6)


def test_random_parts_lie_inside_and_follow_the_seed(tmp_path):
    boxes = [augmentation.random_box(500, 375, draws) for draws in augmentation.draw_crops(300)]
    areas = np.array([(right - left) * (bottom - top) for left, top, right, bottom in boxes]) / (500 * 375)
    ratios = np.array([(right - left) / (bottom - top) for left, top, right, bottom in boxes])
    assert all(0 <= left < right <= 500 and 0 <= top < bottom <= 375 for left, top, right, bottom in boxes)
    assert 0.07 < areas.min() < 0.2 and areas.max() > 0.8
    assert 0.73 < ratios.min() < 0.8 and 1.25 < ratios.max() < 1.36
    assert augmentation.random_box(1000, 10, augmentation.draw_crops(1)[0] * 0 + 0.99) == (493, 0, 506, 10)
    write_by_class(tmp_path / "train")
    examples = Examples(read_imagenet(tmp_path, train=True))
    seen = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        seen.append(examples.batch(torch.tensor([5, 0]), "resize-crop-flip"))
    assert seen[0].shape == (2, 3, 224, 224) and torch.equal(seen[0], seen[1])
    np.testing.assert_allclose(color_of(seen[2].numpy()), [COLORS[2], COLORS[0]], atol=6)
