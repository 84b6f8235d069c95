"""How Consensus does on panels that are stranger than real ones.

    python -m benchmarks.quality.strange

Generated panels (seeds that training does not use) are altered until nobody would bring them; members of one recipe
are given copies; and judges who err independently of each other pass most of what they see. For each sort: the NLL over
averaging's, what `Consensus` gains in points of accuracy, and what on the worst panel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from scipy.special import softmax

import consilience as cs
from benchmarks.quality.generated import generate
from benchmarks.quality.methods import average
from benchmarks.quality.panel import AS_IT_IS, Panel
from benchmarks.quality.scores import scores

FIRST_SEED, N_PANELS, LEAST_ITEMS = 3_000_000, 40, 50

Rng = np.random.Generator


def sharpened(power: float) -> Callable[[np.ndarray, Rng], np.ndarray]:
    """All probabilities to a power."""
    return lambda rows, _: softmax(power * np.log(np.maximum(rows, 1e-9)), axis=2)


def renamed(rows: np.ndarray, rng: Rng) -> np.ndarray:
    """Each member names the classes its own way."""
    return np.stack([member[:, rng.permutation(rows.shape[2])] for member in rows])


def noise(rows: np.ndarray, rng: Rng) -> np.ndarray:
    """All members but the first say anything."""
    said = rng.dirichlet(np.full(rows.shape[2], 0.3), size=(len(rows) - 1, rows.shape[1]))
    return np.concatenate([rows[:1], said])


STRANGE: dict[str, Callable[[np.ndarray, Rng], np.ndarray]] = {
    "as generated": lambda rows, _: rows,
    "all sharpened 30 times": sharpened(30),
    "all flattened 30 times": sharpened(1 / 30),
    "every member ten times": lambda rows, _: np.repeat(rows, 10, axis=0)[:120],
    "each names classes its own way": renamed,
    "all but one are noise": noise,
}

COPIES: dict[str, Callable[[np.ndarray, Rng], list[np.ndarray]]] = {
    "one good member, others weaker": lambda _, __: [],
    "… and a copy of the second": lambda logits, _: [logits[1]],
    "… and nearly a copy of it": lambda logits, rng: [logits[1] + 0.5 * rng.normal(size=logits[1].shape)],
    "… and a copy of the first": lambda logits, _: [logits[0]],
}

PASSED = {f"independent judges, {passed:.0%} pass": passed for passed in (0.5, 0.7, 0.85)}


def strange_panels(name: str) -> Iterator[Panel]:
    """Panels of a sort."""
    rng, seed, n_found = np.random.default_rng(0), FIRST_SEED, 0
    while n_found < N_PANELS:
        panel, seed = generate(seed, "latent"), seed + 1
        if panel.probabilities is not None and panel.n_items >= LEAST_ITEMS:
            n_found += 1
            yield replace(panel, probabilities=STRANGE[name](panel.probabilities, rng))


def copied_panels(name: str) -> Iterator[Panel]:
    """A good and modest member, two that are weaker and too sure, one that guesses, and who is added to them."""
    for seed in range(N_PANELS):
        rng = np.random.default_rng(seed)
        truth = rng.integers(4, size=400)
        signal = np.array([2.5, 1.5, 1.2, 0.0])[:, None, None] * np.eye(4)[truth]
        logits = np.array([1, 5, 6, 3])[:, None, None] * (signal + rng.normal(size=(4, 400, 4)))
        rows = softmax(np.stack([*logits, *COPIES[name](logits, rng)]), axis=2)
        yield Panel(f"copies {seed}", "generated copies", AS_IT_IS, truth, 4, probabilities=rows)


def juries(name: str) -> Iterator[Panel]:
    """Votes of six judges who err independently of each other, and of one who always says pass."""
    for seed in range(N_PANELS):
        rng = np.random.default_rng(seed)
        truth = (rng.random(600) < PASSED[name]).astype(int)
        is_right = rng.random((6, 600)) < np.where(truth, 0.95, np.linspace(0.6, 0.9, 6)[:, None])
        said = np.vstack([np.where(is_right, truth, 1 - truth), np.ones((1, 600), dtype=int)])
        yield Panel(f"jury {seed}", "generated juries", AS_IT_IS, truth, 2, probabilities=np.eye(2)[said])


def line(name: str, panels: Iterator[Panel]) -> str:
    """What became of the panels of a sort."""
    nll, points = np.array([_scored(panel) for panel in panels]).T
    return f"{name:34}{np.exp(np.log(nll).mean()):10.3f}{points.mean():+10.2f}{points.min():+14.2f}"


def _scored(panel: Panel) -> tuple[float, float]:
    """NLL over averaging's, and points of accuracy."""
    fused = np.asarray(cs.Consensus().fit_predict_proba(panel.predictions))
    before, after = (scores(rows, panel.truth) for rows in (average(panel), fused))
    return after["nll"] / max(before["nll"], 1e-3), 100 * (after["accuracy"] - before["accuracy"])


def main() -> None:
    """All sorts."""
    print(f"{'':34}{'NLL ×':>10}{'points':>10}{'worst points':>14}")
    for name in STRANGE:
        print(line(name, strange_panels(name)), flush=True)
    for name in COPIES:
        print(line(name, copied_panels(name)), flush=True)
    for name in PASSED:
        print(line(name, juries(name)), flush=True)


if __name__ == "__main__":
    main()
