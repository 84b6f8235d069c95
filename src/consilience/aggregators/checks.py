"""Check what must hold for every aggregator, ours or yours: `check_aggregator` runs all checks.

Each check is a function whose docstring is the property. It gets an unfitted aggregator and random generator, and
raises AssertionError where the property does not hold.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from consilience.aggregators.base import AbstractAggregator, check_is_aggregator, fitted_copy, unfitted_copy
from consilience.aggregators.registry import load
from consilience.data.predictions import Predictions
from consilience.system.arrays import FloatArray, to_numpy

TOLERANCE = 1e-8
"""Sums in another order differ by 1e-16 of their terms; a hundred iterations of EM may amplify that."""


def check_aggregator(aggregator: AbstractAggregator, *, seed: int = 0) -> list[str]:
    """Run every check on an aggregator that is not fitted yet; the names of those that ran.

    >>> from consilience import Average
    >>> "probabilities_sum_to_one" in check_aggregator(Average())
    True
    """
    check_is_aggregator(aggregator)
    ran = []
    for check in CHECKS:
        try:
            check(unfitted_copy(aggregator), np.random.default_rng(seed))
        except AssertionError as error:
            error.add_note(f"{type(aggregator).__name__} must have this property: {check.__doc__}")
            raise
        except DoesNotApplyError:
            continue
        ran.append(check.__name__.removeprefix("check_"))
    return ran


class DoesNotApplyError(Exception):
    """Raised by a check that does not apply to the aggregator."""


def check_probabilities_sum_to_one(aggregator: AbstractAggregator, rng: np.random.Generator) -> None:
    """Posteriors of fitted and of new items are probabilities, and so are priors and rows of confusion matrices."""
    fitted = fitted_copy(aggregator, _simulate(rng))
    answers = fitted.predict_proba(_simulate(rng, n_items=7))
    for values in (fitted.posterior_, answers, fitted.class_prior_, fitted.confusion_):
        _ensure((to_numpy(values) >= 0).all(), "a probability is negative")
        np.testing.assert_allclose(to_numpy(values).sum(axis=-1), 1, atol=1e-6)


def check_inputs_are_untouched(aggregator: AbstractAggregator, rng: np.random.Generator) -> None:
    """Neither fit nor predict writes to the arrays it is given, or to its constructor's arguments."""
    array = _simulate(rng, missing=0.1)
    before, parameters = array.copy(), repr(aggregator.get_params())
    fitted_copy(aggregator, array).predict_proba(array)
    np.testing.assert_array_equal(array, before)
    _ensure(repr(aggregator.get_params()) == parameters, "a constructor argument changed")


def check_fit_is_repeatable(aggregator: AbstractAggregator, rng: np.random.Generator) -> None:
    """A second fit on the same data gives the same result, to the last bit."""
    predictions = Predictions(_simulate(rng))
    first = to_numpy(fitted_copy(aggregator, predictions).posterior_)
    np.testing.assert_array_equal(first, fitted_copy(aggregator, predictions).posterior_)


def check_order_of_members(aggregator: AbstractAggregator, rng: np.random.Generator) -> None:
    """The order of members does not matter."""
    array = _simulate(rng, missing=0.1)
    order = rng.permutation(len(array))
    first, second = _fit_both(aggregator, array, array[order])
    _assert_same(first.posterior_, second.posterior_)
    _assert_same(first.confusion_[order], second.confusion_)


def check_order_of_items(aggregator: AbstractAggregator, rng: np.random.Generator) -> None:
    """The order of items does not matter, with known labels or without."""
    array = _simulate(rng, missing=0.1)
    order = rng.permutation(array.shape[1])
    first, second = _fit_both(aggregator, array, array[:, order])
    _assert_same(first.posterior_[order], second.posterior_)
    _assert_same(first.confusion_, second.confusion_)
    labels = np.where(rng.random(array.shape[1]) < 0.5, rng.integers(3, size=array.shape[1]), -1)
    first = fitted_copy(aggregator, array, labels)
    second = fitted_copy(aggregator, array[:, order], labels[order])
    _assert_same(first.posterior_[order], second.posterior_)


def check_order_of_classes(aggregator: AbstractAggregator, rng: np.random.Generator) -> None:
    """Renumbering the classes renumbers the result."""
    array = _simulate(rng, missing=0.1)
    order = rng.permutation(array.shape[2])
    first, second = _fit_both(aggregator, array, array[:, :, order])
    _assert_same(first.posterior_[:, order], second.posterior_)
    _assert_same(first.confusion_[:, order][:, :, order], second.confusion_)


