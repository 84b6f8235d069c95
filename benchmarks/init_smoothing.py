"""How much to smooth the confusion matrices that Soft Dawid-Skene starts from, from 10 to 1,000 classes.

Members are real classifiers trained on scikit-learn's digits, the shifts real rotations and noise. Items of 100 and
1,000 classes are pairs and triples of digits: a member's probability of "3, 7" is the product of its probabilities.
For each share λ, `init_smoothing` is λ · items / classes² (a share λ of an average class's answers in each row).
Printed: the difference to the average, in the mean over shifts, and the number of shifts won and lost.

    python -m benchmarks.init_smoothing
"""

from __future__ import annotations

from functools import reduce

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import consilience as cs
from consilience.metrics import accuracy, brier_score, nll
from consilience.system.tables import Table
from training.datasets import rotated, untrained_members

SHARES = (0.0, 0.01, 0.1, 0.3, 1.0, 3.0)
ITEMS = {1: 899, 2: 3000, 3: 1500}
SHIFTS_FOR_MANY = ("rotated 0°", "rotated 20°")  # where a fit takes its time


def main() -> None:
    """Train the members once, then try every share on every shift and number of classes."""
    images, labels = load_digits(return_X_y=True)
    train, test, train_labels, truth = train_test_split(
        images / images.max(), labels, test_size=0.5, random_state=0, stratify=labels
    )
    rng = np.random.default_rng(0)
    shifts = {f"rotated {angle}°": rotated(test, angle) for angle in (0, 5, 10, 15, 20, 25, 30, 40)}
    shifts |= {f"noise {size}": np.clip(test + rng.normal(0, size, test.shape), 0, 1) for size in (0.1, 0.2, 0.4)}
    members = list(untrained_members().values())
    for member in members:
        member.fit(train, train_labels)
    blocks = {name: np.stack([m.predict_proba(shifted) for m in members]) for name, shifted in shifts.items()}
    for n_digits, n_items in ITEMS.items():
        differences = []
        for name, block in blocks.items():
            if n_digits == 3 and name not in SHIFTS_FOR_MANY:
                continue
            array, answers = tuples(rng, block, truth, n_digits, n_items)
            average = scores(cs.Average().fit(array).posterior_, answers)
            differences.append([scores(fit(array, share), answers) - average for share in SHARES])
        report(n_digits, np.array(differences))


def tuples(
    rng: np.random.Generator, block: np.ndarray, truth: np.ndarray, n_digits: int, n_items: int
) -> tuple[np.ndarray, np.ndarray]:
    """Items made of so many digits each: the members' probabilities, and the truth."""
    drawn = [rng.permutation(block.shape[1]) if n_digits == 1 else rng.integers(block.shape[1], size=n_items)]
    drawn += [rng.integers(block.shape[1], size=n_items) for _ in range(n_digits - 1)]
    array = reduce(
        lambda left, right: (left[..., :, None] * right[..., None, :]).reshape(len(block), len(drawn[0]), -1),
        [block[:, places] for places in drawn],
    )
    return array, reduce(lambda left, right: 10 * left + right, [truth[places] for places in drawn])


def fit(array: np.ndarray, share: float) -> np.ndarray:
    """The posterior with this share, by the paper's preset for this many classes."""
    _, n_items, n_classes = array.shape
    preset = {10: "mnist", 100: "cifar10", 1000: "imagenet"}[n_classes]
    method = cs.SoftDawidSkene.paper(preset, start="ours").set_params(init_smoothing=share * n_items / n_classes**2)
    return method.fit(array).posterior_


def scores(posterior: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Accuracy in points, NLL and Brier score."""
    return np.array([100 * accuracy(posterior, truth), nll(posterior, truth), brier_score(posterior, truth)])


def report(n_digits: int, differences: np.ndarray) -> None:
    """The table of one number of classes; differences are (shifts, shares, scores)."""
    points, log_loss, brier = np.moveaxis(differences, 2, 0)
    print(f"\n{10**n_digits} classes, {len(points)} shifts, difference to the average", flush=True)
    table = {
        "share": list(SHARES),
        "accuracy (points)": points.mean(axis=0).tolist(),
        "won": (points > 0.2).sum(axis=0).tolist(),
        "lost": (points < -0.2).sum(axis=0).tolist(),
        "nll": log_loss.mean(axis=0).tolist(),
        "brier": brier.mean(axis=0).tolist(),
        "brier worse": (brier > 0).sum(axis=0).tolist(),
    }
    print(Table(table), flush=True)


if __name__ == "__main__":
    main()
