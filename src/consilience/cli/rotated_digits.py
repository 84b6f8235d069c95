"""An ensemble of real classifiers meets data that drifts; every method fuses it without labels.

Six classifiers are trained on scikit-learn's handwritten digits. Then the test digits are rotated further and
further. No method sees a label of the rotated digits; the labels are held back to score the answers afterwards.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.predictions import Predictions
from consilience.insight.comparison import compare
from consilience.system.progress import Progress

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.system.arrays import FloatArray
    from consilience.system.tables import Table

ANGLES = (0, 15, 30, 45)


class Shift(NamedTuple):
    """The test digits at one angle: what the members say, the truth, and how each method scores."""

    angle: int
    predictions: Predictions
    labels: npt.NDArray[np.intp]
    scores: Table


def run(progress: Progress | None = None) -> list[Shift]:
    """Train, rotate, fuse, score; report progress."""
    from sklearn.datasets import load_digits  # noqa: PLC0415 - only the demo needs it
    from sklearn.model_selection import train_test_split  # noqa: PLC0415

    images, labels = load_digits(return_X_y=True)
    images = images / images.max()
    train, test, train_labels, truth = train_test_split(images, labels, test_size=0.5, random_state=0, stratify=labels)
    members = untrained_members()
    progress = progress or Progress()
    progress.expect(len(members) + len(ANGLES))
    for name, member in members.items():
        progress.begin(f"training: {name}")
        _fit(member, train, train_labels)
        progress.finish()
    shifts = []
    for angle in ANGLES:
        progress.begin(f"fusing: {angle}°")
        turned = rotated(test, angle)
        predictions = Predictions({name: member.predict_proba(turned) for name, member in members.items()})
        shifts.append(Shift(angle, predictions, truth, compare(predictions, truth)))
        progress.finish()
    return shifts


def _fit(member: Any, images: FloatArray, labels: npt.NDArray[np.intp]) -> None:
    """Train a member; an interrupt, which scikit-learn's networks turn into a warning, stops the demo."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Training interrupted by user")
        try:
            member.fit(images, labels)
        except UserWarning as error:
            raise KeyboardInterrupt from error


def untrained_members() -> dict[str, Any]:
    """Classifiers that differ: two networks, a linear model, neighbours, a forest, naive Bayes."""
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415 - only the demo needs them
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
    from sklearn.naive_bayes import GaussianNB  # noqa: PLC0415
    from sklearn.neighbors import KNeighborsClassifier  # noqa: PLC0415
    from sklearn.neural_network import MLPClassifier  # noqa: PLC0415

    return {
        "network, wide": MLPClassifier((128,), learning_rate_init=0.005, max_iter=500, random_state=0),
        "network, narrow": MLPClassifier((24,), learning_rate_init=0.005, max_iter=500, random_state=1),
        "logistic": LogisticRegression(max_iter=500),
        "neighbors": KNeighborsClassifier(10),
        "forest": RandomForestClassifier(200, random_state=0),
        "naive Bayes": GaussianNB(var_smoothing=0.1),
    }


def rotated(images: FloatArray, angle: float) -> FloatArray:
    """The flat 8 × 8 images, each turned by the angle."""
    from scipy import ndimage  # noqa: PLC0415 - only the demo needs it

    square = images.reshape(-1, 8, 8)
    turned = ndimage.rotate(square, angle, axes=(1, 2), reshape=False, order=1)
    return np.asarray(np.clip(turned, 0, 1).reshape(len(images), -1))
