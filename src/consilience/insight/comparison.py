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
from consilience.insight.accuracy.estimates import COVERAGE, estimate_accuracies
from consilience.insight.agreement import labels_of
from consilience.insight.arguments import by_predictions, given_or_consensus, look_at
from consilience.insight.verdict import LEAST_VOTED, one_of
from consilience.metrics.ood import uncertainty
from consilience.metrics.scores import METRICS, Estimate, paired_difference, score, wilson
from consilience.system.arrays import FloatArray, IntArray, to_numpy
from consilience.system.errors import InvalidPredictions
from consilience.system.tables import Table

NOT_TOLD, NOTHING = "cannot be told apart without labels", float("nan")

FIRST = ("method", "accuracy", "from", "to", "behind", "behind from", "behind to", "verdict")
"""The first columns."""

ENOUGH_RANKED = 10
"""Members with fewer votes that count are not ranked, unless all have fewer: whether one vote is right is chance."""


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
    asked = _Asked.of(looked.predictions, *looked.labels)
    rows: list[dict[str, Any]] = []
    candidates: dict[str, Candidate] = {}
    believer: Consensus | None = None

    def enter(name: str, own: Candidate, **run: Any) -> None:
        rows.append({"method": name, **asked.row(own, n_bins), **run})
        candidates[name] = own._replace(rows=None)  # which may be large, and are no longer needed

    for name, aggregator in _methods(aggregators, looked.predictions, class_shares).items():
        started = time.perf_counter()
        fitted = looked.fitted(aggregator, known)
        seconds = time.perf_counter() - started
        posterior = looked.posterior(fitted)[asked.places]
        believer = fitted if isinstance(fitted, Consensus) else believer
        has_settled = "" if getattr(fitted, "tol", None) is None else "yes" if fitted.converged_ else "no"
        own = Candidate(np.arange(len(posterior)), posterior.argmax(axis=1), posterior)
        enter(name, own, iterations=fitted.n_iter_, converged=has_settled, seconds=seconds, member="")
    if asked.has_labels:
        for name, place in asked.best_and_median().items() if aggregators is None else ():
            who = str(asked.predictions.members[place])
            enter(name, asked.member(place), iterations=0, converged="", seconds=NOTHING, member=who)
        rows = asked.ranked(rows, candidates)
    else:
        believer = believer or looked.fitted(Consensus(class_shares=class_shares))
        answers = {name: own.labels for name, own in candidates.items()}
        believed = estimate_accuracies(asked.predictions, believer, answers).answers
        highest = max(found.low for found in believed.values())
        for row in rows:
            found = believed[row["method"]]
            row |= {"from": found.low, "to": found.high, "verdict": "worse" if found.high < highest else NOT_TOLD}
    columns = sorted(rows[0], key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    return Table.of_rows(rows).select(*columns)


class Candidate(NamedTuple):
    """Somebody who is compared, on the items that it answers: a method on all, a member on its own."""

    items: IntArray
    labels: IntArray  # its answers
    rows: FloatArray | None  # its probabilities (items, classes); None where it gives labels, or only these are needed
    member: int = -1


class _Asked(NamedTuple):
    """The items that the rows are about: those whose label no method was given."""

    places: IntArray
    predictions: Predictions
    votes: HardAnswers  # of all members: their most probable classes
    average: IntArray  # (items,): the answer of the average
    truth: IntArray  # (items,), -1 where unknown

    @classmethod
    def of(cls, data: Predictions, known: Any, labels: Any) -> _Asked:
        truth, given = known_labels(labels, data.axes), known_truths(known, data.axes)
        is_given = np.zeros(data.n_items, dtype=bool) if given is None else which_known(given)
        places = np.flatnonzero(~is_given)
        if not len(places):
            raise InvalidPredictions(f"known must leave out some items to compare on; it has all {data.n_items}")
        if truth is not None and not (truth[places] >= 0).any():
            raise InvalidPredictions("labels must be known for an item that is not among the known ones; none is")
        asked = data.take(places) if is_given.any() else data
        average = to_numpy(Average().fit(asked).posterior_).argmax(axis=1)
        truth = np.full(len(places), -1) if truth is None else truth[places]
        return cls(places, asked, labels_of(asked.harden()), average, truth)

    @property
    def has_labels(self) -> bool:
        """Whether they can be scored."""
        return bool((self.truth >= 0).any())

    def member(self, place: int) -> Candidate:
        """A member; the first class wins a tie."""
        soft = next((member for member in self.predictions.soft if member.position == place), None)
        if soft is None:
            is_own = self.votes.members == place
            return Candidate(self.votes.items[is_own], self.votes.labels[is_own], None, place)
        rows = to_numpy(soft.rows).astype(np.float64)
        rows = rows[~np.isnan(rows[:, 0])]
        return Candidate(soft.answered(), rows.argmax(axis=1), rows, place)

    def best_and_median(self) -> dict[str, int]:
        """The positions of the two by the names of their rows; of one member alone, only the best."""
        truth, n_members = self.truth[self.votes.items], self.predictions.n_members
        n_votes = np.bincount(self.votes.members[truth >= 0], minlength=n_members)
        n_right = np.bincount(self.votes.members[truth == self.votes.labels], minlength=n_members)
        order = np.argsort(-n_right / np.maximum(n_votes, 1), kind="stable")
        most = int(n_votes.max())  # at least 1: an item with a label is asked for, and each has an answer
        ranked = order[n_votes[order] >= max(1, min(ENOUGH_RANKED, most), LEAST_VOTED * most)].tolist()
        best, middle = ranked[0], ranked[len(ranked) // 2]
        return {"best member": best, **({} if middle == best else {"median member": middle})}

    def row(self, own: Candidate, n_bins: int) -> dict[str, float]:
        """What is known of somebody: with labels all metrics, the accuracy with its interval, and then the rest."""
        chosen = np.full(len(self.places), -1)
        chosen[own.items] = own.labels
        is_other = (self.votes.members != own.member) & (chosen[self.votes.items] >= 0)
        agrees = (self.votes.labels == chosen[self.votes.items])[is_other]
        found = self._scores(own, n_bins) if self.has_labels else {}
        found |= {"confidence": NOTHING, "entropy": NOTHING}
        if own.rows is not None:
            entropy = uncertainty(own.rows, score="entropy").mean()
            found |= {"confidence": float(own.rows.max(axis=1).mean()), "entropy": float(entropy) + 0.0}
        found["changed"] = float((own.labels != self.average[own.items]).mean())
        return found | {"agreement": float(agrees.mean()) if len(agrees) else NOTHING}

    def _scores(self, own: Candidate, n_bins: int) -> dict[str, float]:
        is_known = self.truth[own.items] >= 0
        truth = self.truth[own.items[is_known]]
        if own.rows is None:
            scores = {**dict.fromkeys(METRICS, NOTHING), "accuracy": float((own.labels[is_known] == truth).mean())}
        else:
            scores = score(own.rows[is_known], truth, n_bins=n_bins)
        low, high = wilson(scores["accuracy"], len(truth), COVERAGE)
        return {**scores, "from": low, "to": high}

    def ranked(self, rows: list[dict[str, Any]], candidates: Mapping[str, Candidate]) -> list[dict[str, Any]]:
        """The rows, the best first, and how far each is behind it on the items that both answer."""
        rows = sorted(
            rows, key=lambda row: (-np.nan_to_num(row["accuracy"], nan=-1.0), np.nan_to_num(row["nll"], nan=np.inf))
        )
        level = one_of(max(len(rows) - 1, 1))
        best = self._is_right(candidates[rows[0]["method"]])
        for row in rows:
            own, lead = self._is_right(candidates[row["method"]]), Estimate(NOTHING, NOTHING, NOTHING)
            is_common = (best >= 0) & (own >= 0)
            if row is not rows[0] and is_common.any():
                lead = paired_difference(best[is_common] > 0, own[is_common] > 0, level)
            row |= {"behind": lead.value, "behind from": lead.low, "behind to": lead.high}
            row["verdict"] = "best" if row is rows[0] else "worse" if lead.low > 0 else "not told apart"
        return rows

    def _is_right(self, own: Candidate) -> IntArray:
        """Whether somebody is right on each item (items,): 1 or 0; -1 where it has no answer, or there is no label."""
        is_right = np.full(len(self.truth), -1)
        is_right[own.items] = own.labels == self.truth[own.items]
        return np.where(self.truth >= 0, is_right, -1)


def _methods(aggregators: Any, predictions: Predictions, class_shares: Any) -> dict[str, AbstractAggregator]:
    """Those given by their names or how they print, the second of two alike with (2); by default all that apply."""
    if aggregators is None:
        methods: dict[str, AbstractAggregator] = {}
        for kind in commands().values():
            methods[kind.__name__] = Consensus(class_shares=class_shares) if kind is Consensus else kind()
            if kind is Average and predictions.hard is None:  # labels have no logarithms to average
                methods["Average (geometric)"] = Average(kind="geometric")
        return methods
    if isinstance(aggregators, str) or not isinstance(aggregators, Mapping | Sequence):
        raise TypeError(f"aggregators must be a list or a mapping of methods; got {type(aggregators).__name__}")
    if not aggregators:
        raise ValueError("aggregators must have at least one method; got none")
    for method in aggregators.values() if isinstance(aggregators, Mapping) else aggregators:
        check_is_aggregator(method, "each of aggregators")
        given_or_consensus(method, class_shares)  # refuses both
    if isinstance(aggregators, Mapping):
        return dict(aggregators)
    seen: Counter[str] = Counter()
    named = {}
    for method in aggregators:
        name = repr(method)
        seen[name] += 1
        named[name if seen[name] == 1 else f"{name} ({seen[name]})"] = method
    return named
