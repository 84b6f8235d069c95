"""How frequent the classes are, corrected for the errors of those who say so (Rogan and Gladen, 1978)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np

from consilience.aggregators.base import AbstractAggregator
from consilience.aggregators.consensus.consensus import Consensus
from consilience.aggregators.consensus.label_free_fit import combination_of
from consilience.aggregators.dawid_skene import AbstractLabelEM
from consilience.data.answers import HardAnswers
from consilience.data.axes import some
from consilience.data.predictions import Predictions
from consilience.data.validation import check_number
from consilience.insight.agreement import labels_of
from consilience.insight.analysis import Analysis
from consilience.insight.arguments import by_predictions
from consilience.system.arrays import FloatArray, IntArray, plain_numpy, to_numpy
from consilience.system.errors import InvalidPredictions
from consilience.system.tables import Table


@final
@dataclass(frozen=True, eq=False)
class Prevalence:
    """The share of each class among the items; prints as a table.

    Attributes
    ----------
    classes
        The classes' names; all other arrays have one entry for each.
    shares
        The shares, corrected for errors; they sum to 1.
    low, high
        The ends of their intervals.
    votes
        The shares of the answers as they were given.
    posterior
        The mean of the aggregator's posterior.
    source
        Where the knowledge about errors comes from, as a sentence.
    """

    classes: list[Any]
    shares: FloatArray
    low: FloatArray
    high: FloatArray
    votes: FloatArray
    posterior: FloatArray
    source: str

    def to_table(self) -> Table:
        """One row per class."""
        numbers = {"votes": self.votes, "mean posterior": self.posterior, "corrected": self.shares}
        numbers |= {"low": self.low, "high": self.high}
        columns = {name: values.tolist() for name, values in numbers.items()}
        return Table({"class": list(map(str, self.classes)), **columns})

    def __repr__(self) -> str:
        return f"{self.to_table()!r}\n({self.source})"


@by_predictions
def prevalence(
    predictions: Any,
    labels: Any = None,
    *,
    aggregator: AbstractAggregator | None = None,
    confusion: Any = None,
    n_bootstrap: int = 300,
    level: float = 0.95,
    seed: int = 0,
) -> Prevalence:
    """The share of each class among the items, for those who count rather than classify.

    Do not count answers: of a rare class, most items that are called so are errors. If a member calls class k class j
    in C_kj of the cases, it says class j in Σ_k p_k C_kj of all cases. This is solved for the shares p, for all members
    together, by least squares on the simplex. Members need not err independently.

    How members err is known from one of three sources:

    - `labels`: how the aggregator's posterior answers the labelled items of each class. They may be chosen by class
      (50 of each, say), but like other items of it otherwise. If they are drawn at random, their own shares are an
      estimate as well.
    - `confusion`: the members' matrices as measured elsewhere, the sensitivity and specificity of a test for example.
    - the aggregator, fitted to other items, such as an earlier and more balanced sample.

    If the aggregator is fitted to the same items, this cannot help: its confusion matrices follow from its own
    posterior, and the corrected shares repeat the mean posterior, right or wrong. Whatever the source, members must err
    on these items as they did there.

    Parameters
    ----------
    aggregator
        Gives the posterior, `Consensus` by default. If it is not fitted, a copy is, without the labels.
    labels
        The true classes of some items, -1 where unknown; every class at least once.
    confusion
        (members, true, said): rates, or counts, whose sampling error is then part of the interval. Classes and members
        are in the order of the aggregator if that is fitted, else of the predictions.
    n_bootstrap, level, seed
        How often items (and labels, and counts) are drawn anew for the intervals, and how often these should cover.
        Errors in matrices that are taken as known, such as an aggregator's, are not part of them. With 40 labels of
        each class, or 40 counts in each row, intervals of 95 % covered 85 to 94 % in simulations; with 20, 71 to 89 %.

    Examples
    --------
    A test finds 90 % of the sick and 80 % of the healthy; a quarter of the answers say sick:

    >>> test = Predictions.from_labels([[1] * 25 + [0] * 75], classes=["healthy", "sick"])
    >>> found = prevalence(test, confusion=[[[0.8, 0.2], [0.1, 0.9]]])
    >>> found.votes.tolist(), found.shares.round(3).tolist()
    ([0.75, 0.25], [0.929, 0.071])
    """
    check_number("n_bootstrap", n_bootstrap, integer=True)
    check_number("seed", seed, integer=True)
    check_number("level", level, most=1)
    if level in (0, 1):
        raise ValueError(f"level must be between 0 and 1; got {level}")
    if labels is not None and confusion is not None:
        raise ValueError("either labels or confusion may tell how members err; got both")
    analysis = Analysis.of(predictions, labels, aggregator=aggregator)
    data, posterior = analysis.predictions, to_numpy(analysis.posterior).astype(np.float64, copy=False)
    answers = labels_of(analysis.hardened)
    raters, source = _raters(analysis, answers, posterior, confusion, has_labels=labels is not None)
    counts, rates = raters(np.ones(data.n_items), None)
    _check_classes_differ(rates, data.classes)
    rng = np.random.default_rng(seed)
    drawn = [solved(*raters(rng.standard_exponential(data.n_items), rng)) for _ in range(n_bootstrap)]
    shares = solved(counts, rates)
    low, high = np.quantile(drawn or [shares * np.nan], [(1 - level) / 2, (1 + level) / 2], axis=0)
    votes = np.bincount(answers.labels, minlength=data.n_classes) / len(answers.labels)
    return Prevalence(data.classes, shares, low, high, votes, posterior.mean(axis=0), source)


def solved(counts: FloatArray, rates: FloatArray) -> FloatArray:
    """The shares of the classes that explain best how often raters say each class.

    `counts` (raters, said) are explained by `rates` (raters, true, said): minimum chi-square, on the simplex.
    """
    from scipy.optimize import nnls  # noqa: PLC0415 - slow to import

    sizes = counts.sum(axis=1, keepdims=True)
    counts, rates, sizes = (part[sizes[:, 0] > 0] for part in (counts, rates, sizes))
    said = counts / sizes
    weights = np.sqrt(sizes / np.maximum(said, 1 / np.maximum(sizes, 1)))
    design = (weights[:, :, None] * rates.transpose(0, 2, 1)).reshape(-1, rates.shape[1])
    heavy = 1e3 * np.sqrt((weights**2).sum())  # so that the shares sum to 1, whatever they explain
    stacked = np.vstack([design, np.full(rates.shape[1], heavy)])
    found, _ = nnls(stacked, np.append((weights * said).ravel(), heavy))
    return np.asarray(found / found.sum())


Raters: TypeAlias = Callable[[FloatArray, np.random.Generator | None], tuple[FloatArray, FloatArray]]
"""How often each rater says each class, given weights of items, and its rates (raters, true, said). With a generator,
what is measured of the rates is drawn anew."""


def _members(answers: HardAnswers, confusion: FloatArray) -> Raters:
    """The members' votes, with confusion matrices (members, true, said) that are known as rates or as counts."""
    n_members, n_classes, _ = confusion.shape
    cells, is_counted = answers.members * n_classes + answers.labels, confusion.sum(axis=2).max() > 1 + 1e-6

    def told(weights: FloatArray, rng: np.random.Generator | None) -> tuple[FloatArray, FloatArray]:
        counts = np.bincount(cells, weights=weights[answers.items], minlength=n_members * n_classes)
        table = confusion if rng is None or not is_counted else rng.gamma(confusion + 1e-9)
        return counts.reshape(n_members, n_classes).astype(np.float64), table / table.sum(axis=2, keepdims=True)

    return told


