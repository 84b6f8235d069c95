"""Images on the disk: cropped, scaled and read a batch at a time."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("PIL")

from paper.errors import CannotReproduce
from paper.jpegs import JpegFiles

from small_data import COLORS, WNIDS, write_by_class


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


@pytest.fixture
def files(tmp_path):
    """A red, a green and a blue image."""
    write_by_class(tmp_path, n_each=1)
    return JpegFiles(tuple(tmp_path / wnid / f"{wnid}_0.JPEG" for wnid in WNIDS))


def test_random_parts_follow_the_seed_and_their_places(files):
    seen = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        seen.append(files.cropped_at_random(np.array([2, 0])))
    assert seen[0].shape == (2, 3, 224, 224)
    np.testing.assert_array_equal(seen[0], seen[1])
    np.testing.assert_allclose(seen[2].mean(axis=(2, 3)) * 255, [COLORS[2], COLORS[0]], atol=6)


def test_a_slice_is_fewer_files_and_reads_none(files):
    fewer = files[1:]
    assert isinstance(fewer, JpegFiles) and fewer.paths == files.paths[1:]
    for path in files.paths:
        path.unlink()
    assert len(files[:2]) == 2


def test_what_is_no_image_is_said(tmp_path):
    path = tmp_path / "x.JPEG"
    path.write_bytes(b"not an image")
    with pytest.raises(CannotReproduce, match="x.JPEG must be an image; it could not be read"):
        JpegFiles((path,))[np.array([0])]
