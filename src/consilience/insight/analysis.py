"""A fitted method's answers to some predictions, and what follows from them; most of it is in its diagnosis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np
import numpy.typing as npt

from consilience.aggregators.base import AbstractAggregator, fitted_copy, is_taught
from consilience.aggregators.consensus.consensus import Consensus, doubts_labels, plain_rule
from consilience.data.answers import HardAnswers
from consilience.data.labels import known_labels, known_truths, which_known
from consilience.data.predictions import Predictions
from consilience.insight.accuracy.estimates import (
    COVERAGE,
    FUSED_ANSWER,
    LEAST_LABELS,
    AccuracyEstimate,
    named_estimates,
    voters_of,
)
from consilience.insight.agreement import (
    PairCounts,
    PanelAgreement,
    Repeats,
    agreement_of,
    by_class,
    coverage_of,
    labels_of,
    ratio,
)
from consilience.insight.arguments import by_predictions, given_or_consensus, look_at
from consilience.insight.explanation import Explanation, explain, explained_items, influence_of
from consilience.insight.label_evaluation import LabelEvaluation, value_of_labels
from consilience.insight.monitoring import Since, since
from consilience.insight.verdict import Change, Hint, Verdict, hint_of, rivals_of
from consilience.insight.warnings import WARNINGS, PanelEvidence, Warned
from consilience.metrics.scores import wilson
from consilience.passes.reader import Reader
from consilience.system.arrays import Array, FloatArray, IntArray, position_of_largest, to_numpy
from consilience.system.tables import Table

MOST_KEPT = 40  # how many explanations are kept for a second use. In a large crowd each one is large.

MOST_EVALUATED, QUICK_FOLDS = 2000, 5
"""The gain from labels is estimated for at most so many of them, with so many folds, so that it takes seconds."""

FEWEST_ANSWERS = 5  # with fewer, a member has no accuracy of its own, only an interval, unless there are no more items
ENOUGH_LABELS = 20  # with so many labels for each class, confusions are counted on labelled items alone


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
        position, where a tool's file tells that options were swapped (`insight.agreement.Repeats`).
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
        return rates_of(self.counts)

    def __repr__(self) -> str:
        """The member report, the verdict, the warnings and the hint."""
        lines = [repr(self.members), "", *self.verdict.sentences()]
        lines += [] if self.since is None else self.since.lines()
        lines += [f"! {warning}" for warning in self.warnings]
        lines += [] if self.hint is None else [self.hint.sentence()]
        return "\n".join(lines)


@final
class Analysis:
    """What a method says of predictions. Each part is computed when it is first used, and then kept.

    If the method is not fitted, a copy of it is, with the `known` labels. If it is fitted, `known` says which labels it
    was given. `labels` only measure; those of known items are not used, because the method has seen their truth.
    `predictions` are on the axes of the fit. The `Consensus` that estimates accuracies knows `class_shares`, where the
    method is another.
    """

    def __init__(
        self,
        predictions: Predictions,
        method: AbstractAggregator,
        known: Any = None,
        labels: Any = None,
        class_shares: Any = None,
    ) -> None:
        self.is_fitted_here = not hasattr(method, "members_")
        self.method = fitted_copy(method, predictions, known) if self.is_fitted_here else method
        self.predictions = self.method.aligned(predictions)
        if self.is_fitted_here:  # then the classes keep their order, and with it what options were swapped
            self.predictions.both_orders = predictions.both_orders
        self._known, self._labels, self.class_shares = known, labels, class_shares
        self._explanations: dict[tuple[int, Any], Explanation] = {}  # by the item and the class that it is against

    @classmethod
    def of(
        cls,
        predictions: Any,
        labels: Any = None,
        *,
        known: Any = None,
        aggregator: AbstractAggregator | None = None,
        class_shares: Any = None,
    ) -> Analysis:
        """What a method, or `Consensus`, says of whatever `Predictions` takes; of a large cluster, of a sample."""
        method = given_or_consensus(aggregator, class_shares)
        looked = look_at(predictions, known, labels)
        if looked.places is not None and not hasattr(method, "members_"):
            method = looked.fitted(method, known)  # to all items, not to those that are looked at
        known, labels = looked.labels
        return cls(looked.predictions, method, known, labels, class_shares)

    @cached_property
    def posterior(self) -> Array:
        """The method's `predict_proba` (items, classes)."""
        return self.method.predict_proba(self.predictions)

    @cached_property
    def average(self) -> FloatArray:
        """The plain average of the members (items, classes)."""
        return to_numpy(Reader(self.predictions).pool())

    @cached_property
    def hardened(self) -> Predictions:
        """What the members say, the first class winning a tie."""
        return self.predictions.harden()

    @cached_property
    def voted(self) -> Predictions:
        """The same of the answers that find one class most probable."""
        return self.predictions.votes()

    @cached_property
    def _given(self) -> IntArray | FloatArray | None:
        """The labels that the fit was given: class positions, -1 where unknown, or rows of probabilities."""
        return known_truths(self._known, self.predictions.axes)

    @cached_property
    def is_given(self) -> npt.NDArray[np.bool_]:
        """Which items had a label that the fit was given (items,)."""
        return np.zeros(self.predictions.n_items, dtype=bool) if self._given is None else which_known(self._given)

    @cached_property
    def measurable(self) -> IntArray:
        """The labels that measure the fused answer, as class positions; -1 where unknown, and where the fit had one."""
        return np.where(self.is_given, -1, self.truth(self._labels))

    @cached_property
    def unseen(self) -> IntArray:
        """The same; none of them where labels have taught the method, and nobody says which."""
        saw_labels = self._known is None and is_taught(self.method)
        return np.full(self.predictions.n_items, -1) if saw_labels else self.measurable

    @cached_property
    def known(self) -> IntArray:
        """The labels that measure members, who have seen none: class positions, -1 where unknown or not certain."""
        given = self._given
        if given is None:
            return self.measurable
        if given.ndim == 2:
            given = np.where(np.nan_to_num(given).max(axis=1) == 1, np.nan_to_num(given).argmax(axis=1), -1)
        return np.where(self.is_given, given, self.measurable).astype(np.intp)

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """The diagnosis of the members under the posterior, measured where labels allow it."""
        return _diagnosis(self)

    @cached_property
    def change(self) -> Change:
        """What fusing changed, of the method's `predict_proba`."""
        return Change.of(position_of_largest(self.posterior), self.average, self.measurable, self.is_given)

    @cached_property
    def tested(self) -> AccuracyEstimate | None:
        """How often the fused answer is right on labelled items that it answers without their own label."""
        if self.gain is None or self.gain.n_labels < LEAST_LABELS:
            return None
        share = self.gain.after["accuracy"]
        return AccuracyEstimate(share, *wilson(share, self.gain.n_labels, COVERAGE), is_measured=True)

    @property
    def _corrected(self) -> Consensus | None:
        """The method, if it is a Consensus that labels have corrected."""
        return self.method if isinstance(self.method, Consensus) and self.method.correction_ is not None else None

    @cached_property
    def gain(self) -> LabelEvaluation | None:
        """What the known labels gained; None if that cannot be estimated, or would take far longer than the fit."""
        if self._corrected is None or not 2 <= self.is_given.sum() <= MOST_EVALUATED:
            return None
        return value_of_labels(self.predictions, self._known, aggregator=self._corrected, n_folds=QUICK_FOLDS)

    @cached_property
    def n_changed_by_labels(self) -> int | None:
        """How many answers the known labels changed, of items without one; None if there were none to learn from."""
        if self._corrected is None:
            return None
        untaught = to_numpy(plain_rule(self._corrected).posterior(self.predictions)).argmax(axis=1)
        return int(((to_numpy(self.posterior).argmax(axis=1) != untaught) & ~self.is_given).sum())

    def truth(self, labels: Any) -> IntArray:
        """Known labels as class positions on the axes of the fit, -1 where unknown."""
        known = known_labels(labels, self.predictions.axes)
        return np.full(self.predictions.n_items, -1) if known is None else np.asarray(known)

    def explanations(self, items: IntArray, against: Sequence[Any]) -> Iterator[Explanation]:
        """Explain the items at these positions, each against a class, or against the second where that is None."""
        if not len(items):
            return
        taken = self.predictions.take(items)
        for place, name, rival in zip(items.tolist(), taken.items, against, strict=True):
            why = self._explanations.get((place, rival)) or explain(taken, name, aggregator=self.method, against=rival)
            if len(self._explanations) < 2 * MOST_KEPT:  # each under two keys
                self._explanations |= {(place, rival): why, (place, why.runner_up): why}
            yield why


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
    analysis = Analysis.of(predictions, labels, aggregator=aggregator, class_shares=class_shares)
    if analysis.is_fitted_here:
        analysis.posterior = analysis.method.posterior_
    found = analysis.diagnosis
    if reference is None:
        return found
    changed = since(analysis.predictions, reference, reference_labels)
    return replace(found, since=changed, warned=[*found.warned, *changed.warned()])


