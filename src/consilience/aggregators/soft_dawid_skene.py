"""Soft Dawid-Skene (Kuzin, Isupova, Reece and Simmons 2024): Dawid-Skene for probabilities.

A member's row of probabilities, given the true class k, is Dirichlet-distributed with concentrations π_k; EM finds
them without labels. `SoftDawidSkene._fit` is the paper's Algorithm 1, with the numbers of its equations.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

import numpy as np

from consilience.aggregators.base import Outcome
from consilience.aggregators.dirichlet_model import DirichletModel, Emissions, Start
from consilience.aggregators.iterative import AbstractLatent, read_class_prior
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
from consilience.data.predictions import n_counted
from consilience.data.reading import check_number
from consilience.maths.em import Moments, Silence, State, em, heard
from consilience.passes.reader import open_reader
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.data.predictions import AbstractPredictions
    from consilience.passes.reader import AnyReader
    from consilience.system.arrays import Array, FloatArray, IntArray


@final
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
    class_prior
        None: estimated. "uniform" or one probability per class: fixed.
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
        What `partial_fit` multiplies all earlier statistics by at each batch; 1 forgets nothing. The first batch sets
        where the concentrations start from and AdamW moves slowly, so let it have some hundred items.
    chunk_size
        Items at a time; None chooses.
    verbose
        Show a progress bar.

    Attributes
    ----------
    concentration_ : (members, true, predicted); NaN for members who give labels
    weight_ : what the fit's E steps weigh in `posterior_`; the average weighs the rest

    Examples
    --------
    >>> SoftDawidSkene().fit_predict_proba([[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.4, 0.6]]]).argmax(1).tolist()
    [0, 1]
    """

    is_soft_: npt.NDArray[np.bool_]
    weight_: float
    table_: FloatArray
    log_normalizers_: FloatArray
    moments_: Moments

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

    def __init__(
        self,
        *,
        averaging: float | Mapping[int, float] = 1e-3,
        max_iter: int = 100,
        optimizer_steps: int = 5,
        learning_rate: float = 1e-4,
        weight_decay: float = 1e-4,
        optimizer_moments: Literal["kept", "anew"] = "kept",
        init_smoothing: float | Literal["auto"] = "auto",
        init_rows: Literal["rates", "counts"] = "rates",
        init_iterations: int = 0,
        init_ties: Literal["split", "first"] = "split",
        silent_classes: Literal["average", "flat", "floor"] = "average",
        floor: float = 1e-10,
        tol: float | None = None,
        class_prior: Any = None,
        missing: Literal["auto", "ignored", "informative"] = "auto",
        solver: Literal["adamw", "exact"] = "adamw",
        smoothing: float = 0.01,
        forgetting: float = 1.0,
        chunk_size: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.averaging = averaging
        self.max_iter = max_iter
        self.optimizer_steps = optimizer_steps
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.optimizer_moments = optimizer_moments
        self.init_smoothing = init_smoothing
        self.init_rows = init_rows
        self.init_iterations = init_iterations
        self.init_ties = init_ties
        self.silent_classes = silent_classes
        self.floor = floor
        self.tol = tol
        self.class_prior = class_prior
        self.missing = missing
        self.solver = solver
        self.smoothing = smoothing
        self.forgetting = forgetting
        self.chunk_size = chunk_size
        self.verbose = verbose

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
        """The first ν and Π, and whether it counts who does not answer."""
        labels = predictions.ballots() if self.init_ties == "split" else predictions.harden()
        votes = open_reader(labels, chunk_size=self.chunk_size, known=known)
        counts = votes.average_statistics(votes)
        start = Start(self.init_smoothing, self.init_rows, self.init_iterations, self.silent_classes)
        return start.emissions(model, votes, counts), self._minds_silence(counts, predictions)

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
        """Raise where concentrations are not positive, or rates do not sum to 1."""
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
        options = {name: getattr(self, name) for name in OF_MODEL}
        return DirichletModel(is_soft, read_class_prior(self.class_prior, n_classes), **options)

    def _averaging_at(self, iteration: int) -> float:
        if not isinstance(self.averaging, Mapping):
            return float(self.averaging)
        return max((start, value) for start, value in self.averaging.items() if start <= iteration)[1]

    def _check_parameters(self, n_members: int, n_classes: int) -> None:
        del n_members
        self._check_loop()
        read_class_prior(self.class_prior, n_classes)
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

OF_MODEL = (
    "solver",
    "optimizer_steps",
    "learning_rate",
    "weight_decay",
    "optimizer_moments",
    "smoothing",
    "floor",
)
"""Arguments that the model is made of."""

WORDS = {
    "init_rows": ("rates", "counts"),
    "init_ties": ("split", "first"),
    "optimizer_moments": ("kept", "anew"),
    "silent_classes": ("average", "flat", "floor"),
    "solver": ("adamw", "exact"),
}
"""Arguments that are one of a few words."""
