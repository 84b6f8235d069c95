"""Class shares that the user knows: answers are weighted by class, so that they have these shares in the mean.

Answers q become p ∝ q · exp(b), as under a shift of the class prior. The logarithms of the weights, b, minimize

    Σ_i log Σ_k q_ik exp(b_k) - n Σ_k s_k b_k + n TOLERANCE / 2 · Σ_k s_k b_k² + RIDGE / 2 · Σ_k b_k²,

which is convex. Without the last two terms, the mean of p is exactly the shares s at the minimum. The third allows for
shares that are not quite right: where answers are sure, a small error in the shares would mean large weights. With the
last, few items change little: their own shares differ from s by chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from consilience.data.axes import Axis, short, some
from consilience.system.arrays import plain_numpy, to_numpy

if TYPE_CHECKING:
    from consilience.answering.rule import AbstractRule
    from consilience.data.predictions import AbstractPredictions
    from consilience.system.arrays import FloatArray

ROUNDED = 0.01
"""How far from 1 the sum of the shares may be: people round."""

RIDGE, TOLERANCE = 10.0, 0.1
"""`python -m benchmarks.quality.shares` compares them with others, for true shares and for slightly wrong ones."""

MOST_WEIGHT = 10.0
"""The largest logarithm of a weight: no class becomes 20,000 times as probable. Of a share of zero it is the negative,
so that an item whose members are all sure of that class still gets it."""

LEAST = 1e-12
"""Smaller answers count as this under the logarithm."""

MOST_NUMBERS = 2**20
"""Weights are learned from all items, or from so many numbers of evenly spaced ones: they tell the shares well."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Reweighting:
    """What the answers to all items are multiplied by, class by class."""

    log_weights: FloatArray  # (classes,)
    precision: FloatArray  # (classes,): how well each is known, as the second derivative of what is minimized

    def __rmul__(self, factor: float) -> Reweighting:
        """The same, less well known: what a stream remembers."""
        return Reweighting(self.log_weights, np.maximum(factor * self.precision, RIDGE))


def _by_name(class_shares: Any, classes: list[Any]) -> Any:
    """A Series whose index names the classes, which may be called by numbers, as a mapping; all else as it is."""
    if not (hasattr(class_shares, "to_dict") and hasattr(class_shares, "index")):
        return class_shares
    index, axis = list(class_shares.index), Axis("class", len(classes), classes)
    if axis.has_all(index):
        return {axis.name(axis.position_of(name)): share for name, share in class_shares.items()}
    return class_shares if index == list(range(len(index))) else class_shares.to_dict()


def read_shares(class_shares: Any, classes: list[Any]) -> FloatArray | None:
    """The shares in the order of the classes, whose names a mapping or a Series has; None where they are not known."""
    if class_shares is None:
        return None
    class_shares = _by_name(class_shares, classes)
    if isinstance(class_shares, Mapping):
        if unknown := [name for name in class_shares if name not in classes]:
            raise ValueError(f"class_shares must be of the classes {some(classes)}; got {short(unknown[0])}")
        if missing := [name for name in classes if name not in class_shares]:
            raise ValueError(f"class_shares must have a share for every class; got none for {short(missing[0])}")
        class_shares = [class_shares[name] for name in classes]
    try:
        shares = plain_numpy(class_shares, "class_shares").astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"class_shares must be numbers, one for each class; got {short(class_shares)}") from None
    if shares.shape != (len(classes),):
        raise ValueError(
            f"class_shares must be one number for each of {len(classes)} classes; got the shape {shares.shape}"
        )
    if not (shares >= 0).all():
        raise ValueError(f"class_shares must be at least 0; got {shares.min():g}")
    if not abs(shares.sum() - 1) <= ROUNDED + 1e-9:
        raise ValueError(f"class_shares must sum to 1; they sum to {shares.sum():g}")
    return np.asarray(shares / shares.sum())


def reweighted(
    rule: AbstractRule, predictions: AbstractPredictions, shares: FloatArray, before: Reweighting | None = None
) -> Reweighting:
    """The weights that give a rule's answers to these items the shares.

    What earlier items have told is kept, as far as these are too few to outweigh it.
    """
    most = max(1, MOST_NUMBERS // predictions.n_classes)
    if predictions.n_items > most:
        predictions = predictions.take(np.linspace(0, predictions.n_items - 1, most).astype(np.intp))
    answers = to_numpy(rule.posterior(predictions)).astype(np.float64)
    return matched(answers, shares, before)


def matched(answers: FloatArray, shares: FloatArray, before: Reweighting | None = None) -> Reweighting:
    """The weights that give these answers (items, classes) the shares."""
    if before is None:
        before = Reweighting(np.zeros(len(shares)), np.full(len(shares), RIDGE))
    logs, n_items = np.log(np.maximum(answers, LEAST)), len(answers)
    tolerance, memory = TOLERANCE * shares, before.precision / n_items

    def loss(log_weights: FloatArray) -> tuple[float, FloatArray]:
        """What is minimized, by item, and its slopes."""
        rows = logs + log_weights
        top = rows.max(axis=1, keepdims=True)
        rows = np.exp(rows - top)
        totals = rows.sum(axis=1, keepdims=True)
        away = log_weights - before.log_weights
        value = (np.log(totals) + top).mean() - shares @ log_weights
        value += (tolerance @ log_weights**2 + memory @ away**2) / 2
        slopes = (rows / totals).mean(axis=0) - shares + tolerance * log_weights + memory * away
        return float(value), slopes

    bounds = [(-MOST_WEIGHT, MOST_WEIGHT if share > 0 else -MOST_WEIGHT) for share in shares]
    found = minimize(
        loss,
        before.log_weights,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"gtol": 1e-10, "ftol": 1e-15, "maxiter": 1000},  # as far as it goes: in any order the same
    ).x
    posterior = np.exp(log_softmax(logs + found, axis=1))
    learned = (posterior * (1 - posterior)).sum(axis=0) + n_items * tolerance
    return Reweighting(found, before.precision + learned)
