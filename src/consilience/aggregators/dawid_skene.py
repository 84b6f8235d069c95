"""Dawid and Skene (1979): each member has a confusion matrix, and EM finds it without labels."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, final

import numpy as np

from consilience.aggregators.base import AbstractLatent, Outcome, read_class_prior
from consilience.answering.declaration import CLASS_PRIOR, CONFUSION, SILENCE, VOTE_STATISTICS, Learned, Record
from consilience.answering.linear import LinearRule
from consilience.data.predictions import AbstractPredictions, example_of, n_counted
from consilience.data.validation import check_number
from consilience.maths.em import (
    Scores,
    Silence,
    State,
    Statistics,
    em,
    heard,
    log_rates,
    pseudo_answers,
    smoothed_rates,
)
from consilience.passes.reader import open_reader
from consilience.system.arrays import FloatArray, IntArray


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """How often each class occurs, and how often each member calls class k class j."""

    class_prior: FloatArray  # (true,)
    confusion: FloatArray  # (members, true, predicted)


@final
@dataclass(frozen=True, slots=True, eq=False)
class CategoricalModel:
    """t ~ Categorical(ν); a member's label given t = k ~ Categorical(π_k).

    The prior is that of pseudo-answers, to each cell of each confusion matrix and to each class.
    """

    smoothing: float
    class_prior: FloatArray | None
    ordered: bool = False

    def maximize(self, statistics: Statistics, _: Rates | None = None) -> Rates:
        """The maximum of the expected log-likelihood plus `log_prior`."""
        confusion = smoothed_rates(statistics.sums, self.smoothing, ordered=self.ordered)
        if self.class_prior is not None:
            return Rates(self.class_prior, confusion)
        counts = statistics.class_counts + self.smoothing
        return Rates(counts / counts.sum(), confusion)

    def scores(self, rates: Rates) -> Scores:
        """The logarithms of the rates."""
        n_members, n_classes, _ = rates.confusion.shape
        return Scores(log_rates(rates.class_prior), log_rates(rates.confusion), np.zeros((n_members, n_classes)))

    def log_prior(self, rates: Rates) -> float:
        """The logarithm of the prior of the rates, up to a constant; zero without smoothing."""
        if self.smoothing == 0:
            return 0.0
        answers = pseudo_answers(rates.confusion.shape[1], self.smoothing, ordered=self.ordered)
        total = (answers * log_rates(rates.confusion)).sum()
        if self.class_prior is None:
            total += self.smoothing * log_rates(rates.class_prior).sum()
        return float(total)

    def rates(self, rates: Rates) -> tuple[FloatArray, FloatArray]:
        """The parameters as they are."""
        return rates.class_prior, rates.confusion


class LabelModel(Protocol):
    """The mathematics of a model of hard labels."""

    def maximize(self, statistics: Statistics, start: Any, /) -> Any:
        """The best parameters given the statistics."""

    def scores(self, parameters: Any, /) -> Scores:
        """The linear layer of the E step."""

    def log_prior(self, parameters: Any, /) -> float:
        """What the objective adds to the evidence of the items."""

    def rates(self, parameters: Any, /) -> tuple[FloatArray, FloatArray]:
        """The class prior and the confusion matrices that the parameters stand for."""


class Fitted(NamedTuple):
    """The parameters of a model, and how often members answer where silence counts."""

    parameters: Any
    silence: Silence | None

    @classmethod
    def to(cls, statistics: Statistics, model: LabelModel, *, minds_silence: bool) -> Fitted:
        """What is most probable given the statistics."""
        return cls(model.maximize(statistics, None), Silence.of(statistics) if minds_silence else None)

    def scores(self, model: LabelModel) -> Scores:
        """The linear layer of the E step."""
        return heard(model.scores(self.parameters), self.silence)

    def log_prior(self, model: LabelModel) -> float:
        """What the objective adds to the evidence of the items."""
        return model.log_prior(self.parameters) + (0.0 if self.silence is None else self.silence.log_prior())


class AbstractLabelEM(AbstractLatent):
    """EM on the members' labels, from the shares of votes; probabilities count as votes (`SoftMember.ballots`)."""

    parameters_: Any
    silence_: Silence | None
    objective_never_falls: ClassVar[bool] = True
    learned: ClassVar[Learned] = {"silence_": SILENCE, "statistics_": VOTE_STATISTICS, "confusion_": CONFUSION}

    @abstractmethod
    def _model(self, n_classes: int, *, ordered: bool) -> LabelModel:
        """The model with the constructor's arguments, of classes that are ratings if they are `ordered`."""

    def _fit(self, predictions: AbstractPredictions, known: IntArray | None) -> Outcome:
        model = self._model(predictions.n_classes, ordered=predictions.ordered)
        reader = open_reader(predictions.ballots(), chunk_size=self.chunk_size, known=known)
        expectation = reader.expectation(remembers=False)

        start = State(None, reader.average_statistics(reader))
        minds_silence = self._minds_silence(start.statistics, predictions)

        def step(state: State, _: int) -> tuple[State, float]:
            fitted = Fitted.to(state.statistics, model, minds_silence=minds_silence)
            statistics = expectation(fitted.scores(model))
            return State(fitted, statistics), statistics.log_evidence + fitted.log_prior(model)

        # One member alone always agrees with its own estimate. The first step believes it; more steps would drift.
        is_alone = (start.statistics.answer_counts.sum(axis=1) > 0).sum() == 1
        max_iter, tol = (1, None) if is_alone else (self.max_iter, self.tol)
        with self._progress(reader, max_iter):
            fit = em(step, start, max_iter=max_iter, tol=tol, n_items=n_counted(predictions))
        posterior = reader.scored_posterior(fit.state.parameters.scores(model), example_of(predictions))
        self._learn(model, fit.state.parameters)
        return Outcome(posterior, fit.state.statistics, fit.history, fit.converged)

    def _partial_fit(self, predictions: AbstractPredictions, known: IntArray | None) -> Outcome:
        model = self._model(predictions.n_classes, ordered=self.ordered_)
        reader = open_reader(predictions.ballots(), chunk_size=self.chunk_size, known=known)
        before = Fitted(self.parameters_, self.silence_)
        batch = reader.expectation(remembers=False)(before.scores(model))
        statistics = self.forgetting * self.statistics_ + batch
        objective = batch.log_evidence + before.log_prior(model)
        posterior = reader.scored_posterior(before.scores(model), example_of(predictions))
        self._learn(model, Fitted.to(statistics, model, minds_silence=self._minds_silence(statistics, predictions)))
        return Outcome(posterior, statistics, [objective], converged=False)

    def _steady_start(self) -> None:
        """Add one pseudo-item per class, which every member probably answers right.

        A first batch may be small and lack classes. Without this, classes that nothing is known of yet could swap.
        """
        n_members, n_classes = self.statistics_.answer_counts.shape
        table = 0.5 / n_classes + 0.5 * np.eye(n_classes)
        counts, sums = np.ones((n_members, n_classes)), np.tile(table, (n_members, 1, 1))
        self.statistics_ += Statistics(0.0, np.ones(n_classes), counts, sums, 0.0)
        model = self._model(n_classes, ordered=self.ordered_)
        self._learn(model, Fitted.to(self.statistics_, model, minds_silence=self.silence_ is not None))

    def _learn(self, model: LabelModel, fitted: Fitted) -> None:
        self.parameters_, self.silence_ = fitted
        self.class_prior_, self.confusion_ = model.rates(fitted.parameters)

    def rule(self) -> LinearRule:
        """The softmax of scores that are linear in the labels."""
        self._check_is_fitted()
        return self._kept_rule((self.parameters_, self.silence_, self.class_prior, self.chunk_size), self._new_rule)

    def _new_rule(self) -> LinearRule:
        n_members, n_classes = len(self.members_), len(self.classes_)
        scores = Fitted(self.parameters_, self.silence_).scores(self._model(n_classes, ordered=self.ordered_))
        is_label = np.ones(n_members, dtype=bool)
        return LinearRule(np.ones(n_members), is_label, 1.0, scores, chunk_size=self.chunk_size)


