"""The 15 corruptions × 5 severities of Hendrycks and Dietterich (2019), with their constants for 32 × 32 images.

Published as CIFAR-10-C and CIFAR-100-C; made here where those files are absent. The library at hand, imagecorruptions,
has the constants of ImageNet-C and treats one image at a time; these treat all images of an array at once. Randomness
is drawn differently than theirs was, so images differ from the published ones as two draws do.

Images are (items, 3, 32, 32) in [0, 1], and leave as bytes do: rounded down to multiples of 1/255.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import ndimage

from paper.errors import CannotReproduce

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy.typing as npt

    Pixels = npt.NDArray[Any]
    Corruption = Callable[..., Pixels]  # images, severity from 0, a generator

AT_ONCE = 2000
"""So many images are treated at a time."""


def corrupted(images: Pixels, name: str, severity: int, *, seed: int = 0, frost_dir: Path | None = None) -> Pixels:
    """The images under a corruption of severity 1 to 5."""
    if name not in CORRUPTIONS:
        raise CannotReproduce(f"corruption must be one of {', '.join(CORRUPTIONS)}; got {name!r}")
    if severity not in (1, 2, 3, 4, 5):
        raise CannotReproduce(f"severity must be 1, 2, 3, 4 or 5; got {severity!r}")
    rng = np.random.default_rng([seed, list(CORRUPTIONS).index(name), severity])
    options = {"textures": _frost_textures(frost_dir)} if name == "frost" else {}
    result = np.empty_like(images)
    for start in range(0, len(images), AT_ONCE):
        new = CORRUPTIONS[name](images[start : start + AT_ONCE].astype(np.float64), severity - 1, rng, **options)
        result[start : start + AT_ONCE] = np.floor(np.clip(new, 0, 1) * 255 + 1e-6) / 255
    return result


# ---- noise ------------------------------------------------------------------------------------------------


def _gaussian_noise(x: Pixels, severity: int, rng: np.random.Generator) -> Pixels:
    return x + rng.normal(scale=(0.04, 0.06, 0.08, 0.09, 0.10)[severity], size=x.shape)


def _shot_noise(x: Pixels, severity: int, rng: np.random.Generator) -> Pixels:
    photons = (500, 250, 100, 75, 50)[severity]
    return np.asarray(rng.poisson(x * photons) / photons)


def _impulse_noise(x: Pixels, severity: int, rng: np.random.Generator) -> Pixels:
    """Salt and pepper on single values."""
    is_hit = rng.random(x.shape) < (0.01, 0.02, 0.03, 0.05, 0.07)[severity]
    return np.where(is_hit, rng.random(x.shape) < 0.5, x)


# ---- blur -------------------------------------------------------------------------------------------------


def _defocus_blur(x: Pixels, severity: int, _: np.random.Generator) -> Pixels:
    radius, alias = ((0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1, 0.2), (1.5, 0.1))[severity]
    line = np.arange(-8, 9)
    disk = (line[:, None] ** 2 + line[None, :] ** 2 <= radius**2).astype(float)
    smooth = np.exp(-0.5 * (np.arange(-1, 2) / alias) ** 2)
    smooth /= smooth.sum()
    kernel = ndimage.correlate(disk / disk.sum(), np.outer(smooth, smooth), mode="mirror")
    return np.asarray(ndimage.correlate(x, kernel[None, None], mode="mirror"))


def _glass_blur(x: Pixels, severity: int, rng: np.random.Generator) -> Pixels:
    """Pixels take the place of neighbours. Their swap overwrites one of the two before it is read, and so does this."""
    sigma, n_rounds = ((0.05, 1), (0.25, 1), (0.4, 1), (0.25, 2), (0.4, 2))[severity]
    x = np.floor(_gaussian(x, sigma) * 255) / 255
    items = np.arange(len(x))
    for _ in range(n_rounds):
        for row in range(31, 1, -1):
            for column in range(31, 1, -1):
                up, left = rng.integers(-1, 1, size=(2, len(x)))
                x[:, :, row, column] = x[items, :, row + up, column + left]
    return _gaussian(x, sigma)


def _gaussian(x: Pixels, sigma: float) -> Pixels:
    return np.asarray(ndimage.gaussian_filter(x, (0, 0, sigma, sigma), mode="nearest"))


def _motion_blur(x: Pixels, severity: int, rng: np.random.Generator) -> Pixels:
    radius, sigma = ((6, 1), (6, 1.5), (6, 2), (8, 2), (9, 2.5))[severity]
    return _moved(x, radius, sigma, rng.uniform(-45, 45, size=len(x)))


def _moved(x: Pixels, radius: int, sigma: float, degrees: npt.NDArray[Any]) -> Pixels:
    """ImageMagick's motion blur: half a Gaussian along each image's own direction, edges repeated."""
    steps = np.arange(2 * radius + 1)
    weights = np.exp(-(steps**2) / (2 * sigma**2))
    weights /= weights.sum()
    angle = np.deg2rad(degrees)
    items, size = np.arange(len(x))[:, None, None], x.shape[-1]
    result = np.zeros_like(x)
    for step, weight in zip(steps, weights, strict=True):
        down = np.ceil(step * np.sin(angle) - 0.5).astype(int)
        right = np.ceil(step * np.cos(angle) - 0.5).astype(int)
        rows = np.clip(np.arange(size) + down[:, None], 0, size - 1)[:, :, None]
        columns = np.clip(np.arange(size) + right[:, None], 0, size - 1)[:, None, :]
        result += weight * np.moveaxis(x[items, :, rows, columns], -1, 1)
    return result


def _zoom_blur(x: Pixels, severity: int, _: np.random.Generator) -> Pixels:
    factors = np.arange(1, (1.06, 1.11, 1.16, 1.21, 1.26)[severity], 0.01)
    return np.asarray((x + sum(_zoomed(x, factor) for factor in factors)) / (len(factors) + 1))


def _zoomed(x: Pixels, factor: float) -> Pixels:
    """The middle of the images, enlarged to their size."""
    size = x.shape[-1]
    inner = int(np.ceil(size / factor))
    top = (size - inner) // 2
    middle = x[:, :, top : top + inner, top : top + inner]
    places = np.linspace(0, inner - 1, round(inner * factor))
    trim = (len(places) - size) // 2
    between = np.stack([np.interp(places[trim : trim + size], np.arange(inner), row) for row in np.eye(inner)], axis=1)
    return np.asarray(between @ middle @ between.T)  # linear interpolation along rows, and along columns


# ---- weather ----------------------------------------------------------------------------------------------


def _snow(x: Pixels, severity: int, rng: np.random.Generator) -> Pixels:
    mean, scale, zoom, least, radius, sigma, share = (
        (0.1, 0.2, 1, 0.6, 8, 3, 0.95),
        (0.1, 0.2, 1, 0.5, 10, 4, 0.9),
        (0.15, 0.3, 1.75, 0.55, 10, 4, 0.9),
        (0.25, 0.3, 2.25, 0.6, 12, 6, 0.85),
        (0.3, 0.3, 1.25, 0.65, 14, 12, 0.8),
    )[severity]
    flakes = _zoomed(rng.normal(mean, scale, size=(len(x), 1, 32, 32)), zoom)
    flakes = np.clip(np.where(flakes < least, 0, flakes), 0, 1)
    flakes = _moved(flakes, int(radius), sigma, rng.uniform(-135, -45, size=len(x)))
    grey = (0.299 * x[:, 0] + 0.587 * x[:, 1] + 0.114 * x[:, 2])[:, None]
    pale = share * x + (1 - share) * np.maximum(x, 1.5 * grey + 0.5)
    return pale + flakes + flakes[:, :, ::-1, ::-1]


def _frost(x: Pixels, severity: int, rng: np.random.Generator, textures: list[Pixels]) -> Pixels:
    keep, add = ((1, 0.2), (1, 0.3), (0.9, 0.4), (0.85, 0.4), (0.75, 0.45))[severity]
    crops = []
    for _ in range(len(x)):
        texture = textures[rng.integers(min(5, len(textures)))]  # theirs never draws the sixth
        top, left = (rng.integers(size - 32) for size in texture.shape[1:])
        crops.append(texture[:, top : top + 32, left : left + 32])
    return np.asarray(keep * x + add * np.stack(crops))


FROST_NEEDS = (
    "frost needs the photographs frost1.png to frost6.jpg of Hendrycks and Dietterich in DATA/frost; the wheel "
    "of imagecorruptions holds them (pip download --no-deps imagecorruptions)"
)


def frost_photographs(folder: Path | None) -> list[Path]:
    """The files of frost."""
    return [] if folder is None else sorted(folder.glob("frost[1-6].*"))


def _frost_textures(folder: Path | None) -> list[Pixels]:
    """Photographs of frost, a fifth of their size, as cv2.resize(photograph, (0, 0), fx=0.2, fy=0.2) makes them.

    It does not smooth what it shrinks: at a fifth, its linear interpolation falls on the middle pixel of each five.
    """
    from PIL import Image  # noqa: PLC0415 - an extra

    paths = frost_photographs(folder)
    if not paths:
        raise CannotReproduce(FROST_NEEDS)
    textures = []
    for path in paths:
        with Image.open(path) as image:
            pixels = np.asarray(image.convert("RGB"), dtype=np.float64).transpose(2, 0, 1) / 255
        rows, columns = (np.minimum(5 * np.arange(round(size * 0.2)) + 2, size - 1) for size in pixels.shape[1:])
        textures.append(pixels[:, rows][:, :, columns])
    return textures


def _fog(x: Pixels, severity: int, rng: np.random.Generator) -> Pixels:
    density, decay = ((0.2, 3), (0.5, 3), (0.75, 2.5), (1, 2), (1.5, 1.75))[severity]
    brightest = x.max(axis=(1, 2, 3), keepdims=True)
    return np.asarray((x + density * _plasma(len(x), decay, rng)[:, None]) * brightest / (brightest + density))


def _plasma(n_images: int, decay: float, rng: np.random.Generator) -> Pixels:
    """Clouds (images, 32, 32) in [0, 1] by the diamond-square algorithm, on a torus."""
    clouds = np.zeros((n_images, 32, 32))
    step, wobble = 32, 100.0

    def mean(total: Pixels) -> Pixels:
        return np.asarray(total / 4 + wobble * rng.uniform(-wobble, wobble, size=total.shape))

    while step >= 2:
        half = step // 2
        corners = clouds[:, ::step, ::step]
        rows = corners + np.roll(corners, -1, axis=1)
        clouds[:, half::step, half::step] = mean(rows + np.roll(rows, -1, axis=2))
        centres = clouds[:, half::step, half::step]
        across = centres + np.roll(centres, 1, axis=1) + corners + np.roll(corners, -1, axis=2)
        clouds[:, ::step, half::step] = mean(across)
        down = centres + np.roll(centres, 1, axis=2) + corners + np.roll(corners, -1, axis=1)
        clouds[:, half::step, ::step] = mean(down)
        step, wobble = half, wobble / decay
    clouds -= clouds.min(axis=(1, 2), keepdims=True)
    return np.asarray(clouds / clouds.max(axis=(1, 2), keepdims=True))


def _brightness(x: Pixels, severity: int, _: np.random.Generator) -> Pixels:
    """The value of hue, saturation, value goes up; so colours are scaled, and black becomes grey."""
    value = x.max(axis=1, keepdims=True)
    brighter = np.clip(value + (0.05, 0.1, 0.15, 0.2, 0.3)[severity], 0, 1)
    return np.asarray(np.where(value > 0, x * brighter / np.maximum(value, 1e-12), brighter))


# ---- digital ----------------------------------------------------------------------------------------------


def _contrast(x: Pixels, severity: int, _: np.random.Generator) -> Pixels:
    mean = x.mean(axis=(2, 3), keepdims=True)
    return np.asarray((x - mean) * (0.75, 0.5, 0.4, 0.3, 0.15)[severity] + mean)


def _elastic(x: Pixels, severity: int, rng: np.random.Generator) -> Pixels:
    """A random affine map, then a smooth random displacement."""
    strength, sigma, reach = (
        (0, 0, 0.08),
        (0.05, 0.2, 0.07),
        (0.08, 0.06, 0.06),
        (0.1, 0.04, 0.05),
        (0.1, 0.03, 0.03),
    )[severity]
    rows, columns = np.mgrid[:32, :32].astype(np.float64)
    corners = np.array([[26.0, 26.0], [26.0, 6.0], [6.0, 6.0]])  # the middle ± a third of the size
    moved = corners + rng.uniform(-32 * reach, 32 * reach, size=(len(x), 3, 2))
    source = np.concatenate([moved, np.ones((len(x), 3, 1))], axis=2)
    back = np.linalg.solve(source, np.broadcast_to(corners, moved.shape))  # from where in the image each place comes
    flat = np.stack([columns.ravel(), rows.ravel(), np.ones(1024)], axis=1) @ back
    bent = _sampled(x, flat[..., 1].reshape(-1, 32, 32), flat[..., 0].reshape(-1, 32, 32), mode="mirror")
    noise = rng.uniform(-1, 1, size=(2, len(x), 32, 32))
    smooth = ndimage.gaussian_filter(noise, (0, 0, 32 * sigma, 32 * sigma), mode="reflect", truncate=3)
    across, down = 32 * strength * smooth
    return _sampled(bent, rows + down, columns + across, mode="reflect")


def _sampled(x: Pixels, rows: Pixels, columns: Pixels, *, mode: str) -> Pixels:
    """Images at fractional places, each its own, by bilinear interpolation."""
    items = np.arange(len(x))[:, None, None]
    top, left = np.floor(rows).astype(int), np.floor(columns).astype(int)
    down, right = (rows - top)[:, None], (columns - left)[:, None]

    def at(row: npt.NDArray[Any], column: npt.NDArray[Any]) -> Pixels:
        return np.moveaxis(x[items, :, _folded(row, mode), _folded(column, mode)], -1, 1)

    upper = (1 - right) * at(top, left) + right * at(top, left + 1)
    lower = (1 - right) * at(top + 1, left) + right * at(top + 1, left + 1)
    return np.asarray((1 - down) * upper + down * lower)


def _folded(place: npt.NDArray[Any], mode: str, size: int = 32) -> npt.NDArray[Any]:
    """Places outside the image folded back in: about the edge ("reflect") or about the outermost pixel ("mirror")."""
    period = 2 * size if mode == "reflect" else 2 * size - 2
    inside = np.mod(place, period)
    return np.asarray(np.where(inside < size, inside, (period - 1 if mode == "reflect" else period) - inside))


def _pixelate(x: Pixels, severity: int, _: np.random.Generator) -> Pixels:
    from PIL import Image  # noqa: PLC0415 - an extra

    small = int(32 * (0.95, 0.9, 0.85, 0.75, 0.65)[severity])

    def one(image: Image.Image) -> Image.Image:
        box = Image.Resampling.BOX
        return image.resize((small, small), box).resize((32, 32), box)

    return _each(x, one)


def _jpeg(x: Pixels, severity: int, _: np.random.Generator) -> Pixels:
    from PIL import Image  # noqa: PLC0415 - an extra

    quality = (80, 65, 58, 50, 40)[severity]

    def one(image: Image.Image) -> Image.Image:
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", quality=quality)
        return Image.open(buffer)

    return _each(x, one)


def _each(x: Pixels, change: Callable[[Any], Any]) -> Pixels:
    """Images changed one by one, as bytes."""
    from PIL import Image  # noqa: PLC0415 - an extra

    rows = np.round(x * 255).astype(np.uint8).transpose(0, 2, 3, 1)
    changed = np.stack([np.asarray(change(Image.fromarray(row))) for row in rows])
    return np.asarray(changed.transpose(0, 3, 1, 2) / 255)


CORRUPTIONS: dict[str, Corruption] = {
    "gaussian_noise": _gaussian_noise,
    "shot_noise": _shot_noise,
    "impulse_noise": _impulse_noise,
    "defocus_blur": _defocus_blur,
    "glass_blur": _glass_blur,
    "motion_blur": _motion_blur,
    "zoom_blur": _zoom_blur,
    "snow": _snow,
    "frost": _frost,
    "fog": _fog,
    "brightness": _brightness,
    "contrast": _contrast,
    "elastic_transform": _elastic,
    "pixelate": _pixelate,
    "jpeg_compression": _jpeg,
}