def _posterior(posterior: FloatArray, truth: IntArray) -> Raters:
    """The posterior (items, classes) as a single rater, whose errors are measured on items whose truth is not -1."""
    n_classes, is_known = posterior.shape[1], truth >= 0

    def told(weights: FloatArray, _: np.random.Generator | None) -> tuple[FloatArray, FloatArray]:
        sums = np.zeros((n_classes, n_classes))
        np.add.at(sums, truth[is_known], weights[is_known, None] * posterior[is_known])
        return (weights @ posterior)[None], (sums / sums.sum(axis=1, keepdims=True))[None]

    return told


def _raters(
    analysis: Analysis, answers: HardAnswers, posterior: FloatArray, confusion: Any, *, has_labels: bool
) -> tuple[Raters, str]:
    """Who is asked, and in words how it is known how they err."""
    data, method = analysis.predictions, analysis.method
    if has_labels:
        truth = analysis.measurable
        missing = sorted(set(range(data.n_classes)) - set(truth.tolist()))
        if missing:
            raise InvalidPredictions(
                "labels must name every class at least once, to tell how its items are answered; "
                f"there is none of {some([data.classes[k] for k in missing])}"
            )
        source = f"errors of {type(method).__name__} as measured on {np.count_nonzero(truth >= 0)} labelled items"
        return _posterior(posterior, truth), source
    if confusion is not None:
        return _members(answers, _read(confusion, data)), "errors of the members as the confusion matrices given say"
    name, where = type(method).__name__, "these very items" if analysis.is_fitted_here else "the items of its fit"
    rates = None
    if isinstance(method, Consensus):
        model = combination_of(data.n_classes)
        rates = model.rates(model.maximize(method.vote_statistics_))[1]
    elif isinstance(method, AbstractLabelEM):
        rates = np.asarray(method.confusion_)
    if rates is None:
        raise ValueError(
            "the aggregator must be Consensus, DawidSkene or BayesianClassifierCombination, which tell how members' "
            f"votes err, unless labels or confusion do; got {name}"
        )
    source = f"errors of the members as {name} estimates them on {where}"
    if analysis.is_fitted_here:
        source += ": this tells no more than its mean posterior"
    return _members(answers, rates), source


def _read(confusion: Any, data: Predictions) -> FloatArray:
    table = plain_numpy(confusion, "confusion")
    shape = (data.n_members, data.n_classes, data.n_classes)
    if table.shape != shape or table.dtype.kind not in "fiu":
        raise ValueError(f"confusion must be numbers (members, true, said) = {shape}; got {table.dtype} {table.shape}")
    if not np.isfinite(table).all() or table.min() < 0 or not (table.sum(axis=2) > 0).all():
        raise ValueError("confusion must be rates or counts of at least 0, with some in every row; got others")
    return table.astype(np.float64)


def _check_classes_differ(rates: FloatArray, classes: list[Any]) -> None:
    columns = rates.transpose(0, 2, 1).reshape(-1, rates.shape[1])
    if np.linalg.matrix_rank(columns, tol=1e-6) < len(classes):
        raise InvalidPredictions(
            "the shares of classes cannot be told from answers that do not depend on the class; "
            f"the confusion matrices do not tell the classes {some(classes)} apart"
        )
