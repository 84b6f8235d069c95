"""The members of a scikit-learn ensemble: their names, and their answers on the ensemble's classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, is_classifier

from consilience.data.axes import some
from consilience.data.predictions import Predictions
from consilience.system.arrays import Array, IntArray

DROPPED = "drop"  # what stands in the place of a member that is left out, as in scikit-learn


def are_pairs(estimators: Any) -> bool:
    """Whether these are scikit-learn's (name, estimator) pairs."""
    return isinstance(estimators, list | tuple) and all(
        isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in estimators
    )


def named_members(estimators: Any) -> list[tuple[str, Any]]:
    """(name, estimator) pairs as they are; estimators without names are called after their classes.

    >>> named_members([("lr", "drop")])
    [('lr', 'drop')]
    >>> [name for name, _ in named_members([1.5, 2.5, "x"])]
    ['float-1', 'float-2', 'str']
    """
    if not isinstance(estimators, list | tuple) or not estimators:
        raise ValueError(f"estimators must be a list of (name, classifier) pairs, and not empty; got {estimators!r}")
    if are_pairs(estimators):
        return [(name, estimator) for name, estimator in estimators]
    kinds = [type(estimator).__name__.lower() for estimator in estimators]
    return [
        (kind if kinds.count(kind) == 1 else f"{kind}-{kinds[: place + 1].count(kind)}", estimators[place])
        for place, kind in enumerate(kinds)
    ]


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
        raise ValueError(
            f"members must answer by the classes {some(classes.tolist())}; got {labels[is_unknown].tolist()[0]!r}"
        )
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
        raise ValueError(
            f"prefit=True needs members that are fitted classifiers; member {name!r} ({type(member).__name__}) "
            "has no classes_"
        )
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
