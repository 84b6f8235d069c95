"""What a fit finds of a panel without labels: the experts, and sums over items that its traits follow from."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from consilience.aggregators.bayesian_combination import VariationalModel
from consilience.aggregators.consensus.learned.experts import Experts, Opinions, Reading, Rows, entropy
from consilience.aggregators.consensus.panel import Standing
from consilience.data.answers import is_largest
from consilience.data.predictions import AbstractPredictions, Predictions, sampled, total_of
from consilience.maths.em import NEARLY_ONE, Scores, State, Statistics, SumsOverItems, leaning
from consilience.passes.pair_products import Agreement
from consilience.passes.reader import AnyReader, Reader, open_reader
from consilience.system.arrays import FloatArray

# A member with fewer answers than this is taken to be about as accurate as the others.
FEW_ANSWERS = 10.0
LEAST_ACCURACY = 1e-6  # nobody errs always: a rate of zero would rule out whatever else is known
# How far confusion matrices are drawn to even errors: pseudo-answers to each row, as a share of an average class's.
EVEN_PART = 0.1


@final
@dataclass(frozen=True, slots=True, eq=False)
class TranslationModel:
    """Scores linear in the members' probabilities or votes, Σ_m b_m Σ_j x_imj log π_mkj.

    With labels and b = 1 it is Dawid-Skene's E step without the class prior.
    """

    powers: FloatArray  # (members,): b
    ordered: bool = False

    def maximize(self, statistics: Statistics, _: FloatArray | None = None) -> FloatArray:
        """Confusion matrices (members, true, predicted): what each member says of each class, in the mean.

        Rows are shrunk to those of a member who errs evenly (of ordered classes, rather to neighbours), by `EVEN_PART`
        of an average class's answers and one more.
        """
        n_classes = statistics.sums.shape[-1]
        right, answers = np.trace(statistics.sums, axis1=1, axis2=2), statistics.sums.sum(axis=(1, 2))
        # One wrong answer more than there were: nobody is beyond error, and no rate is zero.
        usual = right.sum() / answers.sum() if answers.sum() > 0 else 1 / n_classes
        accuracy = np.maximum((right + FEW_ANSWERS * usual) / (answers + FEW_ANSWERS + 1), LEAST_ACCURACY)
        wrong = ((1 - accuracy) / (n_classes - 1))[:, None, None] * leaning(n_classes, ordered=self.ordered)
        even = np.where(np.eye(n_classes, dtype=bool), accuracy[:, None, None], wrong)
        counts = statistics.sums + (EVEN_PART * answers / n_classes + 1)[:, None, None] * even
        return np.asarray(counts / counts.sum(axis=-1, keepdims=True))

    def scores(self, rates: FloatArray) -> Scores:
        """The linear layer of the E step."""
        n_members, n_classes, _ = rates.shape
        return Scores(np.zeros(n_classes), self.powers[:, None, None] * np.log(rates), np.zeros((n_members, n_classes)))


OF_CLASSES = (
    *("average", "votes", "translation", "first choices", "combination"),  # shares of each, summed over items
    "re-estimated",  # shares of the average, weighted by how frequent classes seem to be
    "certainty",  # the average's top where the class is its first choice
    "agreeing",  # pairs of votes for it
    "meeting",  # pairs of a vote for it with any other vote
)
"""What is summed for each class."""

OF_ITEMS = (
    *("items", "answers", "entropy", "top"),
    *("top of votes", "top of translation", "top of combination", "top of re-estimated"),
    *("votes with average", "translation with average", "combination with average", "re-estimated with average"),
    "combination with translation",  # so many first choices they share
)
"""What is summed for the panel."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Survey(SumsOverItems):
    """Sums over items; those of two sets of items add up."""

    by_class: FloatArray  # (len(OF_CLASSES), classes)
    totals: FloatArray  # (len(OF_ITEMS),)

    def flaw(self) -> str | None:
        """Why these are no sums over items, as a file may hold others; None where they are."""
        if len(self.by_class) != len(OF_CLASSES) or self.totals.shape != (len(OF_ITEMS),):
            return (
                f"must have {len(OF_CLASSES)} sums of each class and {len(OF_ITEMS)} of the panel; "
                f"got {len(self.by_class)} and {self.totals.size}"
            )
        shares = ("average", "translation", "combination", "re-estimated")
        is_empty = min(self.totals[0], *(self.of_class(name).sum() for name in shares)) < NEARLY_ONE
        return "must be of at least one item" if is_empty else None

    def of_class(self, name: str) -> FloatArray:
        """One of the sums for each class (classes,)."""
        return np.asarray(self.by_class[OF_CLASSES.index(name)])

    def shares(self, name: str) -> FloatArray:
        """The same as shares of their sum."""
        return np.asarray(self.of_class(name) / self.of_class(name).sum())

    def mean(self, name: str) -> float:
        """One of the panel's sums, by item."""
        return float(self.totals[OF_ITEMS.index(name)] / self.totals[0])


