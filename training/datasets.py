"""The panels of `cs.datasets`, made again from the data sets that scikit-learn brings along: seconds, one thread.

    python -m training.datasets

Probabilities are kept in half precision, votes as bytes. Another version of scikit-learn gives nearly the same answers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

import consilience

FOLDER = Path(consilience.__file__).parent / "datasets"
ANGLES = (0, 15, 30, 45)
LEAST_SURE = 0.9
"""A rule votes where at least so many of the training items on its side of the thresholds have one class."""
COPIED = ("worst radius", "worst texture")


def main() -> None:
    """Write every panel into the package."""
    for make in (shifted_digits, tumour_rules, rare_eights):
        np.savez_compressed(FOLDER / f"{make.__name__}.npz", **make())


def shifted_digits() -> dict[str, np.ndarray]:
    """Six classifiers learn upright digits, and meet the other half of them at every angle."""
    train, test, train_labels, truth = _digits()
    members = untrained_members()
    for member in members.values():
        member.fit(train, train_labels)
    answers = {f"rotated {angle}": rotated(test, angle) for angle in ANGLES}
    blocks = {name: np.stack([m.predict_proba(images) for m in members.values()]) for name, images in answers.items()}
    halves = {name: block.astype(np.float16) for name, block in blocks.items()}
    return {"members": np.array(list(members)), "classes": np.arange(10), "labels": truth, **halves}


def tumour_rules() -> dict[str, np.ndarray]:
    """A rule for each measurement of a tumour, learned from 100 of them; it votes on the others where it is sure."""
    data = load_breast_cancer()
    train, test, train_labels, truth = train_test_split(
        data.data, data.target.astype(np.int8), train_size=100, random_state=0, stratify=data.target
    )
    votes = {}
    for column, name in enumerate(data.feature_names):
        rule = DecisionTreeClassifier(max_depth=2, min_samples_leaf=10, random_state=0)
        rows = rule.fit(train[:, [column]], train_labels).predict_proba(test[:, [column]])
        votes[str(name)] = np.where(rows.max(axis=1) >= LEAST_SURE, rows.argmax(axis=1), -1)
    votes |= {f"{name}, copied": votes[name] for name in COPIED}
    said = {name: vote for name, vote in votes.items() if (vote >= 0).any()}
    table = np.stack(list(said.values())).astype(np.int8)
    is_answered = (table >= 0).any(axis=0)
    return {
        "members": np.array(list(said)),
        "classes": data.target_names.astype(str),
        "labels": truth[is_answered],
        "votes": table[:, is_answered],
    }


def rare_eights() -> dict[str, np.ndarray]:
    """Five classifiers look for the digit 8 in noisy images; of the test images, one in forty is an 8."""
    train, test, train_labels, truth = _digits()
    rng = np.random.default_rng(0)
    kept = np.sort(np.concatenate([np.flatnonzero(truth != 8), np.flatnonzero(truth == 8)[:21]]))
    noisy = np.clip(test[kept] + rng.normal(0, 0.3, test[kept].shape), 0, 1)
    members = {name: member for name, member in untrained_members().items() if name != "network, wide"}
    rows = [member.fit(train, train_labels == 8).predict_proba(noisy) for member in members.values()]
    return {
        "members": np.array(list(members)),
        "classes": np.array(["other", "eight"]),
        "labels": (truth[kept] == 8).astype(np.int8),
        "probabilities": np.stack(rows).astype(np.float16),
    }


def _digits() -> tuple[np.ndarray, ...]:
    """Half of scikit-learn's digits to learn, half to test, and their labels."""
    images, labels = load_digits(return_X_y=True)
    halves = train_test_split(images / 16, labels.astype(np.int8), test_size=0.5, random_state=0, stratify=labels)
    return tuple(halves)


def untrained_members() -> dict[str, Any]:
    """Classifiers that differ: two networks, a linear model, neighbours, a forest, naive Bayes."""
    return {
        "network, wide": MLPClassifier((128,), learning_rate_init=0.005, max_iter=500, random_state=0),
        "network, narrow": MLPClassifier((24,), learning_rate_init=0.005, max_iter=500, random_state=1),
        "logistic": LogisticRegression(max_iter=500),
        "neighbors": KNeighborsClassifier(10),
        "forest": RandomForestClassifier(200, random_state=0),
        "naive Bayes": GaussianNB(var_smoothing=0.1),
    }


def rotated(images: np.ndarray, angle: float) -> np.ndarray:
    """The flat 8 × 8 images, each turned by the angle."""
    square = images.reshape(-1, 8, 8)
    turned = ndimage.rotate(square, angle, axes=(1, 2), reshape=False, order=1)
    return np.clip(turned, 0, 1).reshape(len(images), -1)


if __name__ == "__main__":
    main()
