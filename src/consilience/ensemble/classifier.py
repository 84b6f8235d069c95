"""`EnsembleClassifier`: scikit-learn classifiers as members, combined by what their agreement and labels tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any, NamedTuple, Self, final

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, TransformerMixin, clone, is_classifier
from sklearn.utils import Bunch, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import _BaseComposition, _safe_split
from sklearn.utils.validation import _check_feature_names_in, _check_method_params, check_is_fitted

from consilience.aggregators.average import AbstractPool, Average
from consilience.aggregators.base import AbstractAggregator
from consilience.aggregators.consensus.consensus import Consensus
from consilience.data.axes import some
from consilience.data.predictions import Predictions
from consilience.system.arrays import Array, IntArray, plain_numpy


@final
class EnsembleClassifier(ClassifierMixin, TransformerMixin, MetaEstimatorMixin, _BaseComposition):  # type: ignore[misc]
    """A `VotingClassifier` that learns how to combine its members: from labels, and from data without any.

    The members are fitted on labels, or were before. The *combination* takes labels, but needs none:

    - `fit(X, y)` fits a copy of each member on all of X and y. The aggregator learns from y as known labels, and from
      predictions for X made out of fold, by copies that did not see the item: of their own training data members are
      nearly always right and sure of it, so that estimates of their accuracy come out too high. This takes `cv` further
      fits of each member, as stacking does; with `cv=0` the average of the members answers until something is learned.
      A member in a `FrozenEstimator` is not fitted again: it should not have been fitted on X.
    - `fit_aggregator(X)` learns the combination from any data without labels, members staying as they are. Let it see
      what will be asked: after a shift of the data the members err differently. What y taught stays: `Consensus` learns
      anew and is corrected by the same labels; the other methods go on from where `fit` left them. After a strong shift
      it may mislead: `forget_y=True` starts without it.
    - With `prefit=True`, `fit(X)` takes the members as they are and learns the combination from X, which the members
      should not have been trained on. `fit(X, y)` takes y as known labels, -1 or None where unknown. `Average` and
      `MajorityVote` learn nothing.
    - `predict` and `predict_proba` learn nothing. Each row is answered by itself, one row or many.

    Members without `predict_proba`, such as those that only have a `decision_function`, take part with their labels;
    scikit-learn's `CalibratedClassifierCV` around one gives it probabilities. Members already fitted may know the
    classes in another order, only some of them, or more than y has: a class that a member does not know gets no
    probability from it.

    Parameters
    ----------
    estimators
        (name, classifier) pairs; "drop" in the place of a classifier leaves it out. With `prefit=True` classifiers
        without names will do.
    aggregator
        How members are combined; None is `Consensus()`. `Average()` is soft voting, `MajorityVote()` hard voting;
        `Average(weights=...)` has the weights.
    prefit
        Whether the members are fitted already. They are then neither changed nor copied, not even by `clone`.
    learn_from_y
        Whether the aggregator learns from y, as that of `StackingClassifier` does. Without, y fits the members alone.
    cv
        Folds of `fit`: a number, a splitter or splits, as in scikit-learn; 0 makes none.
    n_jobs
        How many members, or folds, are fitted at a time.

    Attributes
    ----------
    aggregator_ : the aggregator as fitted, by members' names; None where nothing has been learned yet
    estimators_ : the fitted members that are not dropped
    named_estimators_ : the same by name, and "drop" for the others
    classes_ : the classes, sorted
    le_ : the encoder of y, unless `prefit`: members are fitted on numbers, as in `VotingClassifier`; but those that are
        or hold a `FrozenEstimator` know the classes by name
    n_features_in_, feature_names_in_ : of the first member that has them

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.svm import LinearSVC
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("svm", LinearSVC()), ("tree", DecisionTreeClassifier(random_state=0))]
    >>> ensemble = EnsembleClassifier(members).fit(X, y)
    >>> ensemble.predict(X[:1]).tolist(), ensemble.predict_proba(X[:1]).shape
    ([0], (1, 3))
    >>> ensemble.member_predictions(X)
    Predictions(3 members × 150 items × 3 classes, 1 of them hard labels)
    """

    aggregator_: AbstractAggregator | None
    _taught: tuple[Predictions, npt.NDArray[Any]] | None = None  # what members said of labelled items, and the labels
    estimators_: list[Any]
    named_estimators_: Any
    classes_: npt.NDArray[Any]

    def __init__(
        self,
        estimators: Any,
        aggregator: AbstractAggregator | None = None,
        *,
        prefit: bool = False,
        learn_from_y: bool = True,
        cv: Any = 5,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.aggregator = aggregator
        self.prefit = prefit
        self.learn_from_y = learn_from_y
        self.cv = cv
        self.n_jobs = n_jobs

    # ---- fitting ------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Fit the members on X and y, and the aggregator on their predictions out of fold and y; see the class.

        `sample_weight` goes to all members, as in `VotingClassifier`, and other parameters where metadata routing is
        enabled and a member requests them. The aggregator weighs all items alike. So it does not learn from y where
        `sample_weight` differs: it would undo what the weights are for, such as other class shares than y has.
        """
        members = self._check_members()
        method = self._method()
        if self.prefit:
            if given := [name for name, value in fit_params.items() if value is not None]:
                raise TypeError(f"fit takes no {', '.join(given)} with prefit=True, because no member is fitted")
            self._keep(members, {})
            return self._teach(method, self.member_predictions(X), None if y is None else _in_order(y))
        from sklearn.utils.parallel import Parallel, delayed  # noqa: PLC0415 - takes long, and only here

        numbers = self._encode(y)
        lessons = self._lessons(members, numbers, fit_params)
        fitted = Parallel(n_jobs=self.n_jobs)(delayed(lesson.fitted)(X) for lesson in lessons)
        numbered = {lesson.name: lesson.numbered for lesson in lessons if lesson.numbered is not None}
        self._keep(dict(zip(members, fitted, strict=True)), numbered)
        if isinstance(self.cv, int) and self.cv == 0:
            self.aggregator_, self._taught = None, None
            return self
        weights = fit_params.get("sample_weight")
        are_alike = weights is None or np.ptp(np.asarray(weights)) == 0
        labels = self.le_.classes_[numbers] if are_alike else None
        if self.aggregator is None:
            method = Consensus(label_noise=0)  # members learned from y too, so nobody doubts it
        return self._teach(method, self._out_of_fold(lessons, X, numbers), labels)

    def _teach(self, method: AbstractAggregator, predictions: Predictions, y: npt.NDArray[Any] | None) -> Self:
        """Fit the aggregator on what members say of the items of a fit, and keep what labels taught."""
        self._taught = None if y is None or not self.learn_from_y else (predictions, y)
        self.aggregator_ = method.fit(predictions, None if self._taught is None else y)
        return self

    def fit_aggregator(self, X: Any, labels: Any = None, *, forget_y: bool = False) -> Self:
        """Learn the combination from the members' predictions for X, which they were not trained on.

        No labels are needed; where some are known, they may be given, -1 or None for the others. With `forget_y`
        nothing stays of what the labels of `fit` taught. With `prefit=True` it may be called at once: there is nothing
        to fit before.
        """
        if self.prefit and not hasattr(self, "estimators_"):
            self._keep(self._check_members(), {})
            self._taught = None
        method, predictions = self._method(), self.member_predictions(X)
        if forget_y or self._taught is None:
            method.fit(predictions, labels)
        elif isinstance(method, Consensus):  # labels correct what it finds without them
            method.fit(predictions, labels).add_labels(*self._taught)
        else:
            method.fit(*self._taught).partial_fit(predictions, labels)
        self.aggregator_ = method
        return self

    def _encode(self, y: Any) -> IntArray:
        """The numbers of the classes, which most members are fitted on."""
        from sklearn.preprocessing import LabelEncoder  # noqa: PLC0415 - takes longer than all the rest
        from sklearn.utils.multiclass import check_classification_targets  # noqa: PLC0415

        if y is None:
            raise ValueError(
                "EnsembleClassifier requires y to be passed, but the target y is None; "
                "only members already fitted (prefit=True) need none"
            )
        check_classification_targets(y)
        encoder = LabelEncoder()
        numbers: IntArray = encoder.fit_transform(y)
        if len(encoder.classes_) < 2:
            raise ValueError(f"y must have more than one class; got {encoder.classes_.tolist()!r}")
        self.le_ = encoder
        return numbers

    def _lessons(self, members: dict[str, Any], numbers: IntArray, fit_params: dict[str, Any]) -> list[_Lesson]:
        """The members with their labels, as names or as numbers, and with what their `fit` gets beside X and y."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **fit_params)
            params = {name: routed[name]["fit"] for name in members}
        elif unknown := fit_params.keys() - {"sample_weight"}:
            found = ", ".join(sorted(unknown))
            raise TypeError(f"fit takes sample_weight alone unless metadata routing is enabled; got {found}")
        else:
            given = {name: value for name, value in fit_params.items() if value is not None}
            params = dict.fromkeys(members, given)
        names = self.le_.classes_
        return [
            _Lesson(name, member, names[numbers], None, params[name])
            if has_own_classes(member)
            else _Lesson(name, member, numbers, names, params[name])
            for name, member in members.items()
        ]

    def _keep(self, fitted: dict[str, Any], numbered: dict[str, npt.NDArray[Any]]) -> None:
        """Keep the members, and the classes: those of y, and of members that were not fitted on the numbers of y's."""
        known = {} if self.prefit else {"y": self.le_.classes_}
        known |= {name: classes_of(name, member) for name, member in fitted.items() if name not in numbered}
        self.classes_ = in_one_spelling(known)
        self.estimators_, self._names, self._numbered = list(fitted.values()), list(fitted), numbered
        self.named_estimators_ = Bunch(**dict(named_members(self.estimators)) | fitted)
        if self.prefit:
            self.__dict__.pop("le_", None)
        for attribute in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(attribute, None)
            if found := [getattr(member, attribute) for member in self.estimators_ if hasattr(member, attribute)]:
                setattr(self, attribute, found[0])

    def _out_of_fold(self, lessons: list[_Lesson], X: Any, numbers: IntArray) -> Predictions:
        """What copies of the members, fitted on the other folds, say of each item."""
        from sklearn.model_selection import check_cv  # noqa: PLC0415 - takes long, and only here
        from sklearn.utils.parallel import Parallel, delayed  # noqa: PLC0415

        (rows,) = indexable(X)
        folds = list(check_cv(self.cv, numbers, classifier=True).split(rows, numbers))  # the same for all members
        order = np.concatenate([test for _, test in folds])
        if not np.array_equal(np.sort(order), np.arange(len(numbers))):
            raise ValueError("cv must leave out each item once; some items are left out never, or several times")
        jobs = (delayed(lesson.out_of_fold)(rows, fold, self.classes_) for lesson in lessons for fold in folds)
        parts = Parallel(n_jobs=self.n_jobs)(jobs)
        answers = [
            np.concatenate(parts[start : start + len(folds)])[np.argsort(order)]
            for start in range(0, len(parts), len(folds))
        ]
        # Named, so that they are not taken for items of the same number that are asked about later.
        items = items_of(X) or [f"row {row} of fit" for row in range(len(numbers))]
        return put_together([lesson.name for lesson in lessons], answers, self.classes_, items)

    def get_metadata_routing(self) -> Any:
        """Which member's `fit` gets which parameters."""
        router = MetadataRouter(owner=self)
        for name, estimator in [] if self.prefit else named_members(self.estimators):
            router.add(method_mapping=MethodMapping().add(caller="fit", callee="fit"), **{name: estimator})
        return router

    # ---- answering ----------------------------------------------------------------------------------------

    def member_predictions(self, X: Any) -> Predictions:
        """What the members say of X: for `compare`, `diagnose`, `explain`, or an aggregator's `partial_fit`."""
        check_is_fitted(self)
        answers = [
            answers_of(member, X, self.classes_, self._numbered.get(name))
            for name, member in zip(self._names, self.estimators_, strict=True)
        ]
        return put_together(self._names, answers, self.classes_, items_of(X))

    def predict_proba(self, X: Any) -> Any:
        """The posterior (items, classes) of each row, by what was learned; nothing more is learned."""
        predictions = self.member_predictions(X)
        if self.aggregator_ is not None:
            return self.aggregator_.predict_proba(predictions)
        method = self._method()  # nothing was learned: it answers where it has nothing to learn, else the average does
        return (method if isinstance(method, AbstractPool) else Average()).fit_predict_proba(predictions)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class of each row; the first class wins a tie."""
        positions = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[positions])

    def transform(self, X: Any) -> Any:
        """The members' probabilities side by side, (items, members × classes); labels are one-hot."""
        return np.hstack(list(self.member_predictions(X).to_array()))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """The names of the columns of `transform`: the member's and the class's."""
        check_is_fitted(self)
        _check_feature_names_in(self, input_features, generate_names=False)
        prefix = type(self).__name__.lower()
        names = [f"{prefix}_{name}_{label}" for name in self._names for label in self.classes_]
        return np.asarray(names, dtype=object)

    # ---- parameters ---------------------------------------------------------------------------------------

    def _check_members(self) -> dict[str, Any]:
        """The members that are not dropped, by name; raises where they are no such list."""
        named = named_members(self.estimators)
        if not self.prefit and not are_pairs(self.estimators):
            raise ValueError("estimators must be (name, classifier) pairs unless prefit=True; got some without a name")
        self._validate_names([name for name, _ in named])
        members = {name: own for name, own in named if not (isinstance(own, str) and own == "drop")}
        if not members:
            raise ValueError("estimators must have a member that is not dropped; got none")
        for name, member in members.items():
            if not self.prefit and not is_classifier(member):
                raise ValueError(f"members must be classifiers; member {name!r} is a {type(member).__name__}")
        return members

    def _method(self) -> AbstractAggregator:
        """A fresh copy of the aggregator."""
        if self.aggregator is None:
            return Consensus()
        if not isinstance(self.aggregator, AbstractAggregator):
            raise TypeError(f"aggregator must be an aggregator such as Consensus(); got {self.aggregator!r}")
        method: AbstractAggregator = clone(self.aggregator)
        return method

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments, and with `deep` the members and their parameters by name."""
        is_deep = deep and are_pairs(self.estimators)
        params: dict[str, Any] = self._get_params("estimators", deep=True) if is_deep else super().get_params(deep)
        return params

    def set_params(self, **params: Any) -> Self:
        """Set arguments, members by name (`lr="drop"`), or their parameters (`lr__C=1`, `aggregator__max_iter=20`)."""
        self._set_params("estimators", **params)
        return self

    def __sklearn_clone__(self) -> Self:
        """An unfitted copy; members already fitted are shared, since a copy would have forgotten everything."""
        if not self.prefit:
            fresh: Self = super().__sklearn_clone__()
            return fresh
        without = copy(self)
        without.estimators = []
        shared: Self = super(EnsembleClassifier, without).__sklearn_clone__()
        shared.estimators = self.estimators
        return shared

    def __sklearn_tags__(self) -> Any:
        """Sparse and missing features are for the members to take or refuse."""
        tags = super().__sklearn_tags__()
        members = [member for _, member in self.estimators] if are_pairs(self.estimators) else []
        inputs = [get_tags(member).input_tags for member in members if hasattr(member, "__sklearn_tags__")]
        tags.input_tags.allow_nan = bool(inputs) and all(own.allow_nan for own in inputs)
        tags.input_tags.sparse = bool(inputs) and all(own.sparse for own in inputs)
        tags.target_tags.required = not self.prefit
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _sk_visual_block_(self) -> Any:
        """The members beside each other, and the aggregator, in a notebook."""
        from sklearn.utils._repr_html.estimator import _VisualBlock  # noqa: PLC0415

        names, members = zip(*named_members(self.estimators), strict=True)
        return _VisualBlock("parallel", [*members, self._method()], names=[*names, "aggregator"])


def _in_order(y: Any) -> npt.NDArray[Any]:
    """Labels in the order of the rows of X, as everywhere in scikit-learn, whatever index they have."""
    labels = plain_numpy(y, "y")
    return labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels


class _Lesson(NamedTuple):
    """A member to fit, and what its `fit` gets beside X."""

    name: str
    member: Any
    labels: npt.NDArray[Any]
    numbered: npt.NDArray[Any] | None  # the names of the classes, if the labels are their numbers
    params: dict[str, Any]

    def fitted(self, X: Any) -> Any:
        """A copy of the member that is fitted on all items."""
        from sklearn.ensemble._base import _fit_single_estimator  # noqa: PLC0415 - takes long, and only here

        return _fit_single_estimator(clone(self.member), X, self.labels, self.params)

    def out_of_fold(self, X: Any, fold: tuple[IntArray, IntArray], classes: npt.NDArray[Any]) -> Array:
        """What a copy that is fitted on the first items of a fold says of the second."""
        train, test = fold
        seen, labels = _safe_split(self.member, X, self.labels, train)
        asked, _ = _safe_split(self.member, X, self.labels, test, train)
        lesson = self._replace(labels=labels, params=_check_method_params(X, self.params, train))
        return answers_of(lesson.fitted(seen), asked, classes, self.numbered)


# ---- members: their names, and their answers on the classes of the ensemble -------------------------------


def are_pairs(estimators: Any) -> bool:
    """Whether these are scikit-learn's (name, estimator) pairs."""
    return isinstance(estimators, list | tuple) and all(
        isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in estimators
    )