def check_silent_member(aggregator: AbstractAggregator, rng: np.random.Generator) -> None:
    """A member who never predicts changes nothing."""
    array = _simulate(rng)
    silent = np.full((1, *array.shape[1:]), np.nan)
    first, second = _fit_both(aggregator, array, np.concatenate([array, silent]))
    _assert_same(first.posterior_, second.posterior_)
    _assert_same(first.confusion_, second.confusion_[:-1])


def check_predict(aggregator: AbstractAggregator, rng: np.random.Generator) -> None:
    """`predict` is the most probable class of `predict_proba`, by name."""
    array, names = _simulate(rng), ["ant", "bee", "cat"]
    fitted = fitted_copy(aggregator, Predictions(array, classes=names))
    expected = np.array(names)[to_numpy(fitted.predict_proba(array)).argmax(axis=1)]
    np.testing.assert_array_equal(fitted.predict(array), expected)


def check_new_items_one_by_one(aggregator: AbstractAggregator, rng: np.random.Generator) -> None:
    """A new item's posterior does not depend on the items that come with it."""
    fitted = fitted_copy(aggregator, _simulate(rng))
    array = _simulate(rng, n_items=5)
    alone = [to_numpy(fitted.predict_proba(array[:, [item]])) for item in range(5)]
    _assert_same(fitted.predict_proba(array), np.concatenate(alone))


def check_missing_member_of_new_items(aggregator: AbstractAggregator, rng: np.random.Generator) -> None:
    """New items may lack a member: by name, or as rows of NaN, with the same result."""
    names = ["a", "b", "c", "d"]
    fitted = fitted_copy(aggregator, Predictions(_simulate(rng), members=names))
    array = _simulate(rng, n_items=5)
    absent = array.copy()
    absent[1] = np.nan
    by_name = fitted.predict_proba(Predictions(array[[3, 0, 2]], members=["d", "a", "c"]))
    _assert_same(fitted.predict_proba(absent), by_name)


def check_known_labels(aggregator: AbstractAggregator, rng: np.random.Generator) -> None:
    """Known labels are kept; -1 everywhere is the same as none."""
    array = _simulate(rng)
    labels = np.full(array.shape[1], -1)
    nothing = fitted_copy(aggregator, array, labels)
    _assert_same(nothing.posterior_, fitted_copy(aggregator, array).posterior_)
    labels[:3] = [2, 0, 1]
    posterior = to_numpy(fitted_copy(aggregator, array, labels).posterior_)
    np.testing.assert_array_equal(posterior[:3], np.eye(3)[[2, 0, 1]])


def check_statistics_add_up(aggregator: AbstractAggregator, rng: np.random.Generator) -> None:
    """All items given twice have twice the statistics of all items given once."""
    array = _simulate(rng)
    first, second = _fit_both(aggregator, array, np.concatenate([array, array], axis=1))
    np.testing.assert_allclose(second.statistics_.n_items, 2 * first.statistics_.n_items)
    has_prior = hasattr(aggregator, "diagonal_prior") or (hasattr(aggregator, "smoothing") and aggregator.smoothing)
    if getattr(aggregator, "_shrinks_rates", False) or (has_prior and not hasattr(first, "concentration_")):
        raise DoesNotApplyError  # a prior weighs less beside more items
    np.testing.assert_allclose(second.statistics_.sums, 2 * first.statistics_.sums, rtol=1e-6)


def check_objective_never_falls(aggregator: AbstractAggregator, rng: np.random.Generator) -> None:
    """The objective never falls if the method sets `objective_never_falls`, with or without known labels."""
    if not getattr(aggregator, "objective_never_falls", False):
        raise DoesNotApplyError
    array = _simulate(rng, missing=0.1)
    labels = np.where(rng.random(array.shape[1]) < 0.1, rng.integers(3, size=array.shape[1]), -1)
    for known in (None, labels):
        history = unfitted_copy(aggregator).set_params(tol=None, max_iter=30).fit(array, known).history_
        _ensure(np.diff(history).min() >= -1e-9 * np.abs(history).max(), "the objective falls")


def check_chunks(aggregator: AbstractAggregator, rng: np.random.Generator) -> None:
    """Chunks of one item, of seven, and all at once give the same fit."""
    if "chunk_size" not in aggregator.get_params():
        raise DoesNotApplyError
    predictions = Predictions(_simulate(rng, missing=0.1))
    whole = fitted_copy(aggregator, predictions)
    for size in (1, 7):
        parts = fitted_copy(unfitted_copy(aggregator).set_params(chunk_size=size), predictions)
        _assert_same(whole.posterior_, parts.posterior_)
        _assert_same(whole.predict_proba(predictions), parts.predict_proba(predictions))


