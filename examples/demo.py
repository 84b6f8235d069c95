"""An ensemble of real classifiers meets data that drifts; every method fuses it without labels.

Six classifiers are trained on scikit-learn's handwritten digits. Then the test digits are rotated further and
further. No method sees a label of the rotated digits; the labels are held back to score the answers afterwards.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier

import consilience as cs

MEMBERS = {
    "network, wide": MLPClassifier((128,), learning_rate_init=0.005, max_iter=500, random_state=0),
    "network, narrow": MLPClassifier((24,), learning_rate_init=0.005, max_iter=500, random_state=1),
    "logistic": LogisticRegression(max_iter=500),
    "neighbors": KNeighborsClassifier(10),
    "forest": RandomForestClassifier(200, random_state=0),
    "naive Bayes": GaussianNB(var_smoothing=0.1),
}
ANGLES = (0, 15, 30, 45)


def main() -> None:
    """Train, rotate, fuse, score, diagnose, explain."""
    images, labels = load_digits(return_X_y=True)
    images = images / images.max()
    train, test, train_labels, truth = train_test_split(images, labels, test_size=0.5, random_state=0, stratify=labels)
    print(f"Training {len(MEMBERS)} members on {len(train)} digits …")
    for member in MEMBERS.values():
        member.fit(train, train_labels)
    for angle in ANGLES:
        predictions = predict(rotate(test, angle))
        print(f"\n{len(test)} test digits rotated by {angle}°  (labels score the answers, no method sees them)\n")
        print(short(cs.compare(predictions, truth)))
    print("\n(nll, brier, ece: lower is better; changed: the share of items answered differently from the average)")
    print(f"\nWhat the members' answers alone say of them, at {angle}°\n")
    print(cs.diagnose(predictions))
    aggregator = cs.SoftDawidSkene().fit(predictions)
    average = cs.Average().fit(predictions)
    changed = np.flatnonzero(aggregator.predict(predictions) != average.predict(predictions))
    if len(changed):
        item = int(changed[0])
        print(f"\nWhy Soft Dawid-Skene and the average part over item {item} (truly a {truth[item]})\n")
        print(cs.explain(aggregator, predictions, item))
        print(cs.explain(average, predictions, item))


def predict(images: np.ndarray) -> cs.Predictions:
    """What each member says of the images."""
    return cs.Predictions({name: member.predict_proba(images) for name, member in MEMBERS.items()})


def rotate(images: np.ndarray, angle: float) -> np.ndarray:
    """The flat 8 × 8 images, each turned by the angle."""
    square = images.reshape(-1, 8, 8)
    turned = ndimage.rotate(square, angle, axes=(1, 2), reshape=False, order=1)
    return np.clip(turned, 0, 1).reshape(len(images), -1)


def short(table: cs.tables.Table) -> cs.tables.Table:
    """The columns that tell the methods apart."""
    columns = ("method", "accuracy", "nll", "brier", "ece", "changed", "seconds")
    return cs.tables.Table({column: table[column] for column in columns})


if __name__ == "__main__":
    main()
