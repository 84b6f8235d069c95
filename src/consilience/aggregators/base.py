"""What aggregators have in common: the scikit-learn-like face of all, and the arguments of those that iterate."""

# ruff: noqa: B027 - a hook that does nothing is one that a method need not provide

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from importlib.util import find_spec
from inspect import signature
from operator import is_
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt

from consilience.aggregators import registry
from consilience.answering import saving
from consilience.answering.declaration import ALWAYS, CLASS_PRIOR, OPTIONAL, STATISTICS, Learned, nested
from consilience.answering.onnx import write_onnx
from consilience.answering.rule import AbstractRule, Names
from consilience.data.axes import Axes, array_of_names, short
from consilience.data.labels import known_labels, on_classes
from consilience.data.names import of_one_kind
from consilience.data.predictions import (
    AbstractPredictions,
    Predictions,
    check_items_are_single,
    placed,
    warn_of_turned_axes,
)
from consilience.data.validation import check_number, check_sizes
from consilience.maths.em import UNSETTLED, Statistics, keeps_silent
from consilience.passes.reader import AnyReader, patterns_of, read_anywhere
from consilience.passes.responsibilities import LazyPosterior
from consilience.system.arrays import Array, FloatArray, position_of_largest, to_numpy
from consilience.system.errors import InvalidPredictions, extra
from consilience.system.machine import check_fits, show_progress
from consilience.system.tables import Table

Rule = TypeVar("Rule", bound=AbstractRule)
Library: TypeAlias = Literal["pandas", "polars", "pyarrow"]
Orientation: TypeAlias = Literal["true_by_observed", "observed_by_true"]

SMALL_RULE = 2**26
"""Rules of up to so many numbers, half a gigabyte, are kept between calls."""

LONGEST_REPR = 700
"""Longer representations are cut in the middle."""


class Outcome(NamedTuple):
    """The result of a fit or of one more batch, without the attributes that the method sets itself."""

    posterior: LazyPosterior | Array  # (items, classes)
    statistics: Statistics  # all that was learned from
    history: Sequence[float] = ()  # the objective after each iteration
    converged: bool = True


