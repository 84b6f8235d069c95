"""`Consensus`: an average that knows its members. Label-free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, final

import numpy as np

from consilience.aggregators.base import Outcome
from consilience.aggregators.consensus.credibility import credibility
from consilience.aggregators.consensus.label_correction import MOST_NUMBERS, LabelledItems, learn_correction
from consilience.aggregators.consensus.opinion_weights import MOST_MEMBERS, copies, pool_weights, skills
from consilience.aggregators.iterative import AbstractIterative
from consilience.answering.corrected import CorrectedRule, Correction
from consilience.answering.declaration import STATISTICS, Learned, Number, Record, Shape
from consilience.answering.linear import LinearRule
from consilience.data.labels import known_truths, which_known
from consilience.data.predictions import Predictions
from consilience.data.reading import check_number
from consilience.maths.em import em
from consilience.maths.model import Scores, State
from consilience.passes.agreement import Agreement
from consilience.passes.reader import open_reader
from consilience.system.arrays import to_numpy
from consilience.system.warning import warn

if TYPE_CHECKING:
    from consilience.answering.rule import AbstractRule
    from consilience.data.axes import Axes
    from consilience.data.predictions import AbstractPredictions
    from consilience.maths.statistics import Statistics
    from consilience.passes.reader import AbstractReader
    from consilience.system.arrays import Array, FloatArray

FEW_ANSWERS = 10.0
"""A member with fewer answers than this is taken to be about as accurate as the others."""

MANY_OF_ONE = 5
"""So many labels, all of one class, are worth a warning: they were hardly drawn at random."""


AGREEMENT = Record(Agreement, {"products": "gg", "counts": "gg", "confidences": "g", "answers": "g", "totals": "gk"})


@final
@dataclass(frozen=True, slots=True, eq=False)
class TranslationModel:
    """What each answer tells of the truth: scores linear in the members' probabilities, Σ_m b_m Σ_j x_imj log π_mkj.

    With labels and b = 1 it is Dawid-Skene's E step without the class prior.
    """

    powers: FloatArray  # (members,): b
    smoothing: float

    def maximize(self, statistics: Statistics, _: FloatArray | None = None) -> FloatArray:
        """Confusion matrices (members, true, predicted): what each member says of each class, in the mean.

        Rows are shrunk to those of a member who errs evenly, by `smoothing` of an average class's answers and one more.
        """
        n_classes = statistics.sums.shape[-1]
        right, answers = np.trace(statistics.sums, axis1=1, axis2=2), statistics.sums.sum(axis=(1, 2))
        # One wrong answer more than there were: nobody is beyond error, and no rate is zero.
        accuracy = (right + FEW_ANSWERS * right.sum() / answers.sum()) / (answers + FEW_ANSWERS + 1)
        wrong = (1 - accuracy) / (n_classes - 1)
        even = wrong[:, None, None] + (accuracy - wrong)[:, None, None] * np.eye(n_classes)
        counts = statistics.sums + (self.smoothing * answers / n_classes + 1)[:, None, None] * even
        return np.asarray(counts / counts.sum(axis=-1, keepdims=True))

    def scores(self, rates: FloatArray) -> Scores:
        """The linear layer of the E step."""
        n_members, n_classes, _ = rates.shape
        return Scores(np.zeros(n_classes), self.powers[:, None, None] * np.log(rates), np.zeros((n_members, n_classes)))


class Panel(NamedTuple):
    """What is known of the members from how much they agree."""

    agreement: Agreement  # of their probabilities
    votes: Agreement  # of the classes they choose
    weights: FloatArray  # of an average
    credibility: FloatArray

    @classmethod
    def of(cls, agreement: Agreement, votes: Agreement, n_members: int) -> Panel:
        """Weights and credibility from agreement; of too many members to compare, all the same."""
        if len(agreement.counts) != n_members:
            return cls(agreement, votes, np.full(n_members, 1 / n_members), np.ones(n_members))
        weights, sameness = pool_weights(agreement, votes), copies(agreement)
        return cls(agreement, votes, weights, credibility(agreement, votes, weights, sameness))


@final
class Consensus(AbstractIterative):
    """The recommended label-free method: a weighted average, corrected by what members' answers have come to mean.

    1. **Weights.** How much each pair of members agrees tells who is useless and who repeats whom; the others weigh
       about the same (`opinion_weights`).
    2. **Meanings.** Under the average, each member's confusion matrix is counted. An answer then speaks for the classes
       under which it is often given. There is no class prior: shift empties classes that are still there, and a prior
       would keep them empty.
    3. **Caution.** Members err together, so the evidence of many counts as that of `2.5 √(effective members)`, and as
       less where they are surer than their agreement bears out (`credibility`). And the answer is `1 - weight` of the
       weighted average and `weight` of the corrected posterior, in the counting as in the end. So it stays near the
       weighted average.

    All that needs no labels. Where some are known, a fourth step corrects the answers of the other items too, as far as
    the labels support it: by member and class, shrunk towards no correction as strongly as cross-validation on the
    labelled items asks for (`label_correction`). Labels are names or positions of classes (-1 where unknown), or
    probabilities (items, classes), rows of NaN where unknown. They change neither weights nor confusion matrices.

    `history_` is the evidence of the translated answers as each pass found it; it settles but need not rise.
    `benchmarks/quality` shows what it gains and where it loses.

    Parameters
    ----------
    weight
        Of the corrected posterior; the weighted average has the rest. 0 is the weighted average alone.
    evidence
        What the members' powers sum up to on an average item, as a multiple of the square root of their effective
        number.
    smoothing
        How far confusion matrices are drawn to even errors: pseudo-answers to each row, as a share of an average
        class's.
    label_noise
        The share of known labels that are wrong. 0 takes a label for the answer to its item; otherwise members are
        heard too. Soft labels say themselves how sure they are.
    max_iter, tol
        At most so many iterations; fewer when the evidence changes by less than `tol` per item. The answer hardly
        changes after the third.
    forgetting
        What `partial_fit` multiplies all earlier statistics by at each batch; 1 forgets nothing.
    chunk_size
        Items at a time; None chooses.
    verbose
        Show a progress bar.

    Attributes
    ----------
    member_weights_ : (members,), of the average; they sum to 1
    member_credibility_ : (members,), what their evidence is multiplied by: below 1 where they are surer than their
        agreement bears out
    estimated_accuracy_ : (members,), of the votes, as their agreement tells
    agreement_, vote_agreement_ : what the weights were found from, in a form that adds up
    correction_ : what labels corrected; None where there were none
    labelled_ : what members said of the labelled items, which corrections are learned from

    Examples
    --------
    >>> Consensus().fit_predict_proba([[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.4, 0.6]]]).argmax(1).tolist()
    [0, 1]
    """

    member_weights_: FloatArray
    member_credibility_: FloatArray
    agreement_: Agreement
    vote_agreement_: Agreement
    correction_: Correction | None
    labelled_: LabelledItems | None

    command: ClassVar[str] = "consensus"
    learned: ClassVar[Learned] = {
        "agreement_": AGREEMENT,
        "vote_agreement_": AGREEMENT,
        "member_weights_": "m",
        "member_credibility_": "m",
        "confusion_": "mkk",
        "statistics_": STATISTICS,
        "correction_": Record(
            Correction,
            {
                "sharpness": Number(is_signed=True),
                "bias": Shape("k", is_signed=True),
                "weights": Shape("mkk", is_signed=True),
            },
            is_optional=True,
        ),
        "labelled_": Record(
            LabelledItems,
            {"said": Shape("lmk", may_miss=True), "targets": "lk", "noise": "l", "weights": "l"},
            is_optional=True,
        ),
        "class_prior_": "k",
    }

    def __init__(
        self,
        *,
        weight: float = 0.4,
        evidence: float = 2.5,
        smoothing: float = 0.1,
        label_noise: float = 0.0,
        max_iter: int = 20,
        tol: float | None = 1e-3,
        forgetting: float = 1.0,
        chunk_size: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.weight = weight
        self.evidence = evidence
        self.smoothing = smoothing
        self.label_noise = label_noise
        self.max_iter = max_iter
        self.tol = tol
        self.forgetting = forgetting
        self.chunk_size = chunk_size
        self.verbose = verbose

    # ---- fitting ------------------------------------------------------------------------------------------

    def _fit(self, predictions: AbstractPredictions, known: Array | None) -> Outcome:
        reader = self._reader(predictions)
        with self._progress(reader, self.max_iter + 1):  # and a pass for the average's statistics
            votes = _agreement(self._reader(predictions.harden()))
            panel = Panel.of(_agreement(reader), votes, predictions.n_members)
            average = reader.average_statistics(reader, panel.weights)
            model, weight = self._model(panel, average), self._weight(average.answer_counts)
            expectation = reader.expectation(remembers=False)

            def step(state: State, _: int) -> tuple[State, float]:
                expected = expectation(model.scores(state.parameters))
                evidence = expected.log_evidence
                statistics = average.averaged_into(expected, weight)
                return State(model.maximize(statistics), statistics), evidence

            start = State(model.maximize(average), average)
            fit = em(step, start, max_iter=self.max_iter, tol=self.tol, n_items=predictions.n_items)
        labelled = self._labelled(predictions, known)
        rule = _corrected(self._rule(panel, fit.state), labelled, predictions.classes)
        posterior = rule.lazy_posterior(predictions, known, self.label_noise)
        self._learn(panel, fit.state, rule, labelled)
        return Outcome(posterior, fit.state.statistics, fit.history, fit.converged)

    def _partial_fit(self, predictions: AbstractPredictions, known: Array | None) -> Outcome:
        reader = self._reader(predictions)
        before = self._model(self._panel, self.statistics_)
        expected = reader.expectation(remembers=False)(before.scores(self.confusion_))
        evidence = expected.log_evidence
        agreement = self.forgetting * self.agreement_ + _agreement(reader)
        votes = self.forgetting * self.vote_agreement_ + _agreement(self._reader(predictions.harden()))
        panel = Panel.of(agreement, votes, predictions.n_members)
        average = reader.average_statistics(reader, panel.weights)
        n_answers = self.forgetting * self.statistics_.answer_counts + average.answer_counts
        batch = average.averaged_into(expected, self._weight(n_answers))
        statistics = self.forgetting * self.statistics_ + batch
        state = State(before.maximize(statistics), statistics)
        labelled = self._more_labelled(self.forgetting, predictions, known)
        plain = self._rule(panel, state)
        # Corrections take a moment to learn, so that batches without labels leave them as they are.
        rule = self._with_correction(plain) if known is None else _corrected(plain, labelled, predictions.classes)
        posterior = rule.lazy_posterior(predictions, known, self.label_noise)
        self._learn(panel, state, rule, labelled)
        return Outcome(posterior, statistics, [evidence], converged=False)

    def add_labels(self, predictions: Any, labels: Any) -> Self:
        """Learn from labels that arrive late: what members said of those items, and what is known of them now.

        Only the correction changes; `posterior_` stays that of the last fit or batch. An item that was labelled before
        counts once, with its new label; where members give labels alone, items are not told apart, and it counts
        twice.
        """
        items, known = self._aligned_with(labels, predictions)
        if known is not None:
            labelled = self._more_labelled(1.0, items, known)
            rule = _corrected(self._plain_rule(), labelled, self.classes_)
            self.correction_, self.labelled_ = _correction_of(rule), labelled
        return self

    def rule_taught(self, predictions: Any, labels: Any) -> AbstractRule:
        """How items are answered after learning from these labels alone; what is learned here stays as it is."""
        items, known = self._aligned_with(labels, predictions)
        return _corrected(self._plain_rule(), self._labelled(items, known), self.classes_)

    def _labelled(self, predictions: AbstractPredictions, known: Array | None) -> LabelledItems | None:
        """The items of which something is known, as far as that can correct anything."""
        if known is None:
            return None
        if predictions.n_members * predictions.n_classes > MOST_NUMBERS:
            warn(
                f"labels only settle their own items where members × classes are over {MOST_NUMBERS:,}; "
                f"got {predictions.n_members} × {predictions.n_classes}"
            )
            return None
        items = np.flatnonzero(which_known(known))
        is_soft = known.ndim == 2
        targets = known[items] if is_soft else np.eye(predictions.n_classes)[known[items]]
        said = predictions.take(items).to_array().transpose(1, 0, 2)
        said = said / said.sum(axis=2, keepdims=True)  # half precision does not sum to 1
        noise = np.full(len(items), 0.0 if is_soft else self.label_noise)
        return LabelledItems(said, targets, noise, np.ones(len(items)))

    def _more_labelled(self, factor: float, items: AbstractPredictions, known: Array | None) -> LabelledItems | None:
        new = self._labelled(items, known)
        if self.labelled_ is None or new is None:
            return new if self.labelled_ is None else factor * self.labelled_
        return factor * self.labelled_ + new

    def _learn(self, panel: Panel, state: State, rule: AbstractRule, labelled: LabelledItems | None) -> None:
        """Keep all of it: at the end, so that nothing is half-learned where a fit is interrupted."""
        self.agreement_, self.vote_agreement_, self.member_weights_, self.member_credibility_ = panel
        self.confusion_ = state.parameters
        self.correction_, self.labelled_ = _correction_of(rule), labelled
        self.class_prior_ = state.statistics.class_counts / state.statistics.class_counts.sum()

    def _weight(self, answer_counts: FloatArray) -> float:
        """Nothing corrects a member alone: it agrees with whatever is made of its answers."""
        is_alone = np.count_nonzero(answer_counts.sum(axis=1)) == 1
        return 0.0 if is_alone else self.weight

    def _model(self, panel: Panel, statistics: Statistics) -> TranslationModel:
        """The evidence of credible members on an average item sums up to `evidence` · √(effective members)."""
        member_weights = panel.weights
        shares = statistics.answer_counts.sum(axis=1) / statistics.n_items  # of the items, how many each answers
        behind = member_weights @ shares  # the average item's answer
        n_effective = behind**2 / (member_weights**2 @ shares)
        powers = self.evidence * np.sqrt(n_effective) * member_weights / behind
        return TranslationModel(powers * panel.credibility, self.smoothing)

    @property
    def estimated_accuracy_(self) -> FloatArray | None:
        """How often each member's vote is right (members,), if members erred independently; None of very many.

        Where they share errors it is too high; few members are drawn towards each other.
        """
        if len(self.vote_agreement_.counts) != len(self.member_weights_):
            return None
        return _accuracies(self.agreement_, self.vote_agreement_)

    # ---- using what was learned ---------------------------------------------------------------------------

    def rule(self) -> AbstractRule:
        """The weighted average and the corrected posterior, and what labels taught."""
        return self._with_correction(self._plain_rule())

    def _plain_rule(self) -> LinearRule:
        """The rule without what labels taught."""
        self._check_is_fitted()
        return self._rule(self._panel, State(self.confusion_, self.statistics_))

    def _rule(self, panel: Panel, state: State) -> LinearRule:
        scores = self._model(panel, state.statistics).scores(state.parameters)
        is_label = np.zeros(len(panel.weights), dtype=bool)
        weight = self._weight(state.statistics.answer_counts)
        return LinearRule(panel.weights, is_label, weight, scores, chunk_size=self.chunk_size)

    def _with_correction(self, rule: LinearRule) -> AbstractRule:
        return rule if self.correction_ is None else CorrectedRule(rule, self.correction_)

    @property
    def _panel(self) -> Panel:
        return Panel(self.agreement_, self.vote_agreement_, self.member_weights_, self.member_credibility_)

    # ---- options ------------------------------------------------------------------------------------------

    def _reader(self, predictions: AbstractPredictions) -> AbstractReader:
        return open_reader(predictions, chunk_size=self.chunk_size)

    def _known(self, labels: Any, axes: Axes) -> Any:
        """Labels as positions of classes, soft ones as rows."""
        return known_truths(labels, axes)

    def _check_parameters(self, n_members: int, n_classes: int) -> None:
        del n_members, n_classes
        self._check_loop()
        check_number("weight", self.weight, most=1)
        check_number("evidence", self.evidence)
        check_number("smoothing", self.smoothing)
        check_number("label_noise", self.label_noise, most=0.5)


def _agreement(reader: AbstractReader) -> Agreement:
    """How much members agree; that of no members where there are too many to compare each with each."""
    return (
        reader.agreement()
        if reader.predictions.n_members <= MOST_MEMBERS
        else Agreement.zero(0, reader.predictions.n_classes)
    )


def _corrected(rule: LinearRule, labelled: LabelledItems | None, classes: list[Any]) -> AbstractRule:
    """The rule with what these labels correct in it.

    Labels of one class alone would teach that there is no other.
    """
    taught = [] if labelled is None else labelled.targets.argmax(axis=1).tolist()
    if labelled is None or len(set(taught)) < 2:
        if len(taught) >= MANY_OF_ONE:
            warn(
                "labels teach nothing of other items where all are of one class; "
                f"all {len(taught)} are {classes[taught[0]]!r}"
            )
        return rule
    answers = to_numpy(rule.posterior(Predictions(labelled.said.transpose(1, 0, 2))))
    return CorrectedRule(rule, learn_correction(labelled, answers))


def _correction_of(rule: AbstractRule) -> Correction | None:
    return rule.correction if isinstance(rule, CorrectedRule) else None


def _accuracies(agreement: Agreement, votes: Agreement) -> FloatArray:
    """How often each member's vote is right (members,), if members erred independently; blind votes are by chance."""
    found = skills(votes, copies(agreement))
    by_chance = votes.shares @ votes.shares.mean(axis=0)
    return np.asarray(found + (1 - found) * by_chance)
