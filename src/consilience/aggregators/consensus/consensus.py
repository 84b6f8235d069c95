"""`Consensus`: an average that knows its members. Label-free."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, final

import numpy as np

from consilience.aggregators.base import AbstractAggregator
from consilience.aggregators.consensus.credibility import credibility
from consilience.aggregators.consensus.label_correction import MOST_NUMBERS, LabelledItems, learn_correction
from consilience.aggregators.consensus.opinion_weights import MOST_MEMBERS, copies, pool_weights, skills
from consilience.aggregators.parameters import check_loop
from consilience.answering.correction import Correction
from consilience.answering.rule import Rule
from consilience.data.labels import known_truths, which_known
from consilience.data.predictions import Predictions
from consilience.maths.em import em
from consilience.maths.statistics import Statistics
from consilience.passes.agreement import Agreement
from consilience.passes.kernels import Scores
from consilience.passes.readers import open_reader
from consilience.system.arrays import to_numpy
from consilience.system.options import check_number
from consilience.system.progress import show_progress

if TYPE_CHECKING:
    from consilience.data.axes import Axes
    from consilience.system.arrays import Array, FloatArray

FEW_ANSWERS = 10.0
"""A member with fewer answers than this is taken to be about as accurate as the others."""

MANY_OF_ONE = 5
"""So many labels, all of one class, are worth a warning: they were hardly drawn at random."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class TranslationModel:
    """What each answer tells of the truth: scores linear in the members' probabilities, Σ_m b_m Σ_j x_imj log π_mkj.

    With labels and b = 1 it is Dawid-Skene's E step without the class prior.
    """

    powers: FloatArray  # (members,): b
    smoothing: float

    def rates(self, statistics: Statistics) -> FloatArray:
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
    def of(cls, agreement: Agreement, votes: Agreement, predictions: Predictions) -> Panel:
        """Weights and credibility from agreement; of too many members to compare, all the same."""
        n_members, n_classes = predictions.n_members, predictions.n_classes
        if len(agreement.counts) != n_members:
            return cls(agreement, votes, np.full(n_members, 1 / n_members), np.ones(n_members))
        weights, sameness = pool_weights(agreement, votes, n_classes), copies(agreement, n_classes)
        return cls(agreement, votes, weights, credibility(agreement, votes, weights, sameness, n_classes))


class State(NamedTuple):
    """Confusion matrices, and the statistics of the responsibilities they were counted under."""

    rates: FloatArray
    statistics: Statistics