class AbstractAggregator(ABC):
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
        and whether it settled (False without `tol`)
    members_, items_, classes_ : names
    ordered_ : whether the classes are ratings
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
    ordered_: bool = False

    command: ClassVar[str | None] = None
    """The method's name on the command line. Methods with one take part in comparisons."""

    learned: ClassVar[Learned] = {}
    """What the method learns, by attribute, and the shapes: `{"confusion_": "mkk"}`. Only this is saved."""

    _matrices_at_once: ClassVar[int] = 10
    """How many numbers for each member, true and predicted class a fit holds at its peak, as measured."""

    _posterior: LazyPosterior | None = None
    _has_seen_labels: bool = False  # whether labels taught it, since it was loaded
    _kept: tuple[tuple[Any, ...], Any] | None = None  # what a rule was made of, and the rule

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        registry.register(cls)

    # ---- the interface ------------------------------------------------------------------------------------

    def fit(self, predictions: Any, labels: Any = None) -> Self:
        """Learn from predictions, and from known labels where there are any (-1 where unknown).

        Labels are names of classes, or positions where classes have no names: one for each item, or a mapping, a
        Series or a frame by items' names. `Consensus` takes probabilities (items, classes) too.
        """
        data = read_anywhere(predictions)
        warn_of_turned_axes(data)
        n_bytes = 8 * self._matrices_at_once * data.n_members * data.n_classes**2
        check_fits(n_bytes, f"{type(self).__name__} of {data.n_members:,} members × {data.n_classes:,}² classes")
        check_items_are_single(data, labels)
        known = None if labels is None else self._known(placed(data, labels), data.axes)
        self._check_parameters(data.n_members, data.n_classes)
        self._check_order(data.axes)
        self._keep(self._fit, data, known)
        self._has_seen_labels = known is not None
        self.members_, self.classes_, self.ordered_ = data.members, data.classes, data.ordered
        return self

    def fit_predict_proba(self, predictions: Any, labels: Any = None) -> Array:
        """The posterior (items, classes) of the items themselves."""
        return self.fit(predictions, labels).posterior_

    def fit_predict(self, predictions: Any, labels: Any = None) -> npt.NDArray[Any]:
        """The most probable class of each item, by name."""
        return self._names_of(self.fit_predict_proba(predictions, labels))

    def predict_proba(self, predictions: Any) -> Array:
        """The posterior (items, classes) of new items, by what was learned; nothing more is learned."""
        aligned = self.aligned(predictions)
        return self.rule().posterior(aligned)

    def predict(self, predictions: Any) -> npt.NDArray[Any]:
        """The most probable class of each new item, by name; the first class wins a tie."""
        return self._names_of(self.predict_proba(predictions))

    def score(self, predictions: Any, labels: Any) -> float:
        """The share of items whose class `predict` gets right, of those whose label is known (-1 where it is not).

        What was learned answers, as if the items were new: a label that the fit was given does not answer its own item.
        It taught the method all the same, so that only labels that no fit has seen measure how good the answers are.
        """
        aligned, known = self._aligned_with(labels, predictions, known_labels)
        if known is None:
            raise InvalidPredictions("labels must be known for at least one item to score on; got none")
        is_known = known >= 0
        chosen = position_of_largest(self.rule().posterior(aligned))
        return float((chosen[is_known] == known[is_known]).mean())

    @property
    def posterior_(self) -> Array:
        """The posterior (items, classes) of the items fitted."""
        return self._lazy_posterior().to_array()

    def posterior_chunks(self) -> Iterator[tuple[int, int, Array]]:
        """The posterior of the items fitted, some at a time: first item, item after the last, (items, classes)."""
        return self._lazy_posterior().chunks()

    def _lazy_posterior(self) -> LazyPosterior:
        if self._posterior is None:
            raise AttributeError(f"this {type(self).__name__} has no posterior_: it is not fitted, or saved without")
        return self._posterior

    def posterior_frame(self, library: Library = "pandas") -> Any:
        """The posterior of the items fitted as a data frame: items by classes, by name.

        In pandas the items are the index, as in crowd-kit's `probas_`; elsewhere the first column, `task`.
        """
        self._check_is_fitted()
        return _frame_of(to_numpy(self.posterior_), {"task": self.items_}, self.classes_, "label", library)

    def confusion_frame(self, library: Library = "pandas", *, orientation: Orientation = "true_by_observed") -> Any:
        """The confusion matrices as a data frame, one below the other.

        As in `confusion_`, a row has a member (`worker`) and a `true` class, and sums to 1 over the labels observed.
        With `orientation="observed_by_true"` it has the `label` observed, and columns sum to 1 within a member, as in
        crowd-kit's `errors_`. In pandas the names are the index; elsewhere the first columns.
        """
        self._check_is_fitted()
        if orientation not in ("true_by_observed", "observed_by_true"):
            raise ValueError(f"orientation must be 'true_by_observed' or 'observed_by_true'; got {orientation!r}")
        row, column = ("true", "label") if orientation == "true_by_observed" else ("label", "true")
        tables = self.confusion_ if row == "true" else np.swapaxes(self.confusion_, 1, 2)
        n_members, n_classes = len(self.members_), len(self.classes_)
        names = {"worker": [name for name in self.members_ for _ in range(n_classes)], row: self.classes_ * n_members}
        return _frame_of(tables.reshape(-1, n_classes), names, self.classes_, column, library)

    def partial_fit(self, predictions: Any, labels: Any = None) -> Self:
        """Learn from one more batch of a stream; `posterior_` is then that batch's."""
        if not hasattr(self, "members_"):
            self.fit(predictions, labels)
            self._steady_start()
            return self
        batch, known = self._aligned_with(labels, predictions)
        self._check_parameters(batch.n_members, batch.n_classes)
        self._check_order(batch.axes)
        self._keep(self._partial_fit, batch, known)
        self._has_seen_labels |= known is not None
        return self

    def save(self, path: str | os.PathLike[str], *, posterior: bool = True) -> None:
        """Write all that was learned to one file without pickle; `posterior=False` leaves the items out."""
        self._check_is_fitted()
        names = [*ALWAYS[:3], *self._declared(), "members_", *(["items_"] if posterior else []), "classes_"]
        names += ["ordered_"] if self.ordered_ else []
        if undeclared := {name for name in vars(self) if name.endswith("_")} - {*names, *OPTIONAL}:
            raise TypeError(
                f"{type(self).__name__} must declare all that it learns to be saved; "
                f"its `learned` lacks {min(undeclared)!r}"
            )
        values = {name: getattr(self, name) for name in names}
        if posterior and self._posterior is not None:
            values["posterior_"] = self.posterior_
        saving.write(path, type(self).__name__, self._saved_parameters(), values)

    def to_torch(self, *, logits: bool = False, dtype: Any = None) -> Any:
        """`predict_proba` as a `torch.nn.Module`: (members, batch, classes) in, the posterior (batch, classes) out.

        With `logits` what comes in is logits. Buffers are of torch's default precision, or of double precision where
        scores are so large that it would show, unless `dtype` says otherwise. See `torch_module.Fusion`.
        """
        names, rule = self._names(), self.rule()
        extra("torch", name="torch", use="to_torch")
        from consilience.answering.torch_module import Fusion  # noqa: PLC0415 - torch is an extra

        return Fusion(rule, names, logits=logits, dtype=dtype)

    def to_onnx(self, path: str | os.PathLike[str], *, logits: bool = False) -> None:
        """Write `predict_proba` as an ONNX graph of single precision (inside double, where single would show).

        In comes `predictions` (members, batch, classes): probabilities, or with `logits` logits; a row of NaN is a
        missing prediction. Out come `posterior` (batch, classes) and `label` (batch,), the position of the most
        probable class. An item that nobody answers gets NaN and -1. Names are in the metadata, as JSON.
        """
        names = self._names()
        write_onnx(self.rule(), names, path, logits=logits)

    @classmethod
    def _from_saved(cls, parameters: dict[str, Any], learned: dict[str, Any]) -> Self:
        self = cls(**parameters)
        values = nested(learned, cls._declared())
        if "posterior_" in values:
            self._posterior = LazyPosterior(values.pop("posterior_"))
        self.__dict__.update(values)
        self._check_parameters(len(self.members_), len(self.classes_))
        self._check_learned()
        return self

    @classmethod
    def _renamed(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a saved file by the names that they have now."""
        return parameters

    @classmethod
    def _declared(cls) -> Learned:
        """What the method learns, with what every method learns."""
        return {"statistics_": STATISTICS, "class_prior_": CLASS_PRIOR, **cls.learned}

    # ---- the constructor's arguments, by the conventions of scikit-learn, whose base class takes long to load -----

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; none of them has parameters of its own."""
        del deep
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name."""
        known = self._get_param_names()
        for name, value in parameters.items():
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {known}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        """The call that makes such an object, with the arguments that differ from their defaults."""
        values = {name: repr(value) for name, value in self.get_params().items()}
        defaults = {name: repr(argument.default) for name, argument in signature(type(self)).parameters.items()}
        changed = (f"{name}={value}" for name, value in values.items() if value != defaults[name])
        text, half = f"{type(self).__name__}({', '.join(changed)})", LONGEST_REPR // 2
        return text if len(text) <= LONGEST_REPR else f"{text[:half]}...{text[-half:]}"

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator  # noqa: PLC0415 - only scikit-learn asks

        return BaseEstimator.__sklearn_tags__(self)

    # ---- what a method provides ---------------------------------------------------------------------------

    @abstractmethod
    def _fit(self, predictions: AbstractPredictions, known: Any) -> Outcome:
        """Learn everything; `known` are positions of classes, -1 where unknown, or None."""

    @abstractmethod
    def _partial_fit(self, predictions: AbstractPredictions, known: Any) -> Outcome:
        """Learn from one more batch, already on the axes of the fit."""

    @abstractmethod
    def rule(self) -> AbstractRule:
        """How any items are answered, from what was learned; raises where nothing was."""

    def _known(self, labels: Any, axes: Axes) -> Any:
        """What is known of the items, in the form that this method takes it: positions of classes, -1 where unknown."""
        return known_labels(labels, axes)

    def _steady_start(self) -> None:
        """Called by `partial_fit` after the fit to the first batch of a stream."""

    def _check_parameters(self, n_members: int, n_classes: int) -> None:
        """Raise where a constructor argument makes no sense, alone or for so many members and classes."""

    def _check_order(self, axes: Axes) -> None:
        """Raise where a constructor argument names members or classes in another order than theirs."""

    def _saved_parameters(self) -> dict[str, Any]:
        """The constructor's arguments, as a file can hold them."""
        return self.get_params(deep=False)

    def _check_learned(self) -> None:
        """Raise where no fit learns such numbers together, each of which is as declared."""

    def _check_answers(self, predictions: AbstractPredictions) -> None:
        """Raise where members answer in another way than they did in the fit."""

    # ---- shared -------------------------------------------------------------------------------------------

    def _keep(
        self, learn: Callable[[AbstractPredictions, Any], Outcome], data: AbstractPredictions, known: Any
    ) -> None:
        """Keep what comes of a fit or a batch, in which items with the same votes are one item that counts as often."""
        patterns = None if known is not None else patterns_of(data)
        outcome = learn(data if patterns is None else patterns.predictions, known)
        posterior = outcome.posterior if patterns is None else patterns.posterior(outcome.posterior)
        self._posterior = posterior if isinstance(posterior, LazyPosterior) else LazyPosterior(posterior)
        self.items_, self.statistics_ = data.items, outcome.statistics
        self.history_, self.n_iter_ = list(outcome.history), len(outcome.history)
        self.converged_ = outcome.converged

    @overload
    def aligned(self, predictions: Predictions) -> Predictions: ...
    @overload
    def aligned(self, predictions: Any) -> AbstractPredictions: ...
    def aligned(self, predictions: Any) -> AbstractPredictions:
        """Predictions on the axes of the fit: members and classes matched by name."""
        return self._aligned_with(None, predictions)[0]

    def _aligned_with(
        self, labels: Any, predictions: Any, read: Callable[[Any, Axes], Any] | None = None
    ) -> tuple[AbstractPredictions, Any]:
        """Predictions and what is known of their items, both on the axes of the fit; `_known` reads labels unless told.

        The columns of soft labels are the classes of these predictions, not those of the fit.
        """
        self._check_is_fitted()
        check_sizes(predictions, len(self.members_), len(self.classes_))
        given = read_anywhere(predictions)
        check_items_are_single(given, labels)
        aligned = given.aligned(self.members_, self.classes_)
        self._check_answers(aligned)
        if labels is None:
            return aligned, None
        axes = given.axes if given.axes.classes.is_named else aligned.axes
        return aligned, on_classes((read or self._known)(placed(given, labels), axes), axes, self.classes_)

    def _kept_rule(self, made_of: tuple[Any, ...], make: Callable[[], Rule]) -> Rule:
        """The rule that follows from these parts. It is made once, since many ask for one item at a time."""
        if self._kept is not None and all(map(is_, self._kept[0], made_of)):
            rule: Rule = self._kept[1]
            return rule
        rule = make()
        self._kept = (made_of, rule) if rule.n_numbers <= SMALL_RULE else None
        return rule

    def __getstate__(self) -> dict[str, Any]:
        """Without the rule that is kept, which follows from the rest."""
        return {name: value for name, value in vars(self).items() if name != "_kept"}

    def _names(self) -> Names:
        self._check_is_fitted()
        return Names(type(self).__name__, self.members_, self.classes_)

    def _check_is_fitted(self) -> None:
        if not hasattr(self, "members_"):
            from sklearn.exceptions import NotFittedError  # noqa: PLC0415 - slow to import, and rarely raised

            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")

    def _names_of(self, posterior: Array) -> npt.NDArray[Any]:
        return array_of_names(self.classes_)[position_of_largest(posterior)]


Method = TypeVar("Method", bound=AbstractAggregator)


def check_is_aggregator(value: Any, name: str = "aggregator") -> None:
    """Raise if the value is not an aggregator."""
    if not isinstance(value, AbstractAggregator):
        got = f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
        raise ValueError(f"{name} must be one of consilience's, such as Consensus(); got {got}")  # noqa: TRY004 - as for other arguments


def is_taught(fitted: AbstractAggregator) -> bool:
    """Whether labels taught it, so that they do not measure it; of a loaded file only Consensus knows."""
    return fitted._has_seen_labels or getattr(fitted, "correction_", None) is not None  # noqa: SLF001 - of this module


def unfitted_copy(method: Method) -> Method:
    """A new object with copies of the parameters and nothing learned, as `sklearn.base.clone` makes it."""
    return type(method)(**deepcopy(method.get_params()))


def fitted_copy(aggregator: Method, predictions: Any, labels: Any = None) -> Method:
    """A fitted copy of an aggregator, without a warning where it did not converge."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", UNSETTLED)
        return unfitted_copy(aggregator).fit(predictions, labels)


def _frame_of(
    values: FloatArray, names: Mapping[str, Sequence[Any]], classes: Sequence[Any], axis: str, library: Library
) -> Any:
    """Values with one column per class, along an axis of this name, and rows that these names tell apart."""
    if library not in ("pandas", "polars", "pyarrow"):
        raise ValueError(f"library must be 'pandas', 'polars' or 'pyarrow'; got {library!r}")
    if find_spec(library) is None:
        raise ModuleNotFoundError(f"a frame of {library} needs {library}: pip install {library}", name=library)
    if library == "pandas":
        import pandas as pd  # noqa: PLC0415 - only users of frames pay for it

        indexes = [pd.Index(list(values), name=name, tupleize_cols=False) for name, values in names.items()]
        index = indexes[0] if len(indexes) == 1 else pd.MultiIndex.from_arrays(indexes)
        return pd.DataFrame(values, index=index, columns=pd.Index(list(classes), name=axis, tupleize_cols=False))
    columns = [*names, *map(str, classes)]
    if repeated := {name for name in columns if columns.count(name) > 1}:
        raise ValueError(f"columns of {library} must have distinct names; {min(repeated)!r} stands for two: use pandas")
    content = [*(of_one_kind(own, {str, bool, int, float}) for own in names.values()), *values.T]
    return Table(dict(zip(columns, content, strict=True))).to_frame(library)


@dataclass(kw_only=True, repr=False, eq=False)
class AbstractIterative(AbstractAggregator):
    """EM or something like it: passes over the items until the objective settles."""

    forgetting: float = 1.0
    chunk_size: int | None = None
    verbose: bool = False

    @contextmanager
    def _progress(self, reader: AnyReader, n_passes: int) -> Iterator[None]:
        """Show how many chunks of so many passes are done, where the user wants to see it."""
        n_chunks = n_passes * len(reader.chunks)
        with show_progress(type(self).__name__, n_chunks, is_shown=self.verbose) as progress:
            reader.on_chunk = progress.finish
            yield

    def _check_loop(self) -> None:
        """Raise where an argument that all these methods share makes no sense."""
        check_number("forgetting", self.forgetting, most=1)
        if self.chunk_size is not None:
            check_number("chunk_size", self.chunk_size, least=1, integer=True)


@dataclass(kw_only=True, repr=False, eq=False)
class AbstractLatent(AbstractIterative):
    """A model of how members err, given a truth that is not seen; who keeps silent may tell something too."""

    class_prior: Any = None
    missing: Literal["auto", "ignored", "informative"] = "auto"
    max_iter: int = 100
    tol: float | None = 1e-6

    def _check_parameters(self, n_members: int, n_classes: int) -> None:
        del n_members
        self._check_loop()
        read_class_prior(self.class_prior, n_classes)
        check_number("max_iter", self.max_iter, least=1, integer=True)
        if self.tol is not None:
            check_number("tol", self.tol)
        if self.missing not in ("auto", "ignored", "informative"):
            raise ValueError(f"missing must be 'auto', 'ignored' or 'informative'; got {self.missing!r}")
        self._check_model()

    def _check_model(self) -> None:
        """Raise where an argument of the method's own makes no sense."""

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
    if isinstance(class_prior, str) and class_prior == "uniform":
        return np.full(n_classes, 1 / n_classes)
    prior = positive_numbers(class_prior, n_classes)
    if prior is None or abs(prior.sum() - 1) > 1e-6:
        total = "" if prior is None else f", which sums to {prior.sum():.6g}"
        raise ValueError(
            f"class_prior must be None, 'uniform', or probabilities of the {n_classes} classes that are positive and "
            f"sum to 1; got {short(class_prior)}{total}"
        )
    return prior


def positive_numbers(values: Any, size: int) -> FloatArray | None:
    """So many positive numbers as an array; None where these are something else."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return array if array.shape == (size,) and ((array > 0) & np.isfinite(array)).all() else None
