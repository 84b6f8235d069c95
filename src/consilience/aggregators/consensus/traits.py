"""What is known of the panel and of its classes, from sums over items alone: see `answering.learned.features`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from consilience.aggregators.consensus.opinion_weights import copies, skills
from consilience.answering.learned.experts import VOTE
from consilience.answering.learned.features import CLASS, PANEL, Traits, entropy

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.aggregators.consensus.standing import Standing
    from consilience.aggregators.consensus.survey import Survey
    from consilience.maths.statistics import Statistics
    from consilience.system.arrays import FloatArray


class Found(NamedTuple):
    """What a fit has found, all of it from sums."""

    standing: Standing
    votes: Statistics  # under Dawid-Skene's posterior
    survey: Survey
    is_hard: npt.NDArray[np.bool_]  # (members,)
    n_effective: float  # members, by their weights
    hears_silence: bool


def traits_of(found: Found) -> Traits:
    """All traits, in the order of `CLASS` and `PANEL`."""
    classes, panel = _of_classes(found), _of_panel(found)
    return Traits(
        np.stack([classes[name] for name in CLASS], axis=1).astype(np.float64),
        np.array([panel[name] for name in PANEL], dtype=np.float64),
    )


def _of_classes(found: Found) -> dict[str, FloatArray]:
    survey, said = found.survey, found.votes.sums.sum(axis=1)
    n_items, n_classes = survey.totals[0], said.shape[1]
    first, counts = survey.of_class("first choices"), found.votes.sums
    right = np.diagonal(counts, axis1=1, axis2=2).sum(axis=0)
    return {
        "share in average": _against_even(survey.of_class("average") / n_items),
        "share of votes": _against_even(survey.of_class("votes") / n_items),
        "share in voting": _against_even(survey.of_class("voting") / n_items),
        "share in translation": _against_even(survey.of_class("translation") / n_items),
        "share of first choices": _against_even(first / n_items),
        "agreement on it": survey.of_class("agreeing") / np.maximum(survey.of_class("meeting"), 1),
        "average's confidence in it": (survey.of_class("certainty") + 1 / n_classes) / (first + 1),
        "members who say it": (said > 0).sum(axis=0) / max((said.sum(axis=1) > 0).sum(), 1),
        "precision": (right + 0.5) / (said.sum(axis=0) + 1),
        "recall": (right + 0.5) / (counts.sum(axis=(0, 2)) + 1),
    }


def _against_even(shares: FloatArray) -> FloatArray:
    """Logarithms of shares, 0 where they are even."""
    return np.asarray(np.clip(np.log(np.maximum(shares, 1e-5) * len(shares)), -5, 3))


def _of_panel(found: Found) -> dict[str, float]:
    survey, standing = found.survey, found.standing
    n_items, n_answers = survey.totals[:2]
    said = found.votes.sums.sum(axis=1)
    is_heard = said.sum(axis=1) > 0
    answers = _who_answers(standing, is_heard)
    n_members, n_classes = max(int(is_heard.sum()), 1), said.shape[1]
    agreement = _agreement(standing)
    confidence = _confidence(found, n_classes)
    claimed = 1 - (n_classes * confidence - 1) / (n_classes - 1)
    shown = 1 - np.sqrt(max(agreement["agreement"], 0))
    n_said = _classes_said(said[is_heard])
    return agreement | {
        "log classes": np.log(n_classes) / 3,
        "log members": np.log(n_members) / 2,
        "log items": np.log(max(n_items, 1)) / 8,
        "log answers an item": np.log(max(n_answers / n_items, 1)) / 2,
        "log effective members": np.log(found.n_effective) / 2,
        "missing": max(1 - n_answers / (n_items * n_members), 0),
        "votes among members": float(found.is_hard[answers].mean()),
        "mean confidence": confidence,
        "mean entropy": survey.mean("entropy"),
        "evenness of average": float(entropy(_shares(survey.of_class("average")))),
        "claimed over shown errors": np.clip(np.log((claimed + 0.02) / (shown + 0.02)), -3, 3),
        "credibility": float(standing.credibility[answers].mean()),
        "classes said": float(n_said.mean()) if len(n_said) else 1.0,
        "spread of classes said": float(n_said.std()) if len(n_said) else 0.0,
        "silence": float(found.hears_silence),
        "translation against average": 1 - survey.mean("translation agrees"),
        "voting against average": 1 - survey.mean("voting agrees"),
        "votes against average": 1 - survey.mean("votes agree"),
        "top of translation": survey.mean("top of translation"),
        "top of voting": survey.mean("top of voting"),
        "evenness of voting": float(entropy(_shares(survey.of_class("voting")))),
        "evenness of translation": float(entropy(_shares(survey.of_class("translation")))),
        "top of average": survey.mean("top"),
        "top of votes": survey.mean("top of votes"),
    }


def _who_answers(standing: Standing, has_voted: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which members give answers; of too many to compare, those who vote, or all where nobody does."""
    if len(standing.agreement.answers) == len(has_voted):
        return np.asarray(standing.agreement.answers > 0)
    return has_voted if has_voted.any() else np.ones_like(has_voted)


def _shares(sums: FloatArray) -> FloatArray:
    return np.asarray(sums / sums.sum())


def _classes_said(said: FloatArray) -> FloatArray:
    """The effective number of classes that each member names, as a share of all (members,)."""
    shares = said / said.sum(axis=1, keepdims=True)
    return np.asarray(np.exp(entropy(shares) * np.log(said.shape[1])) / said.shape[1])


def _confidence(found: Found, n_classes: int) -> float:
    """How sure members are of their answers in the mean; a vote is as sure as `VOTE` makes it."""
    agreement, vote = found.standing.agreement, VOTE + (1 - VOTE) / n_classes
    if not len(agreement.answers) or not agreement.answers.sum():
        return vote
    sure = np.where(found.is_hard, vote * agreement.answers, agreement.confidences)
    return float(sure.sum() / agreement.answers.sum())


def _agreement(standing: Standing) -> dict[str, float]:
    """How much pairs of members agree and what that tells of their skill; of one member, or too many, the usual."""
    votes = standing.votes
    has_voted = np.flatnonzero(np.diag(votes.counts) > 0)  # members who never vote change no trait
    probabilities, votes = standing.agreement.among(has_voted), votes.among(has_voted)
    first, second = np.triu_indices(len(votes.counts), 1)
    met = votes.counts[first, second]
    if not met.any():
        usual = {"agreement": 0.0, "spread of agreement": 0.0, "raw agreement": 1.0, "chance": 0.0}
        return usual | {"mean skill": 1.0, "spread of skill": 0.0, "best skill": 1.0, "copies": 0.0}
    first, second, met = first[met > 0], second[met > 0], met[met > 0]
    beyond, sameness = votes.beyond_chance()[first, second], copies(probabilities)
    found = skills(votes, sameness)
    return {
        "agreement": float(beyond @ met / met.sum()),
        "spread of agreement": float(beyond.std()),
        "raw agreement": float(votes.products[first, second].sum() / met.sum()),
        "chance": float(votes.chance[first, second] @ met / met.sum()),
        "mean skill": float(found.mean()),
        "spread of skill": float(found.std()),
        "best skill": float(found.max()),
        "copies": float((sameness.sum(axis=1) - 1).mean() / (len(sameness) - 1)),
    }
