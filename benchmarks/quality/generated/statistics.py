"""What generated panels are like: how good and how alike their members are, and what fusing gives."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import consilience as cs
from benchmarks.quality.panel import Panel


class Statistics(NamedTuple):
    """Of one panel; accuracies are shares of the items whose truth is known."""

    members: float  # the mean accuracy of members
    best: float  # and the best one's
    average: float  # the average's accuracy
    gain: float  # Dawid and Skene's accuracy minus the average's
    correlation: float  # of members' errors, the mean over pairs
    overconfidence: float  # the mean top probability minus accuracy
    entropy: float  # of the true shares, 1 where they are even
    largest: float  # the largest true share


def describe(panel: Panel) -> Statistics:
    """The statistics of a panel."""
    is_known = panel.truth >= 0
    truth, votes = panel.truth[is_known], panel.votes[:, is_known]
    is_asked = votes >= 0
    accuracy = (votes == truth).sum(axis=1) / np.maximum(is_asked.sum(axis=1), 1)
    answers = is_asked.sum(axis=1)
    average = _accuracy(cs.Average(), panel)
    shares = np.bincount(truth, minlength=panel.n_classes) / len(truth)
    return Statistics(
        members=float(np.average(accuracy, weights=answers)),
        best=float(accuracy[answers > 0.2 * answers.max()].max()),
        average=average,
        gain=_accuracy(cs.DawidSkene(), panel) - average,
        correlation=_error_correlation(votes, truth),
        overconfidence=_overconfidence(panel),
        entropy=float(-(shares[shares > 0] * np.log(shares[shares > 0])).sum() / np.log(panel.n_classes)),
        largest=float(shares.max()),
    )


def _accuracy(aggregator: cs.Average | cs.DawidSkene, panel: Panel) -> float:
    with warnings.catch_warnings():  # a fit need not have converged to be compared
        warnings.simplefilter("ignore", ConvergenceWarning)
        posterior = np.asarray(aggregator.fit(panel.predictions).posterior_)
    is_known = panel.truth >= 0
    return float((posterior.argmax(axis=1) == panel.truth)[is_known].mean())


def _error_correlation(votes: np.ndarray, truth: np.ndarray) -> float:
    """The mean over pairs with 20 common answers of which neither is always right nor always wrong; NaN without."""
    is_asked = (votes >= 0).astype(float)
    wrong = is_asked * (votes != truth)
    n = is_asked @ is_asked.T
    both, first = wrong @ wrong.T, wrong @ is_asked.T
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = first / n, first.T / n
        correlation = (both / n - a * b) / np.sqrt(a * (1 - a) * b * (1 - b))
    pairs = np.triu(n >= 20, 1) & np.isfinite(correlation)
    return float(correlation[pairs].mean()) if pairs.any() else float("nan")


def _overconfidence(panel: Panel) -> float:
    """The members' mean top probability minus accuracy; NaN for votes."""
    if panel.probabilities is None:
        return float("nan")
    tops = panel.probabilities.max(axis=2)
    is_asked = ~np.isnan(tops) & (panel.truth >= 0)
    return float(tops[is_asked].mean() - (panel.votes == panel.truth)[is_asked].mean())
