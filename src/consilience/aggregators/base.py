"""What every aggregator has in common: the scikit-learn-like face."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from consilience.answering import saving
from consilience.answering.frozen import FrozenRule
from consilience.answering.onnx import write_onnx
from consilience.data import learned_frames
from consilience.data.axes import array_of_names
from consilience.data.labels import known_labels, on_classes
from consilience.data.predictions import Predictions
from consilience.maths.statistics import Statistics
from consilience.passes.readers import check_sizes, read_anywhere
from consilience.system.arrays import Array, FloatArray, IntArray, position_of_largest
from consilience.system.extras import extra

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    from consilience.answering.rule import Rule
    from consilience.data.axes import Axes
    from consilience.data.learned_frames import Library, Orientation
    from consilience.passes.belief import Belief


class AbstractAggregator(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """Fuses the predictions of several members into one posterior per item.

    Attributes
    ----------
    posterior_ : (items, classes), of the items fitted, in the array library they came in. A large one (over 16 million
        numbers) is computed when it is first asked for, from the arrays given to `fit`; `posterior_chunks` never
        holds all of it
    class_prior_ : (classes,)
    confusion_ : (members, true, predicted), rows sum to 1
    statistics_ : what was learned from, in a form that adds up
    history_, n_iter_, converged_ : the objective after each iteration (of the last fit or batch), how many there were,
        and whether it settled (never said of a fit without `tol`)
    members_, items_, classes_ : names
    """

    class_prior_: FloatArray
    confusion_: FloatArray
    statistics_: Statistics
    history_: list[float]
    n_iter_: int
    converged_: bool
    members_: list[Any]
    items_: list[Any]
    classes_: list[Any]

    _belief: Belief | None = None
    _posterior_values: Array | None = None

    _saved_kinds: ClassVar[dict[str, type[Any]]] = {"statistics_": Statistics}

    # ---- the interface ------------------------------------------------------------------------------------

    def fit(self, predictions: Any, labels: Any = None) -> Self:
        """Learn from predictions, and from known labels where there are any (-1 where unknown)."""
        predictions = read_anywhere(predictions)
        known = self._known(labels, predictions.axes)
        self._check_parameters(predictions)
        self._fit(predictions, known)
        self._remember_names(predictions)
        return self

    def fit_predict_proba(self, predictions: Any, labels: Any = None) -> Array:
        """The posterior (items, classes) of the items themselves."""
        return self.fit(predictions, labels).posterior_

    def fit_predict(self, predictions: Any, labels: Any = None) -> npt.NDArray[Any]:
        """The most probable class of each item, by name."""
        return self._names_of(self.fit_predict_proba(predictions, labels))

    def predict_proba(self, predictions: Any) -> Array:
        """The posterior (items, classes) of new items, by what was learned; nothing more is learned."""
        return self._posterior(self.aligned(predictions))

    def predict(self, predictions: Any) -> npt.NDArray[Any]:
        """The most probable class of each new item, by name; the first class wins a tie."""
        return self._names_of(self.predict_proba(predictions))

    @property
    def posterior_(self) -> Array:
        """The posterior (items, classes) of the items fitted."""
        if self._posterior_values is None:
            if self._belief is None:
                raise AttributeError(
                    f"this {type(self).__name__} has no posterior_: it is not fitted, or saved without"
                )
            self._posterior_values = self._belief.to_array()
            if not self._belief.is_remote:
                self._belief = None  # and with it the arrays that were fitted
        return self._posterior_values

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle or a deep copy holds: the posterior itself, not how to compute it."""
        if self._belief is not None:
            _ = self.posterior_
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_belief", None)
        return state

    def posterior_chunks(self) -> Iterator[tuple[int, int, Array]]:
        """The posterior of the items fitted, some at a time: first item, item after the last, (items, classes)."""
        if self._belief is None:
            yield 0, len(self.posterior_), self.posterior_
        else:
            yield from self._belief.chunks()

    def posterior_frame(self, library: Library = "pandas") -> Any:
        """The posterior of the items fitted as a data frame: items by classes, by name.

        In pandas the items are the index, as in crowd-kit's `probas_`; elsewhere the first column, `task`.
        """
        self._check_is_fitted()
        return learned_frames.posterior_frame(self.posterior_, self.items_, self.classes_, library=library)

    def confusion_frame(self, library: Library = "pandas", *, orientation: Orientation = "true_by_observed") -> Any:
        """The confusion matrices as a data frame, one below the other.

        As in `confusion_`, a row has a member (`worker`) and a `true` class, and sums to 1 over the labels observed.
        With `orientation="observed_by_true"` it has the `label` observed, and columns sum to 1 within a member, as in
        crowd-kit's `errors_`. In pandas the names are the index; elsewhere the first columns.
        """
        self._check_is_fitted()
        return learned_frames.confusion_frame(
            self.confusion_, self.members_, self.classes_, orientation=orientation, library=library
        )

    def _believe(self, belief: Belief) -> None:
        """Take a belief for the posterior; compute it now where that takes little room."""
        is_computed = not belief.is_large and not belief.is_remote
        values = belief.to_array() if is_computed else None  # first: an interrupt leaves what was there
        self._belief, self._posterior_values = None if is_computed else belief, values

    def partial_fit(self, predictions: Any, labels: Any = None) -> Self:
        """Learn from one more batch of a stream; `posterior_` is then that batch's."""
        if not hasattr(self, "members_"):
            self.fit(predictions, labels)
            self._first_partial_fit(read_anywhere(predictions))
            return self
        batch, known = self._aligned_with(labels, predictions)
        self._check_parameters(batch)
        self._partial_fit(batch, known)
        self.items_ = batch.items
        return self

    def save(self, path: str | os.PathLike[str], *, posterior: bool = True) -> None:
        """Write all that was learned to one file without pickle; `posterior=False` leaves the items out."""
        self._check_is_fitted()
        learned = {name: value for name, value in vars(self).items() if name.endswith("_")}
        if posterior:
            learned["posterior_"] = self.posterior_
        else:
            del learned["items_"]
        saving.write(path, type(self).__name__, self.get_params(deep=False), learned)

    def to_torch(self, *, logits: bool = False, dtype: Any = None, **options: Any) -> Any:
        """`predict_proba` as a `torch.nn.Module`: (members, batch, classes) in, the posterior (batch, classes) out.

        With `logits` what comes in is logits. Buffers are of torch's default precision, or of double precision where
        scores are so large that it would show, unless `dtype` says otherwise. `options` are those of the aggregator's
        own `predict_proba`, such as `pure=True`. See `torch_module.Fusion`.
        """
        frozen = self.frozen(**options)
        extra("torch", name="torch", use="to_torch")
        from consilience.answering.torch_module import Fusion  # noqa: PLC0415 - torch is an extra

        return Fusion(frozen, logits=logits, dtype=dtype)

    def to_onnx(self, path: str | os.PathLike[str], *, logits: bool = False, **options: Any) -> None:
        """Write `predict_proba` as an ONNX graph of single precision (inside double, where single would show).

        In comes `predictions` (members, batch, classes): probabilities, or with `logits` logits; a row of NaN is a
        missing prediction. Out come `posterior` (batch, classes) and `label` (batch,), the position of the most
        probable class. An item that nobody answers gets NaN and -1. Names are in the metadata, as JSON. `options` are
        those of the aggregator's own `predict_proba`, such as `pure=True`.
        """
        write_onnx(self.frozen(**options), path, logits=logits)

    @classmethod
    def from_saved(cls, parameters: dict[str, Any], learned: dict[str, Any]) -> Self:
        """An aggregator with the parameters and learned values of a saved one."""
        self = cls(**parameters)
        values = saving.nested(learned, cls._saved_kinds)
        self._posterior_values = values.pop("posterior_", None)
        self.__dict__.update(values)
        self._check_parameters(self._nothing())
        return self

    # ---- what a method provides ---------------------------------------------------------------------------

    @abstractmethod
    def _fit(self, predictions: Predictions, known: IntArray | None) -> None:
        """Learn everything but the names."""

    @abstractmethod
    def _partial_fit(self, predictions: Predictions, known: IntArray | None) -> None:
        """Learn from one more batch, already on the axes of the fit."""

    def _known(self, labels: Any, axes: Axes) -> Any:
        """What is known of the items, in the form that this method takes it: positions of classes, -1 where unknown."""
        return known_labels(labels, axes)

    def _first_partial_fit(self, predictions: Predictions) -> None:
        """What a stream does after the fit to its first batch."""

    @abstractmethod
    def rule(self, predictions: Predictions) -> Rule:
        """How these predictions, on the axes of the fit, are answered."""

    def frozen(self, **options: Any) -> FrozenRule:
        """How any predictions are answered, apart from this aggregator; `options` go to `rule`."""
        self._check_is_fitted()
        self.check_options(options)
        rule = self.rule(self._nothing(), **options)
        is_label = self._gave_labels() | rule.reads_labels
        names = (type(self).__name__, self.members_, self.classes_)
        return FrozenRule(
            *names,
            rule.weight,
            rule.member_weights,
            is_label,
            scores=rule.scores,
            floor=rule.log_floor,
            correction=rule.correction,
        )

    def _nothing(self) -> Predictions:
        """Predictions on the axes of the fit that say nothing."""
        return Predictions(np.full((len(self.members_), 1, len(self.classes_)), np.nan), partial=True)

    def _gave_labels(self) -> npt.NDArray[np.bool_]:
        """Which members (members,) answer by labels, if that is part of what was learned."""
        return np.zeros(len(self.members_), dtype=bool)

    def _posterior(self, predictions: Predictions) -> Array:
        """The posterior of new items, already on the axes of the fit."""
        return self.rule(predictions).posterior(predictions)

    def _check_parameters(self, predictions: Predictions) -> None:
        """Raise where a constructor argument makes no sense, alone or for these predictions."""

    # ---- shared -------------------------------------------------------------------------------------------

    def _remember_names(self, predictions: Predictions) -> None:
        self.members_, self.items_, self.classes_ = predictions.members, predictions.items, predictions.classes

    def aligned(self, predictions: Any) -> Predictions:
        """Predictions on the axes of the fit: members and classes matched by name."""
        return self._aligned_with(None, predictions)[0]

    def _aligned_with(self, labels: Any, predictions: Any) -> tuple[Predictions, Any]:
        """Predictions and what is known of their items, both on the axes of the fit.

        Labels stand as the predictions do that they come with: positions and columns are those of their classes.
        """
        self._check_is_fitted()
        check_sizes(predictions, len(self.members_), len(self.classes_))
        given = read_anywhere(predictions)
        aligned: Predictions = given.aligned(self.members_, self.classes_)
        axes = given.axes if given.axes.classes.is_named else aligned.axes
        return aligned, on_classes(self._known(labels, axes), axes, self.classes_)

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise where `rule` does not take an option."""
        known = list(signature(self.rule).parameters)[1:]
        if unknown := [name for name in options if name not in known]:
            has = f"has {', '.join(known)}" if known else "has none"
            raise TypeError(f"options to predict with must be known; {type(self).__name__} {has}, got {unknown[0]!r}")

    def _check_is_fitted(self) -> None:
        if not hasattr(self, "members_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")

    def _names_of(self, posterior: Array) -> npt.NDArray[Any]:
        return array_of_names(self.classes_)[position_of_largest(posterior)]


def check_is_aggregator(value: Any, name: str = "aggregator") -> None:
    """Raise where something else stands in the place of an aggregator."""
    if not isinstance(value, AbstractAggregator):
        got = f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
        raise ValueError(f"{name} must be one of consilience's, such as Consensus(); got {got}")  # noqa: TRY004 - as for other arguments


def fitted_copy(aggregator: AbstractAggregator, predictions: Predictions, labels: Any = None) -> AbstractAggregator:
    """A copy of an aggregator, fitted; that it did not converge is left for the caller to tell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted: AbstractAggregator = clone(aggregator).fit(predictions, labels)
    return fitted
