"""What the methods that learn confusion matrices from hard labels have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

from consilience.aggregators.base import AbstractAggregator
from consilience.answering.rule import Rule
from consilience.maths.em import em
from consilience.maths.statistics import Statistics
from consilience.passes.readers import open_reader
from consilience.system.progress import show_progress

if TYPE_CHECKING:
    from consilience.data.predictions import Predictions
    from consilience.passes.kernels import Scores
    from consilience.system.arrays import FloatArray, IntArray


class LabelModel(Protocol):
    """The maths of a model of hard labels: no data, no state."""

    def maximize(self, statistics: Statistics) -> Any:
        """The best parameters given the statistics."""

    def scores(self, parameters: Any) -> Scores:
        """The linear layer of the E step."""

    def log_prior(self, parameters: Any) -> float:
        """What the objective adds to the evidence of the items."""

    def rates(self, parameters: Any) -> tuple[FloatArray, FloatArray]:
        """The class prior and the confusion matrices that the parameters stand for."""


class State(NamedTuple):
    """Parameters, and the statistics of the responsibilities they give."""

    parameters: Any
    statistics: Statistics


class AbstractLabelEM(AbstractAggregator):
    """EM on the members' labels, from the shares of votes; probabilities count as their most probable class."""

    parameters_: Any
    objective_never_falls: ClassVar[bool] = True

    class_prior: Any
    max_iter: int
    tol: float | None
    forgetting: float
    chunk_size: int | None
    verbose: bool

    @abstractmethod
    def _model(self, n_classes: int) -> LabelModel:
        """The model with the constructor's arguments."""

    def _fit(self, predictions: Predictions, known: IntArray | None) -> None:
        model = self._model(predictions.n_classes)
        reader = self._reader(predictions, known)
        expectation = reader.expectation(remembers=False)

        def step(state: State, _: int) -> tuple[State, float]:
            parameters = model.maximize(state.statistics)
            statistics = expectation(model.scores(parameters))
            return State(parameters, statistics), statistics.log_evidence + model.log_prior(parameters)

        start = State(None, reader.average_statistics(reader))
        # A member alone agrees with whatever is made of its answers: the first step believes it, more would drift.
        is_alone = (start.statistics.answer_counts.sum(axis=1) > 0).sum() == 1
        max_iter, tol = (1, None) if is_alone else (self.max_iter, self.tol)
        n_steps = max_iter * len(reader.chunks)
        with show_progress(type(self).__name__, n_steps, is_shown=self.verbose) as progress:
            reader.on_chunk = progress.finish
            fit = em(step, start, max_iter=max_iter, tol=tol, n_items=predictions.n_items)
        self.history_, self.n_iter_, self.converged_ = fit.history, len(fit.history), fit.converged
        self._believe(reader.scored_belief(model.scores(fit.state.parameters), predictions.example()))
        self._learn(model, fit.state)

    def _partial_fit(self, predictions: Predictions, known: IntArray | None) -> None:
        model = self._model(predictions.n_classes)
        reader = self._reader(predictions, known)
        scores = model.scores(self.parameters_)
        batch = reader.expectation(remembers=False)(scores)
        statistics = self.forgetting * self.statistics_ + batch
        self.history_, self.n_iter_ = [batch.log_evidence + model.log_prior(self.parameters_)], 1
        self.converged_ = False
        self._believe(reader.scored_belief(scores, predictions.example()))
        self._learn(model, State(model.maximize(statistics), statistics))

    def _first_partial_fit(self, predictions: Predictions) -> None:
        """Steady a stream's beginning: one pseudo-item per class, which every member probably answers right.

        A first batch may be small and lack classes. Without this, classes that nothing is known of yet could swap.
        """
        n_classes = predictions.n_classes
        right, wrong = 0.5 + 0.5 / n_classes, 0.5 / n_classes
        table = wrong + (right - wrong) * np.eye(n_classes)
        counts = np.ones((predictions.n_members, n_classes))
        pseudo = Statistics(0.0, np.ones(n_classes), counts, counts[:, :, None] * table, 0.0)
        model = self._model(n_classes)
        statistics = self.statistics_ + pseudo
        self._learn(model, State(model.maximize(statistics), statistics))

    def _learn(self, model: LabelModel, state: State) -> None:
        self.parameters_, self.statistics_ = state
        self.class_prior_, self.confusion_ = model.rates(state.parameters)

    def rule(self, predictions: Predictions) -> Rule:
        """The softmax of scores that are linear in the labels."""
        scores = self._model(predictions.n_classes).scores(self.parameters_)
        no_weights = np.ones(predictions.n_members)
        return Rule(1.0, scores, no_weights, reads_labels=True, chunk_size=self.chunk_size)

    def _reader(self, predictions: Predictions, known: IntArray | None) -> Any:
        return open_reader(predictions.harden(), chunk_size=self.chunk_size, known=known)