def _diagnosis(analysis: Analysis) -> Diagnosis:
    """Diagnose the members under the posterior.

    Labels measure members and the average. The fused answer is measured on those that the method was not given; where
    these are too few it is as often right as it was tested to be, if that is known. If labels have taught the method,
    and nobody says which, it is estimated.
    """
    data, method, posterior = analysis.predictions, analysis.method, analysis.posterior
    default = Consensus(class_shares=analysis.class_shares)
    believer = method if isinstance(method, Consensus) else fitted_copy(default, data)
    fused, average = position_of_largest(posterior), position_of_largest(analysis.average)
    answers = {FUSED_ANSWER: fused, "average": average}
    change = Change.of(fused, analysis.average, analysis.unseen, analysis.is_given)
    is_plain = believer is method and not is_taught(method)  # what labels taught is not to estimate accuracies
    voters = voters_of(data, believer, answers, posterior if is_plain else None)
    estimates = named_estimates(voters, answers, analysis.known, analysis.unseen)
    if analysis.tested is not None and not estimates.answers[FUSED_ANSWER].is_measured:
        estimates.answers[FUSED_ANSWER] = analysis.tested
    rows = to_numpy(posterior)  # keeps its precision: in double, a large one would be a large copy
    labels = labels_of(analysis.hardened)
    pairs = PairCounts.of(labels, data)
    beyond_chance = agreement_of(labels, data, pairs)
    confused = believed = Reader(analysis.voted).statistics(voters.posterior).sums
    labelled = np.flatnonzero(analysis.known >= 0)
    counts_labels = len(labelled) >= ENOUGH_LABELS * data.n_classes
    if counts_labels:
        truth = np.eye(data.n_classes)[analysis.known[labelled]]
        confused = Reader(analysis.voted.take(labelled)).statistics(truth).sums
    places = explained_items(data)
    influence = influence_of(analysis.explanations(places, [None] * len(places)))
    names = [f"member {name}" if name.isdecimal() else name for name in map(str, data.members)]
    by_name = dict(zip(names, voters.votes, strict=False))  # the last votes are of whole answers
    verdict = Verdict(
        names=names,
        estimates=estimates,
        influence=influence,
        agreement=beyond_chance,
        change=change,
        rivals=rivals_of(fused, average, by_name, analysis.unseen),
        knows_shares=getattr(believer, "stated_", None) is not None,
    )
    evidence = PanelEvidence(
        data,
        fused,
        estimates,
        has_settled=method.converged_ or getattr(method, "tol", None) is None,
        change=change,
        doubts_labels=isinstance(method, Consensus) and doubts_labels(method),
    )
    return Diagnosis(
        members=_member_report(data, labels, fused, verdict, confused),
        answers=estimates.answers,
        counts=believed,
        classes=data.classes,
        agreement=pairs.agreement(),
        dependence=pairs.dependence(Reader(analysis.hardened).statistics(rows).sums, rows),
        compared=beyond_chance.compared,
        beyond_chance=beyond_chance,
        verdict=verdict,
        warned=[warned for find in WARNINGS.values() for warned in find(evidence)],
        confused=confused,
        counts_labels=counts_labels,
        hint=hint_of(method, data, posterior),
    )


