"""Diagnose members and classes without labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from scipy import sparse

from consilience.aggregators.base import AbstractAggregator, fitted_copy, is_taught
from consilience.aggregators.consensus.consensus import Consensus, doubts_labels
from consilience.data.labels import known_labels
from consilience.insight.accuracy.estimates import FUSED_ANSWER, AccuracyEstimate, Estimates, named_estimates, voters_of
from consilience.insight.agreement import PairCounts, PanelAgreement, agreement_of, answered_shares, most_active
from consilience.insight.arguments import by_predictions, given_or_consensus, look_at
from consilience.insight.explanation import explain_some, explained_items, influence_of
from consilience.insight.monitoring.monitor import Since, since
from consilience.insight.repeats import Repeats
from consilience.insight.verdict import Change, Hint, Verdict, hint_of, rivals_of
from consilience.insight.warnings import PanelEvidence, warnings_of
from consilience.passes.reader import Reader
from consilience.system.arrays import position_of_largest, to_numpy
from consilience.system.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy.typing as npt

    from consilience.data.answers import HardAnswers
    from consilience.data.predictions import Predictions
    from consilience.insight.explanation import Explanation
    from consilience.insight.warnings import Warned
    from consilience.system.arrays import Array, FloatArray, IntArray


FEWEST_ANSWERS = 5
"""A member with fewer answers has no accuracy of its own, only an interval, unless there are no more items."""

ENOUGH_COMMON = 20
"""The fewest common items of two members for their dependence to be known."""


@final
@dataclass(frozen=True, eq=False)
class Diagnosis:
    """A report on members and classes; prints as one.

    Attributes
    ----------
    members
        One row per member: the share of the items it answered, and how many `answers` it gave; its accuracy,
        `measured` on labels or estimated, with the 90 % interval `from` … `to` (with fewer than five answers only the
        interval, NaN for the accuracy); its `influence` on the fused answers (`insight.influence`: the mean over some
        items of what `explain` says of each); how often it agrees with the consensus, how much it agrees with the other
        members beyond chance (`kappa`), how often the consensus sides with it against the plurality of the others, and
        the pairs of classes it confuses most (true → said). If members answer items several times, `consistency` is the
        share of a member's `pairs` of answers to an item that are the same, and `first` its bias for the first
        position, where a tool's file tells that options were swapped (`insight.repeats.Repeats`).
    answers
        The accuracy of the fused answer and of the average, likewise.
    counts
        (members, true, predicted): how often each member called class k class j, as `Consensus` believes: their
        diagonal agrees with the estimated accuracy. `confusion` is the same as rates; an aggregator's own `confusion_`
        is what it computes with, prior and smoothing included.
    classes
        The classes' names, along the last two axes of `counts`.
    agreement
        (members, members): the share of common items on which two members give the same label; NaN where none. Rows
        and columns are `compared`, by name.
    dependence
        (members, members): the correlation of two members' answers beyond what the consensus explains; 0 for members
        who err independently, 1 for copies.
    beyond_chance
        How much the members agree beyond chance: Krippendorff's alpha, Fleiss' kappa, and Cohen's kappa of each pair
        (`beyond_chance.kappa`, on the axes of `agreement`).
    verdict
        What can be said of the fused answer, the average and the members: without labels what is known and what would
        tell more, with labels who is right more often (`verdict.sentences()`).
    warned
        What deserves a look, in parts: what was found, what shows it, what to do. `warnings` has the same as text;
        `consilience.insight.warnings` says how often each is right.
    since
        What has changed since a reference, if one was given.
    confused
        (members, true, predicted): what `confuses most` rests on: counted on labelled items where there are enough
        (`counts_labels`), else `counts`.
    hint
        What would change if you said that the classes are about equally frequent; None if little would.
    """

    members: Table
    answers: dict[str, AccuracyEstimate]
    counts: FloatArray
    classes: list[Any]
    agreement: FloatArray
    dependence: FloatArray
    compared: list[Any]
    beyond_chance: PanelAgreement
    verdict: Verdict
    warned: list[Warned]
    confused: FloatArray
    since: Since | None = None
    counts_labels: bool = False
    hint: Hint | None = None

    @property
    def warnings(self) -> list[str]:
        """What deserves a look, each with what to do next."""
        return [warned.text for warned in self.warned]

    @property
    def confusion(self) -> FloatArray:
        """(members, true, predicted): `counts` as rates; NaN where the consensus has less than one answer."""
        totals = self.counts.sum(axis=2, keepdims=True)
        return np.where(totals >= 1, self.counts / np.maximum(totals, 1), np.nan)

    def __repr__(self) -> str:
        """The member report, the verdict, the warnings and the hint."""
        lines = [
            repr(self.members),
            "",
            *self.verdict.sentences(),
            *([] if self.since is None else self.since.lines()),
            *(f"! {warning}" for warning in self.warnings),
            *([] if self.hint is None else [self.hint.sentence()]),
        ]
        return "\n".join(lines)


@by_predictions
def diagnose(
    predictions: Any,
    labels: Any = None,
    *,
    aggregator: AbstractAggregator | None = None,
    class_shares: Any = None,
    reference: Any = None,
    reference_labels: Any = None,
) -> Diagnosis:
    """Report on the members, given the fused answer of an aggregator; `Consensus` by default.

    If the aggregator is not fitted, a copy is fitted without labels. Accuracies are estimated from what `Consensus`
    believes about each answer, whichever aggregator is given, with an interval that contains the true accuracy in nine
    of ten panels. With labels of some items, drawn at random (-1 where unknown), accuracies are measured. The accuracy
    of a fused answer that learned from these labels is not measured on them, because it fits them better than others.

    `class_shares` say how frequent the classes are, where you know it: `Consensus(class_shares=...)` then estimates,
    and answers by default. Where you counted labels of a reference, they are `reference_labels.value_counts()`.

    `reference` is what the same members said of other items, such as those from before a shift: the diagnosis then says
    what has changed `since`, warns if the fused answer has probably become worse, and with `reference_labels` tells how
    often each member was right there.

    Examples
    --------
    >>> import consilience as cs
    >>> found = cs.diagnose(cs.datasets.shifted_digits().predictions)
    >>> print(found.warnings[0])  # doctest: +ELLIPSIS
    member 'naive Bayes' is too sure: it claims to be right on 9...
    """
    if reference is None and reference_labels is not None:
        raise ValueError("reference_labels need the reference that they belong to; got no reference")
    method = given_or_consensus(aggregator, class_shares)
    looked = look_at(predictions, labels)
    data, method, labels = looked.predictions, looked.prepared(method), looked.labels(labels)
    if hasattr(method, "members_"):
        data = method.aligned(data)
        posterior = method.predict_proba(data)
    else:
        method = fitted_copy(method, data)
        posterior = method.posterior_
    known = known_labels(labels, data.axes)
    found = diagnosis_under(data, method, posterior, Reader(data).pool(), known, class_shares=class_shares)
    if reference is None:
        return found
    changed = since(data, reference, reference_labels)
    return replace(found, since=changed, warned=[*found.warned, *changed.warned()])


def diagnosis_under(
    data: Predictions,
    method: AbstractAggregator,
    posterior: Array,
    average: Array,
    known: IntArray | None = None,
    *,
    is_given: npt.NDArray[np.bool_] | None = None,
    tested: AccuracyEstimate | None = None,
    explained: Callable[[IntArray], Iterable[Explanation]] | None = None,
    class_shares: Any = None,
) -> Diagnosis:
    """Diagnose the members under the posterior (items, classes) of a fitted method, given their average.

    Known labels measure members and the average. The fused answer is measured on those that the method was not given;
    where these are too few it is as often right as it was `tested` to be, if that is known. If labels have taught the
    method, and nobody says which (items,), it is estimated. If the method is not `Consensus`, a `Consensus` that knows
    the class shares estimates the accuracies. `explained` gives the explanations of items, so that none is made twice.
    """
    believer = method if isinstance(method, Consensus) else fitted_copy(Consensus(class_shares=class_shares), data)
    answers = {FUSED_ANSWER: position_of_largest(posterior), "average": position_of_largest(average)}
    saw_labels = is_given is None and is_taught(method)
    unseen = np.full(data.n_items, -1) if saw_labels or known is None else known.copy()
    if is_given is not None:
        unseen[is_given] = -1
    change = Change.of(answers[FUSED_ANSWER], to_numpy(average), unseen, is_given)
    is_plain = believer is method and not is_taught(method)  # what labels taught is not to estimate accuracies
    voters = voters_of(data, believer, answers, posterior if is_plain else None)
    estimates = named_estimates(voters, answers, known, {FUSED_ANSWER: unseen})
    if tested is not None and not estimates.answers[FUSED_ANSWER].is_measured:
        estimates.answers[FUSED_ANSWER] = tested
    consensus = _Consensus.of(data, posterior, answers[FUSED_ANSWER], voters.posterior)
    compared = most_active(consensus.answers, data.n_members)
    counts = PairCounts.of(consensus.answers, compared, data.n_items, data.n_classes)
    beyond_chance = agreement_of(consensus.answers, data, counts, compared)
    pairs = _Pairs.of(consensus, compared, counts)
    votes = data.votes().hard
    counted = (
        None if known is None or votes is None else counted_confusions(votes, known, data.n_members, data.n_classes)
    )
    confused = consensus.believed if counted is None else counted
    places = explained_items(data)
    explanations = explain_some(method, data, places) if explained is None else explained(places)
    influence = influence_of(explanations)
    report = _member_report(data, consensus, influence, estimates, beyond_chance, confused=confused)
    dependence = pairs.dependence()
    names = [f"member {name}" if name.isdecimal() else name for name in report["member"]]
    by_name = dict(zip(names, voters.votes, strict=False))  # the last votes are of whole answers
    verdict = Verdict(
        names=names,
        members=estimates.members,
        kappa=beyond_chance.by_member,
        influence=influence,
        fused=estimates.answers[FUSED_ANSWER],
        average=estimates.answers["average"],
        agreement=beyond_chance,
        change=change,
        rivals=rivals_of(answers[FUSED_ANSWER], answers["average"], by_name, unseen),
        knows_shares=getattr(believer, "stated_", None) is not None,
    )
    evidence = PanelEvidence(
        data,
        consensus.chosen,
        estimates,
        has_settled=method.converged_ or getattr(method, "tol", None) is None,
        change=change,
        doubts_labels=isinstance(method, Consensus) and doubts_labels(method),
    )
    return Diagnosis(
        members=report,
        answers=estimates.answers,
        counts=consensus.believed,
        classes=data.classes,
        agreement=counts.agreement(),
        dependence=dependence,
        compared=beyond_chance.compared,
        beyond_chance=beyond_chance,
        verdict=verdict,
        warned=warnings_of(evidence),
        confused=confused,
        counts_labels=counted is not None,
        hint=hint_of(method, data, posterior),
    )


class _Consensus(NamedTuple):
    """Members' labels and the posterior that the aggregator draws from them."""

    posterior: FloatArray  # (items, classes)
    chosen: IntArray  # (items,)
    answers: HardAnswers
    counts: FloatArray  # (members, true, predicted), expected under the posterior
    believed: FloatArray  # the same of the votes, under what `Consensus` believes

    @classmethod
    def of(cls, predictions: Predictions, posterior: Array, chosen: IntArray, belief: FloatArray) -> _Consensus:
        labels = predictions.harden()
        values = to_numpy(posterior)  # keeps its precision: in double, a large one would be a large copy
        counts = Reader(labels).statistics(values).sums
        believed = Reader(predictions.votes()).statistics(belief).sums
        assert labels.hard is not None  # noqa: S101 - hardened predictions are hard
        return cls(values, chosen, labels.hard, counts, believed)