def survey(experts: Experts, frequency: FloatArray, chunk_size: int | None, predictions: Predictions) -> Survey:
    """The survey of all these items; `frequency` (classes,) is how frequent classes have seemed to be so far."""
    reader = Reader(predictions, chunk_size=chunk_size)
    reading = Reading(experts, reader)
    return reader.added_up(lambda chunk: survey_of(reading.opinions(chunk), frequency, chunk.counts))


def survey_of(opinions: Opinions, frequency: FloatArray, item_counts: FloatArray | None = None) -> Survey:
    """The survey of the items of some opinions, which count so often each."""

    def total(rows: Rows) -> Rows:
        return np.asarray(rows.sum(axis=0) if item_counts is None else item_counts @ rows)

    average, votes, n_votes = opinions.average, opinions.votes, opinions.n_votes
    translation, combination = np.exp(opinions.translation), np.exp(opinions.combination)
    again = weighted_by(average, frequency.astype(average.dtype))
    first, top = first_choices(average), average.max(axis=1)
    others = [votes, translation, combination, again]
    choices = [first_choices(rows) for rows in others]
    counts = votes * n_votes  # where nobody votes, none
    by_class = [
        *(total(rows) for rows in (average, votes, translation, first, combination, again)),
        total(top[:, None] * first),
        total(np.maximum(counts * (counts - 1), 0)),
        total(counts * np.maximum(n_votes - 1, 0)),
    ]
    tops = (total(rows.max(axis=1)) for rows in others)
    agreeing = (total((first * rows).sum(axis=1)) for rows in choices)
    n_items = len(average) if item_counts is None else item_counts.sum()
    totals = [n_items, total(opinions.n_answers[:, 0]), total(entropy(average)), total(top), *tops, *agreeing]
    totals.append(total((choices[2] * choices[1]).sum(axis=1)))
    return Survey(np.stack(by_class).astype(np.float64), np.array(totals, dtype=np.float64))


def weighted_by(rows: Rows, weights: Rows) -> Rows:
    """The rows (items, classes) multiplied by weights (classes,), and normalized again."""
    weighted = rows * weights
    return np.asarray(weighted / weighted.sum(axis=1, keepdims=True))


def first_choices(rows: Rows) -> Rows:
    """1 at the largest of each row and 0 elsewhere; equally large ones share the 1."""
    is_top = is_largest(rows)
    return np.asarray(is_top / is_top.sum(axis=1, keepdims=True))


# What the members' powers sum up to on an average item, as a multiple of the square root of their effective number.
EVIDENCE = 2.5
# Confusion matrices are counted under so much of the translated answers, and the weighted average for the rest.
WEIGHT = 0.4
# So many passes: answers hardly change afterwards, and the network was trained with these.
TRANSLATIONS = 4
# The passes of Bayesian classifier combination; with ten times as many, its answers are hardly better.
COMBINATIONS = 6
# With more classes than this, the prior counts of wrong answers sum to no more than with so many.
PRIOR_CLASSES = 10
# How frequent classes are is re-estimated from the averages of all items, or of so many.
REESTIMATED_NUMBERS, REESTIMATED_ITEMS = 2**15, 2000
REESTIMATIONS = 30  # the passes of that: shares move little afterwards


