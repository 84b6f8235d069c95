"""Soft Dawid-Skene (Kuzin, Isupova, Reece and Simmons 2024): Dawid-Skene for probabilities.

A member's row of probabilities, given the true class k, is Dirichlet-distributed with concentrations π_k; EM finds
them without labels. `SoftDawidSkene._fit` is the paper's Algorithm 1, and `DirichletModel` its E and M step, with the
numbers of its equations.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, final

import numpy as np
import numpy.typing as npt

from consilience.aggregators.base import AbstractLatent, Outcome, read_class_prior
from consilience.answering.declaration import (
    BY_MEMBER_FLAGS,
    LEARNED_ROUNDING,
    LOG_STATISTICS,
    SILENCE,
    Learned,
    Number,
    Record,
    Shape,
)
from consilience.answering.linear import LinearRule
from consilience.data.predictions import AbstractPredictions, n_counted
from consilience.data.validation import check_number
from consilience.maths.dirichlet import log_normalizer, maximum_likelihood, mean_log
from consilience.maths.em import (
    Moments,
    Scores,
    Silence,
    State,
    Statistics,
    adamw_step,
    em,
    heard,
    log_rates,
    pseudo_answers,
    smoothed_rates,
)
from consilience.passes.reader import AnyReader, open_reader
from consilience.system.arrays import Array, FloatArray, IntArray
from consilience.system.errors import InvalidPredictions
from consilience.system.machine import in_order, n_threads

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
        """Emissions of their own, in the order of rows in which an M step takes views of them."""
        moments = Moments(self.moments.first.copy(), self.moments.second.copy(), int(self.moments.n_steps))
        return Emissions(self.class_prior, self.table.copy(), self.log_normalizers.copy(), moments)


@final
@dataclass(frozen=True, slots=True, eq=False)
class DirichletModel:
    """t ~ Categorical(ν); given t = k, soft members' rows ~ Dirichlet(π_k), hard members' labels ~ Categorical(π_k)."""

    is_soft: npt.NDArray[np.bool_]  # (members,)
    class_prior: FloatArray | None
    # The rest are arguments of `SoftDawidSkene`.
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
                concentration, gradient, moments, learning_rate=self.learning_rate, weight_decay=self.weight_decay
            )
            np.maximum(concentration, self.floor, out=concentration)

    def _jump(self, concentration: FloatArray, sums: FloatArray, counts: FloatArray, _: Moments, __: float) -> None:
        """The maximum of Q. A row that less than one item speaks for stays as it is."""
        is_seen = counts >= 1
        means = sums[is_seen] / counts[is_seen][:, None]
        concentration[is_seen] = maximum_likelihood(means, concentration[is_seen], floor=self.floor)


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


AUTO_SMOOTHING = 0.3
"""The share of an average class's answers that `init_smoothing="auto"` adds to each row."""


