"""Corruptions against slow references, one image at a time, and against what their names promise."""

import numpy as np
import pytest
from scipy import ndimage

Image = pytest.importorskip("PIL.Image")
pytest.importorskip("torch")

from paper import corruptions
from paper.corruptions import CORRUPTIONS, corrupted
from paper.errors import CannotReproduce

RNG = np.random.default_rng(0)
SMOOTH = ndimage.gaussian_filter(RNG.random((12, 3, 32, 32)), (0, 0, 2, 2))
IMAGES = (np.round(255 * (SMOOTH - SMOOTH.min()) / np.ptp(SMOOTH)) / 255).astype(np.float32)


@pytest.fixture(scope="module")
def frost(tmp_path_factory):
    folder = tmp_path_factory.mktemp("frost")
    for number in range(1, 7):
        noise = np.random.default_rng(number).integers(256, size=(300, 400, 3), dtype=np.uint8)
        Image.fromarray(noise).save(folder / f"frost{number}.png")
    return folder


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_images_stay_images_and_draws_repeat(name, frost):
    before = IMAGES.copy()
    for severity in (1, 5):
        made = corrupted(IMAGES, name, severity, frost_dir=frost)
        assert made.shape == IMAGES.shape and made.dtype == np.float32
        assert made.min() >= 0 and made.max() <= 1
        np.testing.assert_allclose(made * 255, np.round(made * 255), atol=1e-3)
        assert np.abs(made - IMAGES).mean() > 1e-3
        np.testing.assert_array_equal(made, corrupted(IMAGES, name, severity, frost_dir=frost))
    np.testing.assert_array_equal(IMAGES, before)


@pytest.mark.parametrize(
    "name", [name for name in CORRUPTIONS if name not in ("glass_blur", "frost", "elastic_transform")]
)
def test_severity_grows(name, frost):
    change = [np.abs(corrupted(IMAGES, name, s, frost_dir=frost) - IMAGES).mean() for s in (1, 3, 5)]
    assert change[0] < change[1] < change[2]


def test_noise_has_the_published_scale():
    flat = np.full((50, 3, 32, 32), 0.5)
    assert np.std(corruptions._gaussian_noise(flat, 4, RNG) - flat) == pytest.approx(0.10, rel=0.02)
    assert np.var(corruptions._shot_noise(flat, 4, RNG)) == pytest.approx(0.5 / 50, rel=0.03)
    hit = corruptions._impulse_noise(flat, 4, RNG)
    assert (hit != flat).mean() == pytest.approx(0.07, rel=0.03) and set(np.unique(hit)) == {0, 0.5, 1}


def test_zoom_is_scipys():
    for factor in (1.0, 1.05, 1.25, 2.25):
        inner = int(np.ceil(32 / factor))
        top = (32 - inner) // 2
        crop = IMAGES[0, 0, top : top + inner, top : top + inner].astype(float)
        large = ndimage.zoom(crop, factor, order=1)
        trim = (len(large) - 32) // 2
        expected = large[trim : trim + 32, trim : trim + 32]
        np.testing.assert_allclose(corruptions._zoomed(IMAGES.astype(float), factor)[0, 0], expected, atol=1e-9)


def test_sampling_is_scipys():
    x = IMAGES.astype(float)
    rows, columns = RNG.uniform(-5, 37, size=(2, len(x), 32, 32))
    for mode in ("mirror", "reflect"):
        made = corruptions._sampled(x, rows, columns, mode=mode)
        for item in (0, 7):
            expected = ndimage.map_coordinates(x[item, 1], [rows[item], columns[item]], order=1, mode=mode)
            np.testing.assert_allclose(made[item, 1], expected, atol=1e-9)


def test_brightness_raises_the_value_alone():
    import colorsys

    pixel = np.array([0.2, 0.5, 0.3]).reshape(1, 3, 1, 1)
    hue, saturation, value = colorsys.rgb_to_hsv(*pixel.ravel())
    expected = colorsys.hsv_to_rgb(hue, saturation, value + 0.3)
    np.testing.assert_allclose(corruptions._brightness(pixel, 4, RNG).ravel(), expected)
    np.testing.assert_allclose(corruptions._brightness(0 * pixel, 4, RNG).ravel(), 0.3)


def test_motion_blur_of_a_point_is_half_a_gaussian():
    point = np.zeros((1, 1, 32, 32))
    point[0, 0, 16, 16] = 1
    line = corruptions._moved(point, 6, 2.0, np.array([0.0]))[0, 0]
    weights = np.exp(-(np.arange(13) ** 2) / 8)
    np.testing.assert_allclose(line[16, 4:17][::-1], weights / weights.sum())
    assert line.sum() == pytest.approx(1)


def test_clouds_are_all_different_and_fill_the_range():
    clouds = corruptions._plasma(5, 2.0, np.random.default_rng(0))
    assert clouds.min(axis=(1, 2)).tolist() == [0] * 5 and clouds.max(axis=(1, 2)).tolist() == [1] * 5
    assert np.corrcoef(clouds.reshape(5, -1))[np.triu_indices(5, 1)].max() < 0.9


def test_glass_blur_moves_pixels_by_at_most_one_a_step():
    made = corruptions._glass_blur(IMAGES.astype(float), 0, np.random.default_rng(0))
    assert np.abs(made - IMAGES).max() < 0.5
    assert np.isin(np.round(made * 255), np.round(IMAGES * 255)).mean() > 0.9


def test_one_sentence_says_what_is_wrong(tmp_path):
    with pytest.raises(CannotReproduce, match="corruption must be one of gaussian_noise"):
        corrupted(IMAGES, "rain", 1)
    with pytest.raises(CannotReproduce, match="severity must be 1, 2, 3, 4 or 5; got 6"):
        corrupted(IMAGES, "fog", 6)
    with pytest.raises(CannotReproduce, match="frost needs the photographs"):
        corrupted(IMAGES, "frost", 1, frost_dir=tmp_path)


def test_photographs_of_frost_shrink_as_cv2_shrinks_them(tmp_path):
    """cv2's linear interpolation does not smooth: at a fifth it takes the middle of each five pixels."""
    noise = np.random.default_rng(0).integers(256, size=(203, 251, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "frost1.png")
    (texture,) = corruptions._frost_textures(tmp_path)
    np.testing.assert_array_equal(texture[:, :40, :50], noise.transpose(2, 0, 1)[:, 2:202:5, 2:252:5] / 255)
    assert texture.shape == (3, 41, 50)  # 40.6 rows, rounded; the last is the edge's
    np.testing.assert_array_equal(texture[:, 40], noise.transpose(2, 0, 1)[:, 202, 2:252:5] / 255)