def _member_report(
    data: Predictions, answers: HardAnswers, fused: IntArray, verdict: Verdict, confused: FloatArray
) -> Table:
    def count(weights: npt.NDArray[np.bool_] | None = None) -> IntArray:
        return np.bincount(answers.members, weights=weights, minlength=data.n_members).astype(np.intp)

    n_answers, agrees, is_dissent = count(), fused[answers.items] == answers.labels, _dissents(answers, data)
    found, is_known = verdict.estimates.members, n_answers >= min(FEWEST_ANSWERS, data.n_items)
    return Table(
        {
            "member": [str(name) for name in data.members],
            "coverage": coverage_of(answers, data.n_members, data.n_items)["coverage"].tolist(),
            "answers": n_answers.tolist(),
            "estimated accuracy": np.where(is_known, [one.value for one in found], np.nan).tolist(),
            "from": [one.low for one in found],
            "to": [one.high for one in found],
            **({"measured": [one.is_measured for one in found]} if verdict.estimates.has_labels else {}),
            "influence": verdict.influence.tolist(),
            "agreement": ratio(count(agrees), n_answers).tolist(),
            "kappa": verdict.agreement.by_member.tolist(),
            "dissents": count(is_dissent).tolist(),
            "dissents won": ratio(count(agrees & is_dissent), count(is_dissent)).tolist(),
            **Repeats.of(answers, data.n_members).columns(both_orders=data.both_orders),
            "confuses most": [
                ", ".join(  # such as `cat → dog 12%` (of the cats)
                    f"{data.classes[true]} → {data.classes[said]} {share:.0%}"
                    for true, said, share, count in most_confused(table, 2)
                    if count >= 1
                )
                for table in confused
            ],
        }
    )