@final
@dataclass(kw_only=True, repr=False, eq=False)
class DawidSkene(AbstractLabelEM):
    """Dawid-Skene: EM on hard labels, in log space.

    `history_` is the log-likelihood Σ_i log Σ_k ν_k Π_m π_{m,k,label} plus the logarithm of the smoothing prior; it
    never falls, and its last value is that of the parameters returned. Accuracy is often better than the average's;
    the probabilities are far too sure of themselves, because members are not independent.

    Parameters
    ----------
    smoothing
        Pseudo-answers in each cell of the confusion matrices (twice on the diagonal) and for each class. 0 is the
        maximum likelihood of 1979, in which a rate of zero forbids a class for ever. Of ordered classes, they lean to
        the neighbours of the true one.
    class_prior
        None: estimated. "uniform" or one probability per class: fixed.
    missing
        Whether a missing answer is information. "ignored": no. "informative": yes, each member answers items of each
        class at a rate of its own, like a labelling function that names one class or stays silent; a member who was
        not asked then counts as silent. "auto": "informative" if most answers come from members who name few of the
        classes and leave items out.
    max_iter, tol
        At most so many iterations; fewer when the objective changes by less than `tol` per item.
    forgetting
        What `partial_fit` multiplies all earlier statistics by at each batch; 1 forgets nothing.
    chunk_size
        Items at a time; None chooses.
    verbose
        Show a progress bar.

    Attributes
    ----------
    silence_ : how often members answer, `answering` (members, true); None where missing answers are ignored

    Examples
    --------
    >>> from consilience import Predictions
    >>> ds = DawidSkene().fit(Predictions.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [1, 0, 0, 1]]))
    >>> ds.predict(Predictions.from_labels([[0], [0], [1]])).tolist()
    [0]
    """

    smoothing: float = 0.01

    command: ClassVar[str] = "dawid-skene"
    learned: ClassVar[Learned] = {
        "parameters_": Record(Rates, {"class_prior": CLASS_PRIOR, "confusion": CONFUSION}),
        **AbstractLabelEM.learned,
    }

    def _check_model(self) -> None:
        check_number("smoothing", self.smoothing)

    def _model(self, n_classes: int, *, ordered: bool) -> CategoricalModel:
        return CategoricalModel(self.smoothing, read_class_prior(self.class_prior, n_classes), ordered)