class LabelFreeFit(NamedTuple):
    """All that a fit finds: sums over items, and what follows from them."""

    standing: Standing
    combined: Statistics  # of the votes, under Bayesian classifier combination
    translated: State  # confusion matrices of the probabilities, and the statistics they follow from
    history: list[float]  # the evidence of the translated answers, as each pass found it
    survey: Survey

    @property
    def n_effective(self) -> float:
        """How many equal members would stand behind an average item's answer."""
        return _behind(self.standing.weights, self.translated.statistics)[1]

    @property
    def experts(self) -> Experts:
        """The experts, by these statistics."""
        return _experts(self.standing, self.combined, self.translated)


def fit_panel(predictions: AbstractPredictions, chunk_size: int | None, show: Any = None) -> LabelFreeFit:
    """What is found of these items; `show(reader, passes)` gives a context in which progress is shown."""
    reader = open_reader(predictions, chunk_size=chunk_size)
    voted = predictions.votes()
    votes = reader if voted is predictions else open_reader(voted, chunk_size=chunk_size)
    with nullcontext() if show is None else show(reader, TRANSLATIONS + 1):
        standing = Standing.of(*_agreement(reader, votes))
        average = reader.average_statistics(reader, standing.weights)
        combined = _combined(votes, average)
        translated, history = _translated(reader, standing, average, ordered=predictions.ordered)
    experts = _experts(standing, combined, translated)
    frequency = _reestimated(experts, predictions)
    surveyed = total_of(predictions, partial(survey, experts, frequency, chunk_size))
    return LabelFreeFit(standing, combined, translated, history, surveyed)


def fit_batch(
    before: LabelFreeFit,
    predictions: AbstractPredictions,
    forgetting: float,
    chunk_size: int | None,
    *,
    ordered: bool = False,
) -> LabelFreeFit:
    """What is found when one more batch comes; what was found before is forgotten by so much."""
    reader = open_reader(predictions, chunk_size=chunk_size)
    votes = open_reader(predictions.votes(), chunk_size=chunk_size)
    old, experts = before.standing, before.experts
    expected = reader.expectation(remembers=False)(experts.translation)
    agreement, voted = _agreement(reader, votes)
    standing = Standing.of(forgetting * old.agreement + agreement, forgetting * old.votes + voted)
    average = reader.average_statistics(reader, standing.weights)
    earlier = before.translated.statistics
    n_answers = forgetting * earlier.answer_counts + average.answer_counts
    statistics = forgetting * earlier + average.averaged_into(expected, _weight(n_answers))
    translated = State(_translation(standing, statistics, ordered=ordered).maximize(statistics), statistics)
    combined = forgetting * before.combined + votes.expectation(remembers=False)(experts.combination)
    frequency = _frequency(before.survey.of_class("re-estimated"), before.survey.totals[0])
    find = partial(survey, _experts(standing, combined, translated), frequency, chunk_size)
    surveyed = forgetting * before.survey + total_of(predictions, find)
    return LabelFreeFit(standing, combined, translated, [expected.log_evidence], surveyed)


def _agreement(reader: AnyReader, votes: AnyReader) -> tuple[Agreement, Agreement]:
    """How much members agree in their answers, and in their votes, which may be the same."""
    agreement = reader.agreement()
    return agreement, agreement if votes.predictions is reader.predictions else votes.agreement()


def _behind(weights: FloatArray, statistics: Statistics) -> tuple[float, float]:
    """The weight behind an average item's answer, and how many equal members would stand behind it."""
    shares = statistics.answer_counts.sum(axis=1) / statistics.n_items  # of the items, how many each member answers
    return float(weights @ shares), float((weights @ shares) ** 2 / (weights**2 @ shares))


def _translated(
    reader: AnyReader, standing: Standing, average: Statistics, *, ordered: bool
) -> tuple[State, list[float]]:
    """Confusion matrices, counted under the weighted average and then under what they make of it."""
    model, weight = _translation(standing, average, ordered=ordered), _weight(average.answer_counts)
    state, history = State(model.maximize(average), average), []
    expectation = reader.expectation(remembers=False)
    for _ in range(TRANSLATIONS):
        expected = expectation(model.scores(state.parameters))
        history.append(expected.log_evidence)
        statistics = average.averaged_into(expected, weight)
        state = State(model.maximize(statistics), statistics)
    return state, history