def _dissents(answers: HardAnswers, data: Predictions) -> npt.NDArray[np.bool_]:
    """Which answers contradict the plurality of the item's other answers, if that is a single class.

    Without an answer that is among its item's favourites, the other favourites lead; without any other answer, the
    favourites stay as they are. The answer is a dissent if exactly one class then leads.
    """
    counts = by_class(answers.items, answers.labels, (data.n_items, data.n_classes))
    entries, most = counts.tocoo(), counts.max(axis=1).toarray().ravel()
    n_favorites = np.bincount(entries.row[entries.data == most[entries.row]], minlength=data.n_items)[answers.items]
    is_favorite = counts[answers.items, answers.labels] == most[answers.items]
    return np.asarray(n_favorites == np.where(is_favorite, 2, 1))


def rates_of(counts: FloatArray) -> FloatArray:
    """Counts (…, true, said) as rates; NaN of true classes with less than one answer."""
    totals = counts.sum(axis=-1, keepdims=True)
    return np.where(totals >= 1, counts / np.maximum(totals, 1), np.nan)


def most_confused(counts: FloatArray, most: int) -> list[tuple[int, int, float, float]]:
    """The most frequent confusions: true class, said, its share of the true class, how often."""
    wrong = np.where(np.eye(len(counts), dtype=bool), 0, counts).ravel()
    most = min(most, wrong.size)
    largest = np.flatnonzero(wrong >= np.partition(wrong, -most)[-most])
    cells = largest[np.argsort(-wrong[largest], kind="stable")][:most]
    shares = (counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)).ravel()
    return [(*divmod(cell, len(counts)), shares[cell], wrong[cell]) for cell in cells.tolist() if wrong[cell] > 0]
