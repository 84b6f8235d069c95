"""What a fit finds of a panel without labels: the experts, and sums over items that its traits follow from."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.aggregators.consensus.credibility import SURE
from consilience.aggregators.consensus.opinion_weights import MOST_MEMBERS
from consilience.aggregators.consensus.standing import Standing
from consilience.aggregators.consensus.survey import survey
from consilience.aggregators.consensus.traits import Found
from consilience.aggregators.consensus.translation import TranslationModel
from consilience.answering.learned.experts import Experts
from consilience.maths.model import Scores, State
from consilience.maths.silence import Silence, heard, keeps_silent
from consilience.passes.agreement import Agreement
from consilience.passes.reader import open_reader

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from consilience.data.predictions import AbstractPredictions
    from consilience.maths.statistics import Statistics
    from consilience.passes.reader import AbstractReader
    from consilience.system.arrays import FloatArray

EVIDENCE = 2.5
"""What the members' powers sum up to on an average item, as a multiple of the square root of their effective number."""

WEIGHT = 0.4
"""Confusion matrices are counted under so much of the translated answers, and the weighted average for the rest."""

TRANSLATIONS, VOTINGS = 4, 4
"""So many passes of each: answers hardly change afterwards, and the network was trained with these."""


class Finding(NamedTuple):
    """All that a fit finds."""

    found: Found
    translated: State  # confusion matrices of the probabilities, and the statistics they follow from
    history: list[float]  # the evidence of the translated answers, as each pass found it

    @property
    def experts(self) -> Experts:
        """The experts, by these statistics."""
        standing, voted = self.found.standing, self.found.votes
        return _experts(standing, self.translated, voted, self.found.is_hard, hears_silence=self.found.hears_silence)


def find(predictions: AbstractPredictions, chunk_size: int | None, show: Any = None) -> Finding:
    """What is found of these items; `show(reader, passes)` gives a context in which progress is shown."""
    size = chunk_size or predictions.items_at_once()  # the same for probabilities and votes, read side by side
    reader, votes = open_reader(predictions, chunk_size=size), open_reader(predictions.votes(), chunk_size=size)
    progress: AbstractContextManager[Any] = nullcontext() if show is None else show(reader, TRANSLATIONS + 1)
    with progress:
        standing = Standing.of(_agreement(reader), _agreement(votes), predictions.n_members)
        translated, history = _translated(reader, standing)
        voted, hears_silence = _voted(votes, reader, predictions)
    is_hard = _are_hard(standing.agreement, predictions)
    experts = _experts(standing, translated, voted, is_hard, hears_silence=hears_silence)
    found = Found(
        standing=standing,
        votes=voted,
        survey=predictions.total(partial(survey, experts, size)),
        is_hard=is_hard,
        n_effective=n_effective(standing.weights, translated.statistics),
        hears_silence=hears_silence,
    )
    return Finding(found, translated, history)


def find_more(before: Finding, predictions: AbstractPredictions, forgetting: float, chunk_size: int | None) -> Finding:
    """What is found when one more batch comes; what was found before is forgotten by so much."""
    size = chunk_size or predictions.items_at_once()  # the same for probabilities and votes, read side by side
    reader, votes = open_reader(predictions, chunk_size=size), open_reader(predictions.votes(), chunk_size=size)
    old, experts = before.found, before.experts
    expected = reader.expectation(remembers=False)(experts.translation)
    evidence = expected.log_evidence
    agreement = forgetting * old.standing.agreement + _agreement(reader)
    standing = Standing.of(agreement, forgetting * old.standing.votes + _agreement(votes), predictions.n_members)
    average = reader.average_statistics(reader, standing.weights)
    earlier = before.translated.statistics
    n_answers = forgetting * earlier.answer_counts + average.answer_counts
    statistics = forgetting * earlier + average.averaged_into(expected, _weight(n_answers))
    translated = State(_translation(standing, statistics).maximize(statistics), statistics)
    voted = forgetting * old.votes + votes.expectation(remembers=False)(experts.voting)
    hears_silence = keeps_silent(voted) and not predictions.has_repeats()
    is_hard = _are_hard(agreement, predictions)
    experts = _experts(standing, translated, voted, is_hard, hears_silence=hears_silence)
    found = Found(
        standing=standing,
        votes=voted,
        survey=forgetting * old.survey + predictions.total(partial(survey, experts, size)),
        is_hard=is_hard,
        n_effective=n_effective(standing.weights, statistics),
        hears_silence=hears_silence,
    )
    return Finding(found, translated, [evidence])


