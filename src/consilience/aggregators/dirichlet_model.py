"""The model of Soft Dawid-Skene: Dirichlet rows of probabilities, given the true class. It holds no items and no state.

Equation numbers are those of Kuzin, Isupova, Reece and Simmons (2024).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, final

import numpy as np

from consilience.maths.dirichlet import log_normalizer, maximum_likelihood, mean_log
from consilience.maths.em import Moments, Scores, adamw_step, log_rates, pseudo_answers, smoothed_rates
from consilience.system.machine import in_order, n_threads

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.maths.em import Statistics
    from consilience.passes.reader import AnyReader
    from consilience.system.arrays import FloatArray


ROW_NUMBERS = 2**14
"""An M step treats so many rows at once that a temporary table has about this many numbers."""


@final
@dataclass(slots=True, eq=False)
class Emissions:
    """The class prior, and for each member and class a row: concentrations, or a hard member's rates.

    An M step writes to its own emissions: with a thousand classes a copy would be larger than a chunk of items.
    """

    class_prior: FloatArray  # (true,)
    table: FloatArray  # (members, true, predicted)
    log_normalizers: FloatArray  # (members, true): log B(π) of soft members, 0 of hard ones
    moments: Moments  # the optimizer's, of all rows

    def copy(self) -> Emissions:
        """Emissions of their own."""
        moments = Moments(self.moments.first.copy(), self.moments.second.copy(), int(self.moments.n_steps))
        return Emissions(self.class_prior, self.table.copy(), self.log_normalizers.copy(), moments)


@final
@dataclass(frozen=True, slots=True, eq=False)
class DirichletModel:
    """t ~ Categorical(ν); given t = k, soft members' rows ~ Dirichlet(π_k), hard members' labels ~ Categorical(π_k)."""

    is_soft: npt.NDArray[np.bool_]  # (members,)
    class_prior: FloatArray | None
    solver: Literal["adamw", "exact"]
    optimizer_steps: int
    learning_rate: float
    weight_decay: float
    optimizer_moments: Literal["kept", "anew"]
    smoothing: float
    floor: float

    def scores(self, emissions: Emissions) -> Scores:
        """The E step (eq. 3) as a linear layer, less Σ -log c, which all classes share and which costs precision."""
        weights = emissions.table
        if not self.is_soft.all():
            weights = weights.copy()
            weights[~self.is_soft] = log_rates(weights[~self.is_soft])
        return Scores(np.log(emissions.class_prior), weights, -emissions.log_normalizers)

    def objective(self, emissions: Emissions, statistics: Statistics) -> float:
        """Q (eq. 1), plus the logarithm of the smoothing prior of the hard members' rates."""
        total = statistics.class_counts @ np.log(emissions.class_prior)
        total -= (statistics.answer_counts * emissions.log_normalizers).sum()
        for member, is_soft in enumerate(self.is_soft):
            table, sums = emissions.table[member], statistics.sums[member]
            if is_soft:
                total += np.vdot(table, sums) - sums.sum()
            else:
                total += np.vdot(sums + pseudo_answers(len(sums), self.smoothing), log_rates(table))
        return float(total)

    def maximize(self, statistics: Statistics, emissions: Emissions) -> Emissions:
        """The M step: ν (eq. 2), then Π, some way up Q (eq. 1) for the soft members, all the way up for the hard ones.

        It climbs from these emissions and overwrites them.
        """
        emissions.class_prior = self.estimate_class_prior(statistics)
        hard = ~self.is_soft
        if hard.any():
            emissions.table[hard] = smoothed_rates(statistics.sums[hard], self.smoothing)
        climb = self._climb if self.solver == "adamw" else self._jump
        if self.optimizer_moments == "anew":
            emissions.moments.forget()
        n_classes = emissions.table.shape[-1]
        table, sums = (array.reshape(-1, n_classes) for array in (emissions.table, statistics.sums))
        counts, log_normalizers = statistics.answer_counts.ravel(), emissions.log_normalizers.reshape(-1)

        def visit(rows: slice) -> None:
            climb(table[rows], sums[rows], counts[rows], emissions.moments.of_rows(rows), statistics.n_items)
            log_normalizers[rows] = log_normalizer(table[rows])

        parts = self._soft_parts(n_classes)
        for _ in in_order(visit, parts, min(n_threads(), len(parts))):
            pass  # each part writes its own rows
        if self.solver == "adamw":
            emissions.moments.n_steps += self.optimizer_steps
        return emissions

    def _soft_parts(self, n_classes: int) -> list[slice]:
        """Rows (members × true) of soft members that are fitted together: all of a small table, few of a large one.

        Rows do not depend on each other, so threads share them, and temporary tables stay small.
        """
        all_rows = (0, self.is_soft.size * n_classes)
        of_each = [(member * n_classes, (member + 1) * n_classes) for member in np.flatnonzero(self.is_soft)]
        at_once = max(1, ROW_NUMBERS // n_classes)
        return [
            slice(start, min(start + at_once, stop))
            for first, stop in ([all_rows] if self.is_soft.all() else of_each)
            for start in range(first, stop, at_once)
        ]

    def estimate_class_prior(self, statistics: Statistics) -> FloatArray:
        """The fixed class prior, or the mean responsibilities (eq. 2)."""
        if self.class_prior is not None:
            return self.class_prior
        return np.asarray(np.maximum(statistics.class_counts / statistics.class_counts.sum(), self.floor))

    def _climb(
        self, concentration: FloatArray, sums: FloatArray, counts: FloatArray, moments: Moments, n_items: float
    ) -> None:
        """AdamW on -Q/N. The items enter through (sums, counts) alone, so a step does not depend on their number."""
        mean_counts, mean_sums = counts[:, None] / n_items, sums / n_items
        for _ in range(self.optimizer_steps):
            gradient = mean_log(concentration)
            gradient *= mean_counts
            gradient -= mean_sums
            adamw_step(
                concentration,
                gradient,
                moments,
                learning_rate=self.learning_rate,
                weight_decay=self.weight_decay,
            )
            np.maximum(concentration, self.floor, out=concentration)

    def _jump(self, concentration: FloatArray, sums: FloatArray, counts: FloatArray, _: Moments, __: float) -> None:
        """The maximum of Q. A row that less than one item speaks for stays as it is."""
        is_seen = counts >= 1
        means = sums[is_seen] / counts[is_seen][:, None]
        concentration[is_seen] = maximum_likelihood(means, concentration[is_seen], floor=self.floor)


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

    def emissions(self, model: DirichletModel, votes: AnyReader, counts: Statistics) -> Emissions:
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