@final
@dataclass(kw_only=True, repr=False, eq=False)
class SoftDawidSkene(AbstractLatent):
    """Soft Dawid-Skene: EM with Dirichlet emissions, started from the average and kept near it.

    Each iteration computes the posterior P under the current parameters, averages it into the responsibilities,
    T ← (1 - α) T + α P, and takes a few optimizer steps. `posterior_` is T. With the paper's α = 1e-3 and 100
    iterations it is about .905 of the average and .095 of P: gains over the average are small, and so are losses.
    `history_` is Q, which need not rise.

    Members who give labels get Dawid-Skene's categorical rates inside the same model: a floored one-hot row would
    outweigh all other members.

    Parameters
    ----------
    averaging
        α, the weight of the new estimate: a number, or a schedule {iteration: α from there on} that begins at 0.
    max_iter, tol
        All iterations are made where `tol` is None; else fewer when Q changes by less than `tol` per item.
    optimizer_steps, learning_rate, weight_decay
        Of AdamW, in each M step.
    optimizer_moments
        What AdamW remembers of past gradients is "kept" from one M step to the next, or made "anew" for each of them.
        The paper does not say which.
    init_smoothing
        Pseudo-answers added to each cell of the confusion matrices that the fit starts from. "auto" adds three
        tenths of an average class's answers to each row, spread over its cells: .3 · answers / classes². Cells near
        zero would freeze there, because AdamW remembers their huge first gradient for thousands of steps; a fixed
        number would swamp the data where there are many classes. `benchmarks/init_smoothing.py` shows the choice.
    init_rows
        The concentrations start as "rates", rows that sum to 1, or as the "counts" themselves, not normalized.
    init_iterations
        Iterations of Dawid-Skene, each an E and an M step on the members' labels, between the shares of votes and the
        confusion matrices that the fit starts from.
    init_ties
        What an answer counts as that finds several classes equally probable, in the confusion matrices that the fit
        starts from. "split": a part of a vote for each of them, or no vote if these are all classes. "first": a vote
        for the class that is listed first, as in the paper.
    silent_classes
        What the rows of classes that nobody votes for start from. "average": the average class's counts. "flat": equal
        cells, which are what counting nothing and normalizing gives; a flat Dirichlet row wins wherever members
        disagree, so that a class nobody predicts becomes the answer. "floor": `floor` in each cell, and no cell of the
        other rows is lower; such a row hardly ever wins. crowd-kit has no row for such a class; "flat" and "floor" are
        two ways to fill its matrices up.
    floor
        The least probability under the logarithm, the least concentration after a step, the least class prior, and the
        least count in a cell of the confusion matrices that the fit starts from.
    missing
        As for `DawidSkene`; in a stream, the first batch decides what "auto" means. `history_` is of the answers alone.
    solver
        "adamw" as in the paper. "exact" maximizes Q over the concentrations in every M step (Newton's method on all
        rows at once). One exact M step from the average and then one E step, `SoftDawidSkene(solver="exact",
        averaging={0: 0, 1: 1}, max_iter=2)`, helps like-minded networks under shift and harms weak, flat, unequal
        members. More iterations climb the likelihood and make the labels worse, because softmax outputs are not
        Dirichlet-distributed: classes turn into levels of confidence. Where members are so sure that their rows
        are all alike, concentrations reach their bound, 1e6, and single precision is not enough.
    smoothing
        Pseudo-answers of the members who give labels, as in `DawidSkene`.
    forgetting
        As for `DawidSkene`. The first batch of a stream sets where the concentrations start from and AdamW moves
        slowly, so let it have some hundred items.
    class_prior, chunk_size, verbose
        As for `DawidSkene`.

    Attributes
    ----------
    concentration_ : (members, true, predicted); NaN for members who give labels
    weight_ : what the fit's E steps weigh in `posterior_`; the average weighs the rest

    Examples
    --------
    >>> SoftDawidSkene().fit_predict_proba([[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.4, 0.6]]]).argmax(1).tolist()
    [0, 1]
    """

    averaging: float | Mapping[int, float] = 1e-3
    optimizer_steps: int = 5
    learning_rate: float = 1e-4
    weight_decay: float = 1e-4
    optimizer_moments: Literal["kept", "anew"] = "kept"
    init_smoothing: float | Literal["auto"] = "auto"
    init_rows: Literal["rates", "counts"] = "rates"
    init_iterations: int = 0
    init_ties: Literal["split", "first"] = "split"
    silent_classes: Literal["average", "flat", "floor"] = "average"
    floor: float = 1e-10
    tol: float | None = None
    solver: Literal["adamw", "exact"] = "adamw"
    smoothing: float = 0.01

    command: ClassVar[str] = "soft-dawid-skene"
    learned: ClassVar[Learned] = {
        "weight_": Number(most=1),
        "silence_": SILENCE,
        "statistics_": LOG_STATISTICS,
        "is_soft_": BY_MEMBER_FLAGS,
        "class_prior_": Shape("k", is_positive=True, most=1),  # floored, so that it sums to 1 or more
        "moments_": Record(Moments, {"first": Shape("mkk", is_signed=True), "second": "mkk", "n_steps": Number()}),
        "table_": "mkk",
        "log_normalizers_": Shape("mk", is_signed=True),
    }

    @classmethod
    def paper(
        cls, name: Literal["mnist", "cifar10", "cifar100", "imagenet"], *, start: Literal["paper", "ours"] = "paper"
    ) -> SoftDawidSkene:
        """The paper's method to the letter, with the hyper-parameters that its appendix D has for a data set.

        The paper starts from "one iteration of DS" by crowd-kit: the votes' M step, then an E and an M step, counts
        floored and not smoothed, where a member that finds several classes equally probable votes for the one that is
        listed first. `start="ours"` has the same hyper-parameters and the start of `SoftDawidSkene()`,
        which gains more.

        >>> SoftDawidSkene.paper("imagenet", start="ours")
        SoftDawidSkene(averaging={0: 0.001, 20: 1e-05}, max_iter=25, optimizer_steps=1)
        """
        if name not in PAPER:
            raise ValueError(f"name must be one of {list(PAPER)}; got {name!r}")
        if start not in STARTS:
            raise ValueError(f"start must be one of {list(STARTS)}; got {start!r}")
        return cls(**PAPER[name], **STARTS[start])

    def predict_proba(self, predictions: Any, *, pure: bool = False) -> Array:
        """The posterior (items, classes) of new items, by one E step.

        As in the fit, the average weighs 1 - `weight_` and the E step's posterior `weight_`; with `pure=True` it is the
        E step's alone, which is overconfident.
        """
        method, aligned = self.pure() if pure else self, self.aligned(predictions)
        return method.rule().posterior(aligned)

    @classmethod
    def _renamed(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a saved file: earlier versions had `guard_silent_classes`, and took the first of a tie."""
        if "guard_silent_classes" not in parameters:
            return parameters
        kept = {name: value for name, value in parameters.items() if name != "guard_silent_classes"}
        silent = "average" if parameters["guard_silent_classes"] else "flat"
        return {"init_ties": "first", **kept, "silent_classes": silent}

    def pure(self) -> SoftDawidSkene:
        """The same fit, answering new items by the E step alone, as the paper's eq. 3 does."""
        self._check_is_fitted()
        alone = copy(self)
        alone.weight_ = 1.0
        alone._posterior = None  # noqa: SLF001 - that of the fit is not what this one answers
        return alone

    # ---- fitting ------------------------------------------------------------------------------------------

    def _fit(self, predictions: AbstractPredictions, known: IntArray | None) -> Outcome:
        """Algorithm 1 of the paper."""
        model = self._model(predictions.is_soft, predictions.n_classes)
        reader, averages = self._readers(predictions, known)
        expectation = reader.expectation(remembers=True)

        # Initialise Π and ν with Dawid-Skene on the members' labels.
        start, minds_silence = self._start(model, predictions, known)

        def iterate(state: State, iteration: int) -> tuple[State, float]:
            weight = self._averaging_at(iteration)  # α
            # E step: p_new(t_i) of all items under the old ν and Π (eq. 3).
            silence = Silence.of(state.statistics) if minds_silence else None
            new = expectation(heard(model.scores(state.parameters), silence), averaging=weight)
            # Polyak averaging: t = (1 - α) p_old + α p_new (eq. 4). Statistics are linear in t, so they are averaged.
            statistics = state.statistics.averaged_into(new, weight)
            # M step: ν is the mean of t (eq. 2), and the optimizer takes Π some steps up Q (eq. 1).
            emissions = model.maximize(statistics, state.parameters)
            return State(emissions, statistics), model.objective(emissions, statistics)

        with self._progress(reader, self.max_iter + 1):  # and a pass for the average's statistics
            # Initialise t with the average (EA); iterate until Q has converged, or for a number of iterations.
            fit = em(
                iterate,
                State(start, reader.average_statistics(averages)),
                max_iter=self.max_iter,
                tol=self.tol,
                n_items=n_counted(predictions),
            )
        self.weight_ = 1 - float(np.prod([1 - self._averaging_at(i) for i in range(len(fit.history))]))
        self._learn(model, fit.state, minds_silence=minds_silence)
        return Outcome(expectation.posterior(averages), fit.state.statistics, fit.history, fit.converged)

    def _start(
        self, model: DirichletModel, predictions: AbstractPredictions, known: IntArray | None
    ) -> tuple[Emissions, bool]:
        """The first ν and Π, and whether it counts who does not answer.

        They are those of an M step of Dawid-Skene on the votes, after some iterations of an E and an M step.
        """
        labels = predictions.ballots() if self.init_ties == "split" else predictions.harden()
        votes = open_reader(labels, chunk_size=self.chunk_size, known=known)
        counts = votes.average_statistics(votes)
        minds_silence = self._minds_silence(counts, predictions)
        for _ in range(self.init_iterations):
            counts = votes.expectation(remembers=False)(self._label_scores(model, counts))
        table, hard = self._start_table(counts), ~model.is_soft
        if self.init_rows == "rates":
            table /= table.sum(axis=-1, keepdims=True)
        if self.silent_classes == "floor":
            table[:, silent_classes(counts)] = self.floor
            np.maximum(table, self.floor, out=table)
        log_normalizers = np.stack([log_normalizer(rows) for rows in table])  # one by one, which takes less room
        if hard.any():
            table[hard], log_normalizers[hard] = smoothed_rates(counts.sums[hard], self.smoothing), 0.0
        prior = model.estimate_class_prior(counts)
        return Emissions(prior, table, log_normalizers, Moments.zero(table.shape)), minds_silence

    def _label_scores(self, model: DirichletModel, counts: Statistics) -> Scores:
        """What labels say under the rates of an M step of Dawid-Skene; a class that nobody names is no candidate."""
        rates, hard = self._start_table(counts), ~model.is_soft
        rates /= rates.sum(axis=-1, keepdims=True)
        rates[hard] = smoothed_rates(counts.sums[hard], self.smoothing)
        log_prior = np.log(model.estimate_class_prior(counts))
        log_prior[silent_classes(counts)] = -np.inf
        return Scores(log_prior, log_rates(rates), np.zeros(rates.shape[:-1]))

    def _start_table(self, counts: Statistics) -> FloatArray:
        """How often each member says what of each class, smoothed and, as in crowd-kit, floored."""
        sums = lend_to_silent_classes(counts) if self.silent_classes == "average" else counts.sums
        n_answers = counts.answer_counts.sum(axis=1)[:, None, None]
        automatic = AUTO_SMOOTHING * n_answers / len(counts.class_counts) ** 2
        table = sums + (automatic if isinstance(self.init_smoothing, str) else self.init_smoothing)
        return np.asarray(np.maximum(table, self.floor, out=table))  # a row without any is uniform

    def _partial_fit(self, predictions: AbstractPredictions, known: IntArray | None) -> Outcome:
        model = self._model(self.is_soft_, predictions.n_classes)
        reader, averages = self._readers(predictions, known)
        expectation = reader.expectation(remembers=True)
        expected = expectation(heard(model.scores(self._emissions()), self.silence_), averaging=self.weight_)
        batch = (1 - self.weight_) * reader.average_statistics(averages) + self.weight_ * expected
        statistics = self.forgetting * self.statistics_ + batch
        posterior = expectation.posterior(averages)
        # A copy, so that nothing is half-learned where this is interrupted.
        emissions = model.maximize(statistics, self._emissions().copy())
        objective = model.objective(emissions, statistics)
        self._learn(model, State(emissions, statistics), minds_silence=self.silence_ is not None)
        return Outcome(posterior, statistics, [objective], converged=False)

    def _learn(self, model: DirichletModel, state: State, *, minds_silence: bool) -> None:
        emissions: Emissions = state.parameters
        self.is_soft_ = model.is_soft
        self.silence_ = Silence.of(state.statistics) if minds_silence else None
        self.class_prior_, self.moments_ = emissions.class_prior, emissions.moments
        self.table_, self.log_normalizers_ = emissions.table, emissions.log_normalizers

    @property
    def concentration_(self) -> FloatArray:
        """The Dirichlet concentrations (members, true, predicted); NaN for members who give labels."""
        return np.where(self.is_soft_[:, None, None], self.table_, np.nan)

    @property
    def confusion_(self) -> FloatArray:  # type: ignore[override]  # computed, since it is as large as the fit itself
        """The concentrations, or rates, with rows that sum to 1."""
        return np.asarray(self.table_ / self.table_.sum(axis=-1, keepdims=True))

    # ---- using what was learned ---------------------------------------------------------------------------

    def rule(self) -> LinearRule:
        """The average and one E step, weighed as in the fit."""
        self._check_is_fitted()
        learned = (self.class_prior_, self.table_, self.log_normalizers_, self.silence_, self.weight_)
        return self._kept_rule((*learned, self.floor, self.chunk_size), self._new_rule)

    def _new_rule(self) -> LinearRule:
        scores = heard(self._model(self.is_soft_, len(self.classes_)).scores(self._emissions()), self.silence_)
        equal = np.ones(len(self.members_))
        return LinearRule(equal, ~self.is_soft_, self.weight_, scores, log_floor=self.floor, chunk_size=self.chunk_size)

    def _emissions(self) -> Emissions:
        return Emissions(self.class_prior_, self.table_, self.log_normalizers_, self.moments_)

    def _check_answers(self, predictions: AbstractPredictions) -> None:
        """Raise where a member fitted on probabilities now gives labels, or the other way round."""
        soft, hard = predictions.answering()
        for positions, was_soft, now in ((soft, False, "probabilities"), (hard, True, "labels")):
            for position in positions:
                if self.is_soft_[position] == was_soft:
                    raise InvalidPredictions(
                        f"member {predictions.members[position]!r} must answer as it did in the fit, by "
                        f"{'probabilities' if was_soft else 'labels'}; got {now}"
                    )

    def _check_learned(self) -> None:
        concentrations, rates = self.table_[self.is_soft_], self.table_[~self.is_soft_]
        if (concentrations <= 0).any() or (np.abs(rates.sum(axis=-1) - 1) > LEARNED_ROUNDING).any():
            raise InvalidPredictions(
                "'table_' must be positive for members who give probabilities, and have rows that sum to 1 for others"
            )

    # ---- options ------------------------------------------------------------------------------------------

    def _readers(self, predictions: AbstractPredictions, known: IntArray | None) -> tuple[AnyReader, AnyReader]:
        """Of logarithms, for the model, and of the probabilities as they are, for the average."""
        logarithms = open_reader(predictions, log_floor=self.floor, chunk_size=self.chunk_size, known=known)
        return logarithms, open_reader(predictions, chunk_size=self.chunk_size, known=known)

    def _model(self, is_soft: npt.NDArray[np.bool_], n_classes: int) -> DirichletModel:
        options = {field.name: getattr(self, field.name) for field in fields(DirichletModel)[2:]}
        return DirichletModel(is_soft, read_class_prior(self.class_prior, n_classes), **options)

    def _averaging_at(self, iteration: int) -> float:
        if not isinstance(self.averaging, Mapping):
            return float(self.averaging)
        return max((start, value) for start, value in self.averaging.items() if start <= iteration)[1]

    def _check_model(self) -> None:
        check_number("optimizer_steps", self.optimizer_steps, least=1, integer=True)
        check_number("init_iterations", self.init_iterations, integer=True)
        for name in ("learning_rate", "weight_decay", "smoothing"):
            check_number(name, getattr(self, name))
        check_number("floor", self.floor, least=1e-30, most=0.1)
        if self.init_smoothing != "auto":
            check_number("init_smoothing", self.init_smoothing)
        for name, words in WORDS.items():
            if getattr(self, name) not in words:
                *others, last = map(repr, words)
                raise ValueError(f"{name} must be {', '.join(others)} or {last}; got {getattr(self, name)!r}")
        schedule = self.averaging if isinstance(self.averaging, Mapping) else {0: self.averaging}
        if 0 not in schedule:
            raise ValueError(f"averaging must say what holds from iteration 0 on; got {self.averaging!r}")
        for value in schedule.values():
            check_number("averaging", value, most=1)


PAPER: dict[str, dict[str, Any]] = {
    "mnist": {"averaging": 1e-3, "max_iter": 100, "optimizer_steps": 5},
    "cifar10": {"averaging": 1e-3, "max_iter": 100, "optimizer_steps": 5},
    "cifar100": {"averaging": {0: 1e-5, 100: 1e-3}, "max_iter": 200, "optimizer_steps": 5},
    "imagenet": {"averaging": {0: 1e-3, 20: 1e-5}, "max_iter": 25, "optimizer_steps": 1},
}

STARTS: dict[str, dict[str, Any]] = {
    "paper": {"init_smoothing": 0, "init_iterations": 1, "init_ties": "first", "silent_classes": "flat"},
    "ours": {},
}

WORDS = {
    "init_rows": ("rates", "counts"),
    "init_ties": ("split", "first"),
    "optimizer_moments": ("kept", "anew"),
    "silent_classes": ("average", "flat", "floor"),
    "solver": ("adamw", "exact"),
}
"""Arguments that are one of a few words."""
