"""Compare all methods on the same predictions in one table."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from consilience.aggregators import Average, Consensus
from consilience.aggregators.base import AbstractAggregator, check_is_aggregator
from consilience.aggregators.registry import commands
from consilience.data.answers import HardAnswers
from consilience.data.labels import known_labels, known_truths, which_known
from consilience.data.predictions import Predictions
from consilience.insight.accuracy.estimates import COVERAGE, Estimates, estimate_accuracies
from consilience.insight.arguments import by_predictions, given_or_consensus, look_at
from consilience.insight.verdict import Ranked, SingleMember, one_of, sureness
from consilience.metrics.scores import Estimate as Difference
from consilience.metrics.scores import paired_difference, score, wilson
from consilience.system.arrays import FloatArray, IntArray, to_numpy
from consilience.system.errors import InvalidPredictions
from consilience.system.tables import Table

NOT_TOLD = "cannot be told apart without labels"


@by_predictions
def compare(
    predictions: Any,
    labels: Any = None,
    *,
    known: Any = None,
    aggregators: Mapping[str, AbstractAggregator] | Sequence[AbstractAggregator] | None = None,
    class_shares: Any = None,
    n_bins: int = 15,
) -> Table:
    """Fit every method, and return a row for each.

    With labels (-1 where unknown) the best row comes first, and the best and the median member have a row too. Each has
    its accuracy with the 90 % interval `from` … `to`; how much less often it is right than the best one on the items
    that both answer, `behind`, with the 90 % interval of that difference (`behind from` … `behind to`); a `verdict`:
    best, worse, or not told apart, where the interval holds 0; NLL, Brier score and calibration error (`n_bins` bins,
    and debiased). Labels only score; no fit sees them.

    Without labels nothing is ranked: how often methods are right is then only believed, by `Consensus` itself. Rows
    come in the order of the methods, with the interval `from` … `to` that holds the true accuracy in nine of ten
    panels. Where the intervals overlap, the `verdict` is that they cannot be told apart without labels.

    Then follow `confidence`, the mean probability of the answer (the accuracy a method claims); `entropy` in nats;
    `changed`, the share of items it answers differently from the average; `agreement`, how often members agree with it;
    `iterations`, whether they `converged`, and `seconds`. `member` is the name of the best or the median member.

    Parameters
    ----------
    known
        Labels of some items that every method learns from. These items are left out of all rows.
    aggregators
        Compare these only, and no members.
    class_shares
        How frequent the classes are, where you know it, for `Consensus` among the methods; without labels it estimates
        the intervals of all.

    Examples
    --------
    >>> import consilience as cs
    >>> p, labels = cs.datasets.shifted_digits()
    >>> print(cs.compare(p, labels, aggregators=[cs.Average(), cs.Consensus()]).select("method", "accuracy", "verdict"))
    method       accuracy  verdict
    Consensus()    0.5651  best
    Average()      0.4372  worse
    """
    looked = look_at(predictions, known, labels)
    asked = _Asked.of(looked.predictions, looked.labels(known), looked.labels(labels))
    methods = default_aggregators(looked.predictions, class_shares) if aggregators is None else _named(aggregators)
    if class_shares is not None and aggregators is not None:
        for method in methods.values():
            given_or_consensus(method, class_shares)
    rows: list[dict[str, Any]] = []
    answers: dict[str, IntArray] = {}
    believer: Consensus | None = None
    for name, aggregator in methods.items():
        started = time.perf_counter()
        fitted = looked.fitted(aggregator, known)
        seconds = time.perf_counter() - started
        posterior = looked.posterior(fitted)[asked.places]
        answers[name] = posterior.argmax(axis=1)
        believer = fitted if isinstance(fitted, Consensus) else believer
        run = {"iterations": fitted.n_iter_, "converged": _converged(fitted), "seconds": seconds, "member": ""}
        rows.append({"method": name, **asked.scores(posterior, n_bins), **asked.facts(posterior), **run})
    if asked.truth is None:
        believer = believer or looked.fitted(Consensus(class_shares=class_shares))
        rows = _unranked(rows, estimate_accuracies(asked.predictions, believer, answers))
    else:
        rows = asked.ranked(rows, answers, n_bins, with_members=aggregators is None)
    return Table({column: [row[column] for row in rows] for column in rows[0]})


class _Asked(NamedTuple):
    """The items that the rows are about: those whose label no method was given."""

    places: IntArray
    predictions: Predictions
    votes: HardAnswers  # of all members: their most probable classes
    average: IntArray  # (items,): the answer of the average
    truth: IntArray | None  # (items,), -1 where unknown

    @classmethod
    def of(cls, data: Predictions, known: Any, labels: Any) -> _Asked:
        given, truth = known_truths(known, data.axes), known_labels(labels, data.axes)
        is_given = np.zeros(data.n_items, dtype=bool) if given is None else which_known(given)
        places = np.flatnonzero(~is_given)
        if not len(places):
            raise InvalidPredictions(f"known must leave out some items to compare on; it has all {data.n_items}")
        if truth is not None and not (truth[places] >= 0).any():
            raise InvalidPredictions("labels must be known for an item that is not among the known ones; none is")
        asked = data.take(places) if is_given.any() else data
        votes = asked.harden().hard
        assert votes is not None  # noqa: S101 - hardened predictions are hard
        average = to_numpy(Average().fit(asked).posterior_).argmax(axis=1)
        return cls(places, asked, votes, average, None if truth is None else truth[places])

    def scores(self, posterior: FloatArray, n_bins: int) -> dict[str, float]:
        """All metrics of a posterior (items, classes), the accuracy with its interval; nothing without labels."""
        if self.truth is None:
            return {}
        is_known = self.truth >= 0
        return _with_interval(score(posterior[is_known], self.truth[is_known], n_bins=n_bins), int(is_known.sum()))

    def facts(self, posterior: FloatArray) -> dict[str, float]:
        """What is known of a posterior without labels."""
        chosen = posterior.argmax(axis=1)
        agreement = float((chosen[self.votes.items] == self.votes.labels).mean())
        return {**sureness(posterior), "changed": float((chosen != self.average).mean()), "agreement": agreement}

    def ranked(
        self, rows: list[dict[str, Any]], answers: Mapping[str, IntArray], n_bins: int, *, with_members: bool
    ) -> list[dict[str, Any]]:
        """The rows of methods, given the answer of each by name, and of single members, the best first."""
        assert self.truth is not None  # noqa: S101 - ranked where there are labels
        everything = np.arange(len(self.truth))
        chosen = {name: (everything, answer) for name, answer in answers.items()}
        if with_members:
            found = Ranked.measured(self.predictions, self.truth)
            for name, place in found.best_and_median().items():
                single = SingleMember(self.predictions, self.votes, place)
                chosen[name] = self.votes.items[single.is_own], self.votes.labels[single.is_own]
                scores = single.scores(float(found.accuracy[place]), self.truth, n_bins)
                run = {"iterations": 0, "converged": "", "seconds": float("nan"), "member": single.name}
                found_of = _with_interval(scores, int(found.n_votes[place]))
                rows = [*rows, {"method": name, **found_of, **single.facts(self.average), **run}]
        rows = sorted(rows, key=lambda row: (-np.nan_to_num(row["accuracy"], nan=-1.0), _nll(row)))
        best = rows[0]["method"]
        level = one_of(max(len(rows) - 1, 1))
        return [
            self._behind(row, chosen[best], chosen[row["method"]], None if row is rows[0] else level) for row in rows
        ]

    def _behind(
        self, row: dict[str, Any], best: tuple[IntArray, IntArray], own: tuple[IntArray, IntArray], level: float | None
    ) -> dict[str, Any]:
        """The row with how far it is behind the best, both given as items and labels of their answers.

        The best has no level.
        """
        assert self.truth is not None  # noqa: S101 - ranked where there are labels
        is_right = np.full((2, len(self.truth)), -1)
        for place, (items, labels) in enumerate((best, own)):
            is_right[place, items] = labels == self.truth[items]
        both = is_right[:, (self.truth >= 0) & (is_right >= 0).all(axis=0)].astype(bool)
        is_compared = both.size > 0 and level is not None
        lead = paired_difference(both[0], both[1], level or 0) if is_compared else Difference(*(float("nan"),) * 3)
        verdict = "best" if level is None else "worse" if lead.low > 0 else "not told apart"
        before = ("method", "accuracy", "from", "to")
        compared = {"behind": lead.value, "behind from": lead.low, "behind to": lead.high, "verdict": verdict}
        return {**{name: row[name] for name in before}, **compared, **row}


def _unranked(rows: list[dict[str, Any]], estimates: Estimates) -> list[dict[str, Any]]:
    """The rows of methods with the intervals of what is believed of them."""
    found = estimates.answers
    highest = max(one.low for one in found.values())
    return [
        {
            "method": row["method"],
            "from": (own := found[row["method"]]).low,
            "to": own.high,
            "verdict": "worse" if own.high < highest else NOT_TOLD,
            **row,
        }
        for row in rows
    ]


def _nll(row: dict[str, Any]) -> float:
    return float(np.nan_to_num(row["nll"], nan=np.inf))


def _with_interval(scores: dict[str, float], n_items: int) -> dict[str, float]:
    low, high = wilson(scores["accuracy"], n_items, COVERAGE)
    return {"accuracy": scores["accuracy"], "from": low, "to": high, **scores}


def default_aggregators(predictions: Predictions, class_shares: Any = None) -> dict[str, AbstractAggregator]:
    """Every method that applies, by name; `Consensus` knows the class shares."""
    methods: dict[str, AbstractAggregator] = {}
    for kind in commands().values():
        methods[kind.__name__] = Consensus(class_shares=class_shares) if kind is Consensus else kind()
        if kind is Average and predictions.hard is None:  # labels have no logarithms to average
            methods["Average (geometric)"] = Average(kind="geometric")
    return methods


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