# ---- members ----------------------------------------------------------------------------------------------


def _member_report(
    predictions: Predictions,
    consensus: _Consensus,
    influence: FloatArray,
    estimates: Estimates,
    beyond_chance: PanelAgreement,
    *,
    confused: FloatArray,
) -> Table:
    answers, n_members = consensus.answers, predictions.n_members
    n_answers = np.bincount(answers.members, minlength=n_members)

    def mean(values: FloatArray, weights: FloatArray | None = None) -> FloatArray:
        total = np.bincount(answers.members, weights=values, minlength=n_members)
        count = n_answers if weights is None else np.bincount(answers.members, weights=weights, minlength=n_members)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)

    agrees = (consensus.chosen[answers.items] == answers.labels).astype(float)
    dissents = _dissents(consensus, predictions).astype(float)
    return Table(
        {
            "member": [str(name) for name in predictions.members],
            "coverage": answered_shares(answers, n_members, predictions.n_items).tolist(),
            "answers": n_answers.tolist(),
            "estimated accuracy": [
                found.value if n >= min(FEWEST_ANSWERS, predictions.n_items) else np.nan
                for n, found in zip(n_answers, estimates.members, strict=True)
            ],
            "from": [found.low for found in estimates.members],
            "to": [found.high for found in estimates.members],
            **({"measured": [found.is_measured for found in estimates.members]} if estimates.has_labels else {}),
            "influence": influence.tolist(),
            "agreement": mean(agrees).tolist(),
            "kappa": beyond_chance.by_member.tolist(),
            "dissents": np.bincount(answers.members, weights=dissents, minlength=n_members).astype(int).tolist(),
            "dissents won": mean(agrees * dissents, dissents).tolist(),
            **Repeats.of(answers, n_members).columns(both_orders=predictions.both_orders),
            "confuses most": [_confusions(table, predictions.classes) for table in confused],
        }
    )