def _combined(votes: AnyReader, average: Statistics) -> Statistics:
    """The statistics of the votes under Bayesian classifier combination, which starts from the weighted average."""
    model, expectation = combination_of(len(average.class_counts)), votes.expectation(remembers=False)
    statistics = average
    for _ in range(COMBINATIONS):
        statistics = expectation(model.scores(model.maximize(statistics)))
    return statistics


def combination_of(n_classes: int) -> VariationalModel:
    """Bayesian classifier combination, whose prior stays weak with many classes."""
    wrong = min(1.0, PRIOR_CLASSES / n_classes)
    return VariationalModel(np.ones(n_classes), wrong + np.eye(n_classes), None)


def _reestimated(experts: Experts, predictions: AbstractPredictions) -> FloatArray:
    """How frequent classes are, for averages that are calibrated where classes are even (Saerens et al. 2002)."""
    most = max(REESTIMATED_ITEMS, REESTIMATED_NUMBERS // predictions.n_classes)
    reader, everybody = Reader(sampled(predictions, most)), np.ones(predictions.n_members)
    parts = [experts.softened(chunk.features(), everybody) for chunk in reader.chunks]
    averages = np.concatenate([total / behind for total, behind in parts]).astype(np.float64)
    n_items, n_classes = averages.shape
    frequency = np.full(n_classes, 1 / n_classes)
    for _ in range(REESTIMATIONS):
        frequency = _frequency(weighted_by(averages, frequency).sum(axis=0), n_items)
    return frequency


def _frequency(counts: FloatArray, n_items: float) -> FloatArray:
    """How frequent classes are, by what was counted and one item more of each: no class is impossible."""
    return (counts + 1) / (n_items + len(counts))


def _experts(standing: Standing, combined: Statistics, translated: State) -> Experts:
    translation = _translation(standing, translated.statistics).scores(translated.parameters)
    model = combination_of(len(combined.class_counts))
    combination = model.scores(model.maximize(combined))
    return Experts(standing.weights, standing.is_hard, translation, combination)


def _translation(standing: Standing, statistics: Statistics, *, ordered: bool = False) -> TranslationModel:
    """The evidence of credible members on an average item sums up to `EVIDENCE` · √(effective members)."""
    weight, n_effective = _behind(standing.weights, statistics)
    powers = EVIDENCE * np.sqrt(n_effective) * standing.weights / weight
    return TranslationModel(powers * standing.credibility, ordered)


def _weight(answer_counts: FloatArray) -> float:
    """Nothing corrects a member alone: it agrees with whatever is made of its answers."""
    is_alone = np.count_nonzero(answer_counts.sum(axis=1)) == 1
    return 0.0 if is_alone else WEIGHT


# ---- a sample of the items ---------------------------------------------------------------------------------

# Above so many members × classes no correction is learned: it would have more numbers than labels can determine.
MOST_CORRECTED = 20_000
SAMPLE_ITEMS, SAMPLE_NUMBERS = 250, 2**20  # so many items are sampled, if they are no more numbers than this


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """What members said of some items, whether their classes are known or not."""

    said: npt.NDArray[np.float32]  # (items, members, classes)


def rows_said(predictions: Predictions) -> FloatArray:
    """(items, members, classes): what members said of these items."""
    said = predictions.to_array().transpose(1, 0, 2)
    return np.asarray(said / said.sum(axis=2, keepdims=True), dtype=np.float64)  # half precision does not sum to 1


def sample_of(predictions: AbstractPredictions, before: Sample | None = None) -> Sample | None:
    """Some of the items, if labels can correct the answers to them; after those of `before`, the latest in a stream."""
    n_numbers = predictions.n_members * predictions.n_classes
    if n_numbers > MOST_CORRECTED:
        return None
    most = min(SAMPLE_ITEMS, SAMPLE_NUMBERS // n_numbers)
    said = rows_said(sampled(predictions, most)).astype(np.float32)
    return Sample(said if before is None else np.concatenate([before.said, said])[-most:])
