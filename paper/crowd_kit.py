"""Dawid-Skene as the paper ran it: what crowd-kit's `DawidSkene` computes (version 1.4).

It differs from `consilience.DawidSkene(smoothing=0)` in three things that move its NLL: counts and class priors are
lifted to 1e-10, and so are the probabilities in the end; and it stops by a bound of its own, which counts the class
prior once per answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.data.predictions import Predictions
    from consilience.system.arrays import FloatArray

    Labels = npt.NDArray[np.intp]

LEAST = 1e-10


class Estimate(NamedTuple):
    """The probabilities of items' classes, how often classes occur, and what each worker says of them."""

    probabilities: FloatArray  # (items, true)
    priors: FloatArray  # (true,)
    errors: FloatArray  # (workers, said, true), zero for what a worker never says


class CrowdKitDawidSkene:
    """Crowd-kit's `DawidSkene(n_iter, tol)`; probabilities count as their most probable class."""

    posterior_: FloatArray

    def __init__(self, n_iter: int = 100, tol: float = 1e-5) -> None:
        self.n_iter, self.tol = n_iter, tol

    def fit(self, predictions: Predictions) -> Self:
        """Learn from what members say; classes that nobody names have no probability, for crowd-kit knows none."""
        array = predictions.to_array()
        named, labels = np.unique(array.argmax(axis=2), return_inverse=True)
        found = dawid_skene(labels.reshape(array.shape[:2]), len(named), n_iter=self.n_iter, tol=self.tol)
        self.posterior_ = np.zeros(array.shape[1:])
        self.posterior_[:, named] = found.probabilities
        return self


def dawid_skene(labels: Labels, n_classes: int, *, n_iter: int = 100, tol: float = 1e-5) -> Estimate:
    """From labels (workers, items): the votes' M step, then E and M steps until the bound gains less than `tol`."""
    votes = np.stack([(labels == label).mean(axis=0) for label in range(n_classes)], axis=1)
    estimate = Estimate(votes, votes.mean(axis=0), _errors(labels, votes))
    bound = -np.inf
    for _ in range(n_iter):
        rows = _probabilities(labels, estimate)
        estimate = Estimate(rows, rows.mean(axis=0), _errors(labels, rows))
        before, bound = bound, _bound(labels, estimate)
        if bound - before < tol:
            break
    return estimate._replace(probabilities=np.maximum(estimate.probabilities, LEAST))


def _errors(labels: Labels, rows: FloatArray) -> FloatArray:
    """The M step."""
    errors = np.zeros((len(labels), rows.shape[1], rows.shape[1]))
    for table, said in zip(errors, labels, strict=True):
        np.add.at(table, said, rows)
        is_said = np.bincount(said, minlength=len(table)) > 0
        table[is_said] = np.maximum(table[is_said], LEAST)
    errors /= errors.sum(axis=1, keepdims=True)
    return errors


def _log_likelihoods(labels: Labels, errors: FloatArray) -> FloatArray:
    """Of all answers to an item, by its class."""
    return np.asarray(sum(np.log(table[said]) for table, said in zip(errors, labels, strict=True)))


def _probabilities(labels: Labels, estimate: Estimate) -> FloatArray:
    """The E step."""
    logs = np.log(np.maximum(estimate.priors, LEAST)) + _log_likelihoods(labels, estimate.errors)
    rows = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def _bound(labels: Labels, estimate: Estimate) -> float:
    """Their evidence lower bound per answer."""
    rows, log_priors = estimate.probabilities, np.log(np.maximum(estimate.priors, LEAST))
    expected = (rows * (_log_likelihoods(labels, estimate.errors) + len(labels) * log_priors)).sum()
    floored = np.maximum(rows, LEAST)
    return float((expected - (floored * np.log(floored)).sum()) / labels.size)