def check_stream(aggregator: AbstractAggregator, rng: np.random.Generator) -> None:
    """`partial_fit` starts like `fit`, takes any number of batches, and counts their items."""
    array = _simulate(rng)
    streamed = unfitted_copy(aggregator).partial_fit(array)
    _assert_same(streamed.posterior_, unfitted_copy(aggregator).fit(array).posterior_)
    for size in (1, 5):
        batch = _simulate(rng, n_items=size)
        streamed.partial_fit(batch)
        _ensure(streamed.posterior_.shape == (size, 3), "posterior_ is not the batch's")
    np.testing.assert_allclose(streamed.statistics_.n_items, array.shape[1] + 6)


def check_order_of_members_in_a_stream(aggregator: AbstractAggregator, rng: np.random.Generator) -> None:
    """A batch may name the members in another order than the first batch did."""
    names = ["a", "b", "c", "d"]
    batches = [Predictions(_simulate(rng), members=names) for _ in range(3)]
    first, second = unfitted_copy(aggregator), unfitted_copy(aggregator)
    for place, batch in enumerate(batches):
        order = np.roll(np.arange(4), place)
        first.partial_fit(batch)
        second.partial_fit(Predictions(batch.to_array()[order], members=[names[m] for m in order]))
        _assert_same(first.posterior_, second.posterior_)
    _assert_same(first.confusion_, second.confusion_)


def check_save_and_load(aggregator: AbstractAggregator, rng: np.random.Generator) -> None:
    """A saved aggregator comes back with the same parameters, answers and ability to learn on."""
    fitted = fitted_copy(aggregator, Predictions(_simulate(rng), members=["a", "b", "c", "d"]))
    new = _simulate(rng, n_items=5)
    with tempfile.TemporaryDirectory() as folder:
        fitted.save(path := Path(folder) / "fitted.consilience")
        loaded = load(path)
    np.testing.assert_array_equal(loaded.predict_proba(new), fitted.predict_proba(new))
    np.testing.assert_array_equal(loaded.posterior_, fitted.posterior_)
    _ensure(loaded.members_ == fitted.members_, "names of members are lost")
    _assert_same(loaded.partial_fit(new).confusion_, fitted.partial_fit(new).confusion_)


def check_edge_cases(aggregator: AbstractAggregator, rng: np.random.Generator) -> None:
    """One member, one item, identical members, a class never predicted, zeros and ones: finite and sensible."""
    array = _simulate(rng)
    one_hot = np.eye(3)[array.argmax(axis=2)]
    no_third = array[:, :, :2] / array[:, :, :2].sum(axis=2, keepdims=True)
    never = np.concatenate([no_third, np.zeros_like(no_third[:, :, :1])], axis=2)
    for case in (array[:1], array[:, :1], array[[0, 0, 0]], never, one_hot, one_hot[:1], never[:, :1]):
        posterior = to_numpy(fitted_copy(aggregator, case).posterior_)
        _ensure(np.isfinite(posterior).all(), "a posterior is not finite")
    alone = to_numpy(fitted_copy(aggregator, array[:1]).posterior_)
    np.testing.assert_array_equal(alone.argmax(axis=1), array[0].argmax(axis=1))
    agreed = np.repeat(one_hot[:1], 3, axis=0)
    posterior = to_numpy(fitted_copy(aggregator, agreed).posterior_)
    np.testing.assert_array_equal(posterior.argmax(axis=1), one_hot[0].argmax(axis=1))


CHECKS: list[Callable[[AbstractAggregator, np.random.Generator], None]] = [
    check
    for name, check in list(globals().items())
    if name.startswith("check_") and check not in (check_aggregator, check_is_aggregator)
]
"""All of them, in the order in which they stand above."""


def _simulate(rng: np.random.Generator, *, n_items: int = 60, missing: float = 0.0) -> FloatArray:
    """Probabilities of four members of different skill (4, items, 3), some of them missing."""
    truth = rng.integers(3, size=n_items)
    skills = np.array([4.0, 3.0, 2.0, 1.0])
    logits = skills[:, None, None] * np.eye(3)[truth] + rng.normal(size=(4, n_items, 3))
    exponentials = np.exp(logits)
    array: FloatArray = exponentials / exponentials.sum(axis=2, keepdims=True)
    is_missing = rng.random((4, n_items)) < missing
    is_missing[0] = False
    array[is_missing] = np.nan
    return array


def _fit_both(aggregator: AbstractAggregator, *arrays: FloatArray) -> list[AbstractAggregator]:
    return [fitted_copy(aggregator, array) for array in arrays]


def _ensure(holds: bool | np.bool_, message: str) -> None:
    """Raise where something does not hold; unlike `assert`, under `python -O` too."""
    if not holds:
        raise AssertionError(message)


def _assert_same(actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(to_numpy(actual), to_numpy(expected), rtol=TOLERANCE, atol=TOLERANCE)
