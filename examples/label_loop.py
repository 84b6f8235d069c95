"""A labelling loop: suggest some items, label them, fit again, repeat; and beside it, labels of items drawn at random.

    python examples/label_loop.py

The members are made up here, always the same: three of four take one class for another, which no method can see without
labels. Half of the items are only scored, so that it does not matter which of the others were labelled. Put your own
predictions in the place of `made_up`, and yourself in the place of `ask`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import consilience as cs

BATCH, N_ROUNDS, N_RUNS = 25, 4, 3

Choose = Callable[[cs.Predictions, np.ndarray, int], np.ndarray]  # predictions, labels so far, seed -> positions


def made_up(n_items: int = 1200, n_classes: int = 5, seed: int = 0) -> tuple[cs.Predictions, np.ndarray]:
    """What four members say, and the truth: three of them mostly take the last class for the one before."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_items)
    is_taken = (truth == n_classes - 1) & (rng.random((4, n_items)) < np.array([0.1, 0.8, 0.8, 0.8])[:, None])
    said = np.where(is_taken, n_classes - 2, truth)
    logits = 2 * np.eye(n_classes)[said] + rng.normal(size=(4, n_items, n_classes))
    return cs.Predictions.from_logits(logits, members=["vit", "cnn", "knn", "tree"]), truth


def ask(truth: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Whoever knows: here, the truth."""
    return truth[positions]


def suggested(p: cs.Predictions, labels: np.ndarray, seed: int) -> np.ndarray:
    """The next items by `suggest`, which leaves out what is labelled and starts from what labels corrected."""
    return cs.suggest(p, labels, n=BATCH, seed=seed).positions


def at_random(_: cs.Predictions, labels: np.ndarray, seed: int) -> np.ndarray:
    """The next items by chance."""
    return np.random.default_rng(seed).choice(np.flatnonzero(labels == -1), BATCH, replace=False)


def learning_curve(choose: Choose, seed: int) -> list[float]:
    """The accuracy on items of the other half, after each round."""
    p, truth = made_up(seed=seed)
    half = p.n_items // 2
    pool, others = p.take(slice(half)), p.take(slice(half, None))
    labels = np.full(half, -1)
    curve = []
    for _ in range(N_ROUNDS + 1):
        model = cs.Consensus().fit(pool, labels)
        curve.append(cs.metrics.accuracy(model.predict_proba(others), truth[half:]))
        chosen = choose(pool, labels, seed)
        labels[chosen] = ask(truth, chosen)
    return curve


def main() -> None:
    """Both curves, and what the first items look like."""
    p, _ = made_up()
    print("The members are made up. The first items to label:\n")
    print(cs.suggest(p, n=5))
    print(f"\nAccuracy on other items, mean of {N_RUNS} runs\n\nlabels  suggested  random")
    curves = [
        np.mean([learning_curve(choose, seed) for seed in range(N_RUNS)], axis=0) for choose in (suggested, at_random)
    ]
    for n_rounds, (one, other) in enumerate(zip(*curves, strict=True)):
        print(f"{BATCH * n_rounds:6}  {one:9.3f}  {other:6.3f}")


if __name__ == "__main__":
    main()
