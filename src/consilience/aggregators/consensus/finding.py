"""What a fit finds of a panel without labels: the experts, and sums over items that its traits follow from."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.aggregators.consensus.credibility import SURE
from consilience.aggregators.consensus.standing import Standing
from consilience.aggregators.consensus.survey import survey
from consilience.aggregators.consensus.traits import Found
from consilience.aggregators.consensus.translation import TranslationModel
from consilience.answering.learned.experts import Experts
from consilience.maths.model import State
from consilience.passes.reader import open_reader

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import numpy.typing as npt

    from consilience.data.predictions import AbstractPredictions
    from consilience.maths.statistics import Statistics
    from consilience.passes.agreement import Agreement
    from consilience.passes.reader import AbstractReader
    from consilience.system.arrays import FloatArray

EVIDENCE = 2.5
"""What the members' powers sum up to on an average item, as a multiple of the square root of their effective number."""

WEIGHT = 0.4
"""Confusion matrices are counted under so much of the translated answers, and the weighted average for the rest."""

TRANSLATIONS = 4
"""So many passes: answers hardly change afterwards, and the network was trained with these."""


class Finding(NamedTuple):
    """All that a fit finds."""

    found: Found
    translated: State  # confusion matrices of the probabilities, and the statistics they follow from
    history: list[float]  # the evidence of the translated answers, as each pass found it

    @property
    def experts(self) -> Experts:
        """The experts, by these statistics."""
        return _experts(self.found.standing, self.translated, self.found.is_hard)


def find(predictions: AbstractPredictions, chunk_size: int | None, show: Any = None) -> Finding:
    """What is found of these items; `show(reader, passes)` gives a context in which progress is shown."""
    reader = open_reader(predictions, chunk_size=chunk_size)
    progress: AbstractContextManager[Any] = nullcontext() if show is None else show(reader, TRANSLATIONS + 1)
    with progress:
        standing = Standing.of(reader.agreement(), _vote_agreement(predictions, chunk_size))
        translated, history = _translated(reader, standing)
    return Finding(_found(standing, translated, predictions, chunk_size), translated, history)


def find_more(before: Finding, predictions: AbstractPredictions, forgetting: float, chunk_size: int | None) -> Finding:
    """What is found when one more batch comes; what was found before is forgotten by so much."""
    reader = open_reader(predictions, chunk_size=chunk_size)
    old = before.found
    expected = reader.expectation(remembers=False)(before.experts.translation)
    standing = Standing.of(
        forgetting * old.standing.agreement + reader.agreement(),
        forgetting * old.standing.votes + _vote_agreement(predictions, chunk_size),
    )
    average = reader.average_statistics(reader, standing.weights)
    earlier = before.translated.statistics
    n_answers = forgetting * earlier.answer_counts + average.answer_counts
    statistics = forgetting * earlier + average.averaged_into(expected, _weight(n_answers))
    translated = State(_translation(standing, statistics).maximize(statistics), statistics)
    found = _found(standing, translated, predictions, chunk_size)
    found = found._replace(survey=forgetting * old.survey + found.survey)
    return Finding(found, translated, [expected.log_evidence])


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


def _found(standing: Standing, translated: State, predictions: AbstractPredictions, chunk_size: int | None) -> Found:
    """The survey of these items by the experts, beside what is known of the members."""
    is_hard = _are_hard(standing.agreement)
    experts = _experts(standing, translated, is_hard)
    return Found(
        standing=standing,
        survey=predictions.total(partial(survey, experts, chunk_size)),
        is_hard=is_hard,
        n_effective=n_effective(standing.weights, translated.statistics),
    )


def _experts(standing: Standing, translated: State, is_hard: npt.NDArray[np.bool_]) -> Experts:
    translation = _translation(standing, translated.statistics).scores(translated.parameters)
    return Experts(standing.weights, is_hard, translation)


def _translation(standing: Standing, statistics: Statistics) -> TranslationModel:
    """The evidence of credible members on an average item sums up to `EVIDENCE` · √(effective members)."""
    shares = statistics.answer_counts.sum(axis=1) / statistics.n_items
    behind = standing.weights @ shares
    powers = EVIDENCE * np.sqrt(n_effective(standing.weights, statistics)) * standing.weights / behind
    return TranslationModel(powers * standing.credibility)


def _weight(answer_counts: FloatArray) -> float:
    """Nothing corrects a member alone: it agrees with whatever is made of its answers."""
    is_alone = np.count_nonzero(answer_counts.sum(axis=1)) == 1
    return 0.0 if is_alone else WEIGHT


def _are_hard(agreement: Agreement) -> npt.NDArray[np.bool_]:
    """Which members give votes alone, as labels or as one-hot rows (members,)."""
    return (agreement.answers > 0) & (agreement.mean_confidence >= SURE)


def _vote_agreement(predictions: AbstractPredictions, chunk_size: int | None) -> Agreement:
    """How much members agree in the classes that they choose."""
    return open_reader(predictions.votes(), chunk_size=chunk_size).agreement()
