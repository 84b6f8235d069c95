"""The base of methods that learn confusion matrices from hard labels by EM."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

from consilience.aggregators.base import Outcome
from consilience.aggregators.iterative import AbstractLatent
from consilience.answering.linear import LinearRule
from consilience.maths.em import em
from consilience.maths.model import Model, Scores, State
from consilience.maths.silence import Silence, heard
from consilience.maths.statistics import Statistics
from consilience.passes.reader import open_reader

if TYPE_CHECKING:
    from consilience.data.predictions import AbstractPredictions
    from consilience.passes.reader import AbstractReader
    from consilience.system.arrays import FloatArray, IntArray


class LabelModel(Model, Protocol):
    """A model of hard labels."""

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
    objective_never_falls: ClassVar[bool] = True

    class_prior: Any

    @abstractmethod
    def _model(self, n_classes: int, *, ordered: bool) -> LabelModel:
        """The model with the constructor's arguments, of classes that are ratings if they are `ordered`."""

    def _fit(self, predictions: AbstractPredictions, known: IntArray | None) -> Outcome:
        model = self._model(predictions.n_classes, ordered=predictions.ordered)
        reader = self._reader(predictions, known)
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
            fit = em(step, start, max_iter=max_iter, tol=tol, n_items=predictions.n_counted)
        posterior = reader.scored_posterior(fit.state.parameters.scores(model), predictions.example())
        self._learn(model, fit.state.parameters)
        return Outcome(posterior, fit.state.statistics, fit.history, fit.converged)

    def _partial_fit(self, predictions: AbstractPredictions, known: IntArray | None) -> Outcome:
        model = self._model(predictions.n_classes, ordered=self.ordered_)
        reader = self._reader(predictions, known)
        before = Fitted(self.parameters_, self.silence_)
        batch = reader.expectation(remembers=False)(before.scores(model))
        statistics = self.forgetting * self.statistics_ + batch
        objective = batch.log_evidence + before.log_prior(model)
        posterior = reader.scored_posterior(before.scores(model), predictions.example())
        self._learn(model, Fitted.to(statistics, model, minds_silence=self._minds_silence(statistics, predictions)))
        return Outcome(posterior, statistics, [objective], converged=False)

    def _steady_start(self) -> None:
        """Add one pseudo-item per class, which every member probably answers right.

        A first batch may be small and lack classes. Without this, classes that nothing is known of yet could swap.
        """
        n_members, n_classes = self.statistics_.answer_counts.shape
        right, wrong = 0.5 + 0.5 / n_classes, 0.5 / n_classes
        table = wrong + (right - wrong) * np.eye(n_classes)
        counts = np.ones((n_members, n_classes))
        pseudo = Statistics(0.0, np.ones(n_classes), counts, counts[:, :, None] * table, 0.0)
        model = self._model(n_classes, ordered=self.ordered_)
        self.statistics_ = self.statistics_ + pseudo
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

    def _reader(self, predictions: AbstractPredictions, known: IntArray | None) -> AbstractReader:
        return open_reader(predictions.ballots(), chunk_size=self.chunk_size, known=known)