def n_effective(weights: FloatArray, statistics: Statistics) -> float:
    """How many equal members would stand behind an average item's answer."""
    shares = statistics.answer_counts.sum(axis=1) / statistics.n_items  # of the items, how many each answers
    return float((weights @ shares) ** 2 / (weights**2 @ shares))


def _translated(reader: AbstractReader, standing: Standing) -> tuple[State, list[float]]:
    """Confusion matrices, counted under the weighted average and then under what they make of it."""
    average = reader.average_statistics(reader, standing.weights)
    model, weight = _translation(standing, average), _weight(average.answer_counts)
    state, history = State(model.maximize(average), average), []
    expectation = reader.expectation(remembers=False)
    for _ in range(TRANSLATIONS):
        expected = expectation(model.scores(state.parameters))
        history.append(expected.log_evidence)
        statistics = average.averaged_into(expected, weight)
        state = State(model.maximize(statistics), statistics)
    return state, history


def _voted(
    votes: AbstractReader, averages: AbstractReader, predictions: AbstractPredictions
) -> tuple[Statistics, bool]:
    """The statistics of Dawid-Skene on the votes, from the average on, and whether it hears silence."""
    statistics = votes.average_statistics(averages)
    hears_silence = keeps_silent(statistics) and not predictions.has_repeats()
    expectation = votes.expectation(remembers=False)
    for _ in range(VOTINGS):
        statistics = expectation(_voting(statistics, hears_silence=hears_silence))
    return statistics, hears_silence


def _experts(standing: Standing, translated: State, voted: Statistics, is_hard: Any, *, hears_silence: bool) -> Experts:
    translation = _translation(standing, translated.statistics).scores(translated.parameters)
    return Experts(standing.weights, is_hard, translation, _voting(voted, hears_silence=hears_silence))


def _translation(standing: Standing, statistics: Statistics) -> TranslationModel:
    """The evidence of credible members on an average item sums up to `EVIDENCE` · √(effective members)."""
    shares = statistics.answer_counts.sum(axis=1) / statistics.n_items
    behind = standing.weights @ shares
    powers = EVIDENCE * np.sqrt(n_effective(standing.weights, statistics)) * standing.weights / behind
    return TranslationModel(powers * standing.credibility)


def _voting(statistics: Statistics, *, hears_silence: bool) -> Scores:
    """Dawid-Skene's E step on the votes, with a class prior and, where it tells something, silence."""
    n_classes = len(statistics.class_counts)
    model = TranslationModel(np.ones(len(statistics.sums)))
    prior = statistics.class_counts / statistics.class_counts.sum() + 0.01 / n_classes
    scores = model.scores(model.maximize(statistics))._replace(log_prior=np.log(prior / prior.sum()))
    return heard(scores, Silence.of(statistics) if hears_silence else None)


def _weight(answer_counts: FloatArray) -> float:
    """Nothing corrects a member alone: it agrees with whatever is made of its answers."""
    is_alone = np.count_nonzero(answer_counts.sum(axis=1)) == 1
    return 0.0 if is_alone else WEIGHT


def _are_hard(agreement: Agreement, predictions: AbstractPredictions) -> Any:
    """Which members give votes alone, as labels or as one-hot rows; of too many to compare, who gives labels."""
    if len(agreement.answers) != predictions.n_members:
        return ~predictions.is_soft
    return (agreement.answers > 0) & (agreement.mean_confidence >= SURE)


def _agreement(reader: AbstractReader) -> Agreement:
    """How much members agree; that of no members where there are too many to compare each with each."""
    return (
        reader.agreement()
        if reader.predictions.n_members <= MOST_MEMBERS
        else Agreement.zero(0, reader.predictions.n_classes)
    )
