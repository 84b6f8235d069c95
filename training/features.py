"""Features: the numbers that the combiner knows of each item and class of a panel. None of them sees the truth.

All come from sums over members and items, so members and items may be reordered, and classes renamed, without effect.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.quality.panel import Panel
from consilience.aggregators.consensus.opinion_weights import copies, skills
from training.answers import Answers, first_choices
from training.experts import Experts, experts_of

MOST_CANDIDATES = 24
"""With more classes, the combiner looks at so many of each item: those that some expert finds most probable."""

LOWEST_LOG = -12.0

LOGS = (
    "average",
    "geometric mean",
    "dawid-skene",
    "dawid-skene hearing silence",
    "translation",
    "translation with prior",
    "translation of votes",
    "consensus",
    "weighted average",
    "average under its own prior",
)
PROBABILITIES = ("average", "dawid-skene", "dawid-skene hearing silence", "translation", "consensus")

GROUPS: dict[str, tuple[str, ...]] = {
    "experts": (*(f"log {name}" for name in LOGS), *PROBABILITIES),
    "spread": ("vote share", "spread of logs", "largest", "least"),
    "class": (
        *("share in average", "share of votes", "share in dawid-skene", "share in silence", "share in translation"),
        *("share with prior", "share under own prior", "share of first choices", "agreement on it"),
        *("confidence in it", "average's confidence in it", "members who say it"),
    ),
    "item": ("top", "margin", "entropy", "largest vote share", "confidence of members", "log answers"),
    "panel": (
        *("log classes", "log members", "log items", "log answers an item", "log effective members", "missing"),
        *("votes among members", "mean confidence", "mean entropy", "evenness of shares", "agreement", "its spread"),
        *("raw agreement", "claimed over shown errors", "credibility", "mean skill", "spread of skill", "best skill"),
        *("classes said", "their spread", "copies", "agreement with average", "spread of it"),
        *("consensus against average", "dawid-skene against average", "votes against average"),
        "translation against average",
    ),
}
"""The names of all features, by what they belong to; an ablation leaves out some of them."""

NAMES = tuple(f"{group}: {name}" for group, names in GROUPS.items() for name in names)


class Features(NamedTuple):
    """Of a panel."""

    values: np.ndarray  # (items, candidates, features), in the order of `NAMES`
    candidates: np.ndarray  # (items, candidates): the classes looked at, in ascending order
    average: np.ndarray  # (items, classes): what other classes keep


def features_of(panel: Panel) -> Features:
    """All numbers of a panel."""
    answers = Answers.of(panel)
    experts, average = experts_of(answers), answers.average
    found = {
        "experts": _expert_features(experts),
        "spread": _spread_features(answers),
        "class": _class_features(answers, experts),
        "item": _item_features(answers),
        "panel": _panel_features(answers, experts),
    }
    of_pairs, of_classes, of_items, of_panel = (
        np.stack([found[group][name] for group in groups for name in GROUPS[group]], axis=-1)
        for groups in (("experts", "spread"), ("class",), ("item",), ("panel",))
    )
    candidates = candidates_of(answers, experts)
    size = candidates.shape
    parts = [
        np.take_along_axis(of_pairs, candidates[:, :, None], axis=1),
        of_classes[candidates],
        np.broadcast_to(of_items[:, None], (*size, of_items.shape[-1])),
        np.broadcast_to(of_panel, (*size, len(of_panel))),
    ]
    return Features(np.concatenate(parts, axis=2).astype(np.float32), candidates, average)


def candidates_of(answers: Answers, experts: Experts) -> np.ndarray:
    """All classes; of many, those that some expert or the votes favor."""
    n_items, n_classes = answers.average.shape
    if n_classes <= MOST_CANDIDATES:
        return np.broadcast_to(np.arange(n_classes), (n_items, n_classes))
    favored = [np.exp(experts.logs[name]) for name in (*PROBABILITIES, "weighted average")]
    best = np.maximum.reduce([*favored, answers.vote_shares])
    return np.sort(np.argpartition(-best, MOST_CANDIDATES, axis=1)[:, :MOST_CANDIDATES], axis=1)


def _expert_features(experts: Experts) -> dict[str, np.ndarray]:
    logs = {name: np.clip(rows, LOWEST_LOG, 0) for name, rows in experts.logs.items()}
    return {f"log {name}": rows for name, rows in logs.items()} | {name: np.exp(logs[name]) for name in PROBABILITIES}


def _spread_features(answers: Answers) -> dict[str, np.ndarray]:
    """How far apart the members are who answer an item."""
    is_answer, rows = answers.is_answer[:, :, None], answers.probabilities
    logs = np.log(np.where(is_answer, rows, 1))
    n_answers = answers.n_answers[:, None]
    variance = (logs**2).sum(axis=0) / n_answers - (logs.sum(axis=0) / n_answers) ** 2
    return {
        "vote share": answers.vote_shares,
        "spread of logs": np.minimum(np.sqrt(np.maximum(variance, 0)), 6),
        "largest": rows.max(axis=0),
        "least": np.where(is_answer, rows, 1).min(axis=0),
    }


def _class_features(answers: Answers, experts: Experts) -> dict[str, np.ndarray]:
    """How frequent each class is to each expert, and how much members agree on it and are sure of it."""
    average, votes, logs = answers.average, answers.votes, experts.logs
    n_classes = average.shape[1]
    chosen, n_votes, n_said = first_choices(average), votes.sum(axis=0), votes.sum(axis=(0, 1))
    others = (n_votes * (answers.n_answers[:, None] - 1)).sum(axis=0)
    top = average.max(axis=1)
    shares = {
        "share in average": average,
        "share of votes": answers.vote_shares,
        "share in dawid-skene": np.exp(logs["dawid-skene"]),
        "share in silence": np.exp(logs["dawid-skene hearing silence"]),
        "share in translation": np.exp(logs["translation"]),
        "share with prior": np.exp(logs["translation with prior"]),
        "share of first choices": chosen,
    }
    return {name: _against_even(rows.mean(axis=0)) for name, rows in shares.items()} | {
        "share under own prior": _against_even(experts.average_shares),
        "agreement on it": np.maximum(n_votes * (n_votes - 1), 0).sum(axis=0) / np.maximum(others, 1),
        "confidence in it": (votes * answers.probabilities).sum(axis=(0, 1)) / np.maximum(n_said, 1),
        "average's confidence in it": (top @ chosen + 1 / n_classes) / (chosen.sum(axis=0) + 1),
        "members who say it": (votes.sum(axis=1) > 0).mean(axis=0),
    }


def _against_even(shares: np.ndarray) -> np.ndarray:
    """Logarithms of shares, 0 where they are even."""
    return np.clip(np.log(np.maximum(shares, 1e-5) * len(shares)), -5, 3)


def _item_features(answers: Answers) -> dict[str, np.ndarray]:
    average = answers.average
    ordered = np.sort(average, axis=1)
    return {
        "top": ordered[:, -1],
        "margin": ordered[:, -1] - ordered[:, -2],
        "entropy": _entropy(average),
        "largest vote share": answers.vote_shares.max(axis=1),
        "confidence of members": answers.probabilities.max(axis=2).sum(axis=0) / answers.n_answers,
        "log answers": np.log(answers.n_answers) / 3,
    }


def _panel_features(answers: Answers, experts: Experts) -> dict[str, float]:
    """Sizes, confidence, agreement and skill; how much experts differ from the average."""
    n_members, n_items, n_classes = answers.votes.shape
    average, is_answer, standing = answers.average, answers.is_answer, experts.standing
    chosen = first_choices(average)
    said = answers.votes.sum(axis=1) / is_answer.sum(axis=1)[:, None]
    n_said = np.exp(_entropy(said) * np.log(n_classes)) / n_classes
    with_average = (answers.votes * chosen).sum(axis=(1, 2)) / is_answer.sum(axis=1)
    confidence = answers.probabilities.max(axis=2).sum() / is_answer.sum()
    agreement = _agreement_features(experts)
    claimed = 1 - (n_classes * confidence - 1) / (n_classes - 1)
    shown = 1 - np.sqrt(max(agreement["agreement"], 0))

    def against_average(rows: np.ndarray) -> float:
        return float(1 - (chosen * first_choices(rows)).sum(axis=1).mean())

    return agreement | {
        "log classes": np.log(n_classes) / 3,
        "log members": np.log(n_members) / 2,
        "log items": np.log(n_items) / 8,
        "log answers an item": np.log(max(is_answer.sum(axis=0).mean(), 1)) / 2,
        "log effective members": np.log(experts.n_effective) / 2,
        "missing": 1 - is_answer.mean(),
        "votes among members": answers.is_hard.mean(),
        "mean confidence": confidence,
        "mean entropy": _entropy(average).mean(),
        "evenness of shares": _entropy(average.mean(axis=0)),
        "claimed over shown errors": np.clip(np.log((claimed + 0.02) / (shown + 0.02)), -3, 3),
        "credibility": standing.credibility.mean(),
        "classes said": n_said.mean(),
        "their spread": n_said.std(),
        "agreement with average": with_average.mean(),
        "spread of it": with_average.std(),
        "consensus against average": against_average(np.exp(experts.logs["consensus"])),
        "dawid-skene against average": against_average(np.exp(experts.logs["dawid-skene"])),
        "votes against average": against_average(answers.vote_shares),
        "translation against average": against_average(np.exp(experts.logs["translation"])),
    }


def _agreement_features(experts: Experts) -> dict[str, float]:
    """How much pairs of members agree and what that tells of their skill; of one member, or too many, the usual."""
    votes = experts.standing.votes
    first, second = np.triu_indices(len(votes.counts), 1)
    met = votes.counts[first, second]
    usual = {"agreement": 0.0, "its spread": 0.0, "raw agreement": 1.0}
    if not met.any():
        return usual | {"mean skill": 1.0, "spread of skill": 0.0, "best skill": 1.0, "copies": 0.0}
    first, second, met = first[met > 0], second[met > 0], met[met > 0]
    beyond = votes.beyond_chance()[first, second]
    sameness = copies(experts.standing.agreement)
    found = skills(votes, sameness)
    return {
        "agreement": float(beyond @ met / met.sum()),
        "its spread": float(beyond.std()),
        "raw agreement": float(votes.products[first, second].sum() / met.sum()),
        "mean skill": float(found.mean()),
        "spread of skill": float(found.std()),
        "best skill": float(found.max()),
        "copies": float((sameness.sum(axis=1) - 1).mean() / (len(sameness) - 1)),
    }


def _entropy(shares: np.ndarray) -> np.ndarray:
    """Over the last axis, 1 where all are the same."""
    return -(shares * np.log(np.maximum(shares, 1e-12))).sum(axis=-1) / np.log(shares.shape[-1])
