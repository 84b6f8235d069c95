"""Algorithm 1 written plainly, over all items, for readings of the paper that no argument of `SoftDawidSkene` has.

By default it is what `SoftDawidSkene.paper()` computes, to 1e-8. It starts from what crowd-kit computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy.special import log_softmax, softmax

from consilience.aggregators import SoftDawidSkene
from consilience.maths.dirichlet import log_normalizer, mean_log
from consilience.maths.em import EPSILON, FIRST_DECAY, SECOND_DECAY
from paper.crowd_kit import LEAST, dawid_skene

if TYPE_CHECKING:
    from consilience.data.predictions import Predictions
    from consilience.system.arrays import FloatArray
    from paper.tasks import Preset


class Answer(NamedTuple):
    """What comes out."""

    posterior_: FloatArray  # (items, classes)


@dataclass(frozen=True, kw_only=True)
class Algorithm1:
    """The paper's algorithm, with what could be meant otherwise.

    Parameters
    ----------
    first_step
        The loop begins with the "E" step, as Algorithm 1 has it, or with the "M" step.
    learns_from
        The M step's t is the "averaged" one, or the "new" estimate of eq. 3 alone; the answer is the averaged one.
    averages
        Polyak averaging is of "probabilities", or of "logarithms", which the E step computes.
    loss
        Q as the "mean" over items, or as their "sum".
    decay
        "decoupled" from the gradient as in AdamW, or a part of the "gradient" as in Adam.
    matrices
        A row of crowd-kit's matrices for each "true" class, or as they come, for each class that is "said".
    optimized
        The "concentrations" themselves, or their "logarithms".
    moments
        "kept" from one M step to the next, or made "anew".
    """

    preset: Preset
    first_step: Literal["E", "M"] = "E"
    learns_from: Literal["averaged", "new"] = "averaged"
    averages: Literal["probabilities", "logarithms"] = "probabilities"
    loss: Literal["mean", "sum"] = "mean"
    decay: Literal["decoupled", "gradient"] = "decoupled"
    matrices: Literal["true", "said"] = "true"
    optimized: Literal["concentrations", "logarithms"] = "concentrations"
    moments: Literal["kept", "anew"] = "kept"

    def fit(self, predictions: Predictions) -> Answer:
        """Learn from predictions, without labels."""
        c = np.asarray(predictions.to_array(), dtype=np.float64)
        log_c, n_classes = np.log(np.maximum(c, LEAST)), c.shape[2]
        settings = SoftDawidSkene.paper(self.preset)
        nu, pi = _start(c.argmax(axis=2), n_classes)
        if self.matrices == "said":
            pi = np.ascontiguousarray(pi.transpose(0, 2, 1))
        t = learned = c.mean(axis=0)  # EA
        optimizer = _Adam(self, settings, pi.shape)
        for iteration in range(settings.max_iter):
            if self.first_step == "M":
                nu, pi = optimizer.m_step(learned, log_c, pi)
            new = log_softmax(_log_joint(nu, pi, log_c), axis=1)  # eq. 3
            t = self._averaged(t, new, settings._averaging_at(iteration))  # noqa: SLF001
            learned = t if self.learns_from == "averaged" else np.exp(new)
            if self.first_step == "E":
                nu, pi = optimizer.m_step(learned, log_c, pi)
        return Answer(t)

    def _averaged(self, t: FloatArray, new: FloatArray, weight: float) -> FloatArray:
        """Eq. 4."""
        if self.averages == "probabilities":
            return np.asarray((1 - weight) * t + weight * np.exp(new))
        return np.asarray(softmax((1 - weight) * np.log(np.maximum(t, LEAST)) + weight * new, axis=1))


def _start(labels: np.ndarray, n_classes: int) -> tuple[FloatArray, FloatArray]:
    """ν and Π after one iteration of crowd-kit; equal cells for a class that nobody names."""
    named, places = np.unique(labels, return_inverse=True)
    found = dawid_skene(places.reshape(labels.shape), len(named), n_iter=1)
    nu, pi = np.full(n_classes, LEAST), np.full((len(labels), n_classes, n_classes), LEAST)
    nu[named] = np.maximum(found.priors, LEAST)
    silent = np.setdiff1d(np.arange(n_classes), named)
    counts = found.errors.transpose(0, 2, 1) * (found.priors * labels.shape[1])[:, None]
    pi[np.ix_(np.arange(len(labels)), named, named)] = np.maximum(counts, LEAST)
    pi[:, silent] = 1.0
    return nu, pi / pi.sum(axis=2, keepdims=True)


def _log_joint(nu: FloatArray, pi: FloatArray, log_c: FloatArray) -> FloatArray:
    """The right side of eq. 3 (items, true)."""
    n_members, n_classes, _ = pi.shape
    flat = (pi - 1).transpose(0, 2, 1).reshape(n_members * n_classes, n_classes)
    rows = log_c.transpose(1, 0, 2).reshape(-1, n_members * n_classes)
    return np.asarray(np.log(nu) + rows @ flat - log_normalizer(pi).sum(axis=0))


class _Adam:
    """M steps, with what the optimizer remembers between them."""

    def __init__(self, reading: Algorithm1, settings: SoftDawidSkene, shape: tuple[int, ...]) -> None:
        self.reading, self.settings = reading, settings
        self._forget(shape)

    def _forget(self, shape: tuple[int, ...]) -> None:
        self.first, self.second, self.n_steps = np.zeros(shape), np.zeros(shape), 0

    def m_step(self, t: FloatArray, log_c: FloatArray, pi: FloatArray) -> tuple[FloatArray, FloatArray]:
        """ν by eq. 2, and Π after some steps down -Q, eq. 1."""
        n_items = 1.0 if self.reading.loss == "sum" else float(len(t))
        counts, sums = t.sum(axis=0)[:, None] / n_items, np.einsum("ij,kil->kjl", t, log_c, optimize=True) / n_items
        if self.reading.moments == "anew":
            self._forget(pi.shape)
        for _ in range(self.settings.optimizer_steps):
            pi = self._step(pi, counts * mean_log(pi) - sums)
        return np.maximum(t.mean(axis=0), LEAST), pi

    def _step(self, pi: FloatArray, gradient: FloatArray) -> FloatArray:
        rate, decay = self.settings.learning_rate, self.settings.weight_decay
        in_logarithms = self.reading.optimized == "logarithms"
        values, gradient = (np.log(pi), gradient * pi) if in_logarithms else (pi, gradient)
        if self.reading.decay == "gradient":
            gradient, decay = gradient + decay * values, 0.0
        self.n_steps += 1
        self.first = FIRST_DECAY * self.first + (1 - FIRST_DECAY) * gradient
        self.second = SECOND_DECAY * self.second + (1 - SECOND_DECAY) * gradient**2
        scale = np.sqrt(self.second / (1 - SECOND_DECAY**self.n_steps)) + EPSILON
        values = values * (1 - rate * decay) - rate * self.first / (1 - FIRST_DECAY**self.n_steps) / scale
        return np.maximum(np.exp(values) if in_logarithms else values, LEAST)
