"""Compare all methods on the same predictions in one table."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.aggregators import Average, Consensus
from consilience.aggregators.base import AbstractAggregator, check_is_aggregator, fitted_copy
from consilience.aggregators.registry import commands
from consilience.data.labels import known_labels
from consilience.data.predictions import Predictions, as_predictions
from consilience.insight.accuracy.estimates import Estimate, estimate_accuracies
from consilience.metrics.scores import score
from consilience.system.arrays import to_numpy
from consilience.system.tables import Table

if TYPE_CHECKING:
    from consilience.system.arrays import FloatArray, IntArray


def compare(
    predictions: Any,
    labels: Any = None,
    *,
    aggregators: Mapping[str, AbstractAggregator] | Sequence[AbstractAggregator] | None = None,
    n_bins: int = 15,
) -> Table:
    """Fit every method and return one row for each: its scores, and what is known without labels.

    Labels only score; no fit sees them. With labels (-1 where unknown) accuracy, NLL, Brier score and calibration error
    (`n_bins` bins, and debiased) come first; without, the `estimated accuracy` of each method's answer, as `diagnose`
    estimates it, and the interval `from` … `to` that holds the true one in nine of ten panels. Then follow
    `confidence`, the mean probability of the answer (the accuracy a method claims); `entropy` in nats; `changed`, the
    share of items it answers differently from the average; `agreement`, how often members agree with it; `iterations`,
    whether they `converged`, and `seconds`.
    """
    data = as_predictions(predictions)
    known = known_labels(labels, data.axes)
    methods = default_aggregators(data) if aggregators is None else _named(aggregators)
    average = to_numpy(Average().fit(data).posterior_).argmax(axis=1)
    rows: list[dict[str, Any]] = []
    answers: dict[str, IntArray] = {}
    believer: Consensus | None = None
    for name, aggregator in methods.items():
        started = time.perf_counter()
        fitted = fitted_copy(aggregator, data)
        seconds = time.perf_counter() - started
        posterior = to_numpy(fitted.posterior_).astype(np.float64)
        answers[name] = posterior.argmax(axis=1)
        believer = fitted if isinstance(fitted, Consensus) else believer
        scores = {} if known is None else score(posterior[known >= 0], known[known >= 0], n_bins=n_bins)
        rows.append(
            {
                "method": name,
                **scores,
                **_without_labels(posterior, average, data),
                "iterations": fitted.n_iter_,
                "converged": _converged(fitted),
                "seconds": seconds,
            }
        )
    if known is None:
        estimates = estimate_accuracies(data, believer or fitted_copy(Consensus(), data), answers).answers
        rows = [{"method": row["method"], **_as_columns(estimates[row["method"]]), **row} for row in rows]
    return Table({column: [row[column] for row in rows] for column in rows[0]})


def default_aggregators(predictions: Predictions) -> dict[str, AbstractAggregator]:
    """Every method that applies, by name."""
    variants = (named for kind in commands().values() for named in kind().variants().items())
    return {name: method for name, method in variants if method.applies_to(predictions)}


def _as_columns(found: Estimate) -> dict[str, float]:
    return {"estimated accuracy": found.value, "from": found.low, "to": found.high}


def _converged(fitted: AbstractAggregator) -> str:
    """Whether the objective settled; empty for a method with a fixed number of iterations."""
    if getattr(fitted, "tol", None) is None:
        return ""
    return "yes" if fitted.converged_ else "no"


def _named(
    aggregators: Mapping[str, AbstractAggregator] | Sequence[AbstractAggregator],
) -> dict[str, AbstractAggregator]:
    """The methods by the names given, or by how they print; of those that print alike the second ends in (2)."""
    if isinstance(aggregators, str) or not isinstance(aggregators, Mapping | Sequence):
        raise TypeError(f"aggregators must be a list or a mapping of methods; got {type(aggregators).__name__}")
    if not aggregators:
        raise ValueError("aggregators must have at least one method; got none")
    for method in aggregators.values() if isinstance(aggregators, Mapping) else aggregators:
        check_is_aggregator(method, "each of aggregators")
    if isinstance(aggregators, Mapping):
        return dict(aggregators)
    seen: Counter[str] = Counter()
    named = {}
    for method in aggregators:
        name = repr(method)
        seen[name] += 1
        named[name if seen[name] == 1 else f"{name} ({seen[name]})"] = method
    return named


def _without_labels(posterior: FloatArray, average: Any, predictions: Predictions) -> dict[str, float]:
    chosen = posterior.argmax(axis=1)
    logs = np.log(np.where(posterior > 0, posterior, 1))
    answers = predictions.harden().hard
    assert answers is not None  # noqa: S101 - hardened predictions are hard
    return {
        "confidence": float(posterior.max(axis=1).mean()),
        "entropy": float((posterior * -logs).sum(axis=1).mean()) + 0.0,
        "changed": float((chosen != average).mean()),
        "agreement": float((chosen[answers.items] == answers.labels).mean()),
    }
