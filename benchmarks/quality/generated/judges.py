"""Judges: language models, each asked in several wordings and orders, whose answers are counted.

A judge's probability of a class is its share of a few votes. What it votes depends on which answer is better, on what
looks better to all judges (length, style) and on the order of the two. On adversarial items what looks better is worse.
"""

from __future__ import annotations

import numpy as np

from benchmarks.quality.generated.assembly import Draft
from benchmarks.quality.generated.draws import chance, draw_n_items, draw_shares, draw_truth, log_uniform_integer

Rng = np.random.Generator


def judges(rng: Rng) -> Draft:
    """Shares of 2 to 10 votes for 2 or 3 classes, by judges of several models and wordings."""
    n_classes = 2 if chance(rng, 0.85) else 3
    n_votes = int(rng.choice([2, 2, 2, 2, 3, 4, 5, 10]))
    models, wordings = _draw_judges(rng)
    n_items = draw_n_items(rng, n_classes * n_votes * len(models))
    truth = draw_truth(rng, draw_shares(rng, n_classes, even=0.7), n_items)
    opinion = _opinion(truth, n_classes, models, wordings, rng)
    position = rng.uniform(0, 2.5) * rng.gamma(1, 1, len(models)) * rng.choice([-1, 1], len(models), p=[0.25, 0.75])
    counts = np.zeros(opinion.shape, dtype=np.int64)
    doubt = rng.uniform(0.1, 1)
    for vote in range(n_votes):
        heard = opinion + doubt * rng.gumbel(size=opinion.shape)
        heard[:, :, vote % n_classes] += position[:, None]  # the answer that is shown first
        counts += np.eye(n_classes, dtype=np.int64)[heard.argmax(axis=2)]
    return Draft(truth, n_classes, probabilities=counts / n_votes)


def _draw_judges(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """(members,) twice: each judge's model and wording; not every pair need be there."""
    n_models, n_wordings = log_uniform_integer(rng, 2, 16), log_uniform_integer(rng, 1, 6)
    models, wordings = np.divmod(np.arange(n_models * n_wordings), n_wordings)
    kept = np.flatnonzero(rng.random(len(models)) < rng.uniform(0.6, 1.2))
    kept = kept[:65] if len(kept) > 1 else np.arange(min(2, len(models)))
    return models[kept], wordings[kept]


def _opinion(truth: np.ndarray, n_classes: int, models: np.ndarray, wordings: np.ndarray, rng: Rng) -> np.ndarray:
    """(members, items, classes): how good each class seems to each judge, before it is asked."""
    n_items, shape = len(truth), (len(truth), n_classes)
    right = np.eye(n_classes)[truth] - 1 / n_classes
    skill = (rng.uniform(0, 1.5) + rng.uniform(0, 2.5) * rng.beta(1, 2, models.max() + 1))[models]
    looks, credulity = _looks(truth, n_classes, rng), _credulity(models, skill, rng)
    model_noise = rng.uniform(0, 1.2) * rng.standard_normal((models.max() + 1, *shape))
    wording_noise = rng.uniform(0, 0.5) * rng.standard_normal((wordings.max() + 1, *shape))
    common = rng.uniform(0, 1) * rng.standard_normal(shape)
    leaning = rng.uniform(0, 0.8) * rng.standard_normal((len(models), 1, n_classes))
    ease = np.exp(rng.uniform(0, 0.8) * rng.standard_normal(n_items))[:, None]
    own = rng.uniform(0.1, 0.8) * rng.standard_normal((len(models), *shape))
    seen = skill[:, None, None] * ease * right + credulity[:, None, None] * looks
    return seen + model_noise[models] + wording_noise[wordings] + common + leaning + own


def _looks(truth: np.ndarray, n_classes: int, rng: Rng) -> np.ndarray:
    """(items, classes): what looks better whoever looks; on adversarial items it is a wrong class."""
    adversarial = rng.choice([0, rng.uniform(0, 0.5), rng.uniform(0.5, 1)], p=[0.3, 0.3, 0.4])
    wrong = (truth + rng.integers(1, n_classes, size=len(truth))) % n_classes
    is_adversarial = rng.random(len(truth)) < adversarial
    flattered = np.where(is_adversarial, wrong, rng.integers(n_classes, size=len(truth)))
    strength = rng.gamma(2, 0.5, len(truth))[:, None]
    return strength * (np.eye(n_classes)[flattered] - 1 / n_classes)


def _credulity(models: np.ndarray, skill: np.ndarray, rng: Rng) -> np.ndarray:
    """(members,): how much looks count; at times less for the skilled."""
    credulity = rng.uniform(0, 3) * rng.gamma(4, 0.25, models.max() + 1)[models]
    return credulity / (1 + rng.choice([0, 1]) * skill)
