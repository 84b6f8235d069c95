"""Where Soft Dawid-Skene starts: confusion matrices of the members' labels, by Dawid-Skene."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, final

import numpy as np

from consilience.aggregators.dirichlet_model import Emissions
from consilience.maths.adamw import Moments
from consilience.maths.dirichlet import log_normalizer
from consilience.maths.model import Scores
from consilience.maths.rates import log_rates, smoothed_rates

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.aggregators.dirichlet_model import DirichletModel
    from consilience.maths.statistics import Statistics
    from consilience.passes.reader import AbstractReader
    from consilience.system.arrays import FloatArray

AUTO_SMOOTHING = 0.3
"""The share of an average class's answers that `init_smoothing="auto"` adds to each row."""


@final
@dataclass(frozen=True, slots=True)
class Start:
    """Arguments of `SoftDawidSkene` that say how the first emissions are made."""

    init_smoothing: float | Literal["auto"]
    init_rows: Literal["rates", "counts"]
    init_iterations: int
    silent_classes: Literal["average", "flat", "floor"]

    def emissions(self, model: DirichletModel, votes: AbstractReader, counts: Statistics) -> Emissions:
        """One M step of Dawid-Skene on the counts of votes, after some iterations of an E and an M step."""
        for _ in range(self.init_iterations):
            counts = votes.expectation(remembers=False)(self._label_scores(model, counts))
        table = self._counts(counts, model.floor)
        if self.init_rows == "rates":
            table /= table.sum(axis=-1, keepdims=True)
        if self.silent_classes == "floor":
            table[:, silent_classes(counts)] = model.floor
            np.maximum(table, model.floor, out=table)
        log_normalizers = np.stack([log_normalizer(rows) for rows in table])  # one by one, which takes less room
        hard = ~model.is_soft
        if hard.any():
            table[hard], log_normalizers[hard] = smoothed_rates(counts.sums[hard], model.smoothing), 0.0
        return Emissions(model.estimate_class_prior(counts), table, log_normalizers, Moments.zero(table.shape))

    def _label_scores(self, model: DirichletModel, counts: Statistics) -> Scores:
        """What labels say under the rates of an M step of Dawid-Skene; a class that nobody names is no candidate."""
        rates = self._counts(counts, model.floor)
        rates /= rates.sum(axis=-1, keepdims=True)
        hard = ~model.is_soft
        rates[hard] = smoothed_rates(counts.sums[hard], model.smoothing)
        log_prior = np.log(model.estimate_class_prior(counts))
        log_prior[silent_classes(counts)] = -np.inf
        return Scores(log_prior, log_rates(rates), np.zeros(rates.shape[:-1]))

    def _counts(self, counts: Statistics, floor: float) -> FloatArray:
        """How often each member says what of each class, smoothed and, as in crowd-kit, floored."""
        sums = lend_to_silent_classes(counts) if self.silent_classes == "average" else counts.sums
        n_answers = counts.answer_counts.sum(axis=1)[:, None, None]
        automatic = AUTO_SMOOTHING * n_answers / len(counts.class_counts) ** 2
        table = sums + (automatic if isinstance(self.init_smoothing, str) else self.init_smoothing)
        return np.asarray(np.maximum(table, floor, out=table))  # a row without any is uniform


def silent_classes(counts: Statistics) -> npt.NDArray[np.bool_]:
    """Which classes (classes,) nobody votes for; none where nobody votes at all."""
    is_silent = counts.class_counts <= 0
    return np.asarray(is_silent & ~is_silent.all())


def lend_to_silent_classes(counts: Statistics) -> FloatArray:
    """The counts (members, true, predicted), with the average class's in the rows of classes nobody votes for."""
    is_silent = silent_classes(counts)
    if not is_silent.any():
        return counts.sums
    n_classes = len(is_silent)
    voted = counts.sums[:, ~is_silent, :]
    right = np.diagonal(counts.sums, axis1=1, axis2=2)[:, ~is_silent].mean(axis=1)
    wrong = (voted.sum(axis=(1, 2)) / (~is_silent).sum() - right) / (n_classes - 1)
    average = wrong[:, None, None] + (right - wrong)[:, None, None] * np.eye(n_classes)
    return np.where(is_silent[None, :, None], average, counts.sums)
