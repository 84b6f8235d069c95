"""Small panels for the tests of the bench."""

import numpy as np

from benchmarks.quality.panel import AS_IT_IS, Panel

from simulate import softmax_members


def soft(seed=0, n_items=400, n_members=6, n_classes=4, missing=0.1, **words):
    """Members that give probabilities, the first of them always right."""
    skills = np.linspace(3, 1, n_members)
    array, truth = softmax_members(np.random.default_rng(seed), skills, n_items, n_classes, missing)
    array[0] = 0.9 * np.eye(n_classes)[truth] + 0.1 / n_classes
    return _panel(truth, n_classes, words, probabilities=array)


def hard(seed=0, **words):
    """The same, of labels."""
    panel = soft(seed, **words)
    return _panel(panel.truth, panel.n_classes, words, labels=panel.votes)


def _panel(truth, n_classes, words, **answers):
    names = {"name": "made-up", "family": "tables", "kind": AS_IT_IS}
    names |= {key: words[key] for key in names if key in words}
    return Panel(**names, truth=truth, n_classes=n_classes, **answers)