def named_members(estimators: Any) -> list[tuple[str, Any]]:
    """(name, estimator) pairs as they are; estimators without names are called after their classes."""
    from sklearn.pipeline import _name_estimators  # noqa: PLC0415 - takes long, and only here

    if not isinstance(estimators, list | tuple) or not estimators:
        raise ValueError(f"estimators must be a list of (name, classifier) pairs, and not empty; got {estimators!r}")
    return [(name, own) for name, own in (estimators if are_pairs(estimators) else _name_estimators(estimators))]


def has_own_classes(member: Any) -> bool:
    """Whether a member keeps the classes of an earlier fit: it is, or holds, a frozen classifier or fitted members.

    Such a member has to be given labels by name. All others are fitted on numbers, which some of them need.
    """
    from sklearn.frozen import FrozenEstimator  # noqa: PLC0415 - only a fit needs it

    parts = [part for part in (member, *member.get_params().values()) if isinstance(part, BaseEstimator)]
    return any(
        is_classifier(part) for part in parts if isinstance(part, FrozenEstimator) or getattr(part, "prefit", False)
    )


def answers_of(member: Any, X: Any, classes: npt.NDArray[Any], numbered: npt.NDArray[Any] | None = None) -> Array:
    """A member's probabilities (items, classes), or the positions (items,) of its labels, among sorted classes.

    Classes that the member does not know get no probability. `numbered` has the names of the classes of a member that
    was fitted on their numbers.
    """

    def named(labels: Any) -> npt.NDArray[Any]:
        return np.asarray(labels) if numbered is None else numbered[np.asarray(labels)]

    if not hasattr(member, "predict_proba"):  # it answers by labels
        return positions_among(classes, named(member.predict(X)))
    rows = np.asarray(member.predict_proba(X))
    own = positions_among(classes, named(member.classes_))
    if np.array_equal(own, np.arange(len(classes))):
        return rows
    aligned = np.zeros((len(rows), len(classes)), dtype=rows.dtype)
    aligned[:, own] = rows
    return aligned


