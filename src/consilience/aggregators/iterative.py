"""The base of methods that iterate: their shared arguments and the progress bar."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np

from consilience.aggregators.base import AbstractAggregator, Outcome
from consilience.answering.linear import LinearRule
from consilience.data.predictions import example_of, n_counted
from consilience.data.reading import check_number
from consilience.maths.em import Model, Scores, Silence, State, Statistics, em, heard, keeps_silent
from consilience.passes.reader import open_reader
from consilience.system.errors import InvalidPredictions
from consilience.system.machine import show_progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consilience.data.axes import Axes
    from consilience.data.predictions import AbstractPredictions
    from consilience.passes.reader import AnyReader
    from consilience.system.arrays import FloatArray, IntArray


class AbstractIterative(AbstractAggregator):
    """EM or something like it: passes over the items until the objective settles."""

    max_iter: int
    tol: float | None
    forgetting: float
    chunk_size: int | None
    verbose: bool

    @contextmanager
    def _progress(self, reader: AnyReader, n_passes: int) -> Iterator[None]:
        """Show how many chunks of so many passes are done, where the user wants to see it."""
        n_chunks = n_passes * len(reader.chunks)
        with show_progress(type(self).__name__, n_chunks, is_shown=self.verbose) as progress:
            reader.on_chunk = progress.finish
            yield

    def _check_loop(self) -> None:
        """Raise where an argument that all these methods share makes no sense."""
        check_number("max_iter", self.max_iter, least=1, integer=True)
        if self.tol is not None:
            check_number("tol", self.tol)
        check_number("forgetting", self.forgetting, most=1)
        if self.chunk_size is not None:
            check_number("chunk_size", self.chunk_size, least=1, integer=True)


class AbstractLatent(AbstractIterative):
    """A model of how members err, given a truth that is not seen; who keeps silent may tell something too."""

    class_prior: Any
    missing: Literal["auto", "ignored", "informative"]
    silence_: Silence | None = None

    def _check_loop(self) -> None:
        """Raise where an argument that all these methods share makes no sense."""
        super()._check_loop()
        if self.missing not in ("auto", "ignored", "informative"):
            raise ValueError(f"missing must be 'auto', 'ignored' or 'informative'; got {self.missing!r}")

    def _check_order(self, axes: Axes) -> None:
        axes.classes.check_order(self.class_prior, "class_prior")

    def _minds_silence(self, votes: Statistics, predictions: AbstractPredictions) -> bool:
        """Whether it counts who does not answer, by the statistics of the votes."""
        if self.missing == "ignored" or (self.missing == "auto" and not keeps_silent(votes)):
            return False
        has_repeats = predictions.has_repeats()
        if has_repeats and self.missing == "informative":
            raise InvalidPredictions("missing='informative' needs one answer of each member to an item; got more")
        return not has_repeats


def read_class_prior(class_prior: Any, n_classes: int) -> FloatArray | None:
    """A fixed class prior as an array; None where it is to be estimated."""
    if class_prior is None:
        return None
    if isinstance(class_prior, str):
        if class_prior != "uniform":
            raise ValueError(f"class_prior must be None, 'uniform' or one probability per class; got {class_prior!r}")
        return np.full(n_classes, 1 / n_classes)
    try:
        prior = np.asarray(class_prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"class_prior must be None, 'uniform' or one probability per class; got {class_prior!r}"
        ) from None
    if prior.shape != (n_classes,):
        raise ValueError(f"class_prior must have one entry for each of {n_classes} classes; got {prior.shape}")
    if not (prior > 0).all() or abs(prior.sum() - 1) > 1e-6:
        raise ValueError(
            f"class_prior must be positive and sum to 1; it sums to {prior.sum():.6g} from {prior.min():.6g} up"
        )
    return prior


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
            fit = em(step, start, max_iter=max_iter, tol=tol, n_items=n_counted(predictions))
        posterior = reader.scored_posterior(fit.state.parameters.scores(model), example_of(predictions))
        self._learn(model, fit.state.parameters)
        return Outcome(posterior, fit.state.statistics, fit.history, fit.converged)

    def _partial_fit(self, predictions: AbstractPredictions, known: IntArray | None) -> Outcome:
        model = self._model(predictions.n_classes, ordered=self.ordered_)
        reader = self._reader(predictions, known)
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

    def _reader(self, predictions: AbstractPredictions, known: IntArray | None) -> AnyReader:
        return open_reader(predictions.ballots(), chunk_size=self.chunk_size, known=known)
