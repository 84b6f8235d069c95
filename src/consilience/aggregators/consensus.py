"""`Consensus`: an average that knows its members. Label-free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, final

import numpy as np

from consilience.aggregators.aggregator import AbstractAggregator
from consilience.aggregators.opinion_weights import MOST_MEMBERS, copies, pool_weights, skills
from consilience.aggregators.parameters import check_loop
from consilience.agreement import Agreement
from consilience.em import em
from consilience.features import Scores
from consilience.options import check_number
from consilience.progress import progress_bar
from consilience.readers import open_reader
from consilience.rule import Rule
from consilience.statistics import Statistics

if TYPE_CHECKING:
    from consilience.arrays import FloatArray, IntArray
    from consilience.predictions import Predictions

FEW_ANSWERS = 10.0
"""A member with fewer answers than this is taken to be about as accurate as the others."""


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
    3. **Caution.** Members err together, so the evidence of many counts as that of `2.5 √(effective members)`. And the
       answer is `1 - weight` of the weighted average and `weight` of the corrected posterior, in the
       counting as in the end. So it stays near the weighted average.

    `history_` is the evidence of the translated answers as each pass found it; it settles but need not rise. Known
    labels count in the confusion matrices; the weights do not see them. `benchmarks/quality` shows what it gains and
    where it loses.

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
    estimated_accuracy_ : (members,), of the votes, as their agreement tells
    agreement_, vote_agreement_ : what the weights were found from, in a form that adds up

    Examples
    --------
    >>> Consensus().fit_predict_proba([[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.4, 0.6]]]).argmax(1).tolist()
    [0, 1]
    """

    member_weights_: FloatArray
    agreement_: Agreement
    vote_agreement_: Agreement

    _saved_kinds: ClassVar[dict[str, type[Any]]] = {
        "statistics_": Statistics,
        "agreement_": Agreement,
        "vote_agreement_": Agreement,
    }

    def __init__(
        self,
        *,
        weight: float = 0.4,
        evidence: float = 2.5,
        smoothing: float = 0.1,
        max_iter: int = 20,
        tol: float | None = 1e-3,
        forgetting: float = 1.0,
        chunk_size: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.weight = weight
        self.evidence = evidence
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol
        self.forgetting = forgetting
        self.chunk_size = chunk_size
        self.verbose = verbose

    # ---- fitting ------------------------------------------------------------------------------------------

    def _fit(self, predictions: Predictions, known: IntArray | None) -> None:
        reader = self._reader(predictions, known)
        n_steps = (self.max_iter + 1) * len(reader.chunks)  # and a pass for the average's statistics
        with progress_bar(type(self).__name__, n_steps, is_shown=self.verbose) as reader.on_chunk:
            agreement, votes = _agreement(reader), _agreement(self._reader(predictions.harden(), None))
            weights = _weights(agreement, votes, predictions)
            average = reader.average_statistics(reader, weights)
            model, weight = self._model(weights, average), self._weight(average.answer_counts)
            expectation = reader.expectation(remembers=False)

            def step(state: State, _: int) -> tuple[State, float]:
                expected = expectation(model.scores(state.rates))
                evidence = expected.log_evidence
                statistics = average.averaged(expected, weight)
                return State(model.rates(statistics), statistics), evidence

            start = State(model.rates(average), average)
            fit = em(step, start, max_iter=self.max_iter, tol=self.tol, n_items=predictions.n_items)
        self._answer(reader, self._rule(weights, fit.state))
        self.history_, self.n_iter_, self.converged_ = fit.history, len(fit.history), fit.converged
        self._learn(agreement, votes, weights, fit.state)

    def _partial_fit(self, predictions: Predictions, known: IntArray | None) -> None:
        reader = self._reader(predictions, known)
        before = self._model(self.member_weights_, self.statistics_)
        expected = reader.expectation(remembers=False)(before.scores(self.confusion_))
        evidence = expected.log_evidence
        agreement = self.forgetting * self.agreement_ + _agreement(reader)
        votes = self.forgetting * self.vote_agreement_ + _agreement(self._reader(predictions.harden(), None))
        weights = _weights(agreement, votes, predictions)
        average = reader.average_statistics(reader, weights)
        n_answers = self.forgetting * self.statistics_.answer_counts + average.answer_counts
        batch = average.averaged(expected, self._weight(n_answers))
        statistics = self.forgetting * self.statistics_ + batch
        state = State(before.rates(statistics), statistics)
        self._answer(reader, self._rule(weights, state))
        self.history_, self.n_iter_, self.converged_ = [evidence], 1, False
        self._learn(agreement, votes, weights, state)

    def _learn(self, agreement: Agreement, votes: Agreement, weights: FloatArray, state: State) -> None:
        """Take it for what is known: at the end, so that nothing is half-learned where a fit is interrupted."""
        self.agreement_, self.vote_agreement_, self.member_weights_ = agreement, votes, weights
        self.confusion_, self.statistics_ = state
        self.class_prior_ = self.statistics_.class_counts / self.statistics_.class_counts.sum()

    def _weight(self, answer_counts: FloatArray) -> float:
        """Nothing corrects a member alone: it agrees with whatever is made of its answers."""
        is_alone = np.count_nonzero(answer_counts.sum(axis=1)) == 1
        return 0.0 if is_alone else self.weight

    def _model(self, member_weights: FloatArray, statistics: Statistics) -> TranslationModel:
        """The members' evidence on an average item sums up to that of `evidence` · √(effective members)."""
        shares = statistics.answer_counts.sum(axis=1) / statistics.n_items  # of the items, how many each answers
        behind = member_weights @ shares  # the average item's answer
        n_effective = behind**2 / (member_weights**2 @ shares)
        return TranslationModel(self.evidence * np.sqrt(n_effective) * member_weights / behind, self.smoothing)

    @property
    def estimated_accuracy_(self) -> FloatArray | None:
        """How often each member's vote is right (members,), if members erred independently; None of very many.

        Where they share errors it is too high.
        """
        if len(self.vote_agreement_.counts) != len(self.member_weights_):
            return None
        n_classes = len(self.class_prior_)
        found = skills(self.vote_agreement_, copies(self.agreement_, n_classes), n_classes)
        return np.asarray(found + (1 - found) / n_classes)

    # ---- using what was learned ---------------------------------------------------------------------------

    def rule(self, predictions: Predictions) -> Rule:
        """The weighted average and the corrected posterior; how they are weighed does not depend on the items."""
        del predictions
        return self._rule(self.member_weights_, State(self.confusion_, self.statistics_))

    def _rule(self, member_weights: FloatArray, state: State) -> Rule:
        scores = self._model(member_weights, state.statistics).scores(state.rates)
        return Rule(self._weight(state.statistics.answer_counts), scores, member_weights, chunk_size=self.chunk_size)

    def _answer(self, reader: Any, rule: Rule) -> None:
        """The posterior of the items fitted, where known labels are kept."""
        example = reader.predictions.example()
        self._believe(reader.mixed_belief(rule.weight, rule.scores, rule.member_weights, example))

    # ---- options ------------------------------------------------------------------------------------------

    def _reader(self, predictions: Predictions, known: IntArray | None) -> Any:
        return open_reader(predictions, chunk_size=self.chunk_size, known=known)

    def _check_parameters(self, predictions: Predictions) -> None:
        del predictions
        check_loop(self)
        check_number("weight", self.weight, most=1)
        check_number("evidence", self.evidence)
        check_number("smoothing", self.smoothing)


def _agreement(reader: Any) -> Agreement:
    """How much members agree; of nobody where there are too many to compare each with each."""
    agreement: Agreement = reader.agreement() if reader.predictions.n_members <= MOST_MEMBERS else Agreement.zero(0)
    return agreement


def _weights(agreement: Agreement, votes: Agreement, predictions: Predictions) -> FloatArray:
    """The weights of the members, from how much they agree; equal ones where there are too many to compare."""
    n_members = predictions.n_members
    if len(agreement.counts) != n_members:
        return np.full(n_members, 1 / n_members)
    return pool_weights(agreement, votes, predictions.n_classes)
