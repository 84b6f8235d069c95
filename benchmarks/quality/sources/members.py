"""Members trained here: small networks and scikit-learn's classifiers, unequal on purpose, and what they say.

Networks go on where a kill left them; what a member says of a view is computed once and kept as a .npy file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.quality.sources.images import training_images
from consilience.system.atomic import whole_file
from paper.datasets import Images

Answer = Callable[[np.ndarray], np.ndarray]  # images -> (items, classes)


@dataclass(frozen=True)
class Member:
    """A classifier before its training."""

    data: str
    architecture: str  # "cnn", "mlp", "logistic", "forest", "neighbors", "bayes"
    width: int
    n_images: int
    epochs: int
    seed: int
    first: int = 0  # where its training images begin
    flaw: str = ""  # "permuted": taught wrong names; "lacks-2": saw few images of three classes, from 2 on

    @property
    def name(self) -> str:
        """For files; it says everything."""
        parts = [self.architecture, self.width, self.n_images, self.epochs, self.seed, self.first, self.flaw]
        return "-".join([self.data, *(str(part) for part in parts if part != "")])

    @property
    def is_network(self) -> bool:
        """Whether torch trains it."""
        return self.architecture in {"cnn", "mlp"}


def said(member: Member, images: np.ndarray, view: str, *, data_dir: Path, work_dir: Path) -> np.ndarray:
    """(items, classes): a member's probabilities of the images of a view, computed once."""
    path = work_dir / "predictions" / member.name / f"{view}.npy"
    if path.exists():
        return np.load(path, allow_pickle=False)
    answers = trained(member, data_dir, work_dir)(images).astype(np.float32)
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        np.save(file, answers, allow_pickle=False)
    return answers


@lru_cache(maxsize=32)
def trained(member: Member, data_dir: Path, work_dir: Path) -> Answer:
    """The member, trained."""
    pixels, labels = taught(member, data_dir)
    if member.is_network:
        return _trained_network(member, pixels, labels, work_dir)
    model = _classifier(member).fit(pixels.reshape(len(pixels), -1), labels)
    return lambda images: model.predict_proba(images.reshape(len(images), -1))


def taught(member: Member, data_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """The images and labels that a member learns from, flaws included."""
    images = training_images(member.data, data_dir)
    places = (member.first + np.arange(len(images.labels))) % len(images.labels)
    pixels, labels = images.pixels[places], images.labels[places]
    if member.flaw == "permuted":
        labels = np.random.default_rng(member.seed).permutation(10)[labels]
    elif member.flaw:
        lacking = (int(member.flaw.removeprefix("lacks-")) * 3 + np.arange(3)) % 10
        is_rare = np.isin(labels, lacking)
        is_kept = ~is_rare | (np.random.default_rng(member.seed).random(len(labels)) < 0.03)
        pixels, labels = pixels[is_kept], labels[is_kept]
    return pixels[: member.n_images], labels[: member.n_images]


def _classifier(member: Member) -> Any:
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415 - only where something is left to train
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
    from sklearn.naive_bayes import GaussianNB  # noqa: PLC0415
    from sklearn.neighbors import KNeighborsClassifier  # noqa: PLC0415

    return {
        "logistic": LogisticRegression(C=0.02, max_iter=500),
        "forest": RandomForestClassifier(100, random_state=member.seed, max_features="sqrt"),
        "neighbors": KNeighborsClassifier(10),
        "bayes": GaussianNB(var_smoothing=0.1),
    }[member.architecture]


def _trained_network(member: Member, pixels: np.ndarray, labels: np.ndarray, work_dir: Path) -> Answer:
    import torch  # noqa: PLC0415 - scikit-learn's members need none

    from paper.examples import Examples  # noqa: PLC0415
    from paper.recipes import Recipe  # noqa: PLC0415
    from paper.training import predict, train_member  # noqa: PLC0415

    def as_seen(pixels: np.ndarray, labels: np.ndarray) -> Examples:
        return Examples(Images(pixels, labels), (0.5,), (0.5,))

    torch.set_num_threads(1)  # networks this small are slower on more
    path = work_dir / "members" / f"{member.name}.pt"
    path.parent.mkdir(parents=True, exist_ok=True)
    n_channels, size, _ = pixels.shape[1:]
    network = train_member(
        lambda: _network(member, n_channels, size),
        as_seen(pixels, labels),
        Recipe(member.epochs, 50, "adamw", 2e-3),
        seed=member.seed,
        path=path,
    )
    return lambda images: predict(network, as_seen(images, np.zeros(len(images), dtype=np.int64))).numpy()


def _network(member: Member, n_channels: int, size: int) -> Any:
    from torch import nn  # noqa: PLC0415

    width = member.width
    if member.architecture == "mlp":
        layers = [nn.Flatten(), nn.Linear(n_channels * size**2, width), nn.ReLU(), nn.Linear(width, 10)]
        return nn.Sequential(*layers)
    layers = []
    for n_in, n_out in ((n_channels, width), (width, 2 * width), (2 * width, 4 * width)):
        layers += [nn.Conv2d(n_in, n_out, 3, 2 if size == 28 or layers else 1, 1), nn.BatchNorm2d(n_out), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(64 * width, 10))
