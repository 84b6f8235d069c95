"""What the verbs are given: a method, or the default one, and predictions, of which a large cluster sends a sample.

Methods are fitted to all items of a cluster, and looked at by some of them here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from consilience.aggregators.base import AbstractAggregator, Method, check_is_aggregator, fitted_copy
from consilience.aggregators.consensus.consensus import Consensus
from consilience.data.axes import array_of_names
from consilience.data.labels import known_truths, which_known
from consilience.data.predictions import AbstractPredictions, Predictions, as_single_items, placed
from consilience.passes.reader import lies_on_cluster, read_anywhere
from consilience.system.arrays import FloatArray, IntArray, sample, to_numpy
from consilience.system.errors import InvalidPredictions, warn

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")

MOST_BROUGHT = 2**24
"""Predictions of up to so many numbers are brought here; of more, a sample of so many and all items with labels."""


def given_or_consensus(aggregator: AbstractAggregator | None, class_shares: Any = None) -> AbstractAggregator:
    """The aggregator, or, where none is given, a `Consensus` that knows the class shares."""
    if aggregator is None:
        return Consensus(class_shares=class_shares)
    check_is_aggregator(aggregator)
    if class_shares is not None and isinstance(aggregator, Consensus):
        raise ValueError("class_shares must be given to the aggregator where that is a Consensus; got both")
    return aggregator


def by_predictions(verb: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """Let a verb say so where it gets the aggregator in the place of something else, as in earlier versions."""
    parameters = signature(verb).parameters
    its_name = "aggregator" if "aggregator" in parameters else "aggregators"
    needed = ", ".join(name for name, parameter in parameters.items() if parameter.default is parameter.empty)

    @wraps(verb)
    def checked(*args: Arguments.args, **options: Arguments.kwargs) -> Returned:
        given = dict(zip(parameters, args, strict=False)) | options
        for name, value in given.items():
            if isinstance(value, AbstractAggregator) and name != its_name:
                raise TypeError(
                    f"{verb.__name__} takes the {its_name} by name: {verb.__name__}({needed}, …, {its_name}=…); "
                    f"got {type(value).__name__} in the place of the {name}"
                )
        return verb(*args, **options)

    return checked


class Looked(NamedTuple):
    """Items that are looked at here, and all items, which methods are fitted to."""

    predictions: Predictions
    everything: AbstractPredictions
    places: IntArray | None  # of a sample among all items; None, where all are here
    labels: Sequence[Any]  # those that were given, of the items here

    def fitted(self, method: Method, labels: Any = None) -> Method:
        """A copy of a method that is fitted to all items."""
        return fitted_copy(method, self.everything, labels)

    def posterior(self, fitted: AbstractAggregator) -> FloatArray:
        """The posterior (items, classes) of the items here, of a method that was fitted to all."""
        rows = fitted.posterior_ if self.places is None else fitted.posterior_[self.places].compute()
        return to_numpy(rows).astype(np.float64)


def look_at(predictions: Any, *labels: Any) -> Looked:
    """All items, or, of a large cluster, a sample of them and all that have a label."""
    is_small_array = hasattr(predictions, "chunks") and getattr(predictions, "size", np.inf) <= MOST_BROUGHT
    if not lies_on_cluster(predictions) or is_small_array:
        data = as_single_items(predictions)
        return Looked(data, data, None, labels)
    everything = read_anywhere(predictions)
    most = max(1, MOST_BROUGHT // (everything.n_members * everything.n_classes))
    if everything.n_items <= most:
        here = everything.take(slice(None))
        return Looked(here, here, None, labels)
    truths = [known_truths(placed(everything, own), everything.axes) for own in labels]
    known = [np.flatnonzero(which_known(own)) for own in truths if own is not None]
    labelled = np.unique(np.concatenate([np.empty(0, np.intp), *known]))
    places = np.union1d(sample(everything.n_items, most), labelled[sample(len(labelled), most)])
    warn(
        f"{everything.n_items:,} items are on a cluster: methods learn from all, and {len(places):,} of them are "
        f"looked at, drawn at random{', beside those with labels' if len(labelled) else ''}"
    )
    here, classes = everything.take(places), everything.axes.classes
    found: list[Any] = [None if own is None else own[places] for own in truths]
    if classes.is_named:  # labels are then told by names
        names = array_of_names([*classes.names, None])
        found = [
            own if own is None or own.ndim == 2 else dict(zip(here.items, names[own], strict=True)) for own in found
        ]
    return Looked(here, everything, places, found)


def all_items(predictions: Any) -> Predictions:
    """All items, for what has to see each of them; raises where they are on a cluster and too many to be brought."""
    if not lies_on_cluster(predictions):
        return as_single_items(predictions)
    data = read_anywhere(predictions)
    n_numbers = data.n_members * data.n_items * data.n_classes
    if n_numbers > MOST_BROUGHT:
        raise InvalidPredictions(
            f"up to {MOST_BROUGHT:,} numbers are brought here from a cluster; {data.n_items:,} items have "
            f"{n_numbers:,}: fit an aggregator, and store its posterior_ there"
        )
    return data.take(slice(None))
