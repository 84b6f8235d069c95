"""The base of methods that learn confusion matrices from hard labels by EM."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from consilience.aggregators.base import Outcome
from consilience.aggregators.iterative import AbstractIterative
from consilience.answering.linear import LinearRule
from consilience.maths.em import em
from consilience.maths.model import Model, State
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


class AbstractLabelEM(AbstractIterative):
    """EM on the members' labels, from the shares of votes; probabilities count as their most probable class."""

    parameters_: Any
    objective_never_falls: ClassVar[bool] = True

    class_prior: Any

    @abstractmethod
    def _model(self, n_classes: int) -> LabelModel:
        """The model with the constructor's arguments."""

    def _fit(self, predictions: AbstractPredictions, known: IntArray | None) -> Outcome:
        model = self._model(predictions.n_classes)
        reader = self._reader(predictions, known)
        expectation = reader.expectation(remembers=False)

        def step(state: State, _: int) -> tuple[State, float]:
            parameters = model.maximize(state.statistics, state.parameters)
            statistics = expectation(model.scores(parameters))
            return State(parameters, statistics), statistics.log_evidence + model.log_prior(parameters)

        start = State(None, reader.average_statistics(reader))
        # One member alone always agrees with its own estimate. The first step believes it; more steps would drift.
        is_alone = (start.statistics.answer_counts.sum(axis=1) > 0).sum() == 1
        max_iter, tol = (1, None) if is_alone else (self.max_iter, self.tol)
        with self._progress(reader, max_iter):
            fit = em(step, start, max_iter=max_iter, tol=tol, n_items=predictions.n_items)
        posterior = reader.scored_posterior(model.scores(fit.state.parameters), predictions.example())
        self._learn(model, fit.state.parameters)
        return Outcome(posterior, fit.state.statistics, fit.history, fit.converged)

    def _partial_fit(self, predictions: AbstractPredictions, known: IntArray | None) -> Outcome:
        model = self._model(predictions.n_classes)
        reader = self._reader(predictions, known)
        scores = model.scores(self.parameters_)
        batch = reader.expectation(remembers=False)(scores)
        statistics = self.forgetting * self.statistics_ + batch
        objective = batch.log_evidence + model.log_prior(self.parameters_)
        posterior = reader.scored_posterior(scores, predictions.example())
        self._learn(model, model.maximize(statistics, self.parameters_))
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
        model = self._model(n_classes)
        self.statistics_ = self.statistics_ + pseudo
        self._learn(model, model.maximize(self.statistics_, self.parameters_))

    def _learn(self, model: LabelModel, parameters: Any) -> None:
        self.parameters_ = parameters
        self.class_prior_, self.confusion_ = model.rates(parameters)

    def rule(self) -> LinearRule:
        """The softmax of scores that are linear in the labels."""
        self._check_is_fitted()
        n_members, n_classes = len(self.members_), len(self.classes_)
        scores = self._model(n_classes).scores(self.parameters_)
        is_label = np.ones(n_members, dtype=bool)
        return LinearRule(np.ones(n_members), is_label, 1.0, scores, chunk_size=self.chunk_size)

    def _reader(self, predictions: AbstractPredictions, known: IntArray | None) -> AbstractReader:
        return open_reader(predictions.harden(), chunk_size=self.chunk_size, known=known)