def positions_among(classes: npt.NDArray[Any], labels: npt.NDArray[Any]) -> IntArray:
    """Where each label stands among sorted classes; raises where it does not."""
    positions = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    is_unknown = classes[positions] != labels
    if np.any(is_unknown):
        found = labels[is_unknown].tolist()[0]
        raise ValueError(f"members must answer by the classes {some(classes.tolist())}; got {found!r}")
    return positions


def in_one_spelling(known: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """The sorted classes that any of these knows; raises where some have names for them and others numbers."""
    if len({classes.dtype.kind in "biuf" for classes in known.values()}) > 1:
        # NumPy would turn the numbers into names, and nothing would match.
        found = "; ".join(f"{name!r} knows {some(own.tolist())}" for name, own in known.items())
        raise ValueError(f"members must call the classes by the same names; {found}")
    return np.unique(np.concatenate(list(known.values())))


def classes_of(name: str, member: Any) -> npt.NDArray[Any]:
    """The classes that a fitted member knows."""
    if not hasattr(member, "classes_"):
        found = f"member {name!r} ({type(member).__name__}) has no classes_"
        raise ValueError(f"prefit=True needs members that are fitted classifiers; {found}")
    if np.ndim(member.classes_[0]) != 0:
        raise ValueError(f"members must answer one question each; member {name!r} has several outputs")
    return np.asarray(member.classes_)


def items_of(X: Any) -> list[Any] | None:
    """The names of the rows of a data frame, which labels in a Series are matched by; None where they have none."""
    index = getattr(X, "index", None) if hasattr(X, "columns") else None
    return list(index) if index is not None and index.is_unique else None


def put_together(
    names: Iterable[str], answers: Iterable[Array], classes: npt.NDArray[Any], items: list[Any] | None = None
) -> Predictions:
    """The members' answers as predictions: rows of probabilities, or positions of labels."""
    parts = [
        Predictions([answer], members=[name], items=items, classes=classes, partial=True)
        if answer.ndim == 2
        else Predictions.from_labels([classes[answer]], members=[name], items=items, classes=classes)
        for name, answer in zip(names, answers, strict=True)
    ]
    return Predictions.concatenate(parts)