def _dissents(consensus: _Consensus, predictions: Predictions) -> npt.NDArray[np.bool_]:
    """Which answers contradict the plurality of the item's other answers, if that is a single class.

    Without an answer that is among its item's favourites, the other favourites lead; without any other answer, the
    favourites stay as they are. The answer is a dissent if exactly one class then leads.
    """
    answers, n_classes = consensus.answers, predictions.n_classes
    cells, place, votes = np.unique(answers.items * n_classes + answers.labels, return_inverse=True, return_counts=True)
    items = cells // n_classes
    most = np.zeros(predictions.n_items, dtype=votes.dtype)
    np.maximum.at(most, items, votes)
    n_favorites = np.bincount(items[votes == most[items]], minlength=predictions.n_items)[answers.items]
    is_favorite = votes[place] == most[answers.items]
    return np.asarray(np.where(is_favorite, n_favorites == 2, n_favorites == 1))


def _confusions(counts: FloatArray, classes: list[Any], n_pairs: int = 2) -> str:
    """The most frequent mistakes by expected count, such as `cat → dog 12%` (of the cats)."""
    wrong = counts * (1 - np.eye(len(counts)))
    rates = wrong / np.maximum(counts.sum(axis=1, keepdims=True), 1e-12)
    top = np.argsort(-wrong, axis=None, kind="stable")[:n_pairs]
    pairs = [np.unravel_index(place, wrong.shape) for place in top]
    return ", ".join(
        f"{classes[true]} → {classes[said]} {rates[true, said]:.0%}" for true, said in pairs if wrong[true, said] >= 1
    )


