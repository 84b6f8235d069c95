"""Arrays to measure on: probabilities and labels of members that are mostly right."""

from __future__ import annotations

import numpy as np


def probabilities(n_members: int, n_items: int, n_classes: int, dtype: str = "float32") -> np.ndarray:
    """(members, items, classes): softmax of noise, the truth standing out, as trained networks' outputs do."""
    rng = np.random.default_rng(0)
    truth = rng.integers(n_classes, size=n_items)
    array = rng.standard_normal((n_members, n_items, n_classes), dtype=np.float32)
    array[:, np.arange(n_items), truth] += 4 + np.log(n_classes) / 2
    np.exp(array, out=array)
    array /= array.sum(axis=2, keepdims=True)
    return array.astype(dtype, copy=False)


def crowd(n_answers: int, n_members: int, n_items: int, n_classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Item, member and label of each answer; every item and member has some, a class is right in 70 %."""
    rng = np.random.default_rng(0)
    item = np.concatenate([np.arange(n_items), rng.integers(n_items, size=n_answers - n_items)])
    member = np.concatenate([np.arange(n_members), rng.integers(n_members, size=n_answers - n_members)])
    rng.shuffle(member)
    truth = rng.integers(n_classes, size=n_items)
    is_right = rng.random(n_answers) < 0.7
    return item, member, np.where(is_right, truth[item], rng.integers(n_classes, size=n_answers))
