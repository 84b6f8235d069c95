"""Draws from the generative models: predictions and the truth behind them."""

from __future__ import annotations

import numpy as np


def labels_from_confusion(rng, confusion, class_prior, n_items):
    """Hard labels (members, items) of members with these confusion matrices, and the truth (items,)."""
    n_members, n_classes, _ = confusion.shape
    truth = rng.choice(n_classes, size=n_items, p=class_prior)
    draws = rng.random((n_members, n_items, 1))
    labels = (draws > confusion[:, truth].cumsum(axis=-1)).sum(axis=-1)
    return np.minimum(labels, n_classes - 1), truth


def rows_from_dirichlet(rng, concentration, class_prior, n_items):
    """Probabilities (members, items, classes) with these Dirichlet concentrations, and the truth (items,)."""
    n_members, n_classes, _ = concentration.shape
    truth = rng.choice(n_classes, size=n_items, p=class_prior)
    gammas = rng.gamma(np.maximum(concentration[:, truth], 1e-3)) + 1e-12
    return gammas / gammas.sum(axis=-1, keepdims=True), truth


def diagonal_confusion(accuracies, n_classes):
    """Confusion matrices of members who are right this often and wrong evenly."""
    accuracies = np.asarray(accuracies)[:, None, None]
    wrong = (1 - accuracies) / (n_classes - 1)
    return wrong + (accuracies - wrong) * np.eye(n_classes)


def softmax_members(rng, skills, n_items, n_classes, missing=0.0):
    """Probabilities of members whose logits point to the truth with these strengths, and the truth."""
    truth = rng.integers(n_classes, size=n_items)
    signal = np.asarray(skills)[:, None, None] * np.eye(n_classes)[truth]
    exponentials = np.exp(signal + rng.normal(size=(len(skills), n_items, n_classes)))
    array = exponentials / exponentials.sum(axis=-1, keepdims=True)
    is_missing = rng.random(array.shape[:2]) < missing
    is_missing[0] = False
    array[is_missing] = np.nan
    return array, truth


def named(labels, predictions):
    """Labels given as positions, by the names of the classes; None where they are -1."""
    return [None if label < 0 else predictions.classes[label] for label in labels]