@final
class Consensus(AbstractAggregator):
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
    the labels support it: by member and class, drawn to no correction by as much as cross-validation on the labelled
    items asks for (`label_correction`). Labels are names or positions of classes (-1 where unknown), or probabilities
    (items, classes), rows of NaN where unknown. They change neither weights nor confusion matrices.

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

    _saved_kinds: ClassVar[dict[str, type[Any]]] = {
        "statistics_": Statistics,
        "agreement_": Agreement,
        "vote_agreement_": Agreement,
        "correction_": Correction,
        "labelled_": LabelledItems,
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

    def _fit(self, predictions: Predictions, known: Array | None) -> None:
        reader = self._reader(predictions)
        n_steps = (self.max_iter + 1) * len(reader.chunks)  # and a pass for the average's statistics
        with show_progress(type(self).__name__, n_steps, is_shown=self.verbose) as progress:
            reader.on_chunk = progress.finish
            votes = _agreement(self._reader(predictions.harden()))
            panel = Panel.of(_agreement(reader), votes, predictions)
            average = reader.average_statistics(reader, panel.weights)
            model, weight = self._model(panel, average), self._weight(average.answer_counts)
            expectation = reader.expectation(remembers=False)

            def step(state: State, _: int) -> tuple[State, float]:
                expected = expectation(model.scores(state.rates))
                evidence = expected.log_evidence
                statistics = average.averaged(expected, weight)
                return State(model.rates(statistics), statistics), evidence

            start = State(model.rates(average), average)
            fit = em(step, start, max_iter=self.max_iter, tol=self.tol, n_items=predictions.n_items)
        labelled = self._labelled(predictions, known)
        rule = self._corrected(self._rule(panel, fit.state), labelled, predictions.classes)
        self._believe(rule.belief(predictions, known, self.label_noise))
        self.history_, self.n_iter_, self.converged_ = fit.history, len(fit.history), fit.converged
        self._learn(panel, fit.state, rule.correction, labelled)

    def _partial_fit(self, predictions: Predictions, known: Array | None) -> None:
        reader = self._reader(predictions)
        before = self._model(self._panel, self.statistics_)
        expected = reader.expectation(remembers=False)(before.scores(self.confusion_))
        evidence = expected.log_evidence
        agreement = self.forgetting * self.agreement_ + _agreement(reader)
        votes = self.forgetting * self.vote_agreement_ + _agreement(self._reader(predictions.harden()))
        panel = Panel.of(agreement, votes, predictions)
        average = reader.average_statistics(reader, panel.weights)
        n_answers = self.forgetting * self.statistics_.answer_counts + average.answer_counts
        batch = average.averaged(expected, self._weight(n_answers))
        statistics = self.forgetting * self.statistics_ + batch
        state = State(before.rates(statistics), statistics)
        labelled = self._more_labelled(self.forgetting, predictions, known)
        # Corrections take a moment to learn, so that batches without labels leave them as they are.
        rule = replace(self._rule(panel, state), correction=self.correction_)
        rule = rule if known is None else self._corrected(rule, labelled, predictions.classes)
        self._believe(rule.belief(predictions, known, self.label_noise))
        self.history_, self.n_iter_, self.converged_ = [evidence], 1, False
        self._learn(panel, state, rule.correction, labelled)

    def add_labels(self, predictions: Any, labels: Any) -> Self:
        """Learn from labels that arrive late: what members said of those items, and what is known of them now.

        Only the correction changes; `posterior_` stays that of the last fit or batch. An item that was labelled before
        counts once, with its new label; where members give labels alone, items are not told apart, and it counts
        twice.
        """
        items, known = self._aligned_with(labels, predictions)
        if known is not None:
            labelled = self._more_labelled(1.0, items, known)
            rule = self._corrected(self.rule(items), labelled, self.classes_)
            self.correction_, self.labelled_ = rule.correction, labelled
        return self

    def rule_taught(self, predictions: Any, labels: Any) -> Rule:
        """How items are answered after learning from these labels alone; what is learned here stays as it is."""
        items, known = self._aligned_with(labels, predictions)
        return self._corrected(self.rule(items), self._labelled(items, known), self.classes_)

    def _labelled(self, predictions: Predictions, known: Array | None) -> LabelledItems | None:
        """The items of which something is known, as far as that can correct anything."""
        if known is None:
            return None
        if predictions.n_members * predictions.n_classes > MOST_NUMBERS:
            warnings.warn(
                f"labels only settle their own items where members × classes are over {MOST_NUMBERS:,}; "
                f"got {predictions.n_members} × {predictions.n_classes}",
                stacklevel=4,
            )
            return None
        items = np.flatnonzero(which_known(known))
        is_soft = known.ndim == 2
        targets = known[items] if is_soft else np.eye(predictions.n_classes)[known[items]]
        said = predictions.take(items).to_array().transpose(1, 0, 2)
        said = said / said.sum(axis=2, keepdims=True)  # half precision does not sum to 1
        noise = np.full(len(items), 0.0 if is_soft else self.label_noise)
        return LabelledItems(said, targets, noise, np.ones(len(items)))

    def _more_labelled(self, factor: float, predictions: Predictions, known: Array | None) -> LabelledItems | None:
        new = self._labelled(predictions, known)
        if self.labelled_ is None or new is None:
            return new if self.labelled_ is None else factor * self.labelled_
        return factor * self.labelled_ + new

    @staticmethod
    def _corrected(rule: Rule, labelled: LabelledItems | None, classes: list[Any]) -> Rule:
        """The rule with what labels correct in it, and nothing that earlier ones did.

        Labels of one class alone would teach that there is no other.
        """
        rule = replace(rule, correction=None)
        taught = [] if labelled is None else labelled.targets.argmax(axis=1).tolist()
        if labelled is None or len(set(taught)) < 2:
            if len(taught) >= MANY_OF_ONE:
                warnings.warn(
                    "labels teach nothing of other items where all are of one class; "
                    f"all {len(taught)} are {classes[taught[0]]!r}",
                    stacklevel=4,
                )
            return rule
        answers = to_numpy(rule.posterior(Predictions(labelled.said.transpose(1, 0, 2))))
        return replace(rule, correction=learn_correction(labelled, answers))

    def _learn(self, panel: Panel, state: State, correction: Correction | None, labelled: LabelledItems | None) -> None:
        """Take it for what is known: at the end, so that nothing is half-learned where a fit is interrupted."""
        self.agreement_, self.vote_agreement_, self.member_weights_, self.member_credibility_ = panel
        self.confusion_, self.statistics_ = state
        self.correction_, self.labelled_ = correction, labelled
        self.class_prior_ = self.statistics_.class_counts / self.statistics_.class_counts.sum()

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
        return _accuracies(self.agreement_, self.vote_agreement_, len(self.class_prior_))

    # ---- using what was learned ---------------------------------------------------------------------------

    def rule(self, predictions: Predictions) -> Rule:
        """The weighted average and the corrected posterior; how they are weighed does not depend on the items."""
        del predictions
        rule = self._rule(self._panel, State(self.confusion_, self.statistics_))
        return replace(rule, correction=self.correction_)

    def _rule(self, panel: Panel, state: State) -> Rule:
        scores = self._model(panel, state.statistics).scores(state.rates)
        return Rule(self._weight(state.statistics.answer_counts), scores, panel.weights, chunk_size=self.chunk_size)

    @property
    def _panel(self) -> Panel:
        return Panel(self.agreement_, self.vote_agreement_, self.member_weights_, self.member_credibility_)

    # ---- options ------------------------------------------------------------------------------------------

    def _reader(self, predictions: Predictions) -> Any:
        return open_reader(predictions, chunk_size=self.chunk_size)

    def _known(self, labels: Any, axes: Axes) -> Any:
        """Labels as positions of classes, soft ones as rows."""
        return known_truths(labels, axes)

    def _check_parameters(self, predictions: Predictions) -> None:
        del predictions
        check_loop(self)
        check_number("weight", self.weight, most=1)
        check_number("evidence", self.evidence)
        check_number("smoothing", self.smoothing)
        check_number("label_noise", self.label_noise, most=0.5)


def _agreement(reader: Any) -> Agreement:
    """How much members agree; of nobody where there are too many to compare each with each."""
    agreement: Agreement = reader.agreement() if reader.predictions.n_members <= MOST_MEMBERS else Agreement.zero(0)
    return agreement


def _accuracies(agreement: Agreement, votes: Agreement, n_classes: int) -> FloatArray:
    """How often each member's vote is right (members,), if members erred independently."""
    found = skills(votes, copies(agreement, n_classes), n_classes)
    return np.asarray(found + (1 - found) / n_classes)