# ---- pairs of members -------------------------------------------------------------------------------------


class _Pairs(NamedTuple):
    """Counts over the items that both members of a pair answered."""

    common: FloatArray  # (members, members)
    same: FloatArray  # the same label
    expected: FloatArray  # the same label, if answers were independent given the true class

    @classmethod
    def of(cls, consensus: _Consensus, compared: IntArray, counts: PairCounts) -> _Pairs:
        answered, common, same, _ = counts
        rates = consensus.counts[compared]
        rates = rates / np.maximum(rates.sum(axis=2, keepdims=True), 1e-12)
        if answered.nnz == len(consensus.posterior) * len(compared):
            weighted = rates * consensus.posterior.sum(axis=0, dtype=np.float64)[None, :, None]
            return cls(common, same, np.tensordot(weighted, rates, axes=([1, 2], [1, 2])))
        expected = np.zeros_like(common)
        for k in np.flatnonzero(consensus.posterior.sum(axis=0) > 1e-9):
            weighted = sparse.diags_array(consensus.posterior[:, k]) @ answered
            expected += (weighted.T @ answered).toarray() * (rates[:, k] @ rates[:, k].T)
        return cls(common, same, expected)

    def dependence(self) -> FloatArray:
        """The correlation of one-hot answers beyond what the true class explains; 0 if few items are common.

        It is 1 for members who never differ, because nothing shows that they are independent.
        """
        excess = (self.same - self.expected) / np.maximum(self.common, 1)
        own = np.diagonal(excess)
        scale = np.sqrt(np.maximum(own[:, None] * own[None, :], 0))
        correlation = np.where(scale > 1e-9, excess / np.maximum(scale, 1e-9), 0.0)
        correlation = np.where(self.common >= ENOUGH_COMMON, np.clip(correlation, -1, 1), 0.0)
        return np.where((self.same == self.common) & (self.common >= ENOUGH_COMMON), 1.0, correlation)


# ---- confusions -----------------------------------------------------------------------------------------

ENOUGH_LABELS = 20
"""With so many labels for each class, confusions are counted on labelled items alone."""


def counted_confusions(votes: HardAnswers, truth: IntArray, n_members: int, n_classes: int) -> FloatArray | None:
    """Count the votes on labelled items (members, true, predicted); None if there are too few labels.

    `truth` (items,) is -1 where unknown.
    """
    if (truth >= 0).sum() < ENOUGH_LABELS * n_classes:
        return None
    is_labelled = truth[votes.items] >= 0
    members, labels = votes.members[is_labelled], votes.labels[is_labelled]
    cells = (members * n_classes + truth[votes.items[is_labelled]]) * n_classes + labels
    counts = np.bincount(cells, minlength=n_members * n_classes**2)
    return counts.reshape(n_members, n_classes, n_classes).astype(np.float64)
